"""What a kernel's module may say. Its syntax tree is held to a whitelist before a line of it runs: imports of triton alone,
functions that Triton compiles, constants. Nothing else of it is ever executed as Python."""
import ast
import math

MODULES = {"triton", "triton.language", "triton.language.extra", "triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice",
           "triton.language.extra.hip.libdevice", "triton.language.extra.cuda", "triton.language.math", "math"}
FROM = {"triton": {"language", "cdiv", "next_power_of_2", "jit"}, "triton.language.extra": {"libdevice"},
        "triton.language.extra.cuda": {"libdevice"}, "triton.language.extra.hip": {"libdevice"}, "triton.language.math": None, "triton.language": None,
        "math": {"pi", "e", "inf", "nan", "tau"}}

LANGUAGE = set("""PropagateNan abs arange argmax argmin associative_scan assume atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or
atomic_xchg atomic_xor bfloat16 broadcast broadcast_to cast cat cdiv ceil clamp constexpr const cos cumprod cumsum debug_barrier div_rn dot
dot_scaled dtype erf exp exp2 expand_dims fdiv flip float16 float32 float64 float8e4nv float8e5 floor fma full gather histogram int1 int16 int32
int64 int8 interleave join load log log2 make_block_ptr map_elementwise device_assert
add mul atomic_load atomic_store bitonic_merge condition tuple advance make_tensor_descriptor load_tensor_descriptor store_tensor_descriptor max
max_constancy max_contiguous maximum min minimum multiple_of num_programs permute philox pointer_type program_id rand rand4x randint randint4x
randn randn4x range ravel reduce reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn squeeze static_assert static_range store
sub sum swizzle2d tensor topk trans uint16 uint32 uint64 uint8 umulhi unsqueeze view void where xor_sum zeros zeros_like math""".split())
# Of values: tensors, types, descriptors, constants.
VALUES = set("""T abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor
atomic_load atomic_store broadcast_to cast cdiv ceil cos cumprod cumsum erf exp exp2 expand_dims flip floor gather get_int_max_value get_int_min_value histogram is_bool is_fp8e4nv is_fp8e5 is_int_signed is_int_unsigned is_uint8 is_uint16 is_uint32 is_uint64 item
log log2 logical_and logical_or max min permute
ravel reduce reduce_or reshape rsqrt scatter sigmoid sin softmax sort split sqrt sqrt_rn store sum to trans view xor_sum load shape dtype element_ty scalar value
numel primitive_bitwidth int_bitwidth fp_mantissa_width is_floating is_int is_ptr is_bf16 is_fp16 is_fp32 is_fp64 is_fp8 is_int1 is_int8 is_int16
is_int32 is_int64 is_standard_floating is_block block_shape type ALL NONE append""".split())
TRITON = {"language", "jit", "autotune", "Config", "cdiv", "next_power_of_2"}
BUILTINS = {"range", "min", "max", "abs", "len", "float", "int", "bool", "tuple", "True", "False", "None"}
REFUSED = {"inline_asm_elementwise": "inline assembly is not taken", "device_print": "a kernel prints nothing: leave device_print out",
           "static_print": "a kernel prints nothing: leave static_print out", "heuristics": "triton.heuristics is a decorator, and nothing else here"}
# Of Python's math: numbers, and functions of numbers that a module's constants may call.
MATH = FROM["math"]
OF_NUMBERS = {name: getattr(math, name) for name in ("sqrt", "exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "erf", "sin", "cos", "tan", "floor", "ceil") if hasattr(math, name)}

EXPRESSIONS = (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Constant, ast.Attribute, ast.Subscript, ast.Name, ast.List,
               ast.Tuple, ast.Slice, ast.keyword, ast.Load, ast.Store, ast.Starred, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
STATEMENTS = (ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Expr, ast.Assert, ast.Pass, ast.arguments, ast.arg,
              ast.Break, ast.Continue)
NESTING = 60
NODES = 60000
MOST_CONFIGS = 1024


def is_function(name):
    """Of libdevice's and math's modules: what is no name of Python's in them."""
    return not name.startswith("_") and name not in ("core", "wraps", "T", "List", "annotations")


class Refused(Exception):
    def __init__(self, node, text):
        super().__init__(text)
        self.line, self.column, self.text = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, text


class Module:
    """The tree, held to the rules, and what the rest needs of it."""

    def __init__(self, source):
        try:
            self.tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Refused(ast.Pass(lineno=getattr(error, "lineno", None) or 1, col_offset=(getattr(error, "offset", None) or 1) - 1),
                          f"it is no Python: {getattr(error, 'msg', error)}") from None
        self.roots = {}       # name -> "triton", "language", "libdevice", "math" (Triton's), "numbers" (Python's math)
        self.functions = {}   # name -> its definition, in order
        self.names = set()    # everything that the module binds anywhere
        self.heuristics = {}  # function -> {parameter or num_warps: expression of a header over the launch's arguments}
        self._size(self.tree)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store): self.names.add(node.id)
            if isinstance(node, ast.arg): self.names.add(node.arg)
            if isinstance(node, ast.FunctionDef): self.names.add(node.name)
            for name in (getattr(node, "id", None), getattr(node, "arg", None), getattr(node, "name", None)):
                if isinstance(name, str) and (name.startswith("__") or not name.isascii()): raise Refused(node, f"the name {name} is not taken")
        for position, node in enumerate(self.tree.body): self._top(node, position)
        if not self.functions: raise Refused(self.tree, "it has no @triton.jit function")

    @staticmethod
    def _size(tree):
        level, count = [tree], 0
        for depth in range(NESTING + 1):
            count += len(level)
            if not level: return
            if count > NODES: raise Refused(tree, "the module is too large")
            level = [child for node in level for child in ast.iter_child_nodes(node)]
        raise Refused(tree, "the module nests too deeply")

    def _top(self, node, position):
        if isinstance(node, ast.Import): return self._import(node)
        if isinstance(node, ast.ImportFrom): return self._import_from(node)
        if isinstance(node, ast.FunctionDef): return self._function(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign)): return self._constant(node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str): return None
        raise Refused(node, "beside imports of triton, @triton.jit functions and constants a module holds nothing: take this out")

    def _import(self, node):
        for alias in node.names:
            if alias.name not in MODULES:
                raise Refused(node, f"import of {alias.name}: a kernel's module imports triton and triton.language, nothing else (host code is not taken)")
            last = alias.name.rsplit(".", 1)[-1]
            if not alias.asname and "." in alias.name: last = "triton"
            self._root(node, alias.asname or last, "numbers" if alias.name == "math" else last)

    def _import_from(self, node):
        allowed = FROM.get(node.module or "", ()) if node.level == 0 else ()
        for alias in node.names:
            libdevice = node.level == 0 and (node.module or "") in MODULES and node.module.endswith(".libdevice")
            known = is_function(alias.name) if libdevice else alias.name in LANGUAGE if allowed is None else alias.name in allowed
            if not known: raise Refused(node, f"import of {alias.name} from {node.module}: not among what a kernel may use")
            if alias.name in ("language", "libdevice", "math"): self._root(node, alias.asname or alias.name, alias.name)
            self.names.add(alias.asname or alias.name)

    def _root(self, node, name, module):
        if module not in ("triton", "language", "libdevice", "math", "numbers"): raise Refused(node, f"import of {module}: give its name in full")
        self.roots[name] = module
        self.names.add(name)

    def _function(self, node):
        if not any(self._path(d.func if isinstance(d, ast.Call) else d) in ("triton.jit", "jit") for d in node.decorator_list):
            raise Refused(node, f"{node.name} is host code: only @triton.jit functions are taken, the header's launch says the rest")
        for decorator in node.decorator_list:
            path = self._path(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if path == "triton.heuristics":
                self.heuristics.setdefault(node.name, {}).update(self._heuristics(decorator))
                continue
            if path not in ("triton.jit", "jit", "triton.autotune"): raise Refused(decorator, "a decorator other than @triton.jit and @triton.autotune")
            if isinstance(decorator, ast.Call): self._decorator(decorator)
        # What they compute, the header's expressions do: nothing of them runs.
        node.decorator_list = [d for d in node.decorator_list if self._path(getattr(d, "func", d)) != "triton.heuristics"]
        if node.name in self.functions: raise Refused(node, f"there are two functions {node.name}")
        if node.name in self.roots: raise Refused(node, f"{node.name} is a module's name")
        if len(node.args.posonlyargs) or node.args.kwarg or node.args.vararg: raise Refused(node, "a kernel's parameters are plain names")
        for default in list(node.args.defaults) + [d for d in node.args.kw_defaults if d]: self._expression(default)
        for arg in node.args.args + node.args.kwonlyargs:
            if arg.annotation: self._expression(arg.annotation)
        for statement in node.body: self._statement(statement)
        self.functions[node.name] = node

    def _decorator(self, call):
        for keyword in call.keywords:
            if keyword.arg in ("prune_configs_by", "pre_hook", "post_hook", "repr", "launch_metadata") and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is None):
                raise Refused(keyword.value, f"{keyword.arg} is host code, which is not taken")
        for node in [*call.args, *[k.value for k in call.keywords]]: self._literal(node)

    def _heuristics(self, decorator):
        """{"EVEN_K": lambda args: args["K"] % args["BK"] == 0} as expressions of a header."""
        table = decorator.args[0] if isinstance(decorator, ast.Call) and decorator.args else next((k.value for k in getattr(decorator, "keywords", []) if k.arg == "values"), None)
        if not isinstance(table, ast.Dict): raise Refused(decorator, "@triton.heuristics takes a dictionary of lambdas here")
        out = {}
        for key, value in zip(table.keys, table.values):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str): raise Refused(decorator, "a heuristic's name is a text")
            if not isinstance(value, ast.Lambda) or len(value.args.args) != 1 or value.args.vararg or value.args.kwarg: raise Refused(value, f"the heuristic {key.value} is no lambda of one argument")
            out[key.value] = self._heuristic(value.body, value.args.args[0].arg, key.value)
        return out

    def _heuristic(self, node, given, name):
        whole = lambda part: self._heuristic(part, given, name)  # noqa: E731
        operators = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
                     ast.And: " and ", ast.Or: " or ", ast.USub: "-", ast.Not: "not "}
        calls = {"triton.cdiv": "ceil_div", "tl.cdiv": "ceil_div", "triton.next_power_of_2": "next_power_of_2", "min": "min", "max": "max", "abs": "abs", "bool": "0 != ", "int": ""}
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)): return str(int(node.value))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == given and isinstance(node.slice, ast.Constant) and str(node.slice.value).isidentifier():
            return str(node.slice.value)
        if isinstance(node, (ast.BinOp, ast.UnaryOp)) and type(node.op) in operators:
            sign = operators[type(node.op)]
            return f"({sign}{whole(node.operand)})" if isinstance(node, ast.UnaryOp) else f"({whole(node.left)} {sign} {whole(node.right)})"
        if isinstance(node, ast.BoolOp): return "(" + operators[type(node.op)].join(map(whole, node.values)) + ")"
        if isinstance(node, ast.IfExp): return f"select({whole(node.test)}, {whole(node.body)}, {whole(node.orelse)})"
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            if isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value is None and isinstance(node.left, ast.Subscript):
                equal = isinstance(node.ops[0], (ast.Is, ast.Eq))
                return f"(hone_null_{whole(node.left)} {'!=' if equal else '=='} 0)"
            if type(node.ops[0]) in operators: return f"({whole(node.left)} {operators[type(node.ops[0])]} {whole(node.comparators[0])})"
        if isinstance(node, ast.Call) and self._path(node.func) in calls and node.args and not node.keywords:
            return f"({calls[self._path(node.func)]}({', '.join(map(whole, node.args))}))"
        raise Refused(node, f"the heuristic {name} is no expression of the launch's whole numbers: leave it out, and give the constant in the header (\"=EXPR\" or a tunable of its name)")

    def _literal(self, node):
        """Configurations: triton.Config of numbers, written out or counted through by a comprehension over numbers."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and self._path(part.func) not in ("triton.Config", "range", "dict"): raise Refused(part, "a call in a decorator other than triton.Config")
            if isinstance(part, ast.ListComp): self._counted(part)
            elif not isinstance(part, (*EXPRESSIONS, ast.Dict, ast.comprehension)):
                raise Refused(part, "autotune takes a list of triton.Config here, or a comprehension over numbers: write the configurations out")
            if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Pow, ast.LShift)) and not self._small(part): raise Refused(part, "this number may be very large: write it out")
            if isinstance(part, ast.Name) and part.id not in self.names | {"None", "True", "False", "range", "dict"}: raise Refused(part, f"{part.id} is not known here")
            if isinstance(part, ast.Attribute) and self._path(part) != "triton.Config": raise Refused(part, "an attribute in a decorator")

    @staticmethod
    def _counted(node):
        """Holds a comprehension to numbers written in it, few enough to try."""
        turns = 1
        for part in node.generators:
            over = part.iter
            if isinstance(over, ast.Call) and all(isinstance(a, ast.Constant) and isinstance(a.value, int) for a in over.args) and not over.keywords and 1 <= len(over.args) <= 3:
                bounds = [a.value for a in over.args]
                turns *= len(range(*bounds)) if len(bounds) < 3 or bounds[2] else 0
            elif isinstance(over, (ast.List, ast.Tuple)):
                turns *= len(over.elts)
            else:
                raise Refused(over, "a comprehension in autotune goes over numbers written there: [64, 128], or range(3)")
            if turns > MOST_CONFIGS: raise Refused(node, f"more than {MOST_CONFIGS} configurations")

    def _constant(self, node):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None or not all(isinstance(t, ast.Name) for t in targets): raise Refused(node, "a module's constant is NAME = VALUE")
        for target in targets:
            if target.id in self.roots: raise Refused(node, f"{target.id} is a module's name")
        if isinstance(node, ast.AnnAssign): self._expression(node.annotation)
        if any(isinstance(part, ast.Call) and self._path(part.func) == "triton.Config" for part in ast.walk(node.value)): return self._literal(node.value)
        for part in ast.walk(node.value):
            path = self._path(part.func) if isinstance(part, ast.Call) else ""
            if path.startswith("numbers.") and path[8:] in OF_NUMBERS: continue
            if isinstance(part, ast.Call) and path not in ("tl.constexpr", "triton.language.constexpr", "constexpr", "float"):
                raise Refused(part, "a module's constants are numbers, texts and tuples, not calls")
            if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Pow, ast.LShift, ast.Mult)) and not self._small(part): raise Refused(part, "this constant may be very large: write the number")
        self._expression(node.value, True)

    @staticmethod
    def _small(node):
        return all(not isinstance(p, ast.Constant) or (isinstance(p.value, (int, float)) and abs(p.value) < 1 << 16) for p in ast.walk(node)) and sum(1 for _ in ast.walk(node)) < 16

    def _statement(self, node):
        if not isinstance(node, STATEMENTS): raise Refused(node, f"{type(node).__name__} is nothing that a kernel may hold")
        if isinstance(node, (ast.For, ast.While)) and node.orelse: raise Refused(node, "a loop's else is not taken")
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt): self._statement(child)
            else: self._expression(child)

    def _expression(self, node, constant=False):
        for part in self._parts(node, constant): self._one(part)

    def _parts(self, node, constant=False):
        """Every expression below; a chain rooted in a module counts as one."""
        if isinstance(node, ast.Attribute) and self._root_of(node):
            self._chain(node)
            return
        if constant and isinstance(node, ast.Call) and self._path(node.func).startswith("numbers."):  # held to a list by _constant
            for argument in node.args: yield from self._parts(argument, constant)
            return
        yield node
        for child in ast.iter_child_nodes(node): yield from self._parts(child, constant)

    def _one(self, node):
        if not isinstance(node, EXPRESSIONS): raise Refused(node, f"{type(node).__name__} is nothing that a kernel may hold")
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in self.roots: raise Refused(node, f"the module {node.id} is used for what is in it only")
            if node.id not in self.names | BUILTINS: raise Refused(node, REFUSED.get(node.id, f"{node.id} is neither the kernel's nor among the functions that it may call"))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in self.roots: raise Refused(node, f"{node.id} is a module's name")
        if isinstance(node, ast.Attribute) and node.attr not in VALUES: raise Refused(node, f"the attribute {node.attr} is not among what a kernel may use")
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and not -1 << 64 < node.value < 1 << 64: raise Refused(node, "a number beyond 64 bits")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow): raise Refused(node, "** is not taken: Triton has no power of tensors")

    def _root_of(self, node):
        while isinstance(node, ast.Attribute): node = node.value
        return self.roots.get(node.id) if isinstance(node, ast.Name) else None

    def _path(self, node):
        """"triton.jit" of such a chain, whatever the modules are called here; empty for anything else."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name): return ""
        root = self.roots.get(node.id, node.id)
        return ".".join([{"language": "tl"}.get(root, root), *reversed(parts)])

    def _chain(self, node):
        parts, base = [], node
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        module = self.roots[base.id]
        names = list(reversed(parts))
        if module == "numbers":
            if len(names) == 1 and names[0] in MATH: return
            raise Refused(node, f"math.{'.'.join(names)} is Python, which runs where no kernel does: a module's constants may call it, tl.constexpr(math.sqrt(2.0))")
        while names and module in ("triton", "language"):
            name = names.pop(0)
            if name in REFUSED: raise Refused(node, REFUSED[name])
            if module == "triton":
                if name not in TRITON: raise Refused(node, f"triton.{name} is not among what a kernel may use")
                module = "language" if name == "language" else ""
            elif name == "extra" and names and names[-2 if len(names) > 1 else -1] in ("libdevice",):
                if names[0] in ("cuda", "hip"): names.pop(0)
                names.pop(0)
                module = "libdevice"
            elif name == "math": module = "math"
            else:
                if name not in LANGUAGE: raise Refused(node, f"tl.{name} is not among what a kernel may use")
                module = ""
        if module in ("libdevice", "math") and names:
            name = names.pop(0)
            if not is_function(name): raise Refused(node, f"{name} is no function of {module}")
            module = ""
        if module: raise Refused(node, "a module is used for what is in it only")
        for name in names:
            if name not in VALUES: raise Refused(node, f"the attribute {name} is not among what a kernel may use")
