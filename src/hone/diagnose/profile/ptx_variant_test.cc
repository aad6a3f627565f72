// A kernel with one stage left out: what goes, and what has to stay. That variants of the library's own kernels assemble is
// engine/ptx_slow_test's.
#include "hone/diagnose/profile/ptx_variant.h"

#include <gmock/gmock.h>

#include "hone/diagnose/profile/testing/ptx_sample.h"

namespace hone::diagnose {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ptx_entry;

PtxVariant without(Without what, const std::string& statements) {
  auto made = ptx_without(ptx_entry(statements), what);
  EXPECT_TRUE(made) << made.error().to_string();
  return std::move(*made);
}

const std::string kIndexed = "ld.global.u32 %r1, [%rd1];\nld.global.v2.f32 {%f1, %f2}, [%rd1+64];\nmul.wide.s32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
                             "add.f32 %f3, %f1, %f2;\nst.global.f32 [%rd4], %f3;\n";

TEST(PtxVariant, LoadsThatDecideAddressesStay) {
  const PtxVariant v = without(Without::kGlobalLoads, kIndexed);
  EXPECT_EQ(v.changed, 1);
  EXPECT_EQ(v.kept, 1);
  EXPECT_THAT(v.text, HasSubstr("ld.global.u32 %r1, [%rd1];"));
  EXPECT_THAT(v.text, Not(HasSubstr("ld.global.v2")));
  EXPECT_THAT(v.text, HasSubstr("mov.b32 %f1, %hone_v")) << "something else instead";
  EXPECT_THAT(v.text, HasSubstr("mov.b32 %f2, %hone_v"));
  EXPECT_THAT(v.text, HasSubstr("0x3f800000")) << "numbers that arithmetic bears";
  EXPECT_THAT(v.text, HasSubstr("st.global.f32 [%rd4], %f3;"));
}

TEST(PtxVariant, StoresGoAndTheirValuesAreReckoned) {
  const PtxVariant v = without(Without::kGlobalStores, kIndexed);
  EXPECT_EQ(v.changed, 1);
  EXPECT_EQ(v.kept, 0);
  EXPECT_THAT(v.text, HasSubstr("@%hone_never st.global.f32 [%rd4], %f3;")) << "the assembler may not drop what the value took";
  EXPECT_EQ(without(Without::kGlobalMemory, kIndexed).changed, 2);
}

TEST(PtxVariant, GuardsStayGuards) {
  const PtxVariant load = without(Without::kGlobalLoads, "@%p1 ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f1;\n");
  EXPECT_THAT(load.text, HasSubstr("@%p1 mov.b32 %f1, %hone_v;"));
  const PtxVariant store = without(Without::kGlobalStores, "@!%p1 st.global.f32 [%rd2], %f1;\n@%p2 st.global.f32 [%rd2], %f1;\n");
  EXPECT_EQ(store.changed, 2);
  EXPECT_THAT(store.text, HasSubstr("not.pred %hone_p, %p1; and.pred %hone_p, %hone_p, %hone_never; @%hone_p st.global.f32"));
  EXPECT_THAT(store.text, HasSubstr("and.pred %hone_p, %p2, %hone_never; @%hone_p st.global.f32"));
}

TEST(PtxVariant, AtomicsWhoseResultNobodyTakes) {
  const PtxVariant v = without(Without::kAtomicUpdates, "atom.global.add.f32 %f1, [%rd1], %f2;\nred.global.add.u32 [%rd1], 1;\n"
                                                        "atom.global.add.u32 %r1, [%rd1], 1;\nst.global.u32 [%rd2], %r1;\n");
  EXPECT_EQ(v.changed, 2);
  EXPECT_EQ(v.kept, 1) << "somebody takes the third one's";
}

TEST(PtxVariant, WhatOthersWaitForStays) {
  const std::string relay = "st.global.u32 [%rd2], %r3;\nst.global.f32 [%rd2+64], %f1;\nred.global.add.u32 [%rd1], 1;\n"
                            "$again:\nld.acquire.gpu.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $again;\nadd.f32 %f2, %f1, %f1;\n";
  EXPECT_EQ(without(Without::kAtomicUpdates, relay).changed, 0);
  const PtxVariant stores = without(Without::kGlobalStores, relay);
  EXPECT_EQ(stores.changed, 1) << "a number is no flag";
  EXPECT_EQ(stores.kept, 1);
  EXPECT_THAT(without(Without::kGlobalLoads, relay).text, HasSubstr("ld.acquire.gpu"));
}

TEST(PtxVariant, BarriersGoUnlessSharedMemorySteers) {
  EXPECT_THAT(without(Without::kBlockBarriers, "st.shared.f32 [tile], %f1;\nbar.sync 0;\nld.shared.f32 %f2, [tile+4];\nst.global.f32 [%rd2], %f2;\n").text,
              Not(HasSubstr("bar.sync")));
  const PtxVariant steered = without(Without::kBlockBarriers, "st.shared.u32 [tile], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [tile+4];\nsetp.eq.s32 %p1, %r2, 0;\n"
                                                              "@%p1 bra $over;\nst.global.f32 [%rd2], %f1;\n$over:\n");
  EXPECT_EQ(steered.changed, 0);
  EXPECT_EQ(steered.kept, 1);
}

TEST(PtxVariant, ArraysOfThreadsThatLieInMemory) {
  const std::string array = "ld.global.f32 %f1, [%rd1];\nst.local.f32 [%rd3], %f1;\nld.local.f32 %f2, [%rd4+4];\nld.local.f32 %f3, [%r1];\nst.global.f32 [%rd2], %f2;\n";
  const PtxVariant v = without(Without::kLocalMemory, array);
  EXPECT_EQ(v.changed, 3);
  EXPECT_THAT(v.text, HasSubstr("@%hone_never st.local.f32 [%rd3], %f1;"));
  EXPECT_THAT(v.text, Not(HasSubstr("ld.local")));
  EXPECT_THAT(v.text, HasSubstr("ld.global.f32 %f1, [%rd1];"));
  EXPECT_EQ(without(Without::kGlobalMemory, array).changed, 2);
  const PtxVariant steers = without(Without::kLocalMemory, "st.local.u32 [%rd3], %r1;\nld.local.u32 %r2, [%rd4];\nmul.wide.u32 %rd5, %r2, 4;\nst.global.u32 [%rd5], %r1;\n");
  EXPECT_EQ(steers.changed, 0) << "it holds indices";
  EXPECT_EQ(steers.kept, 2);
}

TEST(PtxVariant, LanesSideBySide) {
  const PtxVariant banks = without(Without::kBankConflicts, "st.shared.v4.f32 [%r1+512], {%f1, %f2, %f3, %f4};\n");
  EXPECT_EQ(banks.changed, 1);
  EXPECT_THAT(banks.text, HasSubstr("mul.lo.u32 %hone_l, %hone_lane, 16;"));
  EXPECT_THAT(banks.text, HasSubstr("lop3.b32 %hone_a, %hone_a, -512, %hone_l, 0xEA;")) << "its row, and a place in it";
  EXPECT_THAT(banks.text, HasSubstr("st.shared.v4.f32 [%hone_a+512]")) << "a whole row further on, as it was";
  const PtxVariant spread = without(Without::kSpread, "@%p1 ld.global.f32 %f1, [%rd1+4];\nst.global.f32 [%rd2], %f1;\n");
  EXPECT_EQ(spread.changed, 2);
  EXPECT_THAT(spread.text, HasSubstr("vote.sync.ballot.b32 %hone_f, %p1, %hone_m;")) << "the leader is one that loads";
  EXPECT_THAT(spread.text, HasSubstr("@%p1 ld.global.f32 %f1, [%hone_a];"));
}

TEST(PtxVariant, NothingAtAll) {
  const PtxVariant v = without(Without::kWork, kIndexed);
  EXPECT_EQ(v.changed, 1);
  EXPECT_LT(v.text.find("ret;"), v.text.find("ld.param"));
}

TEST(PtxVariant, WhatHasNothingOfTheKindIsItself) {
  const PtxVariant v = without(Without::kBlockBarriers, kIndexed);
  EXPECT_EQ(v.changed, 0);
  EXPECT_EQ(v.kept, 0);
  EXPECT_EQ(v.text, ptx_entry(kIndexed));
}

TEST(PtxVariant, AVariantOfAVariantIsRefused) {
  const PtxVariant v = without(Without::kGlobalStores, kIndexed);
  EXPECT_EQ(ptx_without(v.text, Without::kGlobalLoads).error().code, ErrorCode::kInput);
}

}  // namespace
}  // namespace hone::diagnose
