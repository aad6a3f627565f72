// The process around a CPU candidate: maps the shared buffers and starts its threads; is timed with nothing
// to do, while nothing of the candidate's is there; closes its jail but for loading, loads the candidate,
// closes the rest, then runs batches of calls over the threads until it is killed. It holds no expected
// answer, no clock that anybody reads, and nothing worth stealing.
//
//   hone-runner LIBRARY          (descriptors as in protocol.h)
//
// The same source, compiled on the spot with HONE_SANITIZED_RUNNER and the sanitizers, runs builds that are
// instrumented alike, on memory laid out alike: what lies beside tensors, workspaces and scratch is forbidden
// by the sanitizer's word. The jail then stays as open as it was while loading, because a report needs more
// than computing.
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#if !defined(HONE_SANITIZED_RUNNER)
#include "hone/base/process/process.h"
#endif
#include "hone/target/worker/futex.h"
#include "hone/target/worker/own_memory.h"
#include "hone/target/worker/protocol.h"
#include "hone/target/worker/scrub.h"

namespace hone::target::worker {
namespace {

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void pin_to(int index) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != index) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

#if defined(HONE_SANITIZED_RUNNER)
constexpr bool kSanitized = true;
bool close_jail_but_for_loading() { return true; }
bool close_jail() { return true; }
#else
constexpr bool kSanitized = false;
bool close_jail_but_for_loading() { return base::lock_down_but_for_loading().has_value(); }
bool close_jail() { return base::lock_down().has_value(); }
#endif

/// A launch that every thread of the pool works on, or what each of them does once.
struct Job {
  Entry entry;
  const uint64_t* arguments;
  const int64_t* grid;
  int64_t blocks;
  int64_t chunk;
  OrderInfo order;
  uint64_t step;   ///< of a shuffled order, from one block to the next
  void (*each)(void* context, int index) = nullptr;   ///< instead: what every thread does once
  void* context = nullptr;
  int only = -1;   ///< the thread that does it all; -1: each takes blocks as it gets done with others

  /// The block that comes at a place of the order.
  [[nodiscard]] int64_t block(int64_t place) const {
    switch (order.order) {
      case BlockOrder::kShuffled: return shuffled(place);
      case BlockOrder::kBackwardsAlone: return blocks - 1 - place;
      default: return place;
    }
  }
  void run(void* scratch, int64_t begin, int64_t end) const {
    if (order.order == BlockOrder::kUsual) return entry(arguments, scratch, grid, begin, end);
    for (int64_t place = begin; place < end; ++place) {
      const int64_t at = block(place);
      entry(arguments, scratch, grid, at, at + 1);
    }
  }

 private:
  /// Steps of a secret length, which has no divisor in common with the number of blocks, from a secret beginning.
  [[nodiscard]] int64_t shuffled(int64_t place) const {
    const auto all = static_cast<unsigned __int128>(blocks);
    return static_cast<int64_t>((static_cast<unsigned __int128>(place) * step + order.seed) % all);
  }
};

/// Job::step of a shuffled launch; 0 of any other.
uint64_t step_of(const OrderInfo& order, int64_t blocks) {
  if (order.order != BlockOrder::kShuffled) return 0;
  const auto all = static_cast<uint64_t>(blocks);
  uint64_t step = order.seed / all % all;
  while (std::gcd(step, all) != 1) step = (step + 1) % all;
  return step;
}

/// Another word for each number of a secret.
uint64_t unforeseen(uint64_t secret, uint64_t number) {
  uint64_t word = (secret ^ (number + 1) * 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
  word = (word ^ word >> 29) * 0x94D049BB133111EB;
  return word >> 32;
}

/// Fixed pool of threads, the calling one included. Between batches it sleeps on a futex; inside a
/// batch it spins, because there a wake-up would cost more than the work between two launches.
class Pool {
 public:
  /// `arena`: address space for an emulator (bytes); its pages are there when first touched.
  Pool(int threads, int64_t shared_bytes, int64_t arena) : size_(threads), scratch_(static_cast<size_t>(threads)) {
    if (arena > 0) {
      void* memory = mmap(nullptr, static_cast<size_t>(arena), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      arena_ = memory == MAP_FAILED ? nullptr : memory;
      mapped_ = arena_ != nullptr;
    } else {
      mapped_ = std::all_of(scratch_.begin(), scratch_.end(), [&](Space& s) { return s.map(shared_bytes); });
      for (int i = 1; i < threads; ++i) std::thread([this, i] { serve(i); }).detach();
    }
    pin_to(0);
  }

  /// True once every thread is pinned (the closed jail allows no pinning) and has its scratch.
  [[nodiscard]] bool ready() const {
    while (!arena_ && pinned_.load(std::memory_order_acquire) != size_ - 1) pause_cpu();
    return mapped_;
  }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] void* arena() const { return arena_; }

  void place_scratch(int64_t bytes, bool at_end, uint64_t mark) {
    for (Space& space : scratch_) space.place(bytes, at_end, mark);
  }
  [[nodiscard]] bool scratch_intact() const {
    return arena_ || std::all_of(scratch_.begin(), scratch_.end(), [](const Space& s) { return s.intact(); });
  }

  /// Each thread's, to fill.
  [[nodiscard]] Space& scratch_of(int index) { return scratch_[static_cast<size_t>(index)]; }

  void begin_batch() {
    if (size_ == 1) return;
    awake_.store(1, std::memory_order_release);
    futex_wake(awake_);
  }
  void end_batch() { awake_.store(0, std::memory_order_release); }

  void run(const Job& job) {
    const bool alone = job.order.order == BlockOrder::kForwardsAlone || job.order.order == BlockOrder::kBackwardsAlone;
    if (size_ > 1 && !alone && (job.blocks > job.chunk || job.only >= 0)) return spread(job);
    deeper(job, 0, [&] { job.run(scratch_[0].at(), 0, job.blocks); });
  }
  /// f(index) on each thread; between begin_batch() and end_batch().
  template <class F>
  void everywhere(F f) {
    Job job{};
    job.each = [](void* context, int index) { (*static_cast<F*>(context))(index); };
    job.context = &f;
    if (size_ == 1) return job.each(job.context, 0);
    spread(job);
  }

 private:
  void spread(const Job& job) {
    job_ = job;
    next_.store(0, std::memory_order_relaxed);
    pending_.store(size_ - 1, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    work(0);
    while (pending_.load(std::memory_order_acquire) != 0) pause_cpu();
  }

  void work(int index) {
    const Job job = job_;
    if (job.each) return job.each(job.context, index);
    if (job.only >= 0 && job.only != index) return;
    deeper(job, index, [&] {
      for (;;) {
        const int64_t begin = next_.fetch_add(job.chunk, std::memory_order_relaxed);
        if (begin >= job.blocks) return;
        job.run(scratch_[static_cast<size_t>(index)].at(), begin, std::min(begin + job.chunk, job.blocks));
      }
    });
  }

  /// f() where its frames lie up to 64 pages deeper, but in the usual order, which is timed: who goes by the page of a local meets many.
  template <class F>
  static void deeper(const Job& job, int index, F f) {
    constexpr uint64_t kPages = 64;
    if (kSanitized || job.order.order == BlockOrder::kUsual) return f();
    auto* const above = static_cast<volatile char*>(__builtin_alloca((unforeseen(job.order.seed, static_cast<uint64_t>(index)) % kPages + 1) * page()));
    *above = 0;
    f();
  }

  void serve(int index) {
    pin_to(index);
    pinned_.fetch_add(1, std::memory_order_release);
    uint32_t seen = 0;
    for (;;) {
      while (epoch_.load(std::memory_order_acquire) == seen) {
        if (awake_.load(std::memory_order_acquire) == 0) futex_wait(awake_, 0);
        pause_cpu();
      }
      seen = epoch_.load(std::memory_order_acquire);
      work(index);
      pending_.fetch_sub(1, std::memory_order_release);
    }
  }

  int size_;
  std::vector<Space> scratch_;
  void* arena_ = nullptr;
  bool mapped_ = false;
  Job job_{};
  std::atomic<int> pinned_{0};
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<int> pending_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<uint32_t> awake_{0};
};

/// Maps a region with nothing accessible on either side: a step outside it faults. On a huge-page boundary (so that huge pages stay
/// huge), or so many small pages behind one: of regions that always begin there a kernel would see some bits of an address as zeros only.
std::byte* map_between_cliffs(const RegionInfo& info, int fd, uint64_t pages) {
  constexpr uintptr_t kHuge = uintptr_t{2} << 20;
  const auto bytes = static_cast<size_t>(info.bytes);
  void* reserve = mmap(nullptr, bytes + 3 * kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserve == MAP_FAILED) return nullptr;
  const uintptr_t base = (reinterpret_cast<uintptr_t>(reserve) + kHuge) / kHuge * kHuge + pages % (kHuge / page()) * page();
  void* mapped = mmap(reinterpret_cast<void*>(base), bytes, info.writable ? PROT_READ | PROT_WRITE : PROT_READ,
                      MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

class Runner {
 public:
  explicit Runner(Control& control) : control_(control) {}

  /// All that is there before the candidate.
  bool map() {
    for (uint32_t i = 0; i < control_.regions; ++i) {
      const int fd = kFirstRegionFd + static_cast<int>(i);
      std::byte* base = map_between_cliffs(control_.region[i], fd, control_.edges != 0 ? unforeseen(control_.mark, i) : 0);
      if (!base) return false;
      close(fd);
      regions_.push_back(base);
    }
    workspaces_.resize(control_.workspaces);
    for (uint32_t i = 0; i < control_.workspaces; ++i)
      if (!workspaces_[i].map(control_.workspace[i].bytes)) return false;
    return true;
  }

  [[noreturn]] void serve(Pool& pool, const char* library) {
    uint32_t batch = 0;
    control_.finished.store(UINT32_MAX, std::memory_order_release);
    futex_wake(control_.finished);
    for (;;) {
      while (control_.released.load(std::memory_order_acquire) == batch)
        futex_wait(control_.released, batch);
      batch = control_.released.load(std::memory_order_acquire);
      switch (control_.command) {
        case Command::kLoad: control_.state.store(load(library, pool), std::memory_order_release); break;
        case Command::kRun: run_batch(pool); break;
      }
      control_.finished.store(batch, std::memory_order_release);
      futex_wake(control_.finished);
    }
  }

  /// An unwritten workspace must not look like a right answer, nor carry one over.
  void fill_workspaces(uint64_t secret) {
    for (uint32_t i = 0; i < control_.workspaces; ++i) fill_unforeseen(workspaces_[i].at(), control_.workspace[i].bytes, secret);
  }

  /// Workspaces and scratch of a call. Where edges are looked at, they lie at the beginning and at the end of their memory in turn.
  void place(Pool& pool, uint32_t call) {
    const bool at_end = control_.edges != 0 && call % 2 == 0;
    for (uint32_t i = 0; i < control_.workspaces; ++i) workspaces_[i].place(control_.workspace[i].bytes, at_end, control_.mark);
    for (uint32_t i = 0; i < control_.launches; ++i) scratch_bytes_ = std::max(scratch_bytes_, control_.launch[i].shared_bytes);
    if (!control_.emulated) pool.place_scratch(scratch_bytes_, at_end, control_.mark);
  }

 private:
  State load(const char* library, Pool& pool) {
    if (control_.library == 0 && !close_jail_but_for_loading()) return State::kNoLock;
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return State::kNoLibrary;
    entries_ = static_cast<const Entry*>(dlsym(handle, kEntriesSymbol));
    if (!entries_) return State::kNoEntries;
    if (control_.library) {
      const auto first_call = reinterpret_cast<bool (*)()>(dlsym(handle, kFirstCallSymbol));
      if (first_call && !first_call()) return State::kNoCall;
    }
    // A library keeps its own state, an emulator looks after a device's, and sanitizers keep theirs between globals.
    if (!control_.library && !control_.emulated && !kSanitized) {
      pristine_.remember(handle);
      // Room for each thread's variables: later there is none to be had.
      pool.begin_batch();
      pool.everywhere([handle](int) { make_thread_locals(handle); });
      pool.end_batch();
    }
    if (control_.library == 0 && !close_jail()) return State::kNoLock;
    return State::kReady;
  }

  void look_beside(const Pool& pool) {
    for (uint32_t i = 0; i < control_.workspaces; ++i)
      if (!workspaces_[i].intact()) control_.outside.store(i + 1, std::memory_order_relaxed);
    if (!pool.scratch_intact()) control_.outside.store(control_.workspaces + 1, std::memory_order_relaxed);
  }

  void run_batch(Pool& pool) {
    pool.begin_batch();
    if (control_.scrub != 0) scrub(pool);
    for (uint32_t call = 0; call < control_.calls; ++call) {
      control_.call.store(call, std::memory_order_relaxed);
      ++context_.call;
      if (control_.edges) place(pool, call), fill_workspaces(control_.mark + call);
      if (control_.warm != 0) warm(pool, call);
      if (control_.idle == 0) run_call(pool, call);
      if (control_.edges) look_beside(pool);
    }
    if (!control_.edges) look_beside(pool);
    // In timed batches it is left to the next one's beginning.
    if (control_.edges && !control_.emulated) pool.everywhere([this](int) { look_at_processor(); });
    pool.end_batch();
  }

  void look_at_processor() {
    if (control_.library) return;
    const Left left = left_by_calls();
    if (left != Left::kNothing) control_.left.store(left, std::memory_order_relaxed);
  }

  [[nodiscard]] std::byte* placed(uint32_t call, uint32_t tensor) const {
    const PlacementInfo& at = control_.placement[call][tensor];
    return regions_[static_cast<size_t>(at.region)] + at.offset;
  }

  /// Nothing of one batch may be in the next.
  void scrub(Pool& pool) {
    const uint64_t secret = control_.scrub;
    fill_workspaces(secret);
    if (pristine_.keeps_of_calls()) control_.left.store(Left::kGlobals, std::memory_order_relaxed);
    pristine_.restore_globals();
    if (kSanitized || control_.emulated) return;
    const auto each = [&](int index) {
      look_at_processor();
      clear_registers(secret >> 16);
      pristine_.restore_thread();
      fill_unforeseen(pool.scratch_of(index).at(), scratch_bytes_, secret);
      clear_dead_stack();
    };
    pool.everywhere(each);
  }

  /// Each thread reads all where that leaves room in its own caches, else its share.
  void warm(Pool& pool, uint32_t call) {
    constexpr int64_t kLine = 64, kOwnCaches = int64_t{1} << 20;
    int64_t all = 0;
    for (uint32_t t = 0; t < control_.tensors; ++t) all += control_.tensor_bytes[t];
    const bool whole = all <= kOwnCaches;
    const auto each = [&](int index) {
      unsigned sum = 0;
      for (uint32_t t = 0; t < control_.tensors; ++t) {
        const volatile std::byte* const at = placed(call, t);
        const int64_t lines = (control_.tensor_bytes[t] + kLine - 1) / kLine;
        const int64_t begin = whole ? 0 : lines * index / pool.size(), end = whole ? lines : lines * (index + 1) / pool.size();
        for (int64_t line = begin; line < end; ++line) sum += static_cast<unsigned>(at[line * kLine]);
      }
      warmed_.store(sum, std::memory_order_relaxed);
    };
    pool.everywhere(each);
  }

  void run_call(Pool& pool, uint32_t call) {
    call_ = call;
    std::byte* tensors[kMaxTensors] = {};
    for (uint32_t t = 0; t < control_.tensors; ++t) tensors[t] = placed(call, t);
    if (kSanitized) forbid_all_but(tensors);
    run_launches(pool, tensors);
  }

  /// The sanitizer's word on the regions: nothing but these tensors, to the byte.
  void forbid_all_but(std::byte* const* tensors) const {
    for (uint32_t r = 0; r < control_.regions; ++r) forbid_bytes(regions_[r], regions_[r] + control_.region[r].bytes);
    for (uint32_t t = 0; t < control_.tensors; ++t) allow_bytes(tensors[t], tensors[t] + control_.tensor_bytes[t]);
  }

  void run_launches(Pool& pool, std::byte* const* tensors) {
    for (uint32_t i = 0; i < control_.workspaces; ++i)
      if (control_.workspace[i].zero) workspaces_[i].fill(0);
    for (uint32_t i = 0; i < control_.launches; ++i) {
      const Launch& launch = control_.launch[i];
      uint64_t slots[kMaxArguments] = {};
      for (uint32_t a = 0; a < launch.arguments; ++a) {
        const Argument& argument = launch.argument[a];
        if (argument.tensor < 0) {
          slots[a] = static_cast<uint64_t>(argument.value);
        } else if (static_cast<uint32_t>(argument.tensor) < control_.tensors) {
          slots[a] = reinterpret_cast<uint64_t>(tensors[argument.tensor]);
        } else {
          const size_t workspace = static_cast<uint32_t>(argument.tensor) - control_.tensors;
          slots[a] = reinterpret_cast<uint64_t>(workspaces_[workspace].at());
        }
      }
      const int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
      if (control_.emulated) {
        emulate(pool, i, slots, tensors);
        continue;
      }
      const OrderInfo& order = control_.order[call_];
      // Eight chunks a thread: even enough at the end, long enough runs for the prefetcher.
      const int64_t chunk = order.order == BlockOrder::kUsual ? std::max<int64_t>(1, blocks / (8 * pool.size())) : 1;
      Job job{entries_[launch.entry], slots, launch.grid, blocks, chunk, order, step_of(order, blocks)};
      // A launch of one block is any thread's, and the next one another's: neither finds what the other has left in a thread's own variables.
      if (order.order == BlockOrder::kShuffled && blocks == 1) job.only = static_cast<int>((order.seed + i) % static_cast<uint64_t>(pool.size()));
      pool.run(job);
    }
  }

  void emulate(const Pool& pool, uint32_t number, const uint64_t* slots, std::byte* const* tensors) {
    const Launch& launch = control_.launch[number];
    context_.arena = static_cast<char*>(pool.arena());
    context_.arena_bytes = control_.arena_bytes;
    context_.report = &control_.report;
    context_.launch = number;
    context_.shared_bytes = launch.shared_bytes;
    context_.resident = control_.order[call_].order == BlockOrder::kUsual ? launch.resident : launch.together;
    context_.fewer = context_.resident < launch.resident;
    for (int d = 0; d < 3; ++d) context_.cluster[d] = launch.cluster[d];
    context_.seed = control_.seed;
    context_.buffers = 0;
    for (uint32_t t = 0; t < control_.tensors; ++t) {
      const bool writable = control_.region[control_.placement[call_][t].region].writable != 0;
      context_.buffer[context_.buffers++] = {reinterpret_cast<char*>(tensors[t]), control_.tensor_bytes[t],
                                             writable ? simt::BufferKind::kOutput : simt::BufferKind::kInput, t};
    }
    for (uint32_t w = 0; w < control_.workspaces; ++w)
      context_.buffer[context_.buffers++] = {reinterpret_cast<char*>(workspaces_[w].at()), control_.workspace[w].bytes,
                                             control_.workspace[w].zero ? simt::BufferKind::kZeroed : simt::BufferKind::kWorkspace,
                                             control_.tensors + w};
    entries_[launch.entry](slots, &context_, launch.grid, 0, launch.grid[0] * launch.grid[1] * launch.grid[2]);
  }

  Control& control_;
  simt::Context context_{};
  uint32_t call_ = 0;
  std::vector<std::byte*> regions_;
  std::vector<Space> workspaces_;
  int64_t scratch_bytes_ = 0;
  const Entry* entries_ = nullptr;
  Pristine pristine_;
  std::atomic<unsigned> warmed_{0};   ///< so that the reading is not left out
};

int run(int argc, char** argv) {
  if (argc != 2) return 2;
  void* memory = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, kControlFd, 0);
  if (memory == MAP_FAILED) return 3;
  auto& control = *static_cast<Control*>(memory);
  close(kControlFd);
  int64_t shared = 0;
  for (uint32_t i = 0; i < control.launches; ++i)
    shared = std::max(shared, control.launch[i].shared_bytes);
  Runner runner(control);
  const bool mapped = runner.map();
  Pool pool(static_cast<int>(control.threads), shared, control.emulated ? control.arena_bytes : 0);
  const bool there = pool.ready() && mapped;
  control.state.store(there ? State::kWaiting : State::kNoMemory, std::memory_order_release);
  if (!there) return 4;
  runner.place(pool, 0);
  runner.fill_workspaces(control.mark);
  runner.serve(pool, argv[1]);
}

}  // namespace
}  // namespace hone::target::worker

int main(int argc, char** argv) { return hone::target::worker::run(argc, argv); }
