// Helpers of the oracle's and the gate's tests: small tasks from one line of mathematics, drawn or
// given inputs, and whole answers.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/oracle.h"
#include "hone/evaluate/verify/inputs.h"

namespace hone::evaluate::testing {

/// A task at its first workload, with inputs.
struct Case {
  task::Task task;
  task::ConcreteGraph graph;
  std::vector<std::vector<uint8_t>> data;  ///< by input

  Case(const std::string& compute, const std::vector<std::string>& inputs,
       const std::string& workload = "") {
    auto made = task::task_from_expressions(
        compute, inputs, workload.empty() ? std::vector<std::string>{} : std::vector{workload});
    HONE_CHECK(made.has_value(), compute + ": " + made.error().to_string());
    task = std::move(*made);
    auto concrete = task::instantiate(task.primitive, task.workloads.at(0).bindings);
    HONE_CHECK(concrete.has_value(), compute + ": " + concrete.error().to_string());
    graph = std::move(*concrete);
    for (size_t i = 0; i < task.inputs.size(); ++i)
      data.emplace_back(static_cast<size_t>(task::element_count(shape(i)) *
                                            task::size_of(task.inputs[i].type.dtype)));
  }
  Case(Case&&) = delete;

  [[nodiscard]] const task::Shape& shape(size_t input) const {
    return graph.shapes[static_cast<size_t>(graph.graph.inputs[input])];
  }
  [[nodiscard]] const task::Shape& output_shape(int output = 0) const {
    return graph.shapes[static_cast<size_t>(graph.graph.outputs[static_cast<size_t>(output)])];
  }
  [[nodiscard]] task::DType output_type(int output = 0) const {
    return graph.graph.node(graph.graph.outputs[static_cast<size_t>(output)]).type.dtype;
  }

  void draw_all(Family family, uint64_t seed) {
    for (size_t i = 0; i < data.size(); ++i) {
      const auto& spec = task.inputs[i];
      const auto bound = spec.index_bound.eval(graph.bindings);
      draw(spec, shape(i), bound ? *bound : 1, family, seed, data[i].data());
    }
  }
  void set(size_t input, const std::vector<double>& values) {
    ASSERT_EQ(static_cast<int64_t>(values.size()), task::element_count(shape(input)));
    store_doubles(task.inputs[input].type.dtype, values.data(), static_cast<int64_t>(values.size()),
                  data[input].data(), 0);
  }
  [[nodiscard]] Oracle oracle() const {
    std::vector<TensorView> views;
    for (size_t i = 0; i < data.size(); ++i)
      views.push_back({task.inputs[i].type.dtype, shape(i), data[i].data()});
    return Oracle(graph, std::move(views), task.track);
  }
  [[nodiscard]] Answer answer(Arithmetic arithmetic = Arithmetic::kExact, int output = 0) const {
    return oracle().evaluate(output, whole(output_shape(output)), arithmetic, true);
  }
};

}  // namespace hone::evaluate::testing
