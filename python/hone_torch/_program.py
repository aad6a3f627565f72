"""The program that this package carries."""
from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import sys


def program() -> str:
    """Where hone lies: what $HONE says, this package's own, or the one that the shell finds."""
    own = pathlib.Path(__file__).parent / "bin" / "hone"
    found = os.environ.get("HONE") or (str(own) if own.exists() else shutil.which("hone"))
    if not found:
        raise FileNotFoundError("hone_torch has no program beside it, and there is no hone on PATH: install the wheel, or say $HONE")
    return found


def main() -> None:
    if importlib.util.find_spec("torch"):
        os.environ.setdefault("HONE_PYTHON", sys.executable)
    os.execv(program(), ["hone", *sys.argv[1:]])
