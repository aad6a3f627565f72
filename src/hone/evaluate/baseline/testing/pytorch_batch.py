"""Runs random cases for the oracle's test against PyTorch; pytorch_batch.h drives it.

Descriptor 3 brings requests: a length (u32), then a length (u32) and a JSON list of cases, then the
bytes of their inputs. Each reply is b"K", a length (u64), b"K", and that many bytes: a length (u32), a
JSON list of [error, error] (null where there is none), then the results as f64: of a case's
statements, then of its forward(), those without an error only.

The statements are what a generator wrote, on f64 copies of narrower floats unless it says otherwise;
forward() is what hone's emitter wrote, in the task's own types. Below are the compositions that the
statements use: plain definitions, slow on purpose.
"""
import json
import os
import pathlib
import struct
import sys
import warnings

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from pytorch_wire import CONTROL, receive  # noqa: E402

TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
         "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
         "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "bool": torch.bool}


def real(x):
    return x if x.is_floating_point() else x.double()


def integers(x):
    return x if x.is_floating_point() else x.long()


def as_like(value, x):
    return value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=x.dtype)


def promote(x, y):
    kind = torch.result_type(x, y)
    return x.to(kind), (y.to(kind) if isinstance(y, torch.Tensor) else torch.tensor(y, dtype=kind))


def floor_divide(x, y):
    x, y = promote(x, y)
    return torch.floor(x / y) if x.is_floating_point() else torch.div(x, y, rounding_mode="floor")


def over(f, x, dims, keep):
    """f reduces the last axis; here it reduces `dims` (None: all)."""
    rank = x.dim()
    dims = list(range(rank)) if dims is None else sorted(d % rank for d in dims)
    kept = [i for i in range(rank) if i not in dims]
    count = 1
    for d in dims:
        count *= x.shape[d]
    y = f(x.permute(kept + dims).reshape([x.shape[i] for i in kept] + [count]))
    return y.reshape([1 if i in dims else x.shape[i] for i in range(rank)]) if keep else y


def scan(f, x, axis, reverse, first):
    """f of every prefix; `first`: what stands before the first element where scans are exclusive."""
    v = x.movedim(axis, -1)
    if reverse:
        v = v.flip(-1)
    inclusive = [f(v[..., :i + 1]) for i in range(v.shape[-1])]
    if first is not None:
        inclusive = [torch.full_like(inclusive[0], first)] + inclusive[:-1]
    y = torch.stack(inclusive, -1)
    return (y.flip(-1) if reverse else y).movedim(-1, axis)


def linear_scan(a, x, axis, reverse):
    a, b = (t.movedim(axis, -1).unbind(-1) for t in torch.broadcast_tensors(a, x))
    steps, h, found = list(zip(a, b)), None, []
    for factor, added in (reversed(steps) if reverse else steps):
        h = added if h is None else factor * h + added
        found.append(h)
    return torch.stack(found[::-1] if reverse else found, -1).movedim(-1, axis)


def variance(v, correction):
    v = real(v)
    return ((v - v.mean(-1, True)) ** 2).sum(-1) / (v.shape[-1] - correction)


def spread(w, x, axes):
    """A weight that has the dimensions `axes` of x, in x's order, so that it broadcasts."""
    axes = [a % x.dim() for a in axes]
    return w.reshape([x.shape[i] if i in axes else 1 for i in range(x.dim())])


def scaled(y, axes, w, b):
    if w is not None:
        y = y * spread(w, y, axes)
    return y if b is None else y + spread(b, y, axes)


def layer_norm(x, axes, w, b, eps):
    c = x - x.mean(axes, True)
    return scaled(c / ((c * c).mean(axes, True) + eps).sqrt(), axes, w, b)


def rms_norm(x, axes, w, b, eps):
    return scaled(x / ((x * x).mean(axes, True) + eps).sqrt(), axes, w, b)


def folded(f, x, rank):
    """f takes [N, C, spatial] or [C, spatial], of `rank` spatial dimensions."""
    lead = x.shape[:-rank - 1]
    if len(lead) < 2:
        return f(x)
    y = f(x.reshape(-1, *x.shape[-rank - 1:]))
    return y.reshape(*lead, *y.shape[1:])


def attention(q, k, v, mask, causal, scale):
    if q.dim() > 2 and q.shape[-3] != k.shape[-3]:
        group = q.shape[-3] // k.shape[-3]
        k, v = k.repeat_interleave(group, -3), v.repeat_interleave(group, -3)
    s = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        later = torch.arange(s.shape[-1]) > torch.arange(s.shape[-2]).reshape(-1, 1)
        s = torch.where(later, -torch.inf, s)
    if mask is not None:
        s = torch.where(mask, s, -torch.inf) if mask.dtype == torch.bool else s + mask
    return torch.softmax(s, -1) @ v


def reduced(loss, how):
    if how == "batchmean":
        return loss.sum() / loss.shape[0]
    return {"mean": torch.mean, "sum": torch.sum, "none": lambda x: x}[how](loss)


def cosine_similarity(x, y, axis, eps):
    x, y = torch.broadcast_tensors(x, y)
    nx, ny = (torch.linalg.vector_norm(v, 2, axis).clamp(min=eps) for v in (x, y))
    return (x * y).sum(axis) / (nx * ny)


def triplet(x, y, z, margin, p, eps, how):
    x, y, z = torch.broadcast_tensors(x, y, z)
    near, far = (torch.linalg.vector_norm(x - v + eps, float(p), -1) for v in (y, z))
    return reduced((near - far + margin).clamp(min=0), how)


def take(x, i, axis):
    axis %= x.dim()
    y = x.index_select(axis, i.long().flatten())
    return y.reshape(x.shape[:axis] + i.shape + x.shape[axis + 1:])


def iota(shape, axis):
    view = [1] * len(shape)
    view[axis] = shape[axis]
    return torch.arange(shape[axis]).reshape(view).expand(shape)


HELPERS = dict(globals(), **TYPES)


def run_statements(case, inputs):
    torch.set_default_dtype(torch.float64)
    scope = dict(HELPERS)
    for (name, _, _), x in zip(case["inputs"], inputs):
        scope[name] = x.double() if case["upcast"] and x.is_floating_point() else x
    exec(case["torch"], scope)
    return scope["result"]


def run_forward(case, inputs):
    torch.set_default_dtype(torch.float32)
    scope = {}
    exec(case["forward"], scope)
    return scope["forward"](*inputs)


def results(case, run, inputs, exact_types):
    try:
        outputs = run(case, inputs)
        outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
        expected = [tuple(shape) for _, shape in case["outputs"]]
        found = [tuple(y.shape) for y in outputs]
        if found != expected:
            raise TypeError(f"shapes {found} where the task says {expected}")
        for y, (dtype, _) in zip(outputs, case["outputs"]):
            kinds = (y.dtype, TYPES[dtype])
            if exact_types and kinds[0] != kinds[1]:
                raise TypeError(f"{kinds[0]} where the task says {kinds[1]}")
            if kinds[0].is_floating_point != kinds[1].is_floating_point:
                raise TypeError(f"{kinds[0]} where the task says {kinds[1]}")
        # Integers wrap to the task's type: PyTorch sums narrow ones in int64.
        outputs = [y if y.is_floating_point() else y.to(TYPES[dtype])
                   for y, (dtype, _) in zip(outputs, case["outputs"])]
        return None, b"".join(y.double().contiguous().numpy().tobytes() for y in outputs)
    except Exception as error:  # any failure is an answer; the test then fails and says which
        return f"{type(error).__name__}: {error}"[:500], b""


def answer(request):
    (size,) = struct.unpack_from("<I", request)
    at = 4 + size
    errors, data = [], []
    for case in json.loads(request[4:at]):
        inputs = []
        for _, dtype, shape in case["inputs"]:
            x = torch.empty(shape, dtype=TYPES[dtype])
            count = x.numel() * x.element_size()
            inputs.append(torch.frombuffer(request, dtype=torch.uint8, count=count, offset=at).clone()
                          .view(TYPES[dtype]).reshape(shape))
            at += count
        pairs = [results(case, run_statements, inputs, False), results(case, run_forward, inputs, True)]
        errors.append([error for error, _ in pairs])
        data += [bytes_ for _, bytes_ in pairs]
    text = json.dumps(errors).encode()
    return struct.pack("<I", len(text)) + text + b"".join(data)


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    while True:
        (size,) = struct.unpack("<I", receive(4))
        reply = answer(receive(size))
        reply = b"K" + struct.pack("<Q", len(reply)) + b"K" + reply
        view = memoryview(reply)
        while view:
            view = view[os.write(CONTROL, view):]


main()
