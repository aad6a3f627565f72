// Rows that several blocks hold, rows in rounds of two passes, and columns shared out, on both emulators: small parts,
// so that several blocks have to do with each other.
#include <gtest/gtest.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/gpu_rounds.h"
#include "hone/pattern/gpu_rows_testing.h"

namespace hone::pattern {
namespace {

using gpu_rows_testing::Emulated;
using gpu_rows_testing::Given;
using gpu_rows_testing::name_of;

bool has_several_rounds(const Program& program) { return rounds_of(program, true).size() > 1; }

class GpuResidentRows : public testing::TestWithParam<Given> {};

TEST_P(GpuResidentRows, AreAccepted) {
  const Emulated emulated(GetParam(), {"B=3,D=301", "B=2,D=256"});
  if (!emulated.unavailable().empty()) GTEST_SKIP() << emulated.unavailable();
  for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
    auto groups = gpu::resident_rows(emulated.program(), language), rows = gpu::rows(emulated.program(), language), split = gpu::split(emulated.program(), language);
    ASSERT_TRUE(rows) << rows.error().to_string();
    ASSERT_TRUE(split) << split.error().to_string();
    ASSERT_TRUE(groups || !has_several_rounds(emulated.program())) << groups.error().to_string();
    if (groups) groups->config = {{"THREADS", 64}, {"VEC", language == kernel::Language::kCuda ? 1 : 2}, {"WORDS", 1}, {"RESIDENT", 2}};
    rows->config = {{"THREADS", 64}, {"ROWS", 1}, {"VEC", 2}, {"WORDS", 1}, {"UNROLL", 1}};   // long_rows
    split->config = {{"THREADS", 64}, {"VEC", 1}, {"UNROLL", 2}, {"BLOCKS", 1}, {"BACK", 1}, {"LAST", 8}};
    std::vector<kernel::Kernel> all{*rows, *split};
    if (groups) all.push_back(*groups);
    // In `make check` each language takes one of them, HIP, the same text on wider waves, another one.
    const size_t hip = language == kernel::Language::kHip ? 1 : 0;
    for (size_t i = 0; i < all.size(); ++i)
      if (base::testing::takes_item((i + hip) % all.size(), all.size())) emulated.expect_accepted(all[i]);
  }
}

/// A channel's values lie in pieces, none of whole words, and all in the registers of one block: nothing moves as words.
void expect_rows_of_pieces() {
  const Emulated emulated({"", "y = batch_norm(x, w, b)", {"x=f32[N,C,H,W]", "w=f32[C]", "b=f32[C]"}}, {"N=3,C=5,H=7,W=9"});
  if (!emulated.unavailable().empty()) GTEST_SKIP() << emulated.unavailable();
  for (const int64_t vec : {1, 8}) {
    auto rows = gpu::rows(emulated.program(), kernel::Language::kCuda);
    ASSERT_TRUE(rows) << rows.error().to_string();
    rows->config = {{"THREADS", 64}, {"ROWS", 1}, {"VEC", vec}, {"WORDS", 32 / vec}, {"UNROLL", 2}};
    emulated.expect_accepted(*rows);
  }
}
TEST(GpuRows, HoldRowsOfPieces) { expect_rows_of_pieces(); }
TEST(LongGpuRows, HoldRowsOfPieces) { expect_rows_of_pieces(); }

class GpuSplitColumns : public testing::TestWithParam<Given> {};

TEST_P(GpuSplitColumns, AreAccepted) {
  const Emulated emulated(GetParam(), {"A=2,B=37,D=20", "A=1,B=16,D=21"});
  if (!emulated.unavailable().empty()) GTEST_SKIP() << emulated.unavailable();
  for (const kernel::Language language : {kernel::Language::kCuda, kernel::Language::kHip}) {
    auto split = gpu::split_columns(emulated.program(), language), whole = gpu::columns(emulated.program(), language);
    ASSERT_TRUE(split) << split.error().to_string();
    ASSERT_TRUE(whole) << whole.error().to_string();
    split->config = {{"ACROSS", 8}, {"DOWN", 8}, {"VEC", 2}, {"UNROLL", 2}, {"BLOCKS", 2}};
    whole->config = {{"ACROSS", 8}, {"DOWN", 8}, {"VEC", 2}, {"HELD", 1}, {"UNROLL", 2}};   // long_columns
    // In `make check` each language takes one of them.
    const size_t hip = language == kernel::Language::kHip ? 1 : 0;
    if (base::testing::takes_item(hip, 2)) emulated.expect_accepted(*split);
    if (base::testing::takes_item(1 - hip, 2)) emulated.expect_accepted(*whole);
  }
}

const std::vector<Given> kColumns = {Given{"mean", "y = mean(x, axis=1)", {"x=f32[A,B,D]"}}, Given{"argmin", "y = argmin(x, axis=1)", {"x=f32[A,B,D]"}},
                                     Given{"any_and_largest", "a = any(x > 1.6, axis=1)\nm = max(x, axis=1)\n", {"x=bf16[A,B,D]"}}};
INSTANTIATE_TEST_SUITE_P(Columns, GpuSplitColumns, testing::ValuesIn(base::testing::one_of_each(2, kColumns)), name_of);
INSTANTIATE_TEST_SUITE_P(LongAllOfColumns, GpuSplitColumns, testing::ValuesIn(kColumns), name_of);

const std::vector<Given> kRows = {Given{"softmax", "y = softmax(x, axis=-1)", {"x=f32[B,D]"}},
                                  Given{"layer_norm", "y = layer_norm(x, w, b)", {"x=f32[B,D]", "w=f32[D]", "b=f32[D]"}},
                                  Given{"variance_and_largest", "v = var(x, axis=-1)\nm = max(x, axis=-1)\n", {"x=f32[B,D]"}},
                                  Given{"whole_norm", "y = (x - mean(x)) / sqrt(var(x) + 1e-5)", {"x=f32[B,D]"}}};
INSTANTIATE_TEST_SUITE_P(Rows, GpuResidentRows, testing::ValuesIn(base::testing::one_of_each(2, kRows)), name_of);
INSTANTIATE_TEST_SUITE_P(LongAllOfRows, GpuResidentRows, testing::ValuesIn(kRows), name_of);
INSTANTIATE_TEST_SUITE_P(LongRows, GpuResidentRows,
                         testing::Values(Given{"logsumexp", "y = logsumexp(x, axis=-1)", {"x=f32[B,D]"}},
                                         Given{"l1_norm", "y = x / mean(abs(x), axis=1, keepdims=true)", {"x=f32[B,D]"}},
                                         Given{"softmax_f64", "y = softmax(x * 2.0, axis=-1)", {"x=f64[B,D]"}}), name_of);

}  // namespace
}  // namespace hone::pattern
