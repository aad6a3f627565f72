# What a program made of kernels runs on: its weights by the original's names, tasks that run their kernel or PyTorch's
# operators, and folds, which are computed again when the weights they hang on change.
import collections
import json
import pathlib
import re

import torch
import torch.utils._pytree as pytree

from ._recording import Recorder, Steps


class Task:
    """One or more steps of the program. `eager` is PyTorch's own way to do it; `kernel` is the package of the kernel, or None."""

    changes = 0  # how often it was said which tasks use their kernels

    def __init__(self, name, eager, kernel=None):
        self.name, self.eager, self.kernel = name, eager, kernel
        self.used = kernel is not None

    def use(self, used):
        self.used = used and self.kernel is not None
        Task.changes += 1

    def __call__(self, *tensors):
        if not self.used:
            return self.eager(*tensors)
        tensors = [tensor if tensor.is_contiguous() else tensor.contiguous() for tensor in tensors]
        if torch.compiler.is_compiling():
            results = getattr(self.kernel, self.kernel.__all__[0])(*tensors)
        else:
            results = self.kernel.OPERATOR(*tensors)
        return results if isinstance(results, tuple) else (results,)

    def refusal(self):
        """Why the kernel does not run here; None where it does."""
        return next(iter(self.kernel.OPERATOR.refusals.values()), None) if self.kernel else None


class Written(Task):
    """An operator that was written out as steps of its own, which run in its place where one of them has a kernel that is used."""

    def __init__(self, name, eager, kernel, steps):
        super().__init__(name, eager, kernel)
        self.steps, self.used = steps, any(isinstance(step, Task) and step.used for step in steps)

    def __call__(self, *tensors):
        return self.kernel(self.steps, *tensors) if self.used else self.eager(*tensors)

    def refusal(self):
        return None


class Folded:
    """Values that hang on weights alone."""

    def __init__(self, function):
        self.function, self.key, self.values = function, None, None

    def __call__(self, weights, needed):
        if torch.is_grad_enabled() and any(weights[i].requires_grad for i in needed):
            return self.function(weights)
        try:
            key = [(weights[i].data_ptr(), weights[i]._version) for i in needed]
        except RuntimeError:  # inference tensors count no versions
            return self.function(weights)
        if self.key != key:
            self.values, self.key = self.function(weights), key
        return self.values


def tree_of(text):
    """How arguments or results are put together; kinds of tuples that nobody here knows are made."""
    for name in set(re.findall(r'"hone \w+\([^)]*\) \d+"|"torch\.return_types\.\w+"', text)):
        name = json.loads(name)
        if name in pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE:
            continue
        kind, fields = re.split(r"[ (]", name.removeprefix("hone "), maxsplit=1) if name.startswith("hone ") else (name.rsplit(".", 1)[1], None)
        if fields is not None:
            pytree._register_namedtuple(collections.namedtuple(kind, fields.split(")")[0].split()), serialized_type_name=name)
        else:
            kind = getattr(torch.return_types, kind)
            pytree.SUPPORTED_SERIALIZED_TYPES[kind] = pytree._SerializeNodeDef(kind, name, None, None)
            pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = kind
    return pytree.treespec_loads(text)


class Program(torch.nn.Module):
    """Generated classes say what STATE, ALIASES, CONSTANTS, WEIGHTS, INPUTS, TREES, STEPS and run() are. With RECORD a program on a
    card becomes one CUDA graph in its second call with the same weights; record(False) keeps it from that, and `recorder.why` says why
    it cannot be one."""

    RECORD = True
    OWN = {"arguments_tree", "folds", "places", "plain", "recorder", "results_tree"}  # whatever weights are called

    def __init__(self):
        super().__init__()
        for name, (shape, dtype, is_parameter) in self.STATE.items():
            if name in self.ALIASES:
                continue
            tensor = torch.zeros(shape, dtype=dtype)
            self.put(name, torch.nn.Parameter(tensor, requires_grad=dtype.is_floating_point) if is_parameter else tensor)
        for name, first in self.ALIASES.items():
            held, last = self.place(first)
            self.put(name, held[last])
        constants = torch.load(pathlib.Path(__file__).parent / "constants.pt", weights_only=True) if self.CONSTANTS else {}
        for number, name in enumerate(self.CONSTANTS):
            self.register_buffer(f"constant_{number}", constants[name], persistent=False)
        self.begin(self.RECORD)

    def begin(self, record):
        """What is this module's alone, beside its weights."""
        self.folds = [Folded(function) for function, _ in self.FOLDS]
        self.arguments_tree, self.results_tree = (tree_of(text) for text in self.TREES)
        plain = pytree.tree_structure((tuple(range(len(self.INPUTS))), {})) == self.arguments_tree
        self.plain = plain and all(shape is not None for _, shape, _ in self.INPUTS)  # one tensor an argument
        self.places = None
        self.record(record)

    def __getstate__(self):
        """For copies and torch.save()."""
        return {name: value for name, value in self.__dict__.items() if name not in self.OWN} | {"records": self.recorder is not None}

    def __setstate__(self, state):
        super().__setstate__({name: value for name, value in state.items() if name != "records"})
        self.begin(state["records"])

    def owner(self, name):
        module, parts = self, name.split(".")
        for part in parts[:-1]:
            if part not in module._modules:
                module._modules[part] = torch.nn.Module()
            module = module._modules[part]
        return module, parts[-1]

    def put(self, name, tensor):
        """A weight may be called as one of our own methods is: register_parameter() would not have it."""
        owner, last = self.owner(name)
        (owner._parameters if isinstance(tensor, torch.nn.Parameter) else owner._buffers)[last] = tensor

    def __setattr__(self, name, value):
        if name in self.OWN:
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)

    def place(self, name):
        """The dictionary that holds a weight, and its name there."""
        owner, last = self.owner(name)
        return owner._parameters if last in owner._parameters else owner._buffers, last

    def weights(self):
        if self.places is None:
            self.places = [self.place(name) for name in self.WEIGHTS]
        return [held[name] for held, name in self.places]

    def leaves(self, arguments, keywords):
        leaves, tree = arguments, self.arguments_tree
        if not self.plain or keywords or len(arguments) != len(self.INPUTS):
            leaves, tree = pytree.tree_flatten((arguments, keywords))
        if tree != self.arguments_tree:
            raise TypeError(f"the arguments are not those that the program was captured with: {len(leaves)} of them, in {tree}")
        for leaf, (name, shape, dtype) in zip(leaves, self.INPUTS):
            if shape is None:
                continue
            if not isinstance(leaf, torch.Tensor) or tuple(leaf.shape) != shape or leaf.dtype != dtype:
                what = f"{tuple(leaf.shape)} of {leaf.dtype}" if isinstance(leaf, torch.Tensor) else type(leaf).__name__
                raise ValueError(f"{name} is {what}; the program was made for {shape} of {dtype}")
        return leaves

    def forward(self, *arguments, **keywords):
        return self.called(self.STEPS, arguments, keywords, self.recorder)

    def stepwise(self, *arguments, **keywords):
        """As forward(), without a recording."""
        return self.called(self.STEPS, arguments, keywords)

    def called(self, steps, arguments, keywords, recorder=None):
        return self.answered(steps, self.leaves(arguments, keywords), recorder)

    def answered(self, steps, leaves, recorder=None):
        weights, results = self.weights(), None
        if recorder is not None and not torch.compiler.is_compiling() and not self.derives(leaves, weights):
            results = recorder(self, leaves, weights)
        if results is None:
            results = self.computed(steps, leaves, weights)
        return pytree.tree_unflatten(results, self.results_tree)

    def derives(self, leaves, weights):
        return torch.is_grad_enabled() and any(isinstance(t, torch.Tensor) and t.requires_grad for t in (*leaves, *weights))

    def settings(self):
        """What decides, beside arguments and weights, what a call puts on the stream."""
        return self.training, Task.changes

    def folded(self, weights):
        return [value for fold, (_, needed) in zip(self.folds, self.FOLDS) for value in fold(weights, needed)]

    def computed(self, steps, leaves, weights):
        read = weights
        if self.derives(leaves, weights):
            steps = [step.eager if isinstance(step, Task) else step for step in steps]  # kernels have no derivative
            read = [w if isinstance(w, torch.nn.Parameter) else w.clone() for w in weights]  # a derivative needs buffers as they were
        results, changed = self.run(steps, leaves, read, self.folded(weights))
        with torch.no_grad():
            for buffer, value in changed:
                next((w for w, r in zip(weights, read) if r is buffer), buffer).copy_(value)
        return results

    def record(self, on=True, patience=1):
        """Whether calls on a card become replays of one CUDA graph; forgets the one that there is."""
        self.recorder = Recorder(patience=patience) if on else None

    def replays(self):
        return self.recorder is not None and self.recorder.key is not None

    def timed(self, inside, *arguments, **keywords):
        """Nanoseconds by step; `inside`: by those that others were written out as, "3.0", "3.1"."""
        timed = Steps(self.STEPS, self.recorder if self.replays() else None, inside)
        self.called(timed.steps, arguments, keywords)
        return timed.spent


class Flat(Program):
    """A graph as torch.compile hands it over: ARGUMENTS names what comes with each call, weights too."""

    RECORD = False  # the nested backend compiles its steps, and records them where it is asked to

    def parts(self, arguments):
        given = dict(zip(self.ARGUMENTS, arguments))
        return [given[name] for name, _, _ in self.INPUTS], [given[name] if name in given else self._buffers[name] for name in self.WEIGHTS]

    def called(self, steps, arguments, keywords, recorder=None):
        return self.computed(steps, *self.parts(arguments))
