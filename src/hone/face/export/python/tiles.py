# Kernels in Triton and TileLang: compiled by their own package where they run, launched on torch's stream.
import ast
import ctypes
import hashlib
import importlib.util
import os
import pathlib
import tempfile
import threading

ALIGNMENT = 64  # bytes, of every tensor that a kernel was verified on


def describe_card(ordinal):
    """What a verdict calls the card, and the limits that a plan may ask for."""
    about = torch.cuda.get_device_properties(ordinal)
    version = ctypes.c_int()
    if torch.version.hip:
        place, wave = f"{about.name}, {about.gcnArchName.split(':')[0]}", 64
    else:
        try:
            ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
        except OSError as error:
            raise Refused(f"there is no CUDA driver: {error}") from None
        place, wave = f"{about.name}, sm_{about.major}{about.minor}{'a' if about.major >= 9 else ''}", 32
    place += f", {about.multi_processor_count} multiprocessors, driver {version.value // 1000}.{version.value % 1000 // 10}"
    return place, (about.multi_processor_count, getattr(about, "shared_memory_per_block_optin", 0), wave)


def constant_of(text, language):
    """tl.float32, or a literal."""
    return getattr(language, text[3:]) if text.startswith("tl.") else ast.literal_eval(text)


class TileKernel:
    """`files`: kernel.py; `verified` is None or holds "device" and "toolchain": elsewhere the kernel is refused."""

    device, title = "cuda", ""

    def __init__(self, name, files, plan, verified, folder):
        self.name, self.source, self.plan, self.verified, self.folder = name, files["kernel.py"], plan, verified, folder
        self.cards, self.bound, self.loaded = {}, {}, None
        self.lock = threading.RLock()

    def run(self, inputs, outputs, extents):
        """False where the kernel does not apply to these extents or to the pointers' alignment."""
        tensors = [*inputs, *outputs]
        if any(tensor.data_ptr() % ALIGNMENT for tensor in tensors):
            return False
        device = tensors[0].device
        module = self.module()
        key = (device.index, *extents)
        if key not in self.bound:
            self.bound[key] = bind(self.plan, extents, self.limits(device.index or 0))
        if self.bound[key] is None:
            return False
        workspaces, launches = self.bound[key]
        for dtype, shape, zero in workspaces:
            tensors.append((torch.zeros if zero else torch.empty)(shape, dtype=dtype, device=device))
        with torch.cuda.device_of(tensors[0]):
            for name, grid, block, _, _, arguments in launches:
                self.launch(module, name, grid, block, [(kind, tensors[value] if kind == "tensor" else value) for kind, value in arguments])
        return True

    def limits(self, ordinal):
        """Refused where the kernel was verified on another card."""
        with self.lock:
            if ordinal not in self.cards:
                here, limits = describe_card(ordinal)
                if self.verified and here != self.verified["device"]:
                    raise Refused(f"it was verified on {self.verified['device']}, this is {here}")
                self.cards[ordinal] = limits
            return self.cards[ordinal]

    def module(self):
        with self.lock:
            if self.loaded is None:
                version = self.version()
                known = [name.strip() for name in self.verified["toolchain"].split(",")] if self.verified else None
                if known is not None and version not in known:
                    raise Refused(f"it was verified with {self.verified['toolchain']}; here is {version}")
                self.loaded = self.load(self.file())
            return self.loaded

    def file(self):
        """The source as a file, which its compiler reads functions from."""
        key = hashlib.sha256(self.source.encode()).hexdigest()[:24]
        path = pathlib.Path(writable_folder(self.folder)) / f"{self.name}_{key}.py"
        if not path.exists():
            with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as made:
                made.write(self.source)
            os.replace(made.name, path)
        return path

    def load(self, path):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


class TritonKernel(TileKernel):
    def version(self):
        try:
            import triton
        except ImportError:
            raise Refused("Triton is not installed here") from None
        return f"Triton {triton.__version__}"

    def launch(self, module, name, grid, block, arguments):
        import triton
        function = getattr(module, name)
        while isinstance(function, triton.runtime.Autotuner):  # the plan says what to take
            function = function.fn
        values = [constant_of(value, triton.language) if kind == "text" else value for kind, value in arguments]
        function[grid](*values, num_warps=block[0], num_stages=block[1])


class TileLangKernel(TileKernel):
    # Tensor maps and producer warps are what hone does without: so the kernel is the one that was verified.
    PASSES = {"tl.disable_tma_lower": True, "tl.disable_warp_specialized": True}

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.compiled = {}

    def version(self):
        try:
            import tilelang
        except ImportError:
            raise Refused("TileLang is not installed here") from None
        return f"TileLang {tilelang.__version__}"

    def load(self, path):
        """Functions as they are written: decorators that compile or time leave their pass_configs."""
        import tilelang

        def jit(function=None, *, pass_configs=None, **_):
            def mark(f):
                f.passes = {str(getattr(key, "value", key)): value for key, value in (pass_configs or {}).items()}
                return f
            return mark(function) if function is not None else mark

        kept = tilelang.jit, tilelang.autotune
        tilelang.jit, tilelang.autotune = jit, lambda function=None, **_: function if function is not None else lambda f: f
        try:
            return super().load(path)
        finally:
            tilelang.jit, tilelang.autotune = kept

    def launch(self, module, name, grid, block, arguments):
        import tilelang
        function = getattr(module, name)
        constants = tuple(constant_of(value, None) if kind == "text" else value for kind, value in arguments if kind in ("constant", "text"))
        given = [value for kind, value in arguments if kind not in ("constant", "text")]
        key = (name, constants, *[tuple(value.shape) for value in given if isinstance(value, torch.Tensor)])
        with self.lock:
            if key not in self.compiled:
                program = function(*constants) if not hasattr(function, "buffer_map") else function
                self.compiled[key] = program, tilelang.compile(program, pass_configs={**getattr(function, "passes", {}), **self.PASSES})
        program, compiled = self.compiled[key]
        compiled(*[self.viewed(program, parameter, value) for parameter, value in zip(program.params, given)])

    @staticmethod
    def viewed(program, parameter, value):
        """A tensor by the extents that its parameter has, where all of them are numbers."""
        if not isinstance(value, torch.Tensor):
            return value
        shape = program.buffer_map[parameter].shape
        try:
            return value.reshape([int(extent) for extent in shape])
        except TypeError:
            return value
