# A kernel in CUDA: compiled once with NVRTC or nvcc, launched as driver.py does.
import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

CUDA_PRELUDE = ("#include <float.h>\n#include <limits.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
                "#include <type_traits>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n")
NVRTC_PRELUDE = '#include "hone/nvrtc/prelude.h"\n'


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


class CudaKernel(DriverKernel):
    """`files`: kernel.cu and the headers by the names they are included by; `specialised`: for each verified workload the extents baked
    in, as a dictionary."""

    def __init__(self, name, files, config, symbols, specialised, plan, verified, folder, driver=None):
        super().__init__(name, symbols, plan, verified, driver)
        self.source, self.config, self.specialised, self.folder = files["kernel.cu"], config, specialised, folder
        self.headers = {file: text for file, text in files.items() if file != "kernel.cu"}

    def bound(self, card, extents):
        bound, baked = bind(self.plan, extents, (card["sms"], card["shared_max"], card["wave"])), self.baked(extents)
        return None if bound is None or baked is None else (*bound, baked)

    def baked(self, extents):
        """The extents that the source takes as macros; None where the kernel was verified for no such shape."""
        if not self.specialised:
            return ()
        values = dict(zip(self.symbols, extents))
        for known in self.specialised:
            if all(values[symbol] == value for symbol, value in known.items()):
                return tuple(known.items())
        return None

    @staticmethod
    def symbols_of(image, baked):
        """By the names that the source has, with and without namespaces."""
        symbols = {}
        for symbol in entries_of(image):
            name = source_name(symbol)
            symbols.setdefault(name, symbol)
            symbols.setdefault(name.rpartition("::")[2], symbol)
        return symbols

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
