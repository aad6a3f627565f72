#!/usr/bin/env python3
"""torch.compile(model, backend="hone") with the real program. Runs by a Python with torch: $HONE_PYTHON, hone's own virtual
environment, the project's; 77 where there is none.

    torch_test.py --hone PROGRAM CASE
"""
import argparse
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGET = "12s"


def python_with_torch():
    home = os.environ.get("HONE_HOME") or os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "hone")
    for place in (os.environ.get("HONE_PYTHON"), f"{home}/venv/bin/python", f"{ROOT}/.venv/bin/python"):
        if place and os.path.exists(place) and subprocess.run([place, "-c", "import torch"], capture_output=True).returncode == 0:
            return place
    return None


def cases():
    import torch
    import torch.utils.checkpoint
    from torch import nn
    from torch.nn import functional as F

    import hone_torch

    class Norm(nn.Module):
        """Seven steps of PyTorch's, one kernel of hone's: a whole that is faster by far."""

        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.rand(512) + 0.5)
            self.register_buffer("shift", torch.randn(512))

        def forward(self, x):
            y = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.scale + self.shift
            return F.gelu(y, approximate="tanh") * torch.sigmoid(y) + x

    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.last = nn.Linear(64, 128), nn.BatchNorm1d(128), nn.Linear(128, 64)

        def forward(self, x):
            return x + self.last(F.gelu(self.norm(self.first(x))))

    def compiled(module, **options):
        torch._dynamo.reset()
        return torch.compile(module, backend=hone_torch.backend, options={"nested": "eager", "when": "now", "budget": BUDGET, **options})

    def near(found, wanted, bound=1e-5):
        assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.shape, wanted.shape)
        off = (found - wanted).abs().max().item() if found.numel() else 0.0
        assert off <= bound * max(1.0, wanted.abs().max().item() if wanted.numel() else 0.0), off

    def says(wrong, message, kinds):
        try:
            wrong()
        except kinds as error:
            assert message in str(error), error
        else:
            raise AssertionError(f"nothing is said where it should be: {message}")

    def optimize(file, *options):
        ended = subprocess.run([os.environ["HONE"], "optimize", str(file), "--budget", "5s", *options], env={**os.environ, "HONE_PYTHON": sys.executable},
                               capture_output=True, text=True)
        assert ended.returncode in (0, 1), ended.stderr

    def inference():
        module, x = Norm(), torch.randn(512, 512)
        fast = compiled(module, budget="6s")
        with torch.no_grad():
            near(fast(x), module(x))
            report = hone_torch.report(module)
            assert report.used, str(report)
            assert "FASTER" in str(report), str(report)
            module.scale.mul_(3)
            near(fast(x), module(x))
            module.shift = torch.randn(512)
            near(fast(x), module(x))
            again = compiled(module, when="never")
            near(again(x), module(x))
            assert hone_torch.report(module).graphs[-1]["state"] == "done"
            assert hone_torch.report(module).used[-1:] == report.used[-1:]

    def gradients():
        module, x = Norm(), torch.randn(512, 512)
        fast = compiled(module, budget="6s")
        with torch.no_grad():
            near(fast(x), module(x))
            near(fast(x.t()), module(x.t()))
        module(x).sum().backward()
        gradient, module.scale.grad = module.scale.grad, None
        fast(x).sum().backward()
        near(module.scale.grad, gradient, 1e-4)

    def nested():
        """Kernels as operators in a graph of inductor's."""
        module, x = Norm(), torch.randn(512, 512)
        fast = compiled(module, nested="inductor")
        with torch.no_grad():
            near(fast(x), module(x))
            near(fast(x), module(x))
        assert hone_torch.report(module).graphs[0]["state"] == "done", str(hone_torch.report(module))

    def training():
        import copy
        for nested in ("eager", "inductor"):
            module, x = Layers().train(), torch.randn(32, 64)
            other = copy.deepcopy(module)
            fast = compiled(module, nested=nested)
            for _ in range(3):
                for m, run in ((module, fast), (other, other)):
                    m.zero_grad()
                    run(x).square().sum().backward()
                    with torch.no_grad():
                        for p in m.parameters():
                            p -= 1e-4 * p.grad
            for a, b in zip(module.state_dict().values(), other.state_dict().values()):
                near(a.double(), b.double(), 1e-4)
            report = hone_torch.report(module)
            assert report.graphs[0]["kind"] == "forward" and report.graphs[0]["state"] == "done", str(report)

        # Pieces whose sizes are values.
        def pieces(x, sizes):
            return torch.ops.aten.split_with_sizes(x * 2, sizes.tolist())
        x, sizes = torch.randn(32, requires_grad=True), torch.tensor((7, 16, 9))
        with torch._dynamo.config.patch(capture_scalar_outputs=True):
            for found, wanted in zip(compiled(pieces, nested="aot_eager", when="never")(x, sizes), pieces(x, sizes)):
                near(found, wanted)

    def shapes():
        module = Norm()
        fast = compiled(module, budget="6s")
        with torch.no_grad():
            for rows in (8, 16, 33, 16, 1):
                x = torch.randn(rows, 512)
                near(fast(x), module(x))
        assert all(graph["state"] == "done" for graph in hone_torch.report(module).graphs), str(hone_torch.report(module))

    def models():
        """Model blocks: answers, gradients and buffers as without hone."""
        import copy
        for file in sorted([*ROOT.glob("examples/programs/*.py"), *(ROOT / f"test/cases/program/{name}.py" for name in ("gpt", "llama", "residual", "mlp"))]):
            scope = {"__name__": file.stem}
            exec(file.read_text(), scope)
            torch.manual_seed(0)
            module = scope["Model"](*(scope["get_init_inputs"]() if "get_init_inputs" in scope else [])).eval()
            inputs = scope["get_inputs"]()

            def results(run, inputs=inputs):
                found = run(*inputs)
                return found if isinstance(found, tuple) else (found,)
            with torch.no_grad():
                fast = compiled(module)
                for found, wanted in zip(results(fast), results(module)):
                    near(found, wanted, 1e-4)
                for found, wanted in zip(results(fast), results(module)):
                    near(found, wanted, 1e-4)
                print(file.stem, "\n".join(str(hone_torch.report(module)).splitlines()[:4]))
            for layer in module.modules():
                layer.training = not isinstance(layer, nn.Dropout)
            other = copy.deepcopy(module)
            fast = compiled(module)
            for m, run in ((module, fast), (other, other)):
                results(run)[0].square().mean().backward()
            for (name, found), wanted in zip(module.named_parameters(), other.parameters()):
                assert (found.grad is None) == (wanted.grad is None), name
                if wanted.grad is not None:
                    near(found.grad, wanted.grad, 1e-3)
            for found, wanted in zip(module.buffers(), other.buffers()):
                near(found.double(), wanted.double(), 1e-4)
            assert all(graph["state"] == "done" for graph in hone_torch.report(module).graphs), str(hone_torch.report(module))

    def dynamic():
        """Twelve models with batches of several sizes: answers and gradients as without hone, and no more graphs than PyTorch's own backend has."""
        import copy
        import torch.utils._pytree as pytree
        from torch._dynamo.utils import counters
        sys.path.insert(0, str(ROOT / "test/cases/program"))
        import brought
        import brought_later
        tensors = lambda tree: [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
        for name in "bert vit convnext efficientnet unet mamba swin dit conformer deepfm dlrm wavenet".split():
            torch.manual_seed(0)
            module, inputs = getattr(brought if hasattr(brought, name) else brought_later, name)()
            module, count = module.eval(), inputs[0].shape[0]
            other, graphs = copy.deepcopy(module), {}
            for nested in ("hone", "aot_eager"):
                for gradient in (False, True):
                    fast = compiled(module, when="never") if nested == "hone" else torch.compile(module, backend=nested)
                    torch._dynamo.reset()
                    counters.clear()
                    for rows in (count, count + 1, 2 * count + 1):
                        given = [tensor[torch.arange(rows) % count] for tensor in inputs]
                        with torch.set_grad_enabled(gradient):
                            found, wanted = tensors(fast(*given)), tensors(other(*given))
                        for a, b in zip(found, wanted, strict=True):
                            near(a.detach(), b.detach(), 1e-4)
                        if gradient:
                            for results, owner in ((found, module), (wanted, other)):
                                owner.zero_grad()
                                sum(result.square().mean() for result in results if result.requires_grad).backward()
                            for a, b in zip(module.parameters(), other.parameters()):
                                if b.grad is not None:
                                    near(a.grad, b.grad, 1e-4)
                    graphs[nested, gradient] = counters["stats"]["unique_graphs"]
                    states = [(graph["state"], graph["why"]) for graph in hone_torch.report(module).graphs]
                    assert nested != "hone" or (states and all(state == "done" for state, _ in states)), (name, states)
            print(name, graphs, flush=True)
            assert all(graphs["hone", gradient] <= graphs["aot_eager", gradient] for gradient in (False, True)), (name, graphs)

    def later():
        module, x = Norm(), torch.randn(512, 512)
        fast = compiled(module, when="later")
        with torch.no_grad():
            wanted, until = module(x), time.monotonic() + 300
            while True:
                near(fast(x), wanted)
                graph, = hone_torch.report(module).graphs
                if graph["state"] != "searching" or time.monotonic() > until:
                    break
                time.sleep(0.2)
        assert graph["state"] == "done" and hone_torch.report(module).used, str(hone_torch.report(module))

    def off():
        os.environ["HONE_TORCH"] = "off"
        module, x = Norm(), torch.randn(8, 512)
        near(compiled(module)(x), module(x))
        assert not hone_torch.report(module).graphs
        assert "has seen no graph" in str(hone_torch.report(module))

    def autocast():
        module, x = Layers().eval(), torch.randn(32, 64)
        fast = compiled(module)
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            near(fast(x), module(x), 2e-2)
            near(fast(x), module(x), 2e-2)

    def aliases():
        """A copy stays a copy."""
        def copied(x, y):
            return x.clone(), (y + 1).view(-1)
        x, y = torch.randn(4, 4), torch.randn(4, 4)
        with torch.no_grad():
            found, other = compiled(copied, when="never")(x, y)
            found.add_(1)
            near(found, x + 1)
            near(other, (y + 1).view(-1))

        def counted(x, total):
            total.add_(x.sum(0))
            x.mul_(2)
            return torch.relu(x) + total
        with torch.no_grad():
            fast = compiled(counted, budget="6s")
            mine, theirs = [x.clone(), torch.zeros(4)], [x.clone(), torch.zeros(4)]
            for _ in range(3):
                near(fast(*mine), counted(*theirs))
                for found, wanted in zip(mine, theirs):
                    near(found, wanted)

        def windows(x):
            y = torch.tanh(x * x + 1) * x
            z = torch.polar(y.abs(), x)
            return y[1:], y, y.t(), y.view(-1)[2:5], x[0], z, z.real, z.imag[1:]

        # Whatever hone is faster at: kernels run, and results that are views of what is computed stay views of each other.
        times = hone_torch._session.Session.times
        hone_torch._session.Session.times = lambda self, request: {"ours": [1.0] * 40, "theirs": [2.0 + i % 2 for i in range(40)]}
        try:
            with torch.no_grad():
                for nested in ("eager", "inductor"):
                    x = torch.randn(64, 512)
                    fast = compiled(windows, nested=nested)
                    found, wanted = fast(x), windows(x)
                    near(fast(x)[3], wanted[3])
                    report = hone_torch._report.Report([max(hone_torch._report.GRAPHS, key=lambda graph: graph.number).describe()])
                    assert report.used, str(report)
                    for results in (found, wanted):
                        for at, result in enumerate(results):
                            result.mul_(at + 2)
                    for mine, theirs in zip(found, wanted):
                        near(mine, theirs)
                        assert mine.stride() == theirs.stride()
        finally:
            hone_torch._session.Session.times = times

    def refused():
        """What no kernel can do: the nested backend's answer, and the reason in the report."""
        class Subclass(torch.Tensor):
            pass

        def report_of(function, *arguments):
            before = {id(graph) for graph in hone_torch._report.GRAPHS}
            with torch.no_grad():
                torch.manual_seed(0)
                wanted = function(*arguments)
                torch.manual_seed(0)
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    found = compiled(function, when="never")(*arguments)
            if isinstance(wanted, torch.Tensor):
                assert found.shape == wanted.shape
                if wanted.device.type == "cpu":
                    near(torch.Tensor(found), torch.Tensor(wanted))
            graphs = [graph.describe() for graph in hone_torch._report.GRAPHS if id(graph) not in before]
            for graph in graphs:  # it is said once, in the same words
                assert (graph["state"] == "refused") == any(graph["why"] and graph["why"] in str(w.message) for w in warned), (graph, [str(w.message) for w in warned])
                assert "hone has ended" not in graph["why"], graph
            return graphs

        table = [
            ("random numbers", lambda x: x + torch.rand_like(x), (torch.randn(4, 4),), "draws random numbers"),
            ("dropout", lambda x: F.dropout(x, 0.5, True), (torch.randn(4, 4),), "draws random numbers"),
            ("a subclass", lambda x: x + 1, (torch.randn(4, 4).as_subclass(Subclass),), "hone takes plain dense tensors"),
            ("a sparse tensor", lambda x, y: torch.sparse.mm(x, y), (torch.eye(4).to_sparse(), torch.randn(4, 4)), None),
            ("shapes that hang on values", lambda x: x[x > 0].sum(), (torch.randn(4, 4),), None),
            ("several devices", lambda x, y: (x + 1, y * 2), (torch.randn(4), torch.empty(3, device="meta")), "tensors lie on several devices: cpu, meta"),
            ("another device", lambda x: x + 1, (torch.empty(3, device="meta"),), "hone has no kernels for meta"),
            ("no elements", lambda x: x + 1, (torch.randn(0, 4),), None),
            ("not dense", lambda x: x * 2 + 1, (torch.randn(8, 8)[::2, 1::3],), None),
            ("a number", lambda x, n: x * n + 1, (torch.randn(4), 3), None),
            ("complex numbers", lambda x: (x * 1j).abs(), (torch.randn(4),), None),
        ]
        for what, function, arguments, why in table:
            graphs = report_of(function, *arguments)
            assert why is None or any(graph["state"] == "refused" and why in graph["why"] for graph in graphs), (what, graphs)
        # Graphs and contexts within a graph
        weight = torch.randn(4, 4)

        def slope(x):
            return torch.func.grad(lambda y: F.gelu(y @ weight).sum())(x)

        def within(x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = F.gelu(x @ weight)
            return y.float() * 2
        for function in (within, slope, lambda x: torch.utils.checkpoint.checkpoint(lambda y: F.gelu(y @ weight), x, use_reentrant=False)):
            graphs = report_of(function, torch.randn(4, 4))
            assert graphs and all(graph["state"] == "done" for graph in graphs), graphs
        # What holds for the whole process is set by the program's calls alone.
        seen = []

        @torch._dynamo.allow_in_graph
        def check():
            seen.append(torch.are_deterministic_algorithms_enabled())

        def setting(x):
            check()
            torch.use_deterministic_algorithms(False)
            return x + 1
        try:
            fast = compiled(setting, when="never")
            for _ in range(2):
                torch.use_deterministic_algorithms(True)
                seen.clear()
                fast(torch.randn(4))
                assert set(seen) == {True}, seen  # Dynamo calls it too
        finally:
            torch.use_deterministic_algorithms(False)
        # A program whose graph is another than what eager runs, and what is not seen before it runs.
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "other.py"
            for body, why in (("return x * 2 if torch.compiler.is_exporting() else x * 3", "the program cut into steps is not what it was, even without kernels: result 0: off by up to"),
                              ("return x[x > 0]", "has a shape that depends on the values of tensors")):
                file.write_text(f"import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        {body}\ndef get_inputs():\n    return [torch.randn(4, 8)]\n")
                ended = subprocess.run([os.environ["HONE"], "optimize", str(file), "--budget", "5s"], env={**os.environ, "HONE_PYTHON": sys.executable}, capture_output=True, text=True)
                assert ended.returncode == 2 and why in ended.stderr and "hint:" in ended.stderr, ended
        says(lambda: compiled(lambda x: x + 1, nested="eager", budgets="3s")(torch.randn(3)), "hone has no option budgets", Exception)

    def package():
        """What hone optimize exports: saved, copied, given what it was not made for."""
        import copy
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "block.py"
            file.write_text("import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = torch.nn.Linear(8, 16)\n"
                            "    def forward(self, x):\n        return torch.relu(self.l(x)) * 2\ndef get_inputs():\n    return [torch.randn(4, 8)]\n")
            optimize(file, "--export", folder)
            sys.path.insert(0, folder)
            import block_hone
            scope = {}
            exec(file.read_text(), scope)
            module, fast, x = scope["Model"](), block_hone.Module(), torch.randn(4, 8)
            fast.load_state_dict(module.state_dict())
            with torch.no_grad():
                near(fast(x), module(x))
                strided = torch.randn(8, 8)[::2]
                near(fast(strided), module(strided))
                other = copy.deepcopy(fast)
                other.l.weight.mul_(2)
                near(fast(x), module(x))
                torch.save(fast, file.with_suffix(".pt"))
                torch.save(fast.state_dict(), file.with_suffix(".state.pt"))
                for again in (torch.load(file.with_suffix(".pt"), weights_only=False), scope["Model"]()):
                    again.load_state_dict(torch.load(file.with_suffix(".state.pt")))
                    near(again(x), module(x))
                near(torch.load(file.with_suffix(".pt"), weights_only=False)(x), module(x))
            table = [
                (lambda: fast.load_state_dict({"l.weight": torch.zeros(16, 8)}), "Missing key(s) in state_dict: \"l.bias\""),
                (lambda: fast.load_state_dict({**module.state_dict(), "m.bias": torch.zeros(1)}), "Unexpected key(s) in state_dict: \"m.bias\""),
                (lambda: fast.load_state_dict({"l.weight": torch.zeros(8, 8), "l.bias": torch.zeros(16)}), "size mismatch for l.weight"),
                (lambda: fast(torch.randn(5, 8)), "x is (5, 8) of torch.float32; the program was made for (4, 8) of torch.float32"),
                (lambda: fast(torch.randn(0, 8)), "x is (0, 8) of torch.float32"),
                (lambda: fast(x.double()), "x is (4, 8) of torch.float64"),
                (lambda: fast(x, x), "the arguments are not those that the program was captured with"),
            ]
            for wrong, message in table:
                says(wrong, message, (RuntimeError, ValueError, TypeError))

    def kinds():
        """Results that are named tuples, those of PyTorch's operators too, and an argument that is none; in a process that knows nothing of the file."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "answer.py"
            file.write_text("import typing, torch\nclass Answer(typing.NamedTuple):\n    best: typing.Any\n    scaled: torch.Tensor\n    none: typing.Any\n"
                            "class Model(torch.nn.Module):\n    def forward(self, x, mask=None, *, scale=None):\n        return {'a': Answer(torch.max(x, 1), torch.tanh(x) * scale, None)}\n"
                            "def get_inputs():\n    return {'x': torch.randn(4, 8), 'mask': None, 'scale': torch.rand(8)}\n")
            optimize(file, "--opponents", "none", "--export", folder)
            sys.path.insert(0, folder)
            import answer_hone
            fast, x, scale = answer_hone.Module(), torch.randn(4, 8), torch.rand(8)
            found = fast(x=x, mask=None, scale=scale)["a"]
            assert type(found).__name__ == "Answer" and found._fields == ("best", "scaled", "none") and found.none is None, found
            assert isinstance(found.best, torch.return_types.max), found.best
            near(found.best.values, x.max(1).values)
            near(found.scaled, torch.tanh(x) * scale)

    def model_new():
        """One file with ModelNew, as KernelBench takes it: weights of the same seed, and the original wherever it was not captured."""
        with tempfile.TemporaryDirectory() as folder:
            file, new = pathlib.Path(folder) / "block.py", pathlib.Path(folder) / "model_new.py"
            file.write_text("import torch\nclass Model(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.l, self.n = torch.nn.Linear(8, width), torch.nn.BatchNorm1d(width)\n"
                            "    def forward(self, x):\n        return torch.relu(self.n(self.l(x)) - 0.5)\ndef get_inputs():\n    return [torch.rand(32, 8)]\ndef get_init_inputs():\n    return [16]\n")
            optimize(file, "--train", "--opponents", "none", "--export", str(new), "--as", "kernelbench")
            os.environ["XDG_CACHE_HOME"] = folder
            old_scope, new_scope = {}, {"__file__": str(new)}
            exec(file.read_text(), old_scope)
            exec(new.read_text(), new_scope)
            torch.manual_seed(7)
            old = old_scope["Model"](16)
            torch.manual_seed(7)
            fast = new_scope["ModelNew"](16)
            assert sorted(old.state_dict()) == sorted(fast.state_dict())
            near(fast.state_dict()["l.weight"], old.state_dict()["l.weight"], 0)
            x = torch.rand(32, 8)
            with torch.no_grad():
                for given in (x, torch.rand(5, 8), x.t().contiguous().t()):
                    near(fast(given), old(given))
                for name, value in old.state_dict().items():
                    near(fast.state_dict()[name].double(), value.double())
                near(fast.eval()(x), old.eval()(x))
                fast.load_state_dict({name: value * 2 for name, value in old.state_dict().items()})
                old.load_state_dict(fast.state_dict())
                near(fast.train()(x), old.train()(x))
            fast(x).sum().backward()
            old(x).sum().backward()
            near(dict(fast.named_parameters())["l.weight"].grad, old.l.weight.grad, 1e-4)
            near(fast.double()(x.double()), old.double()(x.double()))
            says(lambda: new_scope["ModelNew"](12), "other arguments", ValueError)

    def resume():
        """hone optimize of a program, killed in its second search, then interrupted: the same command goes on each time."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "pair.py"
            file.write_text("import torch\ndef pair():\n    s = torch.nn.Sequential(torch.nn.Linear(96, 160), torch.nn.LayerNorm(160), torch.nn.Linear(160, 96), torch.nn.Softmax(-1))\n"
                            "    return s, [torch.randn(64, 96)]\n")
            command = [os.environ["HONE"], "optimize", f"{file}:pair", "--budget", "16s", "--opponents", "compile"]
            environment = {**os.environ, "HONE_PYTHON": sys.executable}

            def runs():
                listed = subprocess.run([os.environ["HONE"], "runs", "--json"], env=environment, capture_output=True, text=True)
                if "older schema 0" in listed.stderr:  # it is just being made
                    return {}
                assert listed.returncode == 0, listed.stderr
                return {run["run"]: run["status"] for run in json.loads(listed.stdout)["runs"]}

            def until(process, seen, stop):
                while process.poll() is None and not seen(runs()):
                    time.sleep(0.2)
                assert process.poll() is None, process.communicate()
                time.sleep(1)
                process.send_signal(stop)
                return process.communicate()[0]
            before = runs()
            new = lambda: {run: status for run, status in runs().items() if run not in before}
            until(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True), lambda _: len(new()) == 2, signal.SIGKILL)
            assert sorted(new().values()) == ["finished", "killed"], new()
            begun = set(new())
            said = until(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True),
                         lambda all: "running" in all.values(), signal.SIGINT)
            assert set(new()) == begun, new()
            assert "going on with the search" in said and "torch.compile: not met: interrupted" in said and "the same command goes on" in said, said
            ended = subprocess.run(command, env=environment, capture_output=True, text=True)
            assert ended.returncode in (0, 1) and "going on with the search" in ended.stdout and "the same command" not in ended.stdout, ended.stdout + ended.stderr
            assert set(new()) == begun and set(new().values()) == {"finished"}, new()

    def apart():
        """Operators that PyTorch has no decomposition of are what it computes, and steps that tasks say."""
        from hone_torch import _session
        aten, (x, y, z) = torch.ops.aten, torch.randn(3, 2, 5, 16)
        module = nn.MultiheadAttention(16, 4, batch_first=True).eval()
        weights = module.in_proj_weight, module.in_proj_bias, module.out_proj.weight, module.out_proj.bias
        ends, before, some = torch.zeros(2, 5, dtype=torch.bool), torch.ones(5, 5, dtype=torch.bool).triu(1), torch.rand(2, 4, 5, 5) > 0.5
        ends[1, 3:] = True
        some[1, 2, 3] = True  # no key is left
        with torch.no_grad():
            for query, key, value in ((x, x, x), (x, y, y), (x, y, z)):
                for mask, kind in ((None, None), (before, 0), (ends, 1), (ends.float().masked_fill(ends, -torch.inf), 1), (some, 2)):
                    for need, average in ((True, True), (True, False), (False, False)):
                        given = query, key, value, 16, 4, *weights, mask, need, average, kind
                        wanted, found = aten._native_multi_head_attention(*given), _session.native_attention(*given)
                        assert torch.allclose(found[0], wanted[0], 1e-5, 1e-5, equal_nan=True), (kind, need, average)
                        assert not need or torch.allclose(found[1], wanted[1], 1e-5, 1e-6, equal_nan=True), (kind, average)
            for options in ({}, {"activation": "gelu"}, {"norm_first": True}):
                for mask in (None, ends):
                    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, **options).eval()
                    fast = compiled(layer, when="never")
                    near(fast(x, src_key_padding_mask=mask), layer(x, src_key_padding_mask=mask))
                    report = hone_torch.report(layer)
                    assert len(report.graphs[0]["tasks"]) >= 5 and not report.graphs[0]["pytorch"], str(report)

        with torch.no_grad():
            assert torch.allclose(_session.bilinear(x[0], y[0, ..., :7], torch.arange(3.0 * 16 * 7).view(3, 16, 7) / 99, torch.ones(3)),
                                  F.bilinear(x[0], y[0, ..., :7].contiguous(), torch.arange(3.0 * 16 * 7).view(3, 16, 7) / 99, torch.ones(3)), 1e-4, 1e-4)

        # PyTorch runs a triplet's loss piece by piece, which may be many tasks, and a sampled grid by one kernel.
        class Two(nn.Module):
            def forward(self, a, b, c, grid):
                return F.triplet_margin_loss(a, b, c), F.grid_sample(a[None, None], grid, "bicubic")
        program = torch.export.export(Two(), (*(torch.randn(4, 5) for _ in range(3)), torch.randn(1, 3, 2, 2)), strict=False).run_decompositions({})
        kinds = {str(node.target): _session.Apart([], []).composite(node) for node in program.graph.nodes if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)}
        assert kinds["aten.triplet_margin_loss.default"] and not kinds["aten.grid_sampler.default"], kinds

        # What such answers are judged by: a complex one by its parts, an infinity by its sign.
        good = torch.tensor([1 + 1j, 2 - 1j], dtype=torch.complex128)
        assert _session.compared(good.to(torch.complex64), good)["max"] < 1e-6
        assert abs(_session.compared((good + 0.5j).to(torch.complex64), good)["max"] - 0.5) < 1e-6
        truth = torch.tensor([torch.inf, -torch.inf, torch.nan, 1.0], dtype=torch.float64)
        assert _session.compared(truth.float(), truth)["broken"] == 0
        for wrong in ([-torch.inf, -torch.inf, torch.nan, 1], [torch.inf, torch.nan, torch.nan, 1], [torch.inf, -torch.inf, 0, 1], [torch.inf, -torch.inf, torch.inf, 1]):
            assert _session.compared(torch.tensor(wrong), truth)["broken"] == 1, wrong

    def pairs():
        """Complex numbers are pairs of real ones; what has no such way stays what it is."""
        from hone_torch import _session

        class All(nn.Module):
            def forward(self, z, x, w):
                y = z * z.conj() + 1j * x
                spectrum = torch.fft.rfft(x) * w * 2 - w
                both = torch.cat([z, y], -1).reshape(2, -1, 4).permute(1, 0, 2).transpose(-1, -2)
                return (y, y.real, (y * 0.5).imag, z.abs(), z.angle(), -z, torch.fft.irfft(spectrum, n=4), z @ z.T, torch.stack([z, y], -1)[..., 1], (z / 3).exp(), torch.complex(x, x) * x,
                        z.conj(), torch.polar(x.abs(), x) + 1, 2 - z, z - 2, x - z, x + z, z.mT[None].select(0, -1), z.unsqueeze(-1).squeeze(-1)[1:, ::2], z[torch.tensor([2, 0])], z / z,
                        z.sum(), both, z[:, None].expand(-1, 2, -1) * (1 - 2j), z.repeat(2, 1), torch.view_as_complex(torch.view_as_real(z) * 2), z.index_select(1, torch.tensor([3, 1])))
        for wide in (torch.complex64, torch.complex128):
            given = torch.randn(3, 4, dtype=wide), torch.randn(3, 4, dtype=wide.to_real()), torch.randn(3, 3, dtype=wide)
            program = torch.export.export(All(), given, strict=False).run_decompositions({})
            said = _session.Pairs(program.graph).run()
            program.graph.lint()
            assert len(said) > 20
            constants = [value.clone() for value in program.constants.values()]
            found = torch.fx.Interpreter(torch.fx.GraphModule(program.graph_module, program.graph)).run(*constants, *given)
            for at, (mine, theirs) in enumerate(zip(found, All()(*given), strict=True)):
                assert mine.dtype == theirs.dtype and mine.shape == theirs.shape, at
                assert torch.allclose(mine.resolve_conj(), theirs.resolve_conj(), 1e-5, 1e-5), at

        class Rotary(nn.Module):
            def __init__(self):
                super().__init__()
                angles = torch.outer(torch.arange(16.0), 10000 ** (-torch.arange(0, 8, 2) / 8))
                self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles), persistent=False)

            def forward(self, x):
                z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
                return torch.view_as_real(z * self.turns[:x.shape[1], None]).flatten(-2).type_as(x)
        module, x = Rotary(), torch.randn(2, 6, 4, 8)
        fast = compiled(module, when="never")
        with torch.no_grad():
            near(fast(x), module(x))
        report = hone_torch.report(module)
        assert len(report.graphs[0]["tasks"]) == 1 and not report.graphs[0]["pytorch"], str(report)

    def threads():
        import threading
        module, x = Norm(), torch.randn(64, 512)
        fast, wanted, wrong = compiled(module), module(x).detach(), []
        with torch.no_grad():
            near(fast(x), wanted)  # PyTorch traces in one thread at a time, with none beside it

        def run():
            try:
                with torch.no_grad():
                    for _ in range(2000):
                        near(fast(x), wanted, 1e-4)
            except BaseException as error:
                traceback.print_exc()
                wrong.append(error)
        runs = [threading.Thread(target=run) for _ in range(3)]
        for one in runs:
            one.start()
        for one in runs:
            one.join()
        assert not wrong, wrong

    def saved():
        """state_dict and torch.save round trips."""
        module, x = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)), torch.randn(16, 32)
        fast, other = compiled(module, when="never"), nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
        with torch.no_grad(), tempfile.NamedTemporaryFile() as file:
            wanted = fast(x)
            torch.save(fast.state_dict(), file.name)
            torch.compile(other, backend=hone_torch.backend).load_state_dict(torch.load(file.name))
            near(other(x), wanted)
            torch.save(module, file.name)
            near(torch.load(file.name, weights_only=False)(x), wanted)

    return {name: function for name, function in locals().items() if callable(function) and function.__name__ in
            ("inference", "gradients", "nested", "training", "shapes", "models", "dynamic", "later", "off", "autocast", "aliases", "refused", "package", "kinds", "model_new", "resume", "apart", "pairs", "threads", "saved")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("case")
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None or "hone_torch" not in os.environ.get("HONE_TEST_INSIDE", ""):
        python = python_with_torch()
        if python is None:
            print("there is no Python with torch")
            return 77
        with tempfile.TemporaryDirectory() as folder:
            home = os.environ.get("HONE_TEST_HOME", folder)  # a search's results can be kept between runs by hand
            environment = {**os.environ, "HONE_TEST_INSIDE": "hone_torch", "HONE": arguments.hone, "HONE_HOME": home, "PYTHONPATH": str(ROOT / "python"),
                           "PYTHONDONTWRITEBYTECODE": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
            return subprocess.run([python, __file__, "--hone", arguments.hone, arguments.case], env=environment).returncode
    import torch
    torch.manual_seed(0)
    cases()[arguments.case]()
    print(arguments.case, "holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
