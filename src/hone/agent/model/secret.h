// A provider's key. It is sent to the host it belongs to and goes nowhere else: it cannot be printed, and
// whatever a provider says back passes through redact() before anybody keeps it.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "hone/base/result.h"

namespace hone::agent {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  [[nodiscard]] bool empty() const { return value_.empty(); }
  /// For the header of a request, and for nothing else.
  [[nodiscard]] const std::string& reveal() const { return value_; }
  /// `text` with the key, wherever it occurs, replaced by "[key]".
  [[nodiscard]] std::string redact(std::string text) const;

 private:
  std::string value_;
};

/// From an environment variable; kUnavailable where it is not set.
[[nodiscard]] Result<Secret> secret_from_environment(const std::string& name);
/// From the first line of a file that is ours and that nobody else may read; kInput otherwise.
[[nodiscard]] Result<Secret> secret_from_file(const std::filesystem::path& path);

}  // namespace hone::agent
