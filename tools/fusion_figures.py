#!/usr/bin/env python3
"""Measures what fusion is worth on this machine, and prints a table in Markdown.

    tools/fusion_figures.py [--hone build/hone] [--workload small] [--budget 30s] [TASK.toml ...]

For each task: `hone explain --save` writes the most promising built-in kernel and the same patterns an
operation at a time; with --budget both are tuned first (`hone optimize`, the fused one with all
patterns, the unfused one as it is), so that the best of each meet; `hone compare` says the ratio. Launches
and bytes are those of the plans (docs/json.md, explain), "least" is what the graph allows. Without
tasks: a dozen of tasks/inference. Run it on a quiet machine."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

TASKS = ("gemm_bias_gelu_bf16 gemm_bias_gelu_tanh_f16 gemm_bias_silu_f16 gemm_residual_bf16 swiglu_bf16 geglu_tanh_f16 "
         "rmsnorm_residual_bf16 layer_norm_modulate_bf16 group_norm_silu_f16 logsoftmax_nll_bf16 "
         "softmax_additive_mask_bf16 quantise_rows_i8 sampling_probabilities_f32 softmax_bool_mask_f16 dequantise_groups_f16").split()


def run(command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode not in (0, 1, 10, 11):
        said = " ".join(done.stderr.strip().splitlines()[-3:])
        raise RuntimeError(f"{' '.join(map(str, command))}: {said}")
    return json.loads(done.stdout.splitlines()[-1])


def champion(hone, task, workload, budget, extra):
    result = run([hone, "optimize", task, *workload, "--budget", budget, "--opponents", "none", "--json", *extra])
    if result["champion"] is None:
        raise RuntimeError(f"no kernel was accepted for {task}")
    return result["champion"]["path"]


def row(hone, task, workload, budget, folder):
    plan = run([hone, "explain", task, *workload, "--json", "--save", folder])
    if plan["unfused"] is None:
        raise RuntimeError(f"{task} is one operation")
    fused, unfused = folder / "fused.cc", folder / "unfused.cc"
    if budget:
        fused = champion(hone, task, workload, budget, [])
        unfused = champion(hone, task, workload, budget, ["--start", unfused, "--strategy", "tune"])
    compared = run([hone, "compare", fused, unfused, task, *workload, "--json"])
    if "ratio" not in compared:
        raise RuntimeError(f"{task}: one of the two was refused")
    work, best = plan["workloads"][0], plan["patterns"][0]
    least = work["bytes_read"] + work["bytes_written"]
    mib = lambda value: f"{value / 2**20:.1f}"
    ratio = compared["ratio"]
    high = f"{ratio['high']:.2f}" if ratio["high"] is not None else "∞"
    return (plan["task"], mib(least), f"{best['launches']}, {mib(best['bytes_moved'])}",
            f"{plan['unfused']['launches']}, {mib(plan['unfused']['bytes_moved'])}",
            f"{ratio['median']:.2f} [{ratio['low']:.2f}, {high}]", compared["comparison"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", default="build/hone", type=pathlib.Path)
    parser.add_argument("--workload", action="append", default=[], help="of the task files; default: theirs")
    parser.add_argument("--budget", help="tune both before they meet, such as 30s; default: as the patterns write them")
    parser.add_argument("tasks", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    tasks = arguments.tasks or [root / "tasks/inference" / f"{name}.toml" for name in TASKS]
    workload = [part for name in arguments.workload for part in ("-w", name)]
    print("| task | least MiB | fused: launches, MiB | unfused: launches, MiB | time(unfused) / time(fused) | call |")
    print("| --- | --- | --- | --- | --- | --- |")
    failed = 0
    for task in tasks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print("| " + " | ".join(row(arguments.hone, task, workload, arguments.budget, pathlib.Path(folder))) + " |", flush=True)
            except (RuntimeError, json.JSONDecodeError, IndexError) as error:
                failed += 1
                print(f"{task}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
