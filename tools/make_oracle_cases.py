#!/usr/bin/env python3
"""Writes test/cases/oracle/pytorch.toml: small programs with inputs and PyTorch's float64 results.

Run with the pinned PyTorch (scripts/setup_python.sh) after adding a case; the file is checked in, so
that the oracle's tests need no Python. Inputs are multiples of 1/8: exact in every float type.
"""
import pathlib
import torch
import torch.nn.functional as F

torch.manual_seed(20240229)
CASES = []


def real(*shape):
    return torch.randint(-24, 25, shape).double() / 8


def add(compute, result, **inputs):
    declared, data = [], {}
    for name, value in inputs.items():
        kind = "i64" if value.dtype == torch.int64 else "f32"
        declared.append(f"{name}={kind}[{','.join(map(str, value.shape))}]")
        data[name] = value
    CASES.append((compute, declared, data, result))


def text(tensor):
    values = tensor.flatten().tolist()
    return "[" + ", ".join(repr(int(v)) if float(v).is_integer() and abs(v) < 2**53 else repr(float(v)) for v in values) + "]"


x, w = real(3, 4), real(4, 5)
add("y = x @ w", x @ w, x=x, w=w)
add("y = x.T @ x", x.T @ x, x=x)
add("y = linear(x, w, b)", F.linear(x, real(5, 4).copy_(w.T), (b := real(5))), x=x, w=w.T.contiguous(), b=b)
x, w = real(2, 3, 4), real(2, 4, 5)
add("y = bmm(x, w)", torch.bmm(x, w), x=x, w=w)
add('y = einsum("bij,bjk->kbi", x, w)', torch.einsum("bij,bjk->kbi", x, w), x=x, w=w)
add('y = einsum("bij,bjk->i", x, w)', torch.einsum("bij,bjk->i", x, w), x=x, w=w)
x, w = real(2, 3, 4, 2), real(3, 2, 4, 5)
add('y = einsum("aijb,ibjc->aci", x, w)', torch.einsum("aijb,ibjc->aci", x, w), x=x, w=w)
v, u = real(6), real(6)
add("y = x @ w", (v @ u).reshape(()), x=v, w=u)
add("y = outer(x, w)", torch.outer(v, u), x=v, w=u)

x, w, b = real(2, 4, 9), real(6, 2, 3), real(6)
add("y = conv1d(x, w, b, stride=2, padding=2, dilation=2, groups=2)", F.conv1d(x, w, b, 2, 2, 2, 2), x=x, w=w, b=b)
x, w = real(2, 3, 6, 7), real(4, 3, 3, 2)
add("y = conv2d(x, w, stride=(2, 1), padding=(1, 0))", F.conv2d(x, w, None, (2, 1), (1, 0)), x=x, w=w)
x, w = real(1, 4, 5, 5), real(4, 1, 3, 3)
add("y = conv2d(x, w, padding=1, groups=4)", F.conv2d(x, w, None, 1, 1, 1, 4), x=x, w=w)
x, w = real(1, 2, 4, 5, 3), real(2, 2, 2, 3, 2)
add("y = conv3d(x, w, padding=1)", F.conv3d(x, w, None, 1, 1), x=x, w=w)
x, w = real(2, 4, 5), real(4, 3, 4)
add("y = conv_transpose1d(x, w, stride=3, padding=1, output_padding=2, dilation=2, groups=2)",
    F.conv_transpose1d(x, w, None, 3, 1, 2, 2, 2), x=x, w=w)
x, w, b = real(1, 3, 4, 3), real(3, 2, 3, 2), real(2)
add("y = conv_transpose2d(x, w, b, stride=2, padding=(1, 0))", F.conv_transpose2d(x, w, b, 2, (1, 0)), x=x, w=w, b=b)
x, w = real(1, 2, 3, 2, 3), real(2, 2, 2, 2, 2)
add("y = conv_transpose3d(x, w, stride=2)", F.conv_transpose3d(x, w, None, 2), x=x, w=w)

x = real(2, 2, 9)
add("y = max_pool1d(x, 3, stride=2, padding=1, dilation=2)", F.max_pool1d(x, 3, 2, 1, 2), x=x)
add("y = avg_pool1d(x, 4, stride=3, padding=2)", F.avg_pool1d(x, 4, 3, 2), x=x)
x = real(2, 2, 7, 6)
add("y = max_pool2d(x, (3, 2), padding=(1, 1))", F.max_pool2d(x, (3, 2), None, (1, 1)), x=x)
add("y = avg_pool2d(x, 3, stride=2, padding=1)", F.avg_pool2d(x, 3, 2, 1), x=x)
x = real(1, 2, 4, 5, 4)
add("y = max_pool3d(x, 2, stride=1)", F.max_pool3d(x, 2, 1), x=x)
add("y = avg_pool3d(x, 2)", F.avg_pool3d(x, 2), x=x)

x = real(3, 5, 2)
for axis in (0, 1, 2):
    add(f"y = cumsum(x, axis={axis})", x.cumsum(axis), x=x)
    add(f"y = cumprod(x, axis={axis})", x.cumprod(axis), x=x)
    add(f"y = cummax(x, axis={axis})", torch.cummax(x, axis).values, x=x)
    add(f"y = cumsum(x, axis={axis}, reverse=true)", x.flip(axis).cumsum(axis).flip(axis), x=x)
    add(f"y = cumsum(x, axis={axis}, exclusive=true)", x.cumsum(axis) - x, x=x)
    add(f"y = sort(x, axis={axis})", x.sort(dim=axis, stable=True).values, x=x)
    add(f"y = sort(x, axis={axis}, descending=true)", x.sort(dim=axis, descending=True).values, x=x)
    add(f"y = argsort(x, axis={axis})", x.argsort(dim=axis, stable=True), x=x)
    add(f"y = argmax(x, axis={axis})", x.argmax(axis), x=x)
    add(f"y = argmin(x, axis={axis}, keepdims=true)", x.argmin(axis, True), x=x)
    add(f"y = prod(x, axis={axis})", x.prod(axis), x=x)
    add(f"y = softmax(x, axis={axis})", x.softmax(axis), x=x)
    add(f"y = log_softmax(x, axis={axis})", x.log_softmax(axis), x=x)
    add(f"y = logsumexp(x, axis={axis})", x.logsumexp(axis), x=x)
    add(f"y = var(x, axis={axis}, correction=1)", x.var(axis), x=x)
add("y = cumsum(x, axis=1, reverse=true, exclusive=true)", x.flip(1).cumsum(1).flip(1) - x, x=x)

x, i = real(5, 3), torch.tensor([[4, 0], [2, 2]])
add("y = take(x, i, axis=0)", x[i], x=x, i=i)
add("y = take(x + 0.5, i, axis=0)", (x + 0.5)[i], x=x, i=i)
i = torch.tensor([2, 0, 1, 1])
add("y = index_select(x, 1, i)", x.index_select(1, i), x=x, i=i)
i = torch.randint(0, 3, (5, 4))
add("y = take_along_axis(x, i, axis=1)", x.gather(1, i), x=x, i=i)
add("y = embedding(i, x)", F.embedding(i, x), i=i, x=x)

x = real(3, 4)
add("y = pad(x, low=[1, 0], high=[0, 2], value=0.5)", F.pad(x, (0, 2, 1, 0), value=0.5), x=x)
add("y = flip(x, axis=(0, 1))", x.flip(0, 1), x=x)
add("y = concat([x, x * 2.0, x[0:1]], axis=0)", torch.cat([x, x * 2, x[0:1]]), x=x)
add("y = x[0:3:2, 1:]", x[0:3:2, 1:], x=x)
add("y = roll(x, 1, 1)", x.roll(1, 1), x=x)
add("y = tril(x)", x.tril(), x=x)
add("y = repeat_interleave(x, 2, 1)", x.repeat_interleave(2, 1), x=x)
add("y = tile(x, (2, 3))", x.tile(2, 3), x=x)
add("y = triu(x, 1) + eye(3, 4)", x.triu(1) + torch.eye(3, 4), x=x)

x = real(2, 4, 6)
w, b = real(6), real(6)
add("y = layer_norm(x, w, b)", F.layer_norm(x, (6,), w, b), x=x, w=w, b=b)
add("y = group_norm(x, 2)", F.group_norm(x, 2), x=x)
add("y = instance_norm(x)", F.instance_norm(x), x=x)
c = real(4)
add("y = batch_norm(x, c)", F.batch_norm(x, None, None, c, None, True), x=x, c=c)
for name, f in {"gelu": F.gelu, "silu": F.silu, "mish": F.mish, "selu": F.selu, "softplus": F.softplus,
                "hardswish": F.hardswish, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "expm1": torch.expm1,
                "atan": torch.atan, "sinh": torch.sinh, "sin": torch.sin, "tan": torch.tan,
                "round": torch.round, "trunc": torch.trunc, "erf": torch.erf, "softsign": F.softsign}.items():
    add(f"y = {name}(x)", f(x), x=x)
add('y = gelu(x, approximate="tanh")', F.gelu(x, approximate="tanh"), x=x)
add("y = abs(x) ** 1.7", x.abs() ** 1.7, x=x)
add("y = x % 0.75", x % 0.75, x=x)
add("y = x // 0.75", x // 0.75, x=x)
add("y = atan2(x, x * x - 1.0)", torch.atan2(x, x * x - 1), x=x)

q, k, v = real(2, 3, 4, 8) / 2, real(2, 3, 6, 8) / 2, real(2, 3, 6, 5)
add("y = attention(q, k, v)", F.scaled_dot_product_attention(q, k, v), q=q, k=k, v=v)
q, k, v = real(1, 2, 5, 4), real(1, 2, 5, 4), real(1, 2, 5, 4)
add("y = attention(q, k, v, causal=true)", F.scaled_dot_product_attention(q, k, v, is_causal=True), q=q, k=k, v=v)
x, t = real(4, 5), torch.tensor([0, 4, 2, 2])
add("y = cross_entropy(x, t)", F.cross_entropy(x, t), x=x, t=t)
add("y = huber_loss(x, u)", F.huber_loss(x, (u := real(4, 5))), x=x, u=u)
add("y = cosine_similarity(x, u)", F.cosine_similarity(x, u), x=x, u=u)
add("y = logcumsumexp(x, axis=1)", torch.logcumsumexp(x, 1), x=x)


def linear_scan(a, b, axis):
    results = []
    for a_t, b_t in zip(a.unbind(axis), b.unbind(axis)):
        results.append(a_t * results[-1] + b_t if results else b_t)
    return torch.stack(results, axis)


a, b = real(3, 5, 2) / 4, real(3, 5, 2)
for axis in range(3):
    add(f"y = linear_scan(a, b, axis={axis})", linear_scan(a, b, axis), a=a, b=b)
add("y = linear_scan(a, b, axis=1, reverse=true)", linear_scan(a.flip(1), b.flip(1), 1).flip(1), a=a, b=b)
a = real(5, 1) / 4
add("y = linear_scan(a, b, axis=1)", linear_scan(a.expand(3, 5, 2), b, 1), a=a, b=b)
x, w = real(2, 3, 6, 5), real(2, 3, 4, 2)
add('y = conv2d(x, w, padding="same", dilation=(1, 2))', F.conv2d(x, w, padding="same", dilation=(1, 2)), x=x, w=w)
add("y = unfold(x, (2, 3), dilation=(2, 1), padding=1, stride=(1, 2))", F.unfold(x, (2, 3), (2, 1), 1, (1, 2)), x=x)
add("y = windows(x, 2, 3, 2)", x.unfold(2, 3, 2), x=x)
add("y = windows(x, 1, 2)", x.unfold(1, 2, 1), x=x)
add("y = adaptive_avg_pool2d(x, (4, 3))", F.adaptive_avg_pool2d(x, (4, 3)), x=x)
add("y = adaptive_max_pool2d(x, (4, 2))", F.adaptive_max_pool2d(x, (4, 2)), x=x)
add("y = adaptive_avg_pool1d(x, 7)", F.adaptive_avg_pool1d(x.flatten(0, 1), 7).reshape(2, 3, 6, 7), x=x)
x, i, s = real(4, 3, 2), torch.randint(0, 3, (4, 5, 2)), real(4, 5, 2)
add("y = scatter_add(x, 1, i, s)", x.scatter_add(1, i, s), x=x, i=i, s=s)
i = torch.randint(0, 3, (5,))
add("y = index_add(x, 1, i, s)", x.index_add(1, i, s), x=x, i=i, s=s)
x = real(1, 2, 4, 3, 5)
add("y = adaptive_avg_pool3d(x, (3, 2, 2))", F.adaptive_avg_pool3d(x, (3, 2, 2)), x=x)

lines = ["# Programs with PyTorch's float64 results; written by tools/make_oracle_cases.py."]
for compute, declared, data, result in CASES:
    lines += ["", "[[case]]", f"compute = '''{compute}'''",
              "inputs = [" + ", ".join(f'"{d}"' for d in declared) + "]"]
    lines += [f"data.{name} = {text(value)}" for name, value in data.items()]
    lines += [f"expected = {text(result)}"]
out = pathlib.Path(__file__).parent.parent / "test/cases/oracle/pytorch.toml"
out.write_text("\n".join(lines) + "\n")
print(f"{len(CASES)} cases")
