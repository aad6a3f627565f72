// What holds a candidate on a card, in the worker's process: its module, its buffers, and its calls by the clock. It answers in
// the GpuControl that it is given: a call that is false has left there what went wrong. One thread.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hone/target/gpu/driver.h"
#include "hone/target/gpu/protocol.h"

namespace hone::target::worker {

using gpu::Address, gpu::Driver, gpu::DriverRow, gpu::Event, gpu::Function, gpu::kSuccess, gpu::Module, gpu::Result, gpu::Shared, gpu::Stream;

/// Inputs of jobs on the card, each file once: jobs in a row often have the same.
struct Contents {
  struct Input {
    std::string file;
    Address address;
    bool wanted;
  };
  std::vector<Input> inputs;
  std::string why;

  bool find(Driver& driver, const std::string& file, size_t bytes, size_t slack, Address& address);
  /// Frees those that `job` does not name.
  void keep(Driver* driver, const GpuJob& job);
};

class GpuRunner {
 public:
  GpuRunner(const DriverRow& row, GpuControl& control) : row_(row), control_(control) {}
  /// Null until it has started.
  [[nodiscard]] Driver* driver() const { return driver_.get(); }
  /// False: cannot work at all (why is set).
  bool start();
  void load_candidate(const std::vector<int>& descriptors);
  /// Of a job instead of a grader: the module's image follows the job in `fd`, buffers are this process's own. Its plan is
  /// launched. False with control.why set.
  bool launch_alone(const GpuJob& job, int fd, Contents& contents);
  /// What the module's own variable says; nothing where it has none.
  [[nodiscard]] std::vector<uint64_t> counts();
  /// Broken where anything goes wrong: the next candidate is to find a context as good as new.
  void unload();
  void run();

 private:
  bool say(GpuState state, const std::string& why, bool outside = false);
  bool broken(const std::string& why) { return say(GpuState::kBroken, why); }
  bool failed(GpuState state, Result result, const std::string& before = {});
  bool refused(Result result, const std::string& before) { return failed(GpuState::kRefused, result, before); }
  bool ok(Result result) { return result == kSuccess || failed(GpuState::kBroken, result); }
  bool load_module(int fd, int64_t from = 0);
  bool load_image();
  bool unload_modules();
  /// The one in whose image that name stands. Under a tool that watches them no call may fail: others are not asked.
  [[nodiscard]] Module module_with(std::string_view name) const;
  /// Takes from the candidate what it may have kept of the calls before: the module's variables are new, workspaces hold a word
  /// that nobody can foresee, NaN for every type of float.
  bool scrub(uint64_t secret);
  /// Each region lies at the end of its own segment of addresses, with nothing mapped on either side.
  bool map_regions(const std::vector<int>& descriptors);
  bool make_workspaces();
  /// Each tensor in an allocation of its exact size, so that whoever watches sees a step beyond it. Inputs belong to
  /// `contents`, which lends them to one job after another; a region of no bytes is one of these.
  bool own_regions(const GpuJob& job, Contents& contents);
  bool launch_once();
  /// The median of `rounds` calls with cold caches, as device_ns.
  bool time_rounds(uint32_t rounds);
  /// The first work of a process that takes its turn on the card costs more than others.
  bool warm() { return ok(driver_->fill(flush_ ? flush_ : gate_address_, 0, 1, 4, stream_)) && ok(driver_->synchronise(stream_)); }
  /// Nothing of what a call touches is left in the last-level cache, and what is there instead need not be written back: else
  /// a call waits for whatever happened to be written before it, which is not the same in a process that flushes otherwise.
  bool flush(unsigned value);
  Event event(size_t number);
  Address tensor(int call, int index) const;
  bool queue_call(int call, Event before, Event after);
  bool queue_work(int call);
  /// All calls as one graph. Between the two events of a single short kernel lies as much time again as it takes; a graph has
  /// one pair of events for all. It is carried to the card and run once: a second time its outputs would hold the answers.
  bool replay();
  /// Each call's tensors into the last-level cache.
  bool read_tensors();
  bool finish();
  bool time_graph(const gpu::Graph& graph);
  void compare_clocks(int64_t wall, int64_t span);
  /// Calls [first, first + count): all queued behind a gate, so that no launch waits for the host.
  bool run_part(int first, int count, bool held);

  const DriverRow& row_;
  GpuControl& control_;
  std::unique_ptr<Driver> driver_;
  Stream stream_ = nullptr;
  volatile uint32_t* gate_ = nullptr;
  Address gate_address_ = 0, flush_ = 0;
  Module flushing_ = nullptr;
  Function read_ = nullptr, warm_ = nullptr;
  std::vector<Module> modules_;
  std::vector<char> image_;         ///< what they are loaded from: a binary, or a bundle of them
  std::vector<Function> functions_;
  std::vector<Shared> regions_;
  std::vector<std::pair<Address, size_t>> workspaces_;
  std::vector<Event> events_;
  bool poison_ = true;
};

}  // namespace hone::target::worker
