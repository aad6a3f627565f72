// Machine code, plans and times read into metrics.
#include "hone/diagnose/profile/code.h"

#include <gmock/gmock.h>

#include <optional>

#include <nlohmann/json.hpp>

#include "hone/diagnose/profile/assembly.h"
#include "hone/diagnose/profile/chains.h"
#include "hone/diagnose/profile/port_model.h"
#include "hone/diagnose/profile/profile.h"
#include "hone/diagnose/profile/remarks.h"

namespace hone::diagnose {
namespace {

// A sum over 64 floats a round, as g++ writes it, with an outer loop and a scalar remainder.
constexpr std::string_view kListing = R"(
k.so:     file format elf64-x86-64

Disassembly of section .plt:

0000000000001020 <expf@plt>:
    1020:	jmp    *0x2fe2(%rip)        # 4008 <expf>

Disassembly of section .text:

0000000000001100 <hone_entry_0>:
    1100:	vxorps %xmm0,%xmm0,%xmm0
    1104:	lea    (%rdi,%rsi,4),%rcx
    1108:	nopw   0x0(%rax,%rax,1)
    1110:	vaddps (%rdi),%zmm0,%zmm0
    1118:	vfmadd231ps 0x40(%rdi),%zmm1,%zmm2
    1120:	vmovntps %zmm2,(%rdx){%k1}
    1128:	vmovups %zmm3,0x40(%rsp)
    1130:	add    $0x80,%rdi
    1134:	cmp    %rcx,%rdi
    1138:	jne    1110 <hone_entry_0+0x10>
    1140:	vaddss (%rdi),%xmm0,%xmm0
    1144:	add    $0x4,%rdi
    1148:	cmp    %r8,%rdi
    114c:	jne    1140 <hone_entry_0+0x40>
    1150:	dec    %r9
    1154:	jne    1100 <hone_entry_0>
    1158:	ret
)";

TEST(Assembly, FindsInnermostLoopsAndTheirMix) {
  const auto functions = read_assembly(kListing);
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].name, "hone_entry_0");
  EXPECT_EQ(functions[0].code.size(), 17U);
  const auto loops = innermost_loops(functions);
  ASSERT_EQ(loops.size(), 2U);  // the outer one holds both
  const Mix& mix = loops[0].mix;
  EXPECT_EQ(mix.all, 7);
  EXPECT_EQ(mix.vector, 4);
  EXPECT_EQ(mix.vector_bytes, 4 * 64);
  EXPECT_EQ(mix.fma, 1);
  EXPECT_EQ(mix.load, 2);
  EXPECT_EQ(mix.store, 2);
  EXPECT_EQ(mix.stream_store, 1);
  EXPECT_EQ(mix.spill, 1);
  EXPECT_EQ(mix.scalar_float, 0);
  EXPECT_EQ(loops[1].mix.scalar_float, 1);
  EXPECT_EQ(loops[1].mix.vector, 0);
}

TEST(Assembly, ABodyIsForAnAssembler) {
  const std::string body = body_text(innermost_loops(read_assembly(kListing))[0]);
  EXPECT_THAT(body, ::testing::HasSubstr("vaddps (%rdi),%zmm0,%zmm0\n"));
  EXPECT_THAT(body, ::testing::Not(::testing::HasSubstr("jne")));
  EXPECT_THAT(body, ::testing::Not(::testing::HasSubstr("<")));
}

TEST(Assembly, ABlockOutOfLineIsNoLoop) {
  const auto loops = innermost_loops(
      read_assembly("0000000000000000 <f>:\n"
                    "   0:\tjbe    20 <f+0x20>\n"
                    "   4:\tvaddps %ymm0,%ymm1,%ymm1\n"
                    "   8:\tjne    4 <f+0x4>\n"
                    "   c:\tvaddps %zmm0,%zmm1,%zmm1\n"
                    "  10:\tret\n"
                    "  20:\txor    %eax,%eax\n"
                    "  24:\tjmp    c <f+0xc>\n"));
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].mix.vector_bytes, 32);
}

/// A loop that is jumped into at its test, as compilers rotate them, is one.
TEST(Assembly, ALoopEnteredPastItsHeadIsFound) {
  const auto loops = innermost_loops(
      read_assembly("0000000000000000 <f>:\n"
                    "   0:\tjmp    c <f+0xc>\n"
                    "   4:\tvaddps %zmm0,%zmm1,%zmm1\n"
                    "   8:\tadd    $0x40,%rdi\n"
                    "   c:\tcmp    %rcx,%rdi\n"
                    "  10:\tjne    4 <f+0x4>\n"
                    "  14:\tret\n"));
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].mix.vector_bytes, 64);
  EXPECT_EQ(loops[0].code.size(), 4U);
}

/// And so is one with a rare case out of line, which comes back into the middle; the rare case is no part of its mix.
TEST(Assembly, ALoopWithABlockOutOfLineIsFound) {
  const auto loops = innermost_loops(
      read_assembly("0000000000000000 <f>:\n"
                    "   0:\tvaddps %zmm0,%zmm1,%zmm1\n"
                    "   4:\tjp     20 <f+0x20>\n"
                    "   8:\tvmulps %zmm0,%zmm1,%zmm1\n"
                    "   c:\tcmp    %rcx,%rdi\n"
                    "  10:\tjne    0 <f>\n"
                    "  14:\tret\n"
                    "  20:\tcall   90 <sqrtf@plt>\n"
                    "  24:\tjmp    8 <f+0x8>\n"));
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].mix.vector, 2);
  EXPECT_EQ(loops[0].mix.call, 0);
  EXPECT_EQ(loops[0].code.size(), 5U);
}

/// Softmax as one writes it: a vector loop for the maximum, expf for each element, a vector loop that scales.
constexpr std::string_view kCalling = "0000000000000000 <f>:\n"
                                      "   0:\tvmaxps (%rdi),%zmm0,%zmm0\n"
                                      "   4:\tadd    $0x40,%rdi\n"
                                      "   8:\tjne    0 <f>\n"
                                      "   c:\tvmovss (%rdi),%xmm0\n"
                                      "  10:\tcall   90 <expf@plt>\n"
                                      "  14:\tvmovss %xmm0,(%rsi)\n"
                                      "  18:\tjne    c <f+0xc>\n"
                                      "  1c:\tvmulps (%rsi),%zmm1,%zmm2\n"
                                      "  20:\tvmovups %zmm2,(%rsi)\n"
                                      "  24:\tjne    1c <f+0x1c>\n"
                                      "  28:\tret\n";

TEST(Assembly, MathematicsCalledAnElementAtATimeIsTheHotLoop) {
  const auto loops = innermost_loops(read_assembly(kCalling));
  ASSERT_EQ(loops.size(), 3U);
  EXPECT_EQ(loops[0].mix.library_call, 1);
  EXPECT_THAT(library_calls(loops[0].code), ::testing::ElementsAre("expf"));
  Metrics metrics;
  std::string body;
  add_mix(kCalling, 64, metrics, body);
  EXPECT_DOUBLE_EQ(*metrics.get("library_call_share"), 30 / (30 + 4 / 3.0));
  EXPECT_THAT(metrics.find("library_call_share")->about, ::testing::HasSubstr("expf called an element at a time"));
  EXPECT_EQ(body, "") << "no model of ports sees what the library does";
}

/// The same call in a remainder, beside a loop that has a polynomial of its own, or in a call that is no mathematics, is none.
TEST(Assembly, ARemainderThatCallsIsNotTheHotLoop) {
  const auto loops = innermost_loops(
      read_assembly("0000000000000000 <f>:\n"
                    "   0:\tvfmadd213ps %zmm3,%zmm2,%zmm1\n"
                    "   4:\tvfmadd213ps %zmm4,%zmm2,%zmm1\n"
                    "   8:\tvfmadd213ps %zmm5,%zmm2,%zmm1\n"
                    "   c:\tvmulps %zmm2,%zmm1,%zmm1\n"
                    "  10:\tjne    0 <f>\n"
                    "  14:\tcall   90 <expf@plt>\n"
                    "  18:\tvmovss %xmm0,(%rsi)\n"
                    "  1c:\tjne    14 <f+0x14>\n"
                    "  20:\tcall   a0 <memcpy@plt>\n"
                    "  24:\tjne    20 <f+0x20>\n"));
  ASSERT_EQ(loops.size(), 3U);
  EXPECT_EQ(loops[0].mix.multiply, 4);
  EXPECT_EQ(loops[2].mix.library_call, 0) << "memcpy";
}

TEST(Assembly, RegistersThatAnIterationHandsToTheNextAreCounted) {
  const auto carried = [](const std::string& body) {
    return carried_registers(read_assembly("0000000000000000 <f>:\n" + body)[0].code);
  };
  // Two sums; what is loaded and what is constant is none.
  EXPECT_EQ(carried(" 0:\tvmovups (%rdi),%zmm4\n 4:\tvfmadd231ps %zmm4,%zmm5,%zmm0\n 8:\tvaddps 0x40(%rdi),%zmm1,%zmm1\n"), 2);
  // Unrolled four times into one.
  EXPECT_EQ(carried(" 0:\tvaddps (%rdi),%zmm0,%zmm0\n 4:\tvaddps 0x40(%rdi),%zmm0,%zmm0\n 8:\tvaddps 0x80(%rdi),%zmm0,%zmm0\n c:\tvaddps 0xc0(%rdi),%zmm0,%zmm0\n"), 1);
  // By way of another register, masked, and of the old two-operand kind.
  EXPECT_EQ(carried(" 0:\tvmulps %zmm0,%zmm2,%zmm3\n 4:\tvaddps %zmm3,%zmm4,%zmm0\n"), 1);
  EXPECT_EQ(carried(" 0:\tvaddps (%rdi),%zmm3,%zmm0{%k1}\n"), 1);
  EXPECT_EQ(carried(" 0:\tvaddps (%rdi),%zmm3,%zmm0{%k1}{z}\n"), 0);
  EXPECT_EQ(carried(" 0:\taddps (%rdi),%xmm0\n"), 1);
  // Begun anew in each iteration.
  EXPECT_EQ(carried(" 0:\tvxorps %xmm0,%xmm0,%xmm0\n 4:\tvfmadd231ps %zmm4,%zmm5,%zmm0\n"), 0);
  EXPECT_EQ(carried(" 0:\tadd $0x40,%rdi\n 4:\tvmovups %zmm0,(%rdi)\n"), 0);
}

TEST(Assembly, RbpIsTheStackOnlyWhereAFrameBeginsAtIt) {
  const std::string loop = "  10: vbroadcastss 0x4(%rbp,%rax,1),%zmm1\n  18: vfmadd231ps %zmm1,%zmm2,%zmm3\n  20: add $0x4,%rax\n  28: jne 10 <f+0x10>\n";
  const auto spills = [&](const std::string& before) { return innermost_loops(read_assembly("0000 <f>:\n" + before + loop)).at(0).mix.spill; };
  EXPECT_EQ(spills("  0: mov %rdi,%rbp\n"), 0);
  EXPECT_EQ(spills("  0: push %rbp\n  1: mov %rsp,%rbp\n"), 1);
}

TEST(Assembly, NonsenseIsNoCode) {
  EXPECT_TRUE(read_assembly("").empty());
  EXPECT_TRUE(read_assembly("zzzz <x>:\n 12: add\nno: colon").empty());
  EXPECT_TRUE(innermost_loops(read_assembly("0000 <f>:\n  0: jmp 99999 <g>\n  2: jmp *%rax\n")).empty());
}

TEST(Mix, SharesAreOfTheHeaviestLoop) {
  Metrics metrics;
  std::string body;
  add_mix(kListing, 64, metrics, body);
  EXPECT_FALSE(body.empty());
  EXPECT_DOUBLE_EQ(*metrics.get("vector_share"), 1);
  EXPECT_DOUBLE_EQ(*metrics.get("vector_width"), 1);
  EXPECT_DOUBLE_EQ(*metrics.get("spill_share"), 1.0 / 7);
  EXPECT_DOUBLE_EQ(*metrics.get("stream_store_share"), 0.5);
  for (const Metric& m : metrics.all()) EXPECT_EQ(m.origin, Origin::kModelled) << m.name;
}

TEST(Mix, CodeWithoutLoopsIsSaidToHaveNone) {
  Metrics metrics;
  std::string body;
  add_mix("0000000000001100 <f>:\n    1100:\tret\n", 64, metrics, body);
  EXPECT_TRUE(body.empty());
  ASSERT_NE(metrics.find("vector_share"), nullptr);
  EXPECT_EQ(metrics.find("vector_share")->origin, Origin::kAbsent);
  EXPECT_FALSE(metrics.get("vector_share"));
  EXPECT_THAT(metrics.find("vector_share")->about, ::testing::HasSubstr("no loop"));
}

TEST(PortModel, ReadsWhatLlvmMcaPrints) {
  const auto model = read_port_model(
      "Iterations:        100\nInstructions:      400\nTotal Cycles:      521\nTotal uOps:        500\n\nDispatch Width:    6\n"
      "uOps Per Cycle:    0.96\nIPC:               0.77\nBlock RThroughput: 0.8\n\n\nCycles with backend pressure increase [ 61.80% ]\n"
      "Throughput Bottlenecks: \n  Resource Pressure       [ 10.00% ]\n  Data Dependencies:      [ 61.80% ]\n");
  ASSERT_TRUE(model);
  EXPECT_DOUBLE_EQ(model->cycles, 5.21);
  EXPECT_DOUBLE_EQ(model->throughput, 0.8);
  EXPECT_DOUBLE_EQ(model->instructions, 0.77);
  EXPECT_DOUBLE_EQ(model->pressure_share, 0.1);
  EXPECT_DOUBLE_EQ(model->dependency_share, 0.618);
  EXPECT_FALSE(read_port_model("error: found 1 unsupported instruction"));
  EXPECT_FALSE(read_port_model("Iterations: 0\nTotal Cycles: 3\nBlock RThroughput: 1"));
}

TEST(Remarks, EachLineOfTheKernelCountsOnce) {
  EXPECT_EQ(count_missed_loops("kernel.cc:12:30: missed: couldn't vectorize loop\nkernel.cc:12:30: missed: couldn't vectorize loop\n"
                               "kernel.cc:14:3: missed: couldn't vectorize loop\n/x/hone/cpu/loops.h:3:1: missed: couldn't vectorize loop\n"
                               "kernel.cc:15:3: missed: not vectorized: control flow in loop.\n"),
            2);
  EXPECT_EQ(count_missed_loops("kernel.cc:7:3: remark: loop not vectorized [-Rpass-missed=loop-vectorize]\n"), 1);
  EXPECT_EQ(count_missed_loops(""), 0);
}

TEST(Remarks, ALoopThatCarriesItsResultIsMissed) {
  const auto toolchain = target::cpp_toolchain();
  if (!toolchain) GTEST_SKIP() << toolchain.error().message;
  const auto task = task::parse_task(
      "name = \"t\"\ninputs = { x = \"f32[N]\" }\noutputs = { y = \"f32[N]\" }\ncompute = \"y = cumsum(x, axis=0)\"\nworkloads = [ { N = "
      "64 } ]\n",
      "t");
  ASSERT_TRUE(task) << task.error().to_string();
  const auto kernel = kernel::parse_kernel(
      "/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"f\"\ngrid = [\"1\"]\nargs = [\"x\", \"y\", \"i64:N\"]\n*/\n"
      "void f(const float* x, float* y, int64_t n, int64_t) { float s = 0; for (int64_t i = 0; i < n; ++i) y[i] = s = s * 0.5f + x[i]; }\n",
      "k.cc");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  const auto built = (*toolchain)->build(*kernel, *task, {{"N", 64}}, {});
  ASSERT_TRUE(built);
  const auto missed = missed_loops(*kernel, {{"N", 64}}, std::get<target::Build>(*built));
  ASSERT_TRUE(missed) << missed.error().to_string();
  EXPECT_EQ(*missed, 1);
}

/// A launch of `blocks` that names these tensors.
kernel::BoundLaunch launch_of(std::vector<int64_t> blocks, const std::vector<int>& tensors) {
  kernel::BoundLaunch launch{0, "f", std::move(blocks), {}, {}, 0, {}};
  for (const int tensor : tensors) launch.args.push_back({kernel::Argument::Kind::kTensor, tensor, 0});
  return launch;
}

TEST(Plan, LaunchesCountByTheBytesThatTheyName) {
  kernel::BoundPlan plan;
  plan.launches = {launch_of({8}, {0}), launch_of({3, 3}, {0, 1})};
  plan.workspaces.push_back({task::DType::kF32, {25}, false});
  Metrics metrics;
  add_plan(plan, std::vector<int64_t>{1000000000, 2000000000}, 100, 4, metrics);
  EXPECT_DOUBLE_EQ(*metrics.get("launches"), 2);
  EXPECT_DOUBLE_EQ(*metrics.get("blocks"), 17);
  EXPECT_DOUBLE_EQ(*metrics.get("blocks_per_thread"), 9.0 / 4);
  // Nine blocks on four threads take three rounds for three fourths of the bytes, eight take two for the rest.
  EXPECT_NEAR(*metrics.get("balance"), 4 / (1 + 3 * 12.0 / 9), 1e-6);
  EXPECT_DOUBLE_EQ(*metrics.get("workspace_ratio"), 2);  // a hundred bytes, written and read
}

TEST(Plan, ALastBlockThatAddsUpIsNoImbalance) {
  kernel::BoundPlan plan;
  plan.launches = {launch_of({2}, {0, 2}), launch_of({1}, {2, 1})};  // x to a workspace, that to y
  plan.workspaces.push_back({task::DType::kF32, {2}, false});
  Metrics metrics;
  add_plan(plan, std::vector<int64_t>{1 << 20, 4}, 0, 2, metrics);
  EXPECT_GT(*metrics.get("balance"), 0.999);
  EXPECT_DOUBLE_EQ(*metrics.get("blocks_per_thread"), 1);
  Metrics alone;
  plan.launches.erase(plan.launches.begin());
  add_plan(plan, std::vector<int64_t>{1 << 20, 4}, 0, 2, alone);
  EXPECT_DOUBLE_EQ(*alone.get("balance"), 0.5);
}

TEST(Times, SharesOfTheTimeAndWhatIsAbsent) {
  evaluate::Conditions times;
  times.threads = 2;
  times.cold_ns = 200, times.hot_ns = 100, times.memory_ns = 50, times.one_thread_ns = 300;
  times.memory_plain_ns = 75, times.memory_stream_ns = 50;
  times.cost.bytes_read = 300, times.cost.bytes_written = 100;
  target::CpuPeaks peaks;
  peaks.copy = 4;
  Metrics metrics;
  add_times(times, &peaks, metrics);
  EXPECT_DOUBLE_EQ(*metrics.get("light"), 0.25);
  EXPECT_DOUBLE_EQ(*metrics.get("hot_share"), 0.5);
  EXPECT_DOUBLE_EQ(*metrics.get("thread_efficiency"), 0.75);
  EXPECT_DOUBLE_EQ(*metrics.get("bandwidth_share"), 0.5);
  EXPECT_DOUBLE_EQ(*metrics.get("write_share"), 0.25);
  EXPECT_DOUBLE_EQ(*metrics.get("stream_store_gain"), 1.5);
  EXPECT_EQ(metrics.find("light")->origin, Origin::kMeasured);
  EXPECT_FALSE(metrics.get("least_time_ns"));
  times.cold_least_ns = 100, times.rounds = 6;
  Metrics least;
  add_times(times, &peaks, least);
  EXPECT_DOUBLE_EQ(*least.get("time_ns"), 200);
  EXPECT_EQ(least.find("time_ns")->about, "a call, caches cold, median of 6");
  EXPECT_DOUBLE_EQ(*least.get("least_time_ns"), 100);
  EXPECT_DOUBLE_EQ(*least.get("least_time_light"), 0.5);
  EXPECT_DOUBLE_EQ(*least.get("least_time_bytes_per_ns"), 4);
  EXPECT_EQ(metrics.find("compute_light")->origin, Origin::kAbsent);
  // In the caches it cannot take longer: what is above 1 is noise.
  times.hot_ns = 272;
  Metrics noisy;
  add_times(times, nullptr, noisy);
  EXPECT_DOUBLE_EQ(*noisy.get("hot_share"), 1);
  times.one_thread_ns = 0;
  Metrics quick;
  add_times(times, nullptr, quick);
  EXPECT_FALSE(quick.get("thread_efficiency"));
  EXPECT_FALSE(quick.get("bandwidth_share"));
}

/// A kernel of this body, built by this machine's compiler; nothing without one.
std::optional<target::Build> built_here(const std::string& body) {
  const auto toolchain = target::cpp_toolchain();
  if (!toolchain) return std::nullopt;
  const auto task = task::parse_task(
      "name = \"t\"\ninputs = { x = \"f32[N]\" }\noutputs = { y = \"f32[N]\" }\ncompute = \"y = x + x\"\nworkloads = [ { N = 64 } ]\n", "t");
  const auto kernel = kernel::parse_kernel(
      "/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"f\"\ngrid = [\"1\"]\nargs = [\"x\", \"y\", \"i64:N\"]\n*/\n"
      "#include <cmath>\nvoid f(const float* __restrict x, float* __restrict y, int64_t n, int64_t) { " + body + " }\n", "k.cc");
  EXPECT_TRUE(kernel) << kernel.error().to_string();
  const auto built = (*toolchain)->build(*kernel, *task, {{"N", 64}}, {});
  EXPECT_TRUE(built && std::holds_alternative<target::Build>(*built));
  return std::get<target::Build>(*built);
}

TEST(Code, MathematicsOfTheLibraryIsFoundInABuild) {
  const auto build = built_here("float m = x[0]; for (int64_t i = 0; i < n; ++i) m = x[i] > m ? x[i] : m; for (int64_t i = 0; i < n; ++i) y[i] = std::tanh(x[i] - m); "
                                "for (int64_t i = 0; i < n; ++i) y[i] *= m;");
  if (!build) GTEST_SKIP() << "no compiler";
  Metrics metrics;
  add_code(*build, 16, metrics);
  ASSERT_TRUE(metrics.get("library_call_share")) << metrics.find("library_call_share")->about;
  EXPECT_GT(*metrics.get("library_call_share"), 0.5);
  EXPECT_THAT(metrics.find("library_call_share")->about, ::testing::HasSubstr("tanhf called an element at a time"));
  const auto hot = hot_loop(*build);
  ASSERT_TRUE(hot) << hot.error().to_string();
  EXPECT_THAT(loop_text(hot->loop, 200), ::testing::HasSubstr("tanhf"));
}

TEST(Code, TheAccumulatorsOfABuildAreCounted) {
  const auto one = built_here("float s = 0; for (int64_t i = 0; i < n; ++i) s += x[i] * x[i]; y[0] = s;");
  if (!one) GTEST_SKIP() << "no compiler";
  Metrics metrics;
  add_code(*one, 16, metrics);
  EXPECT_EQ(metrics.get_or("accumulators", -1), 1);
}

TEST(Code, TheMachinesOwnToolsReadABuild) {
  const auto build = built_here("for (int64_t i = 0; i < n; ++i) y[i] = x[i] + x[i];");
  if (!build) GTEST_SKIP() << "no compiler";
  Metrics metrics;
  add_code(*build, 16, metrics);
  ASSERT_TRUE(metrics.get("vector_share")) << metrics.find("vector_share")->about;
  EXPECT_GT(*metrics.get("vector_share"), 0.9);
  // Where there is no llvm-mca, that is said.
  const Metric* const cycles = metrics.find("loop_cycles");
  ASSERT_NE(cycles, nullptr);
  if (cycles->origin == Origin::kAbsent)
    EXPECT_THAT(cycles->about, ::testing::HasSubstr("llvm-mca"));
  else
    EXPECT_GE(*metrics.get("loop_cycles"), *metrics.get("port_cycles") * 0.99);
}

TEST(Code, LoopsAreReadByRank) {
  const auto first = loop_in(kListing, 0);
  ASSERT_TRUE(first);
  ASSERT_GE(first->loops.size(), 2U);
  EXPECT_EQ(first->loop.code.front().mnemonic, "vaddps");
  const auto second = loop_in(kListing, 1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->loop.code.front().mnemonic, "vaddss") << "the scalar remainder";
  EXPECT_LT(second->loop.weight, first->loop.weight);
  EXPECT_EQ(second->loops.size(), first->loops.size());
  const auto none = loop_in(kListing, first->loops.size());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, ::testing::HasSubstr(std::to_string(first->loops.size()) + ", counted from 0"));
}

TEST(Times, AShareOfLightAboveOneSaysWhy) {
  evaluate::Conditions times;
  times.cold_ns = 100, times.cold_least_ns = 90, times.memory_ns = 95;
  Metrics metrics;
  add_times(times, nullptr, metrics);
  EXPECT_EQ(to_json(metrics)["light"]["about"].get<std::string>().find("above 1"), std::string::npos);
  EXPECT_THAT(to_json(metrics)["least_time_light"]["about"].get<std::string>(), ::testing::HasSubstr("above 1"));
}

}  // namespace
}  // namespace hone::diagnose
