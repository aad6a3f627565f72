# Functions that kernels of the library call; a kernel's module holds those that it needs. Values are blocks: one element a lane.
# Arithmetic is the task language's: NaN is handed on by extremes, integers wrap in their own type and are divided by 0 to 0.


@triton.jit
def load_lanes(tensor, at, inside, nothing: tl.constexpr = 0):
    # `nothing`: 0.0 for floats of one byte, which Triton makes of no integer.
    return tl.load(tensor + (at + tl.zeros(inside.shape, tl.int64)), mask=inside, other=nothing)


@triton.jit
def saturated(x, most: tl.constexpr):
    # On its way to a float of one byte: what is too large becomes the largest number, NaN stays NaN.
    return tl.where(x > most, most, tl.where(x < -most, -most, x))


@triton.jit
def store_lanes(tensor, at, value, inside):
    tl.store(tensor + (at + tl.zeros(inside.shape, tl.int64)), value.to(tensor.dtype.element_ty), mask=inside)


@triton.jit
def held(at, extent):
    return tl.maximum(tl.minimum(at, extent - 1), 0)


@triton.jit
def divide(a, b):
    if a.dtype == tl.float32:
        return tl.div_rn(a, b)
    else:
        return a / b


@triton.jit
def root(x):
    if x.dtype == tl.float32:
        return tl.sqrt_rn(x)
    else:
        return tl.sqrt(x)


@triton.jit
def reciprocal(x):
    return divide(tl.full((1,), 1, x.dtype), x)


@triton.jit
def inverse_root(x):
    return reciprocal(root(x))


# a - b as if it were rounded by itself: 0 where both are the same number, though the product that a is may be fused into the difference.
@triton.jit
def difference(a, b):
    return tl.where((a == b) & (tl.abs(a) < float("inf")), 0.0, a - b)


@triton.jit
def greater(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def less(a, b):
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def both(a, b):
    return a & b


# The better of two values, each with its place: the first where both are as good; a NaN is better than a number.
@triton.jit
def first_greater(a, i, b, j):
    other = (b > a) | ((b != b) & (a == a)) | (((a == b) | ((a != a) & (b != b))) & (j < i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def first_less(a, i, b, j):
    other = (b < a) | ((b != b) & (a == a)) | (((a == b) | ((a != a) & (b != b))) & (j < i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def below(a, b):
    return tl.where(b != b, a == a, a < b)


@triton.jit
def sign(x):
    return tl.where(x != x, x, (x > 0).to(x.dtype) - (x < 0).to(x.dtype))


@triton.jit
def modulo(a, b):
    rest = libdevice.fmod(a, b)
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def floor_quotient(a, b):
    q = tl.floor(divide(a, b))
    rest = tl.where(q == 0, a, tl.fma(-q, b, a))
    result = tl.where((rest != 0) & ((rest < 0) != (b < 0)), q - 1, q)
    return tl.where(tl.abs(a) == float("inf"), float("nan"), result)


@triton.jit
def whole_modulo(a, b):
    easy = (b == 0) | (b == -1)
    rest = tl.where(easy, 0, a % tl.where(easy, 1, b))
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def whole_quotient(a, b):
    easy = (b == 0) | (b == -1)
    d = tl.where(easy, 1, b)
    q = a // d - ((a % d != 0) & ((a < 0) != (d < 0))).to(a.dtype)
    return tl.where(b == 0, 0, tl.where(b == -1, 0 - a, q))


@triton.jit
def whole_power(a, b):
    result = tl.full((1,), 1, a.dtype) + 0 * (a + b)
    power = a + 0 * b
    left = b + 0 * a
    for _ in range(0, a.dtype.primitive_bitwidth):
        result = tl.where((left > 0) & (left % 2 != 0), result * power, result)
        power = power * power
        left = left // 2
    unit = tl.where(b % 2 != 0, a, 1)
    return tl.where(b < 0, tl.where((a == 1) | (a == -1), unit, 0), result)


# A number as an integer: truncated, held to the range; NaN is 0.
@triton.jit
def whole(x, LOW: tl.constexpr, HIGH: tl.constexpr):
    within = (x > LOW) & (x < HIGH)
    number = tl.where(within, x, 0.0).to(tl.int64)
    return tl.where(within | (x != x), number, tl.where(x <= LOW, tl.full((1,), LOW, tl.int64), tl.full((1,), HIGH, tl.int64)))


@triton.jit
def log_add_exp(a, b):
    larger = tl.where((a > b) | (a != a), a, b)
    finite = tl.abs(larger) < float("inf")
    apart = tl.where(finite, -tl.abs(a - b), 0.0)
    return tl.where(finite, larger + libdevice.log1p(libdevice.exp(apart)), tl.where(b != b, b, larger))
