#include "hone/face/audit/finding.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace hone::face::audit {
namespace {

using nlohmann::json;

json finding_json(const Finding& finding) {
  return {{"kind", name_of(finding.kind)}, {"what", finding.what}, {"why", finding.why()}};
}

json audited_json(const Audited& audited) {
  json findings = json::array();
  for (const Finding& finding : audited.findings) findings.push_back(finding_json(finding));
  return {{"task", audited.task},
          {"file", audited.file},
          {"workload", audited.workload},
          {"error", audited.error.empty() ? json() : json(audited.error)},
          {"findings", findings}};
}

size_t with_findings(const std::vector<Audited>& suite) {
  return static_cast<size_t>(std::count_if(suite.begin(), suite.end(), [](const Audited& a) { return !a.findings.empty(); }));
}

size_t not_audited(const std::vector<Audited>& suite) {
  return static_cast<size_t>(std::count_if(suite.begin(), suite.end(), [](const Audited& a) { return !a.error.empty(); }));
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kConstant: return "constant";
    case Kind::kUnread: return "unread";
    case Kind::kAtOne: return "constant at one";
    case Kind::kPasses: return "passes";
    case Kind::kLeftOut: return "left out";
    case Kind::kSummed: return "summed";
    case Kind::kMoments: return "moments";
    case Kind::kPooled: return "pooled";
    case Kind::kTiny: return "tiny";
  }
  return "";
}

std::string_view Finding::why() const {
  switch (kind) {
    case Kind::kConstant: return "no inputs tell a kernel that computes it from one that does not";
    case Kind::kUnread: return "a kernel need not read it, and its time is not that of the computation as written";
    case Kind::kAtOne: return "a benchmark that leaves those weights as they are initialised accepts a constant";
    case Kind::kPasses: return "hone refuses the task, as it would accept a kernel that computes nothing of the kind";
    case Kind::kLeftOut: return "a kernel with this mistake would be accepted";
    case Kind::kSummed: return "operands can be summed before they are multiplied: far fewer multiplications than written";
    case Kind::kMoments: return "sums of the values before and of their squares suffice: nothing is normalised element by element";
    case Kind::kPooled: return "the mean can be folded into the weights: fewer multiplications than written";
    case Kind::kTiny: return "an absolute tolerance, as benchmarks have, takes zeros for it; hone's bound is relative to the values";
  }
  return "";
}

json to_json(const std::vector<Audited>& suite) {
  json tasks = json::array();
  for (const Audited& audited : suite) tasks.push_back(audited_json(audited));
  return {{"tasks", tasks}, {"audited", suite.size() - not_audited(suite)}, {"with_findings", with_findings(suite)}};
}

std::string text_of(const std::vector<Audited>& suite) {
  std::string text;
  std::map<std::string_view, int> count;
  for (const Audited& audited : suite) {
    if (audited.error.empty() && audited.findings.empty()) continue;
    text += fmt::format("{}{}\n", audited.task, audited.workload.empty() ? "" : fmt::format(" ({})", audited.workload));
    if (!audited.error.empty()) text += fmt::format("  not audited: {}\n", audited.error);
    for (const Finding& finding : audited.findings) {
      text += fmt::format("  {:<15}  {}: {}\n", name_of(finding.kind), finding.what, finding.why());
      ++count[name_of(finding.kind)];
    }
  }
  if (!text.empty()) text += "\n";
  text += fmt::format("{} of {} tasks with findings", with_findings(suite), suite.size());
  std::vector<std::string> parts;
  for (const auto& [kind, n] : count) parts.push_back(fmt::format("{} {}", n, kind));
  if (!parts.empty()) text += fmt::format(": {}", fmt::join(parts, ", "));
  if (const size_t failed = not_audited(suite); failed > 0) text += fmt::format("; {} not audited", failed);
  return text + "\n";
}

}  // namespace hone::face::audit
