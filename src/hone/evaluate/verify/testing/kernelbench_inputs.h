// Inputs as KernelBench's own files draw them, for showing what they let through. Facts about the
// problems are in test/cases/suites/kernelbench_level1.json: `values` says how an input is drawn,
// `checked_at` which extents are cut so that the inputs fit a small machine.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// PyTorch's softmax over rows, in place.
inline void softmax_rows(float* x, int64_t rows, int64_t columns) {
  for (float* row = x; row < x + rows * columns; row += columns) {
    float most = row[0];
    for (int64_t i = 1; i < columns; ++i) most = std::max(most, row[i]);
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += row[i] = std::exp(row[i] - most);
    for (int64_t i = 0; i < columns; ++i) row[i] = static_cast<float>(row[i] / sum);
  }
}

class KernelBenchInputs {
 public:
  KernelBenchInputs(const task::Task& task, const task::ConcreteGraph& graph, const nlohmann::json& inputs)
      : task_(task), graph_(graph), inputs_(inputs) {}

  /// All inputs, a buffer each.
  [[nodiscard]] std::vector<std::vector<uint8_t>> draw_all(uint64_t seed) const {
    base::Rng rng(seed);
    std::vector<std::vector<uint8_t>> data;
    for (size_t i = 0; i < task_.inputs.size(); ++i) {
      const task::Shape& shape = shape_of(i);
      data.emplace_back(static_cast<size_t>(task::element_count(shape) *
                                            task::size_of(task_.inputs[i].type.dtype)));
      if (i < inputs_.size())
        draw_input(i, rng, data.back().data());
      else
        draw_parameter(i, rng, reinterpret_cast<float*>(data.back().data()));
    }
    return data;
  }

 private:
  [[nodiscard]] const task::Shape& shape_of(size_t i) const {
    return graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])];
  }

  void draw_input(size_t i, base::Rng& rng, uint8_t* to) const {
    const nlohmann::json& how = inputs_[i];
    auto* floats = reinterpret_cast<float*>(to);
    if (how.contains("scalar")) {
      floats[0] = how["scalar"].get<float>();
      return;
    }
    const std::string values = how["values"];
    task::InputSpec spec = task_.inputs[i];
    const bool softmax = values.find("softmax") != std::string::npos;
    const bool symmetric = values.rfind("symmetric", 0) == 0;
    if (softmax) spec.domain = task::Domain::kReal;
    if (symmetric) spec.structure = task::Structure::kNone;
    const auto bound = spec.index_bound.eval(graph_.bindings);
    // The uniform family is KernelBench's U(0,1), randint and signs; triangles stay triangles.
    draw(spec, shape_of(i), bound ? *bound : 1, Family::kUniform, rng.next_u64(), to);
    const int64_t count = task::element_count(shape_of(i));
    if (values.find("* scalar") != std::string::npos) {
      const auto factor = static_cast<float>(rng.uniform());
      for (int64_t k = 0; k < count; ++k) floats[k] *= factor;
    }
    if (softmax) softmax_rows(floats, count / shape_of(i).back(), shape_of(i).back());
    if (symmetric) symmetrise(floats, shape_of(i).back());
  }

  static void symmetrise(float* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) x[i * n + j] = x[j * n + i] = (x[i * n + j] + x[j * n + i]) / 2;
  }

  /// PyTorch's default initialisation: norms scale by 1 and add 0; convolutions draw weight and bias
  /// uniformly within 1/sqrt(fan_in), where fan_in is what one slice of the weight holds.
  void draw_parameter(size_t i, base::Rng& rng, float* to) const {
    const task::Shape& shape = shape_of(i);
    const int64_t count = task::element_count(shape);
    if (task_.compute.find("conv") == std::string::npos) {
      const bool scale = task_.inputs[i].domain == task::Domain::kNearOne;
      for (int64_t k = 0; k < count; ++k) to[k] = scale ? 1.0F : 0.0F;
      return;
    }
    const task::Shape& weight = shape.size() > 1 ? shape : shape_of(i - 1);
    const double fan_in = static_cast<double>(task::element_count(weight)) / static_cast<double>(weight[0]);
    for (int64_t k = 0; k < count; ++k)
      to[k] = static_cast<float>((2 * rng.uniform() - 1) / std::sqrt(fan_in));
  }

  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  const nlohmann::json& inputs_;
};

}  // namespace hone::evaluate
