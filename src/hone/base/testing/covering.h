// Which part of a table of cases `make check` takes. Tests that take each case of a large table say what each
// case shows (its operations, types, patterns, ...); `make check` takes few cases that together show everything,
// and `make check-long` the others.
#pragma once
#include <algorithm>
#include <cctype>
#include <cstddef>
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

/// The number of the test that runs in its suite.
inline size_t turn() {
  const ::testing::UnitTest& tests = *::testing::UnitTest::GetInstance();
  int number = 0;
  while (tests.current_test_suite()->GetTestInfo(number) != tests.current_test_info()) ++number;
  return static_cast<size_t>(number);
}

/// Whether the test that runs takes item `i` of `count` (offers, settings): all in the long part, and in `make check` one: the first test
/// of the suite the first, the next one the second, so that where there are as many tests they take all between them.
inline bool takes_item(size_t i, size_t count) { return in_long_part() || turn() % count == i; }

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
