"""The backend: graphs that Dynamo and AOTAutograd hand over, run by the nested backend until hone says otherwise."""
from __future__ import annotations

import contextlib
import itertools
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import lookup_backend
from torch._dynamo.convert_frame import compile_lock
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from ._link import Link
from ._report import GRAPHS
from ._session import Session, Subject, Wrong, first_lines, where

Run = Callable[..., Any]
OPTIONS = {"nested": "inductor", "budget": "60s", "when": "later"}
MOST_SHAPES = 8  # of one graph with dynamic ones: as many as Dynamo compiles a function anew
NUMBERS = itertools.count()
DATA_DEPENDENT = (torch._subclasses.fake_tensor.DataDependentOutputException, torch._subclasses.fake_tensor.DynamicOutputShapeException,
                  torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """While something is traced: what other threads compile waits, and what they call of compiled functions is not taken for a part of it."""
    with compile_lock:
        before, torch.compiler._is_compiling_flag = torch.compiler._is_compiling_flag, True
        try:
            yield
        finally:
            torch.compiler._is_compiling_flag = before


def backend(module: torch.fx.GraphModule, inputs: Sequence[Any], *, options: dict[str, str] | None = None, **_: Any) -> Run:
    """torch.compile(model, backend="hone", options={"nested": "inductor", "budget": "60s", "when": "now", "later" or "never"})"""
    unknown = set(options or {}) - set(OPTIONS)
    if unknown:
        raise ValueError(f"hone has no option {', '.join(sorted(unknown))}: it has {', '.join(OPTIONS)}")
    chosen = {**OPTIONS, **(options or {})}
    nested = lookup_backend(chosen["nested"])
    if os.environ.get("HONE_TORCH") == "off":
        return nested(module, inputs)
    weights = static_tensors(module, inputs)
    odd = next((value for value in inputs if isinstance(value, torch.Tensor) and not is_plain(value)), None)
    why = f"an argument is a {type(odd).__name__}: hone takes plain dense tensors" if odd is not None else acts(module)
    if why:
        graph = Graph(module, "inference", weights, chosen, nested(module, inputs))
        graph.refuse(why)
        return graph
    if not wants_gradient(inputs) and not autocasts(inputs) and not nests(module):
        kept = copied(module)  # nested backends change what they are given
        return graph_for(kept, "inference", weights, chosen, nested(module, inputs))

    def compiler(kind: str) -> Callable[[torch.fx.GraphModule, Sequence[Any]], Run]:
        def compiled(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Run:
            return boxed(graph_for(graph, kind, weights, chosen, Lazy(graph, nested)))
        return compiled

    def backward(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Run:
        return boxed(Lazy(graph, nested))
    whole = aot_autograd(fw_compiler=compiler("forward"), bw_compiler=backward, inference_compiler=compiler("inference"), decompositions={},
                         keep_inference_input_mutations=True)
    return whole(module, inputs)


HARMLESS = ("set_grad_enabled", "inference_mode", "autocast", "assert", "check", "constrain", "vmap", "grad_", "dual_level", "lazy_load", "saved_tensors_hooks")


def acts(module: torch.fx.GraphModule) -> str:
    """What the graph does beside computing on tensors, such as setting what holds for the whole process: hone calls a graph more often than the
    program does, to follow and to check it. Empty where it is nothing."""
    for node in module.graph.nodes:
        value = node.meta.get("example_value", node.meta.get("val"))
        if node.op != "call_function" or node.users or isinstance(value, torch.Tensor) or isinstance(node.target, torch._ops.OpOverload):
            continue
        name = getattr(node.target, "__name__", str(node.target))
        own = (getattr(node.target, "__module__", None) or "torch").split(".")[0] in ("torch", "_operator", "builtins", "math")
        if not own or not (any(word in name for word in HARMLESS) or name in ("setitem", "getitem")):
            return f"it calls {name}, which does something beside computing"
    return ""


def nests(module: torch.fx.GraphModule) -> bool:
    """Whether calls of other graphs or contexts are in it (checkpoints, autocast or torch.func within forward()): AOTAutograd writes down what they come to."""
    return any(isinstance(node.target, torch._ops.HigherOrderOperator) or getattr(node.target, "__name__", "") in ("_enter_autocast", "_grad_increment_nesting", "_vmap_increment_nesting")
               for node in module.graph.nodes if node.op == "call_function")


def is_plain(tensor: torch.Tensor) -> bool:
    known = type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) or isinstance(tensor, torch._subclasses.FakeTensor)
    return known and not is_traceable_wrapper_subclass(tensor) and tensor.layout == torch.strided and not tensor.is_quantized


def wants_gradient(inputs: Sequence[Any]) -> bool:
    return torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)


def autocasts(inputs: Sequence[Any]) -> bool:
    types = {value.device.type for value in inputs if isinstance(value, torch.Tensor)}
    return any(torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind) for kind in types)


def device_of(arguments: Sequence[Any]) -> str:
    """As hone calls it: "cpu", "cuda:0"."""
    devices = sorted({str(value.device) for value in arguments if isinstance(value, torch.Tensor)})
    if len(devices) > 1:
        raise Wrong(f"tensors lie on several devices: {', '.join(devices)}")
    device = devices[0] if devices else "cpu"
    if device.split(":")[0] not in ("cpu", "cuda"):
        raise Wrong(f"hone has no kernels for {device}")
    return device


Weights = dict[int, weakref.ref[torch.Tensor]]


def static_tensors(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Weights:
    """Weights and buffers, by where they lie."""
    places = [node for node in module.graph.nodes if node.op == "placeholder"]
    static = [value for node, value in zip(places, inputs) if isinstance(value, torch.Tensor) and is_plain(value)
              and (isinstance(value, torch.nn.Parameter) or "_dynamo_static_input_type" in node.meta.get("tensor_dict", {}))]
    return {value.data_ptr(): weakref.ref(value) for value in static if not isinstance(value, torch._subclasses.FakeTensor)}


def elsewhere(function: Callable[[], Any]) -> Any:
    """In a thread of its own, which knows nothing of the dispatch modes that the caller may be in the middle of."""
    with ThreadPoolExecutor(1) as pool:
        def run() -> Any:
            with torch.no_grad():
                return function()
        return pool.submit(run).result()


def copied(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    graph = torch.fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    return torch.fx.GraphModule(module, graph)


def boxed(run: Run) -> Run:
    """As AOTAutograd calls: with one list, which it gives away."""
    def call(arguments: list[Any]) -> Any:
        given = list(arguments)
        arguments.clear()
        return run(*given)
    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def graph_for(module: torch.fx.GraphModule, kind: str, weights: Weights, options: dict[str, str], nested: Run) -> Run:
    places = [node for node in module.graph.nodes if node.op == "placeholder"]
    symbols = [i for i, node in enumerate(places) if isinstance(node.meta.get("val", node.meta.get("example_value")), torch.SymInt)]
    if not symbols:
        return Graph(module, kind, weights, options, nested)
    return Shapes(symbols, lambda: Graph(module, kind, weights, options, nested), nested)


class Lazy:
    """A graph for the nested backend, compiled when its first arguments are there; anew for each set of sizes."""

    def __init__(self, module: torch.fx.GraphModule, nested: Callable[..., Run]) -> None:
        self.module, self.nested = module, nested
        self.runs: dict[tuple[int, ...], Run] = {}
        self.lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        key = tuple(value for value in arguments if isinstance(value, int))
        run = self.runs.get(key)
        with torch.no_grad():
            if run is None:
                with self.lock:
                    run = self.runs[key] = elsewhere(lambda: self.compile(arguments))
            return run(*arguments)

    def compile(self, arguments: Sequence[Any]) -> Run:
        try:
            with compiling():
                return self.nested(copied(self.module), list(arguments))
        except DATA_DEPENDENT as error:  # followed once more, outside of Dynamo, which knows of symbols without values
            warnings.warn(f"a graph runs as it is, since its shapes depend on values: {str(error).splitlines()[0]}", RuntimeWarning, stacklevel=2)
            return self.module.forward


class Shapes:
    """A graph with dynamic shapes: what hone sees is one of its own for each set of sizes."""

    def __init__(self, symbols: list[int], make: Callable[[], Graph], nested: Run) -> None:
        self.symbols, self.make, self.nested = symbols, make, nested
        self.graphs: dict[tuple[int, ...], Graph] = {}

    def __call__(self, *arguments: Any) -> Any:
        key = tuple(arguments[i] for i in self.symbols)
        graph = self.graphs.get(key)
        if graph is None:
            if len(self.graphs) >= MOST_SHAPES:
                return self.nested(*arguments)
            graph = self.graphs[key] = self.make()
        return graph(*arguments)


class Graph(Subject):
    """One graph, all of whose tensors come as arguments, and who runs it."""

    def __init__(self, module: torch.fx.GraphModule, kind: str, weights: Weights, options: dict[str, str], nested: Run) -> None:
        self.module, self.kind, self.weights, self.options, self.nested = module, kind, weights, options, nested
        self.name, self.number = "graph", next(NUMBERS)
        self.target, self.settled, self.stage, self.why = nested, False, "not called yet", ""
        self.said: dict[str, Any] = {}
        self.changed: list[int] = []
        self.link: Link | None = None
        self.session: Session | None = None
        self.made: tuple[tuple[str, ...], Run] = ((), nested)
        self.lock = threading.Lock()
        GRAPHS.add(self)

    def __call__(self, *arguments: Any) -> Any:
        if not self.settled:
            self.advance(arguments)
        return self.target(*arguments)

    # How far hone is with it

    def advance(self, arguments: Sequence[Any]) -> None:
        if any(isinstance(value, torch._subclasses.FakeTensor) for value in arguments) or not self.lock.acquire(blocking=False):
            return
        try:
            if self.settled or (self.link is not None and not self.link.asks()):
                return
            self.arguments = (tuple(value.detach() if isinstance(value, torch.Tensor) else value for value in arguments), {})
            if self.link is None or self.session is None:
                self.device = device_of(self.arguments[0])
                self.link, self.session, self.stage = Link(self.options, torch.get_num_threads(), self.device), Session(self), "searching"
            link, session = self.link, self.session
            elsewhere(lambda: link.serve(session, self))
        except Exception as error:  # hone's trouble is never the model's
            self.refuse(str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}")
        finally:
            self.arguments = ((), {})
            if self.settled and self.link is not None:
                self.link.close()
            self.lock.release()

    def refuse(self, why: str) -> None:
        self.stage, self.why = "refused", why
        self.settle(self.nested)
        warnings.warn(f"hone leaves a graph to {self.options['nested']}: {why}", RuntimeWarning, stacklevel=2)

    def settle(self, target: Run) -> None:
        self.target, self.settled, self.session, self.made = target, True, None, ((), self.nested)
        self.exported = None

    def wait(self, _: dict[str, Any]) -> dict[str, Any]:
        return {}

    def done(self, request: dict[str, Any]) -> dict[str, Any]:
        self.said, self.stage = request["report"], "done"
        assert self.session is not None
        self.settle(self.finished(self.session, tuple(request["used"])))
        return {}

    def describe(self) -> dict[str, Any]:
        operators = sum(node.op == "call_function" or node.op == "call_method" for node in self.module.graph.nodes)
        return {"kind": self.kind, "operators": operators, "state": self.stage, "why": self.why, **self.said}

    # What a session asks of it

    def export(self) -> Any:
        try:
            with compiling():
                return torch.export.export(self.module, *self.arguments, strict=False).run_decompositions({})
        except Exception as error:
            raise Wrong(f"torch.export cannot follow the graph: {type(error).__name__}: {first_lines(error)}{where(error)}") from error

    def capture(self, constants_file: str, apart: Any = None) -> dict[str, Any]:
        with compiling():
            captured = super().capture(constants_file, apart)
        rows = [row for row in captured["nodes"] if row["op"] == "input" and row["role"] in ("user", "fixed")]
        if len(rows) != len(self.arguments[0]):
            raise Wrong("torch.export gives the graph other arguments than it has")
        changed = {output["target"] for output in captured["outputs"] if output["kind"] == "user_input_mutation"}
        self.changed = [i for i, row in enumerate(rows) if row["name"] in changed]
        for row, value in zip(rows, self.arguments[0]):
            if row["role"] == "user" and row["name"] not in changed and value.data_ptr() in self.weights:
                row["role"] = "parameter"
        for output in captured["outputs"]:
            if output["kind"] == "user_input_mutation":
                output["kind"] = "buffer_mutation"
        return {**captured, "flat": [row["name"] for row in rows], "state": {}, "aliases": {}}

    def own(self, arguments: Any) -> Any:
        values, keywords = arguments
        return tuple(value.clone() if i in self.changed else value for i, value in enumerate(values)), keywords

    def run(self, module: Any, arguments: Any) -> dict[str, torch.Tensor]:
        arguments = self.own(arguments)
        with torch.no_grad():
            results = module(*arguments[0])
        named = {f"result {number}": tensor for number, tensor in enumerate(self.tensors(results))}
        named.update({f"argument {i}": arguments[0][i] for i in self.changed})
        return named

    def fill(self, composed: Any, module: Any) -> None:
        """Its weights come with each call."""

    def redraw(self, seed: int) -> Any:
        return self.scattered(self.arguments, seed)

    def reweigh(self, seed: int) -> Any:
        return self.module

    def opponents(self, session: Session, against: str) -> tuple[Run, Run]:
        used = tuple(sorted(name for name, task in session.package.TASKS.items() if task.used))
        return (self.finished(session, used), self.nested) if against == "nested" else (session.composed, self.module)

    # The composed program, with the nested backend for what is left

    def finished(self, session: Session, used: tuple[str, ...]) -> Run:
        used = tuple(sorted(used))
        if self.made[0] != used:
            self.made = used, compose(session, self.own(self.arguments)[0], self.nested, lookup_backend(self.options["nested"]))
        return self.made[1]


def compose(session: Session, arguments: tuple[Any, ...], nested: Run, compiler: Callable[..., Run]) -> Run:
    """A run of the composed program: one graph, in which kernels are operators, compiled by the nested backend. Its results lie in
    memory as the nested backend's own do."""
    composed = session.composed
    leaves, weights = composed.parts(arguments)
    folded = composed.folded(weights)
    groups = (leaves, weights, folded)
    counts = [len(group) for group in groups]
    is_tensor = [isinstance(value, torch.Tensor) for group in groups for value in group]
    fixed = [value for group in groups for value in group]
    buffers: list[int] = []

    def flat(*tensors: torch.Tensor) -> list[Any]:
        left = iter(tensors)
        values = [next(left) if tensor else value for tensor, value in zip(is_tensor, fixed)]
        ends = list(itertools.accumulate(counts))
        own = values[counts[0]:ends[1]]
        results, changed = composed.run([*composed.STEPS], values[:ends[0]], own, values[ends[1]:])
        buffers[:] = [next(i for i, weight in enumerate(own) if weight is buffer) for buffer, _ in changed]
        return [*results, *(value for _, value in changed)]

    given = [value for value, tensor in zip(fixed, is_tensor) if tensor]
    with compiling():
        graph = make_fx(flat, tracing_mode="fake", _allow_non_fake_inputs=True)(*given)
        run = compiler(graph, given)
    wanted = list(nested(*arguments))
    layout = [value.stride() if isinstance(value, torch.Tensor) else None for value in wanted]
    within = shared(wanted, arguments)
    del wanted

    def call(*values: Any) -> list[Any]:
        with torch.no_grad():
            leaves, weights = composed.parts(values)
            parts = (*leaves, *weights, *composed.folded(weights))
            results = list(run(*(value for value, tensor in zip(parts, is_tensor) if tensor)))
            for i, value in zip(buffers, results[len(layout):]):
                weights[i].copy_(value)
            results = [value if strides is None or value.stride() == strides else torch.empty_strided(value.shape, strides, dtype=value.dtype, device=value.device).copy_(value)
                       for value, strides in zip(results, layout)]
            for i, (owner, offset) in within.items():
                whole, wide = results[owner], results[owner].is_complex() and not results[i].is_complex()
                results[i] = (torch.view_as_real(whole) if wide else whole).as_strided(results[i].shape, results[i].stride(), whole.storage_offset() * (1 + wide) + offset)
            return results
    return call


def shared(results: Sequence[Any], arguments: Sequence[Any]) -> dict[int, tuple[int, int]]:
    """Of results that lie in the memory of another one, as views of what the program computes do: that one, which has all that this memory holds, and where in it
    they begin. Those that lie in an argument's come as views of it already."""
    def place(value: Any) -> int:
        return value.untyped_storage().data_ptr() if isinstance(value, torch.Tensor) and value.numel() > 0 else 0
    taken, owners = {0, *map(place, arguments)}, {}
    for i, value in enumerate(results):
        if place(value) not in taken and value.numel() * value.element_size() == value.untyped_storage().nbytes() and torch.ops.aten.is_non_overlapping_and_dense(value):
            owners.setdefault(place(value), i)
    within = {}
    for i, value in enumerate(results):
        owner = owners.get(place(value), i)
        if owner != i and value.is_conj() == results[owner].is_conj() and not value.is_neg() and value.dtype in (results[owner].dtype, results[owner].real.dtype):
            within[i] = owner, value.storage_offset()
    return within
