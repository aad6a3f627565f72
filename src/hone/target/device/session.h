// A kernel (or an opponent) loaded in a process of its own, ready to be called on buffers that we
// own. The parent holds the clock; the process can tell us nothing but that it is done, and that is
// checked against the outputs. One thread drives a session; several sessions may exist, but only one
// may be running: the evaluator's token sees to that.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/result.h"
#include "hone/target/worker/block_order.h"

namespace hone::target {

/// Memory that can be had without swapping (MemAvailable), bytes; -1 when that cannot be told.
[[nodiscard]] int64_t available_memory();

class Card;
class CardMemory;
struct Piece;

/// Memory shared with sessions. On a CPU an anonymous file that we map writable; a session maps it read-only
/// (inputs: the file is sealed against any other mapping) or writable (outputs). On a card memory of the card's,
/// mapped in the same ways, with a host's copy beside it that upload() and download() bring up to date.
class Region {
 public:
  enum class Access : uint8_t { kInput, kOutput };
  /// Pages are allocated at once (huge ones where the kernel gives them). kExhausted when the machine
  /// has not that much memory available.
  [[nodiscard]] static Result<Region> create(int64_t bytes, Access access);
  /// On a card, which must outlive the region. The host's copy takes memory only where it is used.
  [[nodiscard]] static Result<Region> create_on(Card& card, int64_t bytes, Access access);
  Region(Region&&) noexcept;
  Region& operator=(Region&&) noexcept;
  ~Region();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] int fd() const { return card_ ? descriptor() : fd_.get(); }
  [[nodiscard]] Access access() const { return access_; }
  [[nodiscard]] bool on_card() const { return card_ != nullptr; }

  /// The following do nothing on a CPU, where there is one copy only. Offsets and sizes in bytes.
  void upload(int64_t offset, const std::byte* from, int64_t bytes) const;
  void download(int64_t offset, int64_t bytes) const;
  /// Many pieces; their offsets and sizes are multiples of `width` (1, 2, 4, 8).
  void download(std::span<const Piece> pieces, int width) const;
  /// `pattern` repeated, of `width` bytes (1, 2, 4, 8), on the card; the host's copy stays as it is.
  void fill(int64_t offset, int64_t bytes, uint64_t pattern, int width) const;
  /// On a card only: where a CardProgram finds it, and bytes that it has now, the host's copy left as it is.
  [[nodiscard]] uint64_t address() const;
  void peek(int64_t offset, void* to, int64_t bytes) const;
  /// On a card only: of `count` words of `width` bytes there, how many are `bits` or, with an `exponent`, have all of
  /// its bits set.
  [[nodiscard]] int64_t count(int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) const;

 private:
  Region();
  [[nodiscard]] int descriptor() const;
  base::Fd fd_;
  std::unique_ptr<CardMemory> card_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  Access access_ = Access::kInput;
};

/// Where one tensor of one call lies.
struct Placement {
  int32_t region = -1;   ///< index into the session's regions
  int64_t offset = 0;    ///< bytes
  int64_t bytes = 0;     ///< of the tensor, for hot calls
};

/// One call of the whole launch plan: placements of inputs, then outputs, in the task's order.
struct Call {
  std::vector<Placement> tensors;
  /// On a card: its caches are filled with other memory just before. On a CPU whoever owns the memory sees to that.
  bool cold = false;
  /// Its tensors are read into the caches just before: on a CPU by the runner, which the batch's time includes; on a card
  /// the calls of a batch, all of which say so, are one graph, timed as a whole.
  bool hot = false;
  /// On a CPU: nothing but that is done, to know how long it takes.
  bool idle = false;
  /// On a CPU: what the kernel keeps of the calls of the batch before is left to it, if all calls of a batch say so.
  bool remembers = false;
  /// On a CPU: how its blocks run, and what a shuffled order is drawn from.
  BlockOrder order = BlockOrder::kUsual;
  uint64_t order_seed = 0;
};

struct BatchOutcome {
  enum class How : uint8_t { kDone, kDied, kDeadline } how = How::kDone;
  int64_t wall_ns = 0;       ///< from release to the last call's end, hand-off included
  int64_t contended_ns = 0;  ///< time its threads were runnable but not running, plus stolen time
  std::string why;           ///< kDied, kDeadline: for a person ("killed by SIGSEGV …")
  /// kDied: what the emulator of a GPU found ("kernel.cu:7, block (0, 0, 0), thread (3, 0, 0): …"); `why` says it too.
  std::string finding;
  bool outside = false;      ///< the finding is an access to memory that is not the kernel's
  std::string output;        ///< kDied: what it wrote to standard error, bounded; whoever ran in it may have
};

class Session {
 public:
  virtual ~Session() = default;
  /// Runs the calls in order, each after the one before has finished. After kDied or kDeadline the
  /// session is over.
  [[nodiscard]] virtual BatchOutcome run(std::span<const Call> calls,
                                         std::chrono::nanoseconds deadline) = 0;
  /// Wall time of a batch with no calls, median of several: what hand-off costs (nanoseconds).
  [[nodiscard]] virtual int64_t empty_batch_ns() = 0;
  /// What the session's library spends on a call before any work (nanoseconds), found by calls that do next to
  /// nothing, timed as calls are. Part of its calls' time; 0: it has nothing of the kind, as a kernel has not.
  [[nodiscard]] virtual int64_t dispatch_ns() { return 0; }
  /// Of the process on this machine's CPU that does the work; 0: there is none.
  [[nodiscard]] virtual int pid() const { return 0; }
};

}  // namespace hone::target
