# A kernel in CUDA: compiled once with NVRTC or nvcc, its launch plan run through the driver on torch's stream.
import ctypes
import hashlib
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import threading

CUDA_PRELUDE = ("#include <float.h>\n#include <limits.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
                "#include <type_traits>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n")
NVRTC_PRELUDE = '#include "hone/nvrtc/prelude.h"\n'
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


def entries_of(cubin):
    """Symbols of the __global__ functions in a CUDA binary, from its ELF symbol table."""
    at, = struct.unpack_from("<Q", cubin, 0x28)
    size, count = struct.unpack_from("<HH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + i * size) for i in range(count)]
    found = []
    for _, kind, _, _, offset, length, link, _, _, width in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        names = sections[link][4]
        for place in range(offset, offset + length, width):
            name, info, other, home = struct.unpack_from("<IBBH", cubin, place)
            if info & 15 == 2 and other & 0x10 and home:  # a function, an entry, defined here
                found.append(cubin[names + name:cubin.index(b"\0", names + name)].decode())
    return found


def source_name(symbol):
    """The name that a mangled symbol has in the source: rows for rows, _Z4rowsPf; a::rows for _ZN1a4rowsILi4EEvv."""
    if not symbol.startswith("_Z"):
        return symbol
    at, last = 2, ""
    nested = symbol[at:at + 1] == "N"
    at += nested
    while at < len(symbol):
        at += symbol[at] == "L"
        digits = re.match(r"\d+", symbol[at:])
        if not digits or int(digits[0]) == 0 or int(digits[0]) > len(symbol) - at - digits.end():
            break
        at += digits.end()
        last += ("::" if last else "") + symbol[at:at + int(digits[0])]
        at += int(digits[0])
        if not nested:
            break
    return last


def first_existing(paths):
    return next((str(path) for path in paths if path and pathlib.Path(path).exists()), None)


def find_nvcc():
    """(program, "nvcc 13.0.88"), or None."""
    home = os.environ.get("CUDA_HOME")
    chosen = os.environ.get("HONE_NVCC")
    for program in [chosen] if chosen else [home and f"{home}/bin/nvcc", shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]:
        if program and shutil.which(program):
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            version = re.search(r", V(\S+)", said)
            if version:
                return program, f"nvcc {version[1]}"
    return None


def cuda_folders():
    """Where toolkits and NVIDIA's Python packages lie."""
    folders = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    nvcc = find_nvcc()
    if nvcc:
        plan = subprocess.run([nvcc[0], "--dryrun", "-x", "cu", "-cubin", "/dev/null", "-o", "/dev/null"], capture_output=True, text=True)
        top = re.search(r"#\$ TOP=(.*)", plan.stderr + plan.stdout)
        folders.insert(0, top and top[1])
    try:
        import nvidia
        for place in nvidia.__path__:
            folders += sorted(str(path) for path in pathlib.Path(place).iterdir())
    except ImportError:
        pass
    return [pathlib.Path(folder) for folder in folders if folder and pathlib.Path(folder).is_dir()]


class Nvrtc:
    """The compiler as a library. Raises OSError where it does not load."""

    def __init__(self, library, include):
        self.include = include
        for builtins in sorted(pathlib.Path(library).parent.glob("libnvrtc-builtins.so*")):
            try:
                ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
            except OSError:
                pass
        self.library = ctypes.CDLL(library)
        major, minor = ctypes.c_int(), ctypes.c_int()
        if self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) != 0:
            raise OSError("NVRTC does not say what it is")
        self.name = f"NVRTC {major.value}.{minor.value}"

    def compile(self, unit, headers, arch):
        """The cubin; Refused with the compiler's words."""
        options = ["--std=c++20", "--gpu-architecture=" + arch, "--ptxas-options=-O3", "-lineinfo", "-default-device", "--diag-suppress=47",
                   f"-I{headers}/hone/nvrtc/shim", f"-I{self.include}", f"-I{self.include}/cccl", f"-I{headers}"]
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        if self.library.nvrtcCreateProgram(ctypes.byref(program), unit.encode(), b"unit.cu", 0, None, None) != 0:
            raise Refused("NVRTC takes no program")
        words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        status = self.library.nvrtcCompileProgram(program, len(options), words)
        get, length = ("nvrtcGetCUBIN", "nvrtcGetCUBINSize") if status == 0 else ("nvrtcGetProgramLog", "nvrtcGetProgramLogSize")
        self.library[length](program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        self.library[get](program, text)
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        if status != 0:
            raise Refused(f"{self.name} does not compile it: {text.value.decode(errors='replace')[:2000]}")
        return text.raw[:size.value]


def find_nvrtc():
    chosen = os.environ.get("HONE_NVRTC", "")
    if chosen == "none":
        return None
    folders = cuda_folders()
    include = first_existing(folder / part for folder in folders for part in ("include",) if (folder / part / "cuda_fp16.h").exists())
    places = [pathlib.Path(chosen)] if chosen else [folder / lib / name for folder in folders for lib in ("lib64", "lib")
                                                    for name in ("libnvrtc.so.13", "libnvrtc.so.12")]
    for library in places:
        if include and library.exists():
            try:
                return Nvrtc(str(library), include)
            except OSError:
                continue
    return None


def compile_with_nvcc(nvcc, unit, headers, arch, scratch):
    (pathlib.Path(scratch) / "unit.cu").write_text(unit)
    done = subprocess.run([nvcc[0], "-std=c++20", "-O3", "-Xptxas", "-O3", f"-gencode=arch=compute_{arch[3:]},code={arch}", "-cubin",
                           "-lineinfo", "--expt-relaxed-constexpr", f"-I{headers}", "-o", "kernel.cubin", "unit.cu"],
                          cwd=scratch, capture_output=True, text=True)
    if done.returncode != 0:
        raise Refused(f"{nvcc[1]} does not compile it: {(done.stderr + done.stdout)[:2000]}")
    return (pathlib.Path(scratch) / "kernel.cubin").read_bytes()


class CudaKernel:
    """`files`: kernel.cu and the headers by the names they are included by; `specialised`: for each verified workload the extents baked
    in, as a dictionary; `verified` is None or holds "device" and "toolchain": elsewhere the kernel is refused."""

    device = "cuda"

    def __init__(self, name, files, config, symbols, specialised, plan, verified, folder, driver=None):
        self.name, self.source, self.config = name, files["kernel.cu"], config
        self.headers = {file: text for file, text in files.items() if file != "kernel.cu"}
        self.symbols, self.specialised, self.plan = symbols, specialised, plan
        self.verified, self.folder, self.driver = verified, folder, driver
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
        bound, baked = bind(self.plan, extents, (card["sms"], card["shared_max"], card["wave"])), self.baked(extents)
        if bound is None or baked is None:
            return None
        workspaces, launches = bound
        ready = []
        self.driver.enter(ordinal)
        try:
            module, symbols = self.module(ordinal, card, baked)
            for name, grid, block, cluster, shared, arguments in launches:
                function = self.function(ordinal, baked, module, symbols, name, shared, math.prod(cluster))
                cells = [ctypes.c_uint64() if kind == "tensor" else ctypes.c_int32(value) if kind == "i32" else ctypes.c_int64(value)
                         for kind, value in arguments]
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
                self.driver = Driver()
            card = self.driver.describe(ordinal)
            card["arch"] = f"sm_{card['major']}{card['minor']}{'a' if card['major'] >= 9 else ''}"
            if self.verified:
                here = (f"{card['name']}, {card['arch']}, {card['sms']} multiprocessors, "
                        f"driver {card['driver'] // 1000}.{card['driver'] % 1000 // 10}")
                if here != self.verified["device"]:
                    raise Refused(f"it was verified on {self.verified['device']}, this is {here}")
            self.cards[ordinal] = card
            return card

    def baked(self, extents):
        """The extents that the source takes as macros; None where the kernel was verified for no such shape."""
        if not self.specialised:
            return ()
        values = dict(zip(self.symbols, extents))
        for known in self.specialised:
            if all(values[symbol] == value for symbol, value in known.items()):
                return tuple(known.items())
        return None

    def module(self, ordinal, card, baked):
        key = (ordinal, baked)
        if key not in self.modules:
            with self.lock:
                if key not in self.modules:
                    image = self.image(card["arch"], baked)
                    symbols = {}
                    for symbol in entries_of(image):
                        name = source_name(symbol)
                        symbols.setdefault(name, symbol)
                        symbols.setdefault(name.rpartition("::")[2], symbol)
                    self.modules[key] = self.driver.load(image), symbols
        return self.modules[key]

    def function(self, ordinal, baked, module, symbols, name, shared, blocks):
        key = (ordinal, baked, name)
        known = self.allowed.get(key)
        if known is None or known[1] < shared or known[2] < blocks:
            with self.lock:
                function = known[0] if known else self.driver.function(module, symbols[name])
                self.driver.allow_shared(function, shared)
                self.driver.allow_cluster(function, blocks)
                self.allowed[key] = known = function, shared, blocks
        return known[0]

    def unit(self, prelude, baked):
        text = prelude + "".join(f"#define {name} {value}\n" for name, value in self.config.items())
        text += "".join(f"#define {name} {value}LL\n" for name, value in baked)
        return text + '#line 1 "kernel.cu"\n' + self.source + "\n"

    def image(self, arch, baked):
        """The cubin, made by a compiler that the kernel was verified with; kept for the next process."""
        known = [name.strip() for name in self.verified["toolchain"].split(",")] if self.verified else None
        folder = writable_folder(self.folder)
        key = hashlib.sha256(repr((sorted(self.headers.items()), self.unit("", baked), arch, known)).encode()).hexdigest()[:24]
        kept = folder / f"{self.name}-{key}.cubin"
        if kept.exists():
            return kept.read_bytes()
        nvrtc, nvcc = find_nvrtc(), find_nvcc()
        here = [compiler for compiler in (nvrtc and nvrtc.name, nvcc and nvcc[1]) if compiler]
        usable = [compiler for compiler in here if known is None or compiler in known]
        if not usable:
            raise Refused(f"it was verified with {self.verified['toolchain']}; here is {', '.join(here)}" if known and here else
                          "there is neither NVRTC nor nvcc")
        image = None
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            for name, text in self.headers.items():
                path = pathlib.Path(scratch) / "include" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            for compiler in usable:
                try:
                    if nvrtc and compiler == nvrtc.name:
                        image = nvrtc.compile(self.unit(NVRTC_PRELUDE, baked), f"{scratch}/include", arch)
                    else:
                        image = compile_with_nvcc(nvcc, self.unit(CUDA_PRELUDE, baked), f"{scratch}/include", arch, scratch)
                    break
                except Refused:  # NVRTC finds fewer headers: what it refuses, nvcc judges
                    if compiler == usable[-1]:
                        raise
            made = pathlib.Path(scratch) / "kept.cubin"
            made.write_bytes(image)
            os.replace(made, kept)
        return image
