#include "hone/target/card.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/target/gpu/cuda_api.h"
#include "hone/target/gpu/session.h"
#include "hone/target/gpu/upload.h"

namespace hone::target {
namespace {

using cuda::kSuccess;

Result<const cuda::Api*> driver() {
  static cuda::Api api;
  static const std::string why = cuda::load(api);
  if (!why.empty()) return fail(ErrorCode::kUnavailable, why, "hone targets lists what there is");
  return &api;
}

int attribute(const cuda::Api& api, int which, cuda::Device device) {
  int value = 0;
  return api.device_attribute(&value, which, device) == kSuccess ? value : 0;
}

CardInfo describe(const cuda::Api& api, int ordinal) {
  CardInfo info;
  info.ordinal = ordinal;
  cuda::Device device = 0;
  if (api.device_get(&device, ordinal) != kSuccess) return info;
  char name[256] = {};
  if (api.device_name(name, sizeof name - 1, device) == kSuccess) info.name = name;
  info.major = attribute(api, cuda::kMajor, device);
  info.minor = attribute(api, cuda::kMinor, device);
  // From Hopper on, what is fastest needs the architecture's own instructions.
  info.arch = fmt::format("sm_{}{}{}", info.major, info.minor, info.major >= 9 ? "a" : "");
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
  (void)api.driver_version(&info.driver);
  return info;
}

/// Device code of our own. launch() is the driver's to make thread-safe.
class GpuProgram final : public CardProgram {
 public:
  GpuProgram(const cuda::Api& api, cuda::Context context) : api_(api), context_(context) {}
  /// The context is current.
  void release() {
    if (module_) (void)api_.module_unload(module_);
    module_ = nullptr;
  }

  /// The context is current.
  Status build(const std::string& arch, const std::string& name, std::string_view source) {
    const task::Task task = card_program_task();
    const auto kernel = kernel::parse_kernel(source, name);
    HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string());
    HONE_TRY(const auto toolchain, cuda_toolchain(arch));
    HONE_TRY(const BuildOutcome outcome, toolchain->build(*kernel, task, task.workloads.front().bindings, {}));
    const auto* const built = std::get_if<Build>(&outcome);
    if (!built) return fail(ErrorCode::kUnavailable, "the card's toolchain does not build hone's own kernels: " + std::get<BuildFailure>(outcome).reason);
    HONE_TRY(const std::string image, base::read_file(built->artifact));
    HONE_TRY_VOID(ok(api_.module_load(&module_, image.c_str())));
    for (const auto& [function, symbol] : built->symbols) HONE_TRY_VOID(ok(api_.module_function(&functions_[function], module_, symbol.c_str())));
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
    must(api_.context_set(context_));
    must(api_.launch(found->second, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(threads), 1, 1, 0, nullptr, values.data(), nullptr));
    must(api_.stream_synchronise(nullptr));
  }

 private:
  Status ok(cuda::Result result) const {
    if (result == kSuccess) return {};
    return fail(ErrorCode::kUnavailable, "the card does not run hone's own kernels: " + api_.describe(result));
  }
  void must(cuda::Result result) const { HONE_CHECK(result == kSuccess, api_.describe(result)); }

  const cuda::Api& api_;
  cuda::Context context_;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::Function, std::less<>> functions_;
};

/// Looks over whole outputs where they lie, and reads the clocks.
class Grader {
 public:
  Grader(const cuda::Api& api, int sms) : api_(api), sms_(sms) {}
  /// The context is current, here and below.
  Status open(CardProgram& program) {
    program_ = &program;
    cuda::Result result = api_.allocate(&found_, 8);
    if (result == kSuccess) result = api_.allocate(&clocks_, kMostMultiprocessors * sizeof(ClockReading));
    if (result != kSuccess)
      return fail(ErrorCode::kUnavailable, "the card has no memory for hone's own kernels: " + api_.describe(result));
    return {};
  }
  void release() {
    if (found_) (void)api_.free(found_);
    if (clocks_) (void)api_.free(clocks_);
    if (scratch_) (void)api_.free(scratch_);
    found_ = clocks_ = scratch_ = 0;
    scratch_bytes_ = 0;
  }

  std::vector<ClockReading> read_clocks() {
    const std::scoped_lock lock(mutex_);
    std::vector<ClockReading> all(kMostMultiprocessors);
    must(api_.set_words(clocks_, 0, all.size() * sizeof(ClockReading) / 4, nullptr));
    constexpr int kWarp = 32;
    const void* arguments[] = {&clocks_};
    program_->launch("read_clocks", sms_, kWarp, arguments);
    must(api_.download(all.data(), clocks_, all.size() * sizeof(ClockReading)));
    return all;
  }

  /// Packs pieces of `data` one behind another and brings them to `to` + their offsets.
  void gather(cuda::Address data, std::span<const Piece> pieces, int width, std::byte* to) {
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
    must(api_.upload(scratch_, table.data(), table_bytes));
    const cuda::Address there = scratch_ + table_bytes;
    const int64_t wide = width, count = static_cast<int64_t>(pieces.size());
    const void* arguments[] = {&data, &scratch_, &there, &wide, &count};
    constexpr int kBlock = 128;
    program_->launch("gather_pieces", count, kBlock, arguments);
    std::vector<std::byte> all(static_cast<size_t>(packed));
    must(api_.download(all.data(), there, all.size()));
    const std::byte* from = all.data();
    for (const Piece& piece : pieces) {
      std::memcpy(to + piece.offset, from, static_cast<size_t>(piece.bytes));
      from += piece.bytes;
    }
  }

  int64_t count(cuda::Address data, int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) {
    const std::scoped_lock lock(mutex_);
    must(api_.set_words(found_, 0, 2, nullptr));
    const int64_t wide = width;
    const void* arguments[] = {&data, &found_, &offset, &count, &wide, &bits, &exponent};
    constexpr int64_t kBlock = 256, kMostBlocks = 2048;
    program_->launch("count_words", std::clamp<int64_t>((count + kBlock - 1) / kBlock, 1, kMostBlocks), kBlock, arguments);
    uint64_t found = 0;
    must(api_.download(&found, found_, 8));
    return static_cast<int64_t>(found);
  }

 private:
  void must(cuda::Result result) const { HONE_CHECK(result == kSuccess, api_.describe(result)); }
  void make_room(size_t bytes) {
    if (bytes <= scratch_bytes_) return;
    if (scratch_) must(api_.free(scratch_));
    scratch_bytes_ = 0;
    must(api_.allocate(&scratch_, bytes));
    scratch_bytes_ = bytes;
  }

  const cuda::Api& api_;
  /// Their numbers may have gaps: a card with 132 of them may count to 143.
  static constexpr size_t kMostMultiprocessors = 1024;

  int sms_;
  CardProgram* program_ = nullptr;
  std::mutex mutex_;            ///< of what follows
  cuda::Address found_ = 0, clocks_ = 0, scratch_ = 0;
  size_t scratch_bytes_ = 0;
};

class GpuMemory final : public CardMemory {
 public:
  GpuMemory(const cuda::Api& api, cuda::Context context, Grader& grader, GpuUpload& uploads)
      : api_(api), context_(context), grader_(grader), uploads_(uploads) {}
  ~GpuMemory() override {
    if (address_ && mapped_) (void)api_.unmap(address_, bytes_);
    if (address_) (void)api_.unreserve(address_, bytes_);
    if (handle_) (void)api_.release(handle_);
  }

  Status create(int device, int64_t bytes) {
    cuda::AllocationProperties properties;
    properties.location.id = device;
    size_t granularity = 0;
    HONE_TRY_VOID(ok(api_.granularity(&granularity, &properties, 0)));
    bytes_ = (static_cast<size_t>(bytes) + granularity - 1) / granularity * granularity;
    if (const cuda::Result result = api_.create(&handle_, bytes_, &properties, 0); result != kSuccess)
      return fail(result == cuda::kOutOfMemory ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
                  fmt::format("cannot allocate {} MiB on the card: {}", bytes_ >> 20, api_.describe(result)), "use a smaller workload");
    HONE_TRY_VOID(ok(api_.reserve(&address_, bytes_, 0, 0, 0)));
    HONE_TRY_VOID(ok(api_.map(address_, bytes_, 0, handle_, 0)));
    mapped_ = true;
    cuda::AccessDescription access;
    access.location.id = device;
    HONE_TRY_VOID(ok(api_.set_access(address_, bytes_, &access, 1)));
    int fd = -1;
    HONE_TRY_VOID(ok(api_.export_handle(&fd, handle_, cuda::kPosixDescriptor, 0)));
    fd_ = base::Fd(fd);
    return {};
  }

  int fd() const override { return fd_.get(); }
  int64_t size() const override { return static_cast<int64_t>(bytes_); }
  uint64_t address() const override { return address_; }
  void upload(int64_t offset, const void* from, int64_t bytes) override {
    must(uploads_.upload(context_, address_ + static_cast<cuda::Address>(offset), from, static_cast<size_t>(bytes)));
  }
  void download(int64_t offset, void* to, int64_t bytes) override {
    enter();
    must(api_.download(to, address_ + static_cast<cuda::Address>(offset), static_cast<size_t>(bytes)));
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
      grader_.gather(address_, std::span(small).subspan(i, std::min(kAtOnce, small.size() - i)), width, to);
  }
  void fill(int64_t offset, int64_t bytes, uint64_t pattern, int width) override {
    enter();
    const cuda::Address at = address_ + static_cast<cuda::Address>(offset);
    const auto count = static_cast<size_t>(bytes / width);
    switch (width) {
      case 1: must(api_.set_bytes(at, static_cast<unsigned char>(pattern), count, nullptr)); break;
      case 2: must(api_.set_halves(at, static_cast<unsigned short>(pattern), count, nullptr)); break;
      case 4: must(api_.set_words(at, static_cast<unsigned>(pattern), count, nullptr)); break;
      default:
        // A column of low words, a column of high ones.
        must(api_.set_column(at, 8, static_cast<unsigned>(pattern), 1, count, nullptr));
        must(api_.set_column(at + 4, 8, static_cast<unsigned>(pattern >> 32), 1, count, nullptr));
    }
    must(api_.stream_synchronise(nullptr));
  }
  int64_t count(int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) override {
    enter();
    return grader_.count(address_, offset, count, width, bits, exponent);
  }

 private:
  Status ok(cuda::Result result) const {
    if (result == kSuccess) return {};
    return fail(ErrorCode::kUnavailable, "the card cannot share memory: " + api_.describe(result));
  }
  /// The context belongs to threads one by one.
  void enter() const { must(api_.context_set(context_)); }
  void must(cuda::Result result) const { HONE_CHECK(result == kSuccess, api_.describe(result)); }

  const cuda::Api& api_;
  cuda::Context context_;
  Grader& grader_;
  GpuUpload& uploads_;
  cuda::Handle handle_ = 0;
  cuda::Address address_ = 0;
  size_t bytes_ = 0;
  bool mapped_ = false;
  base::Fd fd_;
};

class GpuCard final : public Card {
 public:
  GpuCard(const cuda::Api& api, CardInfo info) : api_(api), info_(std::move(info)), grader_(api, info_.sms), uploads_(api) {}
  ~GpuCard() override {
    if (!context_) return;
    if (api_.context_set(context_) == kSuccess) {
      grader_.release();
      uploads_.release();
      for (const auto& [name, program] : programs_)
        if (program.made) program.made->release();
    }
    (void)api_.context_release(device_);
  }
  GpuCard(const GpuCard&) = delete;
  GpuCard& operator=(const GpuCard&) = delete;

  Status open() {
    HONE_TRY_VOID(ok(api_.device_get(&device_, info_.ordinal)));
    HONE_TRY_VOID(ok(api_.context_retain(&context_, device_)));
    HONE_TRY_VOID(ok(api_.context_set(context_)));
    HONE_TRY(CardProgram* const program, GpuCard::program("grader.cu", grader_source()));
    return grader_.open(*program);
  }

  const CardInfo& info() const override { return info_; }

  Result<std::unique_ptr<CardMemory>> allocate(int64_t bytes) override {
    HONE_TRY_VOID(ok(api_.context_set(context_)));
    auto memory = std::make_unique<GpuMemory>(api_, context_, grader_, uploads_);
    HONE_TRY_VOID(memory->create(info_.ordinal, bytes));
    return std::unique_ptr<CardMemory>(std::move(memory));
  }

  int64_t free_memory() override {
    size_t free = 0, total = 0;
    (void)api_.context_set(context_);
    return api_.memory_info(&free, &total) == kSuccess ? static_cast<int64_t>(free) : 0;
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
    HONE_TRY_VOID(ok(api_.context_set(context_)));
    auto made = std::make_unique<GpuProgram>(api_, context_);
    if (const Status built = made->build(info_.arch, name, source); !built) {
      made->release();
      return tl::unexpected(built.error());
    }
    entry->made = std::move(made);
    return entry->made.get();
  }

  std::vector<ClockReading> read_clocks() override {
    HONE_CHECK(api_.context_set(context_) == kSuccess);
    return grader_.read_clocks();
  }

  void expect(int sessions) override { expect_gpu_sessions(*workers_, info_, sessions); }
  Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start(const Build& build, const kernel::BoundPlan& plan, int tensors,
                                                                    std::span<const Region* const> regions) override {
    return start_gpu_session(workers_, info_, build, plan, tensors, regions);
  }

 private:
  Status ok(cuda::Result result) const {
    if (result == kSuccess) return {};
    return fail(ErrorCode::kUnavailable, fmt::format("card {} cannot be used: {}", info_.ordinal, api_.describe(result)));
  }

  const cuda::Api& api_;
  CardInfo info_;
  Grader grader_;
  GpuUpload uploads_;
  struct Program {
    std::mutex mutex;                  ///< held while it is built
    std::unique_ptr<GpuProgram> made;
  };
  std::mutex programs_mutex_;
  std::map<std::string, Program> programs_;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  std::shared_ptr<GpuWorkers> workers_ = make_gpu_workers();
};

}  // namespace

Result<std::vector<CardInfo>> cards() {
  HONE_TRY(const cuda::Api* const api, driver());
  int count = 0;
  if (const cuda::Result result = api->device_count(&count); result != kSuccess)
    return fail(ErrorCode::kUnavailable, "the driver cannot count its cards: " + api->describe(result));
  std::vector<CardInfo> all;
  for (int i = 0; i < count; ++i) all.push_back(describe(*api, i));
  return all;
}

std::optional<int> card_ordinal(std::string_view target) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!target.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = target.substr(kPrefix.size());
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

Result<std::shared_ptr<Card>> Card::open(int ordinal) {
  HONE_TRY(const std::vector<CardInfo> all, cards());
  if (ordinal >= static_cast<int>(all.size()))
    return fail(ErrorCode::kUnavailable, fmt::format("there is no card cuda:{}; the driver has {}", ordinal, all.size()),
                "hone targets lists what there is");
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Card>> opened;
  const std::scoped_lock lock(mutex);
  if (auto known = opened[ordinal].lock()) return known;
  HONE_TRY(const cuda::Api* const api, driver());
  auto card = std::make_shared<GpuCard>(*api, all[static_cast<size_t>(ordinal)]);
  HONE_TRY_VOID(card->open());
  opened[ordinal] = card;
  return std::shared_ptr<Card>(std::move(card));
}

}  // namespace hone::target
