#include "hone/target/device/cuda_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/process/process.h"
#include "hone/base/random.h"
#include "hone/target/worker/cuda_protocol.h"
#include "hone/target/worker/program.h"

namespace hone::target {

using worker::CudaCommand;
using worker::CudaControl;
using worker::CudaState;

namespace {

constexpr std::chrono::seconds kStartDeadline{60}, kLoadDeadline{60};

/// One worker process.
class CudaWorker {
 public:
  static Result<std::unique_ptr<CudaWorker>> start(const CardInfo& card) {
    auto made = std::unique_ptr<CudaWorker>(new CudaWorker);
    HONE_TRY_VOID(made->launch(card));
    return made;
  }
  ~CudaWorker() {
    if (control_) munmap(control_, sizeof(CudaControl));
  }
  CudaWorker(const CudaWorker&) = delete;
  CudaWorker& operator=(const CudaWorker&) = delete;

  [[nodiscard]] CudaControl& control() { return *control_; }

  struct Answer {
    enum class How : uint8_t { kAnswered, kDied, kDeadline } how = How::kAnswered;
    CudaState state = CudaState::kBroken;
    int64_t wall_ns = 0;
    std::string why;
  };
  Answer ask(CudaCommand command, std::chrono::nanoseconds deadline, std::span<const int> descriptors = {}) {
    const int64_t start = base::system_clock().now_ns();
    if (!send(command, descriptors)) return died();
    return await(start, deadline);
  }
  /// Its context is good for another candidate.
  [[nodiscard]] bool usable() const { return usable_; }

 private:
  CudaWorker() = default;

  Status launch(const CardInfo& card) {
    fd_ = base::Fd(memfd_create("hone-control", MFD_CLOEXEC));
    if (!fd_ || ftruncate(fd_.get(), sizeof(CudaControl)) != 0)
      return fail(ErrorCode::kExhausted, fmt::format("cannot allocate shared memory: {}", std::strerror(errno)));
    void* memory = mmap(nullptr, sizeof(CudaControl), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (memory == MAP_FAILED) return fail(ErrorCode::kExhausted, fmt::format("cannot map shared memory: {}", std::strerror(errno)));
    control_ = static_cast<CudaControl*>(memory);
    control_->card = card.ordinal;
    control_->flush_bytes = flush_bytes(card);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
      return fail(ErrorCode::kExhausted, fmt::format("cannot make a socket: {}", std::strerror(errno)));
    socket_ = base::Fd(pair[0]);
    const base::Fd other(pair[1]);
    HONE_TRY(const std::filesystem::path program, worker_program("hone-cuda"));
    base::SpawnOptions spawn;
    spawn.argv = {program.string()};
    spawn.environment = {{"LANG", "C"}};
    // The driver is found as we found it; which cards there are, and in which order, must stay the same.
    for (const char* name : {"HONE_CUDA_DRIVER", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})
      if (const char* value = std::getenv(name)) spawn.environment[name] = value;
    spawn.directory = "/";
    spawn.output_limit = 1 << 16;
    spawn.descriptors[worker::kCudaControlFd] = fd_.get();
    spawn.descriptors[worker::kCudaSocketFd] = other.get();
    HONE_TRY(base::Child child, base::Child::spawn(spawn));
    child_ = std::make_unique<base::Child>(std::move(child));
    const Answer answer = await(base::system_clock().now_ns(), kStartDeadline);
    if (answer.how != Answer::How::kAnswered || answer.state != CudaState::kDone)
      return fail(ErrorCode::kUnavailable, "the card's worker does not start: " + answer.why);
    usable_ = true;
    return {};
  }

  bool send(CudaCommand command, std::span<const int> descriptors) {
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * (worker::kMaxRegions + 1))] = {};
    iovec part{&command, sizeof command};
    msghdr message{};
    message.msg_iov = &part, message.msg_iovlen = 1;
    if (!descriptors.empty()) {
      message.msg_control = space, message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
    }
    return sendmsg(socket_.get(), &message, MSG_NOSIGNAL) == sizeof command;
  }

  Answer await(int64_t start, std::chrono::nanoseconds deadline) {
    const int64_t end = start + deadline.count();
    for (;;) {
      const int64_t left = end - base::system_clock().now_ns();
      pollfd word{socket_.get(), POLLIN, 0};
      const int got = poll(&word, 1, static_cast<int>(std::clamp<int64_t>(left / 1'000'000, 0, 1000)));
      if (got < 0 && errno != EINTR) return died();
      if (got > 0) {
        Answer answer;
        if (recv(socket_.get(), &answer.state, sizeof answer.state, 0) != sizeof answer.state) return died();
        answer.wall_ns = base::system_clock().now_ns() - start;
        control_->why[sizeof control_->why - 1] = 0;
        answer.why = control_->why;
        if (answer.state == CudaState::kFault || answer.state == CudaState::kBroken) usable_ = false;
        return answer;
      }
      if (left <= 0) {
        usable_ = false;
        child_->kill();
        return {Answer::How::kDeadline, CudaState::kBroken, 0, fmt::format("did not finish within {:.1f} s", static_cast<double>(deadline.count()) * 1e-9)};
      }
    }
  }

  Answer died() {
    usable_ = false;
    const base::Exit exit = child_->wait(std::chrono::seconds(5));
    return {Answer::How::kDied, CudaState::kBroken, 0, "the card's worker " + exit.describe() + (exit.err.empty() ? "" : ": " + exit.err)};
  }

  base::Fd fd_, socket_;
  CudaControl* control_ = nullptr;
  std::unique_ptr<base::Child> child_;
  bool usable_ = false;
};

}  // namespace

class CudaWorkers {
 public:
  Result<std::unique_ptr<CudaWorker>> take(const CardInfo& card) {
    const std::scoped_lock lock(mutex_);
    while (waiting_.size() < kChoice) {
      HONE_TRY(auto started, CudaWorker::start(card));
      waiting_.push_back(std::move(started));
    }
    std::swap(waiting_[rng_.below(waiting_.size())], waiting_.back());
    auto worker = std::move(waiting_.back());
    waiting_.pop_back();
    return worker;
  }
  void give_back(std::unique_ptr<CudaWorker> worker) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(worker));
  }

 private:
  /// A process has a speed of its own, by a few hundred nanoseconds a call: whoever is timed over and over must not
  /// always get the same one.
  static constexpr size_t kChoice = 3;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CudaWorker>> waiting_;
  base::Rng rng_{base::secret_seed()};
};

std::shared_ptr<CudaWorkers> make_cuda_workers() { return std::make_shared<CudaWorkers>(); }

namespace {

class CudaSession final : public Session {
 public:
  CudaSession(std::shared_ptr<CudaWorkers> workers, std::unique_ptr<CudaWorker> worker)
      : workers_(std::move(workers)), worker_(std::move(worker)) {}
  ~CudaSession() override {
    if (!worker_->usable()) return;
    const auto answer = worker_->ask(CudaCommand::kUnload, kLoadDeadline);
    if (answer.how == CudaWorker::Answer::How::kAnswered && answer.state == CudaState::kDone) workers_->give_back(std::move(worker_));
  }
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;

  /// `descriptors`: the module's image, then the regions.
  CudaWorker::Answer load(std::span<const int> descriptors) { return worker_->ask(CudaCommand::kLoad, kLoadDeadline, descriptors); }

  BatchOutcome run(std::span<const Call> calls, std::chrono::nanoseconds deadline) override {
    BatchOutcome outcome;
    CudaControl& control = worker_->control();
    HONE_CHECK(calls.size() <= worker::kMaxCalls);
    control.calls = static_cast<uint32_t>(calls.size());
    for (size_t c = 0; c < calls.size(); ++c) {
      HONE_CHECK(calls[c].tensors.size() == control.tensors);
      control.cold[c] = calls[c].cold;
      for (size_t t = 0; t < calls[c].tensors.size(); ++t)
        control.placement[c][t] = {calls[c].tensors[t].offset, calls[c].tensors[t].region, 0};
    }
    if (!worker_->usable()) {
      outcome.how = BatchOutcome::How::kDied;
      outcome.why = "the session is over";
      return outcome;
    }
    const auto answer = worker_->ask(CudaCommand::kRun, deadline);
    if (answer.how == CudaWorker::Answer::How::kDeadline) {
      outcome.how = BatchOutcome::How::kDeadline;
      outcome.why = answer.why;
      return outcome;
    }
    if (answer.how == CudaWorker::Answer::How::kDied || answer.state != CudaState::kDone) {
      outcome.how = BatchOutcome::How::kDied;
      outcome.why = answer.why;
      outcome.outside = answer.why.find("ILLEGAL_ADDRESS") != std::string::npos;
      if (outcome.outside) outcome.finding = answer.why;
      return outcome;
    }
    outcome.wall_ns = control.device_ns;
    // Events that say less than our own clock leaves room for, or disagree with the worker's: no sample.
    if (!answer.why.empty() || control.span_ns > answer.wall_ns) outcome.contended_ns = outcome.wall_ns;
    return outcome;
  }

  /// Times are the device's: there is no hand-off in them.
  int64_t empty_batch_ns() override { return 0; }

 private:
  std::shared_ptr<CudaWorkers> workers_;
  std::unique_ptr<CudaWorker> worker_;
};

std::string refuse(const CardInfo& card, const kernel::BoundPlan& plan, const std::map<std::string, double>& facts) {
  for (const kernel::BoundLaunch& launch : plan.launches) {
    int64_t threads = 1;
    for (const int64_t extent : launch.block) threads *= extent;
    if (launch.block.empty()) return fmt::format("launch {} has no block: a card needs to know its threads", launch.function);
    if (threads > card.threads_per_block)
      return fmt::format("launch {} has {} threads a block; {} takes {}", launch.function, threads, card.name, card.threads_per_block);
    const auto it = facts.find("static_shared_bytes/" + launch.function);
    const int64_t shared = launch.shared + (it == facts.end() ? 0 : static_cast<int64_t>(it->second));
    if (shared > card.shared_max)
      return fmt::format("launch {} wants {} bytes of shared memory a block; {} has {}", launch.function, shared, card.name, card.shared_max);
    constexpr int64_t kMostX = INT32_MAX, kMostYZ = 65535;
    for (size_t d = 0; d < launch.grid.size(); ++d)
      if (launch.grid[d] > (d == 0 ? kMostX : kMostYZ))
        return fmt::format("launch {} has a grid of {} along {}; the most is {}", launch.function, launch.grid[d], "xyz"[d], d == 0 ? kMostX : kMostYZ);
  }
  return {};
}

Status fill(CudaControl& control, const Build& build, const kernel::BoundPlan& plan, int tensors, std::span<const Region* const> regions) {
  const auto limit = [](size_t have, int most, const char* what) -> Status {
    if (have > static_cast<size_t>(most))
      return fail(ErrorCode::kInput, fmt::format("a plan may have at most {} {}, this one has {}", most, what, have));
    return {};
  };
  HONE_TRY_VOID(limit(regions.size(), worker::kMaxRegions, "buffers"));
  HONE_TRY_VOID(limit(plan.launches.size(), worker::kMaxLaunches, "launches"));
  HONE_TRY_VOID(limit(plan.workspaces.size(), worker::kMaxWorkspaces, "workspaces"));
  HONE_TRY_VOID(limit(static_cast<size_t>(tensors), worker::kMaxTensors, "inputs and outputs"));
  control.regions = static_cast<uint32_t>(regions.size());
  control.launches = static_cast<uint32_t>(plan.launches.size());
  control.workspaces = static_cast<uint32_t>(plan.workspaces.size());
  control.tensors = static_cast<uint32_t>(tensors);
  for (size_t i = 0; i < regions.size(); ++i) control.region[i] = {regions[i]->size(), regions[i]->access() == Region::Access::kOutput, 0};
  for (size_t i = 0; i < plan.workspaces.size(); ++i)
    control.workspace[i] = {task::element_count(plan.workspaces[i].shape) * task::size_of(plan.workspaces[i].dtype), plan.workspaces[i].zero, 0};
  std::map<std::string, uint32_t> symbols;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const kernel::BoundLaunch& from = plan.launches[i];
    worker::CudaLaunch& to = control.launch[i];
    HONE_TRY_VOID(limit(from.args.size(), worker::kMaxArguments, "arguments a launch"));
    const auto it = build.symbols.find(from.function);
    HONE_CHECK(it != build.symbols.end(), from.function);
    const auto [symbol, fresh] = symbols.emplace(it->second, static_cast<uint32_t>(symbols.size()));
    if (fresh) {
      if (it->second.size() >= worker::kMaxSymbol)
        return fail(ErrorCode::kInput, fmt::format("the name of {} is too long: {} characters in the module", from.function, it->second.size()));
      std::strcpy(control.symbol[symbol->second], it->second.c_str());
    }
    to.symbol = symbol->second;
    for (size_t d = 0; d < 3; ++d) {
      to.grid[d] = d < from.grid.size() ? static_cast<uint32_t>(from.grid[d]) : 1;
      to.block[d] = d < from.block.size() ? static_cast<uint32_t>(from.block[d]) : 1;
    }
    to.shared_bytes = static_cast<uint32_t>(from.shared);
    to.arguments = static_cast<uint32_t>(from.args.size());
    for (size_t a = 0; a < from.args.size(); ++a)
      to.argument[a] = {static_cast<uint32_t>(from.args[a].kind), from.args[a].tensor, from.args[a].value};
  }
  control.symbols = static_cast<uint32_t>(symbols.size());
  return {};
}

}  // namespace

Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start_cuda_session(
    const std::shared_ptr<CudaWorkers>& workers, const CardInfo& card, const Build& build, const kernel::BoundPlan& plan, int tensors,
    std::span<const Region* const> regions) {
  using Outcome = std::variant<std::unique_ptr<Session>, LoadFailure>;
  HONE_CHECK(build.card_arch == card.arch, build.card_arch);
  if (std::string why = refuse(card, plan, build.facts); !why.empty()) return Outcome(LoadFailure{std::move(why), {}});
  HONE_TRY(std::unique_ptr<CudaWorker> worker, workers->take(card));
  CudaControl& control = worker->control();
  if (const Status filled = fill(control, build, plan, tensors, regions); !filled) {
    workers->give_back(std::move(worker));
    return tl::unexpected(filled.error());
  }
  const base::Fd image(open(build.artifact.c_str(), O_RDONLY | O_CLOEXEC));
  std::error_code error;
  control.image_bytes = static_cast<int64_t>(std::filesystem::file_size(build.artifact, error));
  if (!image || error) return fail(ErrorCode::kCorrupt, fmt::format("the build {} has gone from the cache", build.artifact.string()));
  std::vector<int> descriptors = {image.get()};
  for (const Region* region : regions) descriptors.push_back(region->fd());
  auto session = std::make_unique<CudaSession>(workers, std::move(worker));
  const auto answer = session->load(descriptors);
  if (answer.how == CudaWorker::Answer::How::kAnswered && answer.state == CudaState::kDone) return Outcome(std::unique_ptr<Session>(std::move(session)));
  if (answer.how == CudaWorker::Answer::How::kAnswered && answer.state == CudaState::kBroken)
    return fail(ErrorCode::kUnavailable, "the card's worker cannot take a kernel: " + answer.why);
  return Outcome(LoadFailure{"while loading: " + answer.why, {}});
}

}  // namespace hone::target
