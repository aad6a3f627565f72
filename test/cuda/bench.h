// The pretend card with a kernel that has one function a behaviour (pretend_kernels.cc), and buffers to run them on.
#pragma once
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hone/target/card.h"

namespace hone::pretend {

using namespace std::chrono_literals;

/// Processes whose parent we are, with what they run.
inline std::set<int> children() {
  std::set<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    char state = 0;
    int parent = 0;
    if (rest >> state >> parent && parent == getpid()) all.insert(std::stoi(name));
  }
  return all;
}

inline size_t entries(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

constexpr const char* kHead = "/* hone\nlanguage = \"cuda\"\n";
constexpr const char* kFunctions[] = {"pretend_negate", "pretend_wrong", "pretend_partial", "pretend_outside", "pretend_far", "pretend_input", "pretend_hang",
                                      "pretend_slow",   "pretend_dies",  "pretend_assert",  "pretend_lost",    "pretend_last"};

/// All of them, as nvcc is to see them.
inline std::string source_of_all() {
  std::string head = std::string(kHead) + "workspaces = { w = \"f32[N]\" }\n", body;
  for (const char* function : kFunctions) {
    head += std::string("[[launch]]\nkernel = \"") + function + "\"\ngrid = [\"ceil_div(N, 128)\"]\nblock = [\"128\"]\nargs = [\"x\", \"y\", \"i64:N\"]\n";
    body += std::string("extern \"C\" __global__ void ") + function +
            "(const float* x, float* y, long long n) {\n  const long long i = blockIdx.x * 128LL + threadIdx.x;\n  if (i < n) y[i] = -x[i];\n}\n";
  }
  head += "[[launch]]\nkernel = \"pretend_workspace\"\ngrid = [\"ceil_div(N, 128)\"]\nblock = [\"128\"]\nargs = [\"x\", \"y\", \"w\", \"i64:N\"]\n";
  body += "extern \"C\" __global__ void pretend_workspace(const float* x, float* y, float* w, long long n) { y[0] = x[0] + w[0] + n; }\n";
  return head + "*/\n" + body;
}

/// What became of one batch.
struct Ran {
  std::string refused;                 ///< not empty: it did not load
  target::BatchOutcome outcome;
  bool right = false, guards = false;  ///< of the last call
  int64_t poison = 0;                  ///< words of the output that are still poison
};

class Bench : public testing::Test {
 protected:
  static constexpr int64_t kCount = 1000;
  static constexpr int64_t kGuard = 256;
  static constexpr uint64_t kPoison = 0x7FC5A5A5;

  static void SetUpTestSuite() { setenv("HONE_CUDA_DRIVER", HONE_PRETEND_CUDA, 1); }

  void SetUp() override {
    auto toolchain = target::cuda_toolchain("sm_90a");
    if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
    auto opened = target::Card::open("cuda:0");
    ASSERT_TRUE(opened) << opened.error().to_string();
    card_ = *opened;
    const auto kernel = kernel::parse_kernel(source_of_all(), "all.cu");
    ASSERT_TRUE(kernel) << kernel.error().to_string();
    const auto outcome = (*toolchain)->build(*kernel, task_, {{"N", kCount}}, {});
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    ASSERT_TRUE(std::holds_alternative<target::Build>(*outcome)) << std::get<target::BuildFailure>(*outcome).log;
    build_ = std::get<target::Build>(*outcome);
    plan_ = kernel::bind(*kernel, task_, {{"N", kCount}}, target::card_limits(card_->info())).value();
    input_.emplace(target::Region::create_on(*card_, kCount * 4, target::Region::Access::kInput).value());
    output_.emplace(target::Region::create_on(*card_, kCount * 4 + 2 * kGuard, target::Region::Access::kOutput).value());
    auto* const x = reinterpret_cast<float*>(input_->data());
    std::iota(x, x + kCount, 1.0F);
    input_->upload(0, input_->data(), kCount * 4);
  }

  /// The plan of one function.
  [[nodiscard]] kernel::BoundPlan plan(std::string_view function) const {
    kernel::BoundPlan one;
    for (const auto& launch : plan_.launches)
      if (launch.function == function) one.launches.push_back(launch);
    if (function == "pretend_workspace") one.workspaces = plan_.workspaces;
    EXPECT_EQ(one.launches.size(), 1) << function;
    return one;
  }
  using Started = Result<std::variant<std::unique_ptr<target::Session>, target::LoadFailure>>;
  Started start(const kernel::BoundPlan& what) {
    const target::Region* const regions[] = {&*input_, &*output_};
    return card_->start(build_, what, 2, regions);
  }
  std::unique_ptr<target::Session> session(std::string_view function) {
    auto started = start(plan(function));
    if (started && std::holds_alternative<std::unique_ptr<target::Session>>(*started)) return std::move(std::get<0>(*started));
    ADD_FAILURE() << function << ": " << (started ? std::get<1>(*started).reason : started.error().to_string());
    return nullptr;
  }
  /// A call with the output behind its guard, or at the very end of its memory.
  [[nodiscard]] target::Call call(bool edge = false) const { return {{{0, 0}, {1, edge ? output_->size() - kCount * 4 : kGuard}}, false}; }

  Ran run(const kernel::BoundPlan& what, std::chrono::nanoseconds deadline = 20s, int calls = 1, bool edge = false, bool hot = false) {
    Ran ran;
    auto started = start(what);
    if (!started) return ran.refused = "error: " + started.error().to_string(), ran;
    if (auto* failure = std::get_if<1>(&*started)) return ran.refused = failure->reason, ran;
    output_->fill(0, output_->size(), 0xA7, 1);
    output_->fill(call(edge).tensors[1].offset, kCount * 4, kPoison, 4);
    target::Call one = call(edge);
    one.hot = hot;
    const std::vector<target::Call> all(static_cast<size_t>(calls), one);
    ran.outcome = std::get<0>(*started)->run(all, deadline);
    output_->download(0, output_->size());
    const int64_t at = call(edge).tensors[1].offset, end = at + kCount * 4;
    const auto* const x = reinterpret_cast<const float*>(input_->data());
    const auto* const y = reinterpret_cast<const float*>(output_->data() + at);
    ran.right = std::equal(x, x + kCount, y, [](float a, float b) { return -a == b; });
    ran.guards = output_->count(0, at, 1, 0xA7, 0) == at && output_->count(end, output_->size() - end, 1, 0xA7, 0) == output_->size() - end;
    ran.poison = output_->count(at, kCount, 4, kPoison, 0);
    return ran;
  }
  Ran run(std::string_view function, std::chrono::nanoseconds deadline = 20s, int calls = 1, bool edge = false) {
    return run(plan(function), deadline, calls, edge);
  }
  void expect_right(const std::string& after) {
    const Ran ran = run("pretend_negate");
    EXPECT_EQ(ran.refused, "") << "after " << after;
    EXPECT_EQ(ran.outcome.how, target::BatchOutcome::How::kDone) << "after " << after << ": " << ran.outcome.why;
    EXPECT_TRUE(ran.right && ran.guards) << "after " << after;
  }

  task::Task task_ = task::task_from_expressions("y = -x", {"x=f32[N]"}, {"N=1000"}).value();
  std::shared_ptr<target::Card> card_;
  target::Build build_;
  kernel::BoundPlan plan_;
  std::optional<target::Region> input_, output_;
};

}  // namespace hone::pretend
