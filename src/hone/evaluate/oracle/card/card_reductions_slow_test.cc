// reduce.cu as the toolchains see it: on the emulator, which looks at every access, and through nvcc or NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/fake_card_testing.h"
#include "hone/evaluate/oracle/card/reduce_cases_testing.h"
#include "hone/target/device/cpu_session.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::evaluate::card_reductions_slow_cases {
namespace {

using target::Region;
using testing::Case;

/// A segment of this process's memory that launches may be given addresses in.
struct Block {
  uint64_t address;
  int64_t bytes;
};

/// Each launch is a process in which every tensor is a region of its own; what it wrote is copied back.
class EmulatedReductions final : public target::CardProgram {
 public:
  EmulatedReductions(const kernel::Kernel& kernel, const target::Build& build) : kernel_(kernel), build_(build) {}

  void launch(std::string_view function, int64_t blocks, int threads, std::span<const void* const> arguments) override {
    if (failure != "") return;
    const auto& launches = kernel_.header.launches;
    const auto found = std::find_if(launches.begin(), launches.end(), [&](const kernel::Launch& l) { return l.function == function; });
    ASSERT_NE(found, launches.end()) << function;
    ASSERT_EQ(found->args.size(), arguments.size()) << function;
    kernel::BoundLaunch launch;
    launch.launch = static_cast<int>(found - launches.begin());
    launch.function = function;
    launch.grid = {blocks};
    launch.block = {threads};
    struct Passed {
      std::byte* at;
      int64_t bytes;
      bool written;
      std::vector<std::byte> before;  ///< tensors overlap here: only what is written goes back
      Region region;
    };
    std::vector<Passed> passed;
    target::CpuSessionOptions options;
    for (size_t i = 0; i < arguments.size(); ++i) {
      kernel::BoundArgument argument{found->args[i].kind};
      int32_t narrow = 0;
      switch (argument.kind) {
        case kernel::Argument::Kind::kTensor: {
          uint64_t address = 0;
          std::memcpy(&address, arguments[i], sizeof address);
          const auto block = std::find_if(memory.begin(), memory.end(), [&](const Block& b) {
            return address >= b.address && address < b.address + static_cast<uint64_t>(b.bytes);
          });
          ASSERT_NE(block, memory.end()) << function << ", argument " << i;
          const int64_t bytes = static_cast<int64_t>(block->address - address) + block->bytes;
          const bool written = found->args[i].tensor == "y";
          auto* const at = reinterpret_cast<std::byte*>(address);
          const auto access = written ? Region::Access::kOutput : Region::Access::kInput;
          passed.push_back({at, bytes, written, {at, at + bytes}, Region::create(bytes, access).value()});
          std::memcpy(passed.back().region.data(), at, static_cast<size_t>(bytes));
          argument.tensor = static_cast<int>(passed.size()) - 1;
          options.tensor_bytes.push_back(bytes);
          options.names.push_back(fmt::format("argument {}", i));
          break;
        }
        case kernel::Argument::Kind::kI32:
          std::memcpy(&narrow, arguments[i], sizeof narrow);
          argument.value = narrow;
          break;
        default: std::memcpy(&argument.value, arguments[i], sizeof argument.value);
      }
      launch.args.push_back(argument);
    }
    kernel::BoundPlan plan;
    plan.launches.push_back(std::move(launch));
    std::vector<const Region*> regions;
    target::Call call;
    for (const Passed& p : passed) {
      call.tensors.push_back({static_cast<int32_t>(regions.size()), 0});
      regions.push_back(&p.region);
    }
    auto started = target::start_cpu_session(build_, plan, static_cast<int>(passed.size()), regions, options);
    if (!started) return fail(started.error().to_string());
    if (auto* refused = std::get_if<target::LoadFailure>(&*started)) return fail(refused->reason);
    const auto outcome = std::get<std::unique_ptr<target::Session>>(*started)->run({&call, 1}, std::chrono::seconds(60));
    if (outcome.how != target::BatchOutcome::How::kDone) return fail(fmt::format("{}: {}", function, outcome.why));
    for (const Passed& p : passed)
      for (int64_t b = 0; p.written && b < p.bytes; ++b)
        if (p.region.data()[b] != p.before[static_cast<size_t>(b)]) p.at[b] = p.region.data()[b];
    ++launches_done;
  }

  std::vector<Block> memory;
  std::string failure;
  int launches_done = 0;

 private:
  /// Said at once: what is computed with values that are missing may stop the test before it gets to say so.
  void fail(std::string why) {
    ADD_FAILURE() << why;
    failure = std::move(why);
  }

  const kernel::Kernel& kernel_;
  const target::Build& build_;
};

/// A card whose one program is on the emulator.
class EmulatedCard final : public target::Card {
 public:
  EmulatedCard(const kernel::Kernel& kernel, const target::Build& build) : reductions(kernel, build) {}
  const target::CardInfo& info() const override { return info_; }
  Result<std::unique_ptr<target::CardMemory>> allocate(int64_t bytes) override {
    auto memory = std::make_unique<FakeMemory>(bytes);
    reductions.memory.push_back({memory->address(), bytes});
    return std::unique_ptr<target::CardMemory>(std::move(memory));
  }
  int64_t free_memory() override { return int64_t{1} << 30; }
  Result<target::CardProgram*> program(const std::string&, std::string_view) override { return &reductions; }
  std::vector<target::ClockReading> read_clocks() override { return {}; }
  void expect(int) override {}
  Result<std::variant<std::unique_ptr<target::Session>, target::LoadFailure>> start(const target::Build&, const kernel::BoundPlan&, int,
                                                                                    std::span<const Region* const>) override {
    return fail(ErrorCode::kUnavailable, "candidates do not run here");
  }

  EmulatedReductions reductions;

 private:
  target::CardInfo info_;
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

void compare_on_emulator(const std::vector<ReduceCase>& cases) {
  auto toolchain = target::simt_toolchain();
  if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
  const kernel::Kernel kernel = kernel::parse_kernel(reduce_source(), "reduce.cu").value();
  const target::Build build = built(**toolchain, kernel);
  if (::testing::Test::HasFailure()) return;
  for (const ReduceCase& r : cases) {
    EmulatedCard card(kernel, build);
    compare_reductions(r, [&](Case& c, Coverage coverage) {
      std::vector<uint64_t> addresses;
      for (auto& data : c.data) {
        addresses.push_back(reinterpret_cast<uint64_t>(data.data()));
        card.reductions.memory.push_back({addresses.back(), static_cast<int64_t>(data.size())});
      }
      return std::move(CardReductions::create(card, c.graph, c.task.track, std::move(coverage), std::move(addresses)).value());
    });
    ASSERT_EQ(card.reductions.failure, "") << r.compute;
    if (r.covered > 0) {
      ASSERT_GT(card.reductions.launches_done, 0) << r.compute;
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// A launch is a process: each operation once, of computed operands.
void expect_hosts_values(size_t each) {
  std::vector<ReduceCase> cases;
  for (ReduceCase& r : operation_cases())
    if (r.special && r.inputs.size() == 2 && r.compute.find("x * w") != std::string::npos) cases.push_back(std::move(r));
  compare_on_emulator(base::testing::one_of_each(each, cases));
}
TEST(CardReductionsToolchains, TheEmulatorHasTheHostsValuesAndScales) { expect_hosts_values(3); }
TEST(LongCardReductionsToolchains, TheEmulatorHasTheHostsValuesAndScales) { expect_hosts_values(1); }

/// Of neighbours in the table, one of each three; all in `make check-long`.
TEST(CardReductionsToolchains, TypesViewsAndAxesOnTheEmulator) { compare_on_emulator(base::testing::one_of_each(3, shape_cases())); }
TEST(LongCardReductionsToolchains, TypesViewsAndAxesOnTheEmulator) { compare_on_emulator(shape_cases()); }

void expect_registers_on(const std::vector<std::string>& archs) {
  const kernel::Kernel kernel = kernel::parse_kernel(reduce_source(), "reduce.cu").value();
  for (const std::string& arch : archs) {
    auto toolchain = target::cuda_toolchain(arch);
    if (!toolchain) GTEST_SKIP() << toolchain.error().to_string();
    const target::Build build = built(**toolchain, kernel);
    if (::testing::Test::HasFailure()) return;
    fmt::print("{}: {}, {:.2f} s\n", arch, build.toolchain, static_cast<double>(build.wall_ns) * 1e-9);
    for (const kernel::Launch& launch : kernel.header.launches) {
      const auto fact = [&](const std::string& what) {
        const auto found = build.facts.find(what + "/" + launch.function);
        return found == build.facts.end() ? 0.0 : found->second;
      };
      EXPECT_LE(fact("spill_bytes"), 256) << arch << " " << launch.function;
      EXPECT_LE(fact("registers"), 128) << arch << " " << launch.function;
      EXPECT_GT(fact("registers"), 0) << arch << " " << launch.function;
    }
  }
}
TEST(LongCardReductionsToolchains, CardsOfSeveralGenerationsHaveRegistersForIt) { expect_registers_on({"sm_80", "sm_90a"}); }

}  // namespace
}  // namespace hone::evaluate::card_reductions_slow_cases
