#include "hone/target/device/cpu_session.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"
#include "hone/base/random.h"
#include "hone/target/cpu.h"
#include "hone/target/device/contention.h"
#include "hone/target/device/cpu_plan.h"
#include "hone/target/device/emulation.h"
#include "hone/target/worker/program.h"
#include "hone/target/worker/protocol.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using worker::Control;

/// The shared control block and its descriptor.
class ControlBlock {
 public:
  static Result<ControlBlock> create() {
    ControlBlock block;
    block.fd_ = base::Fd(memfd_create("hone-control", MFD_CLOEXEC));
    if (!block.fd_ || ftruncate(block.fd_.get(), sizeof(Control)) != 0)
      return fail(ErrorCode::kExhausted, fmt::format("cannot allocate shared memory: {}", std::strerror(errno)));
    void* memory = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, block.fd_.get(), 0);
    if (memory == MAP_FAILED)
      return fail(ErrorCode::kExhausted, fmt::format("cannot map shared memory: {}", std::strerror(errno)));
    block.control_ = new (memory) Control;
    return block;
  }
  ControlBlock(ControlBlock&& other) noexcept
      : fd_(std::move(other.fd_)), control_(std::exchange(other.control_, nullptr)) {}
  ControlBlock& operator=(ControlBlock&&) = delete;
  ~ControlBlock() {
    if (control_) munmap(control_, sizeof(Control));
  }
  [[nodiscard]] Control& operator*() const { return *control_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  ControlBlock() = default;
  base::Fd fd_;
  Control* control_ = nullptr;
};

/// What a batch is said to have done that did not end, by how the blocks of its call were run.
std::string_view waiting_words(BlockOrder order) {
  switch (order) {
    case BlockOrder::kUsual: return "";
    case BlockOrder::kNeighbours: return ", its blocks taken one at a time by whichever thread was free";
    case BlockOrder::kShuffled: return ", its blocks in a shuffled order";
    case BlockOrder::kForwardsAlone: return ", its blocks run one after another on one thread: no block may wait for another";
    case BlockOrder::kBackwardsAlone: return ", its blocks run from the last to the first on one thread: no block may wait for another";
  }
  return "";
}

class CpuSession final : public Session {
 public:
  CpuSession(ControlBlock control, base::Child child, std::filesystem::path artifact, std::vector<std::string> names)
      : control_(std::move(control)), child_(std::move(child)), artifact_(std::move(artifact)), names_(std::move(names)),
        tensors_((*control_).tensors), workspaces_((*control_).workspaces), library_((*control_).library != 0), emulated_((*control_).emulated != 0) {}

  /// Waits for the first word from the runner, frozen afterwards: it holds nothing of the candidate's yet.
  BatchOutcome wait_ready(std::chrono::nanoseconds deadline) {
    BatchOutcome outcome = wait_finished(0, deadline);
    if (outcome.how == BatchOutcome::How::kDone && !child_.freeze()) outcome = died();
    return outcome;
  }
  /// What an empty batch takes, with the threads and pages that all later ones have.
  void time_empty_batches() {
    std::vector<int64_t> times;
    for (int i = 0; i < kEmptyBatches; ++i) {
      const BatchOutcome outcome = run({}, std::chrono::seconds(5));
      if (outcome.how != BatchOutcome::How::kDone) return;
      times.push_back(outcome.wall_ns);
    }
    std::nth_element(times.begin(), times.begin() + kEmptyBatches / 2, times.end());
    empty_ns_ = times[kEmptyBatches / 2];
  }
  /// The candidate into the process, frozen afterwards.
  BatchOutcome load(std::chrono::nanoseconds deadline) {
    (*control_).command = worker::Command::kLoad;
    loaded_ = true;
    return release(deadline);
  }
  [[nodiscard]] worker::State state() const { return (*control_).state.load(); }
  /// What an interpreter says of a kernel that it cannot run; empty for anything else.
  [[nodiscard]] std::string refusal() const {
    BatchOutcome outcome;
    if (emulated_) describe_finding((*control_).report, {}, names_, outcome);
    return outcome.finding;
  }

  BatchOutcome run(std::span<const Call> calls, std::chrono::nanoseconds deadline) override {
    Control& control = *control_;
    HONE_CHECK(calls.size() <= worker::kMaxCalls);
    control.command = worker::Command::kRun;
    // What it may have kept of earlier calls is taken from it first, outside its time, and before it learns of these.
    const auto all = [&](bool Call::*is) { return !calls.empty() && std::all_of(calls.begin(), calls.end(), [&](const Call& call) { return call.*is; }); };
    if (!calls.empty() && !library_ && !all(&Call::remembers)) {
      control.calls = 0;
      orders_.clear();
      control.scrub = base::secret_seed() | 1;
      const BatchOutcome scrubbed = release(deadline);
      control.scrub = 0;
      if (scrubbed.how != BatchOutcome::How::kDone) return scrubbed;
    }
    control.calls = static_cast<uint32_t>(calls.size());
    orders_.clear();
    for (size_t c = 0; c < calls.size(); ++c) {
      HONE_CHECK(calls[c].tensors.size() == tensors_);
      orders_.push_back(calls[c].order);
      control.order[c] = {calls[c].order, 0, calls[c].order_seed};
      for (size_t t = 0; t < calls[c].tensors.size(); ++t)
        control.placement[c][t] = {calls[c].tensors[t].offset, calls[c].tensors[t].region, 0};
    }
    const bool warm = all(&Call::hot);
    control.warm = warm;
    for (uint32_t t = 0; warm && t < tensors_; ++t) control.tensor_bytes[t] = calls[0].tensors[t].bytes;
    control.idle = all(&Call::idle);
    return release(deadline);
  }

  int pid() const override { return child_.pid(); }

  int64_t empty_batch_ns() override { return empty_ns_; }

 private:
  static constexpr int kEmptyBatches = 15;

  /// Has the runner do what the control block says, by our clock.
  BatchOutcome release(std::chrono::nanoseconds deadline) {
    Control& control = *control_;
    const int64_t waited = run_delay_ns(child_.pid());
    const int64_t stolen = stolen_ns();
    if (!child_.thaw()) return died();
    const uint32_t before = control.finished.load(std::memory_order_acquire);
    const int64_t start = base::system_clock().now_ns();
    control.released.store(++batch_, std::memory_order_release);
    syscall(SYS_futex, &control.released, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
    BatchOutcome outcome = wait_finished(before, deadline);
    if (outcome.how != BatchOutcome::How::kDone) return outcome;
    // Whatever claims to be done is stopped before the clock is read: work that goes on behind a
    // false claim is work not done.
    if (!child_.freeze()) return died();
    outcome.wall_ns = base::system_clock().now_ns() - start;
    outcome.contended_ns =
        std::max<int64_t>(0, run_delay_ns(child_.pid()) - waited) + (stolen_ns() - stolen);
    if (const uint32_t outside = control.outside.load(std::memory_order_relaxed)) went_outside(outside, outcome);
    else if (const worker::Left left = control.left.load(std::memory_order_relaxed); left != worker::Left::kNothing) left_behind(left, outcome);
    return outcome;
  }

  void went_outside(uint32_t outside, BatchOutcome& outcome) {
    const size_t named = size_t{tensors_} + outside - 1;
    const bool scratch = outside > workspaces_;
    outcome.how = BatchOutcome::How::kDied;
    outcome.outside = true;
    outcome.why = scratch ? "wrote outside its scratch"
                          : fmt::format("wrote outside workspace {}", named < names_.size() ? names_[named] : std::to_string(outside - 1));
    outcome.finding = outcome.why;
    child_.kill();
  }

  void left_behind(worker::Left left, BatchOutcome& outcome) {
    const auto what = [left] {
      switch (left) {
        case worker::Left::kRounding: return "its rounding mode, or how it takes denormals";
        case worker::Left::kStack: return "numbers on its x87 stack (or no emms behind MMX)";
        case worker::Left::kDirection: return "its direction flag set";
        default: return "a segment's base changed";
      }
    };
    outcome.how = BatchOutcome::How::kDied;
    outcome.why = left == worker::Left::kGlobals
                      ? "keeps something of its calls in a variable of its own, where calls that run side by side meet: a workspace is for that, or thread_local scratch"
                      : fmt::format("left the processor otherwise than it found it: {}", what());
    outcome.finding = outcome.why;
    child_.kill();
  }

  BatchOutcome died() {
    const base::Exit exit = child_.wait(std::chrono::seconds(5));
    BatchOutcome outcome;
    outcome.how = BatchOutcome::How::kDied;
    outcome.why = exit.describe();
    outcome.output = exit.err;
    if (emulated_) describe_finding((*control_).report, artifact_, names_, outcome);
    return outcome;
  }

  /// Until `finished` differs from `before`, the process ends or the deadline passes.
  BatchOutcome wait_finished(uint32_t before, std::chrono::nanoseconds deadline) {
    Control& control = *control_;
    base::Lateness lateness(child_, deadline);
    for (;;) {
      if (control.finished.load(std::memory_order_acquire) != before) return {};
      const timespec slice{0, 20'000'000};
      syscall(SYS_futex, &control.finished, FUTEX_WAIT, before, &slice, nullptr, 0);
      if (control.finished.load(std::memory_order_acquire) != before) return {};
      pollfd ended{child_.pidfd(), POLLIN, 0};
      if (poll(&ended, 1, 0) > 0) return died();
      if (lateness.left() == 0) {
        child_.kill();
        BatchOutcome late;
        late.how = BatchOutcome::How::kDeadline;
        const uint32_t call = control.call.load(std::memory_order_relaxed);
        late.why = fmt::format("did not finish within {:.1f} s{}", static_cast<double>(deadline.count()) * 1e-9,
                               loaded_ && call < orders_.size() ? waiting_words(orders_[call]) : "");
        return late;
      }
    }
  }

  ControlBlock control_;
  base::Child child_;
  std::filesystem::path artifact_;
  std::vector<std::string> names_;
  // As they were before anything of the candidate's was in the process, which can write into the control block.
  const uint32_t tensors_, workspaces_;
  const bool library_, emulated_;
  std::vector<BlockOrder> orders_;   ///< of the batch's calls
  uint32_t batch_ = 0;
  int64_t empty_ns_ = 0;
  bool loaded_ = false;
};

/// Of the memory that can be had, what a kernel's own may take: the oracle and the compiler need some.
constexpr double kMostOwnMemory = 0.8;

/// Why the plan's workspaces and scratch do not fit into this machine; empty when they do.
std::string too_large(const Control& control, int threads) {
  double workspaces = 0, scratch = 0;
  for (uint32_t i = 0; i < control.workspaces; ++i) workspaces += static_cast<double>(control.workspace[i].bytes);
  for (uint32_t i = 0; i < control.launches; ++i) scratch = std::max(scratch, static_cast<double>(control.launch[i].shared_bytes) * threads);
  const int64_t available = available_memory();
  if (available < 0 || workspaces + scratch <= kMostOwnMemory * static_cast<double>(available)) return {};
  constexpr double kMiB = 1 << 20;
  return fmt::format("its workspaces and shared bytes need {:.0f} MiB, and {:.0f} MiB of memory are available", (workspaces + scratch) / kMiB,
                     static_cast<double>(available) / kMiB);
}

Status fill_cpu_control(Control& control, const kernel::BoundPlan& plan, int tensors, std::span<const Region* const> regions, int threads) {
  if (regions.size() > static_cast<size_t>(worker::kMaxRegions))
    return fail(ErrorCode::kInput, fmt::format("a plan may have at most {} buffers, this one has {}", worker::kMaxRegions, regions.size()));
  HONE_TRY_VOID(fill_cpu_plan(control, plan, tensors));
  control.threads = static_cast<uint32_t>(threads);
  control.regions = static_cast<uint32_t>(regions.size());
  for (size_t i = 0; i < regions.size(); ++i)
    control.region[i] = {regions[i]->size(), regions[i]->access() == Region::Access::kOutput, 0};
  return {};
}

std::string state_words(worker::State state) {
  switch (state) {
    case worker::State::kNoLibrary: return "the build does not load as a shared object";
    case worker::State::kNoEntries: return "the build has no table of entries";
    case worker::State::kNoMemory: return "its workspaces or shared bytes could not be allocated";
    case worker::State::kNoLock: return "the runner could not close its jail";
    case worker::State::kNoCall: return "it does not have this call on this processor";
    default: return "the runner did not start";
  }
}

}  // namespace

Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start_cpu_session(
    const Build& build, const kernel::BoundPlan& plan, int tensors,
    std::span<const Region* const> regions, const CpuSessionOptions& options) {
  using Outcome = std::variant<std::unique_ptr<Session>, LoadFailure>;
  HONE_TRY(ControlBlock block, ControlBlock::create());
  Control& control = *block;
  int threads = options.threads > 0 ? options.threads : cpu_info().threads;
  if (build.emulates) {
    if (std::string why = refuse_launches(*build.emulates, plan, build.facts); !why.empty()) return Outcome(LoadFailure{std::move(why), {}});
    threads = 1;
  }
  HONE_TRY_VOID(fill_cpu_control(control, plan, tensors, regions, threads));
  if (build.emulates) {
    HONE_CHECK(options.tensor_bytes.size() == static_cast<size_t>(tensors));
    std::copy(options.tensor_bytes.begin(), options.tensor_bytes.end(), control.tensor_bytes);
    prepare_emulation(*build.emulates, plan, build.facts, options.tensor_bytes, control);
  }
  if (!build.emulates)
    if (std::string why = too_large(control, threads); !why.empty()) return Outcome(LoadFailure{std::move(why), {}});
  control.library = options.library_threads > 0;
  control.edges = options.edges;
  control.mark = base::secret_seed();
  fs::path program = build.runner;
  if (build.sanitized) {
    HONE_CHECK(!program.empty() && options.tensor_bytes.size() == static_cast<size_t>(tensors));
    std::copy(options.tensor_bytes.begin(), options.tensor_bytes.end(), control.tensor_bytes);
  } else if (program.empty()) {
    HONE_TRY(program, worker_program("hone-runner"));
  }
  base::SpawnOptions spawn;
  spawn.argv = {program.string(), build.artifact.string()};
  spawn.environment = {{"LANG", "C"}};
  if (build.sanitized) spawn.environment["ASAN_OPTIONS"] = "detect_leaks=0:detect_stack_use_after_return=1:abort_on_error=0:exitcode=99";
  spawn.directory = "/";
  base::Jail jail;
  jail.readable = {program, build.artifact};
  jail.processes = threads + options.library_threads + 4;
  if (options.library_threads > 0)
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
      spawn.environment[name] = std::to_string(options.library_threads);
  jail.file_bytes = 0;
  jail.calls = base::Jail::Calls::kRunner;
  spawn.jail = jail;
  spawn.output_limit = 1 << 16;
  spawn.descriptors[worker::kControlFd] = block.fd();
  for (size_t i = 0; i < regions.size(); ++i)
    spawn.descriptors[worker::kFirstRegionFd + static_cast<int>(i)] = regions[i]->fd();
  HONE_TRY(base::Child child, base::Child::spawn(spawn));
  auto session = std::make_unique<CpuSession>(std::move(block), std::move(child), build.artifact, options.names);
  const BatchOutcome ready = session->wait_ready(options.start_deadline);
  if (ready.how != BatchOutcome::How::kDone) return Outcome(LoadFailure{"before loading: " + ready.why, ready.output});
  if (session->state() != worker::State::kWaiting) return Outcome(LoadFailure{state_words(session->state()), {}});
  if (options.timed) session->time_empty_batches();
  const BatchOutcome loaded = session->load(options.start_deadline);
  if (loaded.how != BatchOutcome::How::kDone) return Outcome(LoadFailure{"while loading: " + loaded.why, loaded.output});
  if (session->state() != worker::State::kReady) {
    const std::string said = session->refusal();
    return Outcome(LoadFailure{said.empty() ? state_words(session->state()) : said, {}});
  }
  return Outcome(std::unique_ptr<Session>(std::move(session)));
}

}  // namespace hone::target
