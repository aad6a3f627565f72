// The processes that hold candidates on a card (gpu/worker_main.cc), kept between sessions, since a context costs
// half a second.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
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

/// One worker process; its destruction ends it. One thread at a time.
class CudaWorker {
 public:
  /// kUnavailable, with the driver's reason, where it cannot work on the card.
  [[nodiscard]] static Result<std::unique_ptr<CudaWorker>> start(const CardInfo& card);
  ~CudaWorker();
  CudaWorker(const CudaWorker&) = delete;
  CudaWorker& operator=(const CudaWorker&) = delete;

  [[nodiscard]] worker::CudaControl& control() { return *control_; }

  struct Answer {
    enum class How : uint8_t { kAnswered, kDied, kDeadline } how = How::kAnswered;
    worker::CudaState state = worker::CudaState::kBroken;
    int64_t wall_ns = 0;
    std::string why;
    std::string words;       ///< what the driver printed, where it ended badly; bounded

    [[nodiscard]] bool done() const { return how == How::kAnswered && state == worker::CudaState::kDone; }
    /// The candidate's doing, before anything ran.
    [[nodiscard]] bool refused() const { return how == How::kAnswered && state == worker::CudaState::kRefused; }
  };
  [[nodiscard]] Answer ask(worker::CudaCommand command, std::chrono::nanoseconds deadline, std::span<const int> descriptors = {});
  /// Its context is good for another candidate.
  [[nodiscard]] bool usable() const { return usable_; }
  /// It is there: somebody may have ended it while it waited.
  [[nodiscard]] bool alive() const;

 private:
  CudaWorker() = default;
  Status launch(const CardInfo& card);
  bool send(worker::CudaCommand command, std::span<const int> descriptors);
  Answer await(int64_t start, std::chrono::nanoseconds deadline);
  Answer died();
  [[nodiscard]] std::string words() const;

  base::Fd fd_, socket_, words_;
  worker::CudaControl* control_ = nullptr;
  std::unique_ptr<base::Child> child_;
  bool usable_ = false;
};

/// Workers that wait for a session. Thread-safe. Outlives whoever has one.
class CudaWorkers {
 public:
  CudaWorkers();
  ~CudaWorkers();
  CudaWorkers(const CudaWorkers&) = delete;
  CudaWorkers& operator=(const CudaWorkers&) = delete;

  /// One of those that wait, at random.
  [[nodiscard]] Result<std::unique_ptr<CudaWorker>> take(const CardInfo& card);
  /// A new one.
  [[nodiscard]] Result<std::unique_ptr<CudaWorker>> start(const CardInfo& card);
  void give_back(std::unique_ptr<CudaWorker> worker);
  /// Starts workers in the background until so many sessions can be had at a time.
  void expect(const CardInfo& card, int sessions);

 private:
  using Start = std::packaged_task<Result<std::unique_ptr<CudaWorker>>()>;
  void start_for_others();
  void ask_for(Start start);

  /// A process has a speed of its own, by a few hundred nanoseconds a call: whoever is timed over and over must not
  /// always get the same one.
  static constexpr size_t kChoice = 3;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CudaWorker>> waiting_;
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
