# The kernel where it holds, the task's PyTorch code elsewhere.
import os
import pathlib
import tempfile
import threading
import warnings

import torch


class Refused(Exception):
    """The kernel cannot run on this machine; the message says why."""


def writable_folder(folder):
    """`folder`, or one of the user's own where there is none or it cannot be written."""
    places = [pathlib.Path(folder)] if folder else []
    for place in (*places, pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hone-export"):
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return place
        except OSError:
            continue
    raise Refused("there is no folder to keep the build in")


class Operator:
    """`inputs` and `outputs` are (name, element type) pairs; `extents(*shapes, **given)` gives the task's extents or
    None; `shapes(*extents)` the outputs'; `composition(*tensors, *extents)` the answer by PyTorch."""

    def __init__(self, name, inputs, outputs, extents, shapes, composition, makes_tensors, kernel):
        self.name, self.inputs, self.outputs = name, inputs, outputs
        self.extents, self.shapes, self.composition = extents, shapes, composition
        self.makes_tensors, self.kernel = makes_tensors, kernel
        self.refusals = {}
        self.lock = threading.Lock()

    def __call__(self, *tensors, **given):
        """The kernel's answer, or PyTorch's. Neither can be differentiated through the kernel."""
        extents = self.bind(tensors, given)
        if not self.suits(tensors):
            return self.composed(tensors, extents)
        device = tensors[0].device
        if device not in self.refusals:
            try:
                results = [torch.empty(shape, dtype=dtype, device=device)
                           for shape, (_, dtype) in zip(self.shapes(*extents), self.outputs)]
                if self.kernel.run(tensors, results, extents):
                    return results[0] if len(results) == 1 else tuple(results)
            except Refused as refusal:
                self.refuse(device, str(refusal))
        return self.composed(tensors, extents)

    def compose(self, *tensors, **given):
        """PyTorch's answer: differentiable, of any element type, traceable."""
        return self.composed(tensors, self.bind(tensors, given))

    def bind(self, tensors, given):
        extents = self.extents(*[tensor.shape for tensor in tensors], **given)
        if extents is None:
            shapes = ", ".join(f"{name} {list(tensor.shape)}" for (name, _), tensor in zip(self.inputs, tensors))
            raise ValueError(f"{self.name}: these are not the task's shapes: {shapes}")
        return extents

    def suits(self, tensors):
        """What the kernel asks of tensors, whatever their extents."""
        for tensor, (_, dtype) in zip(tensors, self.inputs):
            if (tensor.dtype != dtype or tensor.device != tensors[0].device or tensor.device.type != self.kernel.device
                    or tensor.layout != torch.strided or not tensor.is_contiguous() or tensor.is_neg()):
                return False
        return True

    def refuse(self, device, reason):
        with self.lock:
            first = device not in self.refusals
            self.refusals[device] = reason
        if first:
            warnings.warn(f"{self.name} on {device}: PyTorch instead of the kernel: {reason}", RuntimeWarning, stacklevel=4)

    def composed(self, tensors, extents):
        if self.makes_tensors:
            with tensors[0].device:
                results = self.composition(*tensors, *extents)
        else:
            results = self.composition(*tensors, *extents)
        if isinstance(results, tuple):
            return tuple(result.contiguous() for result in results)
        return results.contiguous()


def wants_grad(tensors):
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


PLAIN = (torch.Tensor, torch.nn.Parameter)
try:
    _lookers_on = (torch._C._len_torch_dispatch_stack, torch._C._len_torch_function_stack, torch._C._functorch.peek_interpreter_stack,
                   torch._C._get_tracing_state)
except AttributeError:  # of another PyTorch: who looks on cannot be told
    _lookers_on = (lambda: True,)


def undisturbed(tensors):
    """Whether the operator may be called without PyTorch's dispatcher, which takes longer than the rest of a call: plain tensors,
    and no compiler, mode, transform or trace that has to see it."""
    return not torch.compiler.is_compiling() and not any(one() for one in _lookers_on) and all(type(tensor) in PLAIN for tensor in tensors)
