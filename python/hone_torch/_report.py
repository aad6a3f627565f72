"""What hone made of a model."""
from __future__ import annotations

import dataclasses
import weakref
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ._backend import Graph

NOTHING = ("hone has seen no graph of this model: was it compiled with backend=\"hone\", and called? If it was, Dynamo runs it by Python: TORCH_LOGS=graph_breaks "
           "says where. It leaves a function whole to Python where a loop in it meets a tensor's value, and recurrent nets unless torch._dynamo.config.allow_rnn = True")
GRAPHS: weakref.WeakSet[Graph] = weakref.WeakSet()


@dataclasses.dataclass
class Report:
    """One entry a graph: {"kind", "state", "why", and what hone says of it: "tasks", "nested", "pytorch", ...}."""

    graphs: list[dict[str, Any]]

    @property
    def used(self) -> list[str]:
        """Names of the tasks that run by a kernel of hone's."""
        return [task["task"] for graph in self.graphs for task in graph.get("tasks", []) if task["used"]]

    def __str__(self) -> str:
        if not self.graphs:
            return NOTHING
        return "\n".join(line for graph in self.graphs for line in self.lines(graph))

    @staticmethod
    def lines(graph: dict[str, Any]) -> list[str]:
        lines = [f"{graph['kind']} graph of {graph['operators']} operators: {graph['state']}" + (f": {graph['why']}" if graph["why"] else "")]
        for task in graph.get("tasks", []):
            lines.append(f"  {task['task']} x{task['multiplicity']}: {'kernel' if task['used'] else 'PyTorch'}: {task['why']}")
        for step in graph.get("pytorch", []):
            lines.append(f"  {step['operators']}: PyTorch: {step['why']}")
        if graph.get("folded"):
            lines.append(f"  {graph['folded']} steps hang on weights alone: computed once for each set of them")
        won = graph.get("nested")
        if won:
            lines.append(f"  the whole: {won['median']:.2f}x ({won['comparison']}), {won['ours_ns'] / 1e3:.1f} us against {won['theirs_ns'] / 1e3:.1f} us")
        if graph.get("folder"):
            lines.append(f"  kept in {graph['folder']}")
        return lines


def report(model: torch.nn.Module) -> Report:
    """Of the graphs that read a weight or a buffer of the model, or no weight at all."""
    own = {id(tensor) for tensor in (*model.parameters(), *model.buffers())}
    graphs = [graph for graph in GRAPHS if not graph.weights or any(id(weight()) in own for weight in graph.weights.values())]
    return Report([graph.describe() for graph in sorted(graphs, key=lambda graph: graph.number)])
