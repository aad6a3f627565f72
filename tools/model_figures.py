#!/usr/bin/env python3
"""What a language model is worth: four searches of the same task, each of the same number of evaluations and seed.

    model_figures.py --hone build/hone --work FOLDER --model COMMAND [--evals 30] [--calls 6] [--seed 1]
                     [--lines 2] [--kernels-only] [--target cpu] [--opponents naive] [--workload NAME]
                     [--later SECONDS] [--only TASK[/WAY]] [--contest] [-o PAGE.md] TASK.toml …

    feedback   the built-in search and the model, which learns what became of its kernels
    built-in   the built-in search alone
    best-of-n  the built-in search and the model, each answer given as if it were the first (feedback = false)
    tune       the built-in search's first pattern and its tunables (--strategy tune)

COMMAND is a program that reads a prompt and prints an answer; {questions} in it is a folder of that search. Each
search has a HONE_HOME of its own under FOLDER, so that none learns from another, and a figures.json there says
what is done: the same command again goes on where it was. --later kills a search that does nothing but wait for answers
for so long (or once --most seconds are over), which the same command resumes, on another machine too where FOLDER is
carried there; tools/ask_by_file.py --later is a model for that. --kernels-only asks no researcher and no diagnoser. --contest measures the champions anew: each against
--opponents in a session of its own, and feedback's against each of the others, interleaved and paired (--pairs long);
-o writes the table. All four figures are printed whatever they are.
    model_figures.py --self-test
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import signal
import sys
import tempfile
import time

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

    def hone(self, task, way, *words, fine=(0,), asks=False):
        """The object that hone ends with; None where it was killed as it waited for answers."""
        out = tempfile.TemporaryFile("w+")  # a pipe that nobody reads yet may be too small
        process = subprocess.Popen([str(self.arguments.hone.resolve()), *words, "--json"], stdout=out,
                                   env={**os.environ, "HONE_HOME": str(self.home(task, way))})
        if asks and self.arguments.later:
            until = time.time() + self.arguments.most
            while process.poll() is None:
                if time.time() > until or idle(process.pid, self.home(task, way), self.arguments.later):
                    end_all(process.pid)
                    process.wait()
                    return None
        if process.wait() not in fine:
            sys.exit(f"hone {' '.join(words)} ended with {process.returncode}")
        out.seek(0)
        return json.loads(out.read().strip().splitlines()[-1])

    def models_file(self, task, way):
        questions = self.home(task, way) / "questions"
        command = self.arguments.model.replace("{questions}", str(questions))
        alone = way == "best-of-n"
        file = self.home(task, way) / "models.toml"
        a = self.arguments
        file.write_text(f"calls_at_once = {a.calls if alone else a.lines}\nfeedback = {str(not alone).lower()}\npatient = true\n"
                        + ("diagnose = false\nresearch = false\n" if a.kernels_only else "") +
                        f"[budget]\ncalls = {a.calls}\n[[model]]\nname = \"model\"\nseconds = 86400\ncommand = {json.dumps(command)}\n"
                        f"later = {str(a.later > 0).lower()}\n")
        return file

    def search(self, task, way):
        self.home(task, way).mkdir(parents=True, exist_ok=True)
        asks = way in ("feedback", "best-of-n")
        runs = self.hone(task, way, "runs")["runs"]
        if runs and runs[0]["status"] != "finished":
            return self.hone(task, way, "resume", runs[0]["run"], fine=(0, 1), asks=asks)
        if runs:
            return runs[0]["summary"]
        a = self.arguments
        words = ["optimize", str(task), "--budget", f"{a.evals}evals", "--seed", str(a.seed), "--opponents", a.opponents, "--target", a.target, *self.workload()]
        if asks:
            words += ["--models", str(self.models_file(task, way))]
        if way == "tune":
            words += ["--strategy", "tune"]
        return self.hone(task, way, *words, fine=(0, 1), asks=asks)

    def workload(self):
        return ["-w", self.arguments.workload] if self.arguments.workload else []

    def searched(self, task, way):
        if "in_run" in self.known(task, way):
            return
        summary = self.search(task, way)
        if summary is None:
            print(f"{task.stem}/{way} waits for answers")
            return
        self.keep(task, way, {"in_run": summary["speedup"] and dict(summary["speedup"], comparison=summary["comparison"]), "run": summary["run"], "champion": (summary["champion"] or {}).get("path"), "evaluations": summary["evaluations"],
                              "refused": summary["refused"], "models": summary.get("models")})

    def contest(self, task, way):
        a, entry = self.arguments, self.known(task, way)
        if not entry.get("champion"):
            return
        judged = self.hone(task, way, "evaluate", entry["champion"], str(task), "--opponents", a.opponents, "--target", a.target, *self.workload(), fine=(0, 1))
        entry["verdict"] = judged["verdict"]
        if judged["verdict"] == "accepted":
            entry["opponents"] = [dict(o["ratio"], comparison=o["comparison"]) for m in judged["measurement"] for o in m["opponents"]]
            entry["sol_fraction"] = [m["sol_fraction"] for m in judged["measurement"]]
        model = self.known(task, WAYS[0]).get("champion")
        if way != WAYS[0] and model:
            compared = self.hone(task, way, "compare", model, entry["champion"], str(task), "--target", a.target, "--budget", a.pairs, *self.workload(), fine=(0, 10, 11))
            entry["model_over_it"] = dict(compared["ratio"], comparison=compared["comparison"])
        self.keep(task, way, entry)

    def page(self):
        a = self.arguments
        lines = [f"`{a.evals}` evaluations and seed {a.seed} each, {a.calls} questions to the model. Ratios with 95 % intervals; at the search's end (each in its own run) and "
                 f"in the contests: time({a.opponents}) / time(champion); paired: time(this champion) / time(feedback's champion).", "",
                 f"| task | search | evaluations | at the search's end | against {a.opponents} | feedback's champion over this one, paired | speed of light |",
                 "| --- | --- | --- | --- | --- | --- | --- |"]
        for task in a.tasks:
            for way in WAYS:
                entry = self.known(task, way)
                lines.append(f"| {task.stem if way == WAYS[0] else ''} | {way} | {entry.get('evaluations', '')} | {ratios([entry['in_run']] if entry.get('in_run') else None)} | "
                             f"{ratios(entry.get('opponents'))} | "
                             f"{ratios([entry['model_over_it']]) if 'model_over_it' in entry else '–'} | {light(entry.get('sol_fraction'))} |")
        for way in WAYS:
            entries = [self.known(task, way) for task in a.tasks]
            columns = [[e["in_run"]["median"] for e in entries if e.get("in_run")], [e["opponents"][0]["median"] for e in entries if e.get("opponents")],
                       [e["model_over_it"]["median"] for e in entries if "model_over_it" in e]]
            lines.append(f"| geometric means | {way} | | " + " | ".join(f"{geometric_mean(c):.2f} ({len(c)})" if c else "–" for c in columns) + " | |")
        return "\n".join(lines) + "\n"


def below(pid):
    """Processes that `pid` started, and theirs, and so on, and itself: of each, whether it would run now."""
    children, runs = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(words[1]), []).append(int(folder.name))
        runs[int(folder.name)] = words[0] in "RD"
    found, todo = {}, [pid]
    while todo:
        one = todo.pop()
        found[one] = runs.get(one, False)
        todo += children.get(one, [])
    return found


def idle(pid, home, seconds):
    """Looks at a search for so long: whether it has processes, such as those that wait for an answer, writes nothing to its archive, and would
    hardly ever compute. Times of the processor say less: on a loaded machine who computes gets little."""
    def state():
        return {file.name: file.stat().st_mtime_ns for file in home.glob("archive*") if file.exists()}
    before, until, looks = state(), time.time() + seconds, []
    while time.time() < until:
        time.sleep(0.1)
        looks.append(below(pid))
        if state() != before or len(looks[-1]) < 2:
            return False
    return sum(any(look.values()) for look in looks) < len(looks) / 2


def end_all(pid):
    for one in below(pid):
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass


def self_test():
    with tempfile.TemporaryDirectory() as place:
        home = pathlib.Path(place)
        quiet = subprocess.Popen(["sh", "-c", "sleep 600; true"])
        busy = subprocess.Popen(["sh", "-c", "(while :; do :; done); true"])
        writes = subprocess.Popen(["sh", "-c", f"while sleep 0.2; do date > {home}/archive.db; done"])
        alone = subprocess.Popen(["sleep", "600"])
        elsewhere = home / "elsewhere"
        elsewhere.mkdir()
        time.sleep(0.5)
        looked_at = [(quiet, elsewhere), (busy, elsewhere), (writes, home), (alone, elsewhere)]
        with concurrent.futures.ThreadPoolExecutor(len(looked_at)) as pool:
            said = list(pool.map(lambda one: idle(one[0].pid, one[1], 2), looked_at))
        started = [*below(quiet.pid), *below(busy.pid)]
        for process in (quiet, busy, writes, alone):
            end_all(process.pid)
            process.wait()
        assert said == [True, False, False, False], said
        assert len(started) == 4 and not any(pathlib.Path(f"/proc/{pid}/cmdline").exists() and pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in started)
    print("who waits is told from who computes, who writes, and who asked nobody; all that they started ends")


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
    parser.add_argument("--lines", type=int, default=2, help="calls at once, with feedback")
    parser.add_argument("--kernels-only", action="store_true")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--opponents", default="naive")
    parser.add_argument("--workload", default="")
    parser.add_argument("--later", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--most", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--pairs", default="20s", metavar="TIME")
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
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        main()
