#!/usr/bin/env python3
"""The wheel's package in a fresh virtual environment, with a program that is built already: metadata, entry points, what is in it, a model through
torch.compile(model, backend="hone"), and weights saved and loaded. 77 without a Python with torch and scikit-build-core (or $HONE_WHEEL, a wheel).

    wheel_test.py --hone PROGRAM
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from torch_test import ROOT, python_with_torch

CHECK = """
import importlib.metadata, os, pathlib, sys, tempfile
import torch
import hone_torch
assert pathlib.Path(hone_torch.__file__).is_relative_to(sys.prefix), hone_torch.__file__
assert (pathlib.Path(hone_torch.__file__).parent / "py.typed").exists()
assert "hone" in torch._dynamo.list_backends(), torch._dynamo.list_backends()
assert importlib.metadata.version("hone-torch") == VERSION, importlib.metadata.version("hone-torch")
from torch import nn
make = lambda: nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
torch.manual_seed(0)
model, other, x = make(), make(), torch.randn(16, 32)
fast = torch.compile(model, backend="hone", options={"when": "never", "nested": "eager"})
with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
    wanted = model(x)
    assert (fast(x) - wanted).abs().max() < 1e-5
    graph, = hone_torch.report(model).graphs
    assert graph["state"] == "done", graph
    torch.save(fast.state_dict(), f"{folder}/state.pt")
    again = torch.compile(other, backend="hone", options={"when": "never", "nested": "eager"})
    again.load_state_dict(torch.load(f"{folder}/state.pt"))
    assert (again(x) - wanted).abs().max() < 1e-5
    torch.save(model, f"{folder}/model.pt")
    assert (torch.load(f"{folder}/model.pt", weights_only=False)(x) - wanted).abs().max() == 0
"""


def run(*command, **more):
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    assert ended.returncode == 0, (command, ended.stdout[-2000:], ended.stderr[-2000:])
    return ended.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    program, base = parser.parse_args().hone, python_with_torch()
    wheel = os.environ.get("HONE_WHEEL")
    builds = base and subprocess.run([base, "-c", "import scikit_build_core"], capture_output=True).returncode == 0
    if not base or not (wheel or builds):
        print("there is no Python with torch and scikit-build-core")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if not wheel:
            run(base, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-C", "wheel.cmake=false", "-w", folder, ROOT)
            wheel, = folder.glob("*.whl")
        run(base, "-m", "venv", folder / "venv")
        python = folder / "venv/bin/python"
        site = lambda which: pathlib.Path(run(which, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip())
        (site(python) / "torch_of_another.pth").write_text(f"{site(base)}\n")
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
        inside = site(python) / "hone_torch/bin/hone"
        if not inside.exists():
            inside.parent.mkdir()
            shutil.copy2(program, inside)
        environment = {name: value for name, value in os.environ.items() if name not in ("HONE", "PYTHONPATH")} | {"HONE_HOME": str(folder / "home")}
        said = run(folder / "venv/bin/hone", "--version", env=environment)
        version = pathlib.Path(wheel).name.split("-")[1]
        assert version in said, said
        run(python, "-c", CHECK.replace("VERSION", repr(version)), env=environment, cwd=folder)
    print("the wheel holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
