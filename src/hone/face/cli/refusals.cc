#include "hone/face/cli/refusals.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/kernel/kernel.h"

namespace hone::face {
namespace {

using nlohmann::json;

constexpr size_t kRefusalsShown = 3, kReasonShown = 200;

/// Calls visit(body) for each event of a kind.
template <class Visit>
void for_each(const std::vector<archive::Event>& events, std::string_view kind, const Visit& visit) {
  for (const archive::Event& event : events) {
    if (event.kind != kind) continue;
    const json body = json::parse(event.json, nullptr, false);
    if (body.is_object()) visit(body);
  }
}

/// "wrong: y: 3 of 5 elements differ"; empty where the kernel was accepted.
std::string refusal_of(const json& screened) {
  const json verdict = screened.value("screening", json::object()).value("verdict", json::object());
  const std::string kind = verdict.value("verdict", std::string());
  if (kind.empty() || kind == "accepted") return {};
  std::string reason = verdict.value("reason", std::string());
  if (reason.size() > kReasonShown) reason = reason.substr(0, kReasonShown) + "…";
  return reason.empty() ? kind : kind + ": " + reason;
}

std::string name_of(const json& screened) {
  const std::string pattern = screened.value("pattern", std::string()), author = screened.value("author", std::string());
  return pattern.empty() ? author.empty() ? "a kernel" : author : pattern;
}

}  // namespace

std::string refusals_text(const std::vector<archive::Event>& events) {
  std::string text;
  std::map<std::string, int> seen;  // by the name and the kind of refusal
  int refused = 0;
  size_t shown = 0;
  for_each(events, "screened", [&](const json& body) {
    const std::string refusal = refusal_of(body);
    if (refusal.empty()) return;
    ++refused;
    if (seen[name_of(body) + refusal.substr(0, refusal.find(':'))]++ > 0 || shown == kRefusalsShown) return;
    ++shown;
    text += fmt::format("  {} was refused: {}\n", name_of(body), refusal);
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
  for_each(events, "screened", [&](const json& body) {
    if (body.value("kernel", std::string()) != hash || !text.empty()) return;
    if (const std::string refusal = refusal_of(body); !refusal.empty())
      text = fmt::format("  the kernel to start from was refused: {}\n    the search went on without it: hone evaluate says more\n", refusal);
  });
  return text;
}

std::string models_text(const std::vector<archive::Event>& events) {
  std::map<std::string, std::pair<int, std::string>> silent;  // by model
  for_each(events, "answered", [&](const json& body) {
    const std::string problem = body.value("problem", std::string());
    if (problem.empty() || body.value("cancelled", false)) return;
    auto& [count, first] = silent[body.value("name", std::string("a model"))];
    if (count++ == 0) first = problem;
  });
  std::string text;
  for (const auto& [name, problem] : silent)
    text += fmt::format("  {} gave no answer {} times: {}\n    hone models says whether it can be asked\n", name, problem.first, problem.second.substr(0, kReasonShown));
  return text;
}

}  // namespace hone::face
