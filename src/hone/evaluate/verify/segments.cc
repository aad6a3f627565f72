#include "hone/evaluate/verify/segments.h"

#include <algorithm>

#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/oracle/runs.h"

namespace hone::evaluate {
namespace {

/// Segments nearer than this are drawn as one: no more is drawn for it, as parts are larger.
constexpr int64_t kNear = 1 << 12;

void add_box(const task::Shape& shape, const Box& box, std::vector<Segment>& to) {
  if (is_empty(box)) return;
  for_each_piece(shape, box, [&](int64_t first, int64_t length) {
    if (!to.empty() && first >= to.back().begin && first <= to.back().end + kNear) to.back().end = std::max(to.back().end, first + length);
    else to.push_back({first, first + length});
  });
}

}  // namespace

void merge(std::vector<Segment>& segments, int64_t near) {
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  std::vector<Segment> merged;
  for (const Segment& s : segments)
    if (!merged.empty() && s.begin <= merged.back().end + near) merged.back().end = std::max(merged.back().end, s.end);
    else merged.push_back(s);
  segments = std::move(merged);
}

std::vector<Segment> without(const std::vector<Segment>& wanted, const std::vector<Segment>& there) {
  std::vector<Segment> left;
  auto known = there.begin();
  for (const Segment& s : wanted) {
    int64_t begin = s.begin;
    while (known != there.end() && known->end <= begin) ++known;
    for (auto k = known; k != there.end() && k->begin < s.end; ++k) {
      if (begin < k->begin) left.push_back({begin, k->begin});
      begin = std::max(begin, k->end);
    }
    if (begin < s.end) left.push_back({begin, s.end});
  }
  return left;
}

void add_what_is_read(const task::ConcreteGraph& graph, int output, std::span<const Box> boxes, std::vector<std::vector<Segment>>& segments,
                      const Coverage& coverage) {
  const int root = graph.graph.outputs[static_cast<size_t>(output)];
  const auto facts = facts_of(graph);
  TiledEvaluator evaluator(graph, facts, {}, Arithmetic::kExact, false);
  evaluator.assume_covered(coverage);
  const auto shape_of = [&](int node) -> const task::Shape& { return graph.shapes[static_cast<size_t>(node)]; };
  const auto add_read = [&](int node, const Box& box) {
    const std::vector<Box> read = evaluator.inputs_read(node, box);
    for (size_t i = 0; i < read.size(); ++i) add_box(shape_of(graph.graph.inputs[i]), read[i], segments[i]);
  };
  const task::Shape& result = shape_of(root);
  for (const Box& box : boxes) {
    add_read(root, box);
    for (size_t i = 0; i < segments.size(); ++i)
      if (task::element_count(shape_of(graph.graph.inputs[i])) == task::element_count(result)) add_box(result, box, segments[i]);
  }
  for (const auto& [node, covered] : coverage) {
    for (const int given : covered.given) add_read(given, whole(shape_of(given)));
    add_read(graph.graph.node(node).operands[0], covered.spot);
  }
  for (auto& some : segments) merge(some, kNear);
}

}  // namespace hone::evaluate
