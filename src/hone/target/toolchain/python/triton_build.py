"""Triton ahead of time, in a jail: requests come in on descriptor 3 and answers go out there, each a length in a line and so many
bytes of JSON. A request is worked on in a process of its own, forked from this one, which has Triton loaded already.

request  {source, target: "cuda:90" | "hip:gfx942", want: "ttir" | "binary" | "describe", ptx, functions: [{name, warps, stages, arguments:
          [{type, constant, divisible}]}]}
answer   {functions: [{name, symbol, ttir, metadata}], ptx | objects: [base64]} or {error, line, column}
"""
import ast
import base64
import linecache
import os
import re
import sys
import traceback
import types

import triton
import triton.language
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend
from triton.runtime.jit import JITFunction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from compile_server import Problem, main  # noqa: E402
from triton_check import Module, Refused  # noqa: E402

FILE = "kernel.py"
METADATA = ["name", "num_warps", "num_ctas", "warp_size", "shared", "tmem_size", "global_scratch_size", "global_scratch_align", "profile_scratch_size",
            "launch_cooperative_grid", "launch_pdl"]
def load(source):
    """The module, run with nothing but triton to import; and its checked tree."""
    checked = Module(source)
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    module = types.ModuleType("kernel")
    module.__file__ = FILE
    sys.modules["kernel"] = module

    def only_triton(name, *args, **kwargs):
        if name.split(".")[0] != "triton" and name != "math": raise ImportError(name)
        return __import__(name, *args, **kwargs)

    module.__dict__["__builtins__"] = {"__import__": only_triton, **{kind.__name__: kind for kind in (bool, int, float, tuple, dict, range, min, max, abs, len)}}
    exec(compile(checked.tree, FILE, "exec"), module.__dict__)  # noqa: S102: the tree is held to the whitelist
    return checked, module


def function_of(module, name):
    found = getattr(module, name, None)
    while found is not None and not isinstance(found, JITFunction) and hasattr(found, "fn"): found = found.fn
    if not isinstance(found, JITFunction):
        there = [n for n, f in vars(module).items() if isinstance(f, JITFunction) or hasattr(f, "fn")]
        raise Problem(f"the launch of {name} has no @triton.jit function of that name; there is {', '.join(sorted(there))}")
    return found


def line_of(function):
    """Of its `def`, which Triton 3.9 says and 3.6 does not: there only the line where the decorators begin is known."""
    return function.starting_line_number + next(at for at, line in enumerate(function.raw_src) if line.lstrip().startswith("def "))


def constant(text):
    if text.startswith("tl."): return getattr(triton.language, text[3:])
    return ast.literal_eval(text)


def source_of(function, request):
    """Arguments are matched with parameters by position; what is left over must have a default."""
    names, arguments = function.arg_names, request["arguments"]
    start = line_of(function)
    if len(arguments) > len(names): raise Problem(f"{request['name']} has {len(names)} parameters, its launch gives {len(arguments)}", start)
    constants, signature, attributes = {}, {}, {}
    for index, name in enumerate(names):
        parameter = function.params[index]
        if index >= len(arguments):
            if not parameter.is_constexpr or not parameter.has_default: raise Problem(f"{request['name']} has a parameter {name} that its launch does not give", start)
            constants[(index,)], signature[name] = parameter.default, "constexpr"
            continue
        given = arguments[index]
        if given["constant"]:
            if not parameter.is_constexpr and not given["constant"] in ("1", "None"):
                raise Problem(f"parameter {name} of {request['name']} is no tl.constexpr, and its launch gives a constant: write i32: or declare {name}: tl.constexpr", start)
            constants[(index,)], signature[name] = constant(given["constant"]), "constexpr"
            continue
        if parameter.is_constexpr:
            raise Problem(f"parameter {name} of {request['name']} is tl.constexpr, and its launch gives a value of run time: write \"=…\"", start)
        signature[name] = given["type"]
        if given["divisible"] and not parameter.do_not_specialize: attributes[(index,)] = [["tt.divisibility", 16]]
    return ASTSource(function, signature, constants, attributes)


def options_of(request, function, backend):
    options = {"num_warps": function["warps"], "num_stages": function["stages"], "enable_fp_fusion": True}
    if request["target"].startswith("cuda"): options["ptx_version"] = request.get("ptx", 90)
    return backend.parse_options(options)


def compile_one(module, request, wanted):
    kind, arch = request["target"].split(":")
    target = GPUTarget("cuda", int(arch), 32) if kind == "cuda" else GPUTarget("hip", arch, 64)
    backend = make_backend(target)
    function = function_of(module, wanted["name"])
    source = source_of(function, wanted)
    options = options_of(request, wanted, backend)
    stages = {}
    backend.add_stages(stages, options, source.language)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    metadata = {"target": target, **options.__dict__}
    made = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    answer = {"name": wanted["name"]}
    for extension, stage in stages.items():
        if extension == "cubin": break
        made = stage(made, metadata)
        if extension == "ttir":
            answer["ttir"] = without_folders(str(made))
            if request["want"] == "ttir": return answer, None
    answer["metadata"] = {key: metadata.get(key) for key in METADATA}
    answer["symbol"] = metadata["name"]
    return answer, made


def without_folders(text):
    """Of this machine nothing: a location names a file and a line."""
    return re.sub(r'loc\("[^"]*/([^"/]*)":', r'loc("\1":', text)


def join_ptx(modules):
    """One module: each keeps its own files and labels; headers and declarations that all have are said once. What debuggers read
    stays with the first, lines of all."""
    seen, out, files = set(), [], 0
    for number, text in enumerate(modules):
        text = re.sub(r"\$L(?=_)", f"$L{number}", text)
        if number:
            cut = re.search(r"^\s*\.section\s", text, re.M)
            if cut: text = re.sub(r"^\s*\.section\s+\S+\s*\{.*?^\s*\}\s*$", "", text, flags=re.M | re.S)
            text = re.sub(r", function_name \S+, inlined_at \d+ \d+ \d+", "", text)
        for line in text.splitlines():
            file = re.match(r"\s*\.(file|loc)\s+(\d+)(.*)", line)
            if file:
                line = f"\t.{file[1]}\t{int(file[2]) + files}{file[3]}"
                line = re.sub(r"inlined_at (\d+)", lambda m: f"inlined_at {int(m[1]) + files}", line)
            if re.match(r"\.(version|target|address_size)|\.extern \.shared", line):
                if line in seen: continue
                seen.add(line)
            out.append(line)
        files += max([int(n) for n in re.findall(r"^\s*\.file\s+(\d+)", text, re.M)], default=0)
    return "\n".join(out) + "\n"


def describe(checked, module):
    """Parameters of every function, and the configurations of @triton.autotune with what it clears and restores."""
    out = []
    for name, node in checked.functions.items():
        function = function_of(module, name)
        tuned = getattr(module, name)
        configs = [{**c.kwargs, "num_warps": c.num_warps, "num_stages": c.num_stages} for c in getattr(tuned, "configs", [])]
        out.append({"name": name, "line": node.lineno, "configs": configs, "zeroed": list(getattr(tuned, "reset_to_zero", [])),
                    "restored": list(getattr(tuned, "restore_value", [])), "heuristics": checked.heuristics.get(name, {}), "parameters": [
            {"name": p.name, "constant": p.is_constexpr, "default": repr(p.default) if p.has_default else ""} for p in function.params]})
    return {"functions": out}


def place_of(error, module):
    """Line and column in the module of an error of Triton's front end, the innermost that has one there."""
    found = (0, 0)
    while error is not None:
        node, source = getattr(error, "node", None), getattr(error, "src", None)
        if node is not None and source is not None:
            for function in vars(module).values():
                while function is not None and not isinstance(function, JITFunction) and hasattr(function, "fn"): function = function.fn
                if isinstance(function, JITFunction) and function.src == source: found = (line_of(function) + node.lineno - 1, node.col_offset + 1)
        error = error.__cause__
    return found


def words_of(error):
    """The last line of what Triton says that is no quotation of the source."""
    while error.__cause__ is not None: error = error.__cause__
    text = getattr(error, "error_message", None) or str(error) or type(error).__name__
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return (lines[-1].strip() if lines else type(error).__name__)[:600]


def work(request):
    try:
        checked, module = load(request["source"])
    except Refused as refused:
        return {"error": refused.text, "line": refused.line, "column": refused.column, "refused": True}
    except Exception as error:  # noqa: BLE001: a constant that cannot be computed, a name that is not there
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
        return {"error": f"{type(error).__name__}: {error}"[:600], "line": lines[-1] if lines else 0, "column": 1}
    try:
        if request["want"] == "describe": return describe(checked, module)
        made = [compile_one(module, request, wanted) for wanted in request["functions"]]
    except Problem as problem:
        return {"error": problem.text, "line": problem.line, "column": problem.column}
    except Exception as error:  # noqa: BLE001: whatever the compiler throws is about the kernel
        line, column = place_of(error, module)
        return {"error": words_of(error), "line": line, "column": column}
    answer = {"functions": [a for a, _ in made]}
    if request["want"] == "binary":
        if request["target"].startswith("cuda"): answer["ptx"] = join_ptx([m for _, m in made])
        else: answer["objects"] = [base64.b64encode(m).decode() for _, m in made]
    return answer


if __name__ == "__main__": main(work, triton.__version__)
