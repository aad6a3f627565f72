// Instructions that count, and what is read out of their words. That a counting kernel counts right is seen on cards.
#include "hone/diagnose/profile/ptx_counting.h"

#include <gmock/gmock.h>

#include <cmath>

#include "hone/diagnose/profile/testing/ptx_sample.h"

namespace hone::diagnose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ptx_entry;

std::string counting(const std::string& statements) {
  auto made = ptx_counting(ptx_entry(statements));
  EXPECT_TRUE(made) << made.error().to_string();
  return std::move(*made);
}
size_t times(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(PtxCounting, InstructionsBySegmentsWithoutABranch) {
  const std::string text = counting("setp.eq.s32 %p1, %r1, 0;\n@%p1 bra $over;\nadd.f32 %f1, %f1, %f1;\nadd.f32 %f1, %f1, %f1;\n$over:\n");
  EXPECT_THAT(text, HasSubstr("hone_counts[3584]"));
  EXPECT_THAT(text, HasSubstr("add.u64 %hone_n0, %hone_n0, 4;")) << "two parameters, a comparison and the branch";
  EXPECT_THAT(text, HasSubstr("add.u64 %hone_n0, %hone_n0, 2;")) << "what some threads skip";
  EXPECT_THAT(text, HasSubstr("add.u64 %hone_n0, %hone_n0, 1;")) << "the return";
  EXPECT_THAT(text, HasSubstr("@%hone_q add.u64 %hone_n1, %hone_n1, 128;")) << "of all lanes, by the first one";
  EXPECT_EQ(times(text, "red.global.max.u64"), 2) << "its first clock and its last";
  EXPECT_THAT(text, Not(HasSubstr("%hone_n5"))) << "it stores nothing";
}

TEST(PtxCounting, AccessesAndBarriers) {
  const std::string text = counting("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\nst.shared.f32 [%r1], %f1;\nbar.sync 0;\n@!%p1 st.global.f32 [%rd2+8], %f1;\n");
  EXPECT_THAT(text, HasSubstr("add.u64 %hone_n2, %hone_n2, 16;"));
  EXPECT_THAT(text, HasSubstr("add.u64 %hone_n5, %hone_n5, 4;"));
  EXPECT_EQ(times(text, "match.any.sync.b64"), 2) << "sectors of a load and of a store";
  EXPECT_EQ(times(text, "redux.sync.max.u32"), 1) << "the fullest bank";
  EXPECT_THAT(text, HasSubstr("@%hone_q add.u64 %hone_n11, %hone_n11, 1;"));
  EXPECT_THAT(text, HasSubstr("@%p1 bra $hone_past_")) << "who does not store counts nothing";
  EXPECT_THAT(text, HasSubstr("@!%p1 st.global.f32 [%rd2+8], %f1;"));
}

TEST(PtxCounting, EveryReturnAddsUp) {
  const std::string text = counting("setp.eq.s32 %p1, %r1, 0;\n@%p1 ret;\nadd.f32 %f1, %f1, %f1;\n");
  EXPECT_EQ(times(text, "red.global.add.u64 [%hone_r+0], %hone_n0;"), 2);
}

TEST(PtxCounting, SumsAndShares) {
  constexpr size_t kRecord = kPtxCountSums + 2 * kPtxCountClocks;
  std::vector<uint64_t> words(kPtxCountProcessors * kRecord, 0);
  words[kCountThreadInstructions] = 24, words[kCountWarpInstructions] = 64;
  words[kRecord + kCountThreadInstructions] = 24, words[kRecord + kCountWarpInstructions] = 32;
  words[kCountLoadBytes] = 128, words[kCountLoadRequests] = 1, words[kCountLoadSectors] = 32;
  words[kCountSharedPasses] = 8, words[kCountSharedLeast] = 2;
  words[kPtxCountSums] = ~uint64_t{1000}, words[kPtxCountSums + 1] = 1600;
  words[kRecord + kPtxCountSums] = ~uint64_t{5000}, words[kRecord + kPtxCountSums + 1] = 5200;
  words[kPtxCountSums + 2] = ~uint64_t{2000}, words[kPtxCountSums + 3] = 2200;
  const PtxCounts counts = ptx_counts(words);
  EXPECT_DOUBLE_EQ(counts.lane_share(), 0.5);
  EXPECT_DOUBLE_EQ(counts.sectors_a_load(), 32);
  EXPECT_DOUBLE_EQ(counts.load_use_share(), 0.125);
  EXPECT_DOUBLE_EQ(counts.conflict_share(), 0.75);
  EXPECT_TRUE(std::isnan(counts.sectors_a_store()));
  EXPECT_THAT(counts.busy_cycles, ElementsAre(ElementsAre(600, 200), ElementsAre(200))) << "other multiprocessors had no block";
  EXPECT_DOUBLE_EQ(counts.active_share(2), 1000.0 / (2 * (600 + 200)));
  words[kPtxCountSums + 2] = words[kPtxCountSums + 3] = 0;
  EXPECT_TRUE(std::isnan(ptx_counts(words).active_share(2))) << "one of them was not launched";
}

TEST(PtxCounting, RefusesWhatItMade) {
  EXPECT_EQ(ptx_counting(counting("")).error().code, ErrorCode::kInput);
  EXPECT_EQ(ptx_counting("not PTX").error().code, ErrorCode::kInput);
}

}  // namespace
}  // namespace hone::diagnose
