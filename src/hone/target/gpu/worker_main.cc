// The process that holds a candidate on a card: imports the grader's buffers (inputs mapped read-only), loads the
// module, queues the plan's launches on a stream of its own and times each call with events; hot calls are one graph,
// timed as a whole. No host code of a candidate runs here. A fault on the device ends this process and its context, never the grader's.
//
//   hone-gpu DRIVER                        (descriptors as in protocol.h)
//   hone-gpu DRIVER launch ANSWER JOB...   each job's plan, on memory of its own; a line a job to ANSWER: "done", nanoseconds
//                                          (0: not timed) and what the module counted, or why not
//
// DRIVER is a row of the drivers' table (driver.h). The second form is what Nsight Compute and compute-sanitizer watch, and
// what times kernels with a stage left out.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hone/target/gpu/driver.h"
#include "hone/target/gpu/protocol.h"

namespace hone::target::worker {
namespace {

using gpu::Address, gpu::Driver, gpu::DriverRow, gpu::Event, gpu::Function, gpu::kSuccess, gpu::Module, gpu::Result, gpu::Shared, gpu::Stream;

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

/// Inputs of jobs on the card, each file once: jobs in a row often have the same.
struct Contents {
  struct Input {
    std::string file;
    Address address;
    bool wanted;
  };
  std::vector<Input> inputs;
  std::string why;

  bool find(Driver& driver, const std::string& file, size_t bytes, size_t slack, Address& address) {
    for (const Input& input : inputs)
      if (input.file == file) return address = input.address, true;
    std::vector<char> host(bytes);
    std::FILE* const from = std::fopen(file.c_str(), "rb");
    const bool read = from && std::fread(host.data(), 1, bytes, from) == bytes;
    if (from) std::fclose(from);
    if (!read) return why = "the contents " + file + " cannot be read", false;
    Result result = driver.allocate(&address, bytes + slack);
    if (result == kSuccess) inputs.push_back({file, address, true});
    if (result == kSuccess) result = driver.upload(address, host.data(), bytes);
    if (result != kSuccess) why = driver.describe(result);
    return result == kSuccess;
  }
  /// Frees those that `job` does not name.
  void keep(Driver* driver, const GpuJob& job) {
    for (Input& input : inputs) {
      input.wanted = false;
      for (uint32_t i = 0; i < job.control.regions; ++i) input.wanted |= input.file == job.contents[i];
      if (!input.wanted) (void)driver->free(input.address);
    }
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(), [](const Input& input) { return !input.wanted; }), inputs.end());
  }
};

class Worker {
 public:
  Worker(const DriverRow& row, GpuControl& control) : row_(row), control_(control) {}

  /// Null until it has started.
  [[nodiscard]] Driver* driver() const { return driver_.get(); }

  /// False: cannot work at all (why is set).
  bool start() {
    if (const std::string why = row_.open(driver_, control_.card); !why.empty()) return broken(why);
    if (!ok(driver_->make_stream(&stream_))) return false;
    if (!ok(driver_->make_gate(&gate_, &gate_address_))) return false;
    *gate_ = 0;
    if (control_.flush_bytes <= 0) return true;
    return ok(driver_->allocate(&flush_, static_cast<size_t>(control_.flush_bytes))) && ok(driver_->load(&flushing_, driver_->reading())) &&
           ok(driver_->find(&read_, flushing_, gpu::kReadName)) && ok(driver_->find(&warm_, flushing_, gpu::kWarmName));
  }

  void load_candidate(const std::vector<int>& descriptors) {
    control_.state = GpuState::kDone;
    if (descriptors.size() != 1 + control_.regions) {
      broken("descriptors are missing");
    } else {
      load_module(descriptors[0]) && map_regions(descriptors) && make_workspaces() && warm();
    }
    for (const int fd : descriptors) close(fd);
  }

  /// Of a job instead of a grader: the module's image follows the job in `fd`, buffers are this process's own. Its plan is
  /// launched. False with control.why set.
  bool launch_alone(const GpuJob& job, int fd, Contents& contents) {
    control_.state = GpuState::kDone;
    control_.device_ns = 0;
    poison_ = job.poison != 0;
    return load_module(fd, sizeof(GpuJob)) && own_regions(job, contents) && make_workspaces() && launch_once() && (!job.rounds || time_rounds(job.rounds));
  }

  /// What the module's own variable says; nothing where it has none.
  std::vector<uint64_t> counts() {
    Address address = 0;
    size_t bytes = 0;
    if (driver_->find_variable(&address, &bytes, module_, kCountsName) != kSuccess) return {};
    std::vector<uint64_t> all(bytes / sizeof(uint64_t));
    if (!ok(driver_->download(all.data(), address, all.size() * sizeof(uint64_t)))) all.clear();
    return all;
  }

  /// Broken where anything goes wrong: the next candidate is to find a context as good as new.
  void unload() {
    control_.state = GpuState::kDone;
    for (const auto& [address, bytes] : workspaces_) (void)ok(driver_->free(address));
    workspaces_.clear();
    for (Shared& region : regions_) {
      if (region.handle) (void)ok(driver_->release(region));
      else if (region.bytes) (void)ok(driver_->free(region.address));
    }
    regions_.clear();
    if (module_) (void)ok(driver_->unload(module_));
    module_ = nullptr;
    functions_.clear();
  }

  void run() {
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

 private:
  bool say(GpuState state, const std::string& why, bool outside = false) {
    control_.state = state;
    control_.outside = outside;
    std::snprintf(control_.why, sizeof control_.why, "%s", why.c_str());
    return false;
  }
  bool broken(const std::string& why) { return say(GpuState::kBroken, why); }
  bool failed(GpuState state, Result result, const std::string& before = {}) {
    return say(state, before + driver_->describe(result), driver_->cause(result) == gpu::Cause::kIllegalAddress);
  }
  bool refused(Result result, const std::string& before) { return failed(GpuState::kRefused, result, before); }
  bool ok(Result result) { return result == kSuccess || failed(GpuState::kBroken, result); }

  bool load_module(int fd, int64_t from = 0) {
    image_.assign(static_cast<size_t>(control_.image_bytes) + 1, 0);
    for (int64_t done = 0; done < control_.image_bytes;) {
      const ssize_t got = pread(fd, image_.data() + done, static_cast<size_t>(control_.image_bytes - done), from + done);
      if (got <= 0) return broken("the module's image cannot be read");
      done += got;
    }
    return load_image();
  }

  bool load_image() {
    if (const Result result = driver_->load(&module_, image_.data()); result != kSuccess)
      return refused(result, "the driver does not load the module: ");
    for (uint32_t i = 0; i < control_.symbols; ++i) {
      Function function = nullptr;
      if (const Result result = driver_->find(&function, module_, control_.symbol[i]); result != kSuccess)
        return refused(result, std::string("the module has no function ") + control_.symbol[i] + ": ");
      functions_.push_back(function);
    }
    // One setting a function, whichever of its launches it is for.
    std::vector<uint32_t> shared(functions_.size()), cluster(functions_.size());
    for (uint32_t i = 0; i < control_.launches; ++i) {
      const GpuLaunch& launch = control_.launch[i];
      shared[launch.symbol] = std::max(shared[launch.symbol], launch.shared_bytes);
      cluster[launch.symbol] = std::max(cluster[launch.symbol], launch.cluster[0] * launch.cluster[1] * launch.cluster[2]);
    }
    for (size_t i = 0; i < shared.size(); ++i) {
      if (const Result result = driver_->allow_shared(functions_[i], shared[i]); result != kSuccess)
        return refused(result, std::to_string(shared[i]) + " bytes of dynamic shared memory for " + control_.symbol[i] + ": ");
      if (const Result result = driver_->allow_cluster(functions_[i], cluster[i]); result != kSuccess)
        return refused(result, "clusters of " + std::to_string(cluster[i]) + " blocks for " + control_.symbol[i] + ": ");
    }
    return true;
  }

  /// Takes from the candidate what it may have kept of the calls before: the module's variables are new, workspaces hold a word
  /// that nobody can foresee, NaN for every type of float.
  bool scrub(uint64_t secret) {
    const Module old = module_;
    module_ = nullptr;
    functions_.clear();
    if (!ok(driver_->unload(old)) || !load_image()) return false;
    const auto word = static_cast<uint32_t>(0x7FF17FF1 | (secret & 0x800F800F));
    for (const auto& [address, bytes] : workspaces_)
      if (!ok(driver_->fill(address, 0xFF, 1, bytes, stream_)) || !ok(driver_->fill(address, word, 4, bytes / 4, stream_))) return false;
    return ok(driver_->synchronise(stream_));
  }

  /// Each region lies at the end of its own stretch of addresses, with nothing mapped on either side.
  bool map_regions(const std::vector<int>& descriptors) {
    for (uint32_t i = 0; i < control_.regions; ++i) {
      Shared region;
      if (!ok(driver_->import_from(descriptors[i + 1], region, static_cast<size_t>(control_.region[i].bytes))) ||
          !ok(driver_->map(region, control_.region[i].writable != 0, true)))
        return false;
      regions_.push_back(region);
    }
    return true;
  }

  bool make_workspaces() {
    for (uint32_t i = 0; i < control_.workspaces; ++i) {
      Address address = 0;
      const auto bytes = static_cast<size_t>(std::max<int64_t>(16, control_.workspace[i].bytes));
      if (const Result result = driver_->allocate(&address, bytes); result != kSuccess)
        return refused(result, "a workspace of " + std::to_string(bytes) + " bytes: ");
      workspaces_.emplace_back(address, bytes);
      // Poison: NaN for every type of float.
      if (poison_ && !ok(driver_->fill(address, 0xFF, 1, bytes, stream_))) return false;
    }
    return true;
  }

  /// Each tensor in an allocation of its exact size, so that whoever watches sees a step beyond it. Inputs belong to
  /// `contents`, which lends them to one job after another; a region of no bytes is one of these.
  bool own_regions(const GpuJob& job, Contents& contents) {
    for (uint32_t i = 0; i < control_.regions; ++i) {
      Shared region;
      const auto bytes = static_cast<size_t>(std::max<int64_t>(1, control_.region[i].bytes));
      if (job.contents[i][0]) {
        if (!contents.find(*driver_, job.contents[i], bytes, static_cast<size_t>(job.slack), region.address)) return broken(contents.why);
      } else {
        if (!ok(driver_->allocate(&region.address, bytes + static_cast<size_t>(job.slack)))) return false;
        region.bytes = bytes;
        if (poison_ && !ok(driver_->fill(region.address, 0xFF, 1, bytes, stream_))) return regions_.push_back(region), false;
      }
      regions_.push_back(region);
    }
    return true;
  }

  bool launch_once() {
    for (uint32_t t = 0; t < control_.tensors; ++t) control_.placement[0][t] = {0, static_cast<int32_t>(t), 0};
    Event before = event(0), after = event(1);
    if (!before || !after) return broken("events cannot be made");
    if (!ok(driver_->synchronise(stream_)) || !queue_call(0, before, after)) return false;
    const Result result = driver_->synchronise(stream_);
    return result == kSuccess || failed(GpuState::kFault, result);
  }

  /// The median of `rounds` calls with cold caches, as device_ns.
  bool time_rounds(uint32_t rounds) {
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

  /// The first work of a process that takes its turn on the card costs more than others.
  bool warm() { return ok(driver_->fill(flush_ ? flush_ : gate_address_, 0, 1, 4, stream_)) && ok(driver_->synchronise(stream_)); }

  /// Nothing of what a call touches is left in the last-level cache, and what is there instead need not be written back: else
  /// a call waits for whatever happened to be written before it, which is not the same in a process that flushes otherwise.
  bool flush(unsigned value) {
    const auto bytes = static_cast<size_t>(control_.flush_bytes);
    Address from = flush_;
    auto count = static_cast<uint64_t>(bytes);
    void* slots[] = {&from, &count};
    return ok(driver_->fill(flush_, value, 4, bytes / 4, stream_)) && ok(driver_->launch(read_, kReading, stream_, slots));
  }

  Event event(size_t number) {
    while (events_.size() <= number) {
      Event made = nullptr;
      if (driver_->make_event(&made) != kSuccess) return nullptr;
      events_.push_back(made);
    }
    return events_[number];
  }

  Address tensor(int call, int index) const {
    const auto at = static_cast<uint32_t>(index);
    if (at >= control_.tensors) return workspaces_[at - control_.tensors].first;
    const PlacementInfo& place = control_.placement[call][at];
    return regions_[static_cast<size_t>(place.region)].address + static_cast<Address>(place.offset);
  }

  bool queue_call(int call, Event before, Event after) {
    return ok(driver_->record(before, stream_)) && queue_work(call) && ok(driver_->record(after, stream_));
  }

  bool queue_work(int call) {
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

  /// All calls as one graph. Between the two events of a single short kernel lies as much time again as it takes; a graph has
  /// one pair of events for all. It is carried to the card and run once: a second time its outputs would hold the answers.
  bool replay() {
    if (!ok(driver_->begin_graph(stream_))) return false;
    bool captured = true;
    for (uint32_t call = 0; captured && call < control_.calls; ++call) captured = queue_work(static_cast<int>(call));
    gpu::Graph graph;
    const Result ended = driver_->end_graph(graph, stream_);
    const bool timed = captured && ok(ended) && ok(driver_->make_ready(graph, stream_)) && read_tensors() && finish() && time_graph(graph);
    driver_->free(graph);
    return timed;
  }

  /// Each call's tensors into the last-level cache.
  bool read_tensors() {
    for (uint32_t call = 0; warm_ && call < control_.calls; ++call)
      for (uint32_t t = 0; t < control_.tensors; ++t) {
        Address from = tensor(static_cast<int>(call), static_cast<int>(t));
        auto count = static_cast<uint64_t>(control_.tensor_bytes[t] / kReadAtOnce * kReadAtOnce);
        void* slots[] = {&from, &count};
        if (count > 0 && !ok(driver_->launch(warm_, kReading, stream_, slots))) return false;
      }
    return true;
  }

  bool finish() {
    const Result result = driver_->synchronise(stream_);
    return result == kSuccess || failed(GpuState::kFault, result);
  }

  bool time_graph(const gpu::Graph& graph) {
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

  void compare_clocks(int64_t wall, int64_t span) {
    if (std::abs(static_cast<double>(wall - span)) > kDisagreement * static_cast<double>(wall) + static_cast<double>(kWakeNs))
      std::snprintf(control_.why, sizeof control_.why, "clocks disagree: %lld ns by the host, %lld by events", static_cast<long long>(wall),
                    static_cast<long long>(span));
  }

  /// Calls [first, first + count): all queued behind a gate, so that no launch waits for the host.
  bool run_part(int first, int count, bool held) {
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

  const DriverRow& row_;
  GpuControl& control_;
  std::unique_ptr<Driver> driver_;
  Stream stream_ = nullptr;
  volatile uint32_t* gate_ = nullptr;
  Address gate_address_ = 0, flush_ = 0;
  Module flushing_ = nullptr;
  Function read_ = nullptr, warm_ = nullptr;
  Module module_ = nullptr;
  std::vector<char> image_;         ///< what it is loaded from
  std::vector<Function> functions_;
  std::vector<Shared> regions_;
  std::vector<std::pair<Address, size_t>> workspaces_;
  std::vector<Event> events_;
  bool poison_ = true;
};

/// A command and the descriptors that came with it; false when hone has gone.
bool receive(GpuCommand& command, std::vector<int>& descriptors) {
  descriptors.clear();
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * (kMaxRegions + 1))];
  iovec part{&command, sizeof command};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = space, message.msg_controllen = sizeof space;
  if (recvmsg(kGpuSocketFd, &message, MSG_CMSG_CLOEXEC) != sizeof command) return false;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_type != SCM_RIGHTS) continue;
    descriptors.resize((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(descriptors.data(), CMSG_DATA(head), descriptors.size() * sizeof(int));
  }
  return true;
}

int serve(const DriverRow& row) {
  if (dup2(kGpuWordsFd, STDOUT_FILENO) < 0 || dup2(kGpuWordsFd, STDERR_FILENO) < 0) return 1;
  void* memory = mmap(nullptr, sizeof(GpuControl), PROT_READ | PROT_WRITE, MAP_SHARED, kGpuControlFd, 0);
  if (memory == MAP_FAILED) return 1;
  auto& control = *static_cast<GpuControl*>(memory);
  Worker worker(row, control);
  const auto answer = [&] {
    const GpuState state = control.state;
    return send(kGpuSocketFd, &state, sizeof state, MSG_NOSIGNAL) == sizeof state &&
           (state == GpuState::kDone || state == GpuState::kRefused);
  };
  control.state = GpuState::kDone;
  if (!worker.start()) return answer(), 1;
  if (!answer()) return 1;
  GpuCommand command;
  for (std::vector<int> descriptors; receive(command, descriptors);) {
    control.why[0] = 0;
    switch (command) {
      case GpuCommand::kLoad: worker.load_candidate(descriptors); break;
      case GpuCommand::kRun: worker.run(); break;
      case GpuCommand::kUnload: worker.unload(); break;
    }
    if (!answer()) return 1;
  }
  return 0;
}

/// A fault leaves the context useless: the jobs behind it are not run, and say so.
int launch(const DriverRow& row, const char* answer, int jobs, char** files) {
  std::FILE* const out = std::fopen(answer, "w");
  if (!out) return 1;
  auto job = std::make_unique<GpuJob>();
  Worker worker(row, job->control);
  Contents contents;
  bool started = false;
  int status = 0;
  for (int i = 0; i < jobs; ++i) {
    const int fd = open(files[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, job.get(), sizeof(GpuJob), 0) != sizeof(GpuJob)) {
      std::fprintf(out, "the job %s cannot be read\n", files[i]);
      return std::fclose(out), 1;
    }
    contents.keep(worker.driver(), *job);
    (void)alarm(job->seconds);
    const bool done = (started || worker.start()) && worker.launch_alone(*job, fd, contents);
    started = true;
    close(fd);
    std::fprintf(out, "%s", done ? "done" : job->control.why);
    if (done) {
      std::fprintf(out, " %lld", static_cast<long long>(job->control.device_ns));
      if (job->counts)
        for (const uint64_t count : worker.counts()) std::fprintf(out, " %llu", static_cast<unsigned long long>(count));
    }
    std::fprintf(out, "\n");
    std::fflush(out);
    // What a checker watches is to end as it began.
    const GpuState state = job->control.state;
    if (!done) status = 1;
    if (state != GpuState::kDone && state != GpuState::kRefused) break;
    worker.unload();
  }
  std::fclose(out);
  return status;
}

}  // namespace
}  // namespace hone::target::worker

int main(int argc, char** argv) {
  namespace target = hone::target;
  const auto* const row = argc > 1 ? target::gpu::find_driver(argv[1]) : nullptr;
  if (!row) return std::fprintf(stderr, "hone-gpu knows no such driver\n"), 1;
  if (argc > 4 && std::strcmp(argv[2], "launch") == 0) return target::worker::launch(*row, argv[3], argc - 4, argv + 4);
  return target::worker::serve(*row);
}
