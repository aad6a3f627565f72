#!/usr/bin/env python3
"""Fits the polynomials of src/hone/target/toolchain/include/hone/cpu/*.h and of
src/hone/evaluate/verify/draw/draw_formulas.inc.

For float: least squares in double precision on points that crowd towards the ends, which is close
to minimax; the coefficients are rounded one after another, lowest power first, the others fitted
anew around the rounded ones. For double: interpolation at Chebyshev nodes in 60 digits, which is
within a small factor of the best. Prints each polynomial as C++ hexadecimal literals, lowest power
first, with its largest weighted error in units of 2^-24 (float) or 2^-53 (double).
Needs numpy and mpmath. Run: python3 tools/fit_polynomials.py [NAME ...]
"""
import math
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 60


def fit(f, weight, powers, lo, hi):
    """Float coefficients c (one a power) that make weight(x) (f(x) - sum c x^p) small on [lo, hi]."""
    grid = lo + (hi - lo) * (1 - np.cos(np.linspace(0, math.pi, 4001))) / 2
    w, rest = weight(grid), f(grid)
    powers = list(powers)
    coefficients = []
    while powers:
        basis = np.stack([grid**p for p in powers], axis=1)
        c = np.linalg.lstsq(basis * w[:, None], rest * w, rcond=None)[0]
        coefficients.append(float(np.float32(c[0])))
        rest = rest - coefficients[-1] * grid ** powers.pop(0)
    return coefficients, np.max(np.abs(w * rest))


def literal(c):
    """A hexadecimal literal without trailing zeros."""
    mantissa, exponent = float(c).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}"


def ratio(numerator, denominator, series):
    """numerator/denominator, by a power series near zero, where both vanish."""
    def f(x):
        x = np.asarray(x, dtype=np.longdouble)
        near = np.abs(x) < 0.05
        safe = np.where(near, np.longdouble(1), x)
        poly = sum(c * np.where(near, x, 0) ** k for k, c in enumerate(series))
        return np.where(near, poly, numerator(safe) / denominator(safe)).astype(float)
    return f


def fit_double(f, weight, terms, lo, hi):
    """f by a polynomial of `terms` coefficients, rounded to double; the largest weighted error."""
    angles = [mp.pi * (2 * k + 1) / (2 * terms) for k in range(terms)]
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos(a) for a in angles]
    powers = mp.matrix([[x**p for p in range(terms)] for x in nodes])
    exact = mp.lu_solve(powers, mp.matrix([f(x) for x in nodes]))
    c = [float(v) for v in exact]
    points = [lo + (hi - lo) * (k + mp.mpf(0.5)) / 1000 for k in range(1000)]
    error = max(abs(weight(x) * (f(x) - mp.polyval([mp.mpf(v) for v in reversed(c)], x))) for x in points)
    return c, float(error)


LN2 = math.log(2)
erf = np.vectorize(math.erf)
erfc = np.vectorize(math.erfc)
near0 = lambda x: np.where(x == 0, 1e-30, x)

FITS = {
    # exp(r) = 1 + r + r^2 P(r); relative to exp(r).
    "exp": lambda: fit(
        ratio(lambda x: np.expm1(x) - x, lambda x: x * x, [1 / math.factorial(k + 2) for k in range(14)]),
        lambda x: x * x / np.exp(x), range(5), -LN2 / 2, LN2 / 2),
    # log(1 + r) = r - r^2 / 2 + r^3 P(r); relative to log(1 + r).
    "log": lambda: fit(
        ratio(lambda x: np.log1p(x) - x + x * x / 2, lambda x: x**3,
              [(-1.0) ** k / (k + 3) for k in range(14)]),
        lambda x: np.abs(x**3 / near0(np.log1p(x))), range(8), -0.25, 0.5),
    # 2^r = 1 + r P(r); relative to 2^r.
    "exp2": lambda: fit(
        ratio(lambda x: np.expm1(x * np.log(np.longdouble(2))), lambda x: x,
              [LN2 ** (k + 1) / math.factorial(k + 1) for k in range(14)]),
        lambda x: np.abs(x) / np.exp2(x), range(6), -0.5, 0.5),
    # log2(1 + r) = r + r P(r); relative to log2(1 + r).
    "log2": lambda: fit(
        ratio(lambda x: np.log1p(x) / np.log(np.longdouble(2)) - x, lambda x: x,
              [1 / LN2 - 1] + [(-1.0) ** k / (k + 1) / LN2 for k in range(1, 16)]),
        lambda x: np.abs(x / near0(np.log1p(x))) * LN2, range(10), -0.25, 0.5),
    # sin(r) = r + r^3 P(r^2) for |r| <= pi / 4; in s = r^2, relative to sin.
    "sin": lambda: fit(
        lambda s: (np.sin(np.sqrt(s)) / np.sqrt(s) - 1) / s, lambda s: s * np.sqrt(s) / np.sin(np.sqrt(s)),
        range(3), 1e-3, (math.pi / 4) ** 2),
    # cos(r) = 1 - r^2 / 2 + r^4 P(r^2) for |r| <= pi / 4; in s = r^2, relative to cos.
    "cos": lambda: fit(
        lambda s: (np.cos(np.sqrt(s)) - 1 + s / 2) / s**2, lambda s: s**2 / np.cos(np.sqrt(s)),
        range(3), 1e-2, (math.pi / 4) ** 2),
    # tan(r) = r + r^3 P(r^2) for |r| <= pi / 4; in s = r^2, relative to tan.
    "tan": lambda: fit(
        lambda s: (np.tan(np.sqrt(s)) / np.sqrt(s) - 1) / s, lambda s: s * np.sqrt(s) / np.tan(np.sqrt(s)),
        range(7), 1e-3, (math.pi / 4) ** 2),
    # tanh(x) = x + x^3 P(x^2) for |x| < 0.625; in s = x^2, relative to tanh.
    "tanh_near": lambda: fit(
        lambda s: (np.tanh(np.sqrt(s)) / np.sqrt(s) - 1) / s, lambda s: s * np.sqrt(s) / np.tanh(np.sqrt(s)),
        range(5), 1e-3, 0.625**2),
    # erf(x) = x + x P(x^2) for |x| < 0.9375; in s = x^2, relative to erf.
    "erf_near": lambda: fit(
        lambda s: erf(np.sqrt(near0(np.abs(s)))) / np.sqrt(near0(np.abs(s))) - 1,
        lambda s: np.sqrt(near0(np.abs(s))) / erf(np.sqrt(near0(np.abs(s)))),
        range(6), 1e-12, 0.9375**2),
    # erf(x) = 1 - exp(-P(|x|)) for 0.9375 <= |x| < 3.9375; relative to erf.
    "erf_far": lambda: fit(
        lambda t: -np.log(erfc(t)), lambda t: np.maximum(erfc(t) / erf(t), 1e-6),
        range(8), 0.9375, 3.9375),
}


def erf_table(terms=5, intervals=32, width=0.125):
    """erf(n/8 + r) for 0 <= r < 1/8, as rows of one power of r each; the largest relative error.

    The constants of n = 0 are those of P in erf(r) = r + r P(r^2), relative to erf: there the kernel
    takes r^2 for r and r itself for the constant.
    """
    first, worst = fit(lambda s: erf(np.sqrt(s)) / np.sqrt(s) - 1, lambda s: np.sqrt(s) / erf(np.sqrt(s)),
                       range(terms - 1), 1e-12, width**2)
    columns = [[0.0, *first]]
    for n in range(1, intervals):
        coefficients, error = fit(lambda r: erf(n * width + r), lambda r: 1 / erf(n * width + r),
                                  range(terms), 0.0, width)
        columns.append(coefficients)
        worst = max(worst, error)
    return [[column[k] for column in columns] for k in range(terms)], worst


DOUBLE_FITS = {
    # exp(r) = 1 + r + r^2 P(r); relative to exp(r).
    "exp_double": lambda: fit_double(
        lambda x: (mp.expm1(x) - x) / x**2, lambda x: x**2 / mp.exp(x), 10, -mp.log(2) / 2, mp.log(2) / 2),
    # log((1 + s) / (1 - s)) = 2 s + s^3 P(s^2) for |s| <= 0.2; in z = s^2, relative to the logarithm.
    "log_double": lambda: fit_double(
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, lambda z: z / 2,
        8, mp.mpf(0), mp.mpf("0.04")),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or [*FITS, *DOUBLE_FITS, "erf_table"]:
        if name == "erf_table":
            rows, error = erf_table()
            print(f"{name}: largest error {error * 2.0**24:.3f} x 2^-24")
            for row in rows:
                for half in (row[:16], row[16:]):
                    print("    {" + ", ".join(literal(c) + "f" for c in half) + "},")
            continue
        single = name in FITS
        coefficients, error = FITS[name]() if single else DOUBLE_FITS[name]()
        bits = 24 if single else 53
        print(f"{name}: largest error {error * 2.0**bits:.3f} x 2^-{bits}")
        print("    " + ", ".join(literal(c) + ("f" if single else "") for c in coefficients))
