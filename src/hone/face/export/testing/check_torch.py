"""Uses what hone export --as torch and --as kernelbench wrote, as its user would: check_torch.py CASE FOLDER [FILE...] -- [CASE FOLDER [FILE...] -- ...].
Each case is a process of its own, forked when torch has been imported. Ends with 1 where something is not as promised."""
import importlib
import importlib.util
import os
import sys
import warnings

import torch

torch.set_num_threads(2)


def package(folder, name):
    sys.path.insert(0, folder)
    return importlib.import_module(name)


def counting(kernel):
    """Counts the calls that the kernel did itself."""
    run, done = kernel.run, []

    def counted(inputs, outputs, extents):
        answer = run(inputs, outputs, extents)
        if answer:
            done.append(extents)
        return answer
    kernel.run = counted
    return done


def close(found, wanted, bound=1e-5):
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found.shape, wanted.shape, found.dtype, wanted.dtype)
    difference = (found.double() - wanted.double()).abs().max().item()
    assert difference <= bound * (1 + wanted.double().abs().max().item()), difference


def raises(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def softmax(folder):
    """The kernel takes rows of multiples of 32 on 64 bytes."""
    module = package(folder, "softmax")
    done = counting(module.KERNEL)
    run = module.softmax
    warnings.simplefilter("error", RuntimeWarning)
    for shape in ((33, 256), (1, 64), (5, 1024)):
        x = torch.randn(shape)
        close(run(x), torch.softmax(x, -1))
    assert done == [(33, 256), (1, 64), (5, 1024)], done
    done.clear()
    # PyTorch's part, silently.
    for x in (torch.randn(7, 37), torch.randn(64, 64, dtype=torch.float64), torch.randn(64, 33).t(), torch.randn(0, 64),
              torch.randn(65 * 64 + 1)[1:].reshape(65, 64)):
        close(run(x), torch.softmax(x, -1)) if x.numel() else None
        assert run(x).shape == x.shape and run(x).is_contiguous()
    assert done == [], done
    x = torch.randn(4, 64, requires_grad=True)
    (gradient,) = torch.autograd.grad(run(x)[0, 3], x)
    (wanted,) = torch.autograd.grad(torch.softmax(x, -1)[0, 3], x)
    close(gradient, wanted)
    assert done == []
    with torch.no_grad():
        close(run(x), torch.softmax(x, -1))
    assert len(done) == 1
    assert "softmax" in raises(ValueError, run, torch.randn(64))
    y = module.OP(torch.randn(4, 64, requires_grad=True))
    assert "autograd" in raises(RuntimeError, y.sum().backward)
    torch.library.opcheck(module.OP, (torch.randn(4, 64),), test_utils=("test_schema", "test_faketensor"))

    def user(a):
        return run(a * 2) + 1
    for x in (torch.randn(8, 64), torch.randn(8, 37)):
        close(torch.compile(user, backend="aot_eager", fullgraph=True)(x), torch.softmax(x * 2, -1) + 1)
        close(torch.compile(user, backend="aot_eager", fullgraph=True, dynamic=True)(x), torch.softmax(x * 2, -1) + 1)
    assert (8, 64) in done
    # What was built serves the next process.
    assert len([file for file in os.listdir(os.path.join(folder, "softmax", "build")) if file.endswith(".so")]) == 1
    importlib.import_module("test_softmax").test_against_pytorch()


def sum_and_product(folder):
    """Two outputs, 16-bit inputs, names that Python has another use for."""
    module = package(folder, "sum_and_product")
    done = counting(module.KERNEL)
    a, b = torch.randn(16, 100).bfloat16(), torch.randn(16, 100)
    total, product = module.sum_and_product(a, b)
    assert torch.equal(total, a.float() + b) and torch.equal(product, a.float() * b) and len(done) == 1
    compiled = torch.compile(module.sum_and_product, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(a, b)[1], a.float() * b) and len(done) == 2


def column_mean(folder):
    """Workspaces, scratch, several launches, several callers."""
    import threading
    module = package(folder, "column_mean")
    done = counting(module.KERNEL)
    failures = []

    def caller(seed):
        for rows, columns in ((1, 5), (64, 7), (1000, 33), (70 + seed, 9)):
            x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))
            if (module.column_mean(x) - x.mean(0)).abs().max() > 1e-5:
                failures.append((rows, columns))
    threads = [threading.Thread(target=caller, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures and len(done) == 16, (failures, done)


def elsewhere(folder, word):
    """Verified on another machine: one warning, PyTorch's answers."""
    module = package(folder, "softmax")
    x = torch.randn(4, 64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            close(module.softmax(x), torch.softmax(x, -1))
    said = [str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)]
    assert len(said) == 1 and "verified" in said[0] and word in said[0], said
    assert not os.path.exists(os.path.join(folder, "softmax", "build"))


class Recorder:
    """A card that runs nothing and remembers what it was asked."""

    def __init__(self, sms=132, major=9):
        self.launches, self.shared, self.depth, self.sms, self.major, self.loaded = [], [], 0, sms, major, []

    def describe(self, ordinal):
        return {"name": "NVIDIA H200", "driver": 13000, "sms": self.sms, "shared_max": 232448, "wave": 32, "major": self.major, "minor": 0}

    def enter(self, ordinal):
        self.depth += 1

    def leave(self):
        self.depth -= 1

    def load(self, image):
        self.loaded.append(image)
        return image

    def function(self, module, symbol):
        return symbol

    def allow_shared(self, function, size):
        self.shared.append((function, size))

    def allow_cluster(self, function, blocks):
        assert blocks == 1

    def prepare(self, function, grid, block, cluster, shared, cells):
        assert self.depth == 1 and cluster == (1, 1, 1)

        def launch(stream):
            assert self.depth == 1
            self.launches.append((function, grid, block, shared, stream, [type(cell).__name__ for cell in cells], [cell.value for cell in cells]))
        return launch


def cuda(folder):
    """A CUDA package's launches, on a driver that only records; PyTorch's tensors are on the CPU."""
    module = package(folder, "column_mean")
    kernel = module.KERNEL
    kernel.device, kernel.stream = "cpu", lambda device: 77
    kernel.image = lambda arch, baked: (arch, baked)
    module._cuda = importlib.import_module("column_mean._cuda")
    module._cuda.entries_of = lambda image: ["_Z6piecesPKfPdl", "_Z5totalPKdPfll"]
    kernel.driver = recorder = Recorder()
    x = torch.randn(1000, 64)
    y = module.column_mean(x)
    (first, second) = recorder.launches
    partial = first[6][1]
    assert first == ("_Z6piecesPKfPdl", (16, 1, 1), (64, 2, 1), 512, 77, ["c_ulong", "c_ulong", "c_int"], [x.data_ptr(), partial, 64]), first
    assert second[:5] == ("_Z5totalPKdPfll", (1, 1, 1), (64, 1, 1), 0, 77) and second[6] == [partial, y.data_ptr(), 1000, 16], second
    assert recorder.shared == [("_Z6piecesPKfPdl", 512), ("_Z5totalPKdPfll", 0)], recorder.shared
    # What is ready for these extents takes other pointers.
    x = torch.randn(1000, 64)
    y = module.column_mean(x)
    assert recorder.launches[2][6][0] == x.data_ptr() and recorder.launches[3][6][1] == y.data_ptr() and len(recorder.shared) == 2
    del recorder.launches[2:]
    # Below the plan's requirement, and off its alignment, PyTorch answers.
    for x in (torch.randn(3, 64), torch.randn(1000 * 64 + 1)[1:].reshape(1000, 64)):
        close(module.column_mean(x), x.mean(0))
    assert len(recorder.launches) == 2
    # Another card than the one verified.
    for key in ("cards", "ready", "modules", "allowed"):
        getattr(kernel, key).clear()
    kernel.driver = recorder = Recorder(sms=66)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = torch.randn(1000, 64)
        close(module.column_mean(x), x.mean(0))
        close(module.column_mean(x), x.mean(0))
    assert len(caught) == 1 and "132 multiprocessors" in str(caught[0].message) and "66 multiprocessors" in str(caught[0].message), caught
    assert recorder.launches == []


def on_a_recorder(module, **card):
    """The kernel of a package on a driver that only records, with PyTorch's tensors on the CPU."""
    kernel = module.KERNEL
    kernel.device, kernel.stream, kernel.driver = "cpu", lambda device: 77, Recorder(**card)
    for key in ("cards", "ready", "modules", "allowed"):
        getattr(kernel, key).clear()
    module.OPERATOR.refusals.clear()
    return kernel.driver


def other_architecture(call, wanted):
    """One warning that names both, and PyTorch's answer."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            close(*call())
    said = [str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)]
    assert len(said) == 1 and wanted in said[0], said


def triton_binary(folder):
    """Machine code of a kernel in Triton: each call takes the build whose promises its integers keep."""
    module = package(folder, "scaled")
    recorder = on_a_recorder(module)
    for rows, image in ((2048, b"promised"), (1000, b"plain"), (16, b"promised"), (1, b"one"), (7, b"plain")):
        x = torch.randn(rows)
        y = module.scaled(x)
        function, grid, block, shared, stream, types, values = recorder.launches[-1]
        given = [] if image == b"one" else [rows]  # what is a constant of the build is no argument
        assert values[:-2] == [x.data_ptr(), y.data_ptr(), *given, 0.5] and values[-1] == 0, values
        assert types == ["c_ulong", "c_ulong", *["c_int"] * len(given), "c_float", "c_ulong", "c_ulong"], types
        assert (function, block, shared, stream) == ("scaled_symbol", (128, 1, 1), 4096, 77) and grid == (-(-rows // 256), 1, 1)
        assert (values[-2] != 0) == (image == b"plain"), "a launch's own bytes, where the build wants them"
        assert recorder.loaded.count(image) == 1, recorder.loaded
    assert recorder.loaded == [b"promised", b"plain", b"one"], recorder.loaded
    assert not os.path.exists(os.path.join(folder, "scaled", "build"))
    recorder = on_a_recorder(module, major=8)
    x = torch.randn(64)
    other_architecture(lambda: (module.scaled(x), x * 0.5), "its machine code is for sm_90a, this is NVIDIA H200, sm_80")
    assert recorder.launches == [] and recorder.loaded == []


def tilelang_binary(folder):
    """Machine code of a kernel in TileLang, for the shapes that it was made for, with the launch that TileLang said."""
    module = package(folder, "doubled")
    recorder = on_a_recorder(module)
    for rows, image, grid in ((100, b"for 100", 4), (3000, b"for 3000", 12)):
        x = torch.randn(rows)
        y = module.doubled(x)
        assert recorder.launches[-1] == ("kernel_symbol", (grid, 1, 1), (256, 1, 1), 1024, 77, ["c_ulong", "c_ulong"], [y.data_ptr(), x.data_ptr()]), recorder.launches
        assert recorder.loaded[-1] == image
    warnings.simplefilter("error", RuntimeWarning)
    x = torch.randn(101)
    close(module.doubled(x), 2 * x)  # of no verified shape: PyTorch, silently
    assert len(recorder.launches) == 2


def cuda_builds(folder):
    """The cubin has the plan's functions."""
    module = package(folder, "column_mean")
    runtime = importlib.import_module("column_mean._cuda")
    image = module.KERNEL.image("sm_90a", ())
    assert sorted(map(runtime.source_name, runtime.entries_of(image))) == ["pieces", "total"]
    assert module.KERNEL.image("sm_90a", ()) == image
    module.KERNEL.verified = {"device": "", "toolchain": "NVRTC 1.0, nvcc 1.0"}
    assert "it was verified with NVRTC 1.0" in raises(runtime.Refused, module.KERNEL.image, "sm_90a", ())


def model_of(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def modules_of(model, *inputs):
    """What KernelBench's own class computes: its modules one after the other."""
    for module in model.children():
        inputs = (module(*inputs),)
    return inputs[0]


def constructor(text):
    """The arguments, which the message of a wrong call names."""
    message = raises(ValueError, text.ModelNew, "no such argument")
    return eval(message.split("is built with ")[1].split(", not ")[0])


def kernelbench_run(folder, *paths):
    """Kernels that are compiled and called through ModelNew."""
    for path in paths:
        torch.manual_seed(3)
        text = model_of(path)
        done = counting(text.KERNEL)
        model = text.ModelNew(*constructor(text))
        number = int(os.path.basename(path)[12:15])
        if number == 5:
            x = torch.randn(33, 65)
            close(model(x, 3.5), x * 3.5)
        elif number == 19:
            x = torch.randn(33, 65)
            close(model(x), torch.relu(x))
        elif number == 33:
            x = torch.randn(3, 64, 5, 7)
            close(model(x), torch.nn.functional.batch_norm(x, None, None, training=True))
            model.eval()
            close(model(x), x / (1 + 1e-5) ** 0.5)
        elif number == 35:
            x = torch.randn(3, 64, 5, 7)
            close(model(x), torch.nn.functional.group_norm(x, 8))
        elif number == 63:
            x = torch.randn(1, 16, 9, 11)
            torch.manual_seed(3)
            conv = torch.nn.Conv2d(16, 128, (3, 3), bias=False)
            close(model(x), conv(x))
            assert "conv2d.weight" in model.state_dict()
            x.requires_grad_()
            model(x).sum().backward()
            assert x.grad is not None
        elif number == 95:
            x, targets = torch.randn(9, 4096), torch.randint(0, 4096, (9,))
            close(model(x, targets), torch.nn.functional.cross_entropy(x, targets))
        else:
            raise AssertionError(path)
        assert len(done) == 1, (path, done)


def kernelbench_shapes(folder, *paths):
    """All problems without a kernel: built as KernelBench builds them, the same numbers as the modules at small extents,
    the right shapes at KernelBench's own."""
    import json
    problems = {problem["id"]: problem for problem in json.load(open(os.environ["KERNELBENCH_PROBLEMS"]))}
    seen = compared = 0
    for path in paths:
        text = model_of(path)
        text.KERNEL.run = lambda inputs, outputs, extents: False
        number = int(os.path.basename(path)[12:15])
        torch.manual_seed(1)
        model = text.ModelNew(*constructor(text))
        types = {"f32": torch.float32, "i64": torch.int64, "bool": torch.bool}
        specs = problems[number]["inputs"]

        def inputs(device, shape_of):
            return [spec["value"] if "value" in spec else 3.14 if "scalar" in spec else
                    torch.rand(shape_of(spec["shape"]), device=device).to(types[spec.get("dtype", "f32")]) for spec in specs]
        given = inputs("meta", tuple)
        with torch.device("meta"):
            assert isinstance(model.to("meta")(*given), torch.Tensor), path
        seen += 1
        if list(model.children()):
            torch.manual_seed(1)
            model = text.ModelNew(*constructor(text))
            whole = "LayerNorm" in str(model)

            def small(shape):
                return tuple(min(extent, 2) if axis == 0 else extent if axis == 1 or whole else min(extent, 20) for axis, extent in enumerate(shape))
            tensors = inputs("cpu", small)
            with torch.no_grad():
                close(model(*tensors), modules_of(model, *tensors), 2e-5)
            compared += 1
    assert seen == 100 and compared > 40, (seen, compared)


if __name__ == "__main__":
    cases = [words.split("\0") for words in "\0".join(sys.argv[1:]).removesuffix("\0--").split("\0--\0")]
    for case, *arguments in cases:
        if (child := os.fork()) == 0:
            globals()[case](*arguments)
            sys.exit(0)
        if os.waitpid(child, 0)[1] != 0:
            sys.exit(f"{case} does not hold")
    print(f"{len(cases)} done")
