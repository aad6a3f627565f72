// Source files that travel inside the program (base/embedded.h) put one behind the other, each once and
// what it includes before it. Fails (kInput) where one does not exist.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::face {

class Amalgamation {
 public:
  /// Files are looked up as `prefix` + name.
  explicit Amalgamation(std::string prefix) : prefix_(std::move(prefix)) {}

  [[nodiscard]] Status add(const std::string& name);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// "<cmath>": what the text needs included above it.
  [[nodiscard]] const std::set<std::string>& system() const { return system_; }
  /// Defined in it.
  [[nodiscard]] const std::vector<std::string>& macros() const { return macros_; }

 private:
  std::string prefix_, text_;
  std::set<std::string> system_, seen_;
  std::vector<std::string> macros_;
};

/// A line "#undef NAME" each.
[[nodiscard]] std::string undefine(const std::vector<std::string>& macros);

}  // namespace hone::face
