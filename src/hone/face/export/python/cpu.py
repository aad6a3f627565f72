# A kernel in C++: compiled once, kept beside this file, called through ctypes.
import ctypes
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import threading


def cpu_here():
    """The model and the instruction set, in hone's words."""
    model, flags = "unknown CPU", ()
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and model == "unknown CPU":
                model = value[1:]
            elif key.strip() == "flags" and not flags:
                flags = value.split()
    except OSError:
        pass
    if platform.machine() not in ("x86_64", "AMD64"):
        return model, "neon"
    if "avx512f" in flags and "avx512vl" in flags:
        return model, "avx512"
    return model, "avx2" if "avx2" in flags else "sse2"


def version_of(compiler):
    try:
        done = subprocess.run([compiler, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.split("\n")[0] if done.returncode == 0 else None


class CpuKernel:
    """`verified` is None or holds "device" ("MODEL, ISA, N threads") and "toolchain" ("g++ 12.2.0"): elsewhere the
    kernel is refused."""

    device = "cpu"

    def __init__(self, name, files, flags, compiler, arguments, verified, folder):
        self.name, self.files, self.flags, self.compiler = name, files, flags, compiler
        self.arguments, self.verified, self.folder = arguments, verified, folder
        self.function, self.refusal = None, None
        self.lock = threading.Lock()

    def run(self, inputs, outputs, extents):
        """False where the kernel does not apply to these extents or to the pointers' alignment."""
        if self.function is None:
            with self.lock:
                if self.function is None:
                    self.function = self.load()
        pointers = [tensor.data_ptr() for tensor in (*inputs, *outputs)]
        return self.function(*pointers, *extents, torch.get_num_threads())

    def load(self):
        compiler, version = self.find_compiler()
        model, isa = cpu_here()
        if self.verified:
            there = self.verified["device"].rpartition(", ")[0]
            if there and there != f"{model}, {isa}":
                raise Refused(f"it was verified on {there}, this is {model}, {isa}")
        library = self.build(compiler, version, model)
        function = ctypes.CDLL(str(library))[self.name + "_call"]
        function.restype = ctypes.c_bool
        function.argtypes = [ctypes.c_void_p] * self.arguments[0] + [ctypes.c_int64] * self.arguments[1] + [ctypes.c_int]
        return function

    def find_compiler(self):
        """The compiler that the kernel was verified with, in its version."""
        known = [name.strip() for name in self.verified["toolchain"].split(",")] if self.verified else []
        wanted = [name for name in known if name.startswith("clang") == (self.compiler == "clang")]
        if self.compiler == "" and known:
            wanted = known[:1]
        if not wanted:
            for program in ("g++", "clang++") if self.compiler != "clang" else [f"clang++-{n}" for n in range(22, 15, -1)] + ["clang++"]:
                version = shutil.which(program) and version_of(program)
                if version:
                    return program, f"{program} {version}"
            raise Refused("there is no C++ compiler")
        program, _, version = wanted[0].rpartition(" ")
        chosen = os.environ.get("HONE_CXX", "")
        found = chosen if os.path.basename(chosen) == program else shutil.which(program)
        here = version_of(found) if found else None
        if here != version:
            raise Refused(f"it was verified with {wanted[0]}, here is " + (f"{program} {here}" if here else "none of that name"))
        return found, wanted[0]

    def build(self, compiler, version, model):
        gnu = () if "clang" in version else ("-fschedule-insns", "-fsched-pressure")
        command = [compiler, "-std=c++20", *self.flags, *gnu, "-fPIC", "-shared", "-pthread"]
        key = hashlib.sha256(repr((sorted(self.files.items()), command[1:], version, model)).encode()).hexdigest()[:24]
        folder = writable_folder(self.folder)
        library = folder / f"{self.name}-{key}.so"
        if library.exists():
            return library
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            for name, text in self.files.items():
                (pathlib.Path(scratch) / name).write_text(text)
            done = subprocess.run([*command, "-o", "kernel.so", f"{self.name}.cc"], cwd=scratch, capture_output=True, text=True)
            if done.returncode != 0:
                error = re.search(r".*error.*", done.stderr)
                raise Refused(f"{version} does not compile it: {error[0] if error else done.stderr[:500]}")
            os.replace(pathlib.Path(scratch) / "kernel.so", library)
        return library
