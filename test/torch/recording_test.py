#!/usr/bin/env python3
"""A composed program as one recording (src/hone/face/program/python), with a recorder of the CPU's in CUDA's place: what it records
is run again at a replay, into the same tensors. Runs by a Python with torch; 77 where there is none."""
import copy
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/hone/face/program/python"
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from torch_test import python_with_torch  # noqa: E402


def main():
    import torch
    import torch.utils._pytree as pytree

    folder = tempfile.TemporaryDirectory()
    package = pathlib.Path(folder.name) / "recorded"
    package.mkdir()
    for part in ("runtime", "recording"):
        shutil.copy(SOURCE / f"{part}.py", package / f"_{part}.py")
    (package / "__init__.py").write_text("")
    sys.path.insert(0, folder.name)
    from recorded._recording import Recorder
    from recorded._runtime import Program, Task

    class Stream:
        waited = ()

        def wait_stream(self, other):
            self.waited += (other,)

    class Graphs:
        """A graph that runs its steps once more, and leaves what they give where the first run left it."""
        device_type = "cpu"

        def __init__(self):
            self.recorded, self.replayed, self.now, self.able, self.fails = 0, 0, Stream(), True, ""

        def may_replay(self):
            return self.able

        def stream(self, device):
            return self.now

        def record(self, function, device, warm=None):
            if self.fails:
                raise RuntimeError(self.fails)
            (warm or function)()
            # A capture runs nothing: buffers that it changes are put back.
            state = {name: value.clone() for name, value in program.named_buffers()}
            kept = function()
            for name, value in program.named_buffers():
                value.copy_(state[name])
            self.recorded += 1

            def replay():
                self.replayed += 1
                fresh = function()
                for old, new in zip(kept, fresh):
                    if isinstance(old, torch.Tensor) and old is not new:
                        old.copy_(new)
            return replay, kept

    def fold(weights):
        return (weights[0] * 2,)

    doubled = Task("doubled", lambda x, w: (x @ w,))

    class Module(Program):
        """x @ 2w, its sum, x itself, the same result twice; counts its calls in a buffer."""
        STATE = {"inner.w": ((3, 3), torch.float32, True), "inner.count": ((1,), torch.float32, False)}
        ALIASES, CONSTANTS, WEIGHTS = {}, [], ["inner.w", "inner.count"]
        INPUTS = [("x", (2, 3), torch.float32), ("y", (2, 3), torch.float32)]
        TREES = [pytree.treespec_dumps(pytree.tree_structure(((0, 0), {}))), pytree.treespec_dumps(pytree.tree_structure([0] * 5))]
        STEPS, FOLDS = [doubled, lambda a, b: (a + b,), lambda c: (c + 1,)], [(fold, [0])]

        def run(self, steps, leaves, weights, folded):
            n1, = steps[0](leaves[0], folded[0])
            n2, = steps[1](n1, leaves[1])
            n3, = steps[2](weights[1])
            return [n2, n2, leaves[0], 7, n1], [(weights[1], n3)]

    def answer(x, y, w):
        return x @ (2 * w) + y

    program = Module()

    class RecordingTest(unittest.TestCase):
        def setUp(self):
            nonlocal program
            torch.manual_seed(1)
            program = Module()
            program.load_state_dict({"inner.w": torch.randn(3, 3), "inner.count": torch.zeros(1)})
            self.graphs = Graphs()
            program.recorder = Recorder(self.graphs)
            self.x, self.y = torch.randn(2, 3), torch.randn(2, 3)

        def call(self, x=None, y=None):
            x, y = self.x if x is None else x, self.y if y is None else y
            with torch.no_grad():
                results = program(x, y)
            self.assertIs(results[0], results[1])
            self.assertIs(results[2], x)
            self.assertEqual(results[3], 7)
            torch.testing.assert_close(results[0], answer(x, y, program.inner.w.detach()))
            return results

        def test_records_in_the_second_call_and_replays(self):
            for number in range(5):
                results = self.call(torch.randn(2, 3), torch.randn(2, 3))
                kept = results[0].clone()
                self.call(torch.randn(2, 3))
                self.assertTrue(torch.equal(kept, results[0]), "a later call writes into an earlier one's results")
            self.assertEqual((self.graphs.recorded, self.graphs.replayed), (1, 9))
            self.assertEqual(program.inner.count.item(), 10)  # each call once, the one that recorded too

        def test_records_in_the_first_where_it_has_no_patience(self):
            program.recorder = Recorder(self.graphs, patience=0)
            self.call()
            self.assertEqual((self.graphs.recorded, self.graphs.replayed, program.inner.count.item()), (1, 1, 1))

        def test_weights_that_change_or_move(self):
            for change in (lambda: program.inner.w.data.mul_(3), lambda: program.inner._parameters.update(w=torch.nn.Parameter(torch.randn(3, 3))),
                           lambda: program.load_state_dict({"inner.w": torch.randn(3, 3), "inner.count": torch.zeros(1)})):
                self.call(), self.call()
                with torch.no_grad():
                    program.inner.w.mul_(1)  # data has versions of its own
                    change()
                self.call(), self.call()

        def test_weights_that_change_each_time_are_not_recorded(self):
            for _ in range(4):
                with torch.no_grad():
                    program.inner.w.mul_(1.5)
                self.call()
            self.assertEqual(self.graphs.recorded, 0)

        def test_which_kernels_run_is_part_of_it(self):
            self.call(), self.call()
            doubled.use(False)
            self.call(), self.call()
            self.assertEqual(self.graphs.recorded, 2)

        def test_arguments_that_lie_otherwise(self):
            self.call(), self.call()
            for _ in range(3):
                self.call(torch.randn(3, 2).t(), torch.randn(1, 3).expand(2, 3))
            self.assertEqual(self.graphs.recorded, 2)

        def test_gradients_are_step_by_step(self):
            self.call(), self.call()
            x = self.x.clone().requires_grad_()
            program(x, self.y)[0].sum().backward()
            torch.testing.assert_close(x.grad, (torch.ones(2, 3) @ (2 * program.inner.w.detach()).t()))
            self.assertEqual(self.graphs.replayed, 1)

        def test_what_cannot_be_recorded_says_why(self):
            self.graphs.fails = "operation not permitted when stream is capturing\nmore"
            for _ in range(3):
                self.call()
            self.assertEqual(program.recorder.why, "operation not permitted when stream is capturing")
            self.assertEqual(program.inner.count.item(), 3)

        def test_views_of_arguments_are_not_recorded(self):
            class View(Module):
                def run(self, steps, leaves, weights, folded):
                    return [leaves[0][:1], 1, 1, 1, 1], []
            view = View()
            view.recorder = Recorder(self.graphs, patience=0)
            with torch.no_grad():
                self.assertEqual(view(self.x, self.y)[0].data_ptr(), self.x.data_ptr())
            self.assertIn("view", view.recorder.why)

        def test_not_within_another_recording(self):
            self.graphs.able = False
            self.call(), self.call()
            self.assertEqual((self.graphs.recorded, program.recorder.why), (0, ""))

        def test_another_stream_waits(self):
            self.call(), self.call()
            first, self.graphs.now = self.graphs.now, Stream()
            self.call()
            self.assertEqual(self.graphs.now.waited, (first,))

        def test_inference_mode_before_and_after(self):
            with torch.inference_mode():
                self.call(), self.call()
            self.call()
            with torch.inference_mode():
                self.call(torch.randn(2, 3))
            self.assertEqual(self.graphs.recorded, 1)

        def test_threads(self):
            wrong = []

            def several():
                for _ in range(30):
                    x = torch.randn(2, 3)
                    with torch.no_grad():
                        if not torch.allclose(program(x, self.y)[0], answer(x, self.y, program.inner.w), atol=1e-5):
                            wrong.append(x)
            threads = [threading.Thread(target=several) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            self.assertEqual(wrong, [])

        def test_copies_have_recordings_of_their_own(self):
            self.call(), self.call()
            other = copy.deepcopy(program)
            with torch.no_grad():
                other.inner.w.mul_(2)
                torch.testing.assert_close(other(self.x, self.y)[0], answer(self.x, self.y, other.inner.w))
            self.assertFalse(other.replays())
            self.call()

        def test_arguments_that_are_refused(self):
            for arguments, kind in (((self.x,), TypeError), ((self.x, 3), ValueError), ((self.x[:1], self.y), ValueError), (([self.x], self.y), (TypeError, ValueError))):
                with self.assertRaises(kind):
                    program(*arguments)

        def test_steps_on_the_cpu_are_timed(self):
            spent = program.timed(False, self.x, self.y)
            self.assertEqual(sorted(spent), ["0", "1", "2"])
            self.assertTrue(all(ns > 0 for ns in spent.values()))

    tests = unittest.defaultTestLoader.loadTestsFromTestCase(RecordingTest)
    sys.exit(0 if tests.countTestCases() > 0 and unittest.TextTestRunner().run(tests).wasSuccessful() else 1)


if __name__ == "__main__":
    if os.environ.get("HONE_RECORDING_TEST") == "1":
        main()
    python = python_with_torch()
    if python is None:
        sys.exit(77)
    sys.exit(subprocess.run([python, __file__], env={**os.environ, "HONE_RECORDING_TEST": "1"}).returncode)
