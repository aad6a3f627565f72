#include "hone/target/gpu/grader.h"

#include <algorithm>
#include <cstring>

namespace hone::target {

using gpu::kSuccess;

void GpuProgram::release() {
  if (module_) (void)driver_.unload(module_);
  module_ = nullptr;
}

Status GpuProgram::build(const CardInfo& card, const std::string& name, std::string_view source) {
  const task::Task task = card_program_task();
  const auto kernel = kernel::parse_kernel(source, name);
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string());
  HONE_TRY(const auto toolchain, gpu_toolchain(card.driver + ":" + card.arch));
  HONE_TRY(const BuildOutcome outcome, toolchain->build(*kernel, task, task.workloads.front().bindings, {}));
  const auto* const built = std::get_if<Build>(&outcome);
  if (!built) return fail(ErrorCode::kUnavailable, "the card's toolchain does not build hone's own kernels: " + std::get<BuildFailure>(outcome).reason);
  HONE_TRY(const std::string image, base::read_file(built->artifact));
  HONE_TRY_VOID(ok(driver_.load(&module_, image.c_str())));
  for (const auto& [function, symbol] : built->symbols) HONE_TRY_VOID(ok(driver_.find(&functions_[function], module_, symbol.c_str())));
  return {};
}

void GpuProgram::launch(std::string_view function, int64_t blocks, int threads, std::span<const void* const> arguments) {
  const auto found = functions_.find(function);
  HONE_CHECK(found != functions_.end(), "the program's plan does not name the function");
  constexpr int64_t kMostBlocks = INT32_MAX;
  HONE_CHECK(blocks > 0 && blocks <= kMostBlocks);
  // The driver reads arguments and does not write them.
  std::vector<void*> values;
  for (const void* const argument : arguments) values.push_back(const_cast<void*>(argument));
  must(driver_.enter());
  const gpu::Shape shape = {{static_cast<uint32_t>(blocks), 1, 1}, {static_cast<uint32_t>(threads), 1, 1}, {1, 1, 1}, 0};
  must(driver_.launch(found->second, shape, nullptr, values.data()));
  must(driver_.synchronise(nullptr));
}

Status GpuProgram::ok(gpu::Result result) const {
  if (result == kSuccess) return {};
  return fail(ErrorCode::kUnavailable, "the card does not run hone's own kernels: " + driver_.describe(result));
}

Status Grader::open(CardProgram& program) {
  program_ = &program;
  gpu::Result result = driver_.allocate(&found_, 8);
  if (result == kSuccess) result = driver_.allocate(&clocks_, kMostMultiprocessors * sizeof(ClockReading));
  if (result != kSuccess)
    return fail(ErrorCode::kUnavailable, "the card has no memory for hone's own kernels: " + driver_.describe(result));
  return {};
}

void Grader::release() {
  if (found_) (void)driver_.free(found_);
  if (clocks_) (void)driver_.free(clocks_);
  if (scratch_) (void)driver_.free(scratch_);
  found_ = clocks_ = scratch_ = 0;
  scratch_bytes_ = 0;
}

std::vector<ClockReading> Grader::read_clocks() {
  const std::scoped_lock lock(mutex_);
  std::vector<ClockReading> all(kMostMultiprocessors);
  must(driver_.fill(clocks_, 0, 4, all.size() * sizeof(ClockReading) / 4, nullptr));
  constexpr int kWarp = 32;
  const void* arguments[] = {&clocks_};
  program_->launch("read_clocks", sms_, kWarp, arguments);
  must(driver_.download(all.data(), clocks_, all.size() * sizeof(ClockReading)));
  return all;
}

void Grader::gather(gpu::Address data, std::span<const Piece> pieces, int width, std::byte* to) {
  const std::scoped_lock lock(mutex_);
  // Of each: where it lies, where it goes, words.
  std::vector<int64_t> table;
  int64_t packed = 0;
  for (const Piece& piece : pieces) {
    table.insert(table.end(), {piece.offset, packed, piece.bytes / width});
    packed += piece.bytes;
  }
  const size_t table_bytes = table.size() * sizeof(int64_t);
  make_room(table_bytes + static_cast<size_t>(packed));
  must(driver_.upload(scratch_, table.data(), table_bytes));
  const gpu::Address there = scratch_ + table_bytes;
  const int64_t wide = width, count = static_cast<int64_t>(pieces.size());
  const void* arguments[] = {&data, &scratch_, &there, &wide, &count};
  constexpr int kBlock = 128;
  program_->launch("gather_pieces", count, kBlock, arguments);
  std::vector<std::byte> all(static_cast<size_t>(packed));
  must(driver_.download(all.data(), there, all.size()));
  const std::byte* from = all.data();
  for (const Piece& piece : pieces) {
    std::memcpy(to + piece.offset, from, static_cast<size_t>(piece.bytes));
    from += piece.bytes;
  }
}

int64_t Grader::count(gpu::Address data, int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) {
  const std::scoped_lock lock(mutex_);
  must(driver_.fill(found_, 0, 4, 2, nullptr));
  const int64_t wide = width;
  const void* arguments[] = {&data, &found_, &offset, &count, &wide, &bits, &exponent};
  constexpr int64_t kBlock = 256, kMostBlocks = 2048;
  program_->launch("count_words", std::clamp<int64_t>((count + kBlock - 1) / kBlock, 1, kMostBlocks), kBlock, arguments);
  uint64_t found = 0;
  must(driver_.download(&found, found_, 8));
  return static_cast<int64_t>(found);
}

void Grader::make_room(size_t bytes) {
  if (bytes <= scratch_bytes_) return;
  if (scratch_) must(driver_.free(scratch_));
  scratch_bytes_ = 0;
  must(driver_.allocate(&scratch_, bytes));
  scratch_bytes_ = bytes;
}

}  // namespace hone::target
