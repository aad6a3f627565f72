// The eager opponent end to end, on a few tasks whose answers are computed here. Skips where there is
// no torch.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <thread>

#include "hone/evaluate/baseline/pytorch_opponents.h"
#include "hone/evaluate/baseline/pytorch_testing.h"

namespace hone::evaluate {
namespace {

using target::BatchOutcome;
using target::Call;
using target::Region;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kDeadline{120};

task::Task make_task(const std::string& compute, const std::vector<std::string>& inputs,
                     const std::string& workload) {
  auto task = task::task_from_expressions(compute, inputs, {workload});
  EXPECT_TRUE(task.has_value()) << task.error().to_string();
  return std::move(*task);
}

Region make_region(Region::Access access) {
  auto region = Region::create(1 << 20, access);
  EXPECT_TRUE(region.has_value()) << region.error().to_string();
  return std::move(*region);
}

float* floats(const Region& region, int64_t offset = 0) {
  return reinterpret_cast<float*>(region.data() + offset);
}

/// A session with one input region and one output region.
struct Fixture {
  explicit Fixture(task::Task t, PytorchOptions options = {}) : task(std::move(t)) {
    // PyTorch is imported once for all that run eagerly; what compiles has a process with an environment of its own.
    auto host = options.mode == PytorchMode::kEager ? PytorchHost::shared(options.threads) : PytorchHost::start(options.threads);
    auto started = start_pytorch(std::move(host), task, task.workloads[0].bindings, {&in, &out}, options);
    if (started)
      session = std::move(*started);
    else
      error = started.error().to_string();
  }
  task::Task task;
  Region in = make_region(Region::Access::kInput), out = make_region(Region::Access::kOutput);
  std::unique_ptr<PytorchSession> session;
  std::string error;
};

TEST(PytorchSession, EveryCallOfABatchUsesItsOwnPlaces) {
  SKIP_WITHOUT_TORCH();
  Fixture f(make_task("y = 2 * x.T + w", {"x=f32[A, B]", "w=f32[A]"}, "A=2,B=3"));
  ASSERT_TRUE(f.session) << f.error;
  std::vector<Call> calls;
  for (int64_t i = 0; i < 5; ++i) {
    for (int k = 0; k < 6; ++k) floats(f.in, 4096 * i)[k] = static_cast<float>(10 * i + k);
    for (int k = 0; k < 2; ++k) floats(f.in, 4096 * i + 2048)[k] = static_cast<float>(k);
    calls.push_back({{{0, 4096 * i}, {0, 4096 * i + 2048}, {1, 64 * i}}});
  }
  for (int round = 0; round < 2; ++round) {
    std::memset(f.out.data(), 0xff, 4096);
    const BatchOutcome outcome = f.session->run(calls, kDeadline);
    ASSERT_EQ(outcome.how, BatchOutcome::How::kDone) << outcome.why;
    EXPECT_GT(outcome.wall_ns, 0);
    for (int64_t i = 0; i < 5; ++i)
      for (int b = 0; b < 3; ++b)
        for (int a = 0; a < 2; ++a)
          EXPECT_EQ(floats(f.out, 64 * i)[b * 2 + a],
                    2.0f * static_cast<float>(10 * i + a * 3 + b) + static_cast<float>(a));
    EXPECT_TRUE(std::isnan(floats(f.out, 64 * 5)[0]));  // nothing beyond the last call's place
  }
  EXPECT_THAT(f.session->description(), HasSubstr("eager"));
  EXPECT_GT(f.session->empty_batch_ns(), 0);
  const int64_t dispatch = f.session->dispatch_ns();
  EXPECT_GT(dispatch, 100) << "no call of PyTorch's is that cheap";
  EXPECT_LT(dispatch, 10'000'000);
  EXPECT_EQ(f.session->dispatch_ns(), dispatch) << "measured once";
  // The batch that was prepared before it is forgotten, and the next one is as good as ever.
  std::memset(f.out.data(), 0xff, 4096);
  ASSERT_EQ(f.session->run(calls, kDeadline).how, BatchOutcome::How::kDone);
  EXPECT_EQ(floats(f.out)[0], 0);
}

TEST(PytorchSession, SeveralOutputsAndTypes) {
  SKIP_WITHOUT_TORCH();
  Fixture f(make_task("m = max(x, axis=-1)\np = x > 0\ns = sum(i)", {"x=f32[A, B]", "i=i32[B]"}, "A=2,B=4"));
  ASSERT_TRUE(f.session) << f.error;
  const float x[] = {-1, 5, 2, 0, 3, -7, 1, 2};
  const int32_t i[] = {1, 2, 3, -10};
  std::memcpy(f.in.data(), x, sizeof x);
  std::memcpy(f.in.data() + 64, i, sizeof i);
  const Call call{{{0, 0}, {0, 64}, {1, 0}, {1, 64}, {1, 128}}};
  ASSERT_EQ(f.session->run({&call, 1}, kDeadline).how, BatchOutcome::How::kDone);
  EXPECT_EQ(floats(f.out)[0], 5);
  EXPECT_EQ(floats(f.out)[1], 3);
  for (int k = 0; k < 8; ++k) EXPECT_EQ(f.out.data()[64 + k], std::byte{x[k] > 0});
  int64_t sum = 0;
  std::memcpy(&sum, f.out.data() + 128, sizeof sum);
  EXPECT_EQ(sum, -4);
}

TEST(PytorchSession, ACallThatFailsEndsTheSessionWithAReason) {
  SKIP_WITHOUT_TORCH();
  Fixture f(make_task("y = x + 1", {"x=f32[A]"}, "A=4"));
  ASSERT_TRUE(f.session) << f.error;
  const Call beyond{{{0, f.in.size()}, {1, 0}}};
  const BatchOutcome outcome = f.session->run({&beyond, 1}, kDeadline);
  EXPECT_EQ(outcome.how, BatchOutcome::How::kDied);
  EXPECT_THAT(outcome.why, HasSubstr("PyTorch failed"));
  EXPECT_EQ(f.session->run({}, kDeadline).how, BatchOutcome::How::kDied);
  EXPECT_EQ(f.session->empty_batch_ns(), 0);
}

TEST(PytorchSession, ADeadlineEndsTheSession) {
  SKIP_WITHOUT_TORCH();
  Fixture f(make_task("y = x + 1", {"x=f32[A]"}, "A=4"));
  ASSERT_TRUE(f.session) << f.error;
  const Call call{{{0, 0}, {1, 0}}};
  const std::vector<Call> many(50'000, call);
  EXPECT_EQ(f.session->run(many, std::chrono::milliseconds(5)).how, BatchOutcome::How::kDeadline);
  EXPECT_EQ(f.session->run({&call, 1}, kDeadline).how, BatchOutcome::How::kDied);
}

/// Compiled code in a folder of its own: nothing is found from earlier runs.
struct FreshCache {
  FreshCache() {
    if (const char* const named = std::getenv("XDG_CACHE_HOME")) before = named;
    setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  }
  ~FreshCache() { before ? setenv("XDG_CACHE_HOME", before->c_str(), 1) : unsetenv("XDG_CACHE_HOME"); }
  std::optional<std::string> before;
  base::ScratchDirectory folder = std::move(base::ScratchDirectory::create("torch-test").value());
};

PytorchOptions compiled() {
  PytorchOptions options;
  options.mode = PytorchMode::kCompiled;
  return options;
}

TEST(PytorchSession, CompiledAgreesWithEager) {
  SKIP_WITHOUT_TORCH();
  const FreshCache cache;
  const task::Task task = make_task("y = softmax(x * 2 + 1)", {"x=f32[A, B]"}, "A=16,B=64");
  Fixture eager(task), fused(task, compiled());
  ASSERT_TRUE(eager.session) << eager.error;
  ASSERT_TRUE(fused.session) << fused.error;
  EXPECT_THAT(fused.session->description(), HasSubstr("compiled"));
  std::vector<Call> calls{{{{0, 0}, {1, 0}}}, {{{0, 4096}, {1, 4096}}}};
  for (const Fixture* f : {&eager, &fused}) {
    for (int i = 0; i < 2048; ++i) floats(f->in)[i] = std::sin(static_cast<float>(i));
    ASSERT_EQ(f->session->run(calls, kDeadline).how, BatchOutcome::How::kDone);
  }
  for (int i = 0; i < 2048; ++i) EXPECT_NEAR(floats(fused.out)[i], floats(eager.out)[i], 1e-6) << i;
}

TEST(PytorchSession, ACompilationThatFailsIsUnavailableAndSaysWhy) {
  SKIP_WITHOUT_TORCH();
  const FreshCache cache;
  setenv("CXX", "/bin/false", 1);
  const Fixture f(make_task("y = exp(x) * 2 + 1", {"x=f32[A]"}, "A=1000"), compiled());
  unsetenv("CXX");
  EXPECT_FALSE(f.session);
  EXPECT_THAT(f.error, HasSubstr("PyTorch (compiled) cannot run"));
  EXPECT_THAT(f.error, HasSubstr("/bin/false"));
}

void expect_processes_of_their_own(PytorchMode mode) {
  SKIP_WITHOUT_TORCH();
  const Region in = make_region(Region::Access::kInput), out = make_region(Region::Access::kOutput);
  const auto host = PytorchHost::start(2);
  ASSERT_TRUE(host) << host.error().to_string();
  for (int i = 0; i < 64 * 64; ++i) floats(in)[i] = static_cast<float>(i % 7);
  // Products run on OpenMP threads, which no fork carries over.
  const task::Task task = make_task("y = relu(x @ x)", {"x=f32[A, A]"}, "A=64");
  PytorchOptions options;
  options.mode = mode;
  options.threads = 2;
  const auto server = PytorchServer::start(*host, task, task.workloads[0].bindings, {&in, &out}, options);
  ASSERT_TRUE(server) << server.error().to_string();
  std::vector<std::unique_ptr<PytorchSession>> sessions;
  for (int i = 0; i < 3; ++i) {
    auto session = PytorchServer::fork(*server);
    ASSERT_TRUE(session) << session.error().to_string();
    sessions.push_back(std::move(*session));
  }
  sessions.erase(sessions.begin());  // one that ends takes nobody along
  float expected = 0;
  for (int k = 0; k < 64; ++k) expected += floats(in)[k] * floats(in)[64 * k];
  for (const auto& session : sessions) {
    std::memset(out.data(), 0xff, 64 * 64 * sizeof(float));
    const Call call{{{0, 0}, {1, 0}}};
    const BatchOutcome outcome = session->run({&call, 1}, kDeadline);
    ASSERT_EQ(outcome.how, BatchOutcome::How::kDone) << outcome.why;
    EXPECT_EQ(floats(out)[0], expected);
  }
}
TEST(PytorchServer, EverySessionIsAProcessOfItsOwn) { expect_processes_of_their_own(PytorchMode::kEager); }
TEST(PytorchServer, LongEverySessionIsAProcessOfItsOwn) { expect_processes_of_their_own(PytorchMode::kCompiled); }

/// The Python processes that this one has started itself.
std::vector<int> own_pythons() {
  std::vector<int> found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (int pid = 0; children >> pid;) {
      std::ifstream command(fmt::format("/proc/{}/cmdline", pid));
      const std::string words{std::istreambuf_iterator<char>(command), {}};
      if (words.find("import torch") != std::string::npos) found.push_back(pid);
    }
  }
  return found;
}

/// `compiled`: the opponent that compiles beside the one that does not.
void expect_shared_and_replaced(bool compiled) {
  SKIP_WITHOUT_TORCH();
  const auto first = PytorchHost::shared(2, false, compiled ? PytorchHost::Readiness::kCompiler : PytorchHost::Readiness::kImported);
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(*first, *PytorchHost::shared(2));
  std::vector<int> pythons;
  // What is only imported is not waited for: until the process is a Python.
  for (int tries = 0; pythons.empty() && tries < 600; ++tries) {
    if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pythons = own_pythons();
  }
  ASSERT_EQ(pythons.size(), 1U);
  EXPECT_FALSE(PytorchHost::forget_ended(*first));
  kill(pythons.front(), SIGKILL);

  const task::Task task = make_task("y = -x", {"x=f32[A]"}, "A=8");
  StageOptions options;
  const auto stage = Stage::create(task, task.workloads[0].bindings, options);
  ASSERT_TRUE(stage) << stage.error().to_string();
  // Both at once, as a promotion prepares them.
  std::vector<std::future<Result<Opponent::Starter>>> prepared;
  std::vector<Opponent> opponents = pytorch_opponents(task, 2);
  ASSERT_GE(opponents.size(), 2U);
  if (!compiled) opponents.erase(opponents.begin() + 1, opponents.end());
  for (const Opponent& opponent : opponents)
    prepared.push_back(std::async(std::launch::async, [prepare = opponent.prepare, &stage] { return prepare(**stage); }));
  for (auto& one : prepared) {
    const auto starter = one.get();
    ASSERT_TRUE(starter) << starter.error().to_string();
    const auto session = (*starter)();
    ASSERT_TRUE(session) << session.error().to_string();
    const int slots[] = {0};
    (*stage)->draw(0, Family::kNormal, 1);
    (*stage)->poison(slots);
    const Call call = (*stage)->call(0);
    ASSERT_EQ((*session)->run({&call, 1}, kDeadline).how, BatchOutcome::How::kDone);
    EXPECT_TRUE((*stage)->check(0).accepted());
  }
  EXPECT_EQ(own_pythons().size(), 1U);
}
TEST(PytorchHost, IsSharedByAllOpponentsAndReplacedWhereItHasEnded) { expect_shared_and_replaced(false); }
TEST(PytorchHost, LongIsSharedByAllOpponentsAndReplacedWhereItHasEnded) { expect_shared_and_replaced(true); }

TEST(PytorchFind, APythonWithoutTorchIsUnavailable) {
  const auto found = probe_pytorch("/bin/false", std::chrono::seconds(5));
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(found.error().to_string(), HasSubstr("make pytorch"));
  EXPECT_FALSE(probe_pytorch("/no/such/python", std::chrono::seconds(5)).has_value());
}

}  // namespace
}  // namespace hone::evaluate
