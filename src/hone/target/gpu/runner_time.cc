// A GpuRunner's calls: all are queued behind a gate before the first may begin, and timed by events.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "hone/target/gpu/runner.h"

namespace hone::target::worker {
namespace {

/// Operations that may wait on a held stream; a driver's queue takes about a thousand before it blocks its caller.
constexpr int kQueue = 400;
/// Of reading after a flush: enough threads for any card.
constexpr gpu::Shape kReading = {{1024, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0};
constexpr int64_t kReadAtOnce = 16;   ///< bytes; it reads a multiple of them
/// Share by which events and the host's clock may differ, beside a constant for waking up.
constexpr double kDisagreement = 0.1;
constexpr int64_t kWakeNs = 200'000;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void GpuRunner::run() {
  control_.state = GpuState::kDone;
  control_.device_ns = control_.span_ns = control_.wall_ns = 0;
  if (!warm() || (control_.scrub && !scrub(control_.scrub))) return;
  if (control_.replay) return (void)replay();
  int calls_left = static_cast<int>(control_.calls), next = 0;
  // Events, a flush, the workspaces and the launches of a call; the gate.
  const int a_call = 3 + static_cast<int>(control_.launches + control_.workspaces);
  const int a_part = std::max(1, kQueue / a_call);
  while (calls_left > 0) {
    const int calls = std::min(calls_left, a_part);
    if (!run_part(next, calls, a_call <= kQueue)) return;
    next += calls, calls_left -= calls;
  }
}

bool GpuRunner::launch_once() {
  for (uint32_t t = 0; t < control_.tensors; ++t) control_.placement[0][t] = {0, static_cast<int32_t>(t), 0};
  Event before = event(0), after = event(1);
  if (!before || !after) return broken("events cannot be made");
  if (!ok(driver_->synchronise(stream_)) || !queue_call(0, before, after)) return false;
  const Result result = driver_->synchronise(stream_);
  return result == kSuccess || failed(GpuState::kFault, result);
}

bool GpuRunner::time_rounds(uint32_t rounds) {
  std::vector<float> all;
  for (uint32_t i = 0; i < rounds; ++i) {
    *gate_ = 0;
    const bool queued = ok(driver_->wait_for(stream_, gate_address_, 1)) && (!flush_ || flush(i)) &&
                        queue_call(0, event(0), event(1));
    *gate_ = 1;
    float ms = 0;
    if (!finish() || !queued || !ok(driver_->elapsed(&ms, event(0), event(1)))) return false;
    all.push_back(ms);
  }
  std::nth_element(all.begin(), all.begin() + rounds / 2, all.end());
  control_.device_ns = static_cast<int64_t>(static_cast<double>(all[rounds / 2]) * 1e6);
  return true;
}

bool GpuRunner::flush(unsigned value) {
  const auto bytes = static_cast<size_t>(control_.flush_bytes);
  Address from = flush_;
  auto count = static_cast<uint64_t>(bytes);
  void* slots[] = {&from, &count};
  return ok(driver_->fill(flush_, value, 4, bytes / 4, stream_)) && ok(driver_->launch(read_, kReading, stream_, slots));
}

Event GpuRunner::event(size_t number) {
  while (events_.size() <= number) {
    Event made = nullptr;
    if (driver_->make_event(&made) != kSuccess) return nullptr;
    events_.push_back(made);
  }
  return events_[number];
}

Address GpuRunner::tensor(int call, int index) const {
  const auto at = static_cast<uint32_t>(index);
  if (at >= control_.tensors) return workspaces_[at - control_.tensors].first;
  const PlacementInfo& place = control_.placement[call][at];
  return regions_[static_cast<size_t>(place.region)].address + static_cast<Address>(place.offset);
}

bool GpuRunner::queue_call(int call, Event before, Event after) {
  return ok(driver_->record(before, stream_)) && queue_work(call) && ok(driver_->record(after, stream_));
}

bool GpuRunner::queue_work(int call) {
  // What a plan wants zeroed is part of its time.
  for (uint32_t i = 0; i < control_.workspaces; ++i)
    if (control_.workspace[i].zero && !ok(driver_->fill(workspaces_[i].first, 0, 1, workspaces_[i].second, stream_))) return false;
  for (uint32_t i = 0; i < control_.launches; ++i) {
    const GpuLaunch& launch = control_.launch[i];
    int64_t values[kMaxArguments];
    void* slots[kMaxArguments];
    for (uint32_t a = 0; a < launch.arguments; ++a) {
      const Argument& argument = launch.argument[a];
      values[a] = argument.tensor >= 0 ? static_cast<int64_t>(tensor(call, argument.tensor)) : argument.value;
      slots[a] = &values[a];
    }
    const Result result = driver_->launch(functions_[launch.symbol], launch, stream_, slots);
    if (result != kSuccess) {
      // An earlier launch's fault may surface here; which one it was, the text says.
      return failed(GpuState::kFault, result, std::string("the launch of ") + control_.symbol[launch.symbol] + " fails: ");
    }
  }
  return true;
}

bool GpuRunner::replay() {
  if (!ok(driver_->begin_graph(stream_))) return false;
  bool captured = true;
  for (uint32_t call = 0; captured && call < control_.calls; ++call) captured = queue_work(static_cast<int>(call));
  gpu::Graph graph;
  const Result ended = driver_->end_graph(graph, stream_);
  const bool timed = captured && ok(ended) && ok(driver_->make_ready(graph, stream_)) && read_tensors() && finish() && time_graph(graph);
  driver_->free(graph);
  return timed;
}

bool GpuRunner::read_tensors() {
  for (uint32_t call = 0; warm_ && call < control_.calls; ++call)
    for (uint32_t t = 0; t < control_.tensors; ++t) {
      Address from = tensor(static_cast<int>(call), static_cast<int>(t));
      auto count = static_cast<uint64_t>(control_.tensor_bytes[t] / kReadAtOnce * kReadAtOnce);
      void* slots[] = {&from, &count};
      if (count > 0 && !ok(driver_->launch(warm_, kReading, stream_, slots))) return false;
    }
  return true;
}

bool GpuRunner::finish() {
  const Result result = driver_->synchronise(stream_);
  return result == kSuccess || failed(GpuState::kFault, result);
}

bool GpuRunner::time_graph(const gpu::Graph& graph) {
  Event begin = event(0), end = event(1);
  if (!begin || !end) return broken("events cannot be made");
  *gate_ = 0;
  if (!ok(driver_->wait_for(stream_, gate_address_, 1))) return false;
  const bool queued = ok(driver_->record(begin, stream_)) && ok(driver_->launch(graph, stream_)) && ok(driver_->record(end, stream_));
  const int64_t start = now_ns();
  *gate_ = 1;
  if (!finish() || !queued) return false;
  control_.wall_ns = now_ns() - start;
  float ms = 0;
  if (!ok(driver_->elapsed(&ms, begin, end))) return false;
  control_.device_ns = control_.span_ns = static_cast<int64_t>(static_cast<double>(ms) * 1e6);
  compare_clocks(control_.wall_ns, control_.span_ns);
  return true;
}

void GpuRunner::compare_clocks(int64_t wall, int64_t span) {
  if (std::abs(static_cast<double>(wall - span)) > kDisagreement * static_cast<double>(wall) + static_cast<double>(kWakeNs))
    std::snprintf(control_.why, sizeof control_.why, "clocks disagree: %lld ns by the host, %lld by events", static_cast<long long>(wall),
                  static_cast<long long>(span));
}

bool GpuRunner::run_part(int first, int count, bool held) {
  *gate_ = 0;
  if (held && !ok(driver_->wait_for(stream_, gate_address_, 1))) return false;
  Event begin = event(0), end = event(1);
  if (!begin || !end) return broken("events cannot be made");
  bool queued = ok(driver_->record(begin, stream_));
  for (int i = 0; queued && i < count; ++i) {
    if (control_.cold[first + i] && flush_) queued = flush(static_cast<unsigned>(i));
    queued = queued && queue_call(first + i, event(2 + 2 * static_cast<size_t>(i)), event(3 + 2 * static_cast<size_t>(i)));
  }
  queued = queued && ok(driver_->record(end, stream_));
  const int64_t start = now_ns();
  *gate_ = 1;
  const Result result = driver_->synchronise(stream_);
  const int64_t wall = now_ns() - start;
  if (!queued) return false;
  if (result != kSuccess) return failed(GpuState::kFault, result);
  double device_ms = 0;
  for (int i = 0; i < count; ++i) {
    float ms = 0;
    if (!ok(driver_->elapsed(&ms, event(2 + 2 * static_cast<size_t>(i)), event(3 + 2 * static_cast<size_t>(i))))) return false;
    device_ms += static_cast<double>(ms);
  }
  float span_ms = 0;
  if (!ok(driver_->elapsed(&span_ms, begin, end))) return false;
  control_.device_ns += static_cast<int64_t>(device_ms * 1e6);
  control_.span_ns += static_cast<int64_t>(static_cast<double>(span_ms) * 1e6);
  control_.wall_ns += wall;
  if (held) compare_clocks(wall, static_cast<int64_t>(static_cast<double>(span_ms) * 1e6));
  return true;
}

}  // namespace hone::target::worker
