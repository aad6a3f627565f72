// The libraries themselves, where they are installed: each form of call starts in the runner and gives
// answers that the gate accepts.
#include <gmock/gmock.h>

#include <set>

#include "hone/evaluate/baseline/library_opponents.h"

namespace hone::evaluate {
namespace {

struct Case {
  const char* name;
  const char* library;
  const char* compute;
  std::vector<std::string> inputs;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// As oneDNN 2.6's products of bf16 do.
bool needs_avx512(const Case& c) { return c.library == std::string_view("onednn") && c.inputs[0].starts_with("a=bf16"); }

class Libraries : public ::testing::TestWithParam<Case> {};

TEST_P(Libraries, AnswersPassTheGate) {
  const Case& c = GetParam();
  const task::Task task = task::task_from_expressions(c.compute, c.inputs, {}).value();
  const auto stage = Stage::create(task, {}, {}).value();
  stage->draw(0, Family::kNormal, 1);
  for (const Opponent& opponent : library_opponents(task, 2)) {
    if (opponent.name != c.library) continue;
    auto starter = opponent.prepare(*stage);
    auto session = starter ? (*starter)() : tl::unexpected(starter.error());
    if (!session && session.error().hint.rfind("apt-get install", 0) == 0) GTEST_SKIP() << session.error().to_string();
    if (!session && needs_avx512(c) && !__builtin_cpu_supports("avx512bw")) {
      EXPECT_THAT(session.error().to_string(), ::testing::HasSubstr("does not have this call on this processor"));
      GTEST_SKIP() << session.error().to_string();
    }
    ASSERT_TRUE(session.has_value()) << session.error().to_string();
    for (int round = 0; round < 3; ++round) {
      const int slots[] = {0};
      stage->poison(slots);
      const target::Call call = stage->call(0);
      const auto outcome = (*session)->run({&call, 1}, std::chrono::seconds(60));
      ASSERT_EQ(outcome.how, target::BatchOutcome::How::kDone) << outcome.why;
      const Verdict verdict = stage->check(0);
      EXPECT_TRUE(verdict.accepted()) << verdict.reason;
    }
    return;
  }
  FAIL() << "no opponent " << c.library;
}

std::vector<Case> cases() {
  return {
      Case{"gemm", "openblas", "c = a @ b", {"a=f32[37,50]", "b=f32[50,41]"}},
      Case{"gemm_transposed", "openblas", "c = a.T @ b.T", {"a=f64[50,37]", "b=f64[41,50]"}},
      Case{"gemm_large", "openblas", "c = a @ b", {"a=f32[300,300]", "b=f32[300,300]"}},
      Case{"gemv", "openblas", "c = a @ b", {"a=f32[300,70]", "b=f32[70,1]"}},
      Case{"gemv_left", "openblas", "c = a @ b", {"a=f32[1,70]", "b=f32[70,90]"}},
      Case{"gemm_batched", "openblas", "c = a @ b", {"a=f32[3,5,17,20]", "b=f32[3,5,20,9]"}},
      Case{"matmul", "onednn", "c = a @ b", {"a=f32[37,50]", "b=f32[50,41]"}},
      Case{"matmul_transposed", "onednn", "c = a.T @ b.T", {"a=f32[50,37]", "b=f32[41,50]"}},
      Case{"matmul_bf16", "onednn", "c = a @ b", {"a=bf16[37,64]", "b=bf16[64,41]"}},
      Case{"matmul_i8", "onednn", "c = i32(a) @ i32(b)", {"a=i8[37,64]", "b=i8[64,41]"}},
      Case{"matmul_batched", "onednn", "c = a @ b", {"a=f32[3,5,17,20]", "b=f32[3,5,20,9]"}},
      Case{"conv1d", "onednn", "c = conv1d(x, w, stride=2, dilation=2)", {"x=f32[2,8,40]", "w=f32[16,8,3]"}},
      Case{"conv2d", "onednn", "c = conv2d(x, w, b, padding=1)", {"x=f32[2,8,15,14]", "w=f32[16,8,3,3]", "b=f32[16]"}},
      Case{"conv2d_strided", "onednn", "c = conv2d(x, w, stride=2)", {"x=f32[2,8,16,16]", "w=f32[16,8,3,3]"}},
      Case{"conv2d_depthwise", "onednn", "c = conv2d(x, w, groups=8)", {"x=f32[2,8,15,14]", "w=f32[8,1,3,3]"}},
      Case{"conv3d", "onednn", "c = conv3d(x, w)", {"x=f32[1,8,7,8,9]", "w=f32[16,8,3,3,3]"}},
      Case{"conv_transpose2d", "onednn", "c = conv_transpose2d(x, w, stride=2, padding=1)", {"x=f32[2,8,9,10]", "w=f32[8,16,3,3]"}},
      Case{"max_pool", "onednn", "c = max_pool2d(x, 3, stride=2, padding=1)", {"x=f32[2,8,15,14]"}},
      Case{"avg_pool", "onednn", "c = avg_pool2d(x, 3, stride=2, padding=1)", {"x=f32[2,8,15,14]"}},
      Case{"avg_pool1d", "onednn", "c = avg_pool1d(x, 4)", {"x=f32[2,8,64]"}},
      Case{"softmax", "onednn", "c = softmax(x, axis=-1)", {"x=f32[33,100]"}},
      // Not log_softmax: oneDNN 2's is less accurate than the gate allows (3.3e-07 against 3.0e-07), and so absent.
      Case{"layer_norm", "onednn", "c = layer_norm(x, w, b, axis=-1)", {"x=f32[33,100]", "w=f32[100]", "b=f32[100]"}},
      Case{"relu", "onednn", "c = relu(x)", {"x=f32[33,100]"}},
      // Not gelu: on an Emerald Rapids oneDNN 2's is refused every second time (2.4e-07 against 2.2e-07).
      Case{"gelu_tanh", "onednn", "c = gelu(x, approximate=\"tanh\")", {"x=f32[33,100]"}},
      Case{"leaky_relu", "onednn", "c = leaky_relu(x, 0.1)", {"x=f32[33,100]"}},
      Case{"hardtanh", "onednn", "c = hardtanh(x)", {"x=f32[33,100]"}}};
}

/// In `make check` two of each library's kinds of call, in `make check-long` all.
std::vector<Case> some_cases() {
  const std::set<std::string> names{"gemm", "gemv_left", "gemm_batched", "matmul_transposed", "matmul_i8", "conv2d", "conv_transpose2d", "max_pool", "layer_norm", "leaky_relu"};
  std::vector<Case> some = cases();
  std::erase_if(some, [&](const Case& c) { return !names.contains(c.name); });
  return some;
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) { return std::string(info.param.library) + "_" + info.param.name; }
INSTANTIATE_TEST_SUITE_P(Some, Libraries, ::testing::ValuesIn(some_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(LongAll, Libraries, ::testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace hone::evaluate
