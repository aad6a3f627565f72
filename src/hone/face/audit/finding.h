// What an audit says of a task: one line a finding, and why it matters. Plain values with a stable JSON form (docs/json.md).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace hone::face::audit {

enum class Kind : uint8_t {
  kConstant,   ///< the answer does not depend on any input
  kUnread,     ///< it does not depend on one of them
  kAtOne,      ///< it does not once the weights of a norm are 1, as frameworks initialise them
  kPasses,     ///< a degenerate answer is let through: zeros, a constant, an input, half of the elements
  kLeftOut,    ///< so is an answer with a term or an element left out, or to other values of an input
  kSummed,     ///< a product of which only sums are needed
  kMoments,    ///< normalised values of which only sums are needed
  kPooled,     ///< a product of which only means of neighbours are needed
  kTiny,       ///< values below a tolerance that is absolute
};
[[nodiscard]] std::string_view name_of(Kind kind);

struct Finding {
  Kind kind = Kind::kPasses;
  std::string what;  ///< "y: zeros pass"
  [[nodiscard]] std::string_view why() const;  ///< why it matters, in one line
};

/// One task of a suite.
struct Audited {
  std::string task, file, workload;
  std::string error;               ///< why it could not be audited; empty: it was
  std::vector<Finding> findings;
};

[[nodiscard]] nlohmann::json to_json(const std::vector<Audited>& suite);
/// A line a finding under its task's name, tasks without one left out; then how many of what.
[[nodiscard]] std::string text_of(const std::vector<Audited>& suite);

}  // namespace hone::face::audit
