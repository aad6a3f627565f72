// The speed of light of a promotion: both sides there, the longer one binding.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hone/evaluate/evaluator.h"

namespace hone::evaluate {
namespace {

constexpr const char* kProduct = R"(/* hone
language = "c++"
[[launch]]
kernel = "product"
grid   = ["M"]
args   = ["a", "b", "c", "i64:N", "i64:K"]
*/
void product(const float* a, const float* b, float* c, int64_t N, int64_t K, int64_t i) {
  for (int64_t j = 0; j < N; ++j) c[i * N + j] = 0;
  for (int64_t k = 0; k < K; ++k)
    for (int64_t j = 0; j < N; ++j) c[i * N + j] += a[i * K + k] * b[k * N + j];
}
)";

Promotion promote(const std::string& compute, const std::vector<std::string>& inputs, const std::string& workload,
                  const std::string& source) {
  const task::Task task = task::task_from_expressions(compute, inputs, {workload}).value();
  EvaluatorOptions options;
  options.max_pairs = 10;
  options.sampling_seconds = 1;
  const auto evaluator = cpu_evaluator(task, target::cpp_toolchain().value(), options).value();
  Promotion promotion = evaluator->promote(kernel::parse_kernel(source, "kernel.cc").value(), {}).value();
  EXPECT_TRUE(promotion.verdict.accepted()) << promotion.verdict.reason << promotion.verdict.detail;
  EXPECT_EQ(evaluator->bounds_ns().size(), 1u);
  return promotion;
}

TEST(Bound, a_matrix_product_is_bound_by_its_multiply_adds) {
  const Promotion promotion = promote("c = a @ b", {"a=f32[M,K]", "b=f32[K,N]"}, "M=256,K=256,N=256", kProduct);
  const WorkloadResult& w = promotion.workloads.at(0);
  EXPECT_GT(w.compute_ns, 0);
  EXPECT_GT(w.memory_ns, 0);
  EXPECT_EQ(w.bound_ns, std::max(w.memory_ns, w.compute_ns));
  EXPECT_EQ(w.bound_by, w.compute_ns > w.memory_ns ? "compute" : "memory");
  EXPECT_GT(w.sol_fraction, 0);
  EXPECT_EQ(w.sol_fraction <= 1, w.bound_note.empty()) << w.sol_fraction << " " << w.bound_note;
}

TEST(Bound, without_products_there_is_memory_alone) {
  const Promotion promotion = promote("y = x + 1", {"x=f32[N]"}, "N=100000", R"cc(/* hone
language = "c++"
[[launch]]
kernel = "next"
grid   = ["ceil_div(N, 4096)"]
args   = ["x", "y", "i64:N"]
*/
void next(const float* x, float* y, int64_t N, int64_t i) {
  for (int64_t j = i * 4096; j < N && j < (i + 1) * 4096; ++j) y[j] = x[j] + 1;
}
)cc");
  const WorkloadResult& w = promotion.workloads.at(0);
  EXPECT_EQ(w.compute_ns, 0);
  EXPECT_EQ(w.bound_by, "memory");
  EXPECT_EQ(w.sol_fraction <= 1, w.bound_note.empty()) << w.sol_fraction << " " << w.bound_note;
}

TEST(Bound, reads_back_and_older_records_have_memory_alone) {
  Promotion promotion;
  WorkloadResult& w = promotion.workloads.emplace_back();
  w.memory_ns = 5, w.compute_ns = 7, w.bound_ns = 7, w.bound_by = "compute", w.bound_note = "note";
  nlohmann::json record = to_json(promotion);
  const auto read = [](const nlohmann::json& value) {
    Promotion back;
    base::Notes notes;
    read_json(value, back, notes);
    EXPECT_TRUE(notes.empty()) << notes.front();
    return back;
  };
  const Promotion same = read(record);
  EXPECT_EQ(same.workloads.at(0).memory_ns, 5);
  EXPECT_EQ(same.workloads.at(0).compute_ns, 7);
  EXPECT_EQ(same.workloads.at(0).bound_note, "note");
  for (const char* key : {"memory_ns", "compute_ns", "bound_note"}) record["workloads"][0].erase(key);
  const Promotion old = read(record);
  EXPECT_EQ(old.workloads.at(0).memory_ns, 7);
  EXPECT_EQ(old.workloads.at(0).compute_ns, 0);
}

}  // namespace
}  // namespace hone::evaluate
