// The table of small GPU kernels: test/simt/*.cu and *.hip, right ones and subtly wrong ones, each with the
// verdict it must get from the emulator. One test runs them all and prints the table: no miss, no false alarm.
//   // task: y = 2 * x | x=f32[N] | N=1000
//   // expect: accepted            or: launch fails: a race on shared memory
// HONE_SIMT_ONLY=name runs those whose file has the name in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/evaluate/verifier.h"
#include "hone/evaluate/measure/batch.h"

namespace hone::evaluate {
namespace {

struct Case {
  std::string name, source;
  std::string verdict, words;      ///< expected; words that the reason must have in it
  std::string found;               ///< "accepted", or the verdict and its reason
  bool right = false;
};

std::string after(const std::string& source, const std::string& mark) {
  const size_t at = source.find(mark);
  if (at == std::string::npos) return {};
  return source.substr(at + mark.size(), source.find('\n', at) - at - mark.size());
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, '|');) {
    const size_t begin = part.find_first_not_of(' '), end = part.find_last_not_of(' ');
    parts.push_back(begin == std::string::npos ? "" : part.substr(begin, end - begin + 1));
  }
  return parts;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::stringstream in(text);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<Case> table() {
  const char* only = std::getenv("HONE_SIMT_ONLY");
  std::vector<Case> all;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/test/simt")) {
    if (entry.path().extension() != ".cu" && entry.path().extension() != ".hip") continue;
    Case c;
    c.name = entry.path().filename().string();
    if (only && c.name.find(only) == std::string::npos) continue;
    c.source = base::read_file(entry.path()).value();
    const std::string expect = after(c.source, "// expect: ");
    const size_t colon = expect.find(": ");
    c.verdict = expect.substr(0, colon);
    if (colon != std::string::npos) c.words = expect.substr(colon + 2);
    all.push_back(std::move(c));
  }
  std::sort(all.begin(), all.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return all;
}

void judge(Case& c, const std::shared_ptr<target::Toolchain>& toolchain) {
  const auto say = [&](const Error& error) { c.found = "error: " + error.to_string(); };
  const auto kernel = kernel::parse_kernel(c.source, c.name);
  if (!kernel) return say(kernel.error());
  const auto parts = split(after(c.source, "// task: "));
  if (parts.size() != 3) {
    c.found = "error: no task";
    return;
  }
  const auto task = task::task_from_expressions(parts[0], words_of(parts[1]), words_of(parts[2]));
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
  c.right = c.verdict == name_of(verdict->kind) && c.found.find(c.words) != std::string::npos;
}

TEST(SimtTable, NoMissAndNoFalseAlarm) {
  auto made = target::simt_toolchain();
  if (!made) GTEST_SKIP() << made.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*made);
  std::vector<Case> cases = table();
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
}  // namespace hone::evaluate
