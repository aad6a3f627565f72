#!/usr/bin/env python3
"""Counts what the library's patterns in Triton or TileLang do for a suite's tasks, out of what the tests of it print.

    hone_pattern_long_test --gtest_filter='Tasks/TileLangSuites*' | tools/count_patterns.py
    hone_pattern_long_test --gtest_filter='Tasks/TritonSuites*' | tools/count_patterns.py

A line a task ("TABLE task  pattern pattern REFUSED") becomes: accepted by tuned patterns, by plain loops alone, refused, not covered and
why. With tasks as arguments (numbers: 23 42), those alone. Exit status 1 where a kernel was refused.
"""
import collections
import re
import sys

PLAIN = {"plain"}


def offers(words):
    """[(pattern, accepted)] of the text behind a task's name: "rows  plain REFUSED"."""
    found = []
    for word in re.split(r"\s{2,}", words.strip()):
        found.append((word.removesuffix(" REFUSED"), not word.endswith(" REFUSED")))
    return found


def main():
    only = set(sys.argv[1:])
    by_pattern, refused, missing, plain = collections.Counter(), [], [], []
    tasks = {}
    for line in sys.stdin:
        match = re.match(r"TABLE (\S+)\s+(.*)", line)
        if match and (not only or match[1].split("_")[0].lstrip("0") in only): tasks.setdefault(match[1], []).append(match[2])
    for task, lines in sorted(tasks.items()):
        if lines[0].startswith("NOT COVERED"):
            missing.append(f"{task}: {lines[0].removeprefix('NOT COVERED ')}")
            continue
        all_offers = [offer for words in lines for offer in offers(words)]
        refused += [f"{task}: {pattern}" for pattern, accepted in all_offers if not accepted]
        accepted = [pattern for pattern, good in all_offers if good]
        tuned = [pattern for pattern in accepted if pattern not in PLAIN]
        if tuned: by_pattern[tuned[0].split(":")[0]] += 1
        elif accepted: plain.append(task)
    tuned = sum(by_pattern.values())
    print(f"{len(tasks)} tasks: {tuned + len(plain)} accepted, {tuned} of them by tuned patterns ({', '.join(f'{n} {c}' for n, c in by_pattern.most_common())})")
    for title, rows in (("by plain loops alone", plain), ("refused", refused), ("not covered", missing)):
        for row in rows: print(f"  {title}: {row}")
    return 1 if refused else 0


if __name__ == "__main__": sys.exit(main())
