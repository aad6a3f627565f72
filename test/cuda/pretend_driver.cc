// A CUDA driver for tests: one card ($HONE_PRETEND_CARDS: so many), on the CPU. It implements the functions of HONE_CUDA_FUNCTIONS as far as hone uses
// them and is found by $HONE_CUDA_DRIVER. Streams run at once; one that waits for a gate keeps what is queued until
// somebody synchronises with it. An access outside mapped memory breaks the context, as on a card: every call from
// then on answers so.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "pretend_module.h"

namespace hone::pretend {

namespace cuda = target::cuda;
using cuda::AccessDescription, cuda::AllocationProperties, cuda::Context, cuda::Device, cuda::Event, cuda::Stream;
using cuda::kIllegalAddress, cuda::kOutOfMemory, cuda::kPosixDescriptor, cuda::kSuccess;

namespace {

constexpr Result kInvalidImage = 200, kNotFound = 500, kNoBinary = 209;
constexpr int kDriver = 13000;

using Work = std::deque<std::function<void()>>;

struct PretendStream {
  std::unique_ptr<Work> captured;            ///< what is queued goes here and is not run; null: none is captured
  Work waiting;
  const volatile uint32_t* gate = nullptr;   ///< null: open
  uint32_t opens_at = 0;
};
struct PretendEvent {
  int64_t at_ns = 0;
};

struct Driver {
  std::mutex mutex;
  Memory memory;
  Result broken = kSuccess;
  int context = 0;       ///< its address is the context's
};
Driver& driver() {
  static Driver it;
  return it;
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PretendStream& stream_of(Stream stream) {
  static PretendStream legacy;
  return stream ? *reinterpret_cast<PretendStream*>(stream) : legacy;
}

/// Now, or behind what waits on the stream.
Result enqueue(Stream stream, std::function<void()> work) {
  PretendStream& to = stream_of(stream);
  if (to.captured) {
    to.captured->push_back(std::move(work));
    return kSuccess;
  }
  if (to.gate) {
    to.waiting.push_back(std::move(work));
    return kSuccess;
  }
  work();
  return driver().broken;
}

template <class F>
Result call(F f) {
  const std::scoped_lock lock(driver().mutex);
  return driver().broken != kSuccess ? driver().broken : f(driver().memory);
}

void run(const Kernel& kernel, const std::vector<uint64_t>& arguments) {
  Driver& d = driver();
  if (d.broken == kSuccess) d.broken = kernel.run(d.memory, arguments);
}

template <class Word>
Result set(Address at, size_t pitch, Word value, size_t count, Stream stream) {
  return call([=](Memory& memory) {
    if (count == 0) return kSuccess;
    if (!memory.allows(at, (count - 1) * pitch + sizeof value, true)) return kInvalidValue;
    if (memory.only_flushes(at)) return enqueue(stream, [] {});
    return enqueue(stream, [=] {
      for (size_t i = 0; i < count; ++i) std::memcpy(reinterpret_cast<char*>(at) + i * pitch, &value, sizeof value);
    });
  });
}

const char* name_of(Result result) {
  switch (result) {
    case kSuccess: return "CUDA_SUCCESS";
    case kInvalidValue: return "CUDA_ERROR_INVALID_VALUE";
    case kOutOfMemory: return "CUDA_ERROR_OUT_OF_MEMORY";
    case kInvalidImage: return "CUDA_ERROR_INVALID_IMAGE";
    case kNoBinary: return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case kInvalidHandle: return "CUDA_ERROR_INVALID_HANDLE";
    case kNotFound: return "CUDA_ERROR_NOT_FOUND";
    case kIllegalAddress: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case kAssert: return "CUDA_ERROR_ASSERT";
    default: return nullptr;
  }
}

int attribute(int which) {
  switch (which) {
    case cuda::kMaxThreadsPerBlock: return 1024;
    case cuda::kWarpSize: return 32;
    case cuda::kClockKilohertz: return 1'980'000;
    case cuda::kMultiprocessors: return 4;
    case cuda::kMemoryClockKilohertz: return 2'619'000;
    case cuda::kMemoryBusBits: return 5120;
    case cuda::kL2Bytes: return 1 << 20;
    case cuda::kMaxThreadsPerMultiprocessor: return 2048;
    case cuda::kMajor: return 9;
    case cuda::kMinor: return 0;
    case cuda::kSharedPerMultiprocessor: return 233'472;
    case cuda::kSharedPerBlockOptIn: return 232'448;
    default: return 0;
  }
}

/// Workers see no variables: they are told which card.
constexpr int kMostCards = 8;

int cards() {
  const char* const many = std::getenv("HONE_PRETEND_CARDS");
  return many ? std::atoi(many) : 1;
}

}  // namespace

extern "C" {

Result cuInit(unsigned) { return kSuccess; }
Result cuDriverGetVersion(int* version) { return *version = kDriver, kSuccess; }
Result cuGetErrorString(Result result, const char** text) {
  *text = result == kIllegalAddress ? "an illegal memory access was encountered" : result == kOutOfMemory ? "out of memory" : name_of(result);
  return *text ? kSuccess : kInvalidValue;
}
Result cuGetErrorName(Result result, const char** name) {
  *name = name_of(result);
  return *name ? kSuccess : kInvalidValue;
}

Result cuDeviceGetCount(int* count) { return *count = cards(), kSuccess; }
Result cuDeviceGet(Device* device, int ordinal) { return *device = ordinal, ordinal < kMostCards ? kSuccess : 101; }
Result cuDeviceGetName(char* name, int size, Device) { return std::strncpy(name, "Pretend card", static_cast<size_t>(size)), kSuccess; }
Result cuDeviceGetAttribute(int* value, int which, Device) { return *value = attribute(which), kSuccess; }
Result cuDeviceTotalMem_v2(size_t* bytes, Device) { return *bytes = kMemory, kSuccess; }
Result cuDevicePrimaryCtxRetain(Context* context, Device) {
  return *context = reinterpret_cast<Context>(&driver().context), call([](Memory&) { return kSuccess; });
}
Result cuDevicePrimaryCtxRelease_v2(Device) { return kSuccess; }
Result cuCtxSetCurrent(Context context) {
  return call([=](Memory&) { return context == reinterpret_cast<Context>(&driver().context) ? kSuccess : 201; });
}

Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call([=](Memory& m) { return *free = m.available(), *total = kMemory, kSuccess; });
}
Result cuMemGetAllocationGranularity(size_t* bytes, const AllocationProperties*, int) { return *bytes = kGranularity, kSuccess; }
Result cuMemCreate(Handle* handle, size_t bytes, const AllocationProperties* asked, unsigned long long) {
  if (asked->type != 1 || asked->handle_types != kPosixDescriptor || asked->location.type != 1 || asked->location.id < 0 || asked->location.id >= kMostCards) return kInvalidValue;
  return call([=](Memory& m) { return m.create(*handle, bytes); });
}
Result cuMemRelease(Handle handle) {
  return call([=](Memory& m) { return m.release(handle); });
}
Result cuMemExportToShareableHandle(void* out, Handle handle, int type, unsigned long long) {
  return call([=](Memory& m) { return type == kPosixDescriptor ? m.export_handle(*static_cast<int*>(out), handle) : kInvalidValue; });
}
Result cuMemImportFromShareableHandle(Handle* handle, void* descriptor, int type) {
  return call([=](Memory& m) {
    return type == kPosixDescriptor ? m.import_handle(*handle, static_cast<int>(reinterpret_cast<intptr_t>(descriptor))) : kInvalidValue;
  });
}
Result cuMemAddressReserve(Address* address, size_t bytes, size_t, Address, unsigned long long) {
  return call([=](Memory& m) { return m.reserve(*address, bytes); });
}
Result cuMemAddressFree(Address address, size_t bytes) {
  return call([=](Memory& m) { return m.unreserve(address, bytes); });
}
Result cuMemMap(Address address, size_t bytes, size_t offset, Handle handle, unsigned long long) {
  return call([=](Memory& m) { return offset == 0 ? m.map(address, bytes, handle) : kInvalidValue; });
}
Result cuMemUnmap(Address address, size_t bytes) {
  return call([=](Memory& m) { return m.unmap(address, bytes); });
}
Result cuMemSetAccess(Address address, size_t bytes, const AccessDescription* access, size_t count) {
  return call([=](Memory& m) { return count == 1 && (access->flags | 2) == 3 ? m.set_access(address, bytes, access->flags == 3) : kInvalidValue; });
}
Result cuMemAlloc_v2(Address* address, size_t bytes) {
  return call([=](Memory& m) { return m.allocate(*address, bytes); });
}
Result cuMemFree_v2(Address address) {
  return call([=](Memory& m) { return m.free(address); });
}
Result cuMemHostAlloc(void** at, size_t bytes, unsigned) {
  return call([=](Memory& m) {
    Address address = 0;
    const Result result = m.allocate(address, bytes);
    *at = reinterpret_cast<void*>(address);
    return result;
  });
}
Result cuMemFreeHost(void* at) { return cuMemFree_v2(reinterpret_cast<Address>(at)); }
Result cuMemHostGetDevicePointer_v2(Address* address, void* at, unsigned) { return *address = reinterpret_cast<Address>(at), kSuccess; }
Result cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  return call([=](Memory& m) {
    if (!m.allows(to, bytes, true)) return kInvalidValue;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return kSuccess;
  });
}
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, Stream stream) {
  return call([=](Memory& m) {
    if (!m.allows(to, bytes, true)) return kInvalidValue;
    stream_of(stream).waiting.push_back([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
    return kSuccess;
  });
}
Result cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  return call([=](Memory& m) {
    if (!m.allows(from, bytes, false)) return kInvalidValue;
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return kSuccess;
  });
}
Result cuMemsetD8Async(Address at, unsigned char value, size_t count, Stream stream) { return set(at, 1, value, count, stream); }
Result cuMemsetD16Async(Address at, unsigned short value, size_t count, Stream stream) { return set(at, 2, value, count, stream); }
Result cuMemsetD32Async(Address at, unsigned value, size_t count, Stream stream) { return set(at, 4, value, count, stream); }
Result cuMemsetD2D32Async(Address at, size_t pitch, unsigned value, size_t width, size_t height, Stream stream) {
  return width == 1 ? set(at, pitch, value, height, stream) : kInvalidValue;
}

Result cuModuleLoadData(cuda::Module* module, const void* image) {
  return call([=](Memory&) {
    auto loaded = pretend::Module::load(image);
    *module = reinterpret_cast<cuda::Module>(loaded.get());
    return loaded.release() ? kSuccess : kInvalidImage;
  });
}
Result cuModuleUnload(cuda::Module module) {
  return call([=](Memory&) {
    auto* const it = reinterpret_cast<pretend::Module*>(module);
    if (it->dies_when_unloaded()) (void)raise(SIGKILL);
    delete it;
    return kSuccess;
  });
}
Result cuModuleGetFunction(cuda::Function* function, cuda::Module module, const char* name) {
  return call([=](Memory&) {
    auto* const found = reinterpret_cast<pretend::Module*>(module)->find(name);
    *function = reinterpret_cast<cuda::Function>(found);
    if (!found && std::getenv("HONE_PRETEND_WATCHED")) std::_Exit(77);   // as below
    return found ? kSuccess : kNotFound;
  });
}
Result cuModuleGetGlobal_v2(Address* address, size_t* bytes, cuda::Module module, const char* name) {
  return call([=](Memory& m) {
    const size_t words = reinterpret_cast<pretend::Module*>(module)->counts();
    if (words < 2 || std::strcmp(name, "hone_counts") != 0) {
      // As compute-sanitizer ends a process of whose calls one failed.
      if (std::getenv("HONE_PRETEND_WATCHED")) std::_Exit(77);
      return kNotFound;
    }
    *bytes = words * sizeof(uint64_t);
    if (const Result result = m.allocate(*address, *bytes); result != kSuccess) return result;
    auto* const counts = reinterpret_cast<uint64_t*>(*address);
    std::fill_n(counts, words, 0);
    counts[0] = 7, counts[1] = 11;
    return kSuccess;
  });
}
Result cuFuncSetAttribute(cuda::Function function, int which, int value) {
  if (which == cuda::kFunctionLargeClusters)
    return call([=](Memory&) { return reinterpret_cast<pretend::Function*>(function)->most_blocks = value ? 16 : cuda::kPortableCluster, kSuccess; });
  if (which != cuda::kFunctionMaxDynamicShared || value < 0 || value > attribute(cuda::kSharedPerBlockOptIn)) return kInvalidValue;
  return call([=](Memory&) {
    reinterpret_cast<pretend::Function*>(function)->most_shared = static_cast<unsigned>(value);
    return kSuccess;
  });
}
Result cuLaunchKernel(cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, Stream stream, void** arguments, void**) {
  const auto& what = *reinterpret_cast<pretend::Function*>(function);
  if (!what.kernel) return kNoBinary;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || shared > what.most_shared) return kInvalidValue;
  return call([&](Memory&) {
    std::vector<uint64_t> values(what.kernel->arguments);
    for (size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], arguments[i], sizeof values[i]);
    return enqueue(stream, [kernel = what.kernel, values = std::move(values)] { run(*kernel, values); });
  });
}
/// As the driver does, with clusters: the grid a multiple, at most eight blocks, or sixteen where it was asked.
Result cuLaunchKernelEx(const cuda::LaunchConfig* config, cuda::Function function, void** arguments, void** extra) {
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const cuda::LaunchAttribute& attribute = config->attributes[i];
    if (attribute.kind != cuda::LaunchAttribute().kind) return kInvalidValue;
    unsigned blocks = 1;
    for (int d = 0; d < 3; ++d) {
      blocks *= attribute.extents[d];
      if (!attribute.extents[d] || config->grid[d] % attribute.extents[d] != 0) return kInvalidValue;
    }
    if (blocks > reinterpret_cast<pretend::Function*>(function)->most_blocks) return kInvalidValue;
  }
  const unsigned *const grid = config->grid, *const block = config->block;
  return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], config->shared_bytes, config->stream, arguments, extra);
}

Result cuStreamCreate(Stream* stream, unsigned) {
  return call([=](Memory&) { return *stream = reinterpret_cast<Stream>(new PretendStream), kSuccess; });
}
Result cuStreamWaitValue32_v2(Stream stream, Address gate, uint32_t value, unsigned how) {
  return call([=](Memory& m) {
    if (how != cuda::kWaitGreaterOrEqual || !m.allows(gate, 4, false)) return kInvalidValue;
    stream_of(stream).gate = reinterpret_cast<const volatile uint32_t*>(gate);
    stream_of(stream).opens_at = value;
    return kSuccess;
  });
}
Result cuStreamSynchronize(Stream stream) {
  return call([=](Memory&) {
    PretendStream& it = stream_of(stream);
    while (it.gate && *it.gate < it.opens_at) std::this_thread::sleep_for(std::chrono::microseconds(20));
    it.gate = nullptr;
    for (; !it.waiting.empty(); it.waiting.pop_front()) it.waiting.front()();
    return driver().broken;
  });
}
Result cuStreamBeginCapture_v2(Stream stream, int how) {
  return call([=](Memory&) {
    PretendStream& it = stream_of(stream);
    if (it.captured || how != cuda::kCaptureThreadLocal) return kInvalidValue;
    it.captured = std::make_unique<Work>();
    return kSuccess;
  });
}
Result cuStreamEndCapture(Stream stream, cuda::Graph* graph) {
  return call([=](Memory&) {
    *graph = reinterpret_cast<cuda::Graph>(stream_of(stream).captured.release());
    return *graph ? kSuccess : kInvalidValue;
  });
}
Result cuGraphInstantiateWithFlags(cuda::GraphRun* ready, cuda::Graph graph, unsigned long long) {
  return call([=](Memory&) { return *ready = reinterpret_cast<cuda::GraphRun>(new Work(*reinterpret_cast<Work*>(graph))), kSuccess; });
}
Result cuGraphUpload(cuda::GraphRun, Stream) { return kSuccess; }
Result cuGraphLaunch(cuda::GraphRun ready, Stream stream) {
  return call([=](Memory&) {
    for (const auto& work : *reinterpret_cast<Work*>(ready))
      if (const Result result = enqueue(stream, work); result != kSuccess) return result;
    return kSuccess;
  });
}
Result cuGraphExecDestroy(cuda::GraphRun ready) { return delete reinterpret_cast<Work*>(ready), kSuccess; }
Result cuGraphDestroy(cuda::Graph graph) { return delete reinterpret_cast<Work*>(graph), kSuccess; }
Result cuEventCreate(Event* event, unsigned) {
  return call([=](Memory&) { return *event = reinterpret_cast<Event>(new PretendEvent), kSuccess; });
}
Result cuEventRecord(Event event, Stream stream) {
  return call([=](Memory&) { return enqueue(stream, [event] { reinterpret_cast<PretendEvent*>(event)->at_ns = now_ns(); }); });
}
Result cuEventElapsedTime(float* ms, Event from, Event to) {
  return call([=](Memory&) {
    *ms = static_cast<float>(static_cast<double>(reinterpret_cast<PretendEvent*>(to)->at_ns - reinterpret_cast<PretendEvent*>(from)->at_ns) * 1e-6);
    return kSuccess;
  });
}

}  // extern "C"

}  // namespace hone::pretend
