// Hardware counters of another process's threads, user level only, where processor, kernel and permissions give them:
// most virtual machines give none. One thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"

namespace hone::target {

/// What is counted, as the kernel's perf_event_open names it.
struct CounterEvent {
  std::string name;  ///< "cycles"
  uint32_t type = 0;
  uint64_t config = 0;
};
/// cycles, instructions, cache_references, cache_misses (of the last level), branches, branch_misses.
[[nodiscard]] const std::vector<CounterEvent>& hardware_events();

class Counters {
 public:
  /// On every thread that `pid` has now. What cannot be opened on one of them is not counted.
  Counters(int pid, const std::vector<CounterEvent>& events);
  /// Why nothing is counted; empty when something is.
  [[nodiscard]] const std::string& absent() const { return absent_; }
  void start();
  void stop();
  /// Sum over the threads since they were opened, scaled where events had to share a counter; nothing where it is not counted.
  [[nodiscard]] std::optional<double> count(const std::string& name) const;

 private:
  struct Opened {
    std::string name;
    std::vector<base::Fd> threads;
  };
  std::vector<Opened> events_;
  std::string absent_;
};

}  // namespace hone::target
