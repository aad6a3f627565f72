// draw.cu as the toolchains see it: on the emulator, which looks at every access, and through nvcc or NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "hone/evaluate/verify/draw/draw_cases_testing.h"
#include "hone/target/device/cpu_session.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::evaluate {
namespace {

using target::Region;

/// Launches become one plan, which run() has the emulator go through.
class EmulatedProgram final : public target::CardProgram {
 public:
  EmulatedProgram(const kernel::Kernel& kernel, const target::Build& build) : kernel_(kernel), build_(build) {}

  void launch(std::string_view function, int64_t blocks, int threads, std::span<const void* const> arguments) override {
    const auto& launches = kernel_.header.launches;
    const auto found = std::find_if(launches.begin(), launches.end(), [&](const kernel::Launch& l) { return l.function == function; });
    ASSERT_NE(found, launches.end()) << function;
    ASSERT_EQ(found->args.size(), arguments.size()) << function;
    kernel::BoundLaunch launch;
    launch.launch = static_cast<int>(found - launches.begin());
    launch.function = function;
    launch.grid = {blocks};
    launch.block = {threads};
    for (size_t i = 0; i < arguments.size(); ++i) {
      kernel::BoundArgument argument{found->args[i].kind};
      int32_t narrow = 0;
      switch (argument.kind) {
        case kernel::Argument::Kind::kTensor: argument.tensor = 1; break;
        case kernel::Argument::Kind::kI32:
          std::memcpy(&narrow, arguments[i], sizeof narrow);
          argument.value = narrow;
          break;
        default: std::memcpy(&argument.value, arguments[i], sizeof argument.value);
      }
      launch.args.push_back(argument);
    }
    plan_.launches.push_back(std::move(launch));
  }

  /// Runs what was launched on `bytes` bytes; what is wrong, or nothing.
  std::string run(int64_t bytes, std::vector<uint8_t>& found) {
    const Region in = Region::create(64, Region::Access::kInput).value(), out = Region::create(bytes, Region::Access::kOutput).value();
    const Region* const regions[] = {&in, &out};
    target::CpuSessionOptions options;
    options.tensor_bytes = {4, bytes};
    options.names = {"x", "y"};
    auto started = target::start_cpu_session(build_, plan_, 2, regions, options).value();
    plan_ = {};
    if (auto* failure = std::get_if<target::LoadFailure>(&started)) return failure->reason;
    const target::Call call{{{0, 0}, {1, 0}}};
    const auto outcome = std::get<std::unique_ptr<target::Session>>(started)->run({&call, 1}, std::chrono::seconds(60));
    found.assign(reinterpret_cast<const uint8_t*>(out.data()), reinterpret_cast<const uint8_t*>(out.data()) + bytes);
    return outcome.how == target::BatchOutcome::How::kDone ? "" : outcome.why;
  }

 private:
  const kernel::Kernel& kernel_;
  const target::Build& build_;
  kernel::BoundPlan plan_;
};

target::Build built(target::Toolchain& toolchain, const kernel::Kernel& kernel) {
  const auto task = task::task_from_expressions("y = -x", {"x=f32[N]"}, {"N=1"}).value();
  const auto outcome = toolchain.build(kernel, task, task.workloads[0].bindings, {}).value();
  if (const auto* failure = std::get_if<target::BuildFailure>(&outcome)) {
    ADD_FAILURE() << failure->reason << "\n" << failure->log;
    return {};
  }
  return std::get<target::Build>(outcome);
}

/// On the emulator each case is a process: every kind with every family in one type, every type and structure in two
/// families, every bound of indices.
bool chosen(const DrawCase& c, Family family) {
  if (c.spec.domain == task::Domain::kIndex) return true;
  const bool plain = c.spec.structure == task::Structure::kNone;
  if (plain && (c.spec.type.dtype == task::DType::kF32 || c.spec.type.dtype == task::DType::kI8)) return true;
  return c.shape != task::Shape{301, 301} && family == (plain ? Family::kNormal : Family::kSparse);
}

/// Of what is chosen, one of each so many.
void expect_hosts_bits(size_t each) {
  auto toolchain = target::simt_toolchain();
  if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
  const kernel::Kernel kernel = kernel::parse_kernel(draw_source(), "draw.cu").value();
  const target::Build build = built(**toolchain, kernel);
  if (::testing::Test::HasFailure()) return;
  EmulatedProgram program(kernel, build);
  size_t number = 0;
  for (const DrawCase& c : draw_cases())
    for (const Family family : kAllFamilies) {
      if (!chosen(c, family) || number++ % each != 0) continue;
      draw_on_card(program, c.spec, c.shape, c.bound, family, 5, 0);
      std::vector<uint8_t> found;
      ASSERT_EQ(program.run(c.bytes(), found), "") << c.name(family);
      ASSERT_EQ(found, c.on_host(family, 5)) << c.name(family);
    }
}
TEST(DrawCardToolchains, TheEmulatorGivesTheHostsBits) { expect_hosts_bits(3); }
TEST(LongDrawCardToolchains, TheEmulatorGivesTheHostsBits) { expect_hosts_bits(1); }

TEST(DrawCardToolchains, CardsOfSeveralGenerationsHaveRegistersForIt) {
  const kernel::Kernel kernel = kernel::parse_kernel(draw_source(), "draw.cu").value();
  for (const char* arch : {"sm_80", "sm_90a"}) {
    auto toolchain = target::cuda_toolchain(arch);
    if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
    const target::Build build = built(**toolchain, kernel);
    if (HasFailure()) return;
    for (const kernel::Launch& launch : kernel.header.launches) {
      const auto fact = [&](const std::string& what) {
        const auto found = build.facts.find(what + "/" + launch.function);
        return found == build.facts.end() ? 0.0 : found->second;
      };
      EXPECT_EQ(fact("spill_bytes"), 0) << arch << " " << launch.function;
      EXPECT_LE(fact("registers"), 64) << arch << " " << launch.function;
      EXPECT_GT(fact("registers"), 0) << arch << " " << launch.function;
    }
  }
}

}  // namespace
}  // namespace hone::evaluate
