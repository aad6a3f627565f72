// Device code of hone's own on a card, and what the grader does with its own program (grader.cu). See card.h.
#pragma once
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hone/target/card.h"
#include "hone/target/gpu/driver.h"

namespace hone::target {

/// Device code of our own. launch() is the driver's to make thread-safe.
class GpuProgram final : public CardProgram {
 public:
  explicit GpuProgram(gpu::Driver& driver) : driver_(driver) {}
  /// The card is entered.
  void release();
  /// The card is entered.
  Status build(const CardInfo& card, const std::string& name, std::string_view source);
  void launch(std::string_view function, int64_t blocks, int threads, std::span<const void* const> arguments) override;

 private:
  Status ok(gpu::Result result) const;
  void must(gpu::Result result) const { HONE_CHECK(result == gpu::kSuccess, driver_.describe(result)); }

  gpu::Driver& driver_;
  gpu::Module module_ = nullptr;
  std::map<std::string, gpu::Function, std::less<>> functions_;
};

/// Looks over whole outputs where they lie, and reads the clocks.
class Grader {
 public:
  Grader(gpu::Driver& driver, int sms) : driver_(driver), sms_(sms) {}
  /// The card is entered, here and below.
  Status open(CardProgram& program);
  void release();
  std::vector<ClockReading> read_clocks();
  /// Packs pieces of `data` one behind another and brings them to `to` + their offsets.
  void gather(gpu::Address data, std::span<const Piece> pieces, int width, std::byte* to);
  int64_t count(gpu::Address data, int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent);

 private:
  void must(gpu::Result result) const { HONE_CHECK(result == gpu::kSuccess, driver_.describe(result)); }
  void make_room(size_t bytes);

  gpu::Driver& driver_;
  /// Their numbers may have gaps: a card with 132 of them may count to 143.
  static constexpr size_t kMostMultiprocessors = 1024;
  int sms_;
  CardProgram* program_ = nullptr;
  std::mutex mutex_;            ///< of what follows
  gpu::Address found_ = 0, clocks_ = 0, scratch_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace hone::target
