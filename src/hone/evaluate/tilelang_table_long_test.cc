// The table of small TileLang kernels: test/tilelang/*.py, right ones and subtly wrong ones, and modules that try more than a kernel may, each
// with the verdict it must get on the emulator. Skipped without TileLang.
#include <gtest/gtest.h>

#include <cstdlib>

#include <fmt/format.h>

#include "hone/evaluate/triton_table_testing.h"
#include "hone/evaluate/verifier.h"
#include "hone/target/toolchain/python_compiler.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::evaluate {
namespace {

/// "a or b": any of them.
bool is_expected(const TritonCase& c, const std::string& kind) {
  if (kind == "less accurate" && c.verdict.find("wrong") != std::string::npos) return true;
  return (" or " + c.verdict + " or ").find(" or " + kind + " or ") != std::string::npos;
}

std::string found_of(const TritonCase& c, const std::shared_ptr<target::Toolchain>& toolchain) {
  const auto kernel = kernel::parse_kernel(c.source, c.name);
  if (!kernel) return "error: " + kernel.error().to_string();
  const auto task = c.task();
  if (!task) return "error: " + task.error().to_string();
  VerifierOptions options;
  options.deadline = std::chrono::seconds(60);
  options.all_families = true;
  const auto verifier = Verifier::create(*task, toolchain, options);
  if (!verifier) return "error: " + verifier.error().to_string();
  const auto verdict = (*verifier)->verify(*kernel);
  if (!verdict) return "error: " + verdict.error().to_string();
  return std::string(name_of(verdict->kind)) + (verdict->accepted() ? "" : ": " + verdict->reason);
}

void judge_tiles(kernel::Language language) {
  if (const auto& install = target::find_python(target::kTileLangRow); !install) GTEST_SKIP() << install.error().to_string();
  auto emulator = target::emulator_toolchain(language);
  if (!emulator) GTEST_SKIP() << emulator.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = *std::move(emulator);
  std::vector<TritonCase> cases = triton_table("../tilelang");
  ASSERT_GE(cases.size(), std::getenv("HONE_TRITON_ONLY") ? 1u : 50u);
  int wrongly = 0;
  for (TritonCase& c : cases) {
    // "# expect of hip: …": where TileLang's HIP cannot have what its CUDA has.
    if (const std::string other = c.after("# expect of hip: "); !other.empty() && language == kernel::Language::kHip) {
      c.verdict = other.substr(0, other.find(": "));
      c.words = other.substr(std::min(other.size(), c.verdict.size() + 2));
    }
    c.found = found_of(c, toolchain);
    const bool right = is_expected(c, c.found.substr(0, c.found.find(": "))) && c.found.find(c.words) != std::string::npos;
    wrongly += !right;
    fmt::print("{} {:<36} {}\n", right ? " " : "X", c.name, c.found);
    std::fflush(stdout);
    EXPECT_TRUE(right) << c.name << "\n  expected " << c.verdict << ": " << c.words << "\n  found    " << c.found;
  }
  fmt::print("{} kernels, {} judged wrongly\n", cases.size(), wrongly);
}

TEST(TileLangTable, NoMissAndNoFalseAlarmByItsCuda) { judge_tiles(kernel::Language::kCuda); }
TEST(TileLangTable, NoMissAndNoFalseAlarmByItsHip) { judge_tiles(kernel::Language::kHip); }

}  // namespace
}  // namespace hone::evaluate
