// The runner around C++ kernels: what is taken from a kernel between calls, what it finds beside its own memory, in
// which orders its blocks run, and what is left of the system once it is loaded.
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include <fmt/format.h>

#include "hone/target/device/cpu_session.h"
#include "hone/target/toolchain/toolchain.h"
#include "hone/target/worker/protocol.h"

namespace hone::target {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCount = 100;

/// y = x + 0 for a kernel f of so many blocks, with a workspace w of f32[N] and 64 bytes of scratch.
class Runners : public testing::Test {
 protected:
  struct Ran {
    BatchOutcome outcome;
    std::vector<float> y;   ///< of all calls, one after another
  };

  std::variant<std::unique_ptr<Session>, LoadFailure> start(const std::string& body, const CpuSessionOptions& options = {}, int blocks = 8) {
    const std::string head = fmt::format(
        "/* hone\nlanguage = \"c++\"\nworkspaces = {{ w = \"f32[N]\" }}\n[[launch]]\nkernel = \"f\"\ngrid = [\"{}\"]\nshared = \"64\"\n"
        "args = [\"x\", \"y\", \"w\", \"shared\", \"i64:N\"]\n*/\n", blocks);
    const auto kernel = kernel::parse_kernel(head + body, "k.cc").value();
    const auto outcome = toolchain_->build(kernel, task_, bindings_, {}).value();
    if (const auto* failure = std::get_if<BuildFailure>(&outcome)) return LoadFailure{"does not build: " + failure->reason, failure->log};
    const auto plan = kernel::bind(kernel, task_, bindings_, {}).value();
    CpuSessionOptions all = options;
    all.names = {"x", "y", "w"};
    const Region* regions[] = {&in_, &out_};
    return start_cpu_session(std::get<Build>(outcome), plan, 2, regions, all).value();
  }
  Ran run(Session& session, std::vector<BlockOrder> orders, std::chrono::seconds deadline = std::chrono::seconds(30)) {
    std::iota(reinterpret_cast<float*>(in_.data()), reinterpret_cast<float*>(in_.data()) + kCount, 1.0f);
    std::memset(out_.data(), 0, static_cast<size_t>(out_.size()));
    std::vector<Call> calls;
    for (const BlockOrder order : orders) {
      Call& call = calls.emplace_back(Call{{{0, 0}, {1, 4096 * static_cast<int64_t>(calls.size())}}});
      call.order = order;
      call.order_seed = 0x123456789abcdef;
    }
    Ran ran{session.run(calls, deadline), {}};
    for (size_t c = 0; c < calls.size(); ++c) {
      const auto* y = reinterpret_cast<const float*>(out_.data() + 4096 * c);
      ran.y.insert(ran.y.end(), y, y + kCount);
    }
    return ran;
  }
  Ran run(const std::string& body, std::vector<BlockOrder> orders, const CpuSessionOptions& options = {}, int blocks = 8) {
    auto started = start(body, options, blocks);
    if (const auto* failure = std::get_if<LoadFailure>(&started)) {
      ADD_FAILURE() << failure->reason << "\n" << failure->output;
      return {};
    }
    return run(*std::get<std::unique_ptr<Session>>(started), std::move(orders), std::chrono::seconds(3));
  }
  std::string refusal(const std::string& body) {
    const auto started = start(body);
    const auto* failure = std::get_if<LoadFailure>(&started);
    return failure ? failure->reason : "loaded";
  }

  std::unique_ptr<Toolchain> toolchain_ = cpp_toolchain().value();
  task::Task task_ = task::task_from_expressions("y = x + 0", {"x=f32[N]"}, {"N=100"}).value();
  task::Bindings bindings_ = {{"N", kCount}};
  Region in_ = Region::create(4096, Region::Access::kInput).value();
  Region out_ = Region::create(1 << 20, Region::Access::kOutput).value();
};

constexpr BlockOrder kPlain[] = {BlockOrder::kForwardsAlone, BlockOrder::kForwardsAlone};
const std::vector<BlockOrder> kTwice(std::begin(kPlain), std::end(kPlain));

TEST_F(Runners, ThreadLocalsAreAsTheyWereLoadedInEachBatch) {
  auto started = start("static thread_local int mine = 5; static thread_local double none[100];\n"
                       "void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { y[b] = (float)(mine++ + none[b]); none[b] = 10000; }\n");
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Session>>(started)) << std::get<LoadFailure>(started).reason;
  for (int round = 0; round < 3; ++round) {
    const Ran ran = run(*std::get<std::unique_ptr<Session>>(started), {BlockOrder::kForwardsAlone});
    ASSERT_EQ(ran.outcome.how, BatchOutcome::How::kDone) << ran.outcome.why;
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(ran.y[i], static_cast<float>(5 + i)) << round;
  }
}

/// What comes of three batches, the second with a call more.
TEST_F(Runners, WhatIsKeptOfParticularCallsIsRefused) {
  const auto after = [&](const std::string& body) {
    auto started = start(body);
    Ran ran;
    for (const size_t calls : {1, 2, 1, 1}) {
      ran = run(*std::get<std::unique_ptr<Session>>(started), std::vector<BlockOrder>(calls, BlockOrder::kForwardsAlone));
      if (ran.outcome.how != BatchOutcome::How::kDone) return ran.outcome.why;
    }
    return ran.outcome.why;
  };
  const std::string head = "void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) ";
  EXPECT_THAT(after("static int64_t calls = 0;\n" + head + "{ y[b] = x[b]; if (b == 0) ++calls; if (calls > 1000000) y[b] = 0; }\n"), HasSubstr("a variable of its own"));
  EXPECT_THAT(after("static float kept[8];\n" + head + "{ kept[b] = x[b] + (float)((int64_t)y >> 12 & 1023); volatile int64_t at = b; y[b] = kept[at]; }\n"), HasSubstr("a variable of its own"));
  // What is made once is the same after any calls; a thread's own is its own.
  EXPECT_EQ(after("static float table[64]; static bool made = false;\n" + head + "{ if (!made) { for (int i = 0; i < 64; ++i) table[i] = (float)i; made = true; } y[b] = table[b % 64]; }\n"), "");
  EXPECT_EQ(after("static thread_local float mine[8];\n" + head + "{ mine[b] = x[b] + (float)((int64_t)y >> 12 & 1023); volatile int64_t at = b; y[b] = mine[at]; }\n"), "");
}

TEST_F(Runners, EachThreadHasThreadLocalsOfItsOwn) {
  // Room for them is made before the jail closes; whoever runs a block finds what was initialised.
  const Ran ran = run("static thread_local float table[4096] = {3};\n"
                      "void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { y[b] = table[0] + table[b + 1]; }\n",
                      {BlockOrder::kNeighbours, BlockOrder::kShuffled}, {}, 64);
  ASSERT_EQ(ran.outcome.how, BatchOutcome::How::kDone) << ran.outcome.why;
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(ran.y[i], 3);
}

TEST_F(Runners, ThreadLocalsMayBeAllThereIs) {
  const Ran ran = run("static thread_local double table[2048];\n"
                      "void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { table[b] = x[b]; volatile int64_t at = b; y[b] = (float)table[at]; }\n",
                      {BlockOrder::kNeighbours}, {}, 64);
  ASSERT_EQ(ran.outcome.how, BatchOutcome::How::kDone) << ran.outcome.why;
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(ran.y[i], static_cast<float>(i + 1));
}

TEST_F(Runners, WorkspacesHoldNothingOfTheBatchBefore) {
  auto started = start("void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { y[b] = w[b]; w[b] = 1; }\n");
  Session& session = *std::get<std::unique_ptr<Session>>(started);
  for (int round = 0; round < 2; ++round) {
    const Ran ran = run(session, {BlockOrder::kUsual});
    ASSERT_EQ(ran.outcome.how, BatchOutcome::How::kDone) << ran.outcome.why;
    EXPECT_TRUE(std::isnan(ran.y[0])) << ran.y[0];
  }
}

TEST_F(Runners, EveryOrderRunsEachBlockOnce) {
  const std::string counts = "void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { y[b] += 1; }\n";
  for (const int blocks : {1, 2, 7, 64, 97, 100})
    for (const BlockOrder order : kBlockOrders) {
      const Ran ran = run(counts, {order}, {}, blocks);
      ASSERT_EQ(ran.outcome.how, BatchOutcome::How::kDone) << ran.outcome.why;
      for (int i = 0; i < kCount; ++i) EXPECT_EQ(ran.y[static_cast<size_t>(i)], i < blocks ? 1 : 0) << blocks << ", block " << i;
    }
}

TEST_F(Runners, ABlockThatWaitsForAnotherDoesNotFinish) {
  const auto waits = [](int writes, int reads) {
    return fmt::format("void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) {{\n"
                       "  if (b == {}) __atomic_store_n((int*)w, 1, __ATOMIC_RELEASE);\n"
                       "  if (b == {}) while (__atomic_load_n((int*)w, __ATOMIC_ACQUIRE) != 1) {{}}\n}}\n", writes, reads);
  };
  const auto run_for_a_second = [&](const std::string& body, BlockOrder order) {
    const auto started = start(body);
    return run(*std::get<std::unique_ptr<Session>>(started), {order}, std::chrono::seconds(1));
  };
  const Ran later = run_for_a_second(waits(7, 0), BlockOrder::kForwardsAlone);
  EXPECT_EQ(later.outcome.how, BatchOutcome::How::kDeadline);
  EXPECT_THAT(later.outcome.why, HasSubstr("no block may wait for another"));
  const Ran earlier = run_for_a_second(waits(0, 7), BlockOrder::kBackwardsAlone);
  EXPECT_EQ(earlier.outcome.how, BatchOutcome::How::kDeadline);
}

TEST_F(Runners, WritesBesideAWorkspaceOrScratchAreFound) {
  // A float behind 400 bytes, in the slack of a page; the same with the workspace at its page's end; before; far behind.
  const auto pokes = [](const char* what) {
    return fmt::format("void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) {{ if (b == 3) {{ {} }} }}\n", what);
  };
  for (const bool edges : {false, true})
    for (const char* what : {"((volatile float*)w)[N] = 1;", "((volatile float*)w)[N + 11] = 1;", "((volatile float*)w)[-1] = 1;",
                             "((volatile char*)s)[64] = 1;", "((volatile char*)s)[-1] = 1;", "((volatile float*)w)[N + 2000] = 1;"}) {
      CpuSessionOptions options;
      options.edges = edges;
      const Ran ran = run(pokes(what), {BlockOrder::kUsual, BlockOrder::kUsual}, options);
      EXPECT_EQ(ran.outcome.how, BatchOutcome::How::kDied) << what;
      EXPECT_TRUE(ran.outcome.outside || ran.outcome.why.find("SIGSEGV") != std::string::npos) << what << ": " << ran.outcome.why;
    }
  CpuSessionOptions options;
  options.edges = true;
  const Ran ran = run(pokes("((volatile float*)w)[N] = 1;"), {BlockOrder::kUsual, BlockOrder::kUsual}, options);
  EXPECT_EQ(ran.outcome.why, "wrote outside workspace w");
  EXPECT_EQ(run(pokes("for (int i = 0; i < N; ++i) w[i] = 1; for (int i = 0; i < 64; ++i) ((char*)s)[i] = 1;"), kTwice, options).outcome.how,
            BatchOutcome::How::kDone);
}

TEST_F(Runners, TheProcessorIsHandedBackAsItWas) {
  const auto leaves = [](const char* what) {
    return fmt::format("#include <immintrin.h>\nvoid f(const float* x, float* y, float* w, void*, int64_t N, int64_t b) {{ {}; }}\n", what);
  };
  CpuSessionOptions options;
  options.edges = true;
#if defined(__x86_64__)
  for (const char* what : {"_mm_setcsr(_mm_getcsr() | 0x6000)", "_mm_setcsr(_mm_getcsr() | 0x8040)"}) {
    const Ran ran = run(leaves(what), kTwice, options);
    EXPECT_EQ(ran.outcome.how, BatchOutcome::How::kDied) << what;
    EXPECT_THAT(ran.outcome.why, HasSubstr("left the processor")) << what;
    // Timed batches are looked at when the next begins.
    auto started = start(leaves(what));
    Session& session = *std::get<std::unique_ptr<Session>>(started);
    EXPECT_EQ(run(session, kTwice).outcome.how, BatchOutcome::How::kDone) << what;
    EXPECT_EQ(run(session, kTwice).outcome.how, BatchOutcome::How::kDied) << what;
  }
  for (const char* what : {"y[b] = (float)((long double)x[b] * 3.0L)", "_mm_setcsr(_mm_getcsr() | 0x3F)"})
    EXPECT_EQ(run(leaves(what), kTwice, options).outcome.how, BatchOutcome::How::kDone) << what;
#endif
}

TEST_F(Runners, WhatIsKeptIsLeftToWhoIsAskedToRemember) {
  auto started = start("static int calls;\nvoid f(const float*, float* y, float*, void*, int64_t N, int64_t b) { if (b == 0) y[0] = (float)++calls; }\n");
  Session& session = *std::get<std::unique_ptr<Session>>(started);
  const auto counted = [&](bool remembers) {
    Call call{{{0, 0}, {1, 0}}};
    call.remembers = remembers;
    EXPECT_EQ(session.run({&call, 1}, std::chrono::seconds(3)).how, BatchOutcome::How::kDone);
    return *reinterpret_cast<const float*>(out_.data());
  };
  EXPECT_EQ(counted(false), 1);
  EXPECT_EQ(counted(true), 2);
  EXPECT_EQ(counted(true), 3);
  EXPECT_EQ(counted(false), 1);
}

// Who runs in the runner may write into the block that it shares with us. What we know we do not read there.
TEST_F(Runners, WhatIsWrittenIntoTheControlBlockIsNotBelieved) {
  for (const bool after : {false, true}) {
    auto started = start("void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { y[b] = x[b]; }\n");
    Session& session = *std::get<std::unique_ptr<Session>>(started);
    if (after) {
      EXPECT_EQ(run(session, kTwice).outcome.how, BatchOutcome::How::kDone);
    }
    // Our own mapping of it stands for the runner's.
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line) && line.find("memfd:hone-control") == std::string::npos) {
    }
    ASSERT_FALSE(line.empty());
    auto& control = *reinterpret_cast<worker::Control*>(std::stoull(line, nullptr, 16));
    control.tensors = control.workspaces = control.launches = control.calls = UINT32_MAX;
    control.call = UINT32_MAX - 1, control.outside = UINT32_MAX - 1;
    control.emulated = 1, control.library = 1;
    std::memset(&control.report, 0x7f, sizeof control.report);
    Call hot{{{0, 0, 400}, {1, 0, 400}}};
    hot.hot = true;
    EXPECT_EQ(session.run(std::span(&hot, 1), std::chrono::seconds(3)).how, BatchOutcome::How::kDied);
  }
}

TEST_F(Runners, AnEmptyBatchIsTimedBeforeTheKernelIsThere) {
  auto started = start("void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { y[b] = x[b]; }\n");
  Session& session = *std::get<std::unique_ptr<Session>>(started);
  const int64_t empty = session.empty_batch_ns();
  EXPECT_GT(empty, 0);
  EXPECT_LT(empty, 1'000'000'000);
  (void)run(session, {BlockOrder::kUsual});
  EXPECT_EQ(session.empty_batch_ns(), empty);
}

TEST_F(Runners, HelpersOfTheCompilerAndMathematicsAreLinked) {
  const Ran ran = run("#include <complex>\n"
                      "void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) {\n"
                      "  volatile int64_t one = 1;\n"
                      "  const __int128 wide = (__int128)(b + 2) << 70; const unsigned __int128 u = (unsigned __int128)wide + one;\n"
                      "  const int64_t quotient = (int64_t)(wide / ((__int128)one << 70)), rest = (int64_t)(u % (unsigned __int128)(b + 2 + one - 1));\n"
                      "  std::complex<double> c(b, 1), d(1, b); c *= d; c /= d;\n"
                      "  double whole; const double part = __builtin_modf(2.25 * one, &whole);\n"
                      "  y[b] = (float)(quotient + rest + c.real() + part + whole + __builtin_fdim(3.0 * one, 1) + __builtin_nextafter(0.0 * one, 1)\n"
                      "    + __builtin_popcountll(b) + (double)(float)wide * 0 + __builtin_remquo(5.0 * one, 3, (int*)s));\n"
                      "}\n", {BlockOrder::kUsual});
  ASSERT_EQ(ran.outcome.how, BatchOutcome::How::kDone) << ran.outcome.why;
  for (int b = 0; b < 8; ++b)
    EXPECT_NEAR(ran.y[static_cast<size_t>(b)], (b + 2) + 1 + b + 2.25 + 2 + __builtin_popcount(static_cast<unsigned>(b)) - 1, 1e-3) << b;
}

TEST_F(Runners, NothingRunsWhileAKernelIsLoaded) {
  const std::string body = "void f(const float* x, float* y, float* w, void* s, int64_t N, int64_t b) { y[b] = x[b]; }\n";
  EXPECT_EQ(refusal(body), "loaded");
  EXPECT_THAT(refusal("static void real() {} extern \"C\" void (*pick())() { return real; }\n"
                      "extern \"C\" __attribute__((ifunc(\"pick\"), visibility(\"hidden\"))) void some();\n"
                      "static void (*volatile use)() = some;\n" + body), HasSubstr("indirect function"));
  EXPECT_THAT(refusal("__attribute__((target_clones(\"avx2\", \"default\"))) float g(float x) { return x + 1; }\n" + body), HasSubstr("indirect function"));
  EXPECT_THAT(refusal("static thread_local volatile int ran; __attribute__((constructor)) static void early() { ran = 1; }\n" + body), HasSubstr("load time"));
  EXPECT_THAT(refusal("static thread_local volatile int ran; __attribute__((destructor)) static void late() { ran = 1; }\n" + body), HasSubstr("load time"));
  EXPECT_THAT(refusal("static float x0 = __builtin_cosf(*(volatile float*)&x0);\n" + body), HasSubstr("load time"));
  EXPECT_THAT(refusal("__attribute__((section(\".init\"), used)) static void early() {}\n" + body), HasSubstr("load time"));
  EXPECT_THAT(refusal("__attribute__((section(\".preinit_array\"), used)) static void (*early)() = nullptr;\n" + body), HasSubstr("does not build"));
  EXPECT_THAT(refusal("__attribute__((section(\"mine\"), used)) static int early() { return 1; }\n" + body), HasSubstr("section of its own"));
  EXPECT_THAT(refusal("__attribute__((section(\"mine\"), used)) static int kept = 1;\n" + body), HasSubstr("section of its own"));
  EXPECT_THAT(refusal("__attribute__((section(\".data.mine\"), used)) static volatile char kept[3 << 20] = {1};\n" + body), HasSubstr("KiB of writable globals"));
  EXPECT_THAT(refusal("static thread_local char kept[2 << 20]; char* g() { return kept; }\n" + body), HasSubstr("KiB of writable globals"));
  EXPECT_THAT(refusal("static char a[700 << 10], b[700 << 10]; char* g(int i) { return i ? a : b; }\n" + body), HasSubstr("KiB of writable globals"));
}

TEST_F(Runners, WhatDoesNotFitIsSaidBeforeItIsTaken) {
  const auto kernel = kernel::parse_kernel("/* hone\nlanguage = \"c++\"\nworkspaces = { w = \"f64[1099511627776]\" }\n[[launch]]\nkernel = \"f\"\ngrid = [\"1\"]\n"
                                           "args = [\"x\", \"y\", \"w\"]\n*/\nvoid f(const float* x, float* y, double* w, int64_t) {}\n", "k.cc").value();
  const auto outcome = toolchain_->build(kernel, task_, bindings_, {}).value();
  const auto plan = kernel::bind(kernel, task_, bindings_, {}).value();
  const Region* regions[] = {&in_, &out_};
  const auto started = start_cpu_session(std::get<Build>(outcome), plan, 2, regions, {}).value();
  ASSERT_TRUE(std::holds_alternative<LoadFailure>(started));
  EXPECT_THAT(std::get<LoadFailure>(started).reason, HasSubstr("need 8388608 MiB, and"));
}

}  // namespace
}  // namespace hone::target
