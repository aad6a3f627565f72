// The published distribution that tasks are drawn from: weights and lists of numbers by section and key, read from
// TOML. The one that hone carries is mix.toml; docs/drawn.md explains its keys. Plain values.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/random.h"
#include "hone/base/result.h"

namespace hone::task::drawn {

struct Mix {
  using Section = std::vector<std::pair<std::string, std::vector<int64_t>>>;  ///< in the file's order
  std::string name;
  int64_t version = 0;
  std::map<std::string, Section, std::less<>> sections;  ///< "kinds", "extent.width"

  /// The numbers of a key that is there; a missing one is our own bug, as every mix has the same keys.
  [[nodiscard]] const std::vector<int64_t>& numbers(std::string_view section, std::string_view key) const;
  [[nodiscard]] bool has(std::string_view section, std::string_view key) const;
  /// A key of the section; the first number of each is its weight.
  [[nodiscard]] const std::string& pick(std::string_view section, base::Rng& rng) const;
  /// Of name, version and every number: what a record says to tell two mixes apart.
  [[nodiscard]] std::string hash() const;
};

/// Has exactly the sections and keys of the built-in mix; errors name file, line and key.
[[nodiscard]] Result<Mix> parse_mix(std::string_view toml, const std::string& path);
[[nodiscard]] const Mix& builtin_mix();

}  // namespace hone::task::drawn
