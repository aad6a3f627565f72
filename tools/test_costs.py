#!/usr/bin/env python3
"""CPU seconds of each test that ctest knows, of itself and of the processes that it started and waited for: what a machine's
load leaves as it is, where wall time says nothing. The cache of kernels is an empty folder of this run's own, unless --cache names one.

    tools/test_costs.py BUILD [--label slow ...] [--match REGEX] [--without-label long] [--jobs 1] [--out FILE.jsonl] [--top 60]

Tests that FILE has already are not run again. Ends with the sums of suites and labels.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time


def listed(build):
    """What ctest would run: name, label, command and the other properties of each test."""
    text = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
    for test in json.loads(text)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if "command" in test:
            yield test["name"].split("  #")[0], (properties.get("LABELS") or [""])[0], test["command"], properties


def cost(test, environment):
    name, label, command, properties = test
    own = dict(environment, **dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", [])))
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=own,
                                   cwd=properties.get("WORKING_DIRECTORY"))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    skipped = process.returncode == properties.get("SKIP_RETURN_CODE", 77) or "[  SKIPPED ]" in text
    return dict(name=name, label=label, cpu_s=round(usage.ru_utime + usage.ru_stime, 2), wall_s=round(time.monotonic() - begin, 2),
                outcome="skipped" if skipped else "passed" if process.returncode == 0 else "failed")


def suite(name):
    return name.rsplit("/", 1)[0] if "/" in name else name.split(".")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--label", action="append", help="tests with this label only")
    parser.add_argument("--match", default="", help="tests whose name this regular expression finds")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--top", type=int, default=60)
    options = parser.parse_args()
    rows = []
    if options.out and options.out.exists():
        rows = [json.loads(line) for line in options.out.read_text().splitlines()]
    done = {row["name"] for row in rows}
    tests = [t for t in listed(options.build.resolve()) if t[0] not in done and re.search(options.match, t[0]) and
             (t[1] in options.label if options.label else t[1] != "long")]
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as empty:
        environment = dict(os.environ, XDG_CACHE_HOME=str(options.cache or empty))

        def run(test):
            row = cost(test, environment)
            with lock:
                rows.append(row)
                if options.out:
                    with open(options.out, "a") as file:
                        file.write(json.dumps(row) + "\n")

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(run, tests))
    rows.sort(key=lambda row: -row["cpu_s"])
    for row in rows[:options.top]:
        print(f"{row['cpu_s']:8.2f} {row['wall_s']:8.2f} {row['label']:6} {row['outcome']:8} {row['name']}")
    for kind in (lambda row: suite(row["name"]), lambda row: row["label"]):
        sums = collections.defaultdict(lambda: [0.0, 0.0, 0])
        for row in rows:
            sums[kind(row)] = [a + b for a, b in zip(sums[kind(row)], (row["cpu_s"], row["wall_s"], 1))]
        print()
        for key, (cpu, wall, count) in sorted(sums.items(), key=lambda item: -item[1][0])[:options.top]:
            print(f"{cpu:8.1f} CPU s {wall:8.1f} s {count:5} tests {key}")
    return 1 if any(row["outcome"] == "failed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
