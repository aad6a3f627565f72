// What changes of one tunable did to kernels whose metrics were known, and what they would do to another kernel: a forest
// over the metrics before the change, what the tunable does (diagnose::Role) and how far it moves. Learns across
// sources and tasks, since roles and metrics mean the same everywhere. Of a kernel of which no counters were read another forest
// speaks, which knows only what can be known without them. Deterministic. One thread.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/diagnose/metrics.h"
#include "hone/diagnose/tunable_role.h"
#include "hone/search/tune/forest.h"
#include "hone/search/tune/tunables.h"

namespace hone::search {

class Changes {
 public:
  /// `log_gain`: of the change of a tunable in `role`; what failed is as bad as the worst that counts.
  void add(const diagnose::Metrics& before, diagnose::Role role, int64_t from, int64_t to, double log_gain);
  [[nodiscard]] size_t size() const { return all_.gains.size(); }

  /// Of every value that the constraints allow beside `config`, one tunable at a time; of roles that nothing is known of, nothing.
  /// Empty while too little was added.
  [[nodiscard]] std::vector<tune::Effect> expect(const diagnose::Metrics& metrics, const kernel::Header& header, const kernel::Config& config,
                                                 const kernel::Limits& limits) const;

 private:
  /// What one forest learns from.
  struct Lessons {
    std::vector<float> rows{}, gains{};
    std::array<int, diagnose::kRoles> of_role{};
    mutable std::optional<tune::Forest> forest{};   ///< of what was added until now
  };
  Lessons counted_;   ///< of kernels of which counters were read
  Lessons all_;       ///< of all, without what only counters tell
};

}  // namespace hone::search
