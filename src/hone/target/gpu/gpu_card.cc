#include "hone/target/gpu/gpu_card.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "hone/target/gpu/grader.h"
#include "hone/target/gpu/session.h"
#include "hone/target/gpu/upload.h"

namespace hone::target {
namespace {

using gpu::kSuccess;

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

Result<std::shared_ptr<Card>> gpu_card(std::unique_ptr<gpu::Driver> driver, CardInfo info) {
  auto card = std::make_shared<GpuCard>(std::move(driver), std::move(info));
  HONE_TRY_VOID(card->open());
  return std::shared_ptr<Card>(std::move(card));
}

}  // namespace hone::target
