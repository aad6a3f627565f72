// A GPU under its driver (gpu/driver.h): what it is, memory on it that can be shared with the processes which run
// candidates, and those processes. The grader's side: no device code of a candidate ever runs in our context.
// Thread-safe, but for a CardMemory: one thread at a time has each.
#pragma once
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/target/device/cpu_session.h"
#include "hone/target/device/session.h"
#include "hone/target/gpu/card_info.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// This machine's of the driver in that row ("cuda"), in its order. kUnavailable with the reason where the driver is not here.
[[nodiscard]] Result<std::vector<CardInfo>> cards(std::string_view driver);

/// "cuda:0" -> "cuda".
[[nodiscard]] std::string_view card_driver(std::string_view target);
/// "cuda:0" -> 0; nothing for another kind of target.
[[nodiscard]] std::optional<int> card_ordinal(std::string_view target);

/// SMS, SHARED_MAX, WAVE.
[[nodiscard]] kernel::Limits card_limits(const CardInfo& card);

/// Bytes written before a call that is to find cold caches.
[[nodiscard]] int64_t flush_bytes(const CardInfo& card);

/// What a multiprocessor's counters said at one moment; both 0 where it was not asked.
struct ClockReading {
  uint64_t cycles = 0, ns = 0;
};
/// The frequency that the multiprocessors had between two readings (MHz, the median of those in both); 0 where there is none.
[[nodiscard]] double clock_mhz(std::span<const ClockReading> before, std::span<const ClockReading> after);

/// A segment of a card's memory.
struct Piece {
  int64_t offset = 0, bytes = 0;
};

/// Memory on a card, shared by descriptor. The Card must outlive it.
class CardMemory {
 public:
  virtual ~CardMemory() = default;
  [[nodiscard]] virtual int fd() const = 0;
  [[nodiscard]] virtual int64_t size() const = 0;   ///< bytes
  [[nodiscard]] virtual uint64_t address() const = 0;  ///< where a CardProgram finds it
  virtual void upload(int64_t offset, const void* from, int64_t bytes) = 0;
  virtual void download(int64_t offset, void* to, int64_t bytes) = 0;
  /// Many pieces, each to `to` + its offset; offsets and sizes are multiples of `width` (1, 2, 4, 8). Thousands of small
  /// ones are gathered on the card first: one by one each would take 10 µs.
  virtual void download(std::span<const Piece> pieces, int width, std::byte* to) = 0;
  virtual void fill(int64_t offset, int64_t bytes, uint64_t pattern, int width) = 0;
  /// Of `count` words of `width` bytes, how many are `bits` or, with an `exponent`, have all of its bits.
  [[nodiscard]] virtual int64_t count(int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) = 0;
};

/// Device code of hone's own, run in the grader's context. Thread-safe.
class CardProgram {
 public:
  virtual ~CardProgram() = default;
  /// Runs `blocks` blocks of `threads` threads of a function that the source's plan names; returns when they have ended.
  /// `arguments` point to values of its parameters' types, in their order.
  virtual void launch(std::string_view function, int64_t blocks, int threads, std::span<const void* const> arguments) = 0;
};

/// What a CardProgram is built for: its kernel's tensors and symbol.
[[nodiscard]] task::Task card_program_task();
/// The grader's own program, which every card runs: to be built ahead of time.
[[nodiscard]] std::string_view grader_source();

class Card {
 public:
  /// Opens "cuda:0" in this process. kUnavailable where there is no such card or it cannot share memory.
  [[nodiscard]] static Result<std::shared_ptr<Card>> open(std::string_view target);
  virtual ~Card() = default;

  [[nodiscard]] virtual const CardInfo& info() const = 0;
  /// `bytes` rounded up to the driver's granularity. kExhausted where the card has not that much.
  [[nodiscard]] virtual Result<std::unique_ptr<CardMemory>> allocate(int64_t bytes) = 0;
  [[nodiscard]] virtual int64_t free_memory() = 0;  ///< bytes
  /// Device code of hone's own, a kernel's file: built and loaded when a program of this name is first asked for, and
  /// kept while the card is open. Its plan's arguments are checked for their number only; tensors are "x" and "y", the
  /// one symbol is N. Thread-safe. kUnavailable where the card's toolchain does not build it.
  [[nodiscard]] virtual Result<CardProgram*> program(const std::string& name, std::string_view source) = 0;
  /// Of every multiprocessor, now: waits for what this process has queued.
  [[nodiscard]] virtual std::vector<ClockReading> read_clocks() = 0;
  /// Starts in the background what so many sessions at a time will need.
  virtual void expect(int sessions) = 0;
  /// As start_cpu_session: a LoadFailure is the candidate's doing. A worker is taken from those that wait, or
  /// started (half a second); it goes back when the session ends well. Regions lie on this card.
  [[nodiscard]] virtual Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start(
      const Build& build, const kernel::BoundPlan& plan, int tensors, std::span<const Region* const> regions) = 0;
};

}  // namespace hone::target
