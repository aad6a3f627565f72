// The session: one Python process, driven over a socket, stopped while nobody waits for it.
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "hone/base/embedded.h"
#include "hone/base/process/process.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/evaluate/baseline/pytorch_process.h"
#include "hone/evaluate/baseline/pytorch_types.h"
#include "hone/target/cpu.h"
#include "hone/target/device/contention.h"

namespace hone::evaluate {
namespace {

using target::BatchOutcome;
using SteadyClock = std::chrono::steady_clock;

constexpr int kControl = 3;  // descriptors as the helper sees them
constexpr int kFirstRegion = 4;
constexpr std::chrono::minutes kHousekeeping{5};  // for commands that are not timed

std::string_view matmul_precision(task::Track track) {
  switch (track) {
    case task::Track::kTf32:
      return "high";
    case task::Track::kBf16:
      return "medium";
    case task::Track::kStrict:
    case task::Track::kAsPytorch:
    case task::Track::kF16:
      break;
  }
  return "highest";
}

Result<nlohmann::json> tensor_type(const task::TensorType& type, const task::Bindings& bindings) {
  nlohmann::json shape = nlohmann::json::array();
  for (const task::IntExpr& dim : type.dims) {
    HONE_TRY(const int64_t extent, dim.eval(bindings));
    shape.push_back(extent);
  }
  return nlohmann::json{{"dtype", torch_name_of(type.dtype)}, {"shape", std::move(shape)}};
}

}  // namespace

struct PytorchSession::State {
  base::Child child;
  Channel channel;
  std::string description;
  std::vector<target::Region::Access> access;  // of each region
  size_t inputs = 0, tensors = 0;
  size_t warmed = 0;  // calls in the largest batch so far
  std::string over;   // why the session is over; empty while it is not
  int64_t overhead = -1;

  /// One command and its reply. False when the session is over; `outcome` then says how.
  bool ask(std::string_view command, size_t payload, SteadyClock::time_point deadline, std::string& text,
           BatchOutcome& outcome);
  bool ask(std::string_view command, BatchOutcome& outcome) {
    std::string ignored;
    return ask(command, 0, SteadyClock::now() + kHousekeeping, ignored, outcome);
  }
  bool prepare(std::span<const target::Call> calls, BatchOutcome& outcome);
};

namespace {

/// Lets a stopped child run for the length of a scope.
class Awake {
 public:
  explicit Awake(base::Child& child) : child_(child) { child_.thaw(); }
  ~Awake() { static_cast<void>(child_.freeze()); }  // one that has ended shows at the next command
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;

 private:
  base::Child& child_;
};

}  // namespace

bool PytorchSession::State::ask(std::string_view command, size_t payload, SteadyClock::time_point deadline,
                                std::string& text, BatchOutcome& outcome) {
  Reply reply{Reply::How::kClosed, {}};
  if (channel.send(command, deadline)) reply = channel.receive(payload, deadline);
  switch (reply.how) {
    case Reply::How::kDone:
      text = std::move(reply.text);
      return true;
    case Reply::How::kError:
      over = "PyTorch failed: " + reply.text;
      break;
    case Reply::How::kClosed:
      over = "PyTorch's process " + child.wait(std::chrono::seconds(2)).describe();
      break;
    case Reply::How::kDeadline:
      over = "PyTorch gave no answer before the deadline";
      break;
  }
  child.kill();
  outcome.how = reply.how == Reply::How::kDeadline ? BatchOutcome::How::kDeadline : BatchOutcome::How::kDied;
  outcome.why = over;
  return false;
}

bool PytorchSession::State::prepare(std::span<const target::Call> calls, BatchOutcome& outcome) {
  std::string message = "P";
  const auto append = [&message](const auto& value) {
    message.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  append(static_cast<uint32_t>(calls.size()));
  for (const target::Call& call : calls) {
    HONE_CHECK(call.tensors.size() == tensors, "a call places every tensor of the task");
    for (size_t i = 0; i < tensors; ++i) {
      const target::Placement& place = call.tensors[i];
      HONE_CHECK(place.region >= 0 && static_cast<size_t>(place.region) < access.size());
      HONE_CHECK(i < inputs || access[static_cast<size_t>(place.region)] == target::Region::Access::kOutput,
                 "outputs lie in output regions");
      append(place.region);
      append(place.offset);
    }
  }
  return ask(message, outcome);
}

PytorchSession::PytorchSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
PytorchSession::~PytorchSession() = default;

const std::string& PytorchSession::description() const { return state_->description; }

BatchOutcome PytorchSession::run(std::span<const target::Call> calls, std::chrono::nanoseconds deadline) {
  State& s = *state_;
  BatchOutcome outcome;
  if (!s.over.empty()) {
    outcome.how = BatchOutcome::How::kDied;
    outcome.why = s.over;
    return outcome;
  }
  const Awake awake(s.child);
  std::string ignored;
  if (!s.prepare(calls, outcome)) return outcome;
  if (calls.size() > s.warmed) {
    if (!s.ask("W", 0, SteadyClock::now() + deadline, ignored, outcome)) return outcome;
    s.warmed = calls.size();
  }

  const int64_t waited = target::run_delay_ns(s.child.pid());
  const int64_t stolen = target::stolen_ns();
  const auto start = SteadyClock::now();
  const bool done = s.ask("R", 0, start + deadline, ignored, outcome);
  outcome.wall_ns = std::chrono::nanoseconds(SteadyClock::now() - start).count();
  if (!done) return outcome;
  outcome.contended_ns = std::max<int64_t>(0, target::run_delay_ns(s.child.pid()) - waited) +
                         (target::stolen_ns() - stolen);
  static_cast<void>(s.ask("D", outcome));
  return outcome;
}

int64_t PytorchSession::empty_batch_ns() {
  constexpr size_t kRounds = 21;
  State& s = *state_;
  if (!s.over.empty()) return 0;
  const Awake awake(s.child);
  BatchOutcome outcome;
  if (!s.prepare({}, outcome)) return 0;
  std::array<int64_t, kRounds> times{};
  for (int64_t& time : times) {
    const auto start = SteadyClock::now();
    if (!s.ask("R", outcome)) return 0;
    time = std::chrono::nanoseconds(SteadyClock::now() - start).count();
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

int64_t PytorchSession::per_call_overhead_ns() {
  State& s = *state_;
  if (s.overhead >= 0) return s.overhead;
  if (!s.over.empty()) return 0;
  const Awake awake(s.child);
  BatchOutcome outcome;
  std::string text;
  int64_t time = 0;
  if (!s.ask("O", sizeof time, SteadyClock::now() + kHousekeeping, text, outcome)) return 0;
  std::memcpy(&time, text.data(), sizeof time);
  return s.overhead = time;
}

Result<std::unique_ptr<PytorchSession>> start_pytorch(const task::Task& task, const task::Bindings& bindings,
                                                      const std::vector<const target::Region*>& regions,
                                                      const PytorchOptions& options) {
  const Result<PythonTorch>& python = find_pytorch();
  if (!python) return tl::unexpected(python.error());
  HONE_TRY(std::string source, emit_pytorch(task, bindings));

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(ErrorCode::kInternal, fmt::format("socketpair: {}", std::strerror(errno)));
  base::Fd ours(pair[0]), theirs(pair[1]);

  const int threads = options.threads > 0 ? options.threads : target::cpu_info().threads;
  const bool compile = options.mode == PytorchMode::kCompiled;
  nlohmann::json job = {{"source", std::move(source)},
                        {"compile", compile},
                        {"threads", threads},
                        {"matmul_precision", matmul_precision(task.track)},
                        {"inputs", task.inputs.size()},
                        {"tensors", nlohmann::json::array()},
                        {"regions", nlohmann::json::array()}};
  for (const task::InputSpec& input : task.inputs) {
    HONE_TRY(auto type, tensor_type(input.type, bindings));
    job["tensors"].push_back(std::move(type));
  }
  for (const auto& [name, output] : task.outputs) {
    HONE_TRY(auto type, tensor_type(output, bindings));
    job["tensors"].push_back(std::move(type));
  }

  const auto helper = base::find_embedded("baseline/pytorch_helper.py");
  HONE_CHECK(helper.has_value(), "the helper is built in");
  base::SpawnOptions spawn;
  spawn.argv = {python->python.string(), "-c", std::string(*helper)};
  spawn.environment = pytorch_environment();
  spawn.environment["OMP_NUM_THREADS"] = std::to_string(threads);
  spawn.descriptors[kControl] = theirs.get();
  spawn.capture_output = false;
  std::vector<target::Region::Access> access;
  for (const target::Region* region : regions) {
    const int fd = kFirstRegion + static_cast<int>(access.size());
    const bool writable = region->access() == target::Region::Access::kOutput;
    spawn.descriptors[fd] = region->fd();
    job["regions"].push_back({{"fd", fd}, {"bytes", region->size()}, {"writable", writable}});
    access.push_back(region->access());
  }
  spawn.input = job.dump();

  const auto deadline = SteadyClock::now() + options.start_deadline;
  HONE_TRY(base::Child child, base::Child::spawn(spawn));
  theirs = base::Fd();

  const std::string_view mode = compile ? "compiled" : "eager";
  Channel channel(std::move(ours));
  const Reply ready = channel.receive(0, deadline);
  if (ready.how != Reply::How::kDone) {
    const std::string why = ready.how == Reply::How::kError ? ready.text
                            : ready.how == Reply::How::kDeadline
                                ? "no answer before the deadline"
                                : child.wait(std::chrono::seconds(2)).describe();
    return fail(ErrorCode::kUnavailable,
                fmt::format("PyTorch ({}) cannot run task {}: {}", mode, task.name, why));
  }
  static_cast<void>(child.freeze());
  auto description = fmt::format("PyTorch {} {}, {} thread{}", python->torch_version, mode, threads,
                                 threads == 1 ? "" : "s");
  return std::unique_ptr<PytorchSession>(
      new PytorchSession(std::unique_ptr<PytorchSession::State>(new PytorchSession::State{
          std::move(child), std::move(channel), std::move(description), std::move(access), task.inputs.size(),
          task.inputs.size() + task.outputs.size()})));
}

}  // namespace hone::evaluate
