#include "hone/face/cli/refusals.h"

#include <map>

#include <fmt/format.h>

#include "hone/engine/event/event.h"
#include "hone/kernel/kernel.h"

namespace hone::face {
namespace {

using engine::event::Screened;

constexpr size_t kRefusalsShown = 3, kReasonShown = 200;

/// "wrong: y: 3 of 5 elements differ"; empty where the kernel was accepted.
std::string refusal_of(const Screened& screened) {
  const evaluate::Verdict& verdict = screened.screening.verdict;
  if (verdict.accepted()) return {};
  const std::string kind(evaluate::name_of(verdict.kind));
  std::string reason = verdict.reason;
  if (reason.size() > kReasonShown) reason = reason.substr(0, kReasonShown) + "…";
  return reason.empty() ? kind : kind + ": " + reason;
}

std::string name_of(const Screened& screened) {
  if (!screened.pattern.empty()) return screened.pattern;
  return screened.author.empty() ? "a kernel" : screened.author;
}

}  // namespace

std::string refusals_text(const std::vector<archive::Event>& events) {
  std::string text;
  std::map<std::string, int> seen;  // by the name and the kind of refusal
  int refused = 0;
  size_t shown = 0;
  engine::for_each_event<Screened>(events, [&](const Screened& screened, const engine::LoggedEvent&) {
    const std::string refusal = refusal_of(screened);
    if (refusal.empty()) return;
    ++refused;
    if (seen[name_of(screened) + refusal.substr(0, refusal.find(':'))]++ > 0 || shown == kRefusalsShown) return;
    ++shown;
    text += fmt::format("  {} was refused: {}\n", name_of(screened), refusal);
  });
  if (refused == 0) return "  nothing was evaluated: give it a larger --budget\n";
  return text + fmt::format("  {} kernels were refused in all; hone evaluate KERNEL TASK says more about one\n", refused);
}

std::string start_text(const std::vector<archive::Event>& events, const std::string& start_source) {
  if (start_source.empty()) return {};
  const auto start = kernel::parse_kernel(start_source, "start");
  if (!start) return {};
  const std::string hash = start->hash();
  std::string text;
  engine::for_each_event<Screened>(events, [&](const Screened& screened, const engine::LoggedEvent&) {
    if (screened.kernel != hash || !text.empty()) return;
    if (const std::string refusal = refusal_of(screened); !refusal.empty())
      text = fmt::format("  the kernel to start from was refused: {}\n    the search went on without it: hone evaluate says more\n", refusal);
  });
  return text;
}

std::string models_text(const std::vector<archive::Event>& events) {
  std::map<std::string, std::pair<int, std::string>> silent;  // by model
  engine::for_each_event<engine::event::Answered>(events, [&](const engine::event::Answered& answered, const engine::LoggedEvent&) {
    if (answered.exchange.problem.empty() || answered.exchange.cancelled) return;
    auto& [count, first] = silent[answered.name];
    if (count++ == 0) first = answered.exchange.problem;
  });
  std::string text;
  for (const auto& [name, problem] : silent)
    text += fmt::format("  {} gave no answer {} times: {}\n    hone models says whether it can be asked\n", name, problem.first, problem.second.substr(0, kReasonShown));
  return text;
}

}  // namespace hone::face
