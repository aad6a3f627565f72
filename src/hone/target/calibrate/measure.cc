// Runs the loops on a pool of pinned threads, several times each, and keeps the best.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include "hone/base/clock.h"
#include "hone/target/calibrate/loops.h"
#include "hone/target/calibrate/peaks.h"
#include "hone/target/cpu.h"
#include "hone/target/device/contention.h"
#include "hone/target/device/session.h"

namespace hone::target {
namespace {

/// A peak is the best of several short looks: whatever disturbs makes a look slower, never faster.
constexpr int kLooks = 5, kMostLooks = 25;
constexpr double kLooksNs = 100e6;        ///< for the looks at one peak, after the first few
constexpr double kProductLookNs = 3e6;    ///< short: some looks fall between what disturbs
/// What a pool may have waited for CPUs before it counts as disturbed, as a share of its time.
constexpr double kContended = 0.02;
/// A disturbed measurement is repeated until this has passed.
constexpr int64_t kPatienceNs = 1'500'000'000;

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

/// Threads that start together. A run lasts from the first start to the last end, by the members' own
/// clock readings: whoever waits for them has no CPU to itself.
class ThreadPool {
 public:
  explicit ThreadPool(int threads)
      : threads_(threads), gate_(threads + 1), spans_(static_cast<size_t>(threads)) {
    for (int i = 0; i < threads; ++i)
      members_.emplace_back([this, i] {
        pin_to(i);
        for (;;) {
          gate_.arrive_and_wait();
          if (!work_) return;
          Span& span = spans_[static_cast<size_t>(i)];
          span.start = base::system_clock().now_ns();
          work_(i);
          span.end = base::system_clock().now_ns();
          gate_.arrive_and_wait();
        }
      });
  }
  ~ThreadPool() {
    work_ = nullptr;
    gate_.arrive_and_wait();
    for (std::thread& member : members_) member.join();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const { return threads_; }
  double run_ns(std::function<void(int)> work) {
    work_ = std::move(work);
    gate_.arrive_and_wait();
    gate_.arrive_and_wait();
    Span all = spans_[0];
    for (const Span& span : spans_) all = {std::min(all.start, span.start), std::max(all.end, span.end)};
    return static_cast<double>(std::max<int64_t>(1, all.end - all.start));
  }
  /// The least time of several looks.
  double best_ns(const std::function<void(int)>& work) {
    double best = run_ns(work), all = best;
    for (int look = 1; look < kLooks || (look < kMostLooks && all < kLooksNs); ++look) {
      const double ns = run_ns(work);
      best = std::min(best, ns), all += ns;
    }
    return best;
  }

 private:
  struct alignas(64) Span {
    int64_t start = 0, end = 0;
  };
  int threads_;
  std::barrier<> gate_;
  std::vector<Span> spans_;
  std::function<void(int)> work_;
  std::vector<std::thread> members_;
};

double product_rate(ThreadPool& pool, const calibrate::Products& products) {
  // One round takes a few cycles: start small, and grow until a look is long enough.
  int64_t rounds = 1000;
  const auto look = [&](int) { products.run(rounds); };
  for (double ns = pool.run_ns(look); ns < kProductLookNs / 4 && rounds < (int64_t{1} << 40); ns = pool.run_ns(look))
    rounds = static_cast<int64_t>(static_cast<double>(rounds) * std::clamp(kProductLookNs / ns, 2.0, 100.0));
  const double all = static_cast<double>(rounds) * static_cast<double>(products.per_round) * pool.size();
  return all / pool.best_ns(look);
}

/// Memory of its own, mapped by huge pages where the kernel gives them.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    data_ = static_cast<std::byte*>(memory);
    madvise(memory, bytes, MADV_HUGEPAGE);
  }
  ~Buffer() {
    if (data_) munmap(data_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  size_t bytes_;
  std::byte* data_ = nullptr;
};

/// Four last-level caches: what the first bytes leave there is a fourth at most.
size_t stream_bytes(int threads) {
  int64_t bytes = std::clamp<int64_t>(4 * cpu_info().l3_bytes, int64_t{256} << 20, int64_t{1} << 30);
  if (const int64_t available = available_memory(); available >= 0) bytes = std::min(bytes, available / 8);
  const int64_t part = std::max<int64_t>(1, bytes / (threads * int64_t{8192})) * 8192;
  return static_cast<size_t>(part * threads);
}

void measure_streams(ThreadPool& pool, CpuPeaks& peaks) {
  const size_t bytes = stream_bytes(pool.size());
  const Buffer buffer(bytes);
  if (!buffer.data()) return;
  const size_t part = bytes / static_cast<size_t>(pool.size()), half = part / 2;
  const auto own = [&](int i) { return buffer.data() + part * static_cast<size_t>(i); };
  const auto rate = [&](const std::function<void(int)>& work) { return static_cast<double>(bytes) / pool.best_ns(work); };
  pool.run_ns([&](int i) { calibrate::write_stream(own(i), part, false); });  // the first touch, on the thread that uses it
  peaks.read = rate([&](int i) { calibrate::read_stream(own(i), part); });
  for (const bool around : {false, true}) {
    peaks.write = std::max(peaks.write, rate([&](int i) { calibrate::write_stream(own(i), part, around); }));
    peaks.copy = std::max(peaks.copy, rate([&](int i) { calibrate::copy_stream(own(i) + half, own(i), half, around); }));
  }
}

CpuPeaks measure_once(int threads) {
  CpuPeaks peaks;
  peaks.threads = threads;
  const int64_t waited = run_delay_ns(getpid()), stolen = stolen_ns(), start = base::system_clock().now_ns();
  ThreadPool pool(peaks.threads);
  measure_streams(pool, peaks);
  peaks.f64 = product_rate(pool, calibrate::f64_products());
  peaks.f32 = product_rate(pool, calibrate::f32_products());
  peaks.bf16 = std::max(peaks.f32, product_rate(pool, calibrate::bf16_products()));
  peaks.i8 = std::max(peaks.f32, product_rate(pool, calibrate::i8_products()));
  const double lost = static_cast<double>(run_delay_ns(getpid()) - waited + stolen_ns() - stolen);
  const double all = static_cast<double>(base::system_clock().now_ns() - start) * peaks.threads;
  peaks.quiet = lost <= kContended * all;
  return peaks;
}

}  // namespace

CpuPeaks measure_cpu_peaks(int threads) {
  const int64_t start = base::system_clock().now_ns();
  CpuPeaks peaks = measure_once(std::max(1, threads));
  while (!peaks.quiet && base::system_clock().now_ns() - start < kPatienceNs)
    peaks = higher(peaks, measure_once(peaks.threads));
  return peaks;
}

}  // namespace hone::target
