// Calls to models under way: each on a thread of its own, its answer written to the archive by that thread
// the moment it is there, so that a process that dies keeps what was paid for. One thread owns the desk; its
// destructor cancels and waits.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hone/agent/model/budget.h"
#include "hone/agent/model/client.h"
#include "hone/archive/store.h"
#include "hone/engine/event/model_events.h"

namespace hone::engine {

/// What models need from outside.
struct ModelServices {
  std::vector<std::shared_ptr<agent::ModelClient>> clients;   ///< as in RunOptions::models_json
  /// The archive once more, for another thread.
  std::function<Result<archive::Store>()> another_store;
};

/// Fact that holds the event::Exchanged of a run's n-th question.
[[nodiscard]] std::string exchange_key(const std::string& run, int n);

class Desk {
 public:
  Desk(std::string run, const ModelServices& services, agent::Budget& budget);
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  void send(int n, int model, agent::Request request, const agent::Cost& most, std::optional<agent::Price> price);
  struct Answered {
    int n = 0;
    event::Exchanged exchanged;
  };
  /// One that has come back, the longest waiting first.
  [[nodiscard]] std::optional<Answered> take();
  [[nodiscard]] bool any_back() const;
  /// Until one is back, nothing is under way, or `most` passed.
  void wait(std::chrono::milliseconds most);
  [[nodiscard]] int under_way() const;
  /// All of them: they come back, cancelled, soon.
  void cancel() { cancelled_ = true; }
  void resume() { cancelled_ = false; }

 private:
  void work(int n, int model, const agent::Request& request, const agent::Cost& most, const std::optional<agent::Price>& price);

  std::string run_;
  const ModelServices& services_;
  agent::Budget& budget_;
  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::map<int, std::thread> threads_;
  std::deque<Answered> back_;
};

}  // namespace hone::engine
