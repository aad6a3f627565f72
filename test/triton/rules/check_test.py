#!/usr/bin/env python3
"""What a kernel's module may say (triton_check.py), held against modules that try more: every file of hostile/ is refused, and
for the reason that its first line gives; every kernel of the table is taken. Needs no Triton."""
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(here.parents[1] / "src/hone/target/toolchain/python"))
from triton_check import Module, Refused  # noqa: E402

failures = 0


def judged(path):
    try:
        Module(path.read_text())
    except Refused as refused:
        return f"{refused.line}:{refused.column}: {refused.text}"
    return ""


hostile = sorted((here / "hostile").glob("*.py"))
for path in hostile:
    wanted = path.read_text().split("\n", 1)[0].removeprefix("# refused: ")
    found = judged(path)
    if not found or wanted not in found:
        failures += 1
        print(f"{path.name}: expected a refusal with \"{wanted}\", found \"{found}\"")
kernels = sorted(here.glob("*.py")) + [path for path in sorted((here / "ordinary").glob("*.py")) if "# expect: refused" not in path.read_text()]
for path in kernels:
    if found := judged(path):
        failures += 1
        print(f"{path.name}: refused: {found}")
print(f"{len(hostile)} hostile modules, {len(kernels)} kernels, {failures} judged wrongly")
sys.exit(failures > 0 or len(hostile) < 30 or len(kernels) < 80)
