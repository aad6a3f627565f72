#!/usr/bin/env python3
"""Fits the polynomials of src/hone/target/toolchain/include/hone/cpu/*.h.

Remez exchange in double precision, which is ample for single precision results; then the
coefficients are rounded to float one after another, lowest power first, the others fitted anew
around the rounded ones. Prints each polynomial as C++ hexadecimal literals with its largest
weighted error in units of 2^-24. Needs numpy. Run: python3 scripts/fit_polynomials.py [NAME ...]
"""
import math
import sys

import numpy as np


def remez(f, weight, powers, lo, hi, rounds=40):
    """Coefficients c (one a power) that minimise max |weight(x) (f(x) - sum c x^p)| on [lo, hi]."""
    grid = lo + (hi - lo) * (1 - np.cos(np.linspace(0, math.pi, 40001))) / 2
    grid = grid[weight(grid) > 0]
    target, w = f(grid), weight(grid)
    n = len(powers) + 1
    basis = np.stack([grid**p for p in powers], axis=1)
    nodes = np.round((1 - np.cos(np.linspace(0, math.pi, n))) / 2 * (len(grid) - 1)).astype(int)
    for _ in range(rounds):
        signs = (-1.0) ** np.arange(n) / w[nodes]
        solution = np.linalg.solve(np.column_stack([basis[nodes], signs]), target[nodes])
        c = solution[:-1]
        error = w * (target - basis @ c)
        # One extremum in each run of equal sign; keep the n adjacent ones that are largest.
        edges = np.flatnonzero(np.diff(np.sign(error))) + 1
        runs = np.split(np.arange(len(grid)), edges)
        extrema = np.array([run[np.argmax(np.abs(error[run]))] for run in runs])
        while len(extrema) > n:
            ends = np.abs(error[extrema[[0, -1]]])
            extrema = extrema[1:] if ends[0] < ends[1] else extrema[:-1]
        if len(extrema) < n or np.array_equal(extrema, nodes):
            break
        nodes = extrema
    return c, np.max(np.abs(error))


def fit(f, weight, powers, lo, hi):
    """As remez(), with the coefficients rounded to float."""
    fixed = {}
    remaining = list(powers)
    while remaining:
        rest = lambda x: f(x) - sum(c * x**p for p, c in fixed.items())
        c, _ = remez(rest, weight, remaining, lo, hi)
        fixed[remaining[0]] = float(np.float32(c[0]))
        remaining = remaining[1:]
    grid = np.linspace(lo, hi, 100001)
    value = sum(c * grid**p for p, c in fixed.items())
    return [fixed[p] for p in powers], np.max(np.abs(weight(grid) * (f(grid) - value)))


def literal(c):
    """A hexadecimal float literal without trailing zeros."""
    mantissa, exponent = float(c).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}f"


def ratio(numerator, denominator, series):
    """numerator/denominator, by a power series where both vanish."""
    def f(x):
        x = np.asarray(x, dtype=np.longdouble)
        near = np.abs(x) < 0.05
        safe = np.where(near, np.longdouble(1), x)
        poly = sum(c * np.where(near, x, 0) ** k for k, c in enumerate(series))
        return np.where(near, poly, numerator(safe) / denominator(safe)).astype(float)
    return f


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

if __name__ == "__main__":
    for name in sys.argv[1:] or FITS:
        coefficients, error = FITS[name]()
        print(f"{name}: largest error {error * 2**24:.3f} x 2^-24")
        print("    " + ", ".join(literal(c) for c in coefficients))
