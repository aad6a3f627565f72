// Threads that run the blocks of a grid. They start when first wanted, are kept until the program (or
// the library that holds this code) ends, and sleep when there is nothing to do. Any number of threads
// may call at once: each call works on its own grid itself, and idle helpers join it. So a call never
// waits for another one, and where no thread can be started the caller does it all. After fork() the
// child gets threads of its own.
#pragma once
#include <stdint.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace runtime {

constexpr int64_t kMostThreads = 1024;
/// Looks at a counter before a thread sleeps: some 50 microseconds, about what waking it costs.
constexpr int kLooks = 1500;

inline void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// `asked`, or what the machine has where that is zero.
inline int64_t thread_count(int asked) {
  const int64_t count = asked > 0 ? asked : static_cast<int64_t>(std::thread::hardware_concurrency());
  return count < 1 ? 1 : count > kMostThreads ? kMostThreads : count;
}

class Pool {
 public:
  /// Runs blocks [begin, end); `slot` differs between threads at work on the same grid and is less
  /// than their number. The caller has slot 0.
  using Entry = void (*)(const void* body, int64_t slot, int64_t begin, int64_t end);

  static Pool& instance() {
    static Owner owner;
    Pool* pool = owner.pool.load(std::memory_order_acquire);
    if (pool->process_ != getpid()) {
      Pool* mine = new Pool(pool);
      if (owner.pool.compare_exchange_strong(pool, mine)) return *mine;
      delete mine;  // another thread was faster; `pool` is its
    }
    return *pool;
  }

  explicit Pool(Pool* parents) : process_(getpid()), parents_(parents) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      places_.fetch_add(1);  // lets go of those who look
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Returns when every block has run.
  void run(int64_t blocks, int64_t threads, Entry entry, const void* body) {
    Job job(entry, body, blocks, threads);
    int64_t asleep = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job.places = (threads < blocks ? threads : blocks) - 1;
      start(job.places);
      job.below = jobs_;
      jobs_ = &job;
      places_.fetch_add(job.places);
      asleep = sleepers_ < job.places ? sleepers_ : job.places;
    }
    for (; asleep > 0; --asleep) work_.notify_one();
    job.work(0);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      places_.fetch_sub(job.places);
      for (Job** at = &jobs_;; at = &(*at)->below) {
        if (*at != &job) continue;
        *at = job.below;
        break;
      }
    }
    // Nobody joins any more; those inside finish their last chunk.
    for (int i = 0; i < kLooks && job.helpers.load(std::memory_order_acquire) != 0; ++i) pause_cpu();
    if (job.helpers.load(std::memory_order_acquire) == 0) return;
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&job] { return job.helpers.load(std::memory_order_acquire) == 0; });
  }

 private:
  /// One grid, on the stack of the thread that called.
  struct Job {
    Job(Entry entry_in, const void* body_in, int64_t blocks_in, int64_t threads)
        : entry(entry_in), body(body_in), blocks(blocks_in) {
      chunk = blocks / (8 * threads);  // even enough at the end, long runs for the prefetcher
      if (chunk < 1) chunk = 1;
    }

    void work(int64_t slot) {
      for (;;) {
        const int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= blocks) return;
        entry(body, slot, begin, begin + chunk < blocks ? begin + chunk : blocks);
      }
    }

    Entry entry;
    const void* body;
    int64_t blocks, chunk = 1;
    std::atomic<int64_t> next{0};
    std::atomic<int64_t> helpers{0};  ///< at work; rises under the mutex only
    int64_t places = 0;               ///< helpers that may still join; guarded by the mutex
    int64_t slots = 1;                ///< given out so far; guarded by the mutex
    Job* below = nullptr;             ///< guarded by the mutex
  };

  /// The pool of this process. A forked child leaves its parent's alone for ever: those threads do not
  /// exist here, and locks and sleepers are as they happened to be.
  struct Owner {
    std::atomic<Pool*> pool{new Pool(nullptr)};
    ~Owner() {
      if (pool.load()->process_ == getpid()) delete pool.load();
    }
  };

  /// Under the mutex: at least `count` helpers, if the system allows.
  void start(int64_t count) {
    while (static_cast<int64_t>(threads_.size()) < count) {
#if defined(__cpp_exceptions)
      try {
        threads_.emplace_back([this] { serve(); });
      } catch (...) {
        return;
      }
#else
      threads_.emplace_back([this] { serve(); });
#endif
    }
  }

  void serve() {
    for (;;) {
      for (int i = 0; i < kLooks && places_.load(std::memory_order_relaxed) == 0; ++i) pause_cpu();
      std::unique_lock<std::mutex> lock(mutex_);
      ++sleepers_;
      work_.wait(lock, [this] { return stopping_ || places_.load(std::memory_order_relaxed) > 0; });
      --sleepers_;
      if (stopping_) return;
      Job* job = jobs_;
      while (job->places == 0) job = job->below;
      --job->places;
      places_.fetch_sub(1);
      const int64_t slot = job->slots++;
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      job->work(slot);
      if (job->helpers.fetch_sub(1, std::memory_order_release) != 1) continue;
      // The job may be gone by now. The lock keeps the word from falling between look and sleep.
      lock.lock();
      done_.notify_all();
    }
  }

  const pid_t process_;
  [[maybe_unused]] Pool* const parents_;  ///< kept reachable, so that nobody takes it for a leak
  std::mutex mutex_;
  std::condition_variable work_, done_;
  Job* jobs_ = nullptr;             ///< guarded by the mutex, as are the next three
  std::vector<std::thread> threads_;
  int64_t sleepers_ = 0;
  bool stopping_ = false;
  std::atomic<int64_t> places_{0};  ///< of all jobs; changes under the mutex
};

/// body(slot, begin, end) for pieces of [0, blocks), on up to `threads` threads.
template <class Body>
void for_blocks(int64_t blocks, int64_t threads, const Body& body) {
  if (threads <= 1 || blocks <= 1) {
    body(int64_t{0}, int64_t{0}, blocks);
    return;
  }
  Pool::instance().run(
      blocks, threads,
      [](const void* erased, int64_t slot, int64_t begin, int64_t end) {
        (*static_cast<const Body*>(erased))(slot, begin, end);
      },
      &body);
}

}  // namespace runtime
