# A whole program as one CUDA graph: a call copies its arguments to where the graph reads them, replays it, and copies the results
# out. What a step costs Python, PyTorch's dispatcher and the driver, is paid once, when the graph is recorded.
import threading
import time

import torch


class CudaGraphs:
    """What recordings use of torch.cuda; tests put something in its place."""

    device_type = "cuda"

    def may_replay(self):
        """Not within somebody else's recording, nor where autocast gives PyTorch's operators another meaning."""
        return not torch.cuda.is_current_stream_capturing() and not torch.is_autocast_enabled("cuda")

    def record(self, function, device, warm=None):
        """(replay, results): what `function` put on the stream, `warm` (or the function itself) having run once before."""
        side = torch.cuda.Stream(device)
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(side):
            (warm or function)()  # libraries choose their kernels and take their memory
        side.synchronize()
        graph = torch.cuda.CUDAGraph()
        # cuBLAS keeps a workspace a stream. One that was there before could be given back (torch.compile's own graphs do) while this
        # graph still writes into it; one that is made now lies in the graph's own memory, and nobody else is to be handed it afterwards.
        torch._C._cuda_clearCublasWorkspaces()
        with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
            results = function()
        torch._C._cuda_clearCublasWorkspaces()
        torch.cuda.current_stream(device).wait_stream(side)
        return graph.replay, results

    def stream(self, device):
        return torch.cuda.current_stream(device)

    def time(self, function, device, times, repeats=9):
        """Median nanoseconds of one of `times` calls that one graph holds."""
        def several():
            for _ in range(times):
                function()
        replay, _ = self.record(several, device, function)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        spent = []
        for _ in range(repeats):
            begin.record()
            replay()
            end.record()
            end.synchronize()
            spent.append(begin.elapsed_time(end) * 1e6 / times)
        return sorted(spent)[repeats // 2]


class Recorder:
    """Records a program once `patience` calls before had the same weights where they are now. `why` says why it does not."""

    def __init__(self, graphs=None, patience=1):
        self.graphs, self.patience, self.why = graphs or CudaGraphs(), patience, ""
        self.lock = threading.Lock()
        self.key = self.seen = self.replay = self.last = None
        self.calls = 0

    def __call__(self, program, leaves, weights):
        """The results; None where this call is not, or not yet, a replay."""
        some = next((tensor for tensor in (*leaves, *weights) if isinstance(tensor, torch.Tensor)), None)
        if self.why or some is None or some.device.type != self.graphs.device_type or not self.graphs.may_replay():
            return None
        with self.lock:  # the graph's own memory is one call's at a time
            try:
                key = self.key_of(program, leaves, weights)
                if key != self.key:
                    self.calls, self.seen = (self.calls + 1 if key == self.seen else 0), key
                    if self.calls < self.patience:
                        return None
                    self.key = self.replay = None
                    self.record(program, leaves, weights)
                    self.key = key
                return self.replayed(leaves, weights)
            except (RuntimeError, NotImplementedError) as error:
                self.key, self.replay, self.why = None, None, (str(error).strip() or type(error).__name__).split("\n")[0]
                return None

    def key_of(self, program, leaves, weights):
        """What the graph was recorded for: where weights lie, what was folded from them, how arguments lie, which kernels run."""
        return ([weight.data_ptr() for weight in weights], [weights[i]._version for _, needed in program.FOLDS for i in needed],
                [leaf.stride() for leaf in leaves if isinstance(leaf, torch.Tensor)], program.settings())

    def record(self, program, leaves, weights):
        tensors = [tensor for tensor in (*leaves, *weights) if isinstance(tensor, torch.Tensor)]
        devices = {tensor.device for tensor in tensors}
        if len(devices) != 1:
            raise NotImplementedError(f"its tensors lie on {', '.join(sorted(map(str, devices)))}")
        self.device = devices.pop()
        with torch.inference_mode(False), torch.no_grad():
            folded = program.folded(weights)
            self.own = [torch.empty_like(leaf).copy_(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]

            def steps():
                return program.run(program.STEPS, self.own, weights, folded)

            def whole():
                results, changed = steps()
                for buffer, value in changed:
                    buffer.copy_(value)
                return results
            self.folded = folded  # which the graph reads
            self.replay, results = self.graphs.record(whole, self.device, steps)
        self.results = [self.place_of(i, results, weights) for i in range(len(results))]
        self.copied = [place for place, leaf in enumerate(self.own) if isinstance(leaf, torch.Tensor)]
        self.targets = [self.own[place] for place in self.copied]

    def place_of(self, number, results, weights):
        """(kind, place): a result that is an argument or a weight is the caller's own; the others are copied out, each once."""
        result = results[number]
        if not isinstance(result, torch.Tensor):
            return "fixed", result
        before = next(i for i, other in enumerate(results) if other is result)
        if before < number:
            return "again", before
        for kind, tensors in (("argument", self.own), ("weight", weights)):
            for place, tensor in enumerate(tensors):
                if tensor is result:
                    return kind, place
                if isinstance(tensor, torch.Tensor) and tensor.untyped_storage().data_ptr() == result.untyped_storage().data_ptr() != 0:
                    raise NotImplementedError(f"a result is a view of a {kind}")
        return "made", result

    def replayed(self, leaves, weights):
        stream = self.graphs.stream(self.device)
        if self.last is not None and self.last != stream:
            stream.wait_stream(self.last)
        self.last = stream
        with torch.no_grad():
            if len(self.targets) > 1:
                torch._foreach_copy_(self.targets, [leaves[place] for place in self.copied])
            elif self.targets:
                self.targets[0].copy_(leaves[self.copied[0]])
            self.replay()
            given = []
            for kind, what in self.results:
                given.append(what.clone() if kind == "made" else given[what] if kind == "again" else leaves[what] if kind == "argument" else
                             weights[what] if kind == "weight" else what)
            return given

    def __deepcopy__(self, memo):
        return Recorder(self.graphs, self.patience)

    def __reduce__(self):
        return Recorder, (None, self.patience)


class Steps:
    """Steps that say how long they take, each on its own: as one of many in a graph where it can be recorded, else between two
    synchronisations. Steps of one task take as long as its first. `spent`: nanoseconds by the step's number;
    `inside`: of the parts of those that were written out, "3.0", "3.1"."""

    TIMES = 16  # calls in one graph: what replaying it costs is shared among them

    def __init__(self, steps, recorder=None, inside=False):
        self.recorder, self.spent, self.known = recorder, {}, {}
        self.steps = [self.apart(number, step) if inside else self.measured(f"{number}", step) for number, step in enumerate(steps)]

    def apart(self, number, step):
        if not hasattr(step, "steps"):
            return step
        parts = [self.measured(f"{number}.{i}", part) for i, part in enumerate(step.steps)]
        return lambda *tensors: step.kernel(parts, *tensors)

    def measured(self, number, step):
        def run(*tensors):
            device = next((tensor.device for tensor in tensors if isinstance(tensor, torch.Tensor) and tensor.is_cuda), None)
            if device is None or self.recorder is None:
                results, self.spent[number] = self.at_once(step, tensors, device)
                return results
            if step not in self.known:
                try:
                    self.known[step] = self.recorder.graphs.time(lambda: step(*tensors), device, self.TIMES)
                except RuntimeError:  # something that cannot be recorded
                    self.at_once(step, tensors, device)
                    self.known[step] = self.at_once(step, tensors, device)[1]
            self.spent[number] = self.known[step]
            return step(*tensors)
        return run

    def at_once(self, step, tensors, device):
        if device is not None:
            torch.cuda.synchronize(device)
        begin = time.perf_counter_ns()
        results = step(*tensors)
        if device is not None:
            torch.cuda.synchronize(device)
        return results, time.perf_counter_ns() - begin
