#!/usr/bin/env python3
"""What a language model is worth: four searches of the same task, each of the same number of evaluations and seed.

    model_figures.py --hone build/hone --work FOLDER --model COMMAND [--evals 30] [--calls 6] [--seed 1]
                     [--only TASK[/WAY]] [--contest] [-o PAGE.md] TASK.toml …

    feedback   the built-in search and the model, which learns what became of its kernels
    built-in   the built-in search alone
    best-of-n  the built-in search and the model, each answer given as if it were the first (feedback = false)
    tune       the built-in search's first pattern and its tunables (--strategy tune)

COMMAND is a program that reads a prompt and prints an answer; {questions} in it is a folder of that search. Each
search has a HONE_HOME of its own under FOLDER, so that none learns from another, and a figures.json there says
what is done: the same command again goes on where it was. --contest measures the champions anew: each against the naive
kernel in a session of its own, and each against the built-in search's champion, interleaved and paired; -o writes the
table. All four figures are printed whatever they are.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

WAYS = ["feedback", "built-in", "best-of-n", "tune"]


class Figures:
    def __init__(self, arguments):
        self.arguments = arguments
        self.work = arguments.work.resolve()

    def home(self, task, way):
        return self.work / task.stem / way

    def known(self, task, way):
        file = self.home(task, way) / "figures.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def keep(self, task, way, entry):
        file = self.home(task, way) / "figures.json"
        partial = file.with_suffix(".part")
        partial.write_text(json.dumps(entry, indent=1, sort_keys=True) + "\n")
        partial.rename(file)

    def hone(self, task, way, *words, fine=(0,)):
        """The object that hone ends with."""
        done = subprocess.run([str(self.arguments.hone.resolve()), *words, "--json"], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "HONE_HOME": str(self.home(task, way))})
        if done.returncode not in fine:
            sys.exit(f"hone {' '.join(words)} ended with {done.returncode}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def models_file(self, task, way):
        questions = self.home(task, way) / "questions"
        command = self.arguments.model.replace("{questions}", str(questions))
        alone = way == "best-of-n"
        file = self.home(task, way) / "models.toml"
        file.write_text(f"calls_at_once = {self.arguments.calls if alone else 2}\nfeedback = {str(not alone).lower()}\npatient = true\n"
                        f"[budget]\ncalls = {self.arguments.calls}\n[[model]]\nname = \"model\"\nseconds = 86400\ncommand = {json.dumps(command)}\n")
        return file

    def search(self, task, way):
        self.home(task, way).mkdir(parents=True, exist_ok=True)
        runs = self.hone(task, way, "runs")["runs"]
        if runs and runs[0]["status"] != "finished":
            return self.hone(task, way, "resume", runs[0]["run"], fine=(0, 1))
        if runs:
            return runs[0]["summary"]
        words = ["optimize", str(task), "--budget", f"{self.arguments.evals}evals", "--seed", str(self.arguments.seed), "--opponents", "naive"]
        if way in ("feedback", "best-of-n"):
            words += ["--models", str(self.models_file(task, way))]
        if way == "tune":
            words += ["--strategy", "tune"]
        return self.hone(task, way, *words, fine=(0, 1))

    def searched(self, task, way):
        if "in_run" in self.known(task, way):
            return
        summary = self.search(task, way)
        self.keep(task, way, {"in_run": summary["speedup"] and dict(summary["speedup"], comparison=summary["comparison"]), "run": summary["run"], "champion": (summary["champion"] or {}).get("path"), "evaluations": summary["evaluations"],
                              "refused": summary["refused"], "models": summary.get("models")})

    def contest(self, task, way):
        entry = self.known(task, way)
        if not entry["champion"]:
            return
        judged = self.hone(task, way, "evaluate", entry["champion"], str(task), "--opponents", "naive", fine=(0, 1))
        entry["verdict"] = judged["verdict"]
        if judged["verdict"] == "accepted":
            entry["naive"] = [dict(o["ratio"], comparison=o["comparison"]) for m in judged["measurement"] for o in m["opponents"]]
            entry["sol_fraction"] = [m["sol_fraction"] for m in judged["measurement"]]
        rival = self.known(task, "built-in").get("champion")
        if way != "built-in" and rival:
            compared = self.hone(task, way, "compare", entry["champion"], rival, str(task), fine=(0, 10, 11))
            entry["against_built_in"] = dict(compared["ratio"], comparison=compared["comparison"])
        self.keep(task, way, entry)

    def page(self):
        a = self.arguments
        lines = [f"`{a.evals}` evaluations and seed {a.seed} each, {a.calls} questions to the model. Ratios with 95 % intervals; at the search's end (each in its own run) and "
                 "against plain loops (the contests): time(naive) / time(champion); paired: time(built-in search's champion) / time(champion).", "",
                 "| task | search | evaluations | at the search's end | against plain loops | paired with the built-in's | speed of light |",
                 "| --- | --- | --- | --- | --- | --- | --- |"]
        for task in a.tasks:
            for way in WAYS:
                entry = self.known(task, way)
                lines.append(f"| {task.stem if way == WAYS[0] else ''} | {way} | {entry.get('evaluations', '')} | {ratios([entry['in_run']] if entry.get('in_run') else None)} | "
                             f"{ratios(entry.get('naive'))} | "
                             f"{ratios([entry['against_built_in']]) if 'against_built_in' in entry else '–'} | {light(entry.get('sol_fraction'))} |")
        for way in WAYS:
            entries = [self.known(task, way) for task in a.tasks]
            columns = [[e["in_run"]["median"] for e in entries if e.get("in_run")], [e["naive"][0]["median"] for e in entries if e.get("naive")],
                       [1.0 if way == "built-in" else e["against_built_in"]["median"] for e in entries if way == "built-in" or "against_built_in" in e]]
            lines.append(f"| geometric means | {way} | | " + " | ".join(f"{geometric_mean(c):.2f} ({len(c)})" if c else "–" for c in columns) + " | |")
        return "\n".join(lines) + "\n"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def ratios(all_of_them):
    if not all_of_them:
        return "–"
    return ", ".join(f"{r['median']:.2f} [{r['low']:.2f}, {'unbounded' if r['high'] is None else format(r['high'], '.2f')}] {r['comparison']}" for r in all_of_them)


def light(fractions):
    return ", ".join(f"{f:.2f}" for f in fractions or [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="+", type=pathlib.Path, metavar="TASK")
    parser.add_argument("--hone", type=pathlib.Path, default=pathlib.Path("build/hone"))
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--model", required=True, metavar="COMMAND")
    parser.add_argument("--evals", type=int, default=30)
    parser.add_argument("--calls", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--contest", action="store_true")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    figures = Figures(arguments)
    chosen = [(task, way) for task in arguments.tasks for way in WAYS if arguments.only in ("", task.stem, f"{task.stem}/{way}")]
    for task, way in chosen:
        figures.searched(task, way)
    for task, way in chosen if arguments.contest else []:
        figures.contest(task, way)
    if arguments.output:
        arguments.output.write_text(figures.page())
    print(figures.page())


if __name__ == "__main__":
    main()
