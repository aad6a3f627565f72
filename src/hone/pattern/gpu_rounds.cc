#include "hone/pattern/gpu_rounds.h"

#include <algorithm>
#include <optional>

#include "hone/pattern/nest.h"

namespace hone::pattern {
namespace {

using task::Node;
using task::Prim;


int seen_through(const Program& program, int id) {
  while (is_view(program.node(id)) && !program.nest.access.contains(id)) id = program.node(id).operands[0];
  return id;
}

/// The operands of node `id`, views seen through, where it is a `prim`.
std::optional<std::vector<int>> operands_of(const Program& program, int id, Prim prim) {
  const Node& node = program.node(seen_through(program, id));
  if (node.prim != prim) return std::nullopt;
  std::vector<int> all;
  for (const int operand : node.operands) all.push_back(seen_through(program, operand));
  return all;
}

/// Whether `id` is the number of elements that reduction `of` takes together.
bool is_count(const Program& program, int id, int of) {
  while (program.node(id).prim == Prim::kCast) id = seen_through(program, program.node(id).operands[0]);
  const Node& node = program.node(id);
  if (node.prim != Prim::kSymbol) return false;
  task::IntExpr count = 1;
  for (const int axis : program.nest.removed_by(of)) count = count * program.extent(axis);
  return node.attr<task::IntExpr>("value") == count;
}

std::optional<Running> pair_of(const Program& program, int second) {
  const Node& sum = program.node(second);
  if (sum.prim != Prim::kSum || !task::is_float(sum.type.dtype)) return std::nullopt;
  const int taken = seen_through(program, sum.operands[0]);
  if (const auto power = operands_of(program, taken, Prim::kExp)) {
    const auto less = operands_of(program, (*power)[0], Prim::kSub);
    if (!less) return std::nullopt;
    const auto largest = operands_of(program, (*less)[1], Prim::kMax);
    if (!largest || (*largest)[0] != (*less)[0]) return std::nullopt;
    return Running{Running::Kind::kExpSum, (*less)[1], second, -1};
  }
  const auto square = operands_of(program, taken, Prim::kMul);
  if (!square || (*square)[0] != (*square)[1]) return std::nullopt;
  const auto less = operands_of(program, (*square)[0], Prim::kSub);
  if (!less) return std::nullopt;
  const auto mean = operands_of(program, (*less)[1], Prim::kDiv);
  if (!mean) return std::nullopt;
  const auto total = operands_of(program, (*mean)[0], Prim::kSum);
  if (!total || (*total)[0] != (*less)[0] || !is_count(program, (*mean)[1], (*mean)[0])) return std::nullopt;
  return Running{Running::Kind::kMoments, (*mean)[0], second, (*less)[1]};
}

}  // namespace

std::vector<Round> rounds_of(const Program& program, bool together) {
  std::vector<Round> rounds;
  for (size_t p = 0; p < program.passes.size(); ++p) {
    Round round{{p}, {}};
    const Pass& pass = program.passes[p];
    for (const int id : pass.reductions) round.results.push_back({Running::Kind::kPlain, id, -1, -1});
    if (together && p + 1 < program.passes.size() && pass.stores.empty()) {
      const Pass& next = program.passes[p + 1];
      std::vector<Running> pairs;
      for (const int id : next.reductions)
        if (const auto pair = pair_of(program, id); pair && std::find(pass.reductions.begin(), pass.reductions.end(),
                                                                      pair->first) != pass.reductions.end())
          pairs.push_back(*pair);
      const bool all = !pairs.empty() && next.stores.empty() && pairs.size() == next.reductions.size();
      std::vector<int> firsts;
      for (const Running& pair : pairs) firsts.push_back(pair.first);
      std::sort(firsts.begin(), firsts.end());
      if (all && std::adjacent_find(firsts.begin(), firsts.end()) == firsts.end()) {
        round.passes.push_back(p + 1);
        for (Running& result : round.results)
          for (const Running& pair : pairs)
            if (pair.first == result.first) result = pair;
        ++p;
      }
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace hone::pattern
