#!/usr/bin/env python3
"""Runs PyTorch's own tests of torch.compile's backends with hone in the place of each backend that they name.

    python3 tools/pytorch_tests.py SOURCE test/dynamo/test_backends.py [FILE...] [--match TEXT] [--seconds N] [--out FILE]

SOURCE is a checkout of PyTorch's source, best of the installed version; nothing of it is kept. Each file runs twice, in a process of its
own: with the backends that its tests name, and with hone around them: backend="eager" becomes hone with nested="eager". Such hone captures,
cuts and recalls kernels, but searches for none (when="never"). What fails only with hone is hone's. Takes $HONE, or the hone on the
path, hone_torch from this checkout, and a Python with torch as the one that runs this script.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMED = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")

# The process that runs one file's tests: one line of JSON a test.
INSIDE = r'''
import importlib.util, json, os, sys, time, unittest, warnings
file, with_hone, match, results = sys.argv[1], sys.argv[2] == "hone", sys.argv[3], open(sys.argv[4], "a")
NAMED = sys.argv[5].split(",")
done = {json.loads(line)["test"] for line in open(sys.argv[4])}
sys.argv = sys.argv[:1]
sys.path.insert(0, os.path.dirname(file))
import torch, torch._dynamo, torch._dynamo.testing
from torch._dynamo.backends import registry
import torch._dynamo.eval_frame as eval_frame

seen = [0]
if with_hone:
    import hone_torch
    from hone_torch._backend import Graph
    lookup, compiled = registry.lookup_backend, torch.compile
    made = Graph.__init__
    def counted(self, *args, **kwargs):
        seen[0] += 1
        made(self, *args, **kwargs)
    Graph.__init__ = counted

    def around(name):
        def backend(graph, inputs, **_):
            return hone_torch.backend(graph, inputs, options={"nested": name, "when": "never"})
        return backend

    def replaced(backend):
        return around(backend) if backend in NAMED else lookup(backend)
    for module in (registry, eval_frame):
        if hasattr(module, "lookup_backend"):
            module.lookup_backend = replaced
    def compile(model=None, *args, **kwargs):
        plain = not kwargs.get("mode") and not kwargs.get("options")
        if model is not None and plain and kwargs.get("backend", "inductor") == "inductor":
            kwargs["backend"] = around("inductor")
        return compiled(model, *args, **kwargs)
    torch.compile = compile
    for counter in (torch._dynamo.testing.CompileCounter,):
        before = counter.__call__
        def call(self, graph, inputs, before=before):
            before(self, graph, inputs)
            return around("eager")(graph, inputs)
        counter.__call__ = call


class Lines(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self.began, self.graphs, self.said = time.monotonic(), seen[0], None
        results.write(json.dumps({"test": test.id(), "how": "killed"}) + "\n")
        results.flush()

    def say(self, test, how, why=""):
        if self.said is None or how != "passed":
            self.said = how
            results.write(json.dumps({"test": test.id(), "how": how, "why": why[-1500:], "graphs": seen[0] - self.graphs, "seconds": round(time.monotonic() - self.began, 2)}) + "\n")
            results.flush()

    def addSuccess(self, test): self.say(test, "passed")
    def addError(self, test, error): self.say(test, "failed", self._exc_info_to_string(error, test))
    def addFailure(self, test, error): self.say(test, "failed", self._exc_info_to_string(error, test))
    def addSkip(self, test, reason): self.say(test, "skipped", reason)
    def addExpectedFailure(self, test, error): self.say(test, "passed")
    def addUnexpectedSuccess(self, test): self.say(test, "failed", "an unexpected success")
    def addSubTest(self, test, part, error):
        if error is not None: self.say(test, "failed", self._exc_info_to_string(error, test))


spec = importlib.util.spec_from_file_location("the_tests", file)
module = importlib.util.module_from_spec(spec)
sys.modules["the_tests"] = module
spec.loader.exec_module(module)
warnings.simplefilter("ignore")

def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite): yield from each(test)
        else: yield test
chosen = [test for test in each(unittest.defaultTestLoader.loadTestsFromModule(module)) if match in test.id() and test.id() not in done]
unittest.TestSuite(chosen).run(Lines())
results.write(json.dumps({"test": "", "how": "end"}) + "\n")
'''


def run(source, file, how, match, seconds, folder):
    """Results by test. A process that dies takes one test along: another goes on behind it."""
    results = pathlib.Path(folder) / f"{pathlib.Path(file).stem}-{how}.jsonl"
    results.write_text("")
    script = pathlib.Path(folder) / "inside.py"
    script.write_text(INSIDE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]), "PYTORCH_TEST_WITH_SLOW": "0"}
    log = open(pathlib.Path(folder) / f"{pathlib.Path(file).stem}-{how}.log", "w")
    left = seconds
    for _ in range(20):
        process = subprocess.Popen([sys.executable, str(script), str(pathlib.Path(source) / file), how, match, str(results), ",".join(NAMED)], env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            process.wait(timeout=left)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            break
        lines = results.read_text().splitlines()
        if not lines or json.loads(lines[-1])["how"] in ("end",):
            break
    found = {}
    for line in results.read_text().splitlines():
        row = json.loads(line)
        if row["test"]:
            found[row["test"]] = row
    return found


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(" ")]
    return lines[-1][:300] if lines else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--match", default="", help="tests whose names hold this")
    parser.add_argument("--seconds", type=float, default=600, help="for each file and each way")
    parser.add_argument("--out", help="all results as JSON")
    given = parser.parse_args()
    everything, ours = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for file in given.files:
            plain, hone = (run(given.source, file, how, given.match, given.seconds, folder) for how in ("plain", "hone"))
            everything[file] = {"plain": plain, "hone": hone}
            for name, results in (("as they are", plain), ("with hone", hone)):
                counts = collections.Counter(row["how"] for row in results.values())
                print(f"{file}, {name}: " + ", ".join(f"{count} {how}" for how, count in sorted(counts.items())) + f"; {sum(row.get('graphs', 0) for row in results.values())} graphs of hone's")
                if not results:
                    print("  not one ran: " + last_line((pathlib.Path(folder) / f"{pathlib.Path(file).stem}-{'plain' if results is plain else 'hone'}.log").read_text()))
            for test, row in hone.items():
                if row["how"] in ("failed", "killed") and plain.get(test, {}).get("how") == "passed":
                    ours += 1
                    print(f"  only with hone: {test} ({row['how']}): {last_line(row.get('why', ''))}")
    if given.out:
        pathlib.Path(given.out).write_text(json.dumps(everything, indent=1))
    sys.exit(1 if ours else 0)


if __name__ == "__main__":
    main()
