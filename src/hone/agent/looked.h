// What a run has found of the kernels it looked at, as prompts tell it: times and what they are compared with, errors
// and what they may be, what each setting of a source's tunables gave. A function of what it was told, in order; pure
// text. One thread.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "hone/evaluate/verdict.h"
#include "hone/kernel/kernel.h"

namespace hone::agent {

/// What became of a kernel.
struct Judged {
  bool accepted = false;
  std::string verdict, reason, detail;     ///< detail: compiler's output, the smallest failing case
  double score = 0, best_before = 0, light = 0;
  std::string source;                      ///< hash of its text, the same for every setting of its tunables; empty: nobody looked
  kernel::Config config;
  std::string yardstick;                   ///< the kernel it was timed against; empty: none
  evaluate::Screening screening;
};

/// A workload and its speed of light (nanoseconds; 0: not known).
struct Course {
  std::string name;
  double bound_ns = 0;
};

/// "812 ns", "13.53 ms".
[[nodiscard]] std::string time_text(double ns);
/// "ROWS=8 UNROLL=4"; empty without tunables.
[[nodiscard]] std::string config_text(const kernel::Config& config);

class Looked {
 public:
  explicit Looked(std::vector<Course> courses) : courses_(std::move(courses)) {}

  /// `kernel`: its hash. The last look counts.
  void add(const std::string& kernel, const Judged& judged);

  /// Lines that end in line ends: time, bound and ratio a workload, speed against the best of the run (`best`, its
  /// hash), errors. "nothing was measured yet" where nobody looked.
  [[nodiscard]] std::string facts(const std::string& kernel, const std::string& best) const;
  /// "13.53 ms a call, 60 % of the bound's speed"; of several workloads the share alone. Empty where that is not known.
  [[nodiscard]] std::string brief(const std::string& kernel) const;
  /// What settings of a source gave, best first, against the best of the run; `shown` is marked. At most `most` bytes or
  /// so, and what was left out is counted.
  [[nodiscard]] std::string settings(const std::string& source, const std::string& shown, const std::string& best, size_t most) const;
  /// The fastest accepted setting of a source: its hash; empty where there is none.
  [[nodiscard]] std::string fastest(const std::string& source) const;
  /// Settings of a source that were looked at.
  [[nodiscard]] size_t tried(const std::string& source) const {
    const auto found = kernels_.find(source);
    return found == kernels_.end() ? 0 : found->second.size();
  }
  /// It was accepted where nobody takes times: a score says nothing of it.
  [[nodiscard]] bool untimed(const std::string& kernel) const;
  /// Null where nobody looked.
  [[nodiscard]] const Judged* find(const std::string& kernel) const;

 private:
  [[nodiscard]] std::string against(const Judged& judged, const std::string& kernel, const std::string& best) const;

  std::vector<Course> courses_;
  std::map<std::string, Judged> looks_;                    ///< by kernel
  std::map<std::string, std::vector<std::string>> kernels_;  ///< by source, in the order of their first look
};

}  // namespace hone::agent
