// NVIDIA's driver as a Driver: each call is one of cuda_api.h's, or the few that belong together.
#include <atomic>

#include "hone/target/gpu/cuda_api.h"
#include "hone/target/gpu/cuda_read.h"
#include "hone/target/gpu/driver.h"

namespace hone::target::gpu {

extern const DriverRow kCudaDriver;

namespace {

using cuda::Api;

/// Dynamic shared memory that a block gets without being asked for (bytes).
constexpr uint32_t kWithoutAsking = 48 << 10;
constexpr size_t kPage = 4096;

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(const Api& api) : api_(api) {}

  Result open(int ordinal) {
    Result result = api_.device_get(&device_, ordinal);
    if (result == kSuccess) result = api_.context_retain(&context_, device_);
    if (result == kSuccess) result = enter();
    if (result != kSuccess && context_) close();
    return result;
  }

  std::string describe(Result result) const override { return api_.describe(result); }
  Cause cause(Result result) const override {
    return result == cuda::kOutOfMemory ? Cause::kOutOfMemory : result == cuda::kIllegalAddress ? Cause::kIllegalAddress : Cause::kOther;
  }

  Result enter() override { return api_.context_set(context_); }
  void close() override { (void)api_.context_release(device_); }

  Result free_memory(size_t* bytes) override {
    size_t total = 0;
    return api_.memory_info(bytes, &total);
  }
  Result allocate(Address* address, size_t bytes) override { return api_.allocate(address, bytes); }
  Result free(Address address) override { return api_.free(address); }
  Result pin(void** host, size_t bytes) override { return api_.host_allocate(host, bytes, 0); }
  Result unpin(void* host) override { return api_.host_free(host); }
  Result make_gate(volatile uint32_t** word, Address* address) override {
    void* host = nullptr;
    if (const Result result = api_.host_allocate(&host, kPage, cuda::kHostMapped); result != kSuccess) return result;
    *word = static_cast<volatile uint32_t*>(host);
    return api_.host_address(address, host, 0);
  }

  Result create(Shared& memory, size_t bytes) override {
    const cuda::AllocationProperties properties = here();
    Result result = round_up(memory.bytes, bytes);
    if (result == kSuccess) result = api_.create(&memory.handle, memory.bytes, &properties, 0);
    return result;
  }
  Result export_to(int* descriptor, const Shared& memory) override { return api_.export_handle(descriptor, memory.handle, cuda::kPosixDescriptor, 0); }
  Result import_from(int descriptor, Shared& memory, size_t bytes) override {
    const Result result = round_up(memory.bytes, bytes);
    return result == kSuccess ? api_.import_handle(&memory.handle, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)), cuda::kPosixDescriptor) : result;
  }
  Result map(Shared& memory, bool writable, bool apart) override {
    const size_t side = apart ? granularity_.load() : 0;
    memory.reserved_bytes = memory.bytes + 2 * side;
    if (const Result result = api_.reserve(&memory.reserved, memory.reserved_bytes, 0, 0, 0); result != kSuccess) return result;
    memory.address = memory.reserved + side;
    if (const Result result = api_.map(memory.address, memory.bytes, 0, memory.handle, 0); result != kSuccess) return result;
    memory.mapped = true;
    cuda::AccessDescription access;
    access.location.id = device_;
    access.flags = writable ? cuda::kReadWrite : cuda::kRead;
    return api_.set_access(memory.address, memory.bytes, &access, 1);
  }
  Result release(Shared& memory) override {
    Result wrong = kSuccess;
    const auto note = [&](Result result) { wrong = result == kSuccess ? wrong : result; };
    if (memory.mapped) note(api_.unmap(memory.address, memory.bytes));
    if (memory.reserved) note(api_.unreserve(memory.reserved, memory.reserved_bytes));
    if (memory.handle) note(api_.release(memory.handle));
    memory = {};
    return wrong;
  }

  Result upload(Address to, const void* from, size_t bytes) override { return api_.upload(to, from, bytes); }
  Result upload(Address to, const void* from, size_t bytes, Stream stream) override { return api_.upload_async(to, from, bytes, stream); }
  Result download(void* to, Address from, size_t bytes) override { return api_.download(to, from, bytes); }
  Result fill(Address at, uint64_t pattern, int width, size_t count, Stream stream) override {
    switch (width) {
      case 1: return api_.set_bytes(at, static_cast<unsigned char>(pattern), count, stream);
      case 2: return api_.set_halves(at, static_cast<unsigned short>(pattern), count, stream);
      case 4: return api_.set_words(at, static_cast<unsigned>(pattern), count, stream);
      default: {
        // A column of low words, a column of high ones.
        const Result low = api_.set_column(at, 8, static_cast<unsigned>(pattern), 1, count, stream);
        return low == kSuccess ? api_.set_column(at + 4, 8, static_cast<unsigned>(pattern >> 32), 1, count, stream) : low;
      }
    }
  }

  Result load(Module* module, const void* image) override { return api_.module_load(module, image); }
  Result unload(Module module) override { return api_.module_unload(module); }
  Result find(Function* function, Module module, const char* name) override { return api_.module_function(function, module, name); }
  Result find_variable(Address* address, size_t* bytes, Module module, const char* name) override {
    return api_.module_global(address, bytes, module, name);
  }
  Result allow_shared(Function function, uint32_t bytes) override {
    const Result result = api_.function_set(function, cuda::kFunctionMaxDynamicShared, static_cast<int>(bytes));
    // Left to itself the driver may leave room for one block where a plan counts on two. A wish: some cards have no choice.
    if (result == kSuccess && bytes > kWithoutAsking) (void)api_.function_set(function, cuda::kFunctionSharedCarveout, 100);
    return result;
  }
  Result allow_cluster(Function function, uint32_t blocks) override {
    return blocks > cuda::kPortableCluster ? api_.function_set(function, cuda::kFunctionLargeClusters, 1) : kSuccess;
  }
  Result launch(Function function, const Shape& shape, Stream stream, void** arguments) override {
    const uint32_t *const grid = shape.grid, *const block = shape.block;
    if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] == 1)
      return api_.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shape.shared_bytes, stream, arguments, nullptr);
    cuda::LaunchAttribute cluster;
    for (int d = 0; d < 3; ++d) cluster.extents[d] = shape.cluster[d];
    cuda::LaunchConfig config;
    for (int d = 0; d < 3; ++d) config.grid[d] = grid[d], config.block[d] = block[d];
    config.shared_bytes = shape.shared_bytes;
    config.stream = stream;
    config.attributes = &cluster;
    config.attribute_count = 1;
    return api_.launch_with(&config, function, arguments, nullptr);
  }
  const char* reading() const override { return cuda::kReadText; }

  Result make_stream(Stream* stream) override { return api_.stream_create(stream, cuda::kStreamNonBlocking); }
  Result synchronise(Stream stream) override { return api_.stream_synchronise(stream); }
  Result wait_for(Stream stream, Address gate, uint32_t value) override {
    return api_.stream_wait_value(stream, gate, value, cuda::kWaitGreaterOrEqual);
  }
  Result make_event(Event* event) override { return api_.event_create(event, 0); }
  Result record(Event event, Stream stream) override { return api_.event_record(event, stream); }
  Result elapsed(float* ms, Event from, Event to) override { return api_.event_elapsed(ms, from, to); }

  Result begin_graph(Stream stream) override { return api_.capture_begin(stream, cuda::kCaptureThreadLocal); }
  Result end_graph(Graph& graph, Stream stream) override { return api_.capture_end(stream, &graph.recorded); }
  Result make_ready(Graph& graph, Stream stream) override {
    const Result result = api_.graph_make_ready(&graph.ready, graph.recorded, 0);
    return result == kSuccess ? api_.graph_upload(graph.ready, stream) : result;
  }
  Result launch(const Graph& graph, Stream stream) override { return api_.graph_launch(graph.ready, stream); }
  void free(Graph& graph) override {
    if (graph.ready) (void)api_.graph_run_free(graph.ready);
    if (graph.recorded) (void)api_.graph_free(graph.recorded);
    graph = {};
  }

 private:
  [[nodiscard]] cuda::AllocationProperties here() const {
    cuda::AllocationProperties properties;
    properties.location.id = device_;
    return properties;
  }
  Result round_up(size_t& rounded, size_t bytes) {
    size_t unit = granularity_;
    const cuda::AllocationProperties properties = here();
    if (unit == 0)
      if (const Result result = api_.granularity(&unit, &properties, 0); result != kSuccess) return result;
    granularity_ = unit;
    rounded = (bytes + unit - 1) / unit * unit;
    return kSuccess;
  }

  const Api& api_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  std::atomic<size_t> granularity_ = 0;       ///< of shared memory; asked for once
};

/// What is wrong; empty when nothing is.
std::string found(const Api*& api) {
  static Api loaded;
  static const std::string why = cuda::load(loaded);
  api = &loaded;
  return why;
}

int attribute(const Api& api, int which, cuda::Device device) {
  int value = 0;
  return api.device_attribute(&value, which, device) == kSuccess ? value : 0;
}

CardInfo card_info(const Api& api, int ordinal) {
  CardInfo info;
  info.driver = kCudaDriver.name;
  info.ordinal = ordinal;
  cuda::Device device = 0;
  if (api.device_get(&device, ordinal) != kSuccess) return info;
  char name[256] = {};
  if (api.device_name(name, sizeof name - 1, device) == kSuccess) info.name = name;
  info.major = attribute(api, cuda::kMajor, device);
  info.minor = attribute(api, cuda::kMinor, device);
  // From Hopper on, what is fastest needs the architecture's own instructions.
  info.arch = "sm_" + std::to_string(info.major) + std::to_string(info.minor) + (info.major >= 9 ? "a" : "");
  info.sms = attribute(api, cuda::kMultiprocessors, device);
  info.wave = attribute(api, cuda::kWarpSize, device);
  info.threads_per_sm = attribute(api, cuda::kMaxThreadsPerMultiprocessor, device);
  info.threads_per_block = attribute(api, cuda::kMaxThreadsPerBlock, device);
  info.shared_max = attribute(api, cuda::kSharedPerBlockOptIn, device);
  info.shared_per_sm = attribute(api, cuda::kSharedPerMultiprocessor, device);
  info.l2_bytes = attribute(api, cuda::kL2Bytes, device);
  info.clock_khz = attribute(api, cuda::kClockKilohertz, device);
  info.memory_clock_khz = attribute(api, cuda::kMemoryClockKilohertz, device);
  info.memory_bus_bits = attribute(api, cuda::kMemoryBusBits, device);
  size_t memory = 0;
  if (api.device_memory(&memory, device) == kSuccess) info.memory_bytes = static_cast<int64_t>(memory);
  // 13000: CUDA 13.0.
  int version = 0;
  (void)api.driver_version(&version);
  info.driver_version = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  return info;
}

std::string cuda_cards(std::vector<CardInfo>& all) {
  const Api* api = nullptr;
  if (std::string why = found(api); !why.empty()) return why;
  int count = 0;
  if (const Result result = api->device_count(&count); result != kSuccess) return "the driver cannot count its cards: " + api->describe(result);
  for (int i = 0; i < count; ++i) all.push_back(card_info(*api, i));
  return {};
}

std::string open_cuda_card(std::unique_ptr<Driver>& opened, int ordinal) {
  const Api* api = nullptr;
  if (std::string why = found(api); !why.empty()) return why;
  auto driver = std::make_unique<CudaDriver>(*api);
  if (const Result result = driver->open(ordinal); result != kSuccess) return api->describe(result);
  opened = std::move(driver);
  return {};
}

constexpr const char* kEnvironment[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"};

}  // namespace

constinit const DriverRow kCudaDriver = {"cuda", "HONE_CUDA_DRIVER", kEnvironment, cuda_cards, open_cuda_card};

}  // namespace hone::target::gpu
