#!/usr/bin/env python3
"""Runs ctest and ends with one plain line: N passed, N failed, N skipped.

Tests labelled "unit" or "slow" run side by side; all others run one after another, because they measure
time. One that fails and is no unit test is run once more, by itself: a burst of somebody else's work on the
machine must not condemn a change. If it passes then, it counts as passed and is listed as UNSTEADY, which
is a defect to look into. A unit test has no second chance. What a test that failed printed last is printed
again at the end. Exits with 1 when a test failed, when ctest itself failed, or when no test passed.

    scripts/run_tests.py [--build DIR] [--jobs N] [--only LABEL] [--without LABEL]
    scripts/run_tests.py --self-test
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

# What ctest says of a test that chose not to run. Any other reason (no such program, a fixture that
# failed) means that the test was meant to run and could not.
SKIPS = ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION_MATCHED", "Disabled")

CTEST = "ctest itself"


class Outcome:
    def __init__(self):
        self.passed = self.skipped = 0
        self.failed = []
        self.unsteady = []

    def add_second_chance(self, again):
        """Takes over what became of our failed tests when they were run again."""
        self.unsteady += [name for name in self.failed if name not in again.failed]
        self.passed += again.passed
        self.failed = again.failed

    def add(self, report):
        """Adds the tests of one JUnit file written by ctest."""
        for case in xml.parse(report).getroot().iter("testcase"):
            skip = case.find("skipped")
            reason = skip.get("message", "") if skip is not None else ""
            if case.get("status") == "run":
                self.passed += 1
            elif case.get("status") == "disabled" or reason.startswith(SKIPS):
                self.skipped += 1
            else:
                self.failed.append(case.get("name"))

    def add_all(self, other):
        self.passed += other.passed
        self.skipped += other.skipped
        self.failed += other.failed
        self.unsteady += other.unsteady

    def exit_status(self):
        return 1 if self.failed or self.passed == 0 else 0

    def __str__(self):
        return f"{self.passed} passed, {len(self.failed)} failed, {self.skipped} skipped"


def run_ctest(build, jobs, selection, outcome, output=None):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = ["ctest", "--test-dir", str(build.resolve()), "--output-on-failure",
                   "--parallel", str(jobs), "--output-junit", str(report), *selection]
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode
        failed_before = len(outcome.failed)
        if report.exists():
            outcome.add(report)
    if status != 0 and len(outcome.failed) == failed_before:
        outcome.failed.append(f"{CTEST} (exit status {status})")


def run_twice(build, jobs, selection, output):
    """Runs what is no unit test; failed ones twice, by themselves the second time."""
    outcome = Outcome()
    run_ctest(build, jobs, selection, outcome, output)
    tests = [name for name in outcome.failed if not name.startswith(CTEST)]
    if tests and len(tests) == len(outcome.failed):
        again = Outcome()
        # ctest's regular expressions have no way to quote but brackets.
        exactly = "|".join("".join(c if c.isalnum() or c in "_/" else f"[{c}]" for c in name) for name in tests)
        run_ctest(build, 1, ["-R", f"^({exactly})$"], again, output)
        outcome.add_second_chance(again)
    return outcome


def run_all(build, jobs, only=None, without=None, output=None):
    outcome = Outcome()
    leave_out = ["-LE", f"^{without}$"] if without else []
    if only in (None, "unit"):
        run_ctest(build, jobs, ["-L", "^unit$", *leave_out], outcome, output)
    if only in (None, "slow"):
        outcome.add_all(run_twice(build, jobs, ["-L", "^slow$", *leave_out], output))
    if only not in ("unit", "slow"):
        others = "|".join(f"^{label}$" for label in ("unit", "slow", without) if label)
        outcome.add_all(run_twice(build, 1, ["-L", f"^{only}$", *leave_out] if only else ["-LE", others], output))
    return outcome


def self_test():
    """Has ctest run tests whose outcome is known."""
    tests = """
add_test(passes "/bin/true")
set_tests_properties(passes PROPERTIES LABELS unit)
add_test(passes_unlabelled "/bin/true")
add_test(fails "/bin/false")
set_tests_properties(fails PROPERTIES LABELS slow)
add_test(skips "/bin/sh" "-c" "exit 77")
set_tests_properties(skips PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
add_test(skips_by_word "/bin/echo" "[  SKIPPED ]")
set_tests_properties(skips_by_word PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "  SKIPPED ")
add_test(is_missing "/nowhere/at/all")
set_tests_properties(is_missing PROPERTIES LABELS unit)
add_test(takes_long "/bin/false")
set_tests_properties(takes_long PROPERTIES LABELS long)
"""
    expectations = [
        (dict(without="long"), "2 passed, 2 failed, 2 skipped", 1),
        (dict(), "2 passed, 3 failed, 2 skipped", 1),
        (dict(only="unit"), "1 passed, 1 failed, 2 skipped", 1),
        (dict(only="slow"), "0 passed, 1 failed, 0 skipped", 1),
        (dict(only="gpu"), "0 passed, 0 failed, 0 skipped", 1),
    ]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        (build / "CTestTestfile.cmake").write_text(tests)
        for selection, line, status in expectations:
            outcome = run_all(build, 2, output=subprocess.DEVNULL, **selection)
            if (str(outcome), outcome.exit_status()) != (line, status):
                wrong.append(f"{selection}: {outcome}, status {outcome.exit_status()}; expected {line}, {status}")
        (build / "CTestTestfile.cmake").write_text(
            'add_test(a.second/chance "/bin/sh" "-c" "test -e once || { touch once; false; }")\n'
            'set_tests_properties(a.second/chance PROPERTIES LABELS slow)\n'
            'add_test(no_second_chance "/bin/sh" "-c" "test -e twice || { touch twice; false; }")\n'
            'set_tests_properties(no_second_chance PROPERTIES LABELS unit)\n')
        outcome = run_all(build, 2, output=subprocess.DEVNULL)
        if (str(outcome), outcome.unsteady) != ("1 passed, 1 failed, 0 skipped", ["a.second/chance"]):
            wrong.append(f"a second chance: {outcome}, unsteady {outcome.unsteady}")
        (build / "CTestTestfile.cmake").write_text('add_test(passes "/bin/true")\n')
        if run_all(build, 2, output=subprocess.DEVNULL).exit_status() != 0:
            wrong.append("a passing test gives a failing status")
        (build / "CTestTestfile.cmake").write_text('add_test(passes "/bin/true")\nno_such_command()\n')
        if run_all(build, 2, output=subprocess.DEVNULL).exit_status() == 0:
            wrong.append("a broken list of tests is not reported")
    print("\n".join(wrong) or "outcomes are counted as they should")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", help="run the tests with this label")
    parser.add_argument("--without", help="leave out the tests with this label")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()

    # Tests that need PyTorch look here (scripts/setup_python.sh); without it they skip.
    python = pathlib.Path(".venv/bin/python").absolute()
    if python.exists():
        os.environ.setdefault("HONE_PYTHON", str(python))

    outcome = run_all(options.build, options.jobs, options.only, options.without)
    print()
    for name in outcome.unsteady:
        print(f"UNSTEADY {name} (failed, then passed by itself)")
    for name in outcome.failed:
        print(f"FAILED {name}")
    print(outcome, flush=True)
    return outcome.exit_status()


if __name__ == "__main__":
    sys.exit(main())
