// The table of small GPU kernels: test/simt/*.cu and *.hip, right ones and subtly wrong ones, each with the
// verdict it must get from the emulator. One test runs them all and prints the table: no miss, no false alarm.
#include <gtest/gtest.h>

#include <cstdlib>

#include <fmt/format.h>

#include "hone/evaluate/simt_table_testing.h"
#include "hone/evaluate/verifier.h"

namespace hone::evaluate::simt_table_long_cases {
namespace {

struct Case : SimtCase {
  std::string found;               ///< "accepted", or the verdict and its reason
  bool right = false;
};

void judge(Case& c, const std::shared_ptr<target::Toolchain>& toolchain) {
  const auto say = [&](const Error& error) { c.found = "error: " + error.to_string(); };
  const auto kernel = kernel::parse_kernel(c.source, c.name);
  if (!kernel) return say(kernel.error());
  const auto task = c.task();
  if (!task) return say(task.error());
  VerifierOptions options;
  options.deadline = std::chrono::seconds(60);
  const auto verifier = Verifier::create(*task, toolchain, options);
  if (!verifier) return say(verifier.error());
  auto verdict = (*verifier)->verify(*kernel);
  if (!verdict) return say(verdict.error());
  if (verdict->accepted()) {
    // What a promotion does besides.
    Spent spent;
    const auto sanitized = (*verifier)->sanitize(*kernel, 2, spent);
    if (!sanitized) return say(sanitized.error());
    verdict = sanitized->verdict;
  }
  c.found = std::string(name_of(verdict->kind)) + (verdict->accepted() ? "" : ": " + verdict->reason);
  c.right = c.expects(name_of(verdict->kind)) && c.found.find(c.words) != std::string::npos;
}

TEST(SimtTable, NoMissAndNoFalseAlarm) {
  auto made = target::simt_toolchain();
  if (!made) GTEST_SKIP() << made.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*made);
  std::vector<Case> cases;
  for (SimtCase& c : simt_table()) cases.push_back({std::move(c), {}, false});
  for (Case& c : cases) judge(c, toolchain);
  int accepted = 0, refused = 0, wrong = 0;
  std::string text;
  for (const Case& c : cases) {
    (c.verdict == "accepted" ? accepted : refused) += 1;
    wrong += !c.right;
    text += fmt::format("{} {:<44} {}\n", c.right ? " " : "X", c.name, c.found);
    EXPECT_TRUE(c.right) << c.name << "\n  expected " << c.verdict << ": " << c.words << "\n  found    " << c.found;
  }
  fmt::print("{}{} kernels: {} right ones, {} wrong ones; {} judged wrongly\n", text, cases.size(), accepted, refused, wrong);
  if (!std::getenv("HONE_SIMT_ONLY")) {
    EXPECT_GE(cases.size(), 100u);
  }
}

}  // namespace
}  // namespace hone::evaluate::simt_table_long_cases
