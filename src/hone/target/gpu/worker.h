// The processes that hold candidates on a card (gpu/worker_main.cc), kept between sessions, since a context costs
// half a second.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/base/random.h"
#include "hone/target/card.h"
#include "hone/target/gpu/protocol.h"

namespace hone::target {

/// The worker's program and the driver that it is to use.
[[nodiscard]] Result<std::vector<std::string>> worker_command(const CardInfo& card);
/// For it to find the driver as we found it: which cards there are, and in which order, must stay the same.
[[nodiscard]] std::map<std::string, std::string> driver_environment(const CardInfo& card);

/// One worker process; its destruction ends it. One thread at a time.
class GpuWorker {
 public:
  /// kUnavailable, with the driver's reason, where it cannot work on the card.
  [[nodiscard]] static Result<std::unique_ptr<GpuWorker>> start(const CardInfo& card);
  ~GpuWorker();
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  [[nodiscard]] worker::GpuControl& control() { return *control_; }

  struct Answer {
    enum class How : uint8_t { kAnswered, kDied, kDeadline } how = How::kAnswered;
    worker::GpuState state = worker::GpuState::kBroken;
    int64_t wall_ns = 0;
    std::string why;
    std::string words;       ///< what the driver printed, where it ended badly; bounded

    [[nodiscard]] bool done() const { return how == How::kAnswered && state == worker::GpuState::kDone; }
    /// The candidate's doing, before anything ran.
    [[nodiscard]] bool refused() const { return how == How::kAnswered && state == worker::GpuState::kRefused; }
  };
  [[nodiscard]] Answer ask(worker::GpuCommand command, std::chrono::nanoseconds deadline, std::span<const int> descriptors = {});
  /// Its context is good for another candidate.
  [[nodiscard]] bool usable() const { return usable_; }
  /// It is there: somebody may have ended it while it waited.
  [[nodiscard]] bool alive() const;

 private:
  GpuWorker() = default;
  Status launch(const CardInfo& card);
  bool send(worker::GpuCommand command, std::span<const int> descriptors);
  Answer await(int64_t start, std::chrono::nanoseconds deadline);
  Answer died();
  [[nodiscard]] std::string words() const;

  base::Fd fd_, socket_, words_;
  worker::GpuControl* control_ = nullptr;
  std::unique_ptr<base::Child> child_;
  bool usable_ = false;
};

/// Workers that wait for a session. Thread-safe. Outlives whoever has one.
class GpuWorkers {
 public:
  GpuWorkers();
  ~GpuWorkers();
  GpuWorkers(const GpuWorkers&) = delete;
  GpuWorkers& operator=(const GpuWorkers&) = delete;

  /// One of those that wait, at random.
  [[nodiscard]] Result<std::unique_ptr<GpuWorker>> take(const CardInfo& card);
  /// A new one.
  [[nodiscard]] Result<std::unique_ptr<GpuWorker>> start(const CardInfo& card);
  void give_back(std::unique_ptr<GpuWorker> worker);
  /// Starts workers in the background until so many sessions can be had at a time.
  void expect(const CardInfo& card, int sessions);

 private:
  using Start = std::packaged_task<Result<std::unique_ptr<GpuWorker>>()>;
  void start_for_others();
  void ask_for(Start start);

  /// A process has a speed of its own, by a few hundred nanoseconds a call: whoever is timed over and over must not
  /// always get the same one.
  static constexpr size_t kChoice = 3;
  std::mutex mutex_;
  std::vector<std::unique_ptr<GpuWorker>> waiting_;
  int expected_ = 0;             ///< on their way into waiting_
  std::condition_variable came_;
  base::Rng rng_{base::secret_seed()};

  std::mutex starts_mutex_;
  std::condition_variable asked_;
  std::deque<Start> starts_;
  bool over_ = false;
  /// A process ends with the thread that started it: this one is there as long as they are wanted.
  std::thread starter_;
};

}  // namespace hone::target
