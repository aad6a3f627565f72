#!/usr/bin/env python3
"""How far a search's first kernel lies from the best that it found, over the runs of archives.

    first_offers.py ARCHIVE.db ...          a row a task, and the geometric mean over tasks
    first_offers.py --self-test

A run begins with the library's kernels in the order that the library gives them (pattern/library.h), so the distance of the first one is what somebody
pays who has no time for a search. `best offer` is the distance of the first offer from the best that any offer reaches with its own defaults: what a better
order could gain; `tuned` is what tunables gain beyond that. Scores are times of the run's first accepted kernel over a kernel's, so a run whose first
offer was refused is counted (`refused first`) and its first accepted one is taken.
"""
import json
import math
import pathlib
import sqlite3
import sys
import tempfile


def runs_of(file):
    with sqlite3.connect(file) as archive:
        for number, task in archive.execute("select number, task_name from runs order by number").fetchall():
            yield task, [json.loads(text) for (text,) in archive.execute("select json from events where run = ? and kind = 'screened' order by seq", (number,))]


def distances(looked_at):
    """Of the first accepted kernel: best offer over it, best of all over it, and how many were refused before it."""
    scored = [event for event in looked_at if event["score"] > 0]
    if not scored:
        return None
    first = scored[0]["score"]
    offers = [event["score"] for event in scored if not event["parent"]]
    refused = next(index for index, event in enumerate(looked_at) if event["score"] > 0)
    return max(offers + [first]) / first, max(event["score"] for event in scored) / first, refused, len(offers)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def table(files):
    lines = ["| task | offers | first to best offer | first to best of the search | refused first |", "| --- | --- | --- | --- | --- |"]
    order, best, none = [], [], 0
    for file in files:
        for task, looked_at in runs_of(file):
            found = distances(looked_at)
            if found is None:
                none += 1
                continue
            offer, tuned, refused, offers = found
            order.append(offer)
            best.append(tuned)
            lines.append(f"| {task} | {offers} | {offer:.2f} | {tuned:.2f} | {refused or ''} |")
    lines += ["", f"{len(best)} tasks: the first kernel is {mean(best):.3f} times as slow as the best of its search, {mean(order):.3f} times as slow as the best offer with its own defaults "
              f"(geometric means; largest {max(best, default=0):.2f} and {max(order, default=0):.2f}); {none} runs without an accepted kernel."]
    return "\n".join(lines)


def self_test():
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place) / "archive.db"
        with sqlite3.connect(file) as archive:
            archive.execute("create table runs(number, task_name)")
            archive.execute("create table events(run, seq, kind, json)")
            archive.execute("insert into runs values (1, 'one'), (2, 'none')")
            for seq, (parent, score) in enumerate([("", 0), ("", 1.0), ("", 1.5), ("x", 3.0)]):
                archive.execute("insert into events values (1, ?, 'screened', ?)", (seq, json.dumps({"parent": parent, "score": score})))
        said = table([file])
        assert "| one | 2 | 1.50 | 3.00 | 1 |" in said and "1 runs without" in said, said
    print("offers are told from their tuned settings, and who was refused from who was first")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        print(table([pathlib.Path(name) for name in sys.argv[1:]]))
    else:
        sys.exit(__doc__)
