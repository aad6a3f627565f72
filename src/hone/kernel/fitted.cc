#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "hone/kernel/kernel.h"

namespace hone::kernel {
namespace {

/// Combinations of values of what hangs together that are looked at.
constexpr size_t kMostCombinations = size_t{1} << 16;

/// Tunables that constraints join, by their places in the header, and those constraints.
struct Group {
  std::vector<size_t> tunables;
  std::vector<task::IntExpr> constraints;
};

std::vector<Group> groups_of(const Header& header) {
  std::vector<Group> groups;
  for (const task::IntExpr& constraint : header.constraints) {
    const auto symbols = constraint.symbols();
    Group joined{{}, {constraint}};
    for (size_t t = 0; t < header.tunables.size(); ++t)
      if (symbols.contains(header.tunables[t].name)) joined.tunables.push_back(t);
    std::erase_if(groups, [&](Group& other) {
      const bool meets = std::ranges::any_of(other.tunables, [&](size_t t) { return std::ranges::find(joined.tunables, t) != joined.tunables.end(); });
      if (!meets) return false;
      std::ranges::move(other.tunables, std::back_inserter(joined.tunables));
      std::ranges::move(other.constraints, std::back_inserter(joined.constraints));
      return true;
    });
    std::ranges::sort(joined.tunables);
    joined.tunables.erase(std::ranges::unique(joined.tunables).begin(), joined.tunables.end());
    groups.push_back(std::move(joined));
  }
  return groups;
}

/// Sets the group's tunables in `config` to the nearest combination that its constraints allow; leaves them where there is none.
void fit(const Header& header, const Group& group, Config& config, const Limits& limits) {
  Header rules;
  rules.constraints = group.constraints;
  const auto fits = [&](const Config& here) { return allowed(rules, here, limits).value_or(false); };
  if (const auto now = allowed(rules, config, limits); !now || *now) return;  // a limit that nobody knows says nothing
  size_t combinations = 1;
  std::vector<size_t> begin;
  for (const size_t t : group.tunables) {
    const Tunable& tunable = header.tunables[t];
    const auto at = std::ranges::find(tunable.values, config[tunable.name]);
    begin.push_back(at == tunable.values.end() ? 0 : static_cast<size_t>(at - tunable.values.begin()));
    combinations *= tunable.values.size();
    if (combinations > kMostCombinations) return;
  }
  std::vector<std::pair<size_t, size_t>> by_distance;
  const auto each = [&](size_t number, auto&& see) {
    for (size_t k = group.tunables.size(); k-- > 0;) {
      const Tunable& tunable = header.tunables[group.tunables[k]];
      see(k, tunable, number % tunable.values.size());
      number /= tunable.values.size();
    }
  };
  for (size_t number = 0; number < combinations; ++number) {
    size_t distance = 0;
    each(number, [&](size_t k, const Tunable&, size_t value) { distance += value > begin[k] ? value - begin[k] : begin[k] - value; });
    by_distance.emplace_back(distance, number);
  }
  std::ranges::sort(by_distance);
  Config other = config;
  for (const auto& [distance, number] : by_distance) {
    each(number, [&](size_t, const Tunable& tunable, size_t value) { other[tunable.name] = tunable.values[value]; });
    if (!fits(other)) continue;
    config = std::move(other);
    return;
  }
}

}  // namespace

Config fitted(const Header& header, Config config, const Limits& limits) {
  for (const Group& group : groups_of(header)) fit(header, group, config, limits);
  return config;
}

}  // namespace hone::kernel
