"""TileLang ahead of time, in a jail: a module's function makes a T.prim_func, TileLang lowers it to CUDA or HIP source, and the host
module that it makes beside says how that is launched. Requests and answers as compile_server.py has them. The module is Python and
runs as such: nothing here holds it back but the jail.

request  {source, target: "cuda:sm_90a" | "hip:gfx942" | "emulator:cuda" | "emulator:hip", want: "source" | "describe",
          functions: [{name, constants: ["128", "'bfloat16'"], arguments: [{dtype, shape} | {dtype, value}]}]}
answer   {launches: [{of, symbol, grid, block, shared, arguments: [{argument} | {value, bits}]}], sources: [text]}, or
         {functions: [{name, parameters, configs}]}, or {error, line, column}
"""
import ast
import inspect
import linecache
import math
import os
import re
import sys
import traceback
import types

# Where it may write, and nothing that outlives the jail.
os.environ.update(TILELANG_CACHE_DIR=os.environ.get("TMPDIR", "/tmp"), TILELANG_TMP_DIR=os.environ.get("TMPDIR", "/tmp"), TILELANG_DISABLE_CACHE="1")

import tilelang  # noqa: E402
import tilelang.language  # noqa: E402
from tilelang import tvm  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tilelang_plain  # noqa: E402
from compile_server import Problem, main  # noqa: E402

FILE = "kernel.py"
tirx = tvm.tirx


class Marked:
    """What @tilelang.jit and @tilelang.autotune leave: the function as it was, and what they were told."""

    def __init__(self, function, configs=None, passes=None):
        self.function, self.configs, self.passes = function, configs or [], passes or {}

    def __call__(self, *args, **kwargs): return self.function(*args, **kwargs)


def remember(function, **more):
    if not isinstance(function, Marked): function = Marked(function)
    for name, value in more.items(): setattr(function, name, value)
    return function


def jit(function=None, *, pass_configs=None, **_):
    mark = lambda f: remember(f, passes={str(getattr(key, "value", key)): value for key, value in (pass_configs or {}).items()})  # noqa: E731
    return mark(function) if function is not None else mark


def autotune(function=None, *, configs=(), **_):
    listed = configs if isinstance(configs, (list, tuple)) else []
    mark = lambda f: remember(f, configs=[c for c in listed if isinstance(c, dict)])  # noqa: E731
    return mark(function) if function is not None else mark


def load(source):
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    module = types.ModuleType("kernel")
    module.__file__ = FILE
    sys.modules["kernel"] = module
    tilelang.jit, tilelang.autotune = jit, autotune
    exec(compile(source, FILE, "exec"), module.__dict__)  # noqa: S102: in a process of its own, in the jail
    return module


def function_of(module, name):
    found = getattr(module, name, None)
    if not isinstance(found, (Marked, types.FunctionType, tirx.PrimFunc)):
        there = sorted(n for n, f in vars(module).items() if isinstance(f, (Marked, types.FunctionType, tirx.PrimFunc)))
        raise Problem(f"the launch of {name} has no function of that name; there is {', '.join(there)}")
    return found


def tile_program(module, wanted):
    """The T.prim_func that the launch means, and what its decorator said of passes."""
    found = function_of(module, wanted["name"])
    constants = [ast.literal_eval(text) for text in wanted["constants"]]
    if isinstance(found, tirx.PrimFunc):
        if constants: raise Problem(f"{wanted['name']} is a T.prim_func, which takes no constants")
        return found, {}
    made = found(*constants)
    if not isinstance(made, tirx.PrimFunc):
        raise Problem(f"{wanted['name']} returns {type(made).__name__}, no T.prim_func", getattr(getattr(found, "function", found), "__code__", None).co_firstlineno)
    return made, found.passes if isinstance(found, Marked) else {}


def number(expression, values):
    """An integer expression with `values` for the variables of those names."""
    if isinstance(expression, int): return expression
    found = {}

    def visit(node):
        if isinstance(node, tirx.Var) and node.name in values: found[node] = tirx.const(values[node.name], node.dtype)

    tirx.stmt_functor.post_order_visit(expression, visit)
    value = tvm.arith.Analyzer().simplify(tirx.stmt_functor.substitute(expression, found))
    if not isinstance(value, tirx.IntImm): raise Problem(f"the launch needs {expression}, which does not follow from the arguments")
    return int(value.value)


def match_argument(name, buffer, given, values):
    """Holds a parameter against the tensor that it gets, and learns its symbolic extents."""
    if "value" in given: raise Problem(f"parameter {name} is a tensor, its launch gives an integer")
    # The short names of 8-bit floats are the same types: CUDA has no others.
    dtype, shape = {"float8_e4m3": "float8_e4m3fn", "float8_e5m2fn": "float8_e5m2"}.get(str(buffer.dtype), str(buffer.dtype)), list(given["shape"])
    if dtype != given["dtype"]: raise Problem(f"parameter {name} is {dtype}, its launch gives {given['dtype']}")
    fixed = all(isinstance(extent, tirx.IntImm) for extent in buffer.shape)
    if fixed and math.prod(int(extent) for extent in buffer.shape) == math.prod(shape): return
    fits = len(buffer.shape) == len(shape) and all(not isinstance(e, tirx.IntImm) or int(e) == have for e, have in zip(buffer.shape, shape))
    if not fits: raise Problem(f"parameter {name} is {list(buffer.shape)}, its launch gives {shape}")
    stride = 1
    for extent, step, have in reversed(list(zip(buffer.shape, list(buffer.strides) or [1] * len(shape), shape))):
        for expression, value in ((extent, have), (step, stride)):
            if isinstance(expression, tirx.Var) and values.setdefault(expression.name, value) != value:
                raise Problem(f"{expression.name} would be {values[expression.name]} and {value}")
        stride *= have


def match_arguments(program, wanted):
    """Names of pointers and which argument they are, and numbers by name."""
    if len(program.params) != len(wanted["arguments"]):
        raise Problem(f"{wanted['name']} has {len(program.params)} parameters, its launch gives {len(wanted['arguments'])}")
    pointers, values = {}, {}
    for index, (parameter, given) in enumerate(zip(program.params, wanted["arguments"])):
        if parameter in program.buffer_map:
            buffer = program.buffer_map[parameter]
            match_argument(buffer.name, buffer, given, values)
            pointers[buffer.data.name] = index
        elif "value" in given:
            values[parameter.name] = given["value"]
        else:
            pointers[parameter.name] = index
    return pointers, values


def packed_calls(module):
    """What the host does beside its checks: functions called, with their arguments."""
    calls = []

    def visit(node):
        if isinstance(node, tirx.Call) and getattr(node.op, "name", "") == "tirx.tvm_call_packed": calls.append((str(node.args[0].value), list(node.args[1:])))

    for _, function in module.functions.items():
        if hasattr(function, "body"): tirx.stmt_functor.post_order_visit(function.body, visit)
    return calls


# Tensor maps are no arguments that hone's launches have; where a line came from, the compiler's messages and findings say.
PASSES = {"tl.emit_line_directives": True}
NO_MAPS = {"tl.disable_tma_lower": True, "tl.disable_warp_specialized": True}
EXTENTS = [["blockIdx.x", "blockIdx.y", "blockIdx.z"], ["threadIdx.x", "threadIdx.y", "threadIdx.z"]]


def launches_of(artifact, wanted, pointers, values, of):
    device = {name.name_hint: function for name, function in artifact.device_mod.functions.items()}
    launches = []
    for name, arguments in packed_calls(artifact.host_mod):
        if "tensormap" in name: raise Problem(f"{wanted['name']} needs {name}, which hone has not got")
        if name not in device: continue
        function = device[name]
        if function.attrs.get("cluster_dims") is not None: raise Problem(f"{wanted['name']} is launched in clusters, which hone does not do for TileLang")
        tags = [str(tag) for tag in function.attrs["tirx.kernel_launch_params"]]
        taken, given = [], len(function.params)
        for argument in arguments[:given]:
            named = getattr(argument, "name", "")
            if named in pointers: taken.append({"argument": pointers[named]})
            else: taken.append({"value": number(argument, values), "bits": tvm.DataType(argument.dtype).bits})
        said = dict(zip(tags, (number(a, values) for a in arguments[given:])))
        known = {tag for extents in EXTENTS for tag in extents} | {"tirx.use_dyn_shared_memory"}
        if set(said) - known: raise Problem(f"{wanted['name']} needs a launch that hone does not make: {', '.join(sorted(set(said) - known))}")
        grid, block = ([said.get(tag, 1) for tag in extents] for extents in EXTENTS)
        launches.append({"of": of, "symbol": name, "grid": grid, "block": block, "shared": said.get("tirx.use_dyn_shared_memory", 0), "arguments": taken})
    return launches


def own_lines(source):
    """Of the lines that TileLang says statements came from, those of the module."""
    text = re.sub(rf'^#line (\d+) "{re.escape(os.path.abspath(FILE))}"$', rf'#line \1 "{FILE}"', source, flags=re.M)
    return re.sub(rf'^#line \d+ "(?!{re.escape(FILE)}")[^"\n]*"\n', "", text, flags=re.M)


def lower(module, request):
    place, arch = request["target"].split(":")
    emulated = place == "emulator"
    kind = arch if emulated else place
    if emulated: tilelang_plain.use()
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_70" if emulated else arch} if kind == "cuda" else {"kind": "hip", "mcpu": "gfx942" if emulated else arch})
    launches, sources = [], []
    for of, wanted in enumerate(request["functions"]):
        program, passes = tile_program(module, wanted)
        pointers, values = match_arguments(program, wanted)
        if kind == "hip" and any(given["dtype"].startswith("float8") for given in wanted["arguments"]):
            raise Problem(f"{wanted['name']} takes 8-bit floats, which TileLang's HIP has of another kind (fnuz) than hone's tensors hold")
        symbol = wanted["name"] if len(request["functions"]) == 1 else f"{wanted['name']}_{of + 1}"
        with target, tvm.transform.PassContext(opt_level=3, config={**passes, **PASSES, **(NO_MAPS if kind == "cuda" else {})}):
            artifact = tilelang.lower(program.with_attr("global_symbol", symbol), target=target)
        launches += launches_of(artifact, wanted, pointers, values, of)
        sources.append(own_lines(artifact.kernel_source))
    return {"launches": launches, "sources": sources}


def describe(module, request):
    """Parameters of the functions that make T.prim_funcs, which are constants all, and the configurations of @tilelang.autotune."""
    out = []
    for wanted in request["functions"]:
        found = function_of(module, wanted["name"])
        function = getattr(found, "function", found)
        parameters = [] if isinstance(found, tirx.PrimFunc) else [
            {"name": p.name, "constant": True, "default": "" if p.default is p.empty else repr(p.default)} for p in inspect.signature(function).parameters.values()]
        out.append({"name": wanted["name"], "parameters": parameters, "configs": getattr(found, "configs", [])})
    return {"functions": out}


def line_of(error):
    """The innermost line of the module that the error passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    return lines[-1] if lines else getattr(error, "lineno", 0) or 0


def words_of(error):
    text = str(error).strip() or type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("File \"", "Traceback", "^"))]
    return (lines[-1] if lines else type(error).__name__)[:600]


def work(request):
    try:
        module = load(request["source"])
        return describe(module, request) if request["want"] == "describe" else lower(module, request)
    except Problem as problem:
        return {"error": problem.text, "line": problem.line, "column": problem.column}
    except (Exception, SystemExit) as error:  # noqa: BLE001: whatever it throws is about the kernel
        return {"error": f"{type(error).__name__}: {words_of(error)}", "line": line_of(error), "column": 1}


if __name__ == "__main__": main(work, tilelang.__version__)
