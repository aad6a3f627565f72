#include "hone/face/bench/join.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/hash.h"

namespace hone::face::bench {
namespace {

/// In what two benches that are to be one table differ; empty: in nothing that matters.
std::string difference(const State& a, const State& b) {
  const auto listed = [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); };
  const std::tuple<const char*, std::string, std::string> all[] = {
      {"device", a.conditions.place.device, b.conditions.place.device},
      {"toolchain", a.conditions.place.toolchain, b.conditions.place.toolchain},
      {"PyTorch", a.conditions.pytorch, b.conditions.pytorch},
      {"track", a.asked.track, b.asked.track},
      {"workloads", listed(a.asked.workloads), listed(b.asked.workloads)},
      {"languages", a.asked.options.languages, b.asked.options.languages},
      {"opponents", a.asked.options.opponents, b.asked.options.opponents}};
  for (const auto& [what, of_a, of_b] : all)
    if (of_a != of_b) return fmt::format("{}: {} has \"{}\", {} has \"{}\"", what, a.id, of_a, b.id, of_b);
  return {};
}

}  // namespace

Result<State> joined(std::vector<State> states) {
  HONE_CHECK(!states.empty(), "nothing to join");
  // The last change comes last, so that its rows replace earlier ones.
  std::sort(states.begin(), states.end(), [](const State& a, const State& b) { return std::tie(a.updated_unix_ms, a.id) < std::tie(b.updated_unix_ms, b.id); });
  for (const State& state : states)
    if (const std::string why = difference(states.front(), state); !why.empty())
      return fail(ErrorCode::kInput, "these benches make no table; they differ in " + why, "join benches of one kind of machine that asked the same");
  const State& first = *std::min_element(states.begin(), states.end(), [](const State& a, const State& b) { return a.created_unix_ms < b.created_unix_ms; });
  State all = first;
  all.updated_unix_ms = states.back().updated_unix_ms;
  all.entries.clear();
  all.asked.suite.clear();
  std::vector<std::string> drawn;
  base::Hasher id;
  std::vector<std::string> commands;
  std::map<std::string, Entry> entries;
  for (State& state : states) {
    id.add(state.id);
    if (std::find(commands.begin(), commands.end(), state.command) == commands.end()) commands.push_back(state.command);
    if (!state.asked.drawn.empty() && std::find(drawn.begin(), drawn.end(), state.asked.drawn) == drawn.end()) drawn.push_back(state.asked.drawn);
    for (const std::string& path : state.asked.suite)
      if (std::find(all.asked.suite.begin(), all.asked.suite.end(), path) == all.asked.suite.end()) all.asked.suite.push_back(path);
    for (Entry& entry : state.entries) {
      const auto [known, is_new] = entries.try_emplace(entry.name, entry);
      if (!is_new && entry.row) known->second = std::move(entry);
    }
  }
  for (auto& [name, entry] : entries) all.entries.push_back(std::move(entry));
  all.id = base::short_hash(id.finish());
  all.asked.drawn = fmt::format("{}", fmt::join(drawn, "; "));
  all.command = fmt::format("{}", fmt::join(commands, "; "));
  return all;
}

}  // namespace hone::face::bench
