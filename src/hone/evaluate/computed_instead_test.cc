// Answers with one mistake each, made here by plain loops: what the mistake is called, and that others are called nothing.
#include "hone/evaluate/computed_instead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hone/base/clock.h"
#include "hone/base/random.h"
#include "hone/evaluate/verify/gate.h"

namespace hone::evaluate::computed_instead_cases {
namespace {

using ::testing::HasSubstr;
using Tensor = std::vector<float>;
using Inputs = std::vector<Tensor>;

struct Case {
  const char* name;
  const char* compute;
  std::vector<std::string> inputs;
  std::string workload;
  std::function<Tensor(const Inputs&)> wrong;
  const char* here;      ///< empty: nothing is said
  const char* anywhere;
};

/// Softmax of rows of memory, `summed` of the `columns` in the sum.
Tensor softmax_rows(const Tensor& x, size_t columns, size_t summed) {
  Tensor y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    double most = -1e30, sum = 0;
    for (size_t j = 0; j < columns; ++j) most = std::max<double>(most, x[row + j]);
    for (size_t j = 0; j < summed; ++j) sum += std::exp(x[row + j] - most);
    for (size_t j = 0; j < columns; ++j) y[row + j] = static_cast<float>(std::exp(x[row + j] - most) / sum);
  }
  return y;
}

/// x [m, k] times w, of which element (p, j) lies at p * down + j * across; terms first to last - 1.
Tensor product(const Inputs& in, size_t m, size_t k, size_t n, size_t down, size_t across, size_t first, size_t last) {
  Tensor y(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t p = first; p < last; ++p) sum += static_cast<double>(in[0][i * k + p]) * in[1][p * down + j * across];
      y[i * n + j] = static_cast<float>(sum);
    }
  return y;
}

Tensor layer_norm_rows(const Tensor& x, size_t columns, size_t squared) {
  Tensor y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, squares = 0;
    for (size_t j = 0; j < columns; ++j) mean += x[row + j] / static_cast<double>(columns);
    for (size_t j = 0; j < squared; ++j) squares += (x[row + j] - mean) * (x[row + j] - mean);
    for (size_t j = 0; j < columns; ++j) y[row + j] = static_cast<float>((x[row + j] - mean) / std::sqrt(squares / static_cast<double>(columns) + 1e-5));
  }
  return y;
}

const Case kCases[] = {
    {"a_tail_of_a_sum", "y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=5,D=37", [](const Inputs& in) { return softmax_rows(in[0], 37, 32); },
     "sum over D (37 long) leaves out the last 5: a tail", "sum over D leaves out the last elements"},
    {"all_behind_the_first_block", "y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=2,D=700", [](const Inputs& in) { return softmax_rows(in[0], 700, 256); },
     "sum over D (700 long) leaves out the last 444", "sum over D"},
    {"the_last_of_squares", "y = layer_norm(x, axis=-1)", {"x=f32[B, D]"}, "B=4,D=33", [](const Inputs& in) { return layer_norm_rows(in[0], 33, 32); },
     "sum over D (33 long) leaves out the last 1", "the last elements"},
    {"a_tail_of_a_contraction", "y = x @ w", {"x=f32[M, K]", "w=f32[K, N]"}, "M=3,K=19,N=7", [](const Inputs& in) { return product(in, 3, 19, 7, 7, 1, 0, 16); },
     "dot over K (19 long) leaves out the last 3", "dot over K leaves out"},
    {"the_first_of_a_contraction", "y = x @ w", {"x=f32[M, K]", "w=f32[K, N]"}, "M=3,K=19,N=7", [](const Inputs& in) { return product(in, 3, 19, 7, 7, 1, 1, 19); },
     "dot over K (19 long) leaves out the first", "leaves out the first"},
    {"extents_exchanged", "y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=5,D=37", [](const Inputs& in) { return softmax_rows(in[0], 5, 5); },
     "the extents B and D (here 5 and 37) are exchanged", "the extents B and D are exchanged"},
    {"an_operand_the_other_way_round", "y = x @ w", {"x=f32[M, K]", "w=f32[K, N]"}, "M=3,K=19,N=7", [](const Inputs& in) { return product(in, 3, 19, 7, 1, 19, 0, 19); },
     "w is read as if its axes K and N were stored the other way round", "K and N"},
    {"a_square_operand_the_other_way_round", "y = x @ w", {"x=f32[M, K]", "w=f32[K, K]"}, "M=3,K=8", [](const Inputs& in) { return product(in, 3, 8, 8, 1, 8, 0, 8); },
     "w is read as if its axes K and K", "the other way round"},
    {"rows_of_another_length", "y = x @ w", {"x=f32[M, K]", "w=f32[K, N]"}, "M=3,K=7,N=19", [](const Inputs& in) { return product(in, 3, 7, 19, 7, 1, 0, 7); },
     "rows of w are taken to be 7 long and not 19", "as long as another extent"},
    {"another_function", "y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=5,D=37", [](const Inputs& in) {
       Tensor y = softmax_rows(in[0], 37, 37);
       for (float& v : y) v = v * v;
       return y;
     }, "", ""},
    {"a_tail_that_is_not_stored", "y = softmax(x, axis=-1)", {"x=f32[B, D]"}, "B=5,D=37", [](const Inputs& in) {
       Tensor y = softmax_rows(in[0], 37, 37);
       for (size_t i = 0; i < y.size(); ++i)
         if (i % 37 >= 32) y[i] = 7;
       return y;
     }, "", ""},
};

class ComputedInstead : public ::testing::TestWithParam<Case> {
 protected:
  std::optional<Instead> said(const Case& c, int64_t until_ns, double gate = 1e-5) {
    auto task = task::task_from_expressions(c.compute, c.inputs, {c.workload});
    EXPECT_TRUE(task) << task.error().to_string();
    const auto graph = task::instantiate(task->primitive, task->workloads.front().bindings);
    EXPECT_TRUE(graph);
    base::Rng rng(7);
    Inputs inputs;
    std::vector<TensorView> views;
    for (const int id : graph->graph.inputs) {
      Tensor& values = inputs.emplace_back();
      for (int64_t i = 0; i < task::element_count(graph->shapes[static_cast<size_t>(id)]); ++i) values.push_back(static_cast<float>(rng.normal()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) views.push_back({task::DType::kF32, graph->shapes[static_cast<size_t>(graph->graph.inputs[i])], inputs[i].data()});
    const Tensor found = c.wrong(inputs);
    constexpr double kBound = 1e-5;
    const Oracle oracle(*graph, views);
    Reference reference;
    reference.boxes = {whole(graph->shapes[static_cast<size_t>(graph->graph.outputs[0])])};
    reference.answers.push_back(oracle.evaluate(0, reference.boxes[0], Arithmetic::kExact, true));
    const std::vector<bool> wrong = wrong_elements(*graph, 0, reference, found.data(), kBound);
    EXPECT_TRUE(std::ranges::any_of(wrong, [](bool is) { return is; })) << "the case is right";
    const std::vector<double> values(found.begin(), found.end());
    return computed_instead(*task, *graph, views, {0, found.data(), wrong, reference.answers[0].value, values}, gate, until_ns);
  }
};

TEST_P(ComputedInstead, is_said_where_all_agrees_with_it) {
  const Case& c = GetParam();
  const auto instead = said(c, INT64_MAX);
  if (!*c.here) {
    EXPECT_FALSE(instead) << instead->here;
    return;
  }
  ASSERT_TRUE(instead);
  EXPECT_THAT(instead->here, HasSubstr(c.here));
  EXPECT_THAT(instead->anywhere, HasSubstr(c.anywhere));
  EXPECT_EQ(instead->anywhere.find_first_of("0123456789"), std::string::npos) << instead->anywhere;
}

/// Where rounding is magnified without end the gate lets any value pass: a mistake that explains nothing is not named.
TEST_P(ComputedInstead, is_not_said_because_the_gate_lets_it_pass) {
  const auto instead = said(GetParam(), INT64_MAX, 1e30);
  if (!*GetParam().here) {
    EXPECT_FALSE(instead) << instead->here;
    return;
  }
  ASSERT_TRUE(instead);
  EXPECT_THAT(instead->here, HasSubstr(GetParam().here));
}

TEST_P(ComputedInstead, nothing_is_tried_when_time_is_up) { EXPECT_FALSE(said(GetParam(), base::system_clock().now_ns())); }

INSTANTIATE_TEST_SUITE_P(Mistakes, ComputedInstead, ::testing::ValuesIn(kCases), [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace hone::evaluate::computed_instead_cases
