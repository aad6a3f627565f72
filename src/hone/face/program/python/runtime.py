# What a program made of kernels runs on: its weights by the original's names, tasks that run their kernel or PyTorch's
# operators, and folds, which are computed again when the weights they hang on change.
import pathlib
import time

import torch
import torch.utils._pytree as pytree


class Task:
    """One or more steps of the program. `eager` is PyTorch's own way to do it; `kernel` is the package of the kernel, or None."""

    def __init__(self, name, eager, kernel=None):
        self.name, self.eager, self.kernel = name, eager, kernel
        self.used = kernel is not None

    def __call__(self, *tensors):
        if not self.used:
            return self.eager(*tensors)
        tensors = [tensor if tensor.is_contiguous() else tensor.contiguous() for tensor in tensors]
        if torch.compiler.is_compiling():
            results = getattr(self.kernel, self.name)(*tensors)
        else:
            results = self.kernel.OPERATOR(*tensors)
        return results if isinstance(results, tuple) else (results,)

    def refusal(self):
        """Why the kernel does not run here; None where it does."""
        return next(iter(self.kernel.OPERATOR.refusals.values()), None) if self.kernel else None


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


class Program(torch.nn.Module):
    """Generated classes say what STATE, ALIASES, CONSTANTS, WEIGHTS, INPUTS, TREES, STEPS and run() are."""

    def __init__(self):
        super().__init__()
        for name, (shape, dtype, is_parameter) in self.STATE.items():
            if name in self.ALIASES:
                continue
            owner, last = self.owner(name)
            tensor = torch.zeros(shape, dtype=dtype)
            if is_parameter:
                owner.register_parameter(last, torch.nn.Parameter(tensor, requires_grad=dtype.is_floating_point))
            else:
                owner.register_buffer(last, tensor)
        for name, first in self.ALIASES.items():
            owner, last = self.owner(name)
            kept, kept_last = self.owner(first)
            tensor = getattr(kept, kept_last)
            (owner.register_parameter if isinstance(tensor, torch.nn.Parameter) else owner.register_buffer)(last, tensor)
        constants = torch.load(pathlib.Path(__file__).parent / "constants.pt", weights_only=True) if self.CONSTANTS else {}
        for number, name in enumerate(self.CONSTANTS):
            self.register_buffer(f"constant_{number}", constants[name], persistent=False)
        self.folds = [Folded(function) for function, _ in self.FOLDS]
        self.arguments_tree, self.results_tree = (pytree.treespec_loads(text) for text in self.TREES)

    def owner(self, name):
        module, parts = self, name.split(".")
        for part in parts[:-1]:
            if part not in module._modules:
                module.add_module(part, torch.nn.Module())
            module = module._modules[part]
        return module, parts[-1]

    def weights(self):
        found = []
        for name in self.WEIGHTS:
            module = self
            *path, last = name.split(".")
            for part in path:
                module = module._modules[part]
            found.append(module._parameters[last] if last in module._parameters else module._buffers[last])
        return found

    def leaves(self, arguments, keywords):
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
        return self.called(self.STEPS, arguments, keywords)

    def called(self, steps, arguments, keywords):
        return pytree.tree_unflatten(self.computed(steps, self.leaves(arguments, keywords), self.weights()), self.results_tree)

    def folded(self, weights):
        return [value for fold, (_, needed) in zip(self.folds, self.FOLDS) for value in fold(weights, needed)]

    def computed(self, steps, leaves, weights):
        read = weights
        if torch.is_grad_enabled() and any(isinstance(t, torch.Tensor) and t.requires_grad for t in (*leaves, *weights)):
            steps = [step.eager if isinstance(step, Task) else step for step in steps]  # kernels have no derivative
            read = [w if isinstance(w, torch.nn.Parameter) else w.clone() for w in weights]  # a derivative needs buffers as they were
        results, changed = self.run(steps, leaves, read, self.folded(weights))
        with torch.no_grad():
            for buffer, value in changed:
                next((w for w, r in zip(weights, read) if r is buffer), buffer).copy_(value)
        return results

    def timed(self, *arguments, **keywords):
        """Nanoseconds by step."""
        spent = {}

        def measured(number, step):
            def run(*tensors):
                on_card = any(isinstance(tensor, torch.Tensor) and tensor.is_cuda for tensor in tensors)
                if on_card:
                    torch.cuda.synchronize()
                begin = time.perf_counter_ns()
                results = step(*tensors)
                if on_card:
                    torch.cuda.synchronize()
                spent[str(number)] = time.perf_counter_ns() - begin
                return results
            return run
        self.called([measured(number, step) for number, step in enumerate(self.STEPS)], arguments, keywords)
        return spent


class Flat(Program):
    """A graph as torch.compile hands it over: ARGUMENTS names what comes with each call, weights too."""

    def parts(self, arguments):
        given = dict(zip(self.ARGUMENTS, arguments))
        return [given[name] for name, _, _ in self.INPUTS], [given[name] if name in given else self._buffers[name] for name in self.WEIGHTS]

    def called(self, steps, arguments, keywords):
        return self.computed(steps, *self.parts(arguments))
