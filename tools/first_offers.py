#!/usr/bin/env python3
"""How far a search's first kernel lies from the best that it found, over the runs of archives.

    first_offers.py HONE ARCHIVE.db ...     a row a task, and the geometric mean over tasks
    first_offers.py --self-test

The library gives its kernels in order of promise (pattern/library.h), so the distance of the first one is what somebody pays who has no time for a search.
A run on a card looks first at what is built first, so HONE, the program that searched, is asked for the order (`hone explain`). From the first to the best offer, each
with its own defaults, is what a better order could gain; to the best of the search is what tunables gain beyond that. Scores are times of the run's first accepted kernel over a kernel's, so offers that
were refused before the first accepted one are counted (`refused first`).
"""
import json
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile


def order_of(hone, toml, target):
    """Of kernels' hashes. Where there is no card, an emulator has the same kernels."""
    kind = target.split(":")[0]
    asked = f"emulator:{kind}" if kind in ("cuda", "hip") else target
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place) / "task.toml"
        file.write_text(toml)
        done = subprocess.run([hone, "explain", file, "--target", asked, "--json"], capture_output=True, text=True, check=True)
    return [offer["hash"] for offer in json.loads(done.stdout.strip().splitlines()[-1])["patterns"]]


def runs_of(file):
    with sqlite3.connect(file) as archive:
        for number, task, toml, target in archive.execute("select number, task_name, task_toml, target from runs order by number").fetchall():
            yield task, toml, target, [json.loads(text) for (text,) in archive.execute("select json from events where run = ? and kind = 'screened' order by seq", (number,))]


def distances(looked_at, order):
    """Of the first accepted offer in `order`: best offer over it, best of all over it, and how many were refused before it."""
    scores = {event["kernel"]: event["score"] for event in looked_at}
    offers = [scores[kernel] for kernel in order if kernel in scores]
    scored = [score for score in offers if score > 0]
    if not scored:
        return None
    refused = next(index for index, score in enumerate(offers) if score > 0)
    return max(scored) / scored[0], max(scores.values()) / scored[0], refused, len(offers)


def table(files, asked):
    lines = ["| task | offers | first to best offer | first to best of the search | refused first |", "| --- | --- | --- | --- | --- |"]
    order, best, none = [], [], 0
    for file in files:
        for task, toml, target, looked_at in runs_of(file):
            found = distances(looked_at, asked(toml, target)) if looked_at else None
            if found is None:
                none += 1
                continue
            offer, tuned, refused, offers = found
            order.append(offer)
            best.append(tuned)
            lines.append(f"| {task} | {offers} | {offer:.2f} | {tuned:.2f} | {refused or ''} |")
    if best:
        mean = statistics.geometric_mean
        lines += ["", f"{len(best)} tasks: the first kernel is {mean(best):.3f} times as slow as the best of its search, {mean(order):.3f} times as slow as the best offer with its own defaults "
                  f"(geometric means; largest {max(best):.2f} and {max(order):.2f})."]
    lines += ["", f"{none} runs without an accepted kernel."]
    return "\n".join(lines)


def self_test():
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place) / "archive.db"
        with sqlite3.connect(file) as archive:
            archive.execute("create table runs(number, task_name, task_toml, target)")
            archive.execute("create table events(run, seq, kind, json)")
            archive.execute("insert into runs values (1, 'one', 'first', 'cuda:0'), (2, 'none', '', 'cuda:0')")
            for seq, (kernel, score) in enumerate([("b", 1.5), ("z", 0), ("a", 1.0), ("tuned", 3.0)]):
                archive.execute("insert into events values (1, ?, 'screened', ?)", (seq, json.dumps({"kernel": kernel, "score": score})))
        said = table([file], lambda toml, target: {("first", "cuda:0"): ["z", "a", "b", "never looked at"]}[toml, target])
        assert "| one | 3 | 1.50 | 3.00 | 1 |" in said and "1 runs without" in said, said
    print("offers are told from their tuned settings, and who was refused from who was first")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) > 2:
        print(table([pathlib.Path(name) for name in sys.argv[2:]], lambda toml, target: order_of(sys.argv[1], toml, target)))
    else:
        sys.exit(__doc__)
