#!/usr/bin/env python3
"""What memory is worth, in evaluations, on the machine it runs on.

    tools/memory_figures.py [--hone build/hone] [--budget 40evals] [--threads N] [--repeats N] [--json FILE]

For each task and its sibling, in a fresh HONE_HOME: evaluations until a kernel is within 95 % of the champion of the run
without memory (`first`, `sibling alone`), for: the first run; a second run on the task; the sibling with what the first run
left behind; the same with the lessons shuffled. One more than the run had where none was that good. In brackets: until within
95 % of the run's own best, which needs no comparison between runs. Prints a table whatever comes of it. Scores are speedups over
plain loops, measured in each run: on a machine with other work runs differ by more than memory is worth, and only the numbers in
brackets mean something. The JSON has all scores.
"""
import argparse
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PAIRS = [
    ("softmax", ["-e", "y = softmax(x, axis=-1)", "-i", "x=f32[2048,1024]"],
     "log-softmax", ["-e", "y = log_softmax(x, axis=-1)", "-i", "x=f32[1024,1536]"]),
    ("layer norm", ["-e", "y = layer_norm(x, axis=-1)", "-i", "x=f32[2048,1024]"],
     "RMS norm", ["-e", "y = x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5)", "-i", "x=f32[1024,1536]"]),
    ("matmul", ["-e", "y = matmul(a, b)", "-i", "a=f32[384,512]", "-i", "b=f32[512,768]"],
     "matmul, bias, GELU", ["-e", "y = gelu(matmul(a, b) + c)", "-i", "a=f32[256,768]", "-i", "b=f32[768,512]", "-i", "c=f32[512]"]),
]


def run(arguments, home, task, seed, extra=()):
    """Scores of the run's evaluations in order, and the champion's score."""
    command = [arguments.hone, "optimize", *task, "--opponents", "none", "--budget", arguments.budget, "--seed", str(seed), "--json", *extra]
    if arguments.threads:
        command += ["--threads", str(arguments.threads)]
    done = subprocess.run(command, env={**os.environ, "HONE_HOME": str(home)}, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    with sqlite3.connect(home / "archive.db") as archive:
        number = archive.execute("SELECT max(number) FROM runs").fetchone()[0]
        events = [(kind, json.loads(text)) for kind, text in archive.execute("SELECT kind, json FROM events WHERE run = ? ORDER BY seq", (number,))]
    scores = [event["score"] for kind, event in events if kind == "screened"]
    champion = next((event["score"] for kind, event in events if kind == "champion"), 0)
    return scores, champion


def until(scores, best):
    return next((n for n, score in enumerate(scores, 1) if score > 0 and score >= 0.95 * best), len(scores) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", default="build/hone")
    parser.add_argument("--budget", default="40evals")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--only", default="", help="pairs whose first task has this in its name")
    parser.add_argument("--json", help="write the figures to this file")
    arguments = parser.parse_args()
    arguments.hone = str(pathlib.Path(arguments.hone).resolve())
    columns = ["first", "second", "second shuffled", "sibling alone", "sibling", "sibling shuffled"]
    rows = []
    for name, task, sibling_name, sibling in PAIRS:
        if arguments.only not in name:
            continue
        for repeat in range(arguments.repeats):
            with tempfile.TemporaryDirectory() as folder:
                home = pathlib.Path(folder)
                seed = 1 + 10 * repeat

                def copy_of_first(to):
                    shutil.copytree(home / "first", home / to)
                    return home / to

                first, best = run(arguments, home / "first", task, seed)
                alone, sibling_best = run(arguments, home / "alone", sibling, seed + 1, ["--no-memory"])
                second, _ = run(arguments, copy_of_first("second"), task, seed + 2)
                other, _ = run(arguments, copy_of_first("other"), task, seed + 2, ["--shuffle-memory", str(seed)])
                recalled, _ = run(arguments, copy_of_first("sibling"), sibling, seed + 2)
                shuffled, _ = run(arguments, copy_of_first("shuffled"), sibling, seed + 2, ["--shuffle-memory", str(seed)])
            runs = [first, second, other, alone, recalled, shuffled]
            figures = [until(scores, best if n < 3 else sibling_best) for n, scores in enumerate(runs)]
            own = [until(scores, max(scores, default=0)) for scores in runs]
            rows.append({"task": name, "sibling": sibling_name, "champion": best, "sibling champion": sibling_best,
                         "scores": dict(zip(columns, runs)), "own": dict(zip(columns, own)), **dict(zip(columns, figures))})
            if len(rows) == 1:
                print("| task, sibling | " + " | ".join(columns) + " | second / first | sibling / alone |")
                print("| --- " * (len(columns) + 3) + "|")
            print(f"| {name}, {sibling_name} | " + " | ".join(f"{n} ({o})" for n, o in zip(figures, own)) +
                  f" | {figures[1] / figures[0]:.2f} | {figures[4] / figures[3]:.2f} |", flush=True)
    if rows:
        total = {column: sum(row[column] for row in rows) for column in columns}
        own = {column: sum(row["own"][column] for row in rows) for column in columns}
        print("| all | " + " | ".join(f"{total[column]} ({own[column]})" for column in columns) +
              f" | {total['second'] / total['first']:.2f} | {total['sibling'] / total['sibling alone']:.2f} |")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
