// What a session says of kernels that are right, wrong, and worse.
#include "bench.h"

namespace hone::pretend {
namespace {

using How = target::BatchOutcome::How;
using ::testing::HasSubstr;

class CudaSession : public Bench {};

TEST_F(CudaSession, ARightKernelIsTimed) {
  const Ran ran = run("pretend_negate", 20s, 50);
  EXPECT_EQ(ran.refused, "");
  ASSERT_EQ(ran.outcome.how, How::kDone) << ran.outcome.why;
  EXPECT_TRUE(ran.right);
  EXPECT_TRUE(ran.guards);
  EXPECT_EQ(ran.poison, 0);
  EXPECT_GT(ran.outcome.wall_ns, 0);
  EXPECT_LT(ran.outcome.wall_ns, 1'000'000'000);
}

TEST_F(CudaSession, TimeIsTheKernelsOwn) {
  const Ran ran = run("pretend_slow", 20s, 20);
  ASSERT_EQ(ran.outcome.how, How::kDone) << ran.outcome.why;
  EXPECT_TRUE(ran.right);
  EXPECT_GE(ran.outcome.wall_ns, 20 * 2'000'000);
  // Flushing the caches first is nobody's time.
  const auto held = session("pretend_slow");
  std::vector<target::Call> cold(20, call());
  for (target::Call& each : cold) each.cold = true;
  const auto outcome = held->run(cold, 20s);
  ASSERT_EQ(outcome.how, How::kDone) << outcome.why;
  EXPECT_GE(outcome.wall_ns, 20 * 2'000'000);
  EXPECT_EQ(held->run({}, 20s).wall_ns, 0);
  EXPECT_EQ(held->empty_batch_ns(), 0);
}

TEST_F(CudaSession, ManyCallsAreQueuedInParts) {
  const Ran ran = run("pretend_negate", 20s, 4000);
  ASSERT_EQ(ran.outcome.how, How::kDone) << ran.outcome.why;
  EXPECT_TRUE(ran.right);
}

TEST_F(CudaSession, ClustersReachTheDriver) {
  kernel::BoundPlan clustered = plan("pretend_negate");
  ASSERT_EQ(clustered.launches[0].grid, std::vector<int64_t>{8});
  clustered.launches[0].cluster = {4};
  const Ran ran = run(clustered);
  ASSERT_EQ(ran.outcome.how, How::kDone) << ran.outcome.why;
  EXPECT_TRUE(ran.right);
  // What it would refuse shows that it has seen them.
  clustered.launches[0].cluster = {1, 2};
  const Ran refused = run(clustered);
  EXPECT_EQ(refused.outcome.how, How::kDied);
  EXPECT_THAT(refused.outcome.why, HasSubstr("the launch of pretend_negate fails"));
  expect_right("a cluster that does not divide the grid");
  // More than eight blocks have to be asked for, before the launch.
  clustered.launches[0].grid = {16};
  clustered.launches[0].cluster = {16};
  const Ran large = run(clustered);
  ASSERT_EQ(large.outcome.how, How::kDone) << large.outcome.why;
  EXPECT_TRUE(large.right);
}

TEST_F(CudaSession, WrongAnswersShow) {
  const Ran wrong = run("pretend_wrong");
  EXPECT_EQ(wrong.outcome.how, How::kDone);
  EXPECT_FALSE(wrong.right);
  EXPECT_TRUE(wrong.guards);
  const Ran partial = run("pretend_partial");
  EXPECT_EQ(partial.outcome.how, How::kDone);
  EXPECT_EQ(partial.poison, 1);
  EXPECT_TRUE(partial.guards);
}

TEST_F(CudaSession, WritesOutsideShow) {
  const Ran guarded = run("pretend_outside");
  EXPECT_EQ(guarded.outcome.how, How::kDone);
  EXPECT_TRUE(guarded.right);
  EXPECT_FALSE(guarded.guards);
  const Ran edge = run("pretend_outside", 20s, 1, true);
  EXPECT_EQ(edge.outcome.how, How::kDied);
  EXPECT_TRUE(edge.outcome.outside);
  expect_right("a write past the end of memory");
  EXPECT_TRUE(run("pretend_negate", 20s, 1, true).right);
}

TEST_F(CudaSession, AnIllegalAddressEndsTheSessionAndNoOther) {
  const auto bystander = session("pretend_negate");
  for (const char* function : {"pretend_far", "pretend_input"}) {
    const auto held = session(function);
    const std::vector<target::Call> calls(3, call());
    const auto outcome = held->run(calls, 20s);
    EXPECT_EQ(outcome.how, How::kDied) << function;
    EXPECT_TRUE(outcome.outside) << function;
    EXPECT_THAT(outcome.finding, HasSubstr("an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"));
    const auto again = held->run(calls, 20s);
    EXPECT_EQ(again.how, How::kDied);
    EXPECT_EQ(again.why, "the session is over");
    expect_right(function);
  }
  const std::vector<target::Call> calls(3, call());
  EXPECT_EQ(bystander->run(calls, 20s).how, How::kDone);
}

TEST_F(CudaSession, AKernelThatHangsMeetsTheDeadline) {
  const auto begin = std::chrono::steady_clock::now();
  const Ran ran = run("pretend_hang", 500ms);
  EXPECT_EQ(ran.outcome.how, How::kDeadline);
  EXPECT_EQ(ran.outcome.why, "did not finish within 0.5 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  expect_right("a kernel that hangs");
}

TEST_F(CudaSession, AnAssertSaysWhereItWas) {
  const Ran ran = run("pretend_assert", 20s);
  ASSERT_EQ(ran.outcome.how, How::kDied) << ran.outcome.why;
  EXPECT_FALSE(ran.outcome.outside);
  EXPECT_THAT(ran.outcome.why, HasSubstr("(CUDA_ERROR_ASSERT): kernel.cu:3: void pretend_assert(): block: [0,0,0], thread: [0,0,0] Assertion `n < 0` failed."));
  EXPECT_LE(ran.outcome.output.size(), 4096);
  expect_right("an assert");
}

TEST_F(CudaSession, WhatACardDoesNotTakeIsRefusedBeforeAnythingRuns) {
  const auto refused = [&](auto change, const char* why) {
    kernel::BoundPlan asks = plan("pretend_dies");
    change(asks.launches[0]);
    EXPECT_THAT(run(asks).refused, HasSubstr(why));
  };
  refused([](auto& launch) { launch.block = {64, 32}; }, "launch pretend_dies has 2048 threads a block; Pretend card takes 1024");
  refused([](auto& launch) { launch.block = {1, 1, 128}; }, "launch pretend_dies has 128 threads a block along z; the most is 64");
  refused([](auto& launch) { launch.block = {int64_t{1} << 40, int64_t{1} << 40}; }, "the most is 1024");
  refused([](auto& launch) { launch.block = {}; }, "has no block");
  refused([](auto& launch) { launch.shared = 300'000; }, "launch pretend_dies wants 300000 bytes of shared memory a block; Pretend card has 232448");
  refused([](auto& launch) { launch.grid = {1, 70'000}; }, "launch pretend_dies has a grid of 70000 along y; the most is 65535");
  refused([](auto& launch) { launch.args.resize(65, launch.args[2]); }, "a plan may have at most 64 arguments a launch, this one has 65");
  build_.facts["max_threads/pretend_dies"] = 64;
  build_.facts["registers/pretend_dies"] = 255;
  refused([](auto&) {}, "launch pretend_dies has 128 threads a block; its registers (255 a thread) and launch bounds allow 64");
  build_.facts["static_shared_bytes/pretend_negate"] = 200'000;
  kernel::BoundPlan both = plan("pretend_negate");
  both.launches[0].shared = 50'000;
  EXPECT_THAT(run(both).refused, HasSubstr("wants 50000 bytes of shared memory a block beside 200000 in its source; Pretend card has 232448"));
  EXPECT_THAT(children(), testing::IsEmpty());
}

TEST_F(CudaSession, WorkspacesArePoisonedOrZeroed) {
  kernel::BoundPlan uses = plan("pretend_workspace");
  uses.workspaces[0].zero = true;
  EXPECT_TRUE(run(uses, 20s, 3).right) << "zeroed before each call";
  uses.workspaces[0].zero = false;
  EXPECT_FALSE(run(uses).right);
  uses.workspaces[0].shape = {int64_t{1} << 40};
  EXPECT_THAT(run(uses).refused, HasSubstr("a workspace of 4398046511104 bytes: out of memory"));
  const auto before = children();
  expect_right("a workspace that does not fit");
  EXPECT_EQ(children(), before) << "nobody had to be replaced";
}

TEST_F(CudaSession, HotCallsAreOneGraph) {
  const auto hot = [&](std::string_view function, int calls) { return run(plan(function), 20s, calls, false, true); };
  const Ran ran = hot("pretend_negate", 50);
  EXPECT_EQ(ran.outcome.how, How::kDone) << ran.outcome.why;
  EXPECT_TRUE(ran.right && ran.guards);
  EXPECT_GT(ran.outcome.wall_ns, 0);
  // A slow kernel's time is that of all calls, once: the first launch of the graph is not counted.
  const double one = static_cast<double>(run("pretend_slow").outcome.wall_ns), four = static_cast<double>(hot("pretend_slow", 4).outcome.wall_ns);
  EXPECT_GT(four, 3 * one);
  EXPECT_LT(four, 6 * one);
  EXPECT_EQ(hot("pretend_far", 3).outcome.how, How::kDied) << "a fault in a graph is a fault";
  EXPECT_TRUE(hot("pretend_workspace", 3).refused.empty());
  expect_right("graphs");
}

TEST_F(CudaSession, OneFunctionsLaunchesMayWantDifferentSharedMemory) {
  for (const std::pair<int64_t, int64_t>& bytes : {std::pair<int64_t, int64_t>{100'000, 0}, {0, 100'000}}) {
    kernel::BoundPlan two = plan("pretend_negate");
    two.launches.push_back(two.launches[0]);
    two.launches[0].shared = bytes.first;
    two.launches[1].shared = bytes.second;
    const Ran ran = run(two);
    EXPECT_EQ(ran.refused, "");
    EXPECT_TRUE(ran.right) << ran.outcome.why;
  }
}

TEST_F(CudaSession, AnImageThatIsNoneIsRefused) {
  const auto real = build_.artifact;
  const auto folder = base::ScratchDirectory::create("cuda-test").value();
  build_.artifact = folder.path() / "garbage.cubin";
  ASSERT_TRUE(base::write_file_atomic(build_.artifact, "this is no cubin"));
  EXPECT_THAT(run("pretend_negate").refused, HasSubstr("the driver does not load the module: CUDA_ERROR_INVALID_IMAGE"));
  build_.artifact = folder.path() / "missing.cubin";
  EXPECT_THAT(run("pretend_negate").refused, HasSubstr("has gone from the cache"));
  build_.artifact = real;
  build_.symbols["pretend_negate"] = "somebody_else";
  EXPECT_THAT(run("pretend_negate").refused, HasSubstr("the module has no function somebody_else"));
  build_.symbols["pretend_negate"] = "pretend_negate";
  expect_right("images that are none");
}

TEST_F(CudaSession, FaultDrill) {
  constexpr const char* kBad[] = {"pretend_wrong", "pretend_partial", "pretend_outside", "pretend_far", "pretend_input", "pretend_dies",
                                  "pretend_assert", "pretend_hang", "pretend_lost", "pretend_last"};
  for (int i = 0; i < 30; ++i) {
    const char* const bad = kBad[i % 10];
    const Ran ran = run(bad, 300ms);
    EXPECT_TRUE(!ran.refused.empty() || ran.outcome.how != How::kDone || !ran.right || !ran.guards) << bad;
    expect_right(bad);
  }
  EXPECT_LE(children().size(), 4);
}

}  // namespace
}  // namespace hone::pretend
