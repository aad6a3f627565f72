#include "hone/evaluate/baseline/library_gemm.h"

#include <algorithm>
#include <string>

namespace hone::evaluate {
namespace {

using task::Prim;
using Axis = GemmForm::Axis;

tl::unexpected<Error> not_one(const char* why) { return fail(ErrorCode::kUnavailable, why); }

/// The node below reshapes, which move nothing, and casts.
int below(const task::Graph& graph, int id) {
  while (graph.node(id).prim == Prim::kReshape || graph.node(id).prim == Prim::kCast) id = graph.node(id).operands[0];
  return id;
}

/// Row-major strides by letter; 0 where the letter does not occur.
int64_t stride_of(char letter, const std::string& letters, const task::Shape& shape) {
  const size_t at = letters.find(letter);
  if (at == std::string::npos) return 0;
  int64_t stride = 1;
  for (size_t i = at + 1; i < shape.size(); ++i) stride *= shape[i];
  return stride;
}

/// Joins neighbours that are one segment in every operand; axes of one element vanish.
std::vector<Axis> joined(const std::vector<Axis>& axes) {
  std::vector<Axis> out;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!out.empty()) {
      Axis& last = out.back();
      if (last.a == axis.a * axis.extent && last.b == axis.b * axis.extent && last.c == axis.c * axis.extent) {
        last = {last.extent * axis.extent, axis.a, axis.b, axis.c};
        continue;
      }
    }
    out.push_back(axis);
  }
  return out;
}

/// The last axis is the one; those before it become batch axes.
Axis take_last(std::vector<Axis> axes, std::vector<Axis>& batch) {
  axes = joined(axes);
  if (axes.empty()) return {};
  const Axis last = axes.back();
  batch.insert(batch.end(), axes.begin(), axes.end() - 1);
  return last;
}

}  // namespace

Result<GemmForm> as_gemm(const task::ConcreteGraph& concrete) {
  const task::Graph& graph = concrete.graph;
  if (graph.outputs.size() != 1) return not_one("several outputs are no matrix product");
  const task::Node& dot = graph.node(below(graph, graph.outputs[0]));
  if (dot.prim != Prim::kDot) return not_one("the task is not one matrix product");
  GemmForm form;
  std::string letters[3];
  task::Shape shapes[3];
  const auto& spec = dot.attr<std::string>("spec");
  const size_t comma = spec.find(','), arrow = spec.find("->");
  letters[0] = spec.substr(0, comma);
  letters[1] = spec.substr(comma + 1, arrow - comma - 1);
  letters[2] = spec.substr(arrow + 2);
  for (size_t i = 0; i < 2; ++i) {
    const int input = below(graph, dot.operands[i]);
    const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), input);
    if (at == graph.inputs.end()) return not_one("the product's operands are computed, not given");
    if (graph.node(input).attrs.contains("structure")) return not_one("libraries know nothing of an operand's structure");
    (i == 0 ? form.a : form.b) = static_cast<int>(at - graph.inputs.begin());
    (i == 0 ? form.a_type : form.b_type) = graph.node(input).type.dtype;
    shapes[i] = concrete.shapes[static_cast<size_t>(dot.operands[i])];
  }
  form.c_type = graph.node(graph.outputs[0]).type.dtype;
  shapes[2] = concrete.shapes[static_cast<size_t>(&dot - graph.nodes.data())];

  std::vector<Axis> batch, m, n, k;
  const auto axis_of = [&](char letter) {
    Axis axis{1, stride_of(letter, letters[0], shapes[0]), stride_of(letter, letters[1], shapes[1]),
              stride_of(letter, letters[2], shapes[2])};
    for (size_t i = 0; i < 3; ++i)
      if (const size_t at = letters[i].find(letter); at != std::string::npos) axis.extent = shapes[i][at];
    return axis;
  };
  const auto has = [&](size_t i, char letter) { return letters[i].find(letter) != std::string::npos; };
  for (const char letter : letters[2])
    (has(0, letter) && has(1, letter) ? batch : has(0, letter) ? m : n).push_back(axis_of(letter));
  for (const char letter : letters[0])
    if (!has(2, letter)) k.push_back(axis_of(letter));
  k = joined(k);
  if (k.size() > 1) return not_one("the axes to sum over are not one segment of memory");
  if (!k.empty()) form.k = k[0];
  form.m = take_last(m, batch);
  form.n = take_last(n, batch);
  form.batch = joined(batch);
  return form;
}

}  // namespace hone::evaluate
