// What may decide an address, a branch or the length of a loop.
#include "hone/diagnose/profile/ptx_flow.h"

#include <gmock/gmock.h>

#include "hone/diagnose/profile/testing/ptx_sample.h"

namespace hone::diagnose {
namespace {

using testing::ptx_entry;

class Flow {
 public:
  explicit Flow(const std::string& statements) : text_(read_ptx(ptx_entry(statements)).value()), flow_(text_) {}
  [[nodiscard]] bool steers(const char* name) const { return flow_.steers(0, name); }
  [[nodiscard]] const PtxFlow& flow() const { return flow_; }

 private:
  PtxText text_;
  PtxFlow flow_;
};

TEST(PtxFlow, AddressesAndWhatTheyAreMadeOf) {
  const Flow flow("ld.global.u32 %r1, [%rd1];\nld.global.f32 %f1, [%rd1+4];\nmul.wide.s32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
                  "add.f32 %f2, %f1, %f1;\nst.global.f32 [%rd4], %f2;\n");
  for (const char* name : {"%rd1", "%rd2", "%rd3", "%rd4", "%r1"}) EXPECT_TRUE(flow.steers(name)) << name;
  for (const char* name : {"%f1", "%f2"}) EXPECT_FALSE(flow.steers(name)) << name;
  EXPECT_TRUE(flow.flow().is_read(0, "%f2"));
  EXPECT_FALSE(flow.flow().is_read(0, "%f3"));
  EXPECT_EQ(flow.flow().float_type(0, "%f1"), "f32");
  EXPECT_EQ(flow.flow().float_type(0, "%r1"), "");
}

TEST(PtxFlow, AFloatingPointComparisonGoesEitherWay) {
  const Flow flow("ld.global.f32 %f1, [%rd1];\nsetp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bra $over;\nst.global.f32 [%rd2], %f1;\n$over:\n");
  EXPECT_TRUE(flow.steers("%p1"));
  EXPECT_FALSE(flow.steers("%f1"));
}

TEST(PtxFlow, ButNotWhereALoopEndsByIt) {
  const Flow flow("$again:\nld.global.f32 %f1, [%rd1];\nsetp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bra $again;\n");
  EXPECT_TRUE(flow.steers("%f1"));
  const Flow out("$again:\nld.global.f32 %f1, [%rd1];\nsetp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bra $out;\nbra.uni $again;\n$out:\n");
  EXPECT_TRUE(out.steers("%f1"));
}

TEST(PtxFlow, IntegersThatBranchesGoBy) {
  const Flow flow("ld.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $over;\nst.global.u32 [%rd2], %r1;\n$over:\n");
  EXPECT_TRUE(flow.steers("%r1"));
}

TEST(PtxFlow, ThroughSharedMemory) {
  const Flow index("ld.global.u32 %r1, [%rd1];\nst.shared.u32 [tile], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [tile+4];\n"
                   "mul.wide.s32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], %r2;\n");
  EXPECT_TRUE(index.flow().shared_steers(0));
  EXPECT_TRUE(index.steers("%r1"));
  const Flow value("ld.global.f32 %f1, [%rd1];\nst.shared.f32 [tile], %f1;\nbar.sync 0;\nld.shared.f32 %f2, [tile+4];\nst.global.f32 [%rd2], %f2;\n");
  EXPECT_FALSE(value.flow().shared_steers(0));
  EXPECT_FALSE(value.steers("%f1"));
}

TEST(PtxFlow, WaitingForOtherBlocks) {
  const Flow waits("$again:\nld.acquire.gpu.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $again;\n");
  EXPECT_TRUE(waits.flow().waits(0));
  const Flow once("ld.acquire.gpu.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra $over;\nst.global.u32 [%rd2], %r1;\n$over:\n");
  EXPECT_FALSE(once.flow().waits(0));
}

TEST(PtxFlow, ThroughParametersOfFunctions) {
  const std::string text = testing::kPtxHead +
      ".func (.param .b32 back) at(.param .b32 at_param_0)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [at_param_0];\nst.param.b32 [back], %r1;\nret;\n}\n"
      ".entry k(.param .u64 k_param_0)\n{\n.reg .b32 %r<5>;\n.reg .b64 %rd<5>;\nld.param.u64 %rd1, [k_param_0];\nld.global.u32 %r1, [%rd1];\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), at, (a); ld.param.b32 %r2, [b]; }\n"
      "mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";
  const PtxText read = read_ptx(text).value();
  const PtxFlow flow(read);
  ASSERT_EQ(read.functions.size(), 2);
  EXPECT_TRUE(flow.steers(1, "%r1"));
  EXPECT_TRUE(flow.steers(0, "%r1"));
}

}  // namespace
}  // namespace hone::diagnose
