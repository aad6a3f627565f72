#include "hone/target/card.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/target/gpu/driver.h"
#include "hone/target/gpu/session.h"
#include "hone/target/gpu/upload.h"

namespace hone::target {
namespace {

using gpu::kSuccess;

constexpr const char* kHint = "hone targets lists what there is";

/// Device code of our own. launch() is the driver's to make thread-safe.
class GpuProgram final : public CardProgram {
 public:
  explicit GpuProgram(gpu::Driver& driver) : driver_(driver) {}
  /// The card is entered.
  void release() {
    if (module_) (void)driver_.unload(module_);
    module_ = nullptr;
  }

  /// The card is entered.
  Status build(const CardInfo& card, const std::string& name, std::string_view source) {
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

  void launch(std::string_view function, int64_t blocks, int threads, std::span<const void* const> arguments) override {
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

 private:
  Status ok(gpu::Result result) const {
    if (result == kSuccess) return {};
    return fail(ErrorCode::kUnavailable, "the card does not run hone's own kernels: " + driver_.describe(result));
  }
  void must(gpu::Result result) const { HONE_CHECK(result == kSuccess, driver_.describe(result)); }

  gpu::Driver& driver_;
  gpu::Module module_ = nullptr;
  std::map<std::string, gpu::Function, std::less<>> functions_;
};

/// Looks over whole outputs where they lie, and reads the clocks.
class Grader {
 public:
  Grader(gpu::Driver& driver, int sms) : driver_(driver), sms_(sms) {}
  /// The card is entered, here and below.
  Status open(CardProgram& program) {
    program_ = &program;
    gpu::Result result = driver_.allocate(&found_, 8);
    if (result == kSuccess) result = driver_.allocate(&clocks_, kMostMultiprocessors * sizeof(ClockReading));
    if (result != kSuccess)
      return fail(ErrorCode::kUnavailable, "the card has no memory for hone's own kernels: " + driver_.describe(result));
    return {};
  }
  void release() {
    if (found_) (void)driver_.free(found_);
    if (clocks_) (void)driver_.free(clocks_);
    if (scratch_) (void)driver_.free(scratch_);
    found_ = clocks_ = scratch_ = 0;
    scratch_bytes_ = 0;
  }

  std::vector<ClockReading> read_clocks() {
    const std::scoped_lock lock(mutex_);
    std::vector<ClockReading> all(kMostMultiprocessors);
    must(driver_.fill(clocks_, 0, 4, all.size() * sizeof(ClockReading) / 4, nullptr));
    constexpr int kWarp = 32;
    const void* arguments[] = {&clocks_};
    program_->launch("read_clocks", sms_, kWarp, arguments);
    must(driver_.download(all.data(), clocks_, all.size() * sizeof(ClockReading)));
    return all;
  }

  /// Packs pieces of `data` one behind another and brings them to `to` + their offsets.
  void gather(gpu::Address data, std::span<const Piece> pieces, int width, std::byte* to) {
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

  int64_t count(gpu::Address data, int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) {
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

 private:
  void must(gpu::Result result) const { HONE_CHECK(result == kSuccess, driver_.describe(result)); }
  void make_room(size_t bytes) {
    if (bytes <= scratch_bytes_) return;
    if (scratch_) must(driver_.free(scratch_));
    scratch_bytes_ = 0;
    must(driver_.allocate(&scratch_, bytes));
    scratch_bytes_ = bytes;
  }

  gpu::Driver& driver_;
  /// Their numbers may have gaps: a card with 132 of them may count to 143.
  static constexpr size_t kMostMultiprocessors = 1024;

  int sms_;
  CardProgram* program_ = nullptr;
  std::mutex mutex_;            ///< of what follows
  gpu::Address found_ = 0, clocks_ = 0, scratch_ = 0;
  size_t scratch_bytes_ = 0;
};

class GpuMemory final : public CardMemory {
 public:
  GpuMemory(gpu::Driver& driver, Grader& grader, GpuUpload& uploads) : driver_(driver), grader_(grader), uploads_(uploads) {}
  ~GpuMemory() override { (void)driver_.release(memory_); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  Status create(int64_t bytes) {
    const gpu::Result result = driver_.create(memory_, static_cast<size_t>(bytes));
    if (result != kSuccess && memory_.bytes > 0)
      return fail(driver_.cause(result) == gpu::Cause::kOutOfMemory ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
                  fmt::format("cannot allocate {} MiB on the card: {}", memory_.bytes >> 20, driver_.describe(result)), "use a smaller workload");
    HONE_TRY_VOID(ok(result));
    HONE_TRY_VOID(ok(driver_.map(memory_, true, false)));
    int fd = -1;
    HONE_TRY_VOID(ok(driver_.export_to(&fd, memory_)));
    fd_ = base::Fd(fd);
    return {};
  }

  int fd() const override { return fd_.get(); }
  int64_t size() const override { return static_cast<int64_t>(memory_.bytes); }
  uint64_t address() const override { return memory_.address; }
  void upload(int64_t offset, const void* from, int64_t bytes) override {
    must(uploads_.upload(at(offset), from, static_cast<size_t>(bytes)));
  }
  void download(int64_t offset, void* to, int64_t bytes) override {
    enter();
    must(driver_.download(to, at(offset), static_cast<size_t>(bytes)));
  }
  void download(std::span<const Piece> pieces, int width, std::byte* to) override {
    enter();
    // What the bus brings fast enough by itself; and no more scratch memory than that.
    constexpr int64_t kLargePiece = int64_t{1} << 16;
    constexpr size_t kFew = 8, kAtOnce = size_t{1} << 14;
    std::vector<Piece> small;
    for (const Piece& piece : pieces) {
      if (piece.bytes >= kLargePiece || pieces.size() < kFew) download(piece.offset, to + piece.offset, piece.bytes);
      else small.push_back(piece);
    }
    for (size_t i = 0; i < small.size(); i += kAtOnce)
      grader_.gather(memory_.address, std::span(small).subspan(i, std::min(kAtOnce, small.size() - i)), width, to);
  }
  void fill(int64_t offset, int64_t bytes, uint64_t pattern, int width) override {
    enter();
    must(driver_.fill(at(offset), pattern, width, static_cast<size_t>(bytes / width), nullptr));
    must(driver_.synchronise(nullptr));
  }
  int64_t count(int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) override {
    enter();
    return grader_.count(memory_.address, offset, count, width, bits, exponent);
  }

 private:
  Status ok(gpu::Result result) const {
    if (result == kSuccess) return {};
    return fail(ErrorCode::kUnavailable, "the card cannot share memory: " + driver_.describe(result));
  }
  gpu::Address at(int64_t offset) const { return memory_.address + static_cast<gpu::Address>(offset); }
  void enter() const { must(driver_.enter()); }
  void must(gpu::Result result) const { HONE_CHECK(result == kSuccess, driver_.describe(result)); }

  gpu::Driver& driver_;
  Grader& grader_;
  GpuUpload& uploads_;
  gpu::Shared memory_;
  base::Fd fd_;
};

class GpuCard final : public Card {
 public:
  GpuCard(std::unique_ptr<gpu::Driver> driver, CardInfo info)
      : driver_(std::move(driver)), info_(std::move(info)), grader_(*driver_, info_.sms), uploads_(*driver_) {}
  ~GpuCard() override {
    if (driver_->enter() == kSuccess) {
      grader_.release();
      uploads_.release();
      for (const auto& [name, program] : programs_)
        if (program.made) program.made->release();
    }
    driver_->close();
  }
  GpuCard(const GpuCard&) = delete;
  GpuCard& operator=(const GpuCard&) = delete;

  Status open() {
    HONE_TRY(CardProgram* const program, GpuCard::program("grader.cu", grader_source()));
    return grader_.open(*program);
  }

  const CardInfo& info() const override { return info_; }

  Result<std::unique_ptr<CardMemory>> allocate(int64_t bytes) override {
    HONE_TRY_VOID(ok(driver_->enter()));
    auto memory = std::make_unique<GpuMemory>(*driver_, grader_, uploads_);
    HONE_TRY_VOID(memory->create(bytes));
    return std::unique_ptr<CardMemory>(std::move(memory));
  }

  int64_t free_memory() override {
    size_t free = 0;
    (void)driver_->enter();
    return driver_->free_memory(&free) == kSuccess ? static_cast<int64_t>(free) : 0;
  }

  Result<CardProgram*> program(const std::string& name, std::string_view source) override {
    Program* entry;
    {
      const std::scoped_lock lock(programs_mutex_);
      entry = &programs_[name];
    }
    // Others are to be had meanwhile: a build takes seconds.
    const std::scoped_lock lock(entry->mutex);
    if (entry->made) return entry->made.get();
    HONE_TRY_VOID(ok(driver_->enter()));
    auto made = std::make_unique<GpuProgram>(*driver_);
    if (const Status built = made->build(info_, name, source); !built) {
      made->release();
      return tl::unexpected(built.error());
    }
    entry->made = std::move(made);
    return entry->made.get();
  }

  std::vector<ClockReading> read_clocks() override {
    HONE_CHECK(driver_->enter() == kSuccess);
    return grader_.read_clocks();
  }

  void expect(int sessions) override { expect_gpu_sessions(*workers_, info_, sessions); }
  Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start(const Build& build, const kernel::BoundPlan& plan, int tensors,
                                                                    std::span<const Region* const> regions) override {
    return start_gpu_session(workers_, info_, build, plan, tensors, regions);
  }

 private:
  Status ok(gpu::Result result) const {
    if (result == kSuccess) return {};
    return fail(ErrorCode::kUnavailable, fmt::format("card {} cannot be used: {}", info_.ordinal, driver_->describe(result)));
  }

  std::unique_ptr<gpu::Driver> driver_;
  CardInfo info_;
  Grader grader_;
  GpuUpload uploads_;
  struct Program {
    std::mutex mutex;                  ///< held while it is built
    std::unique_ptr<GpuProgram> made;
  };
  std::mutex programs_mutex_;
  std::map<std::string, Program> programs_;
  std::shared_ptr<GpuWorkers> workers_ = make_gpu_workers();
};

}  // namespace

Result<std::vector<CardInfo>> cards(std::string_view driver) {
  const gpu::DriverRow* const row = gpu::find_driver(driver);
  HONE_CHECK(row, driver);
  std::vector<CardInfo> all;
  if (const std::string why = row->cards(all); !why.empty()) return fail(ErrorCode::kUnavailable, why, kHint);
  return all;
}

std::string_view card_driver(std::string_view target) { return target.substr(0, target.find(':')); }

std::optional<int> card_ordinal(std::string_view target) {
  const std::string_view driver = card_driver(target);
  if (driver.size() == target.size() || !gpu::find_driver(driver)) return std::nullopt;
  const std::string_view digits = target.substr(driver.size() + 1);
  int ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error != std::errc() || end != digits.data() + digits.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

double clock_mhz(std::span<const ClockReading> before, std::span<const ClockReading> after) {
  std::vector<double> all;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    if (before[i].ns > 0 && after[i].ns > before[i].ns && after[i].cycles > before[i].cycles)
      all.push_back(1e3 * static_cast<double>(after[i].cycles - before[i].cycles) / static_cast<double>(after[i].ns - before[i].ns));
  if (all.empty()) return 0;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

task::Task card_program_task() {
  const auto task = task::parse_task("name = \"program\"\ninputs = { x = \"f32[N]\" }\noutputs = { y = \"f32[N]\" }\ncompute = \"y = -x\"\nworkloads = [ { N = 1 } ]\n", "program");
  HONE_CHECK(task.has_value(), task ? "" : task.error().to_string());
  return *task;
}

std::string_view grader_source() {
  const auto source = base::find_embedded("card/grader.cu");
  HONE_CHECK(source.has_value(), "the grader is built in");
  return *source;
}

int64_t flush_bytes(const CardInfo& card) { return std::max<int64_t>(2 * card.l2_bytes, int64_t{64} << 20); }

kernel::Limits card_limits(const CardInfo& card) {
  return {{"SMS", card.sms}, {"SHARED_MAX", card.shared_max}, {"WAVE", card.wave}};
}

Result<std::shared_ptr<Card>> Card::open(std::string_view target) {
  const std::optional<int> ordinal = card_ordinal(target);
  HONE_CHECK(ordinal, target);
  HONE_TRY(const std::vector<CardInfo> all, cards(card_driver(target)));
  if (*ordinal >= static_cast<int>(all.size()))
    return fail(ErrorCode::kUnavailable, fmt::format("there is no card {}; the driver has {}", target, all.size()), kHint);
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Card>, std::less<>> opened;
  const std::scoped_lock lock(mutex);
  const CardInfo& info = all[static_cast<size_t>(*ordinal)];
  std::weak_ptr<Card>& known = opened[info.target()];
  if (auto card = known.lock()) return card;
  std::unique_ptr<gpu::Driver> driver;
  if (const std::string why = gpu::find_driver(info.driver)->open(driver, *ordinal); !why.empty())
    return fail(ErrorCode::kUnavailable, fmt::format("card {} cannot be used: {}", *ordinal, why));
  auto card = std::make_shared<GpuCard>(std::move(driver), info);
  HONE_TRY_VOID(card->open());
  known = card;
  return std::shared_ptr<Card>(std::move(card));
}

}  // namespace hone::target
