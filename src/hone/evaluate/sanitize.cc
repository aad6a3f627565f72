#include "hone/evaluate/sanitize.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/evaluate/verify/near_bound.h"

namespace hone::evaluate {
namespace {

constexpr Family kSanitizedFamilies[] = {Family::kNormal, Family::kSparse, Family::kLarge};
/// Instrumented code is some ten times slower, and shapes are small.
constexpr std::chrono::seconds kSanitizeDeadline{60};

/// What a batch that did not end well says under sanitizers.
Verdict verdict_from_report(const target::BatchOutcome& outcome, const task::Bindings& bindings) {
  Verdict verdict = verdict_of(outcome);
  verdict.detail = outcome.output;
  const std::string finding = first_finding(outcome.output);
  if (!finding.empty() && outcome.finding.empty()) {
    const auto says = [&](std::string_view words) { return finding.find(words) != std::string::npos; };
    const bool memory = says("AddressSanitizer") || says("out of bounds") || says("insufficient space") || says("null pointer");
    verdict.kind = memory ? VerdictKind::kOutOfBounds : VerdictKind::kLaunchFails;
    verdict.reason = finding;
  }
  verdict.reason += fmt::format(" (hidden shape {})", task::bindings_text(bindings));
  return verdict;
}

/// Nothing where the time was up before it ended.
Result<std::optional<Verdict>> run_at(const kernel::Kernel& kernel, const task::Bindings& bindings, Loader& loader, int64_t until_ns) {
  // Laid out as where nobody watches, so that addresses do not tell.
  StageOptions options;
  const auto tensors = static_cast<int>(loader.task().inputs.size() + loader.task().outputs.size());
  options.calls = options.contents = std::clamp(kMostEdgeRegions / tensors, 1, static_cast<int>(std::size(kSanitizedFamilies)));
  options.edge = true;
  auto made = Stage::create(loader.task(), bindings, options);
  if (!made) {
    // The task itself makes no sense at this shape.
    if (made.error().code == ErrorCode::kInput) return std::optional(Verdict{});
    return tl::unexpected(made.error());
  }
  Stage& stage = **made;
  std::vector<int> slots;
  std::vector<target::Call> calls;
  for (int slot = 0; slot < stage.calls(); ++slot) {
    stage.draw(stage.content_of(slot), kSanitizedFamilies[static_cast<size_t>(slot)], base::secret_seed());
    slots.push_back(slot);
  }
  HONE_TRY(const Loaded loaded, loader.load(kernel, stage, true));
  if (!loaded.session) return std::optional(loaded.verdict);
  stage.poison(slots);
  for (const int slot : slots) calls.push_back(stage.call(slot));
  const int64_t left_ns = until_ns - base::system_clock().now_ns();
  if (left_ns <= 0) return std::optional<Verdict>();
  const std::chrono::nanoseconds given = std::min<std::chrono::nanoseconds>(kSanitizeDeadline, std::chrono::nanoseconds(left_ns));
  const target::BatchOutcome outcome = loaded.session->run(calls, given);
  if (outcome.how == target::BatchOutcome::How::kDeadline && given < kSanitizeDeadline) return std::optional<Verdict>();
  if (outcome.how != target::BatchOutcome::How::kDone) return std::optional(verdict_from_report(outcome, bindings));
  // Whoever does less when watched gives other answers, or none.
  for (const int slot : slots)
    if (Verdict verdict = unless_near_bound(stage.check(slot)); !verdict.accepted()) {
      verdict.reason = "built with sanitizers: " + verdict.reason;
      return std::optional(std::move(verdict));
    }
  return std::optional(Verdict{});
}

/// The kernel may have written among what the sanitizer says, and the library's expressions recurse at every character.
constexpr size_t kLongestLine = 1000;

}  // namespace

std::string first_finding(const std::string& report) {
  std::string line;
  for (const std::string_view mark : {"ERROR: AddressSanitizer:", "runtime error:"}) {
    const size_t at = report.find(mark);
    if (at == std::string::npos) continue;
    const size_t begin = report.rfind('\n', at) + 1;  // npos + 1 is 0
    line = report.substr(begin, std::min(report.find('\n', at) - begin, kLongestLine));
    break;
  }
  line = std::regex_replace(line, std::regex("^==[0-9]+==ERROR: "), "");
  line = std::regex_replace(line, std::regex(" (on|for)( unknown)? address.*| at pc .*| \\(pc .*"), "");
  line = std::regex_replace(line, std::regex(" 0x[0-9a-f]{6,}"), "");
  return line.substr(0, 300);
}

std::string finding_frames(const std::string& report) {
  constexpr size_t kLines = 8;
  static const std::regex place("kernel\\.[a-z]+:[0-9]+"), touch("^(READ|WRITE) of size [0-9]+");
  std::string text;
  std::istringstream all(report);
  size_t lines = 0;
  for (std::string line; std::getline(all, line) && lines < kLines;) {
    line.resize(std::min(line.size(), kLongestLine));
    std::smatch found;
    if (std::regex_search(line, found, touch)) text += found.str() + "\n", ++lines;
    else if (!line.starts_with("SUMMARY") && std::regex_search(line, place))
      text += std::regex_replace(line, std::regex(" ?0x[0-9a-f]{6,}( in)?|^ +|/[^ ]*/(?=kernel\\.)"), "") + "\n", ++lines;
  }
  return text;
}

Result<Sanitized> sanitize(const kernel::Kernel& kernel, std::span<const task::Bindings> shapes, Loader& loader,
                           Spent& spent, int64_t until_ns) {
  Sanitized result;
  if (shapes.empty()) {
    result.unavailable = "its requirements admit no small shape";
    return result;
  }
  {
    const Stopwatch watch(spent.sanitize);
    const auto built = loader.build(kernel, shapes.front(), true);
    if (!built && built.error().code == ErrorCode::kUnavailable) {
      result.unavailable = built.error().message;
      return result;
    }
  }
  const Stopwatch watch(spent.sanitize);
  for (const task::Bindings& bindings : shapes) {
    if (base::system_clock().now_ns() >= until_ns) return result;
    HONE_TRY(auto said, run_at(kernel, bindings, loader, until_ns));
    if (!said) return result;
    result.verdict = std::move(*said);
    if (!result.verdict.accepted()) return result;
    ++result.shapes;
  }
  return result;
}

}  // namespace hone::evaluate
