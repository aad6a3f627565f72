// Helpers of the gate's tests: a candidate that is itself a graph evaluated in fp32, with any way of
// summing, judged against a task as the evaluator judges kernels.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/oracle/testing.h"
#include "hone/evaluate/verify/bounds.h"

namespace hone::evaluate::testing {

/// Output 0 of `graph` on the inputs of `c`, every operation in fp32 and sums by `summation` (null: as
/// the anchor sums), rounded to the output's type.
inline std::vector<double> fp32_answer(const Case& c, const task::ConcreteGraph& graph,
                                       const Summation* summation) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < c.data.size(); ++i)
    views.push_back({c.task.inputs[i].type.dtype, c.shape(i), c.data[i].data()});
  const auto facts = facts_of(graph);
  TiledEvaluator evaluator(graph, facts, views, Arithmetic::kF32, false, summation);
  const int root = graph.graph.outputs[0];
  const Box all = whole(graph.shapes[static_cast<size_t>(root)]);
  const Tensor result = evaluator.compute(root, all);
  std::vector<double> values(static_cast<size_t>(all.count()));
  Walk(result).read(result.value, 0, all.count(), values.data());
  for (double& v : values) v = round_to(graph.graph.node(root).type.dtype, v);
  return values;
}

/// Why the gate refuses `values` as output 0, if it does. `reference` belongs to the inputs of `c`.
inline std::optional<std::string> judged(const Case& c, Family family, const Reference& reference,
                                         Bounds& bounds, const std::vector<double>& values) {
  const task::DType type = c.output_type();
  std::vector<uint8_t> out(values.size() * static_cast<size_t>(task::size_of(type)));
  store_doubles(type, values.data(), static_cast<int64_t>(values.size()), out.data(), 0);
  const OutputError error = compare_output(c.graph, 0, reference, out.data(), 1);
  if (auto why = judge(error, bounds.of(0, family, reference.anchor), "y"))
    return std::string(name_of(family)) + ": " + *why;
  return std::nullopt;
}

inline Reference reference_of(const Case& c) {
  return make_reference(c.graph, c.oracle(), c.task.track, 0, {whole(c.output_shape())}, 1);
}

}  // namespace hone::evaluate::testing
