// Which part of a table of cases `make check` takes. Tests that take each case of a large table say what each
// case shows (its operations, types, patterns, ...); `make check` takes few cases that together show everything,
// and `make check-long` the others.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace hone::base::testing {

/// Whether the test that runs is of the part that `make check` leaves out: of a suite whose name begins with Long.
inline bool in_long_part() {
  return std::string_view(::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name()).starts_with("Long");
}

/// Whether the test that runs takes item `i` of `count` (offers, settings): all in the long part, and in `make check` one that follows
/// from the test's name, so that the cases of a table take different ones between them.
inline bool takes_item(size_t i, size_t count) {
  if (in_long_part()) return true;
  const std::string_view name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  uint64_t hash = 0xCBF29CE484222325;   // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash % count == i;
}

/// For each case, by index, what it shows: whether it belongs to the covering part. Greedy: again and again the
/// case that shows most of what no earlier one did, the first of equals, until everything is shown.
inline std::vector<bool> covering(const std::vector<std::set<std::string>>& shows) {
  std::set<std::string> left;
  for (const auto& traits : shows) left.insert(traits.begin(), traits.end());
  std::vector<bool> taken(shows.size());
  while (!left.empty()) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < shows.size(); ++i) {
      const auto news = static_cast<size_t>(
          std::count_if(shows[i].begin(), shows[i].end(), [&](const std::string& trait) { return left.contains(trait); }));
      if (news > most) most = news, best = i;
    }
    taken[best] = true;
    for (const std::string& trait : shows[best]) left.erase(trait);
  }
  return taken;
}

/// The cases of the covering part, or all others, in their order. `shows(case)` is a set of strings.
template <typename Case, typename Shows>
std::vector<Case> part_of(const std::vector<Case>& cases, bool covers, const Shows& shows) {
  std::vector<std::set<std::string>> traits;
  for (const Case& c : cases) traits.push_back(shows(c));
  const std::vector<bool> taken = covering(traits);
  std::vector<Case> part;
  for (size_t i = 0; i < cases.size(); ++i)
    if (taken[i] == covers) part.push_back(cases[i]);
  return part;
}

/// Of neighbours in a table, which differ in one thing, one of each `n`.
template <typename Case>
std::vector<Case> one_of_each(size_t n, const std::vector<Case>& cases) {
  std::vector<Case> part;
  for (size_t i = 0; i < cases.size(); i += n) part.push_back(cases[i]);
  return part;
}

/// The names in a text of the task language that stand before '(' or '[': operations, and types of inputs.
inline std::set<std::string> names_applied(std::string_view text) {
  std::set<std::string> names;
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      name += c;
      continue;
    }
    if ((c == '(' || c == '[') && !name.empty()) names.insert(name);
    name.clear();
  }
  return names;
}

}  // namespace hone::base::testing
