# Functions that kernels of the library call; a kernel's module holds those that it needs. Python, called while TileLang traces: values are
# expressions of one element. Arithmetic is the task language's: NaN is handed on by extremes, integers are divided by 0 to 0. TileLang
# computes as if there were no NaN (x != x is folded to false, the negation of x < y to y <= x), and only T.isnan asks for one.


def greater(a, b):
    return T.if_then_else(T.Or(a > b, T.isnan(a)), a, b)


def less(a, b):
    return T.if_then_else(T.Or(a < b, T.isnan(a)), a, b)


def number(x, like):
    return T.cast(x, like.dtype)


def sign(x):
    return T.if_then_else(x > number(0, x), number(1, x), T.if_then_else(x < number(0, x), number(-1, x), x))


def inverse_root(x):
    return number(1, x) / T.sqrt(x)


def reciprocal(x):
    return number(1, x) / x


def exp_less_one(x):
    e = T.exp(x)
    rest = e - number(1, x)
    careful = T.if_then_else(rest == number(-1, x), rest, rest * (x / T.log(e)))
    return T.if_then_else(e == number(1, x), x, T.if_then_else(T.abs(x) < number(1, x), careful, rest))


def modulo(a, b):
    rest = T.fmod(a, b)
    return T.if_then_else(T.And(rest != number(0, a), (rest < number(0, a)) != (b < number(0, a))), rest + b, rest)


def floor_quotient(a, b):
    q = T.floor(a / b)
    rest = T.if_then_else(q == number(0, a), a, a - q * b)
    result = T.if_then_else(T.And(rest != number(0, a), (rest < number(0, a)) != (b < number(0, a))), q - number(1, a), q)
    return T.if_then_else(T.abs(a) == T.infinity(a.dtype), T.cast(float("nan"), a.dtype), result)


def whole_modulo(a, b):
    easy = T.Or(b == number(0, b), b == number(-1, b))
    rest = T.truncmod(a, T.if_then_else(easy, number(1, b), b))
    rest = T.if_then_else(easy, number(0, a), rest)
    return T.if_then_else(T.And(rest != number(0, a), (rest < number(0, a)) != (b < number(0, b))), rest + b, rest)


def whole_quotient(a, b):
    d = T.if_then_else(T.Or(b == number(0, b), b == number(-1, b)), number(1, b), b)
    rest = T.truncmod(a, d)
    q = T.truncdiv(a, d) - T.cast(T.And(rest != number(0, a), (a < number(0, a)) != (d < number(0, d))), a.dtype)
    return T.if_then_else(b == number(0, b), number(0, a), T.if_then_else(b == number(-1, b), number(0, a) - a, q))


def whole(x, low, high):
    within = T.And(x > T.cast(low, x.dtype), x < T.cast(high, x.dtype))
    inside = T.cast(T.if_then_else(within, x, number(0, x)), "int64")
    return T.if_then_else(T.Or(within, T.isnan(x)), inside, T.if_then_else(x <= T.cast(low, x.dtype), T.cast(low, "int64"), T.cast(high, "int64")))


def in_order(x):
    """Whole numbers in the order of floats: NaN is the largest, both zeros are one."""
    whole_type = "int64" if x.dtype == "float64" else "int32"
    bits, most = T.reinterpret(x, whole_type), T.max_value(whole_type)
    turned = T.if_then_else(bits < T.cast(0, whole_type), bits ^ most, bits)
    return T.if_then_else(T.isnan(x), most, T.if_then_else(x == number(0, x), T.cast(0, whole_type), turned))


def log_sum(a, b, fine):
    """log(exp(a) + exp(b)) of float64, whose part behind the larger of the two is computed in `fine`."""
    larger = greater(a, b)
    behind = T.cast(T.log1p(T.exp(T.cast(number(0, a) - T.abs(a - b), fine))), "float64")
    return T.if_then_else(T.abs(larger) < T.infinity("float64"), larger + behind, larger)


def both_factors(a, b):
    """A product that stays finite where both are: a state of 0 may meet it."""
    most, both = T.max_value("float64"), a * b
    left = T.And(T.Not(T.abs(both) <= most), T.And(T.abs(a) <= most, T.abs(b) <= most))
    return T.if_then_else(left, T.if_then_else(both < number(0, both), number(0, most) - most, most), both)
