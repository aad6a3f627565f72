# A kernel as machine code for one architecture: nothing is compiled where it runs.
import pathlib


def holds(promise, argument):
    """Whether an argument is what the build takes for granted: "=VALUE" for a constant, "16" for a multiple of 16, "" for any value."""
    kind, value = argument
    if promise.startswith("="):
        return str(value) == promise[1:]
    return kind in CELLS and (promise != "16" or kind == "tensor" or value % 16 == 0)


def as_compiled(functions, tensors, workspaces, launches):
    """Workspaces and launches as the build's functions take them; None where it was made for others. `tensors` come before the workspaces."""
    workspaces, taken = list(workspaces), []
    for name, grid, block, cluster, shared, arguments in launches:
        if name not in functions:
            return None
        compiled = functions[name][1]
        if compiled:  # by Triton, which lays out threads and shared memory, and adds two pointers of its own
            threads, shared, scratch, promises = compiled
            if len(promises) != len(arguments) or not all(map(holds, promises, arguments)):
                return None
            arguments = [argument for promise, argument in zip(promises, arguments) if not promise.startswith("=")]
            arguments += [("tensor", tensors + len(workspaces)) if scratch else ("null", 0), ("null", 0)]
            if scratch:
                workspaces.append((torch.uint8, (scratch * grid[0] * grid[1] * grid[2],), False))
            block = (threads, 1, 1)
        taken.append((name, grid, block, cluster, shared, tuple(arguments)))
    return workspaces, taken


class BinaryKernel(DriverKernel):
    """`builds`, of which the first that fits is taken: each has its "file" in `folder`, the "extents" that it is for, the "plan" that launches it, and
    "functions" by their names in the plan: the symbol, and for Triton's (threads, shared bytes, bytes of a block's own, promises), else None.
    `tensors`: inputs and outputs of the task."""

    def __init__(self, name, arch, builds, symbols, tensors, verified, folder, driver=None):
        super().__init__(name, symbols, None, verified, driver)
        self.arch, self.builds, self.tensors, self.folder = arch, builds, tensors, pathlib.Path(folder)

    def bound(self, card, extents):
        values = dict(zip(self.symbols, extents))
        for number, build in enumerate(self.builds):
            if any(values[symbol] != value for symbol, value in build["extents"].items()):
                continue
            bound = bind(build["plan"], extents, (card["sms"], card["shared_max"], card["wave"]))
            bound = bound and as_compiled(build["functions"], self.tensors, *bound)
            if bound:
                return (*bound, number)
        return None

    def image(self, arch, number):
        return (self.folder / self.builds[number]["file"]).read_bytes()

    def symbols_of(self, image, number):
        return {name: symbol for name, (symbol, _) in self.builds[number]["functions"].items()}
