"""Operators by family, each on tensors of its own: what the table of ATen's operators is tested on. A function gives a module
that returns a list of results, and its inputs; shapes are small and odd, and some tensors are not dense."""
import math

import torch
from torch import nn
from torch.nn import functional as F


class Each(nn.Module):
    """Calls each function on its own tensors."""

    def __init__(self, cases):
        super().__init__()
        self.functions, self.counts = [case[0] for case in cases], [len(case) - 1 for case in cases]

    def forward(self, *tensors):
        results, at = [], 0
        for function, count in zip(self.functions, self.counts):
            result = function(*tensors[at:at + count])
            results += list(result) if isinstance(result, (tuple, list)) else [result]
            at += count
        return results


def made(cases):
    return Each(cases), [tensor for case in cases for tensor in case[1:]]


def real(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def strided(*shape):
    return torch.randn(*reversed(shape)).permute(*reversed(range(len(shape))))


def positive(*shape):
    return torch.rand(*shape) + 0.1


def unit(*shape):
    return torch.rand(*shape) * 1.8 - 0.9


def whole(*shape, low=-5, high=6):
    return torch.randint(low, high, shape)


def elementwise():
    floats = [F.relu, F.relu6, torch.sigmoid, torch.tanh, torch.exp, torch.exp2, torch.expm1, torch.abs, torch.neg, torch.sign, torch.floor, torch.ceil, torch.round,
              torch.trunc, torch.sin, torch.cos, torch.atan, torch.sinh, torch.cosh, torch.erf, F.silu, F.mish, F.selu, F.celu, F.elu, F.hardswish, F.hardsigmoid,
              F.hardtanh, F.logsigmoid, F.softplus, F.leaky_relu, F.gelu, F.softshrink, F.hardshrink, torch.isnan, torch.isinf, torch.square, torch.positive]
    cases = [(f, strided(5, 7) if i % 3 == 0 else real(3, 5, 2)) for i, f in enumerate(floats)]
    cases += [(f, positive(4, 3)) for f in (torch.log, torch.log2, torch.log10, torch.log1p, torch.sqrt, torch.rsqrt, torch.reciprocal)]
    cases += [(f, unit(4, 3)) for f in (torch.asin, torch.acos, torch.tan)]
    cases += [
        (torch.add, real(4, 1), strided(4, 3)), (lambda x, y: torch.add(x, y, alpha=2.5), real(4, 3), real(3)), (lambda x: x + 1, whole(4)), (lambda x: x + 0.5, whole(4)),
        (torch.sub, real(4, 3), real(1, 3)), (lambda x, y: torch.sub(x, y, alpha=3), whole(4, 3), whole(4, 3)), (lambda x: 2 - x, real(5)), (lambda x: torch.rsub(x, 2.5), real(5)),
        (torch.mul, real(4, 3), whole(4, 3)), (lambda x: x * -2.0, real(4)), (torch.div, real(4, 3), positive(4, 3)), (torch.div, whole(4, 3), whole(4, 3, low=1)), (lambda x: x / 3, whole(4)),
        (lambda x, y: torch.div(x, y, rounding_mode="floor"), real(4, 3), positive(4, 3)), (lambda x, y: torch.div(x, y, rounding_mode="trunc"), real(4, 3), positive(4, 3)),
        (lambda x, y: x // y, whole(4, 3), whole(4, 3, low=1)), (lambda x, y: x % y, whole(4, 3), whole(4, 3, low=1)), (lambda x: x % 3, whole(6)),
        (lambda x: x ** 2, real(5)), (lambda x: x ** 3, real(5)), (lambda x: x ** 0.5, positive(5)), (lambda x: x ** -1.5, positive(5)), (torch.pow, positive(4, 3), real(4, 3)),
        (lambda x: 2.0 ** x, real(5)), (torch.maximum, real(4, 3), real(3)), (torch.minimum, real(4, 3), real(3)), (torch.max, real(4, 3), real(4, 3)), (torch.atan2, real(4, 3), real(4, 3)),
        (lambda x: torch.clamp(x, -0.5, 0.5), real(6)), (lambda x: torch.clamp(x, min=0.1), real(6)), (lambda x: torch.clamp(x, max=0.1), real(6)),
        (torch.clamp, real(6), real(6) - 3, real(6) + 3), (lambda x: x.clamp_min(0.2), real(6)), (lambda x: x.clamp_max(0.2), real(6)),
        (lambda x: F.gelu(x, approximate="tanh"), real(4, 3)), (lambda x: F.leaky_relu(x, 0.2), real(4)), (lambda x: F.elu(x, 0.7), real(4)), (lambda x: F.celu(x, 0.7), real(4)),
        (lambda x: F.softplus(x, 2.0, 10.0), real(4, 3)), (lambda x: F.hardtanh(x, -0.3, 0.8), real(9)), (lambda x: F.glu(x, dim=1), real(3, 8)), (F.glu, real(3, 8)),
        (lambda x, y: torch.where(x > 0, x, y), real(4, 3), real(4, 3)), (lambda x: torch.where(x > 0, x, 0.25), real(4, 3)), (lambda x: x.masked_fill(x > 0, -7.0), real(4, 3)),
        (lambda x: x.to(torch.bfloat16), real(4, 3)), (lambda x: x.to(torch.float64) * 2, real(4, 3)), (lambda x: x.to(torch.int32), real(4, 3) * 9), (lambda x: x.bool(), whole(7)),
        (lambda x: x.float() + 0.5, whole(7)), (lambda x, y: x.type_as(y), whole(7), real(7)), (lambda x, y: torch.lerp(x, y, 0.3), real(4), real(4)), (torch.lerp, real(4), real(4), unit(4)),
        (lambda x, y, z: torch.addcmul(x, y, z, value=0.5), real(4, 3), real(4, 3), real(3)), (lambda x, y, z: torch.addcdiv(x, y, z, value=2), real(4), real(4), positive(4)),
        (lambda x, y: (x > 0) & (y > 0), real(6), real(6)), (lambda x, y: (x > 0) | (y > 0), real(6), real(6)), (lambda x, y: (x > 0) ^ (y > 0), real(6), real(6)), (lambda x: ~(x > 0), real(6)),
        (lambda x, y: torch.logical_and(x > 0, y > 0), real(6), real(6)), (lambda x, y: torch.logical_or(x > 0, y > 0), real(6), real(6)), (lambda x, y: torch.logical_xor(x > 0, y > 0), real(6), real(6)),
        (torch.bitwise_and, real(6) > 0, real(6) > 0), (torch.bitwise_or, real(6) > 0, real(6) > 0), (torch.bitwise_xor, real(6) > 0, real(6) > 0), (torch.min, real(4, 3), real(4, 3)),
        (lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7), real(5, 4)), (lambda x, s: torch.fake_quantize_per_tensor_affine(x, s, torch.tensor(2, dtype=torch.int32), 0, 255), real(5, 4), positive(1)),
        (lambda x, s: torch.fake_quantize_per_channel_affine(x, s, torch.zeros(4, dtype=torch.int32), 1, -128, 127), real(5, 4), positive(4)), (lambda x: F.rrelu(x), real(5, 4)),
        (torch.clamp_min, real(6), real(6)), (torch.clamp_max, real(6), real(6)), (lambda x: torch.logical_not(x > 0), real(6)),
        (torch.logaddexp, real(4, 3) * 40, real(3)), (torch.logaddexp, torch.tensor([math.inf, -math.inf, -math.inf, 2.0]), torch.tensor([math.inf, -math.inf, 1.0, -math.inf])), (torch.logaddexp2, real(4, 3), strided(4, 3)),
        (torch.copysign, real(4, 3), real(3)), (lambda x: torch.copysign(x, -2.0), real(5)), (torch.copysign, real(4), torch.tensor([0.0, -0.0, -math.inf, math.inf])), (torch.signbit, torch.tensor([0.0, -0.0, -1.0, 3.0, -math.inf])), (torch.signbit, whole(5)),
        (torch.linalg.cross, real(4, 3), strided(4, 3)), (lambda x, y: torch.linalg.cross(x, y, dim=0), real(3, 5), real(3, 1)), (lambda x, y: torch.cross(x, y, dim=1), real(2, 3, 4), real(2, 3, 4)), (torch.linalg.cross, real(2, 1, 3), real(1, 4, 3)),
        (lambda x, y: torch._foreach_mul([x, y], 3.0) + torch._foreach_add([x, y], [y, x], alpha=2) + torch._foreach_lerp([x, y], [y, x], 0.3), real(4, 3), real(3)), (lambda x, y: torch._foreach_addcdiv([x, y], [y, x], [x * x + 1, y * y + 1], [0.5, -2.0]), real(4, 3), real(4, 3)),
        (lambda x, y: torch._foreach_sqrt([x, y]) + torch._foreach_div([x, y], [y, x]) + torch._foreach_pow([x, y], 2) + torch._foreach_maximum([x, y], [y, x]), positive(4), positive(4)),
        *((f, torch.cat([real(9) * 3, torch.tensor([0.0, -0.0, 1e-4, math.inf, -math.inf, math.nan, 1e30])])) for f in (torch.isfinite, torch.isposinf, torch.isneginf, torch.asinh, torch.special.entr)), (torch.acosh, 1 + positive(6) * torch.tensor([1e-6, 1e-3, 0.1, 1, 100, 1e30])), (torch.atanh, unit(8)), (torch.atanh, torch.tensor([1.0, -1.0, 1e-5, 2.0])), (torch.asinh, real(8, dtype=torch.bfloat16)),
        *((f, torch.tensor([1.0, math.nan, 2.0, math.nan, -1.0]), torch.tensor([math.nan, 3.0, 1.0, math.nan, 5.0])) for f in (torch.fmin, torch.fmax)), (torch.fmin, whole(5, 4), whole(4)), (torch.heaviside, torch.tensor([0.0, -1.0, 2.0, math.nan]), real(4)), (torch.heaviside, whole(6), whole(6)),
        (torch.isclose, real(5), real(5)), (lambda x, y: torch.isclose(x, x + y, atol=0.5), real(9), real(9)), (lambda x: torch.isclose(x, x.clone(), equal_nan=True), torch.tensor([1.0, math.nan, math.inf])), (torch.logaddexp, real(5, dtype=torch.float16), real(5, dtype=torch.float16)),
        (torch.hypot, real(4, 3), real(3)), (torch.hypot, real(4) * 1e25, torch.tensor([0.0, 1e20, math.inf, 3e25])), (torch.fmod, real(5, 4), positive(4)), (lambda x: torch.fmod(x, -0.7), real(5, 4)),
        (torch.logical_and, whole(5, 4), real(5, 4) > 0), (torch.logical_or, whole(5, 4, low=-1, high=2), whole(4, low=-1, high=2)), (torch.logical_xor, whole(5, 4, low=-1, high=2), whole(4, low=-1, high=2)),
        (torch.logical_not, whole(5, 4, low=-1, high=2)), (torch.bitwise_not, whole(5, 4)), (torch.bitwise_not, whole(5, 4).to(torch.int8)),
        *((lambda x, n=n: x & n, whole(5, 4, low=-999, high=999)) for n in (0, 15, 48, -8, 1)), (lambda x: x & 127, whole(9).to(torch.int8)), (lambda x: x << 3, whole(5, 4)), (lambda x: x >> 3, whole(5, 4, low=-999, high=999)),
        (lambda x: x >> 31, whole(5, 4, low=-999, high=999).to(torch.int32)), (lambda x: (x.unsqueeze(-1) >> torch.arange(8)) & 1, whole(5, low=-999, high=999)), (lambda x: x << torch.arange(0, 31, 10, dtype=torch.int32), whole(4).to(torch.int32)),
        (lambda x: torch.bitwise_left_shift(x, 2), whole(4)), (lambda x: torch.bitwise_right_shift(x, torch.arange(4)), whole(4, low=-999, high=999)), (lambda x: torch.bitwise_left_shift(x, torch.arange(4)), whole(4)),
        (lambda x: torch.bitwise_right_shift(x, 3), whole(4, low=-999, high=999)), (lambda x: torch.bitwise_and(x, 12), whole(9, low=-999, high=999)),
    ]
    compare = (torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge)
    cases += [(f, whole(5, 3), whole(5, 3)) for f in compare]
    cases += [((lambda f: lambda x: f(x, 1))(f), whole(5, 3)) for f in compare]
    cases += [(f, real(4, 3, dtype=d), real(4, 3, dtype=d)) for f in (torch.add, torch.mul) for d in (torch.bfloat16, torch.float64)]
    return made(cases)


def reductions():
    cases = [
        (torch.sum, real(4, 5)), (lambda x: x.sum(1), strided(4, 5)), (lambda x: x.sum((0, 2), keepdim=True), real(3, 4, 5)), (lambda x: x.sum(-1), whole(4, 5)), (torch.mean, real(4, 5)),
        (lambda x: x.mean(-1, keepdim=True), real(4, 5)), (lambda x: x.mean((1, 2)), real(3, 4, 5)), (torch.prod, unit(6) + 1), (lambda x: x.prod(1), unit(3, 4) + 1),
        (lambda x: x.amax(1), real(4, 5)), (lambda x: x.amin((0, 1)), real(4, 5)), (torch.max, real(4, 5)), (torch.min, real(4, 5)), (lambda x: tuple(x.max(1)), real(4, 5)),
        (lambda x: tuple(x.min(0, keepdim=True)), real(4, 5)), (lambda x: x.max(1).values, real(4, 5)), (lambda x: x.argmax(1), real(4, 5)), (lambda x: x.argmin(0, keepdim=True), real(4, 5)),
        (torch.argmax, real(4, 5)), (lambda x: (x > 1).any(), real(4, 5)), (lambda x: (x > 1).any(1), real(4, 5)), (lambda x: (x > -1).all(), real(4, 5)), (lambda x: (x > -1).all(0), real(4, 5)),
        (lambda x: x.logsumexp(1), real(4, 5)), (lambda x: x.logsumexp((0, 1), keepdim=True), real(4, 5)), (torch.var, real(4, 5)), (lambda x: x.var(1), real(4, 5)),
        (lambda x: x.var(1, unbiased=False, keepdim=True), real(4, 5)), (lambda x: x.std(0), real(4, 5)), (lambda x: x.std((0, 1), correction=0), real(4, 5)),
        (lambda x: torch.linalg.vector_norm(x, dim=1), real(4, 5)), (lambda x: x.norm(dim=1, keepdim=True), real(4, 5)), (lambda x: torch.linalg.vector_norm(x, ord=1), real(4, 5)),
        (torch.norm, real(4, 5)), (lambda x: F.normalize(x, dim=1), real(4, 5)), (lambda x: F.softmax(x, dim=-1), real(4, 5)), (lambda x: F.softmax(x, dim=0), strided(4, 5)),
        (lambda x: F.softmax(x, dim=-1, dtype=torch.float32), real(4, 5, dtype=torch.bfloat16)), (lambda x: F.log_softmax(x, dim=1), real(4, 5)), (lambda x: F.softmin(x, dim=1), real(4, 5)),
        (lambda x: x.cumsum(1), real(4, 5)), (lambda x: x.cumsum(-2), whole(4, 5)), (lambda x: x.cumprod(1), unit(4, 5) + 1), (lambda x: torch.logcumsumexp(x, 1), real(4, 5)),
        (lambda x: torch.cummax(x, 1).values, real(4, 5)), (lambda x: torch.cummin(x, 0).values, real(4, 5)),
        (lambda x: list(torch.cummax(x, 0)), real(4, 5)), (lambda x: list(torch.cummin(x, 1)), whole(4, 9)),
        (lambda x: F.layer_norm(x, (5,)), real(4, 5)), (lambda x, w, b: F.layer_norm(x, (4, 5), w, b), real(3, 4, 5), real(4, 5), real(4, 5)), (lambda x, w: F.rms_norm(x, (5,), w), real(4, 5), real(5)),
        (lambda x, w: F.rms_norm(x, (5,), w, 1e-6), real(4, 5), real(5)), (lambda x, w, b: F.group_norm(x, 2, w, b), real(3, 4, 5), real(4), real(4)), (lambda x: F.group_norm(x, 4), real(3, 4, 5, 2)),
        (lambda x: F.instance_norm(x), real(3, 4, 5, 2)), (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), real(3, 4, 5), real(4), real(4)),
        (lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), real(3, 4, 5, 2), real(4), positive(4), real(4), real(4)), (lambda x, m, v: F.batch_norm(x, m, v, eps=1e-3), real(6, 4), real(4), positive(4)),
        (lambda x: F.batch_norm(x, None, None, training=True), real(6, 4, 3)),
        (lambda x: torch.var_mean(x, 1), real(4, 5)), (lambda x: torch.std_mean(x, (0, 2), correction=0, keepdim=True), real(4, 5, 3)),
        (lambda x, w, b: torch.native_layer_norm(x, (5,), w, b, 1e-5), real(3, 4, 5), real(5), real(5)), (lambda x, w, b: torch.native_group_norm(x, w, b, 3, 4, 10, 2, 1e-3), real(3, 4, 5, 2), real(4), real(4)),
        (lambda x, y: torch.cdist(x, y), real(3, 4, 5), real(3, 6, 5)), (lambda x, y: torch.cdist(x, y, p=1), real(4, 5), real(6, 5)),
        *((lambda x, y, r=r: F.binary_cross_entropy_with_logits(x, y, reduction=r), real(4, 5), unit(4, 5)) for r in ("none", "mean", "sum")),
        (lambda x, y, w, p: F.binary_cross_entropy_with_logits(x, y, w, pos_weight=p), real(4, 5), unit(4, 5), positive(5), positive(4, 1)),
        (lambda x: F.layer_norm(x, (8,)), real(4, 8, dtype=torch.bfloat16)), (lambda x: x.sum(1), real(4, 8, dtype=torch.bfloat16)), (lambda x: F.softmax(x, -1), real(4, 8, dtype=torch.bfloat16)),
    ]
    return made(cases)


def products():
    cases = [
        (F.linear, real(4, 5), real(6, 5), real(6)), (F.linear, strided(2, 4, 5), real(6, 5)), (F.linear, real(5), real(6, 5)), (torch.matmul, real(4, 5), real(5, 6)), (torch.matmul, real(5), real(5, 6)),
        (torch.matmul, real(4, 5), real(5)), (torch.matmul, real(5), real(5)), (torch.matmul, real(2, 1, 4, 5), real(3, 5, 6)), (torch.mm, strided(4, 5), strided(5, 6)), (torch.mv, real(4, 5), real(5)),
        (lambda x, y: torch._int_mm(x.to(torch.int8), y.to(torch.int8)), whole(20, 8, low=-128, high=128), whole(8, 16, low=-128, high=128)),
        (torch.bmm, real(2, 4, 5), real(2, 5, 6)), (torch.dot, real(5), real(5)), (torch.outer, real(4), real(5)), (torch.addmm, real(6), real(4, 5), real(5, 6)),
        (lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), real(4, 6), real(4, 5), real(5, 6)), (torch.baddbmm, real(2, 4, 6), real(2, 4, 5), real(2, 5, 6)),
        (lambda a, b: torch.einsum("bij,bjk->bik", a, b), real(2, 4, 5), real(2, 5, 3)), (lambda a, b: torch.einsum("bhid,bhjd->bhij", a, b), real(2, 3, 4, 5), real(2, 3, 6, 5)),
        (lambda x: torch.einsum("bijji->bj", x), real(2, 3, 4, 4, 3)), (lambda x, y: torch.einsum("iic,cd->id", x, y), real(3, 3, 4), real(4, 5)), (lambda x, w: F.conv2d(x, w, padding=1), real(4, 6, 5), real(3, 4, 3, 3)),
        (lambda x, w: F.conv_transpose1d(x, w, stride=2), real(4, 6), real(4, 3, 3)),
        (F.conv1d, real(2, 4, 9), real(6, 4, 3), real(6)), (lambda x, w: F.conv1d(x, w, stride=2, padding=1, dilation=2), real(2, 4, 12), real(6, 4, 3)), (lambda x, w: F.conv2d(x, w, padding=1), real(2, 4, 6, 5), real(3, 4, 3, 3)),
        (lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(1, 0), groups=2), real(2, 4, 6, 5), real(6, 2, 3, 2), real(6)), (lambda x, w: F.conv2d(x, w, padding="same"), real(2, 4, 6, 5), real(3, 4, 3, 3)),
        (lambda x, w: F.conv2d(x, w, padding="same", dilation=(1, 3)), real(2, 4, 6, 7), real(3, 4, 4, 2)), (lambda x, w: F.conv1d(x, w, padding="same"), real(2, 4, 9), real(6, 4, 6)),
        (lambda x, w: F.conv2d(x, w, padding="valid"), real(2, 4, 6, 5), real(3, 4, 3, 3)), (F.conv3d, real(1, 2, 4, 5, 6), real(3, 2, 2, 2, 2)), (F.conv_transpose1d, real(2, 4, 6), real(4, 3, 3), real(3)),
        (lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1), real(2, 4, 5, 4), real(4, 3, 3, 3)), (lambda x, w: F.conv_transpose2d(x, w, groups=2), real(2, 4, 5, 4), real(4, 3, 2, 2)),
        (lambda x, w: F.conv_transpose3d(x, w, stride=2), real(1, 2, 3, 3, 2), real(2, 3, 2, 2, 2)),
        (F.scaled_dot_product_attention, real(2, 3, 6, 8), real(2, 3, 7, 8), real(2, 3, 7, 8)), (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), real(2, 3, 6, 8), real(2, 3, 6, 8), real(2, 3, 6, 8)),
        (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.3), real(2, 3, 6, 8), real(2, 3, 7, 8), real(2, 3, 7, 8), real(6, 7)),
        (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), real(2, 4, 6, 8), real(2, 2, 7, 8), real(2, 2, 7, 8)),
        (lambda q, k, v: F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)), real(2, 4, 6, 8), real(2, 2, 7, 8), real(2, 2, 7, 8)),
        (F.linear, real(4, 8, dtype=torch.bfloat16), real(6, 8, dtype=torch.bfloat16)), (F.linear, real(4, 8, dtype=torch.float64), real(6, 8, dtype=torch.float64)),
    ]
    return made(cases)


def windows():
    cases = [
        (lambda x: F.max_pool1d(x, 3), real(2, 4, 9)), (lambda x: F.max_pool2d(x, 2), real(2, 3, 6, 7)), (lambda x: F.max_pool2d(x, 3, 2, 1), real(2, 3, 6, 7)),
        (lambda x: F.max_pool2d(x, 2, ceil_mode=True), real(2, 3, 5, 7)), (lambda x: F.max_pool2d(x, (3, 2), stride=1, dilation=(1, 2)), real(2, 3, 6, 7)), (lambda x: F.max_pool3d(x, 2), real(1, 2, 4, 4, 5)),
        (lambda x: F.avg_pool1d(x, 3, 2), real(2, 4, 9)), (lambda x: F.avg_pool2d(x, 2), real(2, 3, 6, 7)), (lambda x: F.avg_pool2d(x, 3, 2, 1), real(2, 3, 6, 7)),
        (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), real(2, 3, 6, 7)), (lambda x: F.avg_pool2d(x, 2, ceil_mode=True), real(2, 3, 5, 7)), (lambda x: F.avg_pool3d(x, 2), real(1, 2, 4, 4, 5)),
        (lambda x: F.adaptive_avg_pool1d(x, 3), real(2, 4, 9)), (lambda x: F.adaptive_avg_pool2d(x, 1), real(2, 4, 6, 5)), (lambda x: F.adaptive_avg_pool2d(x, (3, 5)), real(2, 4, 6, 5)),
        (lambda x: F.adaptive_avg_pool3d(x, 2), real(1, 2, 4, 4, 6)), (lambda x: F.adaptive_max_pool2d(x, (3, 1)), real(2, 4, 6, 5)), (lambda x: F.adaptive_max_pool1d(x, 3), real(2, 4, 9)),
        (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), real(2, 3, 4, 5)), (lambda x: F.interpolate(x, size=(8, 15), mode="nearest"), real(2, 3, 4, 5)),
        (lambda x: F.interpolate(x, scale_factor=3, mode="nearest"), real(2, 3, 4)), (lambda x: F.adaptive_avg_pool2d(x, (4, 3)), real(2, 4, 6, 5)),
        (lambda x: F.max_pool2d(x, 2), real(3, 6, 7)), (lambda x: F.avg_pool1d(x, 3, 2), real(4, 9)), (lambda x: F.adaptive_avg_pool2d(x, 2), real(4, 6, 5)),
        (lambda x: F.interpolate(x, size=(7, 3), mode="nearest"), real(2, 3, 4, 5)), (lambda x: F.interpolate(x, scale_factor=1.5, mode="nearest"), real(2, 3, 4)),
        (lambda x: F.fold(x, (5, 6), (2, 3), dilation=(1, 2), padding=1, stride=(2, 1)), real(2, 18, 12)), (lambda x: F.fold(x, (4, 6), 2, stride=2), real(2, 12, 6)),
        (lambda x: F.adaptive_avg_pool1d(x, 5), real(2, 4, 3)), (lambda x: F.adaptive_avg_pool3d(x, (2, 3, 2)), real(1, 2, 5, 4, 6)), (lambda x: F.adaptive_max_pool2d(x, (4, 2)), real(2, 4, 6, 5)),
    ]
    return made(cases)


def shapes():
    cases = [
        (lambda x: F.pixel_shuffle(x, 2), strided(2, 8, 3, 5)), (lambda x: F.pixel_unshuffle(x, 3), real(2, 2, 6, 9)), (lambda x: F.pixel_shuffle(x, 1), real(3, 4, 4)), (lambda x: F.channel_shuffle(x, 3), real(2, 6, 4, 5)), (lambda x: F.channel_shuffle(x, 2), strided(2, 4, 3)),
        (lambda x: x.reshape(6, 2) + 1, real(3, 4)), (lambda x: x.reshape(-1) * 2, strided(3, 4)), (lambda x: x.view(2, 2, 3) + 1, real(4, 3)), (lambda x: x.flatten(1) + 1, real(2, 3, 4)), (lambda x: x.unflatten(1, (2, 3)) + 1, real(4, 6)),
        (lambda x: x.squeeze() + 1, real(1, 3, 1)), (lambda x: x.squeeze(0) + 1, real(1, 3, 1)), (lambda x: x.squeeze((0, 2)) + 1, real(1, 3, 1)), (lambda x: x.unsqueeze(-1) + 1, real(3, 4)),
        (lambda x: x.permute(2, 0, 1) * 2, real(2, 3, 4)), (lambda x: x.permute(-1, 0, 1) * 2, real(2, 3, 4)), (lambda x: x.transpose(-1, -2) * 2, real(2, 3, 4)), (lambda x: x.t() * 2, real(3, 4)), (lambda x: x.mT * 2, real(2, 3, 4)),
        (lambda x: x.expand(3, 4) * 2, real(3, 1)), (lambda x: x.expand(2, -1, 4) * 2, real(3, 1)), (lambda x, y: x.expand_as(y) + y, real(1, 4), real(3, 4)), (lambda x: x.repeat(2, 3), real(2, 3)), (lambda x: x.repeat(2, 1, 3), real(2, 3)),
        (lambda x, y: torch.cat((x, y), 1), real(2, 3), real(2, 4)), (lambda x, y: torch.cat((x, y), -2), strided(2, 3), real(4, 3)), (lambda x, y: torch.stack((x, y), 1), real(2, 3), real(2, 3)), (lambda x, y: torch.stack((x, y), -1), real(2, 3), real(2, 3)),
        (lambda x: x[1:] + 1, real(4, 3)), (lambda x: x[:, ::2] + 1, real(4, 7)), (lambda x: x[..., -3:-1] + 1, real(4, 7)), (lambda x: x[1] + 1, real(4, 3)), (lambda x: x[:, -1] + 1, real(4, 3)), (lambda x: x[:, 1:6:3] + 1, real(4, 7)),
        (lambda x: [y + 1 for y in x.split(2, 1)], real(3, 5)), (lambda x: [y + 1 for y in x.split([1, 4], 1)], real(3, 5)), (lambda x: [y + 1 for y in x.chunk(3, 0)], real(7, 2)), (lambda x: [y + 1 for y in x.unbind(1)], real(3, 2)),
        (lambda x: x.chunk(2, -1)[1] * 2, real(3, 6)), (lambda x: F.pad(x, (1, 2)), real(3, 4)), (lambda x: F.pad(x, (1, 0, 2, 1), value=0.5), real(3, 4)), (lambda x: torch.roll(x, (1, -2), (0, 1)), real(3, 4)), (lambda x: torch.roll(x, 2, 1), real(3, 4)),
        (lambda x: x.flip(0, -1), real(3, 4)), (torch.triu, real(4, 5)), (lambda x: torch.tril(x, -1), real(4, 5)), (lambda x: x.diagonal() * 2, real(4, 4)), (lambda x: x.diagonal(dim1=-2, dim2=-1) * 2, real(2, 4, 4)),
        (lambda x: x.unfold(1, 3, 3) * 2, real(2, 7)), (lambda x: x.unfold(1, 3, 2) * 2, real(2, 8, 3)), (lambda x: F.unfold(x, (2, 3), dilation=(1, 2), padding=1, stride=(2, 1)), real(2, 3, 5, 6)), (lambda x: F.unfold(x, 2), real(2, 3, 5, 6)), (lambda x: x + torch.zeros(4, 3), real(4, 3)), (lambda x: x * torch.ones_like(x), real(4, 3)), (lambda x: x + torch.full((3,), 2.5), real(4, 3)), (lambda x: x + torch.full_like(x, 0.5), real(4, 3)),
        (lambda x: x + torch.arange(3), real(4, 3)), (lambda x: x * torch.arange(1, 7, 2), real(4, 3)), (lambda x: x + torch.eye(3), real(3, 3)), (lambda x: x.masked_fill(torch.tril(torch.ones(4, 4)) == 0, -math.inf).softmax(-1), real(2, 4, 4)),
        (lambda x, y: torch.slice_scatter(x, y, 1, 1, 3), real(4, 5), real(4, 2)), (lambda x, y: torch.slice_scatter(x, y, 0, -2), real(4, 5), real(2, 5)), (lambda x, y: torch.slice_scatter(x, y, 1), real(4, 5), real(4, 5)),
        (lambda x, y: torch.select_scatter(x, y, 0, -1), real(4, 5), real(5)), (lambda x, y: torch.select_scatter(x, y, 1, 2), real(4, 5), real(4)), (lambda x, y: torch.fill(x, y[0]) * x, real(4, 5), real(1)),
        (lambda x: torch.fill(x, 2.5) * x, real(4, 5)), (lambda x, y: [z + 1 for z in torch.broadcast_tensors(x, y)], real(4, 1), real(5)), (lambda x: torch.roll(x, -4), real(3, 4)),
        (lambda x: F.pad(x, (-1, 2, 1, -2)), real(4, 3)), (lambda x: F.pad(x, (-1, -1)), real(4, 3)), (lambda x: F.affine_grid(x, (2, 1, 3, 4), align_corners=True), real(2, 2, 3)),
        (lambda x, g: F.grid_sample(x, g, align_corners=False), real(2, 3, 5, 4), real(2, 3, 3, 2)), (lambda x, g: F.grid_sample(x, g, "nearest", "border", align_corners=True), real(2, 3, 5, 4), unit(2, 3, 3, 2)),
        *((lambda x, y, a=a: torch.slice_scatter(x, y, *a), real(4, 9), real(*shape)) for a, shape in (((1, 0, 9, 3), (4, 3)), ((1, 1, 9, 2), (4, 4)), ((1, 2, 9, 4), (4, 2)), ((0, 1, 4, 2), (2, 9)), ((1, 0, 8, 5), (4, 2)))),
        *((lambda x, y, k=k: torch.diagonal_scatter(x, y, k), real(4, 6), real(n)) for k, n in ((0, 4), (3, 3), (-2, 2))), (lambda x, y: torch.diagonal_scatter(x, y, 1, 1, 2), real(2, 5, 3), real(2, 2)),
        (lambda x: x.diagonal(1) * 2, real(4, 6)), (lambda x: x.diagonal(-2, 0, 2) * 2, real(4, 3, 5)), (lambda x: x.diagonal(dim1=1, dim2=0) * 2, real(4, 4, 3)),
        (lambda x: x + x.new_zeros(3), real(4, 3)), (lambda x: x.movedim(0, 2) + 1, real(2, 3, 4)), (lambda x: x.swapaxes(0, 1) + 1, real(2, 3)), (lambda x: x.repeat_interleave(2, 1) + 1, real(2, 3)),
    ]
    return made(cases)


def indices():
    cases = [
        (F.embedding, whole(4, 3, low=0, high=7), real(7, 5)), (lambda x, i: x.index_select(1, i), real(3, 6), whole(4, low=0, high=6)), (lambda x, i: x.index_select(-2, i), real(3, 6), whole(4, low=0, high=3)),
        (lambda x, i, s: x.scatter_add(1, i, s), real(3, 6), whole(3, 4, low=0, high=6), real(3, 4)), (lambda x, i, s: x.scatter_add(0, i, s), real(5, 3), whole(7, 3, low=0, high=5), real(7, 3)),
        (lambda x, i, s: x.index_add(0, i, s), real(5, 3), whole(7, low=0, high=5), real(7, 3)), (lambda x, i, s: x.index_add(-1, i, s, alpha=2), real(2, 5), whole(4, low=0, high=5), real(2, 4)),
        (lambda x, i: x.gather(1, i), real(3, 6), whole(3, 4, low=0, high=6)), (lambda x, i: x[i], real(6, 3), whole(4, low=0, high=6)), (lambda x, i: x[:, i], real(3, 6), whole(2, 2, low=0, high=6)),
        (lambda x, i, s: x.scatter(1, i, s), real(3, 6), whole(3, 4, low=0, high=6), real(3, 4)), (lambda x, i: x.scatter(0, i, 2.5), real(5, 3), whole(2, 3, low=0, high=5)),
        *((lambda x, i, m=m: F.embedding_bag(i, x, mode=m), real(7, 4), whole(5, 3, low=0, high=7)) for m in ("sum", "mean", "max")),
        (lambda x, i, w: F.embedding_bag(i, x, mode="sum", per_sample_weights=w), real(7, 4), whole(5, 3, low=0, high=7), real(5, 3)),
        (lambda x: list(torch.sort(x, 0)), real(3, 6)), (lambda x: list(torch.topk(x, 2)), real(3, 6)), (lambda x: torch.argsort(x, 1, descending=True), real(3, 6)),
        (lambda x: x[:, [2, 0]], real(3, 6)), (lambda x: torch.sort(x, 1).values, real(3, 6)), (lambda x: list(torch.sort(x, dim=0, descending=True, stable=True)), real(3, 6)), (lambda x: torch.topk(x, 2).values, real(3, 6)),
        (lambda x, i: torch.take_along_dim(x, i, 1), real(3, 6), whole(3, 2, low=0, high=6)),
        (lambda x, i: torch.ops.aten._unsafe_index(x, [None, i]), real(3, 6), whole(4, low=0, high=6)),
        (lambda x, i: x.gather(1, i), real(5, 6), whole(3, 4, low=0, high=6)), (lambda x, i: torch.take_along_dim(x, i, 1), real(3, 6), whole(1, 2, low=0, high=6)), (lambda x, i: torch.take_along_dim(x, i, 0), real(3, 1), whole(2, 5, low=0, high=3)),
        (torch.take, real(3, 6), whole(4, 2, low=-18, high=18)), (lambda x, i, j: x[i, :, j], real(5, 3, 6), whole(4, 1, low=-5, high=5), whole(2, low=0, high=6)), (lambda x, i, j: x[:, i, :, j], real(2, 4, 3, 5), whole(3, low=0, high=4), whole(3, low=0, high=5)),
        *((lambda x, y, r=r: torch.searchsorted(x.cumsum(-1), y, right=r), positive(3, 7), positive(3, 4) * 4) for r in (False, True)), (lambda x, y: torch.bucketize(x, y.cumsum(0), out_int32=True), positive(3, 7) * 4, positive(6)),
        (lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.0, 2.0]), right=True), torch.tensor([-3.0, -1.0, 0.0, 1.5, 2.0, math.nan])), (lambda x: torch.searchsorted(x.cumsum(0), 1.5), positive(9)),
        (lambda x: torch.bucketize(0.5, x.cumsum(0)), positive(9)), (lambda x: torch.quantile(x, torch.tensor(0.4), 0), real(6, 3)), (torch.median, real(4, 5)), (lambda x: list(torch.median(x, 1)), real(4, 6)), (lambda x: list(torch.median(x, 0, keepdim=True)), torch.where(real(5, 6) > 1.5, math.nan, 0.0) + real(5, 6)),
        (lambda x: list(torch.kthvalue(x, 2, 0)), real(4, 5)), (lambda x: list(torch.kthvalue(x, 5, keepdim=True)), real(4, 5)), *((lambda x, m=m: torch.quantile(x, 0.3, 1, interpolation=m), real(4, 8)) for m in ("linear", "lower", "higher", "midpoint", "nearest")),
        (lambda x: torch.quantile(x, 0.5, keepdim=True), real(4, 7)), (lambda x: torch.quantile(x, 0.9, dim=0), torch.where(real(4, 8) > 1.5, math.nan, 0.0) + real(4, 8)),
    ]
    return made(cases)


def scatters():
    cases = [
        (lambda x, i, s: x.scatter(1, i, s), real(5, 6), whole(3, 2, low=0, high=6), real(4, 3)), (lambda x, i: x.scatter(1, i, 1.0), real(5, 6), whole(5, 1, low=0, high=6)), (lambda x, i, s: x.scatter_add(1, i, s), real(5, 6, 3), whole(4, 8, 2, low=0, high=6), real(5, 8, 3)),
        *((lambda x, i, s, r=r, w=w: x.scatter_reduce(0, i, s, r, include_self=w), real(5, 3), whole(7, 3, low=0, high=5), real(8, 3)) for r in ("sum", "mean", "amax", "amin") for w in (False, True)),
        *((lambda x, i, s, r=r, w=w: x.scatter_reduce(1, i, s, r, include_self=w), whole(4, 6), whole(3, 7, low=0, high=6), whole(4, 7)) for r in ("amax", "amin") for w in (False, True)),
        *((lambda x, i, s, r=r, w=w: x.index_reduce(1, i, s, r, include_self=w), strided(3, 6, 2), whole(8, low=0, high=6), real(3, 8, 2)) for r in ("mean", "amax", "amin") for w in (False, True)),
        (lambda x, i, s: x.index_reduce(0, i, s, "amax", include_self=False), whole(5), whole(4, low=0, high=5), whole(4)), (lambda x, i, s: x.scatter_reduce(0, i, s, "amax"), real(6, dtype=torch.bfloat16), whole(8, low=0, high=6), real(8, dtype=torch.bfloat16)),
        (lambda x, i, s: x.scatter(1, i, s), real(3, 20), whole(3, 15, low=0, high=20), real(3, 15)), (lambda x, i: x.scatter(0, i, 2.0), strided(14, 3), whole(11, 2, low=0, high=14)), (lambda x: (x > 0).scatter(1, x.argsort(1), x > 0.5), real(3, 20)),
        (lambda x, i, s: x.index_copy(0, i, s), real(40), torch.randperm(40)[:30], real(30)), (lambda x, i: x.index_fill(1, i, 2), whole(2, 30), whole(20, low=-30, high=30)), (lambda x, i, s: x.index_put((i,), s), real(30), torch.randperm(30)[:12], real(12)),
        (lambda x, i, s: x.put(i, s), strided(4, 7), torch.tensor([[3, -1], [0, 9]]), real(2, 2)), (lambda x, i, s: x.put(i, s, accumulate=True), real(4, 7), whole(30, low=-28, high=28), real(30)),
        (lambda x, m, s: x.masked_scatter(m, s), strided(4, 7), real(4, 7) > 0, real(4, 7)), (lambda x, m, s: x.masked_scatter(m, s), real(4, 7), real(7) > 0, real(30)), (lambda x, m, s: x.masked_scatter(m, s), whole(4, 3), real(4, 1) > 0, whole(13)),
        (lambda x, i, s: x.index_copy(1, i, s), real(4, 7), torch.tensor([5, 0, 3]), real(4, 3)), (lambda x, i: x.index_fill(0, i, 2.5), real(6, 4), torch.tensor([-1, 2])), (lambda x, i, v: x.index_fill(1, i, v[0]), real(6, 4), torch.tensor([3]), real(2)),
        (lambda x, i, s: x.index_put((i,), s), real(6, 4), torch.tensor([4, -6, 1]), real(3, 4)), (lambda x, i, s: x.index_put((i,), s), real(6, 4), torch.tensor([[4, 0], [3, 5]]), real(4)), (lambda x, i, j, s: x.index_put((i, j), s), real(6, 4), torch.tensor([4, 0, 5]), torch.tensor([-1, 2, 2]), real(3)),
        (lambda x, i, s: torch.ops.aten.index_put(x, [None, i], s), real(3, 6, 4), torch.tensor([4, 0]), real(3, 2, 4)), (lambda x, i, j, s: x.index_put((i, j), s, accumulate=True), real(6, 4, 2), whole(9, low=-6, high=6), whole(9, low=0, high=4), real(9, 2)),
        (lambda x, m: x.index_put((m,), torch.tensor(0.5)), real(5, 4), real(5, 4) > 0), (lambda x, m, v: x.index_put((m,), v), real(5, 4), real(5) > 0, real(4)), (lambda x, m, v: torch.ops.aten.index_put(x, [None, m], v, True), real(3, 5, 2), real(5) > 0, real(1)),
        (lambda x, y: torch.where(torch.zeros_like(x).index_add(0, torch.tensor([1, 1]), y) > 0, x, -x), real(5, 3), real(2, 3)),
    ]
    return made(cases)


def bits():
    types = (torch.int8, torch.int16, torch.int32, torch.int64)
    any_bits = lambda *shape, dtype=torch.int64: torch.randint(torch.iinfo(dtype).min // 4, torch.iinfo(dtype).max // 4, shape, dtype=dtype)
    cases = [(f, any_bits(5, 4, dtype=t), any_bits(4, dtype=u)) for f in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor) for t, u in zip(types, types[1:] + types[:1])]
    cases += [(f, any_bits(5, 4, dtype=t), real(5, 1) > 0) for f in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor) for t in types[:2]]
    cases += [(lambda x, n=n, f=f: f(x, n), any_bits(5, 4, dtype=torch.int32)) for f in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor) for n in (0x55, -6, 0)]
    cases += [(lambda x, f=f: f(12, x), any_bits(5, 4)) for f in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor, torch.bitwise_left_shift, torch.bitwise_right_shift)]
    cases += [(torch.bitwise_not, any_bits(7, dtype=t)) for t in types]
    cases += [(lambda x, n=n: x << n, any_bits(4, 3, dtype=t)) for t in types for n in (1, 7, 8, 31, 40)] + [(lambda x, n=n: x >> n, any_bits(4, 3, dtype=t)) for t in types for n in (1, 7, 8, 31, 63, 64)]
    cases += [(f, any_bits(9, 3, dtype=t), whole(3, low=0, high=20).to(t)) for f in (torch.bitwise_left_shift, torch.bitwise_right_shift) for t in types]
    cases += [
        (lambda x: (x ^ (x << 13)) ^ (x >> 17), any_bits(9, dtype=torch.int32)), (lambda x: (x | x.t()) & 0x0F0F, any_bits(4, 4)), (lambda x, y: torch.fmod(x, y), whole(5, 4), whole(4, low=1)),
        (lambda x: torch.fmod(x, -3), whole(9)), (lambda x, y: torch.div(x, y, rounding_mode="trunc"), whole(5, 4, low=-99, high=99), whole(4, low=1)), (lambda x: torch.div(x, -4, rounding_mode="trunc"), whole(9)),
    ]
    return made(cases)


def losses():
    classes, weights, ignored = whole(9, low=0, high=5), positive(5), torch.tensor([0, -100, 2, 3, -100, 4, 1, 1, 0])
    kinds = [{}, {"reduction": "sum"}, {"reduction": "none"}, {"label_smoothing": 0.1}, {"ignore_index": 2}, {"ignore_index": 2, "label_smoothing": 0.2, "reduction": "none"}]
    cases = [(lambda x, t, k=k: F.cross_entropy(x, t, **k), real(9, 5), classes) for k in kinds] + [(lambda x, t, w, k=k: F.cross_entropy(x, t, w, **k), real(9, 5), classes, weights) for k in kinds]
    cases += [(lambda x, t, k=k: F.cross_entropy(x, t, **k), real(9, 5), ignored) for k in kinds[:4]] + [(lambda x, t, w, k=k: F.cross_entropy(x, t.softmax(1), w, **k), real(9, 5), real(9, 5), weights) for k in kinds[:4]]
    cases += [
        (F.cross_entropy, real(2, 5, 3, 4), whole(2, 3, 4, low=0, high=5)), (F.cross_entropy, real(5), torch.tensor(3)), (lambda x, t: F.cross_entropy(x, t.softmax(1), reduction="none"), real(2, 5, 3), real(2, 5, 3)),
        (lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), real(4, 5, dtype=torch.bfloat16), whole(4, low=0, high=5)),
        (lambda x, t: F.nll_loss(x, t), real(9, 5), ignored), (lambda x, t, w: F.nll_loss(x, t, w), real(9, 5), classes, weights), (lambda x, t: F.nll_loss(x, t, reduction="none"), real(2, 5, 3, 4), whole(2, 3, 4, low=0, high=5)),
        *((lambda x, t, w, r=r: list(torch.ops.aten.nll_loss_forward(x, t, w, r, 2)), real(9, 5), classes, weights) for r in (1, 2)), (lambda x, t: list(torch.ops.aten.nll_loss2d_forward(x, t, None, 1, -100)), real(2, 5, 3, 4), whole(2, 3, 4, low=0, high=5)),
        (F.cosine_similarity, real(4, 5), real(4, 5)), (lambda x, y: F.cosine_similarity(x, y, dim=-1), real(2, 1, 4, 5), real(3, 1, 5)), (lambda x, y: F.cosine_similarity(x * 0, y, dim=0, eps=1e-3), real(4, 5), real(4, 1)),
    ]
    return made(cases)


def unusual():
    """Calls that were once steps of PyTorch's."""
    one, none = torch.tensor(1.0), torch.tensor(0.0)
    turns = torch.polar(torch.ones(5, 2), real(5, 2))
    cases = [
        (lambda x: torch.where(x > 0, one, none), real(4, 7)), (lambda x: one.expand(3) + x[0, :3], real(4, 7)), (lambda x: x.index_put((torch.tensor([2, 0]),), one), real(4, 7)),
        (lambda x: torch.where(x > 2, torch.tensor(3), torch.tensor(-1)), whole(4, 7)), (lambda x: one.reshape(1, 1) @ x, real(1, 7)), (lambda x: torch.maximum(x, one) * none, real(4, 7, dtype=torch.float16)),
        (lambda x: torch.full_like(x, 2) * one, real(4, 7)), (lambda x: F.fold(F.unfold(x, 3).sigmoid(), (6, 6), 3) / F.fold(torch.ones_like(F.unfold(x, 3)), (6, 6), 3), real(2, 3, 6, 6)),
        (lambda x: x.any((0, 2)), real(3, 4, 5) > 1), (lambda x: torch.all(x, (1, 2), keepdim=True), real(3, 4, 5) > -1), (lambda x: list(x.aminmax(dim=1)), real(4, 7)), (lambda x: list(x.aminmax()), real(4, 7)),
        (lambda x: F.avg_pool2d(x, 2, divisor_override=3), real(2, 3, 6, 7)), (lambda x: F.avg_pool2d(x, (3, 2), 2, (1, 1), divisor_override=5), real(2, 3, 6, 7)), (lambda x: torch.isin(x, torch.tensor([1, 2])), whole(4, 7)),
        (F.triplet_margin_loss, real(4, 7), real(4, 7), real(4, 7)), (F.cosine_embedding_loss, real(4, 7), real(4, 7), torch.tensor([1.0, -1, 1, -1])), (F.margin_ranking_loss, real(7), real(7), torch.tensor([1.0, -1, 1, -1, 1, 1, -1])),
        (F.bilinear, real(4, 7), real(4, 5), real(3, 7, 5), real(3)), (lambda x, y: list(torch.meshgrid(x, y, indexing="xy")), real(4), real(3)),
        (lambda x: torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (2, 2))) * turns[:, None]).flatten(-2), real(2, 5, 3, 4)), (lambda x, y: torch.complex(x, y).abs(), real(4, 7), real(4, 7)),
    ]
    return made(cases)
