#!/usr/bin/env python3
"""Replays the recorded exchanges in test/agent/exchanges with no archive, no compiler, no network and no device.

    exchanges.py --hone BUILD/hone
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent / "exchanges"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    hone = os.path.abspath(parser.parse_args().hone)
    files = sorted(FOLDER.glob("*.jsonl"))
    if not files:
        sys.exit(f"no exchange in {FOLDER}")
    with tempfile.TemporaryDirectory() as place:
        # Nothing but what every machine has: no compiler is found, and HONE_HOME is a file, so nobody makes one.
        home = pathlib.Path(place) / "home"
        home.write_text("")
        environment = {"HONE_HOME": str(home), "PATH": place, "TMPDIR": place, "HOME": place}
        for file in files:
            done = subprocess.run([hone, "optimize", "--replay", str(file)], env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{file.name}: {done.stderr}")
            told = re.search(r"(\d+) questions, (\d+) kernels of models, the same decisions, champion", done.stdout)
            if not told or int(told[1]) == 0 or int(told[2]) == 0:
                sys.exit(f"{file.name}: {done.stdout}")
            print(file.name + ": " + done.stdout.strip())
            # What was said is part of it: one answer changed is found.
            text = file.read_text()
            lines = text.splitlines(keepends=True)
            answered = [i for i, line in enumerate(lines) if '"event":"answered"' in line and "void " in line]
            lines[answered[0]] = lines[answered[0]].replace("void ", "void  ", 1)
            changed = pathlib.Path(place) / "changed.jsonl"
            changed.write_text("".join(lines))
            done = subprocess.run([hone, "optimize", "--replay", str(changed)], env=environment, capture_output=True, text=True)
            if done.returncode == 0:
                sys.exit(f"{file.name}: replays alike with another answer")


if __name__ == "__main__":
    main()
