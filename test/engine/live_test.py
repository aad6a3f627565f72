#!/usr/bin/env python3
"""Runs of the real program that are killed, interrupted and run side by side.

    live_test.py --hone PROGRAM kill [--kills N] [--evaluations N] [--seed N]
    live_test.py --hone PROGRAM interrupt [--resume-all]
    live_test.py --hone PROGRAM together
    live_test.py --self-test          the checks must be able to fail

kill: kill -9 at random times, `hone resume last`, until the kills are used up and the last run is
finished. After every kill: no process that the run started is alive, the archive is sound, every event
seen before is there, unchanged, and no kernel was screened twice.
interrupt: Ctrl-C while it prepares, and twice while it searches; with --resume-all once, too, and the runs go on later.
together: two runs on one archive at once, and a third process that wants one of them.

Waits for things to happen, with limits far beyond what they take: slowness fails no test.
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import shared_cache  # noqa: E402

SOFTMAX = ["-e", "y = softmax(x, axis=-1)", "-i", "x=f32[64,250]", "--opponents", "naive"]
INHERITED = ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "HONE_CXX")
PATIENCE = 600  # seconds for any one thing to happen
PR_SET_CHILD_SUBREAPER = 36


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


class Hone:
    """The program with an archive of its own in `folder`."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.archive = self.folder / "home" / "archive.db"
        self.environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
        self.environment |= {"HOME": str(self.folder), "HONE_HOME": str(self.folder / "home")}
        self.log = self.folder / "output.txt"

    def start(self, *arguments):
        """In a session of its own, like a program in a terminal; output goes to the log."""
        with open(self.log, "wb") as log:
            return subprocess.Popen([self.program, *arguments], cwd=self.folder, env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=self.environment, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def output(self):
        return self.log.read_text(errors="replace")

    def rows(self, query, *values):
        """What the archive says, straight from the file; nothing where there is no archive yet."""
        if not self.archive.exists():
            return []
        try:
            with contextlib.closing(sqlite3.connect(f"file:{self.archive}?mode=ro", uri=True, timeout=60)) as archive:
                return archive.execute(query, values).fetchall()
        except sqlite3.OperationalError:
            return []  # killed while the tables were made

    def runs(self):
        """(id, status) of every run, oldest first."""
        return self.rows("SELECT id, status FROM runs ORDER BY number")

    def events(self, run):
        """(seq, kind, json) of one run in order."""
        return self.rows("SELECT seq, kind, json FROM events WHERE run = (SELECT number FROM runs WHERE id = ?)"
                         " ORDER BY seq", run)

    def check(self):
        found = self.run("check")
        expect(found.returncode == 0 and "sound" in found.stdout,
               f"hone check: {found.returncode}\n{found.stdout}{found.stderr}")


def wait_until(condition, what, process=None):
    """True when it holds, False when `process` ended first."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        if condition():
            return True
        if process is not None and process.poll() is not None:
            return bool(condition())
        time.sleep(0.02)
    raise Failure(f"waited {PATIENCE} s for {what}")


def finish(process):
    try:
        return process.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise Failure(f"did not end within {PATIENCE} s") from error


def adopt_orphans():
    """What a killed program leaves behind becomes our child: it cannot hide from orphans()."""
    expect(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "prctl failed")


def children():
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if not folder.name.isdigit():
                continue
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                found.append((int(folder.name), command))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def orphans(seconds=30):
    """Processes still alive that long after their program ended; they are ended and reaped."""
    limit = time.monotonic() + seconds
    while (alive := children()) and time.monotonic() < limit:
        # A namespace's init ends when the programs in it have been reaped: they are ours now.
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        time.sleep(0.01)
    for pid, _ in alive:
        os.kill(pid, signal.SIGKILL)
    try:
        while os.waitpid(-1, 0 if alive else os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return [f"{pid} {command}" for pid, command in alive]


def compare(before, after):
    """What is wrong with a run's events, given those that were seen before."""
    if [seq for seq, _, _ in after] != list(range(len(after))):
        yield f"event numbers have gaps: {[seq for seq, _, _ in after]}"
    if after[:len(before)] != before:
        yield f"{len(before)} events were acknowledged, and {len(after)} others are there"
    screened = [json.loads(body) for _, kind, body in after if kind == "screened"]
    kernels = [body["kernel"] for body in screened]
    for kernel in sorted({k for k in kernels if kernels.count(k) > 1}):
        yield f"kernel {kernel} was screened {kernels.count(kernel)} times"
    if [body["n"] for body in screened] != list(range(1, len(screened) + 1)):
        yield f"evaluations are numbered {[body['n'] for body in screened]}"


def check_events(before, after, note):
    problems = list(compare(before, after))
    expect(not problems, f"{note}: " + "; ".join(problems))


def check_finished(hone, run, evaluations):
    found = json.loads(hone.run("show", run, "--json").stdout)
    expect(found["status"] == "finished", f"run {run} is {found['status']}")
    expect(found["champion"], f"run {run} has no champion")
    expect(pathlib.Path(found["summary"]["champion"]["path"]).exists(), "the champion's file is missing")
    events = hone.events(run)
    count = sum(kind == "screened" for _, kind, _ in events)
    expect(count == found["summary"]["evaluations"] and count <= evaluations, f"{count} evaluations of {evaluations}")
    reason = json.loads(events[-1][2])["reason"]
    expect(count == evaluations or reason != "budget", f"ended by budget after {count} of {evaluations}")
    return count


def kill_test(hone, kills, evaluations, seed):
    adopt_orphans()
    draw = random.Random(seed)
    done, idle, seen, finished = 0, 0, {}, []
    began = time.monotonic()
    while True:
        runs = hone.runs()
        run = runs[-1][0] if runs and runs[-1][1] != "finished" else None
        if run is None and done >= kills:
            break
        known = len(hone.events(run)) if run else 0
        process = hone.start("resume", "last") if run else hone.start("optimize", *SOFTMAX, "--budget", f"{evaluations}evals",
                                                                      "--seed", str(len(finished) + 1))
        killed = False
        if done < kills:
            # After some new events, or within the first moments, and then somewhere inside a step.
            news = draw.choice([0, 1, 1, 2, 3, 4])

            def reached(run=run, known=known, news=news):
                mine = run or (hone.runs() or [("", "")])[-1][0]
                return news == 0 or len(hone.events(mine)) >= known + news

            if wait_until(reached, "events", process):
                time.sleep(draw.uniform(0, 2.0 if news == 0 else 0.4))
            current = hone.runs()
            if current:  # what is seen now has been acknowledged
                seen[current[-1][0]] = hone.events(current[-1][0])
            killed = process.poll() is None
            process.kill()
        status = finish(process)
        left = orphans()
        expect(not left, f"processes survived kill {done + 1}: {left}")
        runs = hone.runs()
        if runs:
            run = runs[-1][0]
            after = hone.events(run)
            check_events(seen.get(run, []), after, f"run {run} after kill {done}")
            idle += len(after) == known
            seen[run] = after
            hone.check()
        if killed and status == -signal.SIGKILL:
            done += 1
            print(f"kill {done}: run {run}, {len(seen.get(run, []))} events, {time.monotonic() - began:.0f} s", flush=True)
        else:
            expect(status == 0, f"status {status}:\n{hone.output()}")
            count = check_finished(hone, run, evaluations)
            finished.append(run)
            print(f"run {run} finished: {count} evaluations, {len(seen[run])} events", flush=True)
    for run, events in seen.items():
        expect(run in finished, f"run {run} was never finished")
        check_events(events, hone.events(run), f"run {run} at the end")
    expect(len(hone.runs()) == len(finished), "runs appeared out of nothing")
    print(f"{done} kills over {len(finished)} runs ({idle} before anything new was recorded), "
          f"{sum(len(e) for e in seen.values())} events, none lost, none repeated, no process left, "
          f"{time.monotonic() - began:.0f} s")


def screened_of(hone, run):
    return [json.loads(body)["kernel"] for _, kind, body in hone.events(run) if kind == "screened"]


def interrupted_run(hone, evaluations, due, times=1):
    """Starts a run, presses Ctrl-C when `due`; its id, exit status and the seconds it took to end."""
    before = len(hone.runs())
    process = hone.start("optimize", *SOFTMAX, "--budget", f"{evaluations}evals")
    ready = wait_until(lambda: len(hone.runs()) > before and due(hone.runs()[-1][0]), "its work", process)
    expect(ready and process.poll() is None, f"it ended too soon:\n{hone.output()}")
    pressed = time.monotonic()
    for i in range(times):
        if i:
            time.sleep(0.1)
        # A terminal signals the whole group in the foreground.
        os.killpg(process.pid, signal.SIGINT)
    status = finish(process)
    left = orphans()
    expect(not left, f"processes survived: {left}")
    hone.check()
    return hone.runs()[-1][0], status, time.monotonic() - pressed


def resume_to_the_end(hone, run, evaluations):
    before = hone.events(run)
    process = hone.start("resume", run)
    status = finish(process)
    expect(status == 0, f"resume: {status}\n{hone.output()}")
    check_events(before, hone.events(run), "resumed")
    check_finished(hone, run, evaluations)


def interrupt_test(hone, resume_all):
    adopt_orphans()
    evaluations = 6
    if resume_all:
        # While it searches: ends with the champion so far.
        run, status, seconds = interrupted_run(hone, evaluations, lambda r: len(screened_of(hone, r)) >= 3)
        text = hone.output()
        expect(status == 0, f"status {status}:\n{text}")
        expect("champion" in text and "interrupted" in text, f"no champion was announced:\n{text}")
        expect(hone.runs()[-1][1] == "interrupted", f"the archive says {hone.runs()[-1][1]}")
        expect(3 <= len(screened_of(hone, run)) < evaluations, "the interruption did not end the search")
        print(f"Ctrl-C while searching: champion after {seconds:.1f} s")
        resume_to_the_end(hone, run, evaluations)

    # Before anything was evaluated: nothing to crown, and nothing lost.
    run, status, seconds = interrupted_run(hone, evaluations, lambda r: len(hone.events(r)) >= 1)
    if not screened_of(hone, run):
        expect(status == 1 and "no champion" in hone.output(), f"status {status}:\n{hone.output()}")
    expect(hone.runs()[-1][1] == "interrupted", f"the archive says {hone.runs()[-1][1]}")
    print(f"Ctrl-C while preparing: ended after {seconds:.1f} s, {len(screened_of(hone, run))} evaluations")
    if resume_all:
        resume_to_the_end(hone, run, evaluations)

    # Twice: at once, without a trial; resumable all the same.
    run, status, seconds = interrupted_run(hone, evaluations, lambda r: len(screened_of(hone, r)) >= 3, times=2)
    expect(status >= 0, f"died by signal {-status}:\n{hone.output()}")
    expect(hone.runs()[-1][1] == "interrupted", f"the archive says {hone.runs()[-1][1]}:\n{hone.output()}")
    print(f"Ctrl-C twice: ended with status {status} after {seconds:.1f} s")
    if resume_all:
        resume_to_the_end(hone, run, evaluations)


def together_test(hone):
    tasks = [SOFTMAX, ["-e", "y = x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5)", "-i", "x=f32[64,250]",
                       "--opponents", "naive"]]
    processes = [subprocess.Popen([hone.program, "optimize", *task, "--budget", "6evals"], cwd=hone.folder,
                                  env=hone.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) for task in tasks]
    wait_until(lambda: hone.runs() and len(hone.events(hone.runs()[0][0])) >= 2, "the first run", processes[0])
    refused = hone.run("resume", hone.runs()[0][0])
    expect(refused.returncode != 0 and "being worked on" in refused.stderr,
           f"a run that is held was resumed: {refused.returncode}\n{refused.stdout}{refused.stderr}")
    for process in processes:
        text = process.communicate(timeout=PATIENCE)[0]
        expect(process.returncode == 0, f"status {process.returncode}:\n{text}")
    hone.check()
    listed = json.loads(hone.run("runs", "--json").stdout)["runs"]
    expect([run["status"] for run in listed] == ["finished"] * 2, f"runs are {listed}")
    expect(len({run["task"] for run in listed} | {run["run"] for run in listed}) >= 3, "the same run twice")
    for run in listed:
        check_events([], hone.events(run["run"]), run["run"])
        check_finished(hone, run["run"], 6)
    print("two runs on one archive at once: both finished")


def self_test():
    screened = [(n, "screened", json.dumps({"n": n + 1, "kernel": f"k{n}"})) for n in range(4)]
    assert not list(compare(screened[:2], screened))
    assert not list(compare([], []))
    assert list(compare(screened, screened[:3]))                                # lost
    assert list(compare([(0, "screened", "{}")], screened))                     # changed
    assert list(compare([], screened[:2] + screened[3:]))                       # a gap
    twice = [*screened, (4, "screened", json.dumps({"n": 5, "kernel": "k1"}))]
    assert list(compare(screened, twice))                                       # repeated
    numbers = [*screened, (4, "screened", json.dumps({"n": 4, "kernel": "k9"}))]
    assert list(compare(screened, numbers))                                     # misnumbered
    adopt_orphans()
    sleeper = subprocess.Popen(["sh", "-c", "setsid sleep 600 & exec sleep 600"])
    wait_until(lambda: any("sleep" in c for _, c in children()), "a process")
    time.sleep(0.2)
    sleeper.kill()
    sleeper.wait()
    assert any("sleep 600" in line for line in orphans(seconds=0.5))
    assert not orphans()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("test", nargs="?", choices=["kill", "interrupt", "together"])
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--evaluations", type=int, default=12)
    parser.add_argument("--resume-all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    with tempfile.TemporaryDirectory(prefix="hone-live-") as folder, shared_cache.in_home(folder):
        hone = Hone(os.path.abspath(arguments.hone), folder)
        try:
            if arguments.test == "kill":
                kill_test(hone, arguments.kills, arguments.evaluations, arguments.seed)
            elif arguments.test == "interrupt":
                interrupt_test(hone, arguments.resume_all)
            else:
                together_test(hone)
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
