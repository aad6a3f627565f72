"""What hone asks of the process that a PyTorch program lives in. It decides nothing: it writes down what torch.export sees,
runs what it is told to run, and says by how much answers differ and how long they took.

hone_torch runs this in the user's own process; hone has the same file built in, for the jailed process of `hone optimize
model.py` (src/hone/evaluate/program/program_helper.py), where the two are one text: no imports of the package's here.

Requests are JSON objects, answers too; a request's "do" is the name of a method of Session:

    {"do": "load", "constants": path to write tensors to that no state_dict has}
        -> the program: {"nodes": [...], "outputs": [...], ...}, see Subject.capture()
    {"do": "apart", "constants", "nodes": [name], "known": [operator]} -> the program once more, in which those nodes are what PyTorch makes
        of them by its own decompositions, known operators left whole; nodes of which it makes nothing are as they were
    {"do": "compose", "folder", "package"}  imports the package of kernels that hone wrote for the program
    {"do": "steps"} -> {"eager": ns by step, "kernel": ns by step}: each step's time, with and without its kernel
    {"do": "use", "steps": {name: bool}}     which steps use their kernels from now on
    {"do": "record", "on": bool} -> {"on": bool, "why": text}: whether calls replay one recording from now on, and why not
    {"do": "errors", "set": number, "weights": number} -> by output: what it is off by; see compared()
    {"do": "times", "pairs", "against": "eager", "compile", "MODE" of torch.compile, "steps" (ours without a recording) or "nested"}
        -> {"ours": [ns], "theirs": [ns]}, taken in turns
"""
import base64
import collections
import copy
import gc
import gzip
import importlib.util
import math
import operator
import pathlib
import random
import re
import statistics
import sys
import time
import traceback
import typing

import torch
import torch.utils._pytree as pytree
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

TYPES = {"float64": "f64", "float32": "f32", "bfloat16": "bf16", "float16": "f16",
         "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "int64": "i64", "int32": "i32",
         "int16": "i16", "int8": "i8", "bool": "bool"}


aten = torch.ops.aten


class Wrong(Exception):
    """What the user can mend: the message is a sentence, and a second line says what to do."""


def type_of(value):
    if not isinstance(value, torch.Tensor):
        return {"dtype": "none", "shape": []}
    name = str(value.dtype).removeprefix("torch.")
    return {"dtype": TYPES.get(name, name), "shape": [dimension(extent) for extent in value.shape]}


MOST_VALUES = 200 << 10  # bytes, packed: a task's text holds those of all its inputs


def packed(value):
    """What a tensor holds, row by row, with gzip as base64; None where that is much, or nothing that a task can say."""
    if value.numel() == 0 or value.numel() * value.element_size() > 64 * MOST_VALUES or str(value.dtype).removeprefix("torch.") not in TYPES \
            or (value.is_floating_point() and not bool(value.isfinite().all())):
        return None
    octets = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    text = base64.b64encode(gzip.compress(bytes(octets.tolist()), mtime=0)).decode()
    return text if len(text) <= MOST_VALUES else None


def dimension(extent):
    return extent if isinstance(extent, int) else {"symbol": str(extent.node.expr)}


def first_lines(error):
    text = str(error).strip() or type(error).__name__
    return text.split("\n")[0][:400]


def where(error):
    """The last line of somebody else's than PyTorch's that an error of torch.export names, or comes from."""
    lines = re.findall(r'File "([^"]+)", line (\d+), in .*\n\s*(\S.*)', str(error))
    came = [(frame.filename, frame.lineno, frame.line) for frame in traceback.extract_tb(error.__traceback__)]
    others = (str(pathlib.Path(torch.__file__).parent), str(pathlib.Path(traceback.__file__).parent), where.__code__.co_filename)
    return next((f" ({pathlib.Path(file).name}, line {number}: {code.strip()[:200]})" for file, number, code in [*came, *lines][::-1]
                 if code and not file.startswith(others)), "")


def name_kinds(tree):
    """Named tuples, and those that PyTorch's operators give, get names that the package of kernels makes them by (_runtime.py)."""
    kind = tree.context if tree.type is collections.namedtuple else tree.type
    name = getattr(pytree.SUPPORTED_SERIALIZED_TYPES.get(kind), "serialized_type_name", pytree.NO_SERIALIZED_TYPE_NAME_FOUND)
    if name == pytree.NO_SERIALIZED_TYPE_NAME_FOUND and tree.type is collections.namedtuple:
        pytree._register_namedtuple(kind, serialized_type_name=f"hone {kind.__name__}({' '.join(kind._fields)}) {len(pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE)}")
    elif name == pytree.NO_SERIALIZED_TYPE_NAME_FOUND and getattr(kind, "__module__", "") == "torch.return_types":
        name = f"torch.return_types.{kind.__name__}"
        pytree.SUPPORTED_SERIALIZED_TYPES[kind] = pytree._SerializeNodeDef(kind, name, None, None)
        pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = kind
    for child in tree.children() if callable(getattr(tree, "children", None)) else tree.children_specs:
        name_kinds(child)


class Subject:
    """A module with its arguments: (positional ones, those by name). `name` is what messages call it."""

    module: typing.Any = None
    arguments: typing.Any = ((), {})
    train, name, device = False, "", "cpu"
    exported: typing.Any = None
    instead: typing.Any = {}   # of nodes that are taken apart: what stands for them, by their names
    paired: typing.Any = {}    # of complex ones

    def tensors(self, tree):
        return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]

    def run(self, module, arguments):
        """Results by name, and buffers as they are afterwards: what a training step leaves in them is part of the answer. Copies: some look at weights, which
        other ones take the place of, or at arguments."""
        with torch.no_grad():
            results = module(*arguments[0], **arguments[1])
            named = {f"result {number}": tensor.clone() for number, tensor in enumerate(self.tensors(results))}
        named.update({name: buffer.clone() for name, buffer in module.named_buffers()})
        return named

    def own(self, arguments):
        """To run a program on many times: without those tensors of the user's that it changes."""
        return arguments

    def fill(self, composed, module):
        composed.load_state_dict(module.state_dict())

    def scattered(self, arguments, seed):
        """The arguments' elements in another order and, where they are real, a little changed."""
        generator = torch.Generator().manual_seed(seed)

        def other(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            mixed = leaf.detach().flatten()[torch.randperm(leaf.numel(), generator=generator).to(leaf.device)].reshape(leaf.shape)
            if leaf.is_floating_point():
                mixed = mixed * (1 + 0.1 * torch.randn(leaf.shape, generator=generator).to(leaf))
            return torch.empty_like(leaf).copy_(mixed)  # in the same order in memory
        return pytree.tree_map(other, arguments)

    def opponents(self, session, against):
        """What is called in turns: the composed program and PyTorch's way, or its own without a recording."""
        if against in ("eager", "steps"):
            return session.composed, self.module if against == "eager" else session.composed.stepwise
        torch._dynamo.reset()  # what one mode compiled is no other's
        return session.composed, torch.compile(self.module, dynamic=False, mode=None if against == "compile" else against)

    # What torch.export sees

    def export(self):
        arguments, keywords = self.arguments
        try:
            with torch.no_grad():
                exported = torch.export.export(self.module, arguments, keywords, strict=False)
                return exported.run_decompositions({})
        except Exception as error:
            raise Wrong(f"{self.name}: torch.export cannot follow forward(): {type(error).__name__}: {first_lines(error)}{where(error)}\n"
                        "shapes and branches must not depend on the values of tensors, and forward() must not assign tensors to attributes") from error

    def capture(self, constants_file, apart=None):
        """The program as JSON. A node is {"name", "op", "arguments" by their names in the operator's schema, "type"};
        an input's op is "input", with "role" and "target" (its name in the state_dict or in the constants' file). Nodes that `apart` takes apart
        stand in "origins", as they were, with "results": what stands for each of theirs; their pieces have "origin", the place there."""
        if self.exported is None:
            self.exported = self.export()
            self.paired = Pairs(self.exported.graph).run()
        exported, self.instead = self.exported, dict(self.paired)
        signature, nodes, constants, origins = exported.graph_signature, [], {}, []
        roles = {spec.arg.name: spec for spec in signature.input_specs if hasattr(spec.arg, "name")}
        state = set(self.module.state_dict())
        for node in exported.graph.nodes:
            if node.op == "placeholder":
                nodes.append(self.input(node, roles[node.name], exported, constants, state))
            elif node.op == "call_function":
                if node.target is operator.getitem and isinstance(self.instead.get(node.args[0].name), list):
                    self.instead[node.name] = self.instead[node.args[0].name][node.args[1]]
                    continue
                if node.target is torch.ops.aten.as_strided.default and node.args[0].name not in roles and (rows := self.picked(node)):
                    nodes += rows
                    continue
                pieces = apart.pieces(node) if apart else None
                row = self.call(node)
                if pieces is None:
                    nodes.append(row)
                    continue
                nodes += self.put_in(node, pieces, len(origins))
                results = self.instead[node.name]
                origins.append({**row, "results": results if isinstance(results, list) else [results], "composite": apart.composite(node)})
            elif node.op == "get_attr":
                user = next(iter(node.users), node)
                raise Wrong(f"{self.name}: forward() calls {getattr(user.target, '__name__', user.target)}, whose branches or steps are graphs of their own ({node.target})\n"
                            "control flow operators are not supported: torch.where takes one of two values, and a loop in Python is unrolled")
        outputs = [{"kind": spec.kind.name.lower(), "target": spec.target, "value": self.result(spec.arg)} for spec in signature.output_specs]
        torch.save(constants, constants_file)
        for tree in (exported.call_spec.in_spec, exported.call_spec.out_spec):
            name_kinds(tree)
        try:
            trees = {"arguments": pytree.treespec_dumps(exported.call_spec.in_spec), "results": pytree.treespec_dumps(exported.call_spec.out_spec)}
        except Exception as error:
            raise Wrong(f"{self.name}: arguments or results are of a kind that cannot be written down: {first_lines(error)}\n"
                        "use tensors, tuples, lists and dictionaries") from error
        return {"format": 1, "torch": torch.__version__, "name": self.name.removesuffix(".py"), "train": self.train, "nodes": nodes,
                "outputs": outputs, "trees": trees, "aliases": self.aliases(),
                "state": self.state(), "origins": origins}

    def picked(self, node):
        """as_strided() says places in memory, which only its operand's own strides give a meaning to: elements picked from what is computed, in the order
        in which PyTorch has it in memory. None where memory holds more or less than its elements."""
        source, size, stride = node.args[:3]
        value, offset = source.meta["val"], (node.args[3] if len(node.args) > 3 else None) or 0
        steps = value.stride()
        if not all(isinstance(n, int) for n in (*value.shape, *steps, *size, *stride, offset)) or value.storage_offset() != 0 or not size or 0 in size:
            return None
        order = sorted(range(value.dim()), key=lambda axis: (-steps[axis], -value.shape[axis]))
        if any(value.shape[axis] > 1 and steps[axis] != math.prod(value.shape[later] for later in order[at + 1:]) for at, axis in enumerate(order)):
            return None
        rows, kind = [], type_of(value)["dtype"]

        def add(op, arguments, dtype, shape, positional=None):
            rows.append({"name": f"{node.name}__{len(rows)}", "op": f"aten.{op}", "arguments": arguments, "type": {"dtype": dtype, "shape": list(shape)}, "positional": positional or list(arguments)})
            return {"node": rows[-1]["name"]}
        flat = add("permute.default", {"self": self.argument(source), "dims": order}, kind, [value.shape[axis] for axis in order])
        flat = add("reshape.default", {"self": flat, "shape": [value.numel()]}, kind, [value.numel()])
        places, shape = offset, [1] * len(size)
        for axis, (extent, step) in enumerate(zip(size, stride)):
            along = [extent if at == axis else 1 for at in range(len(size))]
            more = add("arange.default", {"end": extent, "dtype": {"dtype": "i64"}, "device": {"other": str(value.device)}}, "i64", [extent], ["end"])
            more = add("reshape.default", {"self": add("mul.Tensor", {"self": more, "other": step}, "i64", [extent]), "shape": along}, "i64", along)
            shape = [max(one, other) for one, other in zip(shape, along)]
            places = add("add.Tensor", {"self": more, "other": places, "alpha": 1}, "i64", shape, ["self", "other"])
        count = math.prod(size)
        picked = add("index_select.default", {"self": flat, "dim": 0, "index": add("reshape.default", {"self": places, "shape": [count]}, "i64", [count])}, kind, [count])
        self.instead[node.name] = add("reshape.default", {"self": picked, "shape": list(size)}, kind, size)
        return rows

    def put_in(self, node, pieces, origin):
        """Rows of a graph that stands for a node."""
        rows, given = [], dict(zip((n for n in pieces.nodes if n.op == "placeholder"), node.all_input_nodes))
        named = {piece.name: self.argument(value) for piece, value in given.items()}
        before, self.instead = self.instead, named
        for piece in pieces.nodes:
            if piece.op == "call_function":
                row = self.call(piece)
                row["name"], row["origin"] = f"{node.name}__{piece.name}", origin
                named[piece.name] = {"node": row["name"]}
                rows.append(row)
            elif piece.op == "output":
                result = self.argument(piece.args[0])
        self.instead = before
        self.instead[node.name] = result
        return rows

    def state(self):
        parameters = {name for name, _ in self.module.named_parameters(remove_duplicate=False)}
        return {name: {**type_of(tensor), "torch": str(tensor.dtype).removeprefix("torch."), "parameter": name in parameters}
                for name, tensor in self.module.state_dict().items()}

    def aliases(self):
        """Names of one and the same parameter, as in tied weights: the first of each."""
        first, result = {}, {}
        for name, tensor in list(self.module.named_parameters(remove_duplicate=False)) + list(self.module.named_buffers(remove_duplicate=False)):
            kept = first.setdefault(id(tensor), name)
            if kept != name:
                result[name] = kept
        return result

    def input(self, node, spec, exported, constants, state):
        from torch.export.graph_signature import InputKind
        role = {InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "constant"}.get(spec.kind, "user")
        row = {"name": node.name, "op": "input", "role": role, "target": spec.target or node.name, "type": type_of(node.meta.get("val"))}
        if role == "user" and row["type"]["dtype"] == "none":
            row["role"] = "fixed"
        if role in ("buffer", "constant") and spec.target not in state:
            row["role"] = "constant"
            value = exported.constants.get(spec.target)
            if value is None:
                value = dict(self.module.named_buffers())[spec.target]
            value = value.detach()
            constants[spec.target] = value.clone()
            if value.dim() == 0:
                row["number"] = self.argument(value.item())
            known = packed(value)
            if known:
                row["values"] = known
            if value.numel() > 0 and not value.is_floating_point() and not value.is_complex() and value.dtype != torch.bool:
                row["range"] = [int(value.min()), int(value.max())]
        return row

    def call(self, node):
        row = {"name": node.name, "op": str(node.target), "arguments": {}}
        value = node.meta.get("val")
        fill = ALIKE.get(node.target)
        if fill is not None and str(value.dtype).removeprefix("torch.") in TYPES and all(isinstance(extent, int) for extent in value.shape):
            fill = fill(*node.args, **node.kwargs)
        if isinstance(fill, (bool, int, float)):
            kind = type_of(value)
            return {**row, "op": "aten.full.default", "type": kind, "positional": ["size", "fill_value"], "arguments": {
                "size": list(value.shape), "fill_value": self.argument(bool(fill) if value.dtype == torch.bool else fill), "dtype": {"dtype": kind["dtype"]},
                "device": {"other": str(value.device)}}}
        row["type"] = [type_of(v) for v in value] if isinstance(value, (list, tuple)) else type_of(value)
        schema = getattr(node.target, "_schema", None)
        if node.target is operator.getitem:
            row["op"] = "getitem"
            row["arguments"] = {"source": self.argument(node.args[0]), "index": node.args[1]}
        elif schema is None:
            row["arguments"] = {str(i): self.argument(a) for i, a in enumerate(node.args)}
        else:
            for i, parameter in enumerate(schema.arguments):
                given = node.args[i] if i < len(node.args) else node.kwargs.get(parameter.name, parameter.default_value)
                row["arguments"][parameter.name] = self.argument(given)
            row["positional"] = [parameter.name for parameter in schema.arguments if not parameter.kwarg_only]
        return row

    def result(self, argument):
        if hasattr(argument, "name") and not hasattr(argument, "value"):
            return self.instead.get(argument.name, {"node": argument.name})
        return self.argument(getattr(argument, "value", None))

    def argument(self, value):
        if isinstance(value, torch.fx.Node):
            return self.instead.get(value.name, {"node": value.name})
        if isinstance(value, (list, tuple)):
            return [self.argument(v) for v in value]
        if isinstance(value, float) and not math.isfinite(value):
            return {"number": str(value)}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, torch.dtype):
            name = str(value).removeprefix("torch.")
            return {"dtype": TYPES.get(name, name)}
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return {"symbol": str(value.node.expr)}
        return {"other": str(value)}


class Pairs:
    """Complex numbers as pairs of real ones along a last axis, since the language has only those. What has no such way here is PyTorch's, and views turn the one
    into the other before and behind it."""

    def __init__(self, graph):
        self.graph, self.pairs, self.done, self.instead = graph, {}, {}, {}
        views = {op: self.view for op in (aten.unsqueeze.default, aten.reshape.default, aten.view.default, aten._unsafe_view.default, aten.permute.default, aten.transpose.int, aten.slice.Tensor,
                                          aten.select.int, aten.expand.default, aten.repeat.default, aten.squeeze.dim, aten.index_select.default, aten.index.Tensor,
                                          aten.cat.default, aten.stack.default)}
        self.ways = {
            **views, aten.view_as_complex.default: lambda node: node.args[0], aten.view_as_real.default: lambda node: self.pair(node.args[0]),
            **{op: lambda node: self.pair(node.args[0]) for op in (aten.resolve_conj.default, aten.clone.default, aten.alias.default)},
            **{op: self.conjugate for op in (aten._conj.default, aten.conj_physical.default)},
            **{op: self.product for op in (aten.mul.Tensor, aten.mul.Scalar)}, aten.div.Tensor: self.quotient,
            aten.add.Tensor: self.sum, aten.sub.Tensor: self.sum, aten.neg.default: lambda node: self.add(aten.neg.default, self.pair(node.args[0])),
            aten.abs.default: lambda node: self.add(aten.hypot.default, *self.parts(node.args[0])),
            aten.angle.default: lambda node: self.add(aten.atan2.default, *self.parts(node.args[0])[::-1]),
            aten.polar.default: lambda node: self.turned(*node.args), aten.complex.default: lambda node: self.both(node, *node.args),
            aten.exp.default: lambda node: self.turned(self.add(aten.exp.default, self.parts(node.args[0])[0]), self.parts(node.args[0])[1])}

    def run(self):
        """Puts them into the graph. Gives for nodes that are no more there what stands for them, by name."""
        nodes = list(self.graph.nodes)
        if not any(self.is_complex(node) for node in nodes):
            return {}
        for node in nodes:
            if node.op != "call_function" or node.target not in self.ways or not any(self.is_complex(one) for one in (node, *node.all_input_nodes)):
                continue
            value = node.meta["val"]
            with self.graph.inserting_before(node), torch._guards.detect_fake_mode(value) or torch.no_grad():
                try:
                    found = self.ways[node.target](node)
                except (Wrong, RuntimeError, TypeError, ValueError):
                    continue
            kind, shape = found.meta["val"].dtype, (*value.shape, 2) if value.is_complex() else value.shape
            if shape != tuple(found.meta["val"].shape) or kind != value.dtype.to_real():
                continue
            if value.is_complex():
                self.pairs[node] = self.done[node] = found
            else:
                self.put(node, found)
        for node, pair in reversed([*self.done.items()]):
            if all(self.is_done(user) for user in node.users):
                continue
            if node.target is aten._conj.default:  # a view, which a result may have to be
                del self.done[node]
            else:
                with self.graph.inserting_before(node.next), torch._guards.detect_fake_mode(node.meta["val"]) or torch.no_grad():
                    self.put(node, self.add(aten.view_as_complex.default, pair))
        self.graph.eliminate_dead_code()
        return self.instead

    def is_done(self, node):
        return node in self.done or node.name in self.instead

    def put(self, node, other):
        node.replace_all_uses_with(other, delete_user_cb=lambda user: not self.is_done(user))
        self.instead[node.name] = {"node": other.name}

    @staticmethod
    def is_complex(value):
        tensor = value.meta.get("val") if isinstance(value, torch.fx.Node) else None
        return isinstance(tensor, torch.Tensor) and tensor.dtype in (torch.complex64, torch.complex128)

    def add(self, op, *arguments, **keywords):
        node = self.graph.call_function(op, arguments, keywords)
        given = torch.fx.map_arg((arguments, keywords), lambda one: one.meta["val"])
        node.meta["val"] = op(*given[0], **given[1])
        return node

    def pair(self, node):
        if node not in self.pairs:
            self.pairs[node] = self.add(aten.view_as_real.default, node)
        return self.pairs[node]

    def parts(self, value):
        """Real and imaginary; None where that is nothing."""
        if self.is_complex(value):
            return [self.add(aten.select.int, self.pair(value), -1, i) for i in (0, 1)]
        return [value.real, value.imag] if isinstance(value, complex) else [value, None]

    def both(self, node, real, imaginary):
        shape = list(node.meta["val"].shape)
        return self.add(aten.stack.default, [self.add(aten.expand.default, part, shape) for part in (real, imaginary)], -1)

    def view(self, node):
        arguments = [*node.args, *(parameter.default_value for parameter in node.target._schema.arguments[len(node.args):] if not parameter.kwarg_only)]
        several = isinstance(arguments[0], (list, tuple))
        if not all(self.is_complex(one) for one in (arguments[0] if several else arguments[:1])) or node.kwargs:
            raise Wrong("of real numbers too")
        rank = (arguments[0][0] if several else arguments[0]).meta["val"].dim()
        arguments[0] = [self.pair(one) for one in arguments[0]] if several else self.pair(arguments[0])
        for i, parameter in enumerate(node.target._schema.arguments[:len(arguments)]):
            if parameter.name in ("dim", "dim0", "dim1"):
                arguments[i] = arguments[i] % (rank + (node.target in (aten.unsqueeze.default, aten.stack.default)))
            elif parameter.name == "dims":
                arguments[i] = [*(dim % rank for dim in arguments[i]), rank]
            elif parameter.name == "repeats":
                arguments[i] = [*arguments[i], 1]
            elif parameter.name in ("shape", "size"):
                arguments[i] = [*(list(node.meta["val"].shape) if node.target is not aten.expand.default else arguments[i]), 2]
        return self.add(node.target, *arguments)

    def conjugate(self, node):
        real, imaginary = self.parts(node.args[0])
        return self.both(node, real, self.add(aten.neg.default, imaginary))

    def turned(self, length, angle):
        return self.add(aten.stack.default, [self.add(aten.mul.Tensor, length, self.add(op, angle)) for op in (aten.cos.default, aten.sin.default)], -1)

    def times(self, a, b):
        return None if a is None or b is None else self.add(aten.mul.Tensor, *((a, b) if isinstance(a, torch.fx.Node) else (b, a)))

    def plus(self, op, a, b):
        if b is None:
            return a
        if a is None:
            return b if op is aten.add.Tensor else self.add(aten.neg.default, b)
        return self.add(op, a, b) if isinstance(a, torch.fx.Node) else self.add(aten.add.Tensor, b if op is aten.add.Tensor else self.add(aten.neg.default, b), a)

    def product(self, node):
        (a, b), (c, d) = map(self.parts, node.args)
        return self.both(node, self.plus(aten.sub.Tensor, self.times(a, c), self.times(b, d)), self.plus(aten.add.Tensor, self.times(a, d), self.times(b, c)))

    def quotient(self, node):
        (a, b), (c, d) = map(self.parts, node.args)
        if d is not None:
            raise Wrong("by complex numbers")
        return self.both(node, *(self.add(aten.div.Tensor, part, c) for part in (a, b)))

    def sum(self, node):
        if node.kwargs.get("alpha", 1) != 1:
            raise Wrong("of a multiple")
        (a, b), (c, d) = map(self.parts, node.args)
        return self.both(node, self.plus(node.target, a, c), self.plus(node.target, b, d))


def native_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask=None, need_weights=True, average_attn_weights=True, mask_type=None):
    """torch._native_multi_head_attention, which nn.MultiheadAttention is outside of torch.export after eval(): PyTorch has no decomposition of it."""
    if query is key and key is value:
        projected = torch.nn.functional.linear(query, qkv_weight, qkv_bias).chunk(3, -1)
    else:
        projected = [torch.nn.functional.linear(*one) for one in zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))]
    query, key, value = (one.unflatten(-1, (num_head, -1)).transpose(1, 2) for one in projected)
    weights = None
    if mask is None and not need_weights:
        found = torch.nn.functional.scaled_dot_product_attention(query, key, value)
    else:  # as it does: a row without one key that may be looked at is NaN
        scores = query * query.shape[-1] ** -0.5 @ key.transpose(-2, -1)
        if mask is not None:
            mask = mask.to(torch.bool)
            scores = scores.masked_fill(mask[:, None, None, :] if mask_type == 1 else mask, float("-inf"))
        weights = scores.softmax(-1)
        found = weights @ value
    if not need_weights:
        weights = None
    elif average_attn_weights:
        weights = weights.mean(1)
    return torch.nn.functional.linear(found.transpose(1, 2).flatten(2), proj_weight, proj_bias), weights


def encoder_layer(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2,
                  norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask=None, mask_type=None):
    """torch._transformer_encoder_layer_fwd, which nn.TransformerEncoderLayer is in the same way."""
    linear = torch.nn.functional.linear

    def first(x):
        return torch.nn.functional.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x):
        return torch.nn.functional.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)
    x = first(src) if norm_first else src
    x = native_attention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, need_weights=False, mask_type=mask_type)[0] + src
    x = x if norm_first else first(x)
    hidden = linear(second(x) if norm_first else x, ffn_weight_1, ffn_bias_1)
    hidden = torch.nn.functional.gelu(hidden) if use_gelu else torch.relu(hidden)
    x = linear(hidden, ffn_weight_2, ffn_bias_2) + x
    return x if norm_first else second(x)


def bilinear(input1, input2, weight, bias=None):
    """As one product with all pairs of what the inputs hold."""
    pairs = (input1.unsqueeze(-1) * input2.unsqueeze(-2)).flatten(-2)
    return torch.nn.functional.linear(pairs, weight.flatten(1), bias)


OWN = {aten._native_multi_head_attention.default: native_attention, aten._transformer_encoder_layer_fwd.default: encoder_layer, aten.bilinear.default: bilinear}
# What takes nothing from its operand but its type and shape, so that it is a constant; and what that is full of.
ALIKE = {aten.ones_like.default: lambda *_, **__: 1, aten.zeros_like.default: lambda *_, **__: 0, aten.full_like.default: lambda _, fill_value, **__: fill_value,
         aten.new_ones.default: lambda *_, **__: 1, aten.new_zeros.default: lambda *_, **__: 0, aten.new_full.default: lambda _, __, fill_value, **___: fill_value}


class Apart:
    """What operators are by decompositions, PyTorch's own and OWN, except for those that are known."""

    def __init__(self, names, known):
        self.names, known = set(names), set(known)
        self.all = {op: function for op, function in torch._decomp.decomposition_table.items()
                    if isinstance(op, torch._ops.OpOverload) and not op._schema.is_mutable
                    and not (torch.Tag.core in op.tags and function.__module__.startswith("torch._refs"))}  # which would be one of prims
        self.all.update(OWN)
        self.table = {op: function for op, function in self.all.items() if str(op) not in known}
        self.found = {}

    def composite(self, node):
        """Whether PyTorch has no one kernel for it, but runs pieces one after the other."""
        if node.target in OWN:
            return True
        if not torch._C._dispatch_has_kernel_for_dispatch_key(node.target.name(), "CompositeImplicitAutograd"):
            return False
        places = {operand: i for i, operand in enumerate(node.all_input_nodes)}
        graph = self.followed(node, places, [operand.meta["val"] for operand in places], {})
        return sum(piece.op == "call_function" and not getattr(piece.target, "is_view", True) for piece in graph.nodes) > 1

    def pieces(self, node):
        """A graph whose inputs are the node's operands; None where there is none of functions of tensors alone."""
        if node.name not in self.names:
            return None
        values = [operand.meta.get("val") for operand in node.all_input_nodes]
        if not values or not all(isinstance(value, torch.Tensor) for value in values):
            return None
        places = {operand: i for i, operand in enumerate(node.all_input_nodes)}
        key = str((node.target, torch.fx.map_arg((node.args, node.kwargs), lambda n: f"input {places[n]}"),
                   [(value.dtype, tuple(value.shape), value.stride()) for value in values]))
        if key not in self.found:
            try:
                self.found[key] = self.traced(node, places, values)
            except Exception:  # data-dependent, or something that no trace follows: it stays whole
                self.found[key] = None
        return self.found[key]

    def followed(self, node, places, values, table):
        def call(*tensors):
            arguments, keywords = torch.fx.map_arg((node.args, node.kwargs), lambda n: tensors[places[n]])
            return OWN.get(node.target, node.target)(*arguments, **keywords)
        with torch._guards.detect_fake_mode(values), torch.no_grad():
            graph = make_fx(dispatch_functionalize(call), decomposition_table=table)(*values).graph
        graph.eliminate_dead_code()
        return graph

    def traced(self, node, places, values):
        own = {op: self.all[op] for op in (node.target,) if op in self.all}  # known, but not as it is called here
        graph = self.followed(node, places, values, {**self.table, **own})
        calls = [piece for piece in graph.nodes if piece.op == "call_function"]
        plain = all(piece.op in ("placeholder", "call_function", "output") for piece in graph.nodes)
        return graph if plain and calls and all(piece.target is not node.target for piece in calls) else None


class InDouble(TorchDispatchMode):
    """Every real tensor in fp64 and every complex one in twice that, those that the program itself casts or makes included."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        wide, kwargs = pytree.tree_map(widened, (args, kwargs or {}))
        try:
            return function(*wide, **kwargs)
        except (RuntimeError, NotImplementedError):  # an operator that knows no fp64
            if function._schema.is_mutable:
                raise
            narrow = {torch.float64: torch.float32, torch.complex128: torch.complex64}
            args, kwargs = pytree.tree_map(lambda leaf: leaf.to(narrow.get(leaf.dtype, leaf.dtype)) if isinstance(leaf, torch.Tensor) else leaf, (args, kwargs))
            return pytree.tree_map(widened, function(*args, **kwargs))


def wide(kind):
    return torch.float64 if kind.is_floating_point else torch.complex128 if kind.is_complex else kind


def widened(leaf):
    if isinstance(leaf, torch.dtype):
        return wide(leaf)
    return leaf.to(wide(leaf.dtype)) if isinstance(leaf, torch.Tensor) else leaf


def doubled(module):
    """Like module.double(), which leaves complex parameters and buffers as they are."""
    return module._apply(lambda tensor: tensor.to(wide(tensor.dtype)))


def in_double(subject, module, arguments):
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        module, arguments = doubled(copy.deepcopy(module)), pytree.tree_map(widened, arguments)
        with InDouble():
            return subject.run(module, arguments)
    finally:
        torch.set_default_dtype(default)


def size(values):
    """The root of the mean square, which is finite where they are."""
    largest = float(values.abs().max()) if values.numel() else 0.0
    return largest * float((values / largest).square().mean().sqrt()) if largest else 0.0


def compared(found, truth):
    """Errors of one output in units of its size: the largest, the root of their mean square, and what is not finite."""
    if found.shape != truth.shape:
        return {"shape": list(found.shape), "wanted": list(truth.shape)}
    if truth.is_complex() and found.is_complex():
        found, truth = (torch.view_as_real(values.resolve_conj()) for values in (found, truth))
    if not truth.is_floating_point():
        return {"differ": int((found.to(truth.dtype) != truth).sum()), "count": truth.numel()}
    found, good = found.double(), truth.isfinite()
    off = (found - truth)[good].abs()
    other = (found != truth) & ~(found.isnan() & truth.isnan())  # an infinity of the other sign, NaN for an infinity
    broken = int((~found[good].isfinite()).sum()) + int(other[~good].sum())
    off = off[off.isfinite()]
    return {"scale": size(truth[good]), "max": float(off.max()) if off.numel() else 0.0, "rms": size(off), "broken": broken, "count": truth.numel()}


class Session:
    """Answers requests about one program."""

    def __init__(self, program=None):
        self.program: typing.Any = program
        self.composed: typing.Any = None
        self.package: typing.Any = None

    def load(self, request):
        return self.program.capture(request["constants"])

    def apart(self, request):
        return self.program.capture(request["constants"], Apart(request["nodes"], request["known"]))

    def compose(self, request):
        folder = pathlib.Path(request["folder"]) / request["package"]
        name = f"hone_program_{len(sys.modules)}_{request['package']}"  # of its own: others of its name may be there
        spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        self.package = importlib.util.module_from_spec(spec)
        sys.modules[name] = self.package
        spec.loader.exec_module(self.package)
        self.composed = self.package.Module().to(self.program.device)
        self.program.fill(self.composed, self.program.module)
        self.composed.train(self.program.train)
        self.record({"on": self.composed.RECORD})
        return {"refused": self.package.refusals()}

    def record(self, request):
        """The one call shows what does not run, or cannot be recorded."""
        self.composed.record(request["on"], patience=0)
        self.program.run(self.composed, self.program.arguments)
        recorder = self.composed.recorder
        return {"on": self.composed.replays(), "why": recorder.why if recorder else ""}

    def use(self, request):
        self.package.use(request["steps"])
        return {}

    def steps(self, request):
        """The median time of each step in its place, first without its kernel, then with it; then of those that some were written out as."""
        (arguments, keywords), result = self.program.own(self.program.arguments), {"eager": {}, "kernel": {}}
        for inside in (False, True) if request["written"] else (False,):
            for kind, used in (("eager", False), ("kernel", True)):
                self.package.use({name: used for name in request["steps"] + request["written"]})
                rounds, start, least = [], time.monotonic(), 1 if self.composed.replays() else 3
                while len(rounds) < least or (1 < least and len(rounds) < 50 and time.monotonic() - start < request["seconds"] / 2):
                    with torch.no_grad():
                        rounds.append(self.composed.timed(inside, *arguments, **keywords))
                rounds = rounds[least > 1:]
                result[kind].update({name: statistics.median(r[name] for r in rounds) for name in rounds[0]})
        return result

    def errors(self, request):
        program = self.program
        arguments = program.arguments if request["set"] == 0 else program.redraw(request["seed"] + request["set"])
        module = program.module if request["weights"] == 0 else program.reweigh(request["seed"] + 1000 * request["weights"])
        truth = in_double(program, module, arguments)
        eager = program.run(copy.deepcopy(module), arguments)
        program.fill(self.composed, module)
        found = program.run(self.composed, arguments)
        program.fill(self.composed, program.module)
        missing = [name for name in eager if name.startswith("result ") and name not in found]
        if missing or len([n for n in found if n.startswith("result ")]) != len([n for n in eager if n.startswith("result ")]):
            return {"outputs": [], "wrong": "not as many results as the module gives"}
        return {"outputs": [{"name": name, "dtype": TYPES.get(str(e.real.dtype).removeprefix("torch."), "f32"),
                             "eager": compared(e, truth[name]), "ours": compared(found[name], truth[name]),
                             "same_type": found[name].dtype == e.dtype} for name, e in eager.items() if name in found]}

    def times(self, request):
        (arguments, keywords), pairs = self.program.own(self.program.arguments), {"ours": [], "theirs": []}
        ours, theirs = self.program.opponents(self, request["against"])
        on_card = str(self.program.device).startswith("cuda")

        def clock() -> int:
            if on_card:
                torch.cuda.synchronize(self.program.device)
            return time.perf_counter_ns()
        with torch.inference_mode():
            for module in (ours, theirs):
                module(*arguments, **keywords)
                module(*arguments, **keywords)
            begin = clock()
            theirs(*arguments, **keywords)
            calls = max(1, int(2e6 / max(clock() - begin, 1)))
            order = random.Random(request["seed"])
            gc.collect()
            gc.disable()
            until = time.monotonic() + request["seconds"]
            try:
                while len(pairs["ours"]) < request["pairs"] and (len(pairs["ours"]) < 5 or time.monotonic() < until):
                    sides = [("ours", ours), ("theirs", theirs)]
                    order.shuffle(sides)
                    for name, module in sides:
                        begin = clock()
                        for _ in range(calls):
                            module(*arguments, **keywords)
                        pairs[name].append((clock() - begin) / calls)
            finally:
                gc.enable()
        return pairs
