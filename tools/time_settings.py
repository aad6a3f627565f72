#!/usr/bin/env python3
"""Many settings of kernels, built without a card and timed on one in seconds.

    tools/time_settings.py build FOLDER KERNEL.cu TASK.toml -w WORKLOAD 'ROWS=128,64 COLUMNS=128,192 TURNS=0,1' [--hone hone] [--target cuda:sm_90a]
    tools/time_settings.py time FOLDER                      where the card and PyTorch are; no hone, no compiler

`build` makes the kernel at every combination of the given values that the card's compiler takes; what is not named keeps its first value, and what
asks for more shared memory than there is, the driver refuses later. KERNEL.cu is what `hone explain TASK --target emulator:cuda --save DIR` writes. Again with other kernels adds to the folder.
`time` prints, a kernel a line, its settings with microseconds, fastest first: the median of 5 replays of a CUDA graph of 20 calls, caches warm.
Launches whose `when` does not hold are left out; right or wrong is not asked here (hone evaluate does).
"""
import concurrent.futures
import ctypes
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tomllib

SIZES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "i16": 2, "i8": 1, "bool": 1, "f8e4m3": 1, "f8e5m2": 1}


class LaunchAttribute(ctypes.Structure):
    """As cuda.h has them: a number, and a value of 64 bytes behind 8."""
    _fields_ = [("number", ctypes.c_int), ("gap", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("extents", ctypes.c_uint * 6), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


CLUSTER_DIMENSION = 4


def bytes_of(declared, symbols):
    """Of a tensor as task files declare it: bf16[M, K], or a table with that as `type`."""
    text = declared if isinstance(declared, str) else declared["type"]
    kind, dims = re.fullmatch(r"(\w+)\[(.*)\]", text.strip()).groups()
    count = 1
    for dim in filter(None, (d.strip() for d in dims.split(","))):
        count *= eval(dim, {"__builtins__": {}}, dict(symbols))  # the user's own task file
    return max(1, count) * SIZES[kind]


def setting_of(source, values):
    """The kernel's text with these tunables, and the first value of all others."""
    def first(match):
        return f"{match[1]} = [{values.get(match[1], match[2].split(',')[0].strip())}]"
    return re.sub(r"^tunables = .*$", lambda line: re.sub(r"(\w+) = \[([^\]]*)\]", first, line[0]), source, flags=re.M)


def built(hone, target, folder, name, source, task, workload):
    file = folder / f"{name}.cu"
    file.write_text(source)
    run = subprocess.run([hone, "build", file, task, "-w", workload, "--target", target, "--json"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    file.unlink()
    lines = run.stdout.strip().splitlines()
    answer = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    if not answer.get("built"):
        return name, None, (answer.get("log") or run.stderr or run.stdout).strip().splitlines()[:1]
    (folder / f"{name}.cubin").write_bytes(pathlib.Path(answer["binary"]).read_bytes())
    arguments = dict(re.findall(r"^kernel = \"(\w+)\".*?^args\s*= (\[.*?\])$", source, re.M | re.S))
    launches = [{"symbol": f["symbol"], **f["launch"], "args": json.loads(arguments[f["function"]])} for f in answer["functions"] if "launch" in f]
    return name, launches, [f"{f['function']}: {f['facts']['registers']:.0f} registers, {f['facts']['spill_bytes']:.0f} bytes spilled" for f in answer["functions"]]


def build(folder, kernel, task, workload, space, hone, target):
    folder.mkdir(parents=True, exist_ok=True)
    described = tomllib.loads(task.read_text())
    symbols = {k: v for w in described["workloads"] if w["name"] == workload for k, v in w.items() if isinstance(v, int)}
    tensors = {n: bytes_of(d, symbols) for n, d in {**described["inputs"], **described["outputs"]}.items()}
    source = re.sub(r"^(pattern|action)\s*= .*\n", "", kernel.read_text(), flags=re.M)
    names = [part.split("=")[0] for part in space.split()]
    points = list(itertools.product(*(part.split("=")[1].split(",") for part in space.split())))
    manifest = folder / "manifest.json"
    known = json.loads(manifest.read_text()) if manifest.exists() else {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(built, hone, target, folder, f"{task.stem}." + "_".join(p), setting_of(source, dict(zip(names, p))), task, workload) for p in points]
        for name, launches, words in (job.result() for job in jobs):
            print(name, "" if launches else "not built:", *words)
            if launches:
                known[name] = {"symbols": symbols, "tensors": tensors, "launches": launches}
    manifest.write_text(json.dumps(known))


def time_all(folder):
    import torch
    driver = ctypes.CDLL("libcuda.so.1")
    torch.zeros(1, device="cuda")

    def done(code):
        if code:
            raise RuntimeError(f"the driver says {code}")

    def call_of(cubin, one):
        """What launches a setting once on a stream."""
        module = ctypes.c_void_p()
        done(driver.cuModuleLoadData(ctypes.byref(module), cubin))
        made = []
        for launch in one["launches"]:
            function = ctypes.c_void_p()
            done(driver.cuModuleGetFunction(ctypes.byref(function), module, launch["symbol"].encode()))
            done(driver.cuFuncSetAttribute(function, 8, int(launch["shared_bytes"])))
            cluster = ([int(e) for e in launch.get("cluster") or []] + [1, 1, 1])[:3]
            if math.prod(cluster) > 8:
                done(driver.cuFuncSetAttribute(function, 14, 1))  # which not every card takes
            values = []
            for name in launch["args"]:
                if name.startswith("i64:"):
                    values.append(ctypes.c_int64(eval(name[4:], {"__builtins__": {}}, dict(one["symbols"]))))
                else:
                    values.append(ctypes.c_void_p(memory.setdefault(name, torch.zeros(1 << 26, dtype=torch.int8, device="cuda")).data_ptr()))
            pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
            extents = [int(e) for side in ("grid", "block") for e in (list(launch[side]) + [1, 1])[:3]]
            attribute = LaunchAttribute(CLUSTER_DIMENSION, b"", (ctypes.c_uint * 16)(*cluster))
            config = LaunchConfig((ctypes.c_uint * 6)(*extents), int(launch["shared_bytes"]), None, ctypes.pointer(attribute), 1 if cluster != [1, 1, 1] else 0)
            made.append((function, config, pointers, values, attribute))

        def call(stream):
            for function, config, pointers, *_ in made:
                config.stream = stream.cuda_stream
                done(driver.cuLaunchKernelEx(ctypes.byref(config), function, pointers, None))
        return call

    def microseconds(call, calls=20, replays=5):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            call(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=side):
            for _ in range(calls):
                call(torch.cuda.current_stream())
        times = []
        for _ in range(replays):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record(); graph.replay(); end.record(); end.synchronize()
            times.append(begin.elapsed_time(end) * 1e3 / calls)
        return sorted(times)[replays // 2]

    known = json.loads((folder / "manifest.json").read_text())
    print(torch.cuda.get_device_name())
    for task in sorted({name.split(".")[0] for name in known}):
        names = [n for n in known if n.split(".")[0] == task]
        # Random bits, small enough to be numbers of any type: a card is faster on zeros.
        memory = {n: torch.randint(0, 48, (b,), dtype=torch.int8, device="cuda") for n, b in known[names[0]]["tensors"].items()}
        times = []
        for name in names:
            try:
                times.append((microseconds(call_of((folder / f"{name}.cubin").read_bytes(), known[name])), name.split(".", 1)[1]))
            except RuntimeError as error:
                print(name, error)
        print(task, " ".join(f"{setting}:{time:.1f}" for time, setting in sorted(times)), flush=True)


if __name__ == "__main__":
    args = sys.argv[1:]
    options = {}
    for flag in ("-w", "--hone", "--target"):
        if flag in args:
            at = args.index(flag)
            options[flag] = args[at + 1]
            del args[at:at + 2]
    if len(args) == 5 and args[0] == "build":
        build(pathlib.Path(args[1]), pathlib.Path(args[2]), pathlib.Path(args[3]), options.get("-w", "full"), args[4], options.get("--hone", "hone"), options.get("--target", "cuda:sm_90a"))
    elif len(args) == 2 and args[0] == "time":
        time_all(pathlib.Path(args[1]))
    else:
        sys.exit(__doc__)
