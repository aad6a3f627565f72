"""The process that a user's PyTorch program lives in; src/hone/evaluate/program/program_session.cc drives it.

A program is a file: with Model, get_inputs and perhaps get_init_inputs, or with a function of any name that returns a
module and its example inputs. Both are code, so this process is jailed. It decides nothing: it writes down what
torch.export sees, runs what it is told to run, and says by how much answers differ and how long they took.

Descriptor 3 brings requests, a length (u32) and a JSON object, and takes b"K" and a length (u32), then b"K" and that many
bytes of JSON; or b"E", a length and a message where the request failed.

    {"do": "load", "file", "function", "train", "threads", "seed", "constants": path to write tensors to that no state_dict has}
        -> the program: {"nodes": [...], "outputs": [...], ...}, see capture()
    {"do": "compose", "folder", "package"}  imports the package of kernels that hone wrote for the program
    {"do": "steps"} -> {"eager": ns by step, "kernel": ns by step}: each step's time, with and without its kernel
    {"do": "use", "steps": {name: bool}}     which steps use their kernels from now on
    {"do": "errors", "set": number, "weights": number} -> by output: what it is off by; see errors()
    {"do": "times", "pairs", "against": "eager" or "compile"} -> {"ours": [ns], "theirs": [ns]}, taken in turns
"""
import contextlib
import gc
import importlib
import json
import math
import operator
import os
import pathlib
import random
import statistics
import struct
import sys
import time
import warnings

TYPES = {"float64": "f64", "float32": "f32", "bfloat16": "bf16", "float16": "f16", "int64": "i64", "int32": "i32",
         "int16": "i16", "int8": "i8", "bool": "bool"}


class Wrong(Exception):
    """What the user can mend: the message is a sentence, and a second line says what to do."""


def type_of(value):
    import torch
    if not isinstance(value, torch.Tensor):
        return {"dtype": "none", "shape": []}
    name = str(value.dtype).removeprefix("torch.")
    return {"dtype": TYPES.get(name, name), "shape": [dimension(extent) for extent in value.shape]}


def dimension(extent):
    return extent if isinstance(extent, int) else {"symbol": str(extent.node.expr)}


def first_lines(error):
    text = str(error).strip() or type(error).__name__
    return text.split("\n")[0][:400]


# What the file holds

def import_file(path):
    path = pathlib.Path(path)
    sys.path.insert(0, str(path.parent))
    scope = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(path.read_text(), str(path), "exec"), scope)
    except SyntaxError as error:
        raise Wrong(f"{path.name} is no Python: line {error.lineno}: {error.msg}\nmend the file") from error
    except Exception as error:
        raise Wrong(f"{path.name} fails when it is read: {type(error).__name__}: {first_lines(error)}\n"
                    "run it with python to see where") from error
    return scope


def seeded(seed, function):
    import torch
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    return function()


class Program:
    """The user's module, and how to make it and its inputs once more."""

    def __init__(self, request):
        import torch
        self.torch = torch
        self.train = request["train"]
        self.scope = import_file(request["file"])
        self.name = pathlib.Path(request["file"]).name
        self.function = request["function"]
        self.check_names()
        self.module, self.arguments = self.make(request["seed"])

    def check_names(self):
        wanted = [self.function] if self.function else ["Model", "get_inputs"]
        for name in wanted:
            if not callable(self.scope.get(name)):
                known = sorted(n for n, v in self.scope.items() if callable(v) and getattr(v, "__module__", None) == self.scope["__name__"])
                has = "it defines " + ", ".join(known[:8]) if known else "it defines no functions or classes"
                advice = "name one that returns a module and its inputs: FILE:FUNCTION" if self.function or not wanted else \
                    "a program has Model, get_inputs and perhaps get_init_inputs, or is named as FILE:FUNCTION"
                raise Wrong(f"{self.name} has no {name} ({has})\n{advice}")

    def make(self, seed):
        """A module with weights drawn from the seed, and inputs."""
        torch = self.torch
        try:
            if self.function:
                made = seeded(seed, self.scope[self.function])
            else:
                initial = seeded(seed, self.scope["get_init_inputs"]) if "get_init_inputs" in self.scope else []
                module = seeded(seed, lambda: self.scope["Model"](*initial))
                made = module, seeded(seed, self.scope["get_inputs"])
        except Exception as error:
            raise Wrong(f"{self.name} makes no module: {type(error).__name__}: {first_lines(error)}\nrun it with python to see where") from error
        if not (isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], torch.nn.Module)):
            raise Wrong(f"{self.name}: {self.function or 'Model'} gives no module and inputs but {type(made).__name__}\n"
                        "return (module, inputs): a torch.nn.Module and a list or tuple of its arguments")
        module, inputs = made
        if isinstance(inputs, torch.Tensor):
            inputs = (inputs,)
        keywords = {}
        if isinstance(inputs, dict):
            inputs, keywords = (), inputs
        if not isinstance(inputs, (list, tuple)):
            raise Wrong(f"{self.name}: the inputs are a {type(inputs).__name__}\ngive a list or tuple of the module's arguments, or a dictionary")
        devices = {str(t.device) for t in module.state_dict().values()}
        devices |= {str(t.device) for t in self.tensors(inputs) + self.tensors(keywords)}
        if len(devices) > 1:
            raise Wrong(f"{self.name}: weights and inputs lie on several devices: {', '.join(sorted(devices))}\nmove the inputs to the module's device")
        return module.train(self.train), (tuple(inputs), keywords)

    def tensors(self, tree):
        import torch.utils._pytree as pytree
        return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, self.torch.Tensor)]

    # What torch.export sees

    def export(self):
        torch = self.torch
        arguments, keywords = self.arguments
        try:
            with torch.no_grad():
                exported = torch.export.export(self.module, arguments, keywords, strict=False)
                return exported.run_decompositions({})
        except Exception as error:
            raise Wrong(f"{self.name}: torch.export cannot follow forward(): {type(error).__name__}: {first_lines(error)}\n"
                        "shapes and branches must not depend on the values of tensors, and forward() must not assign tensors to attributes") from error

    def capture(self, constants_file):
        """The program as JSON. A node is {"name", "op", "arguments" by their names in the operator's schema, "type"};
        an input's op is "input", with "role" and "target" (its name in the state_dict or in the constants' file)."""
        import torch.utils._pytree as pytree
        exported = self.export()
        signature, nodes, constants = exported.graph_signature, [], {}
        roles = {spec.arg.name: spec for spec in signature.input_specs if hasattr(spec.arg, "name")}
        state = set(self.module.state_dict())
        for node in exported.graph.nodes:
            if node.op == "placeholder":
                nodes.append(self.input(node, roles[node.name], exported, constants, state))
            elif node.op == "call_function":
                nodes.append(self.call(node))
            elif node.op == "get_attr":
                raise Wrong(f"{self.name}: torch.export made a graph within the graph ({node.target})\ncontrol flow operators are not supported")
        outputs = [{"kind": spec.kind.name.lower(), "target": spec.target, "value": self.result(spec.arg)} for spec in signature.output_specs]
        self.torch.save(constants, constants_file)
        try:
            trees = {"arguments": pytree.treespec_dumps(exported.call_spec.in_spec), "results": pytree.treespec_dumps(exported.call_spec.out_spec)}
        except Exception as error:
            raise Wrong(f"{self.name}: arguments or results are of a kind that cannot be written down: {first_lines(error)}\n"
                        "use tensors, tuples, lists and dictionaries") from error
        return {"format": 1, "torch": self.torch.__version__, "name": pathlib.Path(self.name).stem, "train": self.train, "nodes": nodes,
                "outputs": outputs, "trees": trees, "aliases": self.aliases(),
                "state": self.state()}

    def state(self):
        parameters = {name for name, _ in self.module.named_parameters(remove_duplicate=False)}
        return {name: {**type_of(tensor), "torch": str(tensor.dtype).removeprefix("torch."), "parameter": name in parameters}
                for name, tensor in self.module.state_dict().items()}

    def aliases(self):
        """Names of one and the same parameter, as in tied weights: the first of each."""
        first, result = {}, {}
        for name, tensor in list(self.module.named_parameters(remove_duplicate=False)) + list(self.module.named_buffers(remove_duplicate=False)):
            kept = first.setdefault(id(tensor), name)
            if kept != name:
                result[name] = kept
        return result

    def input(self, node, spec, exported, constants, state):
        from torch.export.graph_signature import InputKind
        role = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "constant"}.get(spec.kind, "user")
        row = {"name": node.name, "op": "input", "role": role, "target": spec.target or node.name, "type": type_of(node.meta.get("val"))}
        if role == "user" and row["type"]["dtype"] == "none":
            row["role"] = "fixed"
        if role in ("buffer", "constant") and spec.target not in state:
            row["role"] = "constant"
            value = exported.constants.get(spec.target)
            if value is None:
                value = dict(self.module.named_buffers())[spec.target]
            value = value.detach()
            constants[spec.target] = value.clone()
            if value.dim() == 0:
                row["number"] = self.argument(value.item())
            if value.numel() > 0 and not value.is_floating_point() and value.dtype != self.torch.bool:
                row["range"] = [int(value.min()), int(value.max())]
        return row

    def call(self, node):
        row = {"name": node.name, "op": str(node.target), "arguments": {}}
        value = node.meta.get("val")
        row["type"] = [type_of(v) for v in value] if isinstance(value, (list, tuple)) else type_of(value)
        schema = getattr(node.target, "_schema", None)
        if node.target is operator.getitem:
            row["op"] = "getitem"
            row["arguments"] = {"source": self.argument(node.args[0]), "index": node.args[1]}
        elif schema is None:
            row["arguments"] = {str(i): self.argument(a) for i, a in enumerate(node.args)}
        else:
            for i, parameter in enumerate(schema.arguments):
                given = node.args[i] if i < len(node.args) else node.kwargs.get(parameter.name, parameter.default_value)
                row["arguments"][parameter.name] = self.argument(given)
            row["positional"] = [parameter.name for parameter in schema.arguments if not parameter.kwarg_only]
        return row

    def result(self, argument):
        if hasattr(argument, "name") and not hasattr(argument, "value"):
            return {"node": argument.name}
        return self.argument(getattr(argument, "value", None))

    def argument(self, value):
        torch = self.torch
        if isinstance(value, torch.fx.Node):
            return {"node": value.name}
        if isinstance(value, (list, tuple)):
            return [self.argument(v) for v in value]
        if isinstance(value, float) and not math.isfinite(value):
            return {"number": str(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, torch.dtype):
            name = str(value).removeprefix("torch.")
            return {"dtype": TYPES.get(name, name)}
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return {"symbol": str(value.node.expr)}
        return {"other": str(value)}

    # Running it

    def redraw(self, seed):
        """Inputs of another draw: the program's own, where they differ from seed to seed, else its tensors' elements in
        another order and, where they are real, a little changed."""
        torch = self.torch
        import torch.utils._pytree as pytree
        _, drawn = self.make(seed)
        old, new = self.tensors(self.arguments), self.tensors(drawn)
        if len(old) == len(new) and any(not torch.equal(a, b) for a, b in zip(old, new) if a.shape == b.shape):
            return drawn
        generator = torch.Generator().manual_seed(seed)

        def other(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            mixed = leaf.flatten()[torch.randperm(leaf.numel(), generator=generator).to(leaf.device)].reshape(leaf.shape)
            if leaf.is_floating_point():
                mixed = mixed * (1 + 0.1 * torch.randn(leaf.shape, generator=generator).to(leaf))
            return mixed
        return pytree.tree_map(other, self.arguments)

    def reweigh(self, seed):
        """A module with other weights: as the program itself draws them, else the old ones scattered by a tenth."""
        torch = self.torch
        module, _ = self.make(seed)
        old, new = self.module.state_dict(), module.state_dict()
        if not old or any(not torch.equal(old[name], new[name]) for name in old):
            return module
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for value in new.values():
                if value.is_floating_point():
                    value.mul_(1 + 0.1 * torch.randn(value.shape, generator=generator).to(value))
        return module


def run_module(torch, module, arguments):
    """Results by name, and buffers as they are afterwards: what a training step leaves in them is part of the answer."""
    import torch.utils._pytree as pytree
    with torch.no_grad():
        results = module(*arguments[0], **arguments[1])
    tensors = [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]
    named = {f"result {number}": tensor for number, tensor in enumerate(tensors)}
    named.update({name: buffer.clone() for name, buffer in module.named_buffers()})
    return named


def in_double(torch, module, arguments):
    import copy
    import torch.utils._pytree as pytree

    def widen(leaf):
        return leaf.double() if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return run_module(torch, copy.deepcopy(module).double(), pytree.tree_map(widen, arguments))
    finally:
        torch.set_default_dtype(default)


def compared(torch, found, truth):
    """Errors of one output in units of its size: the largest, the root of their mean square, and what is not finite."""
    if found.shape != truth.shape:
        return {"shape": list(found.shape), "wanted": list(truth.shape)}
    if not truth.is_floating_point():
        return {"differ": int((found.to(truth.dtype) != truth).sum()), "count": truth.numel()}
    found, good = found.double(), truth.isfinite()
    scale = float(truth[good].square().mean().sqrt()) if bool(good.any()) else 0.0
    off = (found - truth)[good].abs()
    broken = int((~found[good].isfinite()).sum()) + int((found[~good].isfinite()).sum())
    off = off[off.isfinite()]
    return {"scale": scale, "max": float(off.max()) if off.numel() else 0.0,
            "rms": float(off.square().mean().sqrt()) if off.numel() else 0.0, "broken": broken, "count": truth.numel()}


class Session:
    def __init__(self):
        self.program = self.composed = self.package = None

    def load(self, request):
        import torch
        torch.set_num_threads(request["threads"])
        self.torch, self.program = torch, Program(request)
        return self.program.capture(request["constants"])

    def compose(self, request):
        sys.path.insert(0, request["folder"])
        importlib.invalidate_caches()
        self.package = importlib.import_module(request["package"])
        self.composed = self.package.Module()
        self.composed.load_state_dict(self.program.module.state_dict())
        self.composed.train(self.program.train)
        with self.torch.no_grad():
            self.composed(*self.program.arguments[0], **self.program.arguments[1])
        return {"refused": self.package.refusals()}

    def use(self, request):
        self.package.use(request["steps"])
        return {}

    def steps(self, request):
        """The median time of each step in its place, first without its kernel, then with it."""
        result = {}
        for kind, used in (("eager", False), ("kernel", True)):
            self.package.use({name: used for name in request["steps"]})
            rounds, start = [], time.monotonic()
            while len(rounds) < 3 or (len(rounds) < 50 and time.monotonic() - start < request["seconds"] / 2):
                with self.torch.no_grad():
                    rounds.append(self.composed.timed(*self.program.arguments[0], **self.program.arguments[1]))
            rounds = rounds[1:]
            result[kind] = {name: statistics.median(r[name] for r in rounds) for name in rounds[0]}
        return result

    def errors(self, request):
        torch, program = self.torch, self.program
        import copy
        arguments = program.arguments if request["set"] == 0 else program.redraw(request["seed"] + request["set"])
        module = program.module if request["weights"] == 0 else program.reweigh(request["seed"] + 1000 * request["weights"])
        truth = in_double(torch, module, arguments)
        eager = run_module(torch, copy.deepcopy(module), arguments)
        self.composed.load_state_dict(module.state_dict())
        found = run_module(torch, self.composed, arguments)
        self.composed.load_state_dict(program.module.state_dict())
        missing = [name for name in eager if name.startswith("result ") and name not in found]
        if missing or len([n for n in found if n.startswith("result ")]) != len([n for n in eager if n.startswith("result ")]):
            return {"outputs": [], "wrong": "not as many results as the module gives"}
        return {"outputs": [{"name": name, "dtype": TYPES.get(str(e.dtype).removeprefix("torch."), "f32"),
                             "eager": compared(torch, e, truth[name]), "ours": compared(torch, found[name], truth[name]),
                             "same_type": found[name].dtype == e.dtype} for name, e in eager.items() if name in found]}

    def times(self, request):
        torch, (arguments, keywords) = self.torch, self.program.arguments
        theirs = self.program.module
        if request["against"] == "compile":
            theirs = torch.compile(theirs, dynamic=False)
        ours, pairs = self.composed, {"ours": [], "theirs": []}
        clock = time.perf_counter_ns
        with torch.inference_mode():
            for module in (ours, theirs):
                module(*arguments, **keywords)
                module(*arguments, **keywords)
            begin = clock()
            theirs(*arguments, **keywords)
            calls = max(1, int(2e6 / max(clock() - begin, 1)))
            order = random.Random(request["seed"])
            gc.collect()
            gc.disable()
            until = time.monotonic() + request["seconds"]
            try:
                while len(pairs["ours"]) < request["pairs"] and (len(pairs["ours"]) < 5 or time.monotonic() < until):
                    sides = [("ours", ours), ("theirs", theirs)]
                    order.shuffle(sides)
                    for name, module in sides:
                        begin = clock()
                        for _ in range(calls):
                            module(*arguments, **keywords)
                        pairs[name].append((clock() - begin) / calls)
            finally:
                gc.enable()
        return pairs


def main():
    warnings.filterwarnings("ignore")
    session = Session()
    while True:
        request = json.loads(receive(struct.unpack("<I", receive(4))[0]))
        try:
            answer = json.dumps(getattr(session, request["do"])(request)).encode()
            send(b"K" + struct.pack("<I", len(answer)) + b"K" + answer)
        except Exception as error:  # any failure is an answer
            text = str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}"
            text = text.encode()[:8000]
            send(b"E" + struct.pack("<I", len(text)) + text)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
