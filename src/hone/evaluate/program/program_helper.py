"""The process that a user's PyTorch program lives in; src/hone/evaluate/program/program_session.cc drives it. This text runs
behind pytorch_wire.py and python/hone_torch/_session.py, which answers all requests but the first:

A program is a file: with Model, get_inputs and perhaps get_init_inputs, or with a function of any name that returns a
module and its example inputs; or a definition in JSON, as FlashInfer-Bench and SOL-ExecBench have them, whose "reference"
is a function run() in Python. All are code, so this process is jailed.

Descriptor 3 brings requests, a length (u32) and a JSON object, and takes b"K" and a length (u32), then b"K" and that many
bytes of JSON; or b"E", a length and a message where the request failed.

    {"do": "load", "file", "function", "workload", "workloads": a definition's file of them or null, "train", "threads", "seed", "device",
     "constants": path to write tensors to that no state_dict has}
        -> the program, see Subject.capture()
"""
import contextlib
import json
import pathlib
import random
import re
import struct
import sys
import warnings


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


class FileProgram(Subject):
    """The user's module, and how to make it and its inputs once more."""

    def __init__(self, request):
        self.train, self.device = request["train"], request["device"]
        self.name = pathlib.Path(request["file"]).name
        self.open(request)
        self.module, self.arguments = self.make(request["seed"])

    def open(self, request):
        self.scope = import_file(request["file"])
        self.function = request["function"]
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
        try:
            made = self.made(seed)
        except Wrong:
            raise
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
        if self.device != "cpu":
            try:
                module = module.to(self.device)
            except (RuntimeError, AssertionError) as error:
                raise Wrong(f"{self.name}: PyTorch cannot use {self.device}: {first_lines(error)}\nis this a torch for it?") from error
            inputs, keywords = pytree.tree_map(lambda leaf: leaf.to(self.device) if isinstance(leaf, torch.Tensor) else leaf, (inputs, keywords))
        return module.train(self.train), (tuple(inputs), keywords)

    def made(self, seed):
        if self.function:
            return seeded(seed, self.scope[self.function])
        initial = seeded(seed, self.scope["get_init_inputs"]) if "get_init_inputs" in self.scope else []
        return seeded(seed, lambda: self.scope["Model"](*initial)), seeded(seed, self.scope["get_inputs"])

    def redraw(self, seed):
        """Inputs of another draw: the program's own, where they differ from seed to seed, else its tensors' elements in
        another order and, where they are real, a little changed."""
        _, drawn = self.make(seed)
        old, new = self.tensors(self.arguments), self.tensors(drawn)
        if len(old) == len(new) and any(not torch.equal(a, b) for a, b in zip(old, new) if a.shape == b.shape):
            return drawn
        return self.scattered(self.arguments, seed)

    def reweigh(self, seed):
        """The module with other weights: as the program itself draws them, else the old ones scattered by a tenth. What no state_dict has stays."""
        module = copy.deepcopy(self.module)
        old, new = self.module.state_dict(), self.make(seed)[0].state_dict()
        if any(not torch.equal(old[name], new[name]) for name in old):
            module.load_state_dict(new)
            return module
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for value in module.state_dict().values():
                if value.is_floating_point():
                    value.mul_(1 + 0.1 * torch.randn(value.shape, generator=generator).to(value))
        return module


class DefinitionProgram(FileProgram):
    """A definition in JSON: axes, inputs by type and shape, a reference in Python. A workload says what the axes are."""

    def open(self, request):
        self.function = ""
        try:
            self.definition = json.loads(pathlib.Path(request["file"]).read_text())
            self.axes, self.inputs, reference = (self.definition[key] for key in ("axes", "inputs", "reference"))
        except (ValueError, KeyError, TypeError) as error:
            raise Wrong(f"{self.name} is no definition: {type(error).__name__}: {first_lines(error)}\n"
                        "it takes \"axes\", \"inputs\" and \"reference\", as FlashInfer-Bench and SOL-ExecBench write them") from error
        self.file, self.title = self.name, re.sub(r"\W", "_", str(self.definition.get("name", pathlib.Path(self.name).stem)))
        self.scope = {"__name__": self.title}
        try:
            exec(compile(reference, self.name, "exec"), self.scope)
        except Exception as error:
            raise Wrong(f"{self.name}: its reference fails when it is read: {type(error).__name__}: {first_lines(error)}\nrun it with python to see where") from error
        if not callable(self.scope.get("run")):
            raise Wrong(f"{self.name}: its reference has no function run()\nrun() takes the inputs and returns the outputs")
        self.workload, self.folder = self.chosen(request["workload"], request["workloads"])
        self.sizes = self.extents()

    def chosen(self, asked, file):
        """A row of the workloads, by the beginning of its uuid, or its axes said outright; else the first."""
        rows = [json.loads(line) for line in pathlib.Path(file).read_text().splitlines() if line.strip()] if file else []
        rows = [row.get("workload", row) for row in rows]
        folder = pathlib.Path(file or ".").parent
        if "=" not in asked:
            row = next((row for row in rows if str(row.get("uuid", "")).startswith(asked)), None)
            if row is None and asked:
                raise Wrong(f"{self.name} has no workload {asked}\nit has {', '.join(str(row.get('uuid', ''))[:8] for row in rows[:8]) or 'none'}")
            return row or {}, folder
        axes = dict(part.split("=", 1) for part in asked.split(","))
        odd = sorted(name for name, value in axes.items() if self.axes.get(name, {}).get("type") != "var" or not value.isdigit())
        if odd:
            raise Wrong(f"{self.name} has no axis {odd[0]} to be set to {axes[odd[0]]}\nits axes: "
                        + ", ".join(name for name, axis in self.axes.items() if axis["type"] == "var"))
        row = rows[0] if rows else {}
        return {**row, "axes": {**row.get("axes", {}), **{name: int(value) for name, value in axes.items()}}}, folder

    def extents(self):
        sizes = {name: axis["value"] for name, axis in self.axes.items() if axis["type"] == "const"}
        for name, axis in self.axes.items():
            if axis["type"] == "var":
                if name not in self.workload.get("axes", {}):
                    raise Wrong(f"{self.name} does not say what {name} is\nsay it with -w {name}=N, or put its workloads beside it")
                sizes[name] = self.workload["axes"][name]
        for name, axis in self.axes.items():
            if axis["type"] == "expr":
                sizes[name] = int(eval(axis["expression"], {}, dict(sizes)))
        return sizes

    def made(self, seed):
        return seeded(seed, lambda: (Reference(self.scope["run"]), self.drawn()))

    def drawn(self):
        sources = {name: self.workload.get("inputs", {}).get(name, {"type": "random"}) for name in self.inputs}
        scalars = {name: source["value"] for name, source in sources.items() if source["type"] == "scalar"}
        custom = self.definition.get("custom_inputs_entrypoint")
        own = self.scope[custom]({**self.sizes, **scalars}, torch.device("cpu")) if custom else {}
        return [scalars[name] if name in scalars else own[name] if name in own else self.tensor(name, spec, sources[name]) for name, spec in self.inputs.items()]

    def tensor(self, name, spec, source):
        if source["type"] == "safetensors":
            return stored(next(path for folder in (self.folder, *self.folder.absolute().parents) if (path := folder / source["path"]).exists()), source["tensor_key"])
        if spec["shape"] is None:
            raise Wrong(f"{self.name} does not say what the number {name} is\nput its workloads beside it")
        shape, dtype = [axis if isinstance(axis, int) else self.sizes[axis] for axis in spec["shape"]], getattr(torch, spec["dtype"], None)
        if not isinstance(dtype, torch.dtype):
            raise Wrong(f"{self.name}: this torch has no {spec['dtype']}, the type of {name}\nhone takes float64 to bfloat16, int64 to int8 and bool")
        if dtype.is_floating_point:
            return torch.randn(shape).to(dtype)
        return torch.randint(0, 2, shape).bool() if dtype == torch.bool else torch.randint(-64, 64, shape, dtype=dtype)

    def capture(self, constants_file, apart=None):
        return {**super().capture(constants_file, apart), "name": self.title}


class Reference(torch.nn.Module):
    def __init__(self, run):
        super().__init__()
        while hasattr(run, "__wrapped__"):  # torch.no_grad() around it would be a graph within the graph
            run = run.__wrapped__
        self.run = run

    def forward(self, *inputs):
        return self.run(*inputs)


def stored(file, name):
    """A tensor of a safetensors file: the length of a header in JSON, the header, bytes."""
    data = file.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    row = json.loads(data[8:8 + length])[name]
    begin, end = (8 + length + offset for offset in row["data_offsets"])
    known = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "BOOL": "bool"}
    return torch.frombuffer(bytearray(data[begin:end]), dtype=getattr(torch, known[row["dtype"]])).reshape(row["shape"])


class FileSession(Session):
    def load(self, request):
        torch.set_num_threads(request["threads"])
        self.program = (DefinitionProgram if request["file"].endswith(".json") else FileProgram)(request)
        return super().load(request)


def main():
    warnings.filterwarnings("ignore")
    torch.distributions.Distribution.set_default_validate_args(False)  # it looks at values, which torch.export cannot
    session = FileSession()
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
