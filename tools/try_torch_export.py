#!/usr/bin/env python3
"""Tries hone export --as torch and --as kernelbench on this machine.

    tools/try_torch_export.py HONE TASK... [--target cuda:0] [-w WORKLOAD] [--budget 60s] [--python PYTHON]

For each task: a short run of `hone optimize`, both exports of its champion (kernelbench where the task is a problem of
level 1; its class is built for -w full), and in a Python that has torch the exported function against PyTorch's code for the task: the largest
difference, both times, whether the kernel was used, what other shapes, strides and gradients get. Prints a line of
JSON for each form of each task; exit status 1 if any of them failed. HONE_HOME is a fresh folder unless it is set.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

KEEP = ("task", "form", "ok", "error", "used", "difference", "kernel_ms", "pytorch_ms", "speedup", "claimed", "warnings")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hone", help="the program; with --child the exported package or file")
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--target", default="cuda:0")
    parser.add_argument("-w", "--workload")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--python", default=os.environ.get("HONE_PYTHON", sys.executable))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def run(command, home):
    done = subprocess.run(command, env={**os.environ, "HONE_HOME": home}, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:3])}: exit status {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


def parent(arguments):
    home = os.environ.get("HONE_HOME") or tempfile.mkdtemp(prefix="hone-export-home-")
    failed = False
    for task in arguments.tasks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                workload = ["-w", arguments.workload] if arguments.workload else []
                line = json.loads(run([arguments.hone, "optimize", task, "--target", arguments.target, "--budget", arguments.budget, "--opponents",
                                       "pytorch", "--json", *workload], home))
                champion = line["champion"]["path"]
            except (RuntimeError, KeyError, TypeError) as error:
                print(json.dumps({"task": task, "form": "optimize", "ok": False, "error": str(error)}), flush=True)
                failed = True
                continue
            forms = ["torch"] + (["kernelbench"] if "kernelbench" in pathlib.Path(task).parts or "kernelbench_" in task else [])
            for form in forms:
                result = {"task": pathlib.Path(task).stem, "form": form, "ok": False, "claimed": (line.get("speedup") or {}).get("median")}
                try:
                    out = f"{folder}/package" if form == "torch" else f"{folder}/model.py"
                    run([arguments.hone, "export", champion, task, *workload, "--as", form, "-o", out], home)
                    child = [arguments.python, __file__, out, "--child", form, "--target", arguments.target]
                    result.update(json.loads(run(child, home).splitlines()[-1]))
                except (RuntimeError, ValueError, IndexError) as error:
                    result["error"] = str(error)
                failed = failed or not result["ok"]
                print(json.dumps({key: result[key] for key in KEEP if key in result}), flush=True)
    return 1 if failed else 0


def timed(torch, device, functions):
    """Median milliseconds of each, taken in turns; on a card by events, with the L2 cache written over in between."""
    flush = torch.empty(256 << 20, dtype=torch.uint8, device=device) if device.type == "cuda" else None
    times = [[] for _ in functions]
    for _ in range(25):
        for function, seconds in zip(functions, times):
            if flush is not None:
                flush.zero_()
                before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                before.record()
                function()
                after.record()
                torch.cuda.synchronize()
                seconds.append(before.elapsed_time(after))
            else:
                start = time.perf_counter()
                function()
                seconds.append((time.perf_counter() - start) * 1e3)
    return [statistics.median(seconds[5:]) for seconds in times]


def child(arguments):
    """In the Python that has torch."""
    import functools
    import importlib
    import importlib.util
    import warnings

    import torch
    path = pathlib.Path(arguments.hone)
    device = torch.device("cuda", int(arguments.target.partition(":")[2] or 0)) if arguments.target.startswith("cuda") else torch.device("cpu")
    result = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        if arguments.child == "torch":
            sys.path.insert(0, str(path))
            test_file = next(path.glob("test_*.py"))
            module = importlib.import_module(test_file.stem[len("test_"):])
            test = importlib.import_module(test_file.stem)
            tensors = [tensor.to(device) for tensor in test.inputs()]
            function = functools.partial(getattr(module, module.__all__[0]), **test.GIVEN)
            given = test.GIVEN
        else:
            spec = importlib.util.spec_from_file_location("model", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            try:
                module.ModelNew("no such argument")
            except ValueError as error:
                built_with = eval(str(error).split("is built with ")[1].split(", not ")[0])
            function = module.ModelNew(*built_with).to(device)
            sys.path.insert(0, str(path.parent / "package"))
            tensors = [tensor.to(device) for tensor in importlib.import_module(next((path.parent / "package").glob("test_*.py")).stem).inputs()]
            tensors = tensors[:len(tensors) - len(list(function.parameters()))]
        done, kernel_run = [], module.KERNEL.run

        def counted(*arguments):
            done.append(kernel_run(*arguments))
            return done[-1]
        module.KERNEL.run = counted
        tuples = (lambda value: value if isinstance(value, tuple) else (value,))
        if arguments.child == "torch":
            pytorch = (lambda *inputs: module.OPERATOR.compose(*inputs, **given))
        else:
            def pytorch(*inputs):
                module.KERNEL.run = lambda *ignored: False
                try:
                    return function(*inputs)
                finally:
                    module.KERNEL.run = counted
        with torch.no_grad():
            found, wanted = tuples(function(*tensors)), tuples(pytorch(*tensors))
            result["difference"] = max(((a.double() - b.double()).abs().max() / (b.double().abs().max() + 1e-30)).item() for a, b in zip(found, wanted))
            result["used"] = done == [True]
            kernel_ms, pytorch_ms = timed(torch, device, [lambda: function(*tensors), lambda: pytorch(*tensors)])
            result.update(kernel_ms=kernel_ms, pytorch_ms=pytorch_ms, speedup=pytorch_ms / kernel_ms)
        fell_back = True
        if tensors[0].is_floating_point() and tensors[0].dim() > 0:  # a gradient goes through PyTorch
            count = len(done)
            tuples(function(tensors[0].clone().requires_grad_(), *tensors[1:]))
            fell_back = len(done) == count
        if arguments.child == "torch":
            compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
            with torch.no_grad():
                again = tuples(compiled(*tensors))
            fell_back = fell_back and all(torch.equal(a, b) for a, b in zip(found, again)) if result["used"] else fell_back
    result["warnings"] = [str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)]
    result["ok"] = bool(result["used"] and fell_back and result["difference"] < 5e-2)
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    settings = parse()
    sys.exit(child(settings) if settings.child else parent(settings))
