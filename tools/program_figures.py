#!/usr/bin/env python3
"""Figures of PyTorch programs through hone, as JSON: on the CPU or, with --target cuda:0, on a card.

    program_figures.py HONE [--python PYTHON] [--target cuda:0] [--budget 60s] [--only cut|files|backend|calls] [--draw N --seed S]
                       [--opponents none] [--output FILE] [PROGRAM.py[:FUNCTION] ...]

It needs hone's program, a Python with torch ($HONE_PYTHON, else the one that runs this), and files with Model, get_inputs and
get_init_inputs, or FILE:FUNCTION: by default examples/programs and test/cases/program; of KernelBench's level 3,
programs/kernelbench/level3 (FILE:small for sizes that a CPU has done with in no time), or the files of one's own copy.
One line of JSON a program and part, and a last one that sums up:

  cut      hone explain PROGRAM: tasks, and what is left to PyTorch and why
  files    hone optimize PROGRAM: the whole against eager and torch.compile, and what share of the least time kernels run
  backend  torch.compile(backend="hone"), each in a process of its own: answers, and the first call once all is in the archive
           ("again"), against --nested and a backend that does nothing; gradients, dynamic batch, graphs compiled ("more")
  calls    what a call costs above a backend that does nothing: one task, and a chain of them
"""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT = [*sorted(ROOT.glob("examples/programs/*.py")), *(ROOT / f"test/cases/program/{name}.py" for name in ("gpt", "llama", "residual", "mlp"))]


def child(arguments, environment, *more):
    """The last line of JSON that this script prints as another process."""
    ended = subprocess.run([arguments.python, __file__, arguments.hone, "--target", arguments.target, "--budget", arguments.budget, *more], env=environment,
                           capture_output=True, text=True)
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if ended.returncode == 0 and lines else {"failed": (ended.stderr.strip().splitlines() or [str(ended.returncode)])[-1]}


def by_cut(arguments, environment, program):
    begin = time.monotonic()
    ended = subprocess.run([arguments.hone, "explain", program, "--target", arguments.target, "--json"], env=environment, capture_output=True, text=True)
    row = {"seconds": time.monotonic() - begin}
    if ended.returncode != 0:
        return {**row, "failed": (ended.stderr.strip().splitlines() or [str(ended.returncode)])[0]}
    said = json.loads(ended.stdout.splitlines()[-1])
    return {**row, "tasks": len(said["tasks"]), "steps": sum(task["multiplicity"] for task in said["tasks"]), "covered": said["covered"],
            "pytorch": [f"{step['operators']}: {step['why']}" for step in said["eager"]]}


def by_file(arguments, environment, program):
    ended = subprocess.run([arguments.hone, "optimize", program, "--target", arguments.target, "--budget", arguments.budget, "--opponents",
                            arguments.opponents, "--threads", arguments.threads, "--json"], env=environment,
                           capture_output=True, text=True)
    lines = [line for line in ended.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"failed": (ended.stderr.strip().splitlines() or [str(ended.returncode)])[0]}
    said = json.loads(lines[-1])
    weight = [task["bound_ns"] * task["multiplicity"] for task in said["tasks"]]
    used = sum(w for w, task in zip(weight, said["tasks"]) if task["used"])
    return {"eager": said["eager"], "compile": said["compile"], "compile_absent": said["compile_absent"], "checked": said["checked"], "tasks": len(said["tasks"]),
            "accepted": sum(bool(task["champion"]) for task in said["tasks"]), "kernels": sum(task["used"] for task in said["tasks"]),
            "share_of_least_time": used / sum(weight) if sum(weight) > 0 else 0, "why_not": {task["task"]: task["why"] for task in said["tasks"] if not task["used"]}}


# In a process of its own, with torch

def program_of(program, target):
    import torch
    import torch.utils._pytree as pytree
    file, _, function = program.partition(":")
    scope = {"__name__": pathlib.Path(file).stem, "__file__": file}
    sys.path.insert(0, str(pathlib.Path(file).parent))
    exec(compile(pathlib.Path(file).read_text(), file, "exec"), scope)
    torch.manual_seed(0)
    if function:
        module, inputs = scope[function]()
    else:
        module, inputs = scope["Model"](*(scope["get_init_inputs"]() if "get_init_inputs" in scope else [])), scope["get_inputs"]()
    device = target if target.startswith("cuda") else "cpu"
    return module.eval().to(device), pytree.tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, inputs)


def median_call(function, target, seconds=2.0):
    import torch
    wait = torch.cuda.synchronize if target.startswith("cuda") else (lambda: None)
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until or len(times) < 5:
        wait()
        begin = time.perf_counter_ns()
        function()
        wait()
        times.append(time.perf_counter_ns() - begin)
    return sorted(times)[len(times) // 2]


def off(found, wanted):
    import torch
    import torch.utils._pytree as pytree
    worst = 0.0
    for a, b in zip(pytree.tree_leaves(found), pytree.tree_leaves(wanted)):
        if isinstance(b, torch.Tensor) and b.numel():
            worst = max(worst, ((a.double() - b.double()).abs().max() / (b.double().abs().max() + 1e-30)).item())
    return worst


def nothing(module, _):
    return module


def compiled(module, how, arguments):
    import torch
    import hone_torch
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    if how == "hone":
        return torch.compile(module, backend=hone_torch.backend, options={"when": arguments.when, "budget": arguments.budget, "nested": arguments.nested})
    return torch.compile(module, backend=nothing if how == "nothing" else arguments.nested)


def graphs():
    import torch
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def by_backend(arguments):
    import torch
    import hone_torch
    module, inputs = program_of(arguments.programs[0], arguments.target)
    row = {"torch": torch.__version__}
    with torch.no_grad():
        wanted = module(*inputs)
        for how in ("nothing", arguments.nested, "hone"):
            fast = compiled(module, how, arguments)
            begin = time.monotonic()
            found = fast(*inputs)
            row[how] = {"first_call_s": time.monotonic() - begin, "error": off(found, wanted), "call_ns": median_call(lambda: fast(*inputs), arguments.target), "graphs": graphs()}
        report = hone_torch.report(module)
        row["used"], row["report"] = report.used, [{key: graph.get(key) for key in ("state", "why", "nested")} for graph in report.graphs]
    return row


def by_more(arguments):
    import copy
    import torch
    module, inputs = program_of(arguments.programs[0], arguments.target)
    row = {}
    for kind in ("dynamic", "training"):
        row[kind] = {}
        for how in (arguments.nested, "hone"):
            own = copy.deepcopy(module).train(kind == "training")
            fast = compiled(own, how, arguments)
            try:
                if kind == "dynamic":
                    errors = []
                    for batch in (2, 3, 5, 3, 2):
                        given = [value[:1].repeat(batch, *[1] * (value.dim() - 1)) if isinstance(value, torch.Tensor) and value.dim() > 0 else value for value in inputs]
                        with torch.no_grad():
                            errors.append(off(fast(*given), module(*given)))
                    row[kind][how] = {"error": max(errors), "graphs": graphs()}
                else:
                    other = copy.deepcopy(module).train()
                    for m, run in ((own, fast), (other, other)):
                        result = run(*inputs)
                        (result[0] if isinstance(result, tuple) else result).square().mean().backward()
                    pairs = [(a.grad, b.grad) for a, b in zip(own.parameters(), other.parameters()) if b.grad is not None]
                    floor = max((b.abs().max().item() for _, b in pairs), default=0) * 1e-3  # the gradient of a bias before a norm is noise
                    row[kind][how] = {"error": max((((a - b).abs().max() / max(b.abs().max().item(), floor, 1e-30)).item() for a, b in pairs), default=0.0), "graphs": graphs()}
            except Exception as error:  # of PyTorch's too: a program may refuse another batch
                row[kind][how] = {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    return row


def by_calls(arguments):
    import torch
    import hone_torch
    device, row = arguments.target if arguments.target.startswith("cuda") else "cpu", {}
    for layers in (1, 8):
        parts = []
        for _ in range(layers):
            parts += [torch.nn.Linear(64, 64), torch.nn.LayerNorm(64)]
        module, x = torch.nn.Sequential(*parts).eval().to(device), torch.randn(16, 64, device=device)
        with torch.inference_mode():
            empty, fast = compiled(module, "nothing", arguments), None
            empty(x)
            times = {"nothing": [], "hone": []}
            fast = torch.compile(module, backend=hone_torch.backend, options={"when": arguments.when, "budget": arguments.budget, "nested": "eager"})
            fast(x)
            for _ in range(5):
                times["nothing"].append(median_call(lambda: empty(x), arguments.target, 0.5))
                times["hone"].append(median_call(lambda: fast(x), arguments.target, 0.5))
        row[str(layers)] = {how: min(all) for how, all in times.items()} | {"kernels": len(hone_torch.report(module).used), "eager": median_call(lambda: module(x), arguments.target, 0.5)}
    return row


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hone")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--python", default=os.environ.get("HONE_PYTHON", sys.executable))
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--nested", default="inductor")
    parser.add_argument("--opponents", default="all", help="of files: \"none\" asks what is right, and leaves torch.compile out")
    parser.add_argument("--threads", default="0", help="of files: threads that PyTorch and kernels get; 0: all")
    parser.add_argument("--when", default="now")
    parser.add_argument("--only", default="files,backend,calls")
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output")
    parser.add_argument("--one", choices=["backend", "more", "calls"])
    arguments = parser.parse_intermixed_args()
    if arguments.one:
        print(json.dumps({"backend": by_backend, "more": by_more, "calls": by_calls}[arguments.one](arguments)))
        return 0
    arguments.hone = str(pathlib.Path(arguments.hone).resolve())
    programs = [str(pathlib.Path(name).absolute()) for name in arguments.programs or DEFAULT]
    if arguments.draw:
        programs = sorted(random.Random(arguments.seed).sample(programs, arguments.draw))
    rows, out = [], open(arguments.output, "a") if arguments.output else sys.stdout
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HONE": arguments.hone, "HONE_PYTHON": arguments.python, "PYTHONPATH": str(ROOT / "python"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        environment.setdefault("HONE_HOME", home)

        def say(row):
            rows.append(row)
            print(json.dumps({**row, "target": arguments.target, "budget": arguments.budget}), file=out, flush=True)
        for program in programs:
            name = pathlib.Path(program.partition(":")[0]).stem
            if "cut" in arguments.only:
                say({"part": "cut", "program": name, **by_cut(arguments, environment, program)})
            if "files" in arguments.only:
                say({"part": "files", "program": name, **by_file(arguments, environment, program)})
            if "backend" in arguments.only:
                asked = [program, "--nested", arguments.nested, "--one"]
                say({"part": "backend", "program": name, **child(arguments, environment, *asked, "backend")})
                say({"part": "again", "program": name, **child(arguments, environment, *asked, "backend", "--when", "never")})
                say({"part": "more", "program": name, **child(arguments, environment, *asked, "more")})
        if "calls" in arguments.only:
            say({"part": "calls", **child(arguments, environment, "--one", "calls")})
    good = [row for row in rows if row["part"] == "files" and row.get("compile")]
    both = [row for row in rows if row["part"] == "backend" and "hone" in row]
    say({"part": "all", "programs": len(programs), "failed": sum("failed" in row for row in rows),
         "against_compile": geometric([row["compile"]["median"] for row in good]), "against_eager": geometric([row["eager"]["median"] for row in good]),
         "share_of_least_time": sorted(row["share_of_least_time"] for row in good), "with_a_kernel": sum(row["kernels"] > 0 for row in good),
         "backend_against_nested": geometric([row[arguments.nested]["call_ns"] / row["hone"]["call_ns"] for row in both]),
         "first_call_above_nothing_s": sorted(row["hone"]["first_call_s"] - row["nothing"]["first_call_s"] for row in rows if row["part"] == "again" and "hone" in row)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
