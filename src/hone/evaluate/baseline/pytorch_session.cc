// The session: one forked process, driven over a socket, stopped while nobody waits for it.
#include <algorithm>
#include <array>
#include <cstring>

#include "hone/evaluate/baseline/pytorch_process.h"
#include "hone/evaluate/baseline/pytorch_state.h"
#include "hone/target/device/contention.h"

namespace hone::evaluate {
namespace {

using target::BatchOutcome;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::minutes kHousekeeping{5};  // for commands that are not timed

/// Lets a stopped process run for the length of a scope.
class Awake {
 public:
  explicit Awake(const ForkedProcess& process) : process_(process) { process_.thaw(); }
  ~Awake() { process_.freeze(); }
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;

 private:
  const ForkedProcess& process_;
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
      over = "PyTorch's process has ended";
      break;
    case Reply::How::kDeadline:
      over = "PyTorch gave no answer before the deadline";
      break;
  }
  process.kill();
  outcome.how = reply.how == Reply::How::kDeadline ? BatchOutcome::How::kDeadline : BatchOutcome::How::kDied;
  outcome.why = over;
  return false;
}

bool PytorchSession::State::ask(std::string_view command, BatchOutcome& outcome) {
  std::string ignored;
  return ask(command, 0, SteadyClock::now() + kHousekeeping, ignored, outcome);
}

bool PytorchSession::State::prepare(std::span<const target::Call> calls, BatchOutcome& outcome) {
  std::string message = "P";
  const auto append = [&message](const auto& value) {
    message.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  append(static_cast<uint32_t>(calls.size()));
  append(!calls.empty() && calls.front().cold);
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
  const Awake awake(s.process);
  std::string ignored;
  if (!s.prepare(calls, outcome)) return outcome;
  if (calls.size() > s.warmed) {
    if (!s.ask("W", 0, SteadyClock::now() + deadline, ignored, outcome)) return outcome;
    s.warmed = calls.size();
  }

  const int64_t waited = target::run_delay_ns(s.process.pid());
  const int64_t stolen = target::stolen_ns();
  const auto start = SteadyClock::now();
  std::string by_events;
  const bool done = s.ask("R", s.on_card ? sizeof(int64_t) : 0, start + deadline, by_events, outcome);
  outcome.wall_ns = std::chrono::nanoseconds(SteadyClock::now() - start).count();
  if (!done) return outcome;
  if (s.on_card) {
    int64_t device_ns = 0;
    std::memcpy(&device_ns, by_events.data(), sizeof device_ns);
    // What the device says must fit into what we saw.
    if (device_ns > outcome.wall_ns) outcome.contended_ns = outcome.wall_ns;
    outcome.wall_ns = device_ns;
    static_cast<void>(s.ask("D", outcome));
    return outcome;
  }
  outcome.contended_ns = std::max<int64_t>(0, target::run_delay_ns(s.process.pid()) - waited) +
                         (target::stolen_ns() - stolen);
  static_cast<void>(s.ask("D", outcome));
  return outcome;
}

int64_t PytorchSession::empty_batch_ns() {
  constexpr size_t kRounds = 21;
  State& s = *state_;
  if (!s.over.empty() || s.on_card) return 0;
  const Awake awake(s.process);
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

int64_t PytorchSession::dispatch_ns() {
  State& s = *state_;
  if (s.dispatch >= 0) return s.dispatch;
  if (!s.over.empty()) return 0;
  const Awake awake(s.process);
  BatchOutcome outcome;
  std::string text;
  int64_t time = 0;
  if (!s.ask("O", sizeof time, SteadyClock::now() + kHousekeeping, text, outcome)) return 0;
  std::memcpy(&time, text.data(), sizeof time);
  return s.dispatch = time;
}

}  // namespace hone::evaluate
