# GPU kernels as machine code: a launch plan run through the card's driver on torch's stream.
import ctypes
import math
import threading

ALIGNMENT = 64  # bytes, of every tensor that a kernel was verified on
WITHOUT_ASKING = 48 << 10  # bytes of dynamic shared memory that a block gets unasked
PORTABLE_CLUSTER = 8


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("padding", ctypes.c_char * 4), ("extents", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class Driver:
    """What is used of libcuda, as its documentation declares it."""

    NAMES = {"sms": 16, "shared_max": 97, "wave": 10, "major": 75, "minor": 76}
    MAX_DYNAMIC_SHARED, SHARED_CARVEOUT, LARGE_CLUSTERS = 8, 9, 14
    CLUSTER_DIMENSION = 4

    def __init__(self, library="libcuda.so.1"):
        try:
            self.library = ctypes.CDLL(library)
        except OSError as error:
            raise Refused(f"there is no CUDA driver: {error}") from None
        self.contexts, self.popped = {}, ctypes.byref(ctypes.c_void_p())
        self.check(self.library.cuInit(0), "cuInit")

    def check(self, status, what):
        if status == 0:
            return
        text = ctypes.c_char_p()
        self.library.cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"{what}: {(text.value or b'?').decode()}")

    def describe(self, ordinal):
        """A dictionary: name, driver (13000 for 13.0), and NAMES."""
        device, value, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
        self.check(self.library.cuDeviceGet(ctypes.byref(device), ordinal), "cuDeviceGet")
        self.check(self.library.cuDeviceGetName(name, 255, device), "cuDeviceGetName")
        about = {"name": name.value.decode()}
        for what, number in self.NAMES.items():
            self.check(self.library.cuDeviceGetAttribute(ctypes.byref(value), number, device), "cuDeviceGetAttribute")
            about[what] = value.value
        self.check(self.library.cuDriverGetVersion(ctypes.byref(value)), "cuDriverGetVersion")
        about["driver"] = value.value
        return about

    def enter(self, ordinal):
        """Makes the context that torch uses current in this thread."""
        context = self.contexts.get(ordinal)
        if context is None:  # kept from here on, as torch keeps it
            device, context = ctypes.c_int(), ctypes.c_void_p()
            self.check(self.library.cuDeviceGet(ctypes.byref(device), ordinal), "cuDeviceGet")
            self.check(self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
            self.contexts[ordinal] = context
        self.check(self.library.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent")

    def leave(self):
        self.library.cuCtxPopCurrent_v2(self.popped)

    def load(self, image):
        module = ctypes.c_void_p()
        self.check(self.library.cuModuleLoadData(ctypes.byref(module), image), "cuModuleLoadData")
        return module

    def function(self, module, symbol):
        function = ctypes.c_void_p()
        self.check(self.library.cuModuleGetFunction(ctypes.byref(function), module, symbol.encode()), f"cuModuleGetFunction {symbol}")
        return function

    def allow_shared(self, function, size):
        self.check(self.library.cuFuncSetAttribute(function, self.MAX_DYNAMIC_SHARED, size), f"{size} bytes of shared memory")
        if size > WITHOUT_ASKING:  # a wish: some cards have no choice
            self.library.cuFuncSetAttribute(function, self.SHARED_CARVEOUT, 100)

    def allow_cluster(self, function, blocks):
        if blocks > PORTABLE_CLUSTER:
            self.check(self.library.cuFuncSetAttribute(function, self.LARGE_CLUSTERS, 1), f"clusters of {blocks} blocks")

    def prepare(self, function, grid, block, cluster, shared, cells):
        """A function of a stream that launches it there with what `cells` hold then: ctypes values, one an argument."""
        slots = (ctypes.c_void_p * max(1, len(cells)))(*[ctypes.addressof(cell) for cell in cells])
        library, check = self.library, self.check
        if cluster != (1, 1, 1):
            attribute = LaunchAttribute(self.CLUSTER_DIMENSION, b"", (ctypes.c_uint * 16)(*cluster))
            config = LaunchConfig((ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), shared, None, ctypes.pointer(attribute), 1)

            def launch(stream):
                config.stream = stream
                check(library.cuLaunchKernelEx(ctypes.byref(config), function, slots, None), "cuLaunchKernelEx")
        else:
            sizes, place = tuple(map(ctypes.c_uint, (*grid, *block, shared))), ctypes.c_void_p()

            def launch(stream):
                place.value = stream
                check(library.cuLaunchKernel(function, *sizes, place, slots, None), "cuLaunchKernel")
        launch.cells = cells  # whose addresses the slots hold
        return launch


class HipDriver:
    """The same of HIP's library. Nobody has run it on a card yet."""

    def __init__(self, library="libamdhip64.so"):
        try:
            self.library = ctypes.CDLL(library)
        except OSError as error:
            raise Refused(f"there is no HIP driver: {error}") from None
        self.library.hipGetErrorString.restype = ctypes.c_char_p
        self.before = threading.local()
        self.check(self.library.hipInit(0), "hipInit")

    def check(self, status, what):
        if status != 0:
            raise RuntimeError(f"{what}: {(self.library.hipGetErrorString(status) or b'?').decode()}")

    def describe(self, ordinal):
        about, version = torch.cuda.get_device_properties(ordinal), ctypes.c_int()
        self.check(self.library.hipDriverGetVersion(ctypes.byref(version)), "hipDriverGetVersion")
        return {"name": about.name, "arch": about.gcnArchName.split(":")[0], "driver": version.value, "sms": about.multi_processor_count, "wave": about.warp_size,
                "shared_max": about.shared_memory_per_block}

    def enter(self, ordinal):
        device = ctypes.c_int()
        self.check(self.library.hipGetDevice(ctypes.byref(device)), "hipGetDevice")
        self.before.device = device.value
        self.check(self.library.hipSetDevice(ordinal), "hipSetDevice")

    def leave(self):
        self.library.hipSetDevice(self.before.device)

    def load(self, image):
        module = ctypes.c_void_p()
        self.check(self.library.hipModuleLoadData(ctypes.byref(module), image), "hipModuleLoadData")
        return module

    def function(self, module, symbol):
        function = ctypes.c_void_p()
        self.check(self.library.hipModuleGetFunction(ctypes.byref(function), module, symbol.encode()), f"hipModuleGetFunction {symbol}")
        return function

    def allow_shared(self, function, size):
        """Needs no asking: a launch that wants too much fails."""

    def allow_cluster(self, function, blocks):
        if blocks > 1:
            raise Refused("AMD's cards launch no clusters")

    def prepare(self, function, grid, block, cluster, shared, cells):
        slots = (ctypes.c_void_p * max(1, len(cells)))(*[ctypes.addressof(cell) for cell in cells])
        sizes, place = tuple(map(ctypes.c_uint, (*grid, *block, shared))), ctypes.c_void_p()

        def launch(stream):
            place.value = stream
            self.check(self.library.hipModuleLaunchKernel(function, *sizes, place, slots, None), "hipModuleLaunchKernel")
        launch.cells = cells
        return launch


CELLS = {"tensor": ctypes.c_uint64, "null": ctypes.c_uint64, "i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float}


class DriverKernel:
    """What kernels that the driver launches have in common. Subclasses say what is launched at given extents (`bound`), and have the machine
    code (`image`) and its symbols (`symbols_of`). `verified` is None or holds "device" and "toolchain": elsewhere the kernel is refused."""

    device, arch = "cuda", None  # the architecture that the machine code is for, where it is there already

    def __init__(self, name, symbols, plan, verified, driver=None):
        self.name, self.symbols, self.plan, self.verified, self.driver = name, symbols, plan, verified, driver
        self.cards, self.ready, self.modules, self.allowed = {}, {}, {}, {}
        self.lock = threading.RLock()

    def run(self, inputs, outputs, extents):
        """False where the kernel does not apply to these extents or to the pointers' alignment."""
        tensors = [*inputs, *outputs]
        pointers = [tensor.data_ptr() for tensor in tensors]
        if any(pointer % ALIGNMENT for pointer in pointers):
            return False
        device = tensors[0].device
        key = (device.index or 0, *extents)
        if key not in self.ready:
            self.ready[key] = self.prepared(*key)
        if self.ready[key] is None:
            return False
        workspaces, launches = self.ready[key]
        kept = [(torch.zeros if zero else torch.empty)(shape, dtype=dtype, device=device) for dtype, shape, zero in workspaces]
        pointers += [tensor.data_ptr() for tensor in kept]
        stream = self.stream(device)
        self.driver.enter(key[0])
        try:
            with self.lock:  # the cells are one call's at a time
                for launch, places in launches:
                    for cell, at in places:
                        cell.value = pointers[at]
                    launch(stream)
        finally:
            self.driver.leave()
        return True

    def prepared(self, ordinal, *extents):
        """(workspaces, launches) for these extents, each launch with the cells that take a pointer and which one; None where hone
        would not run it."""
        card = self.card(ordinal)
        bound = self.bound(card, extents)
        if bound is None:
            return None
        workspaces, launches, build = bound
        ready = []
        self.driver.enter(ordinal)
        try:
            module, symbols = self.module(ordinal, card, build)
            for name, grid, block, cluster, shared, arguments in launches:
                function = self.function(ordinal, build, module, symbols, name, shared, math.prod(cluster))
                cells = [CELLS[kind](value or 0) for kind, value in arguments]
                places = [(cell, value) for cell, (kind, value) in zip(cells, arguments) if kind == "tensor"]
                ready.append((self.driver.prepare(function, grid, block, cluster, shared, cells), places))
        finally:
            self.driver.leave()
        return workspaces, ready

    def stream(self, device):
        return torch.cuda.current_stream(device).cuda_stream

    def card(self, ordinal):
        """What the driver says of it. Refused where the kernel was verified on another."""
        if ordinal in self.cards:
            return self.cards[ordinal]
        with self.lock:
            if self.driver is None:
                self.driver = HipDriver() if torch.version.hip else Driver()
            card = self.driver.describe(ordinal)
            card.setdefault("arch", f"sm_{card.get('major')}{card.get('minor')}{'a' if card.get('major', 0) >= 9 else ''}")
            if self.arch and card["arch"] != self.arch:
                raise Refused(f"its machine code is for {self.arch}, this is {card['name']}, {card['arch']}")
            if self.verified:
                here = (f"{card['name']}, {card['arch']}, {card['sms']} multiprocessors, "
                        f"driver {card['driver'] // 1000}.{card['driver'] % 1000 // 10}")
                if here != self.verified["device"]:
                    raise Refused(f"it was verified on {self.verified['device']}, this is {here}")
            self.cards[ordinal] = card
            return card

    def module(self, ordinal, card, build):
        key = (ordinal, build)
        if key not in self.modules:
            with self.lock:
                if key not in self.modules:
                    image = self.image(card["arch"], build)
                    self.modules[key] = self.driver.load(image), self.symbols_of(image, build)
        return self.modules[key]

    def function(self, ordinal, build, module, symbols, name, shared, blocks):
        key = (ordinal, build, name)
        known = self.allowed.get(key)
        if known is None or known[1] < shared or known[2] < blocks:
            with self.lock:
                function = known[0] if known else self.driver.function(module, symbols[name])
                self.driver.allow_shared(function, shared)
                self.driver.allow_cluster(function, blocks)
                self.allowed[key] = known = function, shared, blocks
        return known[0]
