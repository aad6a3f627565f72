#!/usr/bin/env python3
"""How often hone diagnose names the right cause first, for kernels made slow in one known way each (test/diagnosis).

    tools/diagnosis_figures.py HONE --target cuda:0 [--json FILE] [--only WORD]
    tools/diagnosis_figures.py HONE --check [--each N]   whether each kernel, or one of N, is right, on the emulator
    tools/diagnosis_figures.py --self-test

All kernels go through one run of the profiler. What is expected is the line "// expect: CAUSE" of each file; where two
causes are named (A|B), both are right. Prints a line a kernel and the count; exit status 1 where fewer than 17 of 20 are
right. --json keeps the metrics too.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "test" / "diagnosis"
ENOUGH = 17 / 20


def expected_of(text):
    found = re.search(r"^// expect: (.+)$", text, re.MULTILINE)
    return found.group(1).split("|") if found else []


def judge(lines, expected):
    """Rows of (name, expected, named, right) from the lines of `hone diagnose-files --json`."""
    rows = []
    for line in lines:
        entry = json.loads(line)
        name = pathlib.Path(entry["file"]).stem
        named = entry["diagnosis"]["bottleneck"]
        rows.append((name, expected[name], named, named in expected[name]))
    return rows


def self_test():
    assert expected_of("/* hone */\n// wrong: x\n// expect: a|b c\n") == ["a", "b c"]
    assert expected_of("// none") == []
    lines = [json.dumps({"file": f"x/{n}.cu", "diagnosis": {"bottleneck": b}}) for n, b in (("one", "a"), ("two", "z"))]
    assert judge(lines, {"one": ["a"], "two": ["b"]}) == [("one", ["a"], "a", True), ("two", ["b"], "z", False)]
    for file in FOLDER.glob("*.cu"):
        assert expected_of(file.read_text()), file
        assert file.with_suffix(".toml").exists(), file


def check(hone, files):
    """Exit status: 0 all are accepted at their smallest workload, 77 this machine has no emulator."""
    wrong = []
    for file in files:
        done = subprocess.run([hone, "evaluate", str(file), str(file.with_suffix(".toml")), "-w", "tiny"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 3:
            print(done.stdout)
            return 77
        if done.returncode:
            wrong.append(f"{file.stem}: {done.stdout}")
    print("\n".join(wrong) or f"{len(files)} kernels are accepted")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hone", nargs="?")
    parser.add_argument("--target", default="cuda:0")
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    files = sorted(f for f in FOLDER.glob("*.cu") if arguments.only in f.name)
    if arguments.check:
        return check(arguments.hone, files[::arguments.each])
    done = subprocess.run([arguments.hone, "diagnose-files", *map(str, files), "--target", arguments.target, "--json"],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    lines = done.stdout.splitlines()
    rows = judge(lines, {f.stem: expected_of(f.read_text()) for f in files})
    for name, expected, named, right in rows:
        print(f"{'  ' if right else '! '}{name:30} {' or '.join(expected):34} {named}")
    count = sum(right for *_, right in rows)
    print(f"{count} of {len(rows)} first-named causes are right")
    if arguments.json:
        result = {"right": count, "kernels": len(rows), "rows": [json.loads(line) for line in lines]}
        for row, (_, expected, _, right) in zip(result["rows"], rows):
            row["expected"], row["right"] = expected, right
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    return 0 if count >= ENOUGH * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
