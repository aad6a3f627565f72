"""The processes a PyTorch opponent lives in; src/hone/evaluate/baseline/pytorch_server.cc and
pytorch_session.cc drive them. Each forks the next, so that nothing is imported or compiled twice.

The host imports torch, and with "modules" as its argument the compiler's modules; with "compile", or when the first
job asks for it, it compiles one tiny function as well, since much of a first compilation is the compiler getting to
know its machine. On a card that is a server's part: it looks at cards, and a context does not survive a fork.
Descriptor 3 brings it commands of one byte:

    J  fork a server; a socket for it and the shared regions come along (SCM_RIGHTS), then a length (u32)
       and a JSON object: the source of forward(), how to run it, the tensors' types, the regions' sizes.
       Answered by b"K" and its pid (i64).

A server compiles where asked to, calls forward() once and times nothing. Its socket brings

    F  fork a session; a socket for it comes along. Answered by b"K" and its pid (i64).

On a card a server serves its sessions itself, one after the other (their pid is 0): a context cannot be forked.

A session is a process with buffers, threads and mappings of its own. Its socket brings commands of one
byte, each answered by b"K" (done) or b"E", a length (u32) and a message. All say b"K" when they are ready.

    P  prepare a batch (u32 calls, u8 whether a card's caches are emptied before each, then i32 region and i64
       offset for each tensor of each call): maps the tensors, so that a timed run does nothing but call forward()
    W  run the batch and drop its results: the memory that they took is there for the next run
    R  run the batch and keep its results
    D  deliver: copy the kept results to where the caller wants them
    O  nanoseconds (i64, after b"K") of a call that does next to nothing: what dispatch costs. The batch is forgotten

The caller holds the clock and times R alone. On a card R's answer goes on with nanoseconds (i64): the calls'
own time by events on the stream, which the caller compares with its clock.
"""
import contextlib
import ctypes
import gc
import json
import mmap
import os
import signal
import socket
import struct
import sys
import threading
import time
import warnings

PR_SET_PDEATHSIG = 1
MOST_DESCRIPTORS = 128
EMPTY_CALLS = 200  # of a round that shows what dispatch costs
EMPTY_ROUNDS = 9
WARM_ROUNDS = 2  # the heap settles in the second


def send_error(error):
    text = f"{type(error).__name__}: {error}".encode()[:4000]
    send(b"E" + struct.pack("<I", len(text)) + text)


def on_a_thread(torch, threads, function):
    """OpenMP's threads belong to the thread that started them and end with it. A process that has
    some must not be forked: its child would wait for them for ever."""
    failure = []

    def body():
        try:
            torch.set_num_threads(threads)
            with torch.inference_mode():
                function()
        except Exception as error:
            failure.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]


def negated(x):
    return -x


class Opponent:
    """What the server prepares once; sessions inherit it."""

    def __init__(self, torch, job, regions, negated=None):
        self.torch = torch
        self.negated = negated  # least(), compiled by the host
        self.mappable = list(zip(job["regions"], regions))
        self.threads = job["threads"]
        torch.set_float32_matmul_precision(job["matmul_precision"])
        self.types = [(getattr(torch, t["dtype"]), t["shape"]) for t in job["tensors"]]
        self.inputs = job["inputs"]
        self.compiled = job["compile"]  # a mode of torch.compile, or nothing

        self.source, scope = job["source"], {}
        exec(compile(self.source, "forward.py", "exec"), scope)
        self.forward = self.finish(scope["forward"])
        self.empty, self.hold = self.least(), 0
        self.work, self.kept, self.targets, self.cold = [], [], [], False
        self.prove()

    def prove(self):
        self.on_a_thread(self.try_out)

    def zeros(self, shape, dtype):
        return self.torch.zeros(shape, dtype=dtype)

    def ones(self, count):
        return self.torch.ones(count)

    def on_a_thread(self, function):
        on_a_thread(self.torch, self.threads, function)

    def open(self):
        """In a session: threads and memory of its own."""
        self.torch.set_num_threads(self.threads)
        self.regions = [self.map(*r) for r in self.mappable]

    def finish(self, function):
        if self.compiled:
            return self.torch.compile(function, dynamic=False, mode=self.compiled)
        return function

    def map(self, region, descriptor):
        prot = mmap.PROT_READ | (mmap.PROT_WRITE if region["writable"] else 0)
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        return mmap.mmap(descriptor, region["bytes"], flags=flags, prot=prot)

    def results(self, result):
        return result if isinstance(result, tuple) else (result,)

    def answer(self):
        return b""

    def try_out(self):
        """Compiles, and checks that results are of the task's types and are written, not views."""
        torch = self.torch
        zeros = [self.zeros(shape, dtype) for dtype, shape in self.types[:self.inputs]]
        results = self.results(self.forward(*zeros))
        wanted = self.types[self.inputs:]
        found = [(r.dtype, list(r.shape)) for r in results]
        if found != wanted:
            raise TypeError(f"forward() gives {found} where the task says {wanted}")
        self.empty(self.ones(1))
        memory = {z.untyped_storage().data_ptr() for z in zeros}
        for r in results:
            # Another order of the axes is the library's own affair (attention on a card); repeats of few values are not.
            storage = r.untyped_storage()
            if storage.data_ptr() in memory or storage.nbytes() < r.numel() * r.element_size():
                raise TypeError("forward() returns a view of its input, which costs nothing")

    def tensor(self, number, region, offset):
        dtype, shape = self.types[number]
        count = 1
        for extent in shape:
            count *= extent
        flat = self.torch.frombuffer(self.regions[region], dtype=dtype, count=count, offset=offset)
        return flat.reshape(shape)

    def prepare(self):
        """Calls that write the same place share a slot, as they would share a buffer."""
        calls, self.cold = struct.unpack("<I?", receive(5))
        width = len(self.types)
        place = struct.Struct("<iq")
        places = list(place.iter_unpack(receive(calls * width * place.size)))
        slots, self.work, self.targets = {}, [], []
        for i in range(calls):
            call = places[i * width:(i + 1) * width]
            tensors = [self.tensor(n, *p) for n, p in enumerate(call)]
            slot = slots.setdefault(tuple(call[self.inputs:]), len(slots))
            if slot == len(self.targets):
                self.targets.append(tensors[self.inputs:])
            self.work.append((slot, tensors[:self.inputs]))
        self.kept = [None] * len(slots)
        gc.collect()

    def run(self):
        forward, kept = self.forward, self.kept
        for slot, inputs in self.work:
            kept[slot] = forward(*inputs)

    def drop(self):
        self.kept = [None] * len(self.kept)

    def deliver(self):
        for slot, targets in enumerate(self.targets):
            for target, result in zip(targets, self.results(self.kept[slot])):
                target.copy_(result)
        self.drop()

    def least(self):
        """One operation on one element, in our mode."""
        if not self.compiled:
            return negated
        return self.negated or self.torch.compile(negated, dynamic=False)

    def timed_run(self):
        start = time.perf_counter_ns()
        self.run()
        return time.perf_counter_ns() - start

    def dispatch(self):
        """Nanoseconds of a call that does next to nothing, by the loop and the clock of all calls; the median of
        rounds, after one that is not counted."""
        forward, hold = self.forward, self.hold
        one = self.ones(1)
        self.forward, self.work, self.kept = self.empty, [(0, [one])] * EMPTY_CALLS, [None]
        times = sorted([self.timed_run() for _ in range(EMPTY_ROUNDS + 1)][1:])
        self.forward, self.work, self.kept, self.targets, self.hold = forward, [], [], [], hold
        return times[len(times) // 2] // EMPTY_CALLS


class CardMapping:
    """Memory of the card that hone shares by descriptor, as the driver's interface for it has it
    (cuMemImportFromShareableHandle and its kin)."""

    def __init__(self, card):
        self.card = card
        self.driver = ctypes.CDLL(os.environ.get("HONE_CUDA_DRIVER", "libcuda.so.1"))

    def call(self, name, *arguments):
        result = getattr(self.driver, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{name} answers {result}")

    def address(self, descriptor, size, writable):
        handle, at = ctypes.c_ulonglong(), ctypes.c_ulonglong()
        size = ctypes.c_size_t(size)
        self.call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(descriptor), 1)
        self.call("cuMemAddressReserve", ctypes.byref(at), size, ctypes.c_size_t(0), ctypes.c_ulonglong(0), ctypes.c_ulonglong(0))
        self.call("cuMemMap", at, size, ctypes.c_size_t(0), handle, ctypes.c_ulonglong(0))
        access = (ctypes.c_int * 3)(1, self.card, 3 if writable else 1)  # of the device, for reading or both
        self.call("cuMemSetAccess", at, size, access, ctypes.c_size_t(1))
        return at.value


class CardArray:
    """Bytes on a card, as torch.as_tensor takes them."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


class CardOpponent(Opponent):
    """On a card. What a user of PyTorch waits for is the device, so the clock is events on the stream; calls are
    queued behind a short spin, so that the host's dispatch shows only where it is slower than the device."""

    LONGEST_HOLD = 0.05  # seconds
    CLOCK = 2e9          # cycles a second, about

    def __init__(self, torch, job, regions):
        self.device = torch.device("cuda", job["card"])
        torch.cuda.set_device(self.device)
        torch.backends.cudnn.allow_tf32 = job["cudnn_tf32"]
        self.flush_bytes = job["flush_bytes"]
        super().__init__(torch, job, regions)
        self.hold = 0.001

    def finish(self, function):
        device = self.device

        def on_card(*arguments):
            with device:
                return function(*arguments)
        # Tensors that forward() makes itself belong on the card too; without any, nothing is wrapped.
        made = any(f"torch.{f}(" in self.source for f in ("tensor", "arange", "zeros", "ones", "full", "eye", "empty"))
        return super().finish(on_card if made else function)

    def prove(self):
        with self.torch.inference_mode():
            self.try_out()
        self.torch.cuda.synchronize()

    def zeros(self, shape, dtype):
        return self.torch.zeros(shape, dtype=dtype, device=self.device)

    def ones(self, count):
        return self.torch.ones(count, device=self.device)

    def open(self):
        mapping = CardMapping(self.device.index)
        self.regions = []
        for region, descriptor in self.mappable:
            address = mapping.address(descriptor, region["bytes"], region["writable"])
            self.regions.append(self.torch.as_tensor(CardArray(address, region["bytes"]), device=self.device))
        self.flush = self.torch.empty(self.flush_bytes // 8, dtype=self.torch.int64, device=self.device)

    def tensor(self, number, region, offset):
        dtype, shape = self.types[number]
        size = self.torch.empty(0, dtype=dtype).element_size()
        for extent in shape:
            size *= extent
        return self.regions[region][offset:offset + size].view(dtype).reshape(shape)

    def run(self):
        torch, forward, kept = self.torch, self.forward, self.kept
        marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in self.work]
        torch.cuda.synchronize()
        torch.cuda._sleep(int(self.hold * self.CLOCK))
        start = time.perf_counter()
        for (slot, inputs), (before, after) in zip(self.work, marks):
            if self.cold:
                # Read again, as hone's own worker does: what is in the cache then need not be written back.
                self.flush.zero_()
                self.flush.sum()
            before.record()
            kept[slot] = forward(*inputs)
            after.record()
        queued = time.perf_counter() - start
        torch.cuda.synchronize()
        self.hold = min(self.LONGEST_HOLD, 1.5 * queued + 1e-4)
        self.ns = int(sum(before.elapsed_time(after) for before, after in marks) * 1e6)

    def answer(self):
        return struct.pack("<q", self.ns)

    def deliver(self):
        super().deliver()
        self.torch.cuda.synchronize()

    def timed_run(self):
        self.run()
        return self.ns


def serve(opponent):
    while True:
        command = os.read(CONTROL, 1)
        answer = b"K"
        if command == b"R":
            opponent.run()
            answer += opponent.answer()
        elif command == b"P":
            opponent.prepare()
        elif command == b"W":
            for _ in range(WARM_ROUNDS):
                opponent.run()
                opponent.drop()
        elif command == b"D":
            opponent.deliver()
        elif command == b"O":
            answer += struct.pack("<q", opponent.dispatch())
        else:
            return  # the caller has gone
        send(answer)


def guarded(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:  # any failure is an answer; the caller then ends this process
        send_error(error)


def fork(socket_descriptor, function, *arguments):
    """A child that hears its own socket and ends with us, also while it is stopped."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == parent:
            os.dup2(socket_descriptor, CONTROL)
            os.close(socket_descriptor)
            guarded(function, *arguments)
        os._exit(0)
    return pid


def commands(letter):
    """Yields the descriptors that come with each; the first is a new child's socket."""
    channel = socket.socket(fileno=CONTROL)
    while True:
        command, descriptors, _, _ = socket.recv_fds(channel, 1, MOST_DESCRIPTORS)
        if command != letter or not descriptors:
            os._exit(0)
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            pass
        yield descriptors
        for descriptor in descriptors:
            os.close(descriptor)


def session(opponent):
    opponent.open()
    send(b"K")
    with opponent.torch.inference_mode():
        serve(opponent)


def settle():
    """What lives until here is never garbage: collections pass over it (a fifth of a second with the compiler's modules),
    and none falls into a timed run."""
    gc.collect()
    gc.freeze()
    gc.disable()


def card_server(torch, job, regions):
    opponent = CardOpponent(torch, job, regions)
    opponent.open()
    settle()
    send(b"K")
    for descriptors in commands(b"F"):
        send(b"K" + struct.pack("<q", 0))
        own = os.dup(CONTROL)
        os.dup2(descriptors[0], CONTROL)
        send(b"K")
        with torch.inference_mode():
            guarded(serve, opponent)
        opponent.drop()
        os.dup2(own, CONTROL)
        os.close(own)


def server(torch, job, regions, compiled_negated):
    if "card" in job:
        return card_server(torch, job, regions)
    opponent = Opponent(torch, job, regions, compiled_negated)
    settle()
    # A session's heap grows by fresh pages, huge where the machine has them; what the heap still held would be copied
    # page by page.
    ctypes.CDLL(None).malloc_trim(0)
    send(b"K")
    for descriptors in commands(b"F"):
        send(b"K" + struct.pack("<q", fork(descriptors[0], session, opponent)))


def host():
    # Inputs are mapped read-only on purpose; torch warns that writing to them would be undefined.
    warnings.filterwarnings("ignore", message="The given buffer is not writable")
    import torch
    compiled = None

    def compiler(threads):
        import torch._inductor.compile_fx
        function = torch.compile(negated, dynamic=False)
        on_a_thread(torch, threads, lambda: function(torch.ones(1)))
        return function

    if "modules" in sys.argv[1:]:
        with contextlib.suppress(Exception):
            import torch._inductor.compile_fx  # 7 to 8 s on a machine with a card, where most compilations take one or two
    if "compile" in sys.argv[1:]:
        with contextlib.suppress(Exception):  # a job that needs it fails by itself, and says why
            compiled = compiler(int(os.environ["OMP_NUM_THREADS"]))
    send(b"K")
    for descriptors in commands(b"J"):
        (size,) = struct.unpack("<I", receive(4))
        job = json.loads(receive(size))
        if job["compile"] and not compiled and "card" not in job:
            with contextlib.suppress(Exception):
                compiled = compiler(job["threads"])
        pid = fork(descriptors[0], server, torch, job, descriptors[1:], compiled)
        send(b"K" + struct.pack("<q", pid))


guarded(host)
