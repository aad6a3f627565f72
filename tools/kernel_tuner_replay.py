#!/usr/bin/env python3
"""Replays Kernel Tuner's own strategies on complete tuning caches, and scores them as `hone tune --score` does.

    tools/kernel_tuner_replay.py [--evals 200] [--repeats 20] [--strategy NAME ...] CACHE.json[.gz] ...

Needs kernel_tuner (pip install kernel_tuner); no GPU: its simulation mode looks every configuration up in the cache.
Prints one line of JSON a cache and strategy: P, ERT, the fraction of the optimum after 25, 50, 100 and 200 evaluations
(docs/tuning.md defines them), and Kernel Tuner's version. A configuration counts once, in the order of its first
evaluation, as failed ones do.
"""
import argparse
import contextlib
import gzip
import importlib.metadata
import io
import json
import math
import pathlib
import random
import tempfile

STRATEGIES = ["random_sample", "genetic_algorithm", "pso", "simulated_annealing", "greedy_ils", "diff_evo", "bayes_opt"]


def read(path):
    data = pathlib.Path(path).read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def cost_of(entry, objective):
    value = entry.get(objective)
    return value if isinstance(value, (int, float)) and value > 0 else None


class Baseline:
    """Expected best of k random draws."""

    def __init__(self, costs):
        self.sorted = sorted(costs, reverse=True)
        self.optimum, self.worst, self.median = self.sorted[-1], self.sorted[0], self.sorted[len(costs) // 2]

    def after(self, k):
        n = len(self.sorted)
        return self.sorted[min(n, max(1, round(k * (n + 1) / (k + 1)))) - 1]

    def cutoff(self, most):
        for k in range(1, most):
            if self.after(k) <= self.optimum + 0.05 * (self.median - self.optimum):
                return k
        return most


def best_after(trace, k, worst):
    known = [c for c in trace[:k] if c is not None]
    return min(known) if known else worst


def score(base, traces, evaluations):
    last = base.cutoff(evaluations)
    total = 0.0
    for k in range(1, last + 1):
        reached = sum(best_after(t, k, base.worst) for t in traces) / len(traces)
        expected = base.after(k)
        total += (expected - reached) / (expected - base.optimum) if expected > base.optimum else 0.0
    return total / last


def expected_evaluations(base, traces, evaluations):
    spent = found = 0
    for trace in traces:
        at = next((i for i, c in enumerate(trace[:evaluations]) if c is not None and c <= 1.05 * base.optimum), None)
        spent += len(trace[:evaluations]) if at is None else at + 1
        found += at is not None
    return spent / found if found else math.inf


def replay(cache, file, strategy, evaluations, seed):
    import kernel_tuner
    import numpy
    random.seed(seed)
    numpy.random.seed(seed)
    keys = cache["tune_params_keys"]
    known = {tuple(e[k] for k in keys) for e in cache["cache"].values()}

    def is_known(point):
        return tuple(point[k] for k in keys) in known

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            cache["kernel_name"], "", cache["problem_size"], [], {k: cache["tune_params"][k] for k in keys},
            restrictions=is_known, strategy=strategy,
            strategy_options={"max_fevals": evaluations}, simulation_mode=True, cache=file, quiet=True)
    trace, seen = [], set()
    for result in results:
        point = tuple(result[k] for k in keys)
        if point not in seen:
            seen.add(point)
            trace.append(cost_of(result, cache["objective"]))
    return trace


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("caches", nargs="+")
    parser.add_argument("--evals", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--strategy", action="append")
    arguments = parser.parse_args()
    version = importlib.metadata.version("kernel_tuner")
    for path in arguments.caches:
        cache = read(path)
        base = Baseline([c for c in (cost_of(e, cache["objective"]) for e in cache["cache"].values()) if c is not None])
        # Kernel Tuner takes a list or a number of elements for the problem's size, and its own name for the device.
        if isinstance(cache["problem_size"], dict):
            cache["problem_size"] = list(cache["problem_size"].values())
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "cache.json")
            pathlib.Path(file).write_text(json.dumps(cache))
            for strategy in arguments.strategy or STRATEGIES:
                traces = [replay(cache, file, strategy, arguments.evals, seed) for seed in range(arguments.repeats)]
                fractions = {str(k): sum(base.optimum / best_after(t, k, math.inf) for t in traces) / len(traces) for k in (25, 50, 100, 200)}
                print(json.dumps({"space": pathlib.Path(path).name.split(".")[0], "strategy": strategy, "p": score(base, traces, arguments.evals),
                                  "ert": expected_evaluations(base, traces, arguments.evals), "fractions": fractions, "cutoff": base.cutoff(arguments.evals),
                                  "repeats": arguments.repeats, "shortest": min(map(len, traces)), "kernel_tuner": version}), flush=True)


if __name__ == "__main__":
    main()
