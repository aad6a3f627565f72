"""A problem of KernelBench as PyTorch computes it: its modules, built from what test/cases/suites/kernelbench_level2.json
says of them, and its forward expression. Nothing here comes from a task file but the extents.

A module's arguments are those at full size. `extents` says which of them stand for an extent, by position or by name, as
an expression in the symbols of the task: it has to give the argument at full size, and gives the one to build with.
Modules are in training mode, as KernelBench has them, but for dropout, which is random there.
"""
import torch
import torch.nn.functional as F
from torch import nn


def shrunk(value, extent, full, tiny):
    if isinstance(extent, list):
        return [shrunk(v, e, full, tiny) for v, e in zip(value, extent, strict=True)]
    at_full = eval(extent, {}, full)
    if at_full != value:
        raise ValueError(f"{extent} is {at_full} at full size, and the module has {value}")
    return eval(extent, {}, tiny)


def module_of(fact, full, tiny):
    extents = fact.get("extents", {})

    def argument(key, value):
        return shrunk(value, extents[str(key)], full, tiny) if str(key) in extents else value

    if fact["op"] == "Parameter":
        return nn.Parameter(torch.zeros([argument(i, e) for i, e in enumerate(fact["shape"])]))
    args = [argument(i, a) for i, a in enumerate(fact.get("args", []))]
    module = getattr(nn, fact["op"])(*args, **{k: argument(k, v) for k, v in fact.get("kwargs", {}).items()})
    return module.train(fact["op"] != "Dropout")


def parameters_of(module):
    return [module] if isinstance(module, nn.Parameter) else list(module.parameters())


def reference(problem, full, tiny):
    """The function that takes the inputs and then the parameters, in the order of construction."""
    constants = problem.get("constants", {})
    model, parameters = nn.Module(), []
    for fact in problem["modules"]:
        setattr(model, fact["name"], module_of(fact, full, tiny))
        if not fact.get("unused"):
            parameters += parameters_of(getattr(model, fact["name"]))
    for name, value in constants.items():
        setattr(model, name, value)
    scope = {"torch": torch, "F": F, **constants}
    names = [tensor["name"] for tensor in problem["inputs"]]
    exec(f"def call(self, {', '.join(names)}): {problem['forward']}", scope)

    def forward(*tensors):
        given = tensors[len(names):]
        if [p.shape for p in parameters] != [t.shape for t in given]:
            raise ValueError(f"the modules own {[list(p.shape) for p in parameters]}, the task has {[list(t.shape) for t in given]}")
        with torch.no_grad():
            for parameter, tensor in zip(parameters, given):
                parameter.copy_(tensor)
            return scope["call"](model, *tensors[:len(names)])

    return forward
