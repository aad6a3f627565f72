// What the evaluator found out about a task itself, kept on disk from one evaluation to the next: that its inputs tell
// right answers from degenerate ones, and what the anchor loses at a workload. Both cost passes over whole inputs on the
// host. Nothing here is about a kernel, and no kernel is judged by it alone: its own inputs are drawn afresh. Safe to
// delete; a file that cannot be read or written counts as not there. Thread-safe.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace hone::evaluate {

class Facts {
 public:
  /// A file a fact, in `folder`, which is made when something is kept.
  explicit Facts(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `question` says everything that the answer depends on, but for hone's own version.
  [[nodiscard]] std::optional<nlohmann::json> known(std::string_view question) const;
  void keep(std::string_view question, const nlohmann::json& answer) const;

 private:
  [[nodiscard]] std::filesystem::path file(std::string_view question) const;

  std::filesystem::path folder_;
};

/// In the cache folder, as builds are.
[[nodiscard]] std::shared_ptr<const Facts> cached_facts();

}  // namespace hone::evaluate
