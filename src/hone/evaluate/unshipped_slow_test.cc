// A kernel that was built elsewhere, for the workloads alone, where nothing compiles: it is judged at those, on inputs of every kind, and the
// verdict says where it holds. A kernel of CUDA's stands for what another compiler made of the given one.
#include <gtest/gtest.h>

#include "hone/evaluate/verifier.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::evaluate::unshipped_slow_cases {
namespace {

constexpr const char* kGiven = R"hone("""hone
language = "tilelang"
[[launch]]
kernel = "double"
args   = ["x", "y", "=N"]
"""
)hone";

std::string made(const std::string& factor) {
  std::string text = R"hone(/* hone
language = "cuda"
[[launch]]
kernel = "twice"
grid   = ["ceil_div(N, 128)"]
block  = ["128"]
args   = ["x", "y", "i32:N"]
*/
extern "C" __global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = FACTOR * x[i];
}
)hone";
  return text.replace(text.find("FACTOR"), 6, factor);
}

class BuiltElsewhere final : public target::Toolchain {
 public:
  BuiltElsewhere(std::unique_ptr<target::Toolchain> emulator, const std::string& source, bool unshipped)
      : emulator_(std::move(emulator)), made_(kernel::parse_kernel(source, "k.cu").value()), unshipped_(unshipped) {}
  std::string name() const override { return "elsewhere"; }
  Result<target::BuildOutcome> build(const kernel::Kernel&, const task::Task& task, const task::Bindings& bindings, const target::BuildOptions& options) override {
    if (bindings != task.workloads.front().bindings) return target::BuildOutcome(target::BuildFailure{"not here", {}, false, unshipped_});
    HONE_TRY(auto outcome, emulator_->build(made_, task, bindings, options));
    if (auto* const build = std::get_if<target::Build>(&outcome)) build->lowered = std::make_shared<const kernel::Kernel>(made_);
    return outcome;
  }

 private:
  std::unique_ptr<target::Toolchain> emulator_;
  kernel::Kernel made_;
  bool unshipped_;
};

struct Judged {
  Verdict verdict;
  std::vector<std::string> only_at;
};

Result<Judged> judged(const std::string& source, bool unshipped) {
  HONE_TRY(auto emulator, target::emulator_toolchain(kernel::Language::kCuda));
  HONE_TRY(const task::Task task, task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=1000"}));
  HONE_TRY(const auto verifier, Verifier::create(task, std::make_shared<BuiltElsewhere>(std::move(emulator), source, unshipped), {}));
  HONE_TRY(Verdict verdict, verifier->verify(kernel::parse_kernel(kGiven, "k.py").value()));
  return Judged{std::move(verdict), verifier->only_at()};
}

TEST(Unshipped, ShapesThatNobodyCanBuildForArePassedOver) {
  if (const auto emulator = target::emulator_toolchain(kernel::Language::kCuda); !emulator) GTEST_SKIP() << emulator.error().to_string();
  const auto right = judged(made("2"), true);
  ASSERT_TRUE(right) << right.error().to_string();
  EXPECT_TRUE(right->verdict.accepted()) << right->verdict.reason;
  EXPECT_EQ(right->only_at, std::vector<std::string>{"N=1000"});
  const auto wrong = judged(made("2.001f"), true);
  ASSERT_TRUE(wrong) << wrong.error().to_string();
  EXPECT_FALSE(wrong->verdict.accepted());
  // A compiler's own refusal is one.
  const auto refused = judged(made("2"), false);
  ASSERT_TRUE(refused) << refused.error().to_string();
  EXPECT_EQ(refused->verdict.kind, VerdictKind::kDoesNotCompile);
}

}  // namespace
}  // namespace hone::evaluate::unshipped_slow_cases
