// What hone asks of the driver of GPUs, and the table of those that it knows: a row a driver, in a file of its own
// (cuda_driver.cc). docs/gpu_driver.md says what another one has to do. Nobody else calls a driver. Few dependencies: the worker
// runs on machines that have none of our libraries, and includes this too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/target/gpu/card_info.h"

namespace hone::target::gpu {

using Result = int;                   ///< a driver's own number of what went wrong
inline constexpr Result kSuccess = 0;
/// What hone has to know of a result beside its name.
enum class Cause : uint8_t { kOther, kOutOfMemory, kIllegalAddress };

using Address = unsigned long long;
using Module = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Stream = struct OpaqueStream*;  ///< null: the one that is there anyway
using Event = struct OpaqueEvent*;
/// Work of a stream, recorded instead of done.
struct Graph {
  struct OpaqueGraph* recorded = nullptr;
  struct OpaqueGraphRun* ready = nullptr;
};

/// Memory on a card that processes share by descriptor, and where this process has it.
struct Shared {
  unsigned long long handle = 0;
  Address address = 0;
  size_t bytes = 0;
  Address reserved = 0;               ///< addresses around it, which nothing else gets
  size_t reserved_bytes = 0;
  bool mapped = false;
};

/// Of a launch.
struct Shape {
  uint32_t grid[3], block[3];
  uint32_t cluster[3];                ///< blocks that run together; all 1: each by itself
  uint32_t shared_bytes;              ///< dynamic, a block
};

/// Names by which a module of reading() has its functions, both of (address, bytes), 64 bits each, bytes a multiple of 16.
/// kReadName reads each 16 bytes once and writes a word only where words differ, as they never do after a flush; kWarmName
/// reads a word of each 16 bytes and writes nothing.
inline constexpr char kReadName[] = "hone_read", kWarmName[] = "hone_warm";

/// A card of a driver's, opened in this process. Everything is as the driver has it: asynchronous where a stream is named,
/// thread-safe but for the objects that a call changes. What a destruction leaves, the end of the process takes.
class Driver {
 public:
  virtual ~Driver() = default;

  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
  [[nodiscard]] virtual std::string describe(Result result) const = 0;
  [[nodiscard]] virtual Cause cause(Result result) const = 0;

  /// Makes the card the calling thread's: before anything below, in every thread.
  [[nodiscard]] virtual Result enter() = 0;
  /// Nothing below is called any more.
  virtual void close() = 0;

  [[nodiscard]] virtual Result free_memory(size_t* bytes) = 0;
  [[nodiscard]] virtual Result allocate(Address* address, size_t bytes) = 0;
  [[nodiscard]] virtual Result free(Address address) = 0;
  /// Memory of the host's that the card reads by itself.
  [[nodiscard]] virtual Result pin(void** host, size_t bytes) = 0;
  [[nodiscard]] virtual Result unpin(void* host) = 0;
  /// A word that the host writes and streams wait for, and where the card has it.
  [[nodiscard]] virtual Result make_gate(volatile uint32_t** word, Address* address) = 0;

  /// `bytes` rounded up to what the driver gives; memory.bytes stays 0 where it gives none at all.
  [[nodiscard]] virtual Result create(Shared& memory, size_t bytes) = 0;
  [[nodiscard]] virtual Result export_to(int* descriptor, const Shared& memory) = 0;
  /// Somebody's of at least so many bytes, which are rounded up as above.
  [[nodiscard]] virtual Result import_from(int descriptor, Shared& memory, size_t bytes) = 0;
  /// `apart`: with nothing mapped on either side.
  [[nodiscard]] virtual Result map(Shared& memory, bool writable, bool apart) = 0;
  /// However far it had come.
  virtual Result release(Shared& memory) = 0;

  [[nodiscard]] virtual Result upload(Address to, const void* from, size_t bytes) = 0;
  [[nodiscard]] virtual Result upload(Address to, const void* from, size_t bytes, Stream stream) = 0;
  [[nodiscard]] virtual Result download(void* to, Address from, size_t bytes) = 0;
  /// `count` words of `width` bytes: 1, 2, 4, 8.
  [[nodiscard]] virtual Result fill(Address at, uint64_t pattern, int width, size_t count, Stream stream) = 0;

  /// `image`: a binary, or what the driver compiles, ended by a byte of 0.
  [[nodiscard]] virtual Result load(Module* module, const void* image) = 0;
  [[nodiscard]] virtual Result unload(Module module) = 0;
  [[nodiscard]] virtual Result find(Function* function, Module module, const char* name) = 0;
  [[nodiscard]] virtual Result find_variable(Address* address, size_t* bytes, Module module, const char* name) = 0;
  /// The most that launches of it will want: dynamic shared memory a block, blocks a cluster.
  [[nodiscard]] virtual Result allow_shared(Function function, uint32_t bytes) = 0;
  [[nodiscard]] virtual Result allow_cluster(Function function, uint32_t blocks) = 0;
  [[nodiscard]] virtual Result launch(Function function, const Shape& shape, Stream stream, void** arguments) = 0;
  /// Image of a module with kReadName and kWarmName.
  [[nodiscard]] virtual const char* reading() const = 0;

  [[nodiscard]] virtual Result make_stream(Stream* stream) = 0;
  [[nodiscard]] virtual Result synchronise(Stream stream) = 0;
  /// What comes behind this on the stream waits until the gate's word is at least `value`.
  [[nodiscard]] virtual Result wait_for(Stream stream, Address gate, uint32_t value) = 0;
  [[nodiscard]] virtual Result make_event(Event* event) = 0;
  [[nodiscard]] virtual Result record(Event event, Stream stream) = 0;
  [[nodiscard]] virtual Result elapsed(float* ms, Event from, Event to) = 0;

  [[nodiscard]] virtual Result begin_graph(Stream stream) = 0;
  [[nodiscard]] virtual Result end_graph(Graph& graph, Stream stream) = 0;
  /// Carries it to the card.
  [[nodiscard]] virtual Result make_ready(Graph& graph, Stream stream) = 0;
  [[nodiscard]] virtual Result launch(const Graph& graph, Stream stream) = 0;
  virtual void free(Graph& graph) = 0;
};

struct DriverRow {
  std::string_view name;                          ///< "cuda": targets are "cuda:0" and, without a card, "cuda:sm_90a"
  const char* library;                            ///< the variable that names the library to load in its own's place
  std::span<const char* const> environment;       ///< further variables: which cards it shows, in which order
  /// All of this machine's, in the driver's order; what is returned says why not.
  std::string (*cards)(std::vector<CardInfo>& all);
  /// Leaves the card entered; what is returned says why not.
  std::string (*open)(std::unique_ptr<Driver>& opened, int ordinal);
};

[[nodiscard]] std::span<const DriverRow* const> drivers();
/// Null: there is none of that name.
[[nodiscard]] const DriverRow* find_driver(std::string_view name);

}  // namespace hone::target::gpu
