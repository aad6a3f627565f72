// Why a kernel was refused, for whoever is to mend it while the run lives: the failure is looked for again on shapes and inputs
// made for that alone, with sanitizers where they tell more. Nothing that a verdict drew is named. One thread.
#pragma once
#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "hone/evaluate/loader.h"

namespace hone::evaluate {

struct Explanation {
  std::string reason;   ///< one line
  std::string detail;   ///< the compiler's words, a sanitizer's report, elements that are wrong; bounded
  bool reproduced = false;
  std::optional<Clue> clue = std::nullopt;  ///< of an answer that was off again: in place of the verdict's, so that nobody reads two
};

/// What an explanation may take: as long as a verdict. Most telling for what it costs first; what was left out is said.
inline constexpr std::chrono::seconds kExplainTime{10};

/// What a verdict says by itself once everything is left out that a secret draw had to do with.
[[nodiscard]] Explanation told(const Verdict& verdict);

/// told(), and where the failure shows again: shape, tensor, line, elements. `secret`: shapes that verdicts are drawn at. No step begins later than `within`
/// from now, and no call of the kernel goes on for longer; a build that was begun is waited for.
[[nodiscard]] Result<Explanation> explain(const kernel::Kernel& kernel, const Verdict& verdict, Loader& loader, const std::set<task::Bindings>& secret,
                                          Spent& spent, std::chrono::nanoseconds within = kExplainTime);

}  // namespace hone::evaluate
