"""Runs many emitted forward() functions in one process, for tests of whole suites.

Standard input brings {"threads": N, "jobs": [...]}; a job has
    source    Python that defines forward(inputs...)
    inputs    [{"dtype": "float32", "shape": [...], "bound": N}, ...]; integers are drawn below bound
    outputs   [{"dtype": "float32", "shape": [...]}, ...]
    data      a file that holds the inputs, one after the other; without it they are drawn here
    result    a file to write the outputs to, one after the other; without it they are dropped
    repeats   timed calls, after two that are not
and standard output gets one JSON line a job: {"ms": [...]} or {"error": "..."}.
"""
import json
import math
import sys
import time
import warnings

import torch

warnings.filterwarnings("ignore")


def drawn(spec):
    dtype, shape = getattr(torch, spec["dtype"]), spec["shape"]
    if dtype.is_floating_point:
        return torch.rand(shape).add_(0.5).to(dtype)  # positive and not tiny: allowed in every domain
    return torch.randint(0, 2 if dtype == torch.bool else spec["bound"], shape).to(dtype)


def read(file, specs):
    tensors = []
    for spec in specs:
        dtype = getattr(torch, spec["dtype"])
        data = bytearray(file.read(math.prod(spec["shape"]) * dtype.itemsize))
        tensors.append(torch.frombuffer(data, dtype=dtype).reshape(spec["shape"]))
    return tensors


def run(job):
    scope = {}
    exec(compile(job["source"], "forward.py", "exec"), scope)
    forward = scope["forward"]
    if "data" in job:
        with open(job["data"], "rb") as file:
            inputs = read(file, job["inputs"])
    else:
        inputs = [drawn(spec) for spec in job["inputs"]]
    results = forward(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    found = [{"dtype": str(r.dtype).removeprefix("torch."), "shape": list(r.shape)} for r in results]
    if found != job["outputs"]:
        raise TypeError(f"forward() gives {found} where the task says {job['outputs']}")
    if "result" in job:
        with open(job["result"], "wb") as file:
            for r in results:
                file.write(bytes(r.contiguous().reshape(-1).view(torch.uint8).numpy()))
    ms = []
    for call in range(job["repeats"] + 2 if job["repeats"] else 0):
        begin = time.perf_counter()
        forward(*inputs)
        if call >= 2:
            ms.append((time.perf_counter() - begin) * 1e3)
    return {"ms": ms}


def main():
    order = json.load(sys.stdin)
    torch.set_num_threads(order["threads"])
    torch.set_grad_enabled(False)
    for job in order["jobs"]:
        try:
            answer = run(job)
        except Exception as error:  # whatever PyTorch says goes into the test's message
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
