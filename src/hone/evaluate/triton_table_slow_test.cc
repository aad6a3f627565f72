// The table of small Triton kernels: test/triton/*.py, right ones and subtly wrong ones, each with the verdict it must get
// from the interpreter. No miss, no false alarm. What Triton makes of them is kept beside them; where Triton is installed,
// the long test makes it anew, and with HONE_TRITON_RECORD=FILE writes it there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/gzip.h"
#include "hone/base/hash.h"
#include "hone/evaluate/triton_table_testing.h"
#include "hone/evaluate/verifier.h"
#include "hone/target/toolchain/build_cache.h"
#include "hone/target/toolchain/triton.h"
#include "hone/target/toolchain/triton_start.h"
#include "hone/target/worker/program.h"

namespace hone::evaluate {
namespace {

using nlohmann::json;

constexpr const char* kKept = HONE_SOURCE_DIR "/test/triton/ttir.json.gz";

/// Hands out what was kept: for each kernel's source its text, or why it does not compile.
class KeptToolchain final : public target::Toolchain {
 public:
  explicit KeptToolchain(json kept) : kept_(std::move(kept)) {}
  std::string name() const override { return "kept"; }
  Result<target::BuildOutcome> build(const kernel::Kernel& kernel, const task::Task&, const task::Bindings&, const target::BuildOptions& options) override {
    if (options.sanitize) return fail(ErrorCode::kUnavailable, "no sanitizer");
    const std::string name = base::content_hash(kernel.source);
    if (!kept_.contains(name)) return fail(ErrorCode::kNotFound, "test/triton/ttir.json.gz has no such kernel", "make it anew: HONE_TRITON_RECORD");
    const json& its = kept_[name];
    if (its.contains("failure")) return target::BuildOutcome(target::BuildFailure{its["failure"], {}, false});
    HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("kept"));
    const std::string text = its["text"];
    HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "kernel.ttir", text));
    target::Build build;
    build.hash = base::content_hash(text);
    HONE_TRY(build, target::keep_build(std::move(build), scratch.path() / "kernel.ttir"));
    HONE_TRY(build.runner, target::worker_program("hone-ttir"));
    build.emulates = target::simt_device(kernel::Language::kTriton);
    return target::BuildOutcome(std::move(build));
  }

 private:
  json kept_;
};

/// Builds by Triton and remembers what came out.
class RecordingToolchain final : public target::Toolchain {
 public:
  explicit RecordingToolchain(std::unique_ptr<target::Toolchain> triton) : triton_(std::move(triton)) {}
  std::string name() const override { return triton_->name(); }
  Result<target::BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings, const target::BuildOptions& options) override {
    HONE_TRY(target::BuildOutcome outcome, triton_->build(kernel, task, bindings, options));
    json& its = made[base::content_hash(kernel.source)];
    if (const auto* failure = std::get_if<target::BuildFailure>(&outcome)) its["failure"] = failure->reason;
    else its["text"] = base::read_file(std::get<target::Build>(outcome).artifact).value();
    return outcome;
  }
  json made = json::object();

 private:
  std::unique_ptr<target::Toolchain> triton_;
};

void judge(TritonCase& c, const std::shared_ptr<target::Toolchain>& toolchain, bool complete) {
  const auto say = [&](const Error& error) { c.found = "error: " + error.to_string(); };
  auto kernel = kernel::parse_kernel(c.source, c.name);
  const auto task = c.task();
  if (!task) return say(task.error());
  if (kernel && complete) kernel = target::complete_triton(*kernel, c.name, &*task);
  if (!kernel && kernel.error().code == ErrorCode::kInput) {
    c.found = "refused: " + kernel.error().message;
    return;
  }
  if (!kernel) return say(kernel.error());
  VerifierOptions options;
  options.deadline = std::chrono::seconds(60);
  const auto verifier = Verifier::create(*task, toolchain, options);
  if (!verifier) return say(verifier.error());
  const auto verdict = (*verifier)->verify(*kernel);
  if (!verdict) return say(verdict.error());
  c.found = std::string(name_of(verdict->kind)) + (verdict->accepted() ? "" : ": " + verdict->reason);
}

void judge_all(const std::shared_ptr<target::Toolchain>& toolchain, std::vector<TritonCase> cases, size_t at_least, bool complete = false) {
  int accepted = 0, refused = 0, wrong = 0;
  std::string text;
  for (TritonCase& c : cases) {
    judge(c, toolchain, complete);
    const bool right = c.expects(c.found.substr(0, c.found.find(": "))) && c.found.find(c.words) != std::string::npos;
    (c.verdict == "accepted" ? accepted : refused) += 1;
    wrong += !right;
    text += fmt::format("{} {:<36} {}\n", right ? " " : "X", c.name, c.found);
    EXPECT_TRUE(right) << c.name << "\n  expected " << c.verdict << ": " << c.words << "\n  found    " << c.found;
  }
  fmt::print("{}{} kernels: {} right ones, {} wrong ones; {} judged wrongly\n", text, cases.size(), accepted, refused, wrong);
  if (!std::getenv("HONE_TRITON_ONLY")) {
    EXPECT_GE(cases.size(), at_least);
  }
}

TEST(LongTritonTable, NoMissAndNoFalseAlarm) {
  const auto bytes = base::read_file(kKept);
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  const auto text = base::gunzip(*bytes, size_t{1} << 28, kKept);
  ASSERT_TRUE(text) << text.error().to_string();
  judge_all(std::make_shared<KeptToolchain>(json::parse(*text)), triton_table(), 80);
}

TEST(LongTritonTable, AsTritonMakesThemHere) {
  auto triton = target::ttir_toolchain();
  if (!triton) GTEST_SKIP() << triton.error().to_string();
  const auto recording = std::make_shared<RecordingToolchain>(*std::move(triton));
  judge_all(recording, triton_table(), 80);
  if (const char* file = std::getenv("HONE_TRITON_RECORD")) std::ofstream(file) << recording->made.dump();
}

/// Kernels as one finds them, generic in their shapes: taken with no change but the header, and right on hidden shapes too.
TEST(LongTritonOrdinary, AreTakenAsTheyAre) {
  auto triton = target::ttir_toolchain();
  if (!triton) GTEST_SKIP() << triton.error().to_string();
  judge_all(*std::move(triton), triton_table("ordinary"), 10, true);
}

}  // namespace
}  // namespace hone::evaluate
