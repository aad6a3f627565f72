// The right kernels of the emulator's table (test/simt/*.cu) on a card and on the emulator, with the same inputs: the
// outputs must be the same bit for bit, but where the kernel's arithmetic is not exact. A line a kernel; skips where
// there is no card. HONE_SIMT_ONLY=name runs those whose file has the name in it; HONE_SIMT_TABLE is the folder of the
// kernels on a machine that has not the sources where this was built, HONE_SIMT_CARD the card's number.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "hone/evaluate/loader.h"
#include "hone/evaluate/simt_table_testing.h"

namespace hone::evaluate {
namespace {

constexpr std::chrono::seconds kDeadline{60};

/// What one device made of a workload: the outputs' bytes, one after another, or why there are none.
struct Outputs {
  std::vector<std::byte> bytes;
  std::string trouble;
  bool accepted = false;
};

Outputs run(const SimtCase& c, const task::Task& task, std::shared_ptr<target::Toolchain> toolchain, std::shared_ptr<target::Card> card,
            uint64_t seed) {
  Outputs outputs;
  const auto trouble = [&](std::string text) {
    outputs.trouble = std::move(text);
    return outputs;
  };
  const auto kernel = kernel::parse_kernel(c.source, c.name);
  if (!kernel) return trouble(kernel.error().to_string());
  StageOptions options;
  options.card = card;
  const auto stage = Stage::create(task, task.workloads.at(0).bindings, options);
  if (!stage) return trouble(stage.error().to_string());
  // Small integers: sums of them are exact in any order, on any unit.
  (*stage)->draw(0, Family::kInteger, seed);
  const int slots[] = {0};
  (*stage)->poison(slots);
  Loader loader = card ? Loader(task, std::move(toolchain), card) : Loader(task, std::move(toolchain), 1);
  auto loaded = loader.load(*kernel, **stage);
  if (!loaded) return trouble(loaded.error().to_string());
  if (!loaded->session) return trouble(loaded->verdict.reason);
  const target::Call calls[] = {(*stage)->call(0)};
  if (const auto outcome = loaded->session->run(calls, kDeadline); outcome.how != target::BatchOutcome::How::kDone)
    return trouble(outcome.why);
  const Verdict verdict = (*stage)->check(0);
  outputs.accepted = verdict.accepted();
  if (!outputs.accepted) outputs.trouble = verdict.reason;
  for (const auto output : (*stage)->outputs(0)) outputs.bytes.insert(outputs.bytes.end(), output.begin(), output.end());
  return outputs;
}

TEST(SimtCard, SameBitsAsTheEmulator) {
  const char* ordinal = std::getenv("HONE_SIMT_CARD");
  const auto card = target::Card::open(std::string("cuda:") + (ordinal ? ordinal : "0"));
  if (!card) GTEST_SKIP() << card.error().to_string();
  auto emulator = target::simt_toolchain();
  if (!emulator) GTEST_SKIP() << emulator.error().to_string();
  auto compiler = target::cuda_toolchain((*card)->info().arch);
  if (!compiler) GTEST_SKIP() << compiler.error().to_string();
  const std::shared_ptr<target::Toolchain> emulated = std::move(*emulator), real = std::move(*compiler);
  int ran = 0, same = 0;
  for (const SimtCase& c : simt_table()) {
    if (c.verdict != "accepted" || !c.name.ends_with(".cu")) continue;
    const auto task = c.task();
    ASSERT_TRUE(task) << c.name << ": " << task.error().to_string();
    const Outputs here = run(c, *task, emulated, nullptr, 7), there = run(c, *task, real, *card, 7);
    ++ran;
    const bool equal = here.accepted && there.accepted && here.bytes == there.bytes;
    same += equal;
    std::string found = equal ? fmt::format("same {} bytes", here.bytes.size()) : "";
    if (!equal && here.accepted && there.accepted) {
      const size_t words = here.bytes.size() / 4;
      size_t differ = 0;
      for (size_t w = 0; w < words; ++w) differ += std::memcmp(&here.bytes[4 * w], &there.bytes[4 * w], 4) != 0;
      found = fmt::format("{} of {} words differ, both within the bound", differ, words);
    }
    if (!here.trouble.empty()) found += " emulator: " + here.trouble;
    if (!there.trouble.empty()) found += " card: " + there.trouble;
    fmt::print("{} {:<44} {}\n", equal ? " " : "X", c.name, found);
    std::fflush(stdout);
    EXPECT_TRUE(here.accepted && there.accepted) << c.name << ": " << found;
  }
  fmt::print("{}: {} kernels ran, {} gave the emulator's bits\n", (*card)->info().name, ran, same);
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace hone::evaluate
