// Kernels with one mistake each, as a person would make them: what whoever is to mend them is told, and what not.
#include "hone/evaluate/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/evaluate/verifier.h"
#include "hone/target/cpu.h"

namespace hone::evaluate {
namespace {

using ::testing::HasSubstr;

kernel::Kernel cpp_kernel(const std::string& body, const std::string& header = "") {
  const std::string text = fmt::format(
      "/* hone\nlanguage = \"c++\"\n{}\n[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nargs = [\"x\", \"y\", \"i64:B\", \"i64:D\"{}]\n*/\n"
      "void f(const float* x, float* y, int64_t B, int64_t D{}, int64_t row) {{\n{}\n}}\n",
      header, header.find("part") == std::string::npos ? "" : ", \"part\"", header.find("part") == std::string::npos ? "" : ", float* part", body);
  auto kernel = kernel::parse_kernel(text, "kernel");
  EXPECT_TRUE(kernel) << kernel.error().to_string();
  return *kernel;
}

class Explain : public ::testing::Test {
 protected:
  Explanation of(const kernel::Kernel& kernel, Verdict& verdict) {
    auto verified = verifier->verify(kernel);
    EXPECT_TRUE(verified) << verified.error().to_string();
    verdict = *verified;
    EXPECT_FALSE(verdict.accepted());
    auto said = verifier->explain(kernel, verdict);
    EXPECT_TRUE(said) << said.error().to_string();
    return *said;
  }
  void SetUp() override {
    auto toolchain = target::cpp_toolchain();
    if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
    VerifierOptions options;
    options.optimisation = "-O1";
    auto made = Verifier::create(task, std::move(*toolchain), options);
    ASSERT_TRUE(made) << made.error().to_string();
    verifier = std::move(*made);
  }
  task::Task task = *task::task_from_expressions("y = exp(x)", {"x=f32[B, D]"}, {"B=4,D=4096"});
  std::unique_ptr<Verifier> verifier;
};

TEST_F(Explain, a_forgotten_tail_is_called_one_with_shape_and_elements) {
  Verdict verdict;
  const Explanation said = of(cpp_kernel("  for (int64_t j = 0; j + 8 <= D; ++j) y[row * D + j] = hone::exp(x[row * D + j]);\n  for (int64_t j = hone::max(D - 7, int64_t(0)); j < D; ++j) y[row * D + j] = 3;"), verdict);
  EXPECT_TRUE(said.reproduced);
  EXPECT_THAT(said.reason, HasSubstr("at B="));
  EXPECT_THAT(said.detail, HasSubstr("elements are wrong"));
  EXPECT_THAT(said.detail, HasSubstr("found 3"));
  EXPECT_THAT(said.detail, HasSubstr("y: "));
}

TEST_F(Explain, a_verdict_has_a_clue_of_what_it_saw) {
  Verdict verdict;
  (void)of(cpp_kernel("  for (int64_t j = 0; j + 2 <= D; ++j) y[row * D + j] = hone::exp(x[row * D + j]);\n  if (D % 2 == 1 && D > 2) y[row * D + D - 1] = -1 - D;\n  else y[row * D + D - 1] = hone::exp(x[row * D + D - 1]);"), verdict);
  ASSERT_TRUE(verdict.clue) << verdict.reason;
  EXPECT_EQ(verdict.clue->output, "y");
  EXPECT_EQ(verdict.clue->workload, "");
  EXPECT_FALSE(verdict.clue->inputs.empty());
  EXPECT_THAT(verdict.clue->looks, ::testing::AnyOf(HasSubstr("a tail"), HasSubstr("only at one index of axis")));
  const Explanation plain = told(verdict);
  EXPECT_THAT(plain.reason, HasSubstr("output y is wrong at a secret shape, on secret inputs (" + verdict.clue->inputs));
  EXPECT_THAT(plain.detail, HasSubstr(verdict.clue->looks));
}

TEST_F(Explain, what_does_not_show_again_keeps_its_clue) {
  const kernel::Kernel right = cpp_kernel("  for (int64_t j = 0; j < D; ++j) y[row * D + j] = hone::exp(x[row * D + j]);");
  const Verdict verdict{VerdictKind::kWrong, "y is off (shape: B=791979197919)", "", {}, Clue{"y", "large", "", "scattered"}};
  const auto said = verifier->explain(right, verdict);
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->reproduced);
  EXPECT_THAT(said->reason, HasSubstr("(large)"));
  EXPECT_THAT(said->detail, HasSubstr("scattered"));
  EXPECT_THAT(said->detail, HasSubstr("did not show again"));
  EXPECT_EQ((said->reason + said->detail).find("7919"), std::string::npos);
}

TEST_F(Explain, an_answer_that_hangs_on_the_order_of_blocks_says_so) {
  // Where the first row comes last, or beside the last one; never as it is timed.
  task = *task::task_from_expressions("y = exp(x)", {"x=f32[B, D]"}, {"B=512,D=16"});
  auto made = Verifier::create(task, *target::cpp_toolchain(), {});
  ASSERT_TRUE(made);
  verifier = std::move(*made);
  const kernel::Kernel kernel = cpp_kernel("  for (int64_t j = 0; j < D; ++j) y[row * D + j] = hone::exp(x[row * D + j]);\n  if (row == 0) for (int64_t j = 0; j < D; ++j) y[(B - 1) * D + j] = 3;",
                                         "requires = [\"B >= 256\"]");
  // A thread that is kept from running between its first row and its write is late in the usual order too.
  Verdict verdict;
  Explanation said;
  const auto says_so = [&] { return verdict.clue && verdict.clue->looks.find(kHangsOnOrder) != std::string::npos && said.detail.find(kHangsOnOrder) != std::string::npos; };
  for (int i = 0; i < 4 && !says_so(); ++i) said = of(kernel, verdict);
  ASSERT_TRUE(verdict.clue) << verdict.reason;
  EXPECT_THAT(verdict.clue->looks, HasSubstr(kHangsOnOrder));
  EXPECT_THAT(said.detail, HasSubstr(kHangsOnOrder));
}

TEST_F(Explain, what_was_computed_instead_is_said_and_no_other_clue) {
  task = *task::task_from_expressions("y = softmax(x, axis=-1)", {"x=f32[B, D]"}, {"B=4,D=4096"});
  auto made = Verifier::create(task, *target::cpp_toolchain(), {});
  ASSERT_TRUE(made);
  verifier = std::move(*made);
  // Sums in double: long rows of one running sum are inaccurate, which is another error.
  const std::string passes = "  float most = x[row * D];\n  double sum = 0;\n  for (int64_t j = 0; j < {0}; ++j) most = hone::max(most, x[row * D + j]);\n"
                             "  for (int64_t j = 0; j < {0}; ++j) sum += hone::exp(x[row * D + j] - most);\n  for (int64_t j = 0; j < D; ++j) y[row * D + j] = hone::exp(x[row * D + j] - most) / static_cast<float>(sum);";
  Verdict verdict;
  // Large inputs overflow where the largest is left out: that is no more than what it comes of. Of rows that are nothing but a tail the whole sum
  // would be missing.
  const Explanation tail = of(cpp_kernel(fmt::format(fmt::runtime(passes), "(D == 1 ? 1 : D / 2 * 2)")), verdict);
  EXPECT_TRUE(tail.reproduced);
  EXPECT_THAT(tail.detail, HasSubstr("a tail is missing in it")) << tail.detail;
  ASSERT_TRUE(tail.clue);
  EXPECT_THAT(tail.clue->looks, HasSubstr("a tail is missing in it"));
  EXPECT_EQ(tail.clue->output, "y");
  kernel::Kernel exchanged = cpp_kernel(fmt::format(fmt::runtime(passes), "D"));
  exchanged.header.launches.front().grid = {*task::IntExpr::parse("D")};
  const size_t at = exchanged.source.find("int64_t B, int64_t D");
  ASSERT_NE(at, std::string::npos);
  exchanged.source.replace(at, 20, "int64_t D, int64_t B");
  // Where B is D - 1 a tail that is missing is as good an explanation.
  std::string swapped;
  for (int i = 0; i < 3 && swapped.find("are exchanged") == std::string::npos; ++i) swapped = of(exchanged, verdict).detail;
  EXPECT_THAT(swapped, HasSubstr("are exchanged"));
}

TEST_F(Explain, takes_no_longer_than_it_is_given_and_says_what_it_left) {
  Loader loader(task, *target::cpp_toolchain(), 1);
  const kernel::Kernel right = cpp_kernel("  for (int64_t j = 0; j < D; ++j) y[row * D + j] = hone::exp(x[row * D + j]);");
  Spent spent;
  const auto said = explain(right, {VerdictKind::kWrong, "", "", {}}, loader, {}, spent, std::chrono::nanoseconds(1));
  ASSERT_TRUE(said);
  EXPECT_FALSE(said->reproduced);
  EXPECT_THAT(said->detail, ::testing::AllOf(HasSubstr("Not looked into"), HasSubstr("further shapes"), HasSubstr("sanitizers on")));
}

TEST_F(Explain, a_crash_names_the_line) {
  Verdict verdict;
  const Explanation said = of(cpp_kernel("  for (int64_t j = 0; j < D; ++j)\n    y[row * D + j] = hone::exp(x[row * D + j + 64]);"), verdict);
  EXPECT_TRUE(said.reproduced);
  EXPECT_THAT(said.reason, HasSubstr("at B="));
  EXPECT_THAT(said.detail, HasSubstr("kernel.cc:11")) << said.detail;
  EXPECT_EQ(said.detail.find("/tmp"), std::string::npos) << "where it was built is nobody's affair";
}

TEST_F(Explain, what_only_a_sanitizer_sees_is_found_by_one) {
  const kernel::Kernel kernel = cpp_kernel("  float local[4];\n  for (int64_t j = 0; j < D; ++j) local[j % 5] = x[row * D + j], y[row * D + j] = hone::exp(local[j % 5]);");
  Verdict verdict{VerdictKind::kOutOfBounds, "a sanitizer says so (hidden shape B=7919)", "", {}};
  const auto said = verifier->explain(kernel, verdict);
  ASSERT_TRUE(said);
  EXPECT_THAT(said->reason + said->detail, HasSubstr("kernel.cc:11")) << said->reason << said->detail;
}

class LongExplain : public Explain {};

void names_no_secret_shape(const task::Task& task, int rounds) {
  // As long as no number of a message is: four digits are found by chance among those of a wrong value.
  Loader loader(task, *target::cpp_toolchain(), 1);
  const kernel::Kernel kernel = cpp_kernel("  for (int64_t j = 0; j < D; ++j) y[row * D + j] = 3;");
  std::set<task::Bindings> secret;
  for (int round = 0; round < rounds; ++round) {
    Spent spent;
    const auto said = explain(kernel, {VerdictKind::kWrong, "y is off (shape: B=791979197919 D=3)", "B=791979197919", {}}, loader, secret, spent);
    ASSERT_TRUE(said);
    ASSERT_TRUE(said->reproduced);
    EXPECT_EQ((said->reason + said->detail).find("791979197919"), std::string::npos);
    for (const task::Bindings& bindings : secret) EXPECT_EQ((said->reason + " ").find(task::bindings_text(bindings) + ","), std::string::npos);
    // Whatever was told once is a secret from now on.
    const size_t b = said->reason.find("B="), d = said->reason.find("D=");
    ASSERT_NE(d, std::string::npos);
    secret.insert({{"B", std::stoll(said->reason.substr(b + 2))}, {"D", std::stoll(said->reason.substr(d + 2))}});
  }
  for (const VerdictKind kind : {VerdictKind::kWrong, VerdictKind::kLessAccurate, VerdictKind::kOutOfBounds, VerdictKind::kLaunchFails, VerdictKind::kDoesNotFinish,
                                 VerdictKind::kNotRepeatable, VerdictKind::kCheating}) {
    const Explanation plain = told({kind, "(hidden shape B=791979197919)", "B=791979197919", Accuracy{"y", "normal", "B=791979197919", 2, 1, 1, 0, 0}});
    EXPECT_EQ((plain.reason + plain.detail).find("791979197919"), std::string::npos) << name_of(kind);
    EXPECT_FALSE(plain.reason.empty());
  }
}

TEST_F(Explain, names_no_shape_that_a_verdict_was_drawn_at) { names_no_secret_shape(task, 6); }
TEST_F(LongExplain, names_no_shape_that_a_verdict_was_drawn_at) { names_no_secret_shape(task, 20); }

}  // namespace
}  // namespace hone::evaluate
