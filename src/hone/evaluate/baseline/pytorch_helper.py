"""The process a PyTorch opponent lives in; src/hone/evaluate/baseline/pytorch_session.cc drives it.

Standard input brings a JSON object: the source of forward(), how to run it, the tensors' types and
the descriptors of shared regions. Then descriptor 3 brings commands of one byte, each answered by
b"K" (done) or b"E", a length (u32) and a message:

    P  prepare a batch (u32 calls, then i32 region and i64 offset for each tensor of each call): maps
       the tensors, so that a timed run does nothing but call forward()
    W  run the batch and drop its results: the memory that they took is there for the next run
    R  run the batch and keep its results
    D  deliver: copy the kept results to where the caller wants them
    O  nanoseconds (i64, after b"K") of a call that does almost nothing: what dispatch costs

The caller holds the clock and times R alone.
"""
import gc
import json
import mmap
import os
import struct
import sys
import time
import warnings

CONTROL = 3
OVERHEAD_CALLS = 1000
WARM_ROUNDS = 2  # the heap settles in the second


def receive(size):
    data = bytearray()
    while len(data) < size:
        chunk = os.read(CONTROL, size - len(data))
        if not chunk:
            os._exit(0)  # the caller is gone
        data += chunk
    return data


def send(data):
    while data:
        data = data[os.write(CONTROL, data):]


def send_error(error):
    text = f"{type(error).__name__}: {error}".encode()[:4000]
    send(b"E" + struct.pack("<I", len(text)) + text)


class Opponent:
    def __init__(self, torch, job):
        self.torch = torch
        torch.set_num_threads(job["threads"])
        torch.set_float32_matmul_precision(job["matmul_precision"])
        self.types = [(getattr(torch, t["dtype"]), t["shape"]) for t in job["tensors"]]
        self.inputs = job["inputs"]
        self.regions = [self.map(r) for r in job["regions"]]
        self.compiled = job["compile"]

        scope = {}
        exec(compile(job["source"], "forward.py", "exec"), scope)
        self.forward = self.finish(scope["forward"])
        self.work, self.kept, self.targets = [], [], []
        self.try_out()

    def finish(self, function):
        if self.compiled:
            return self.torch.compile(function, dynamic=False)
        return function

    def map(self, region):
        prot = mmap.PROT_READ | (mmap.PROT_WRITE if region["writable"] else 0)
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        return mmap.mmap(region["fd"], region["bytes"], flags=flags, prot=prot)

    def results(self, result):
        return result if isinstance(result, tuple) else (result,)

    def try_out(self):
        """Compiles, and checks that results are of the task's types and are written, not views."""
        torch = self.torch
        zeros = [torch.zeros(shape, dtype=dtype) for dtype, shape in self.types[:self.inputs]]
        results = self.results(self.forward(*zeros))
        wanted = self.types[self.inputs:]
        found = [(r.dtype, list(r.shape)) for r in results]
        if found != wanted:
            raise TypeError(f"forward() gives {found} where the task says {wanted}")
        memory = {z.untyped_storage().data_ptr() for z in zeros}
        for r in results:
            if not r.is_contiguous() or r.untyped_storage().data_ptr() in memory:
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
        (calls,) = struct.unpack("<I", receive(4))
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

    def overhead(self):
        function = self.finish(lambda x: -x)
        x = self.torch.ones(1)
        function(x)
        start = time.perf_counter_ns()
        for _ in range(OVERHEAD_CALLS):
            function(x)
        return (time.perf_counter_ns() - start) // OVERHEAD_CALLS


def serve(opponent):
    while True:
        command = os.read(CONTROL, 1)
        answer = b"K"
        if command == b"R":
            opponent.run()
        elif command == b"P":
            opponent.prepare()
        elif command == b"W":
            for _ in range(WARM_ROUNDS):
                opponent.run()
                opponent.drop()
        elif command == b"D":
            opponent.deliver()
        elif command == b"O":
            answer += struct.pack("<q", opponent.overhead())
        else:
            os._exit(0)
        send(answer)


def main():
    # Inputs are mapped read-only on purpose; torch warns that writing to them would be undefined.
    warnings.filterwarnings("ignore", message="The given buffer is not writable")
    try:
        import torch
        with torch.inference_mode():
            opponent = Opponent(torch, json.load(sys.stdin))
            # What lives until here is never garbage, and no collection falls into a timed run.
            gc.collect()
            gc.freeze()
            gc.disable()
            send(b"K")
            serve(opponent)
    except Exception as error:  # any failure is an answer; the caller then ends this process
        send_error(error)


main()
