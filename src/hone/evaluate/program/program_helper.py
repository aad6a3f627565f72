"""The process that a user's PyTorch program lives in; src/hone/evaluate/program/program_session.cc drives it. This text runs
behind pytorch_wire.py and python/hone_torch/_session.py, which answers all requests but the first:

A program is a file: with Model, get_inputs and perhaps get_init_inputs, or with a function of any name that returns a
module and its example inputs. Both are code, so this process is jailed.

Descriptor 3 brings requests, a length (u32) and a JSON object, and takes b"K" and a length (u32), then b"K" and that many
bytes of JSON; or b"E", a length and a message where the request failed.

    {"do": "load", "file", "function", "train", "threads", "seed", "constants": path to write tensors to that no state_dict has}
        -> the program, see Subject.capture()
"""
import contextlib
import json
import pathlib
import random
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

    def redraw(self, seed):
        """Inputs of another draw: the program's own, where they differ from seed to seed, else its tensors' elements in
        another order and, where they are real, a little changed."""
        _, drawn = self.make(seed)
        old, new = self.tensors(self.arguments), self.tensors(drawn)
        if len(old) == len(new) and any(not torch.equal(a, b) for a, b in zip(old, new) if a.shape == b.shape):
            return drawn
        return self.scattered(self.arguments, seed)

    def reweigh(self, seed):
        """A module with other weights: as the program itself draws them, else the old ones scattered by a tenth."""
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


class FileSession(Session):
    def load(self, request):
        torch.set_num_threads(request["threads"])
        self.program = FileProgram(request)
        return super().load(request)


def main():
    warnings.filterwarnings("ignore")
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
