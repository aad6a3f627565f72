#!/usr/bin/env python3
"""Runs the fuzzers (test/fuzz) and says what each did.

    tools/fuzz.py BUILD [ENTRY ...] [--seconds S | --milliseconds M] [--runs N] [--seed N]

BUILD is a build folder. In that of the preset fuzz there is a program of libFuzzer's for each entry point: it goes on from
test/fuzz/corpus and from what earlier runs found, in BUILD/fuzzing/ENTRY. In any other there is hone_fuzz: it goes through the corpus,
and mutants of it for the rest of the time. The time is of each entry point. What crashes, takes ten seconds or more than 2 GiB is kept
in BUILD/fuzzing. Exits with 1 where something was found.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "test/fuzz/corpus"
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=65536"]


def last(pattern, text):
    found = re.findall(pattern, text)
    return found[-1] if found else "-"


def run(build, entry, seconds, runs, seed, scratch):
    folder = build / "fuzzing"
    folder.mkdir(parents=True, exist_ok=True)
    program = build / "test/fuzz" / f"fuzz_{entry}"
    libfuzzer = program.exists()
    if libfuzzer:
        (folder / entry).mkdir(exist_ok=True)
        command = [program, folder / entry, CORPUS / entry, *LIMITS, f"-max_total_time={max(1, round(seconds))}", f"-artifact_prefix={folder}/{entry}-",
                   "-print_final_stats=1", *([f"-runs={runs}"] if runs else []), *([f"-seed={seed}"] if seed else [])]
    else:
        command = [build / "test/fuzz/hone_fuzz", entry, CORPUS / entry, "--seconds", str(seconds), "--found", folder, "--seed", str(seed or 1), *(["--runs", str(runs)] if runs else [])]
    environment = {**os.environ, "TMPDIR": scratch, "HONE_HOME": scratch, "XDG_CACHE_HOME": scratch + "/cache", "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
    said = done.stdout + done.stderr
    executions = last(r"number_of_executed_units: (\d+)", said) if libfuzzer else last(r"(\d+) executions", said)
    if executions == "-" and libfuzzer:  # it crashed
        executions = last(r"#(\d+)\t", said)
    edges = last(r"cov: (\d+)", said)
    print(f"{entry:12} {executions:>12} {edges:>8} {int(done.returncode != 0):>8}", flush=True)
    if done.returncode != 0:
        telling = re.compile(r"ERROR|runtime error|broken promise|what\(\)|Assertion|HONE_CHECK| in hone::|freed by|SUMMARY|written to|kept as|usage|no input")
        print("\n".join("    " + line[:300] for line in [line for line in said.splitlines() if telling.search(line)][:30]), flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("entry", nargs="*")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--milliseconds", type=float)
    parser.add_argument("--runs", type=int, default=0, help="mutants at most, beside the corpus: the same ones on any machine")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    seconds = asked.seconds if asked.milliseconds is None else asked.milliseconds / 1000
    print(f"{'entry point':12} {'executions':>12} {'edges':>8} {'crashes':>8}")
    # Scratch files in memory, where there is such a place: some fuzzers write one for every input.
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="hone-fuzz-", dir=memory if os.access(memory, os.W_OK) else None) as scratch:
        sound = [run(asked.build.resolve(), entry, seconds, asked.runs, asked.seed, scratch)
                 for entry in asked.entry or sorted(folder.name for folder in CORPUS.iterdir())]
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())
