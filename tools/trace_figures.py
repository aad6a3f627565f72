#!/usr/bin/env python3
"""Adds up a trace that HONE_TRACE=FILE made: seconds by kind of span, whole and without the spans inside.

    HONE_TRACE=/tmp/t.json hone optimize … ; tools/trace_figures.py /tmp/t.json

Spans of several threads and processes add up; "own" leaves out what spans inside took on the same thread. The lines
below the table: the loop's overhead, which is the time from the first span to the last during which nothing was built,
verified or run; and the share of that time in which the device was measuring.
"""
import collections
import json
import sys


# What of the time the device is in use, in two senses.
MEASURING = {
    "kernels evaluated or peaks measured (drawing, checks and timing)": ("screening", "promotion", "stream twins"),
    "kernels timed (flush, poison and quick checks with them)": ("timed batch", "stream twins"),
}


def spans(path):
    for line in open(path, encoding="utf-8"):
        line = line.strip().rstrip(",")
        if line.startswith("{"):
            yield json.loads(line)


def covered(all_spans):
    """Seconds in which at least one span was open."""
    total, until = 0, float("-inf")
    for begin, end in sorted((s["ts"], s["ts"] + s["dur"]) for s in all_spans):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total / 1e6


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    threads = collections.defaultdict(list)
    for span in spans(sys.argv[1]):
        threads[span["pid"], span["tid"]].append(span)
    count, whole, own = collections.Counter(), collections.Counter(), collections.Counter()
    for of_thread in threads.values():
        of_thread.sort(key=lambda s: (s["ts"], -s["dur"]))
        open_spans = []
        for span in of_thread:
            while open_spans and open_spans[-1]["ts"] + open_spans[-1]["dur"] <= span["ts"]:
                open_spans.pop()
            if open_spans:
                own[open_spans[-1]["name"]] -= span["dur"]
            open_spans.append(span)
            count[span["name"]] += 1
            own[span["name"]] += span["dur"]
            if all(other["name"] != span["name"] for other in open_spans[:-1]):
                whole[span["name"]] += span["dur"]
    print(f"{'span':24} {'times':>7} {'seconds':>9} {'own':>9}")
    for name, microseconds in own.most_common():
        print(f"{name:24} {count[name]:7} {whole[name] / 1e6:9.2f} {microseconds / 1e6:9.2f}")
    everything = [span for of_thread in threads.values() for span in of_thread]
    if everything:
        wall = (max(s["ts"] + s["dur"] for s in everything) - min(s["ts"] for s in everything)) / 1e6
        idle = wall - covered(everything)
        print(f"no span open: {idle:.2f} s of {wall:.2f} ({100 * idle / wall:.1f} %)")
        for what, names in MEASURING.items():
            open_for = covered([span for span in everything if span["name"] in names])
            print(f"{what}: {open_for:.2f} s ({100 * open_for / wall:.1f} %)")


if __name__ == "__main__":
    main()
