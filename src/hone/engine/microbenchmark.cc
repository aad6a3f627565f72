#include "hone/engine/microbenchmark.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/agent/answer.h"
#include "hone/agent/model/message.h"
#include "hone/base/random.h"
#include "hone/evaluate/measure/batch.h"
#include "hone/target/cpu.h"
#include "hone/target/device/cpu_session.h"

namespace hone::engine {
namespace {

using nlohmann::json;

constexpr int kBatches = 7;
constexpr size_t kDetail = size_t{4} << 10;
/// Of one batch, and of all of them: a snippet is a question, no search.
constexpr std::chrono::seconds kDeadline{2};
constexpr int64_t kEnoughNs = 2'000'000'000;

/// The loop around the calls is the kernel's own, so that no hand-off is timed; the empty statements hold that memory is
/// read and written there, so that no call is left out.
std::string kernel_source(const Snippet& snippet) {
  return fmt::format(R"(/* hone
language = "c++"
tunables = {{ HONE_ITERATIONS = [{}] }}
[[launch]]
kernel = "hone_snippet_calls"
grid = ["1"]
args = ["x", "y", "i64:N"]
*/
{}

static __attribute__((noinline)) void snippet(const float* __restrict x, float* __restrict y, int64_t n) {{
{}
}}

void hone_snippet_calls(const float* x, float* y, int64_t n, int64_t) {{
  for (int64_t i = 0; i < HONE_ITERATIONS; ++i) {{
    __asm__ volatile("" : : "r"(x), "r"(y) : "memory");
    snippet(x, y, n);
    __asm__ volatile("" : : "r"(x), "r"(y) : "memory");
  }}
}}
)", snippet.iterations, snippet.declarations, snippet.body);
}

SnippetTimes without(std::string problem, std::string detail) {
  if (detail.size() > kDetail) detail = agent::bounded(detail, kDetail);
  SnippetTimes times;
  times.problem = std::move(problem);
  times.detail = std::move(detail);
  return times;
}

}  // namespace

Result<SnippetTimes> time_snippet(target::Toolchain& toolchain, const Snippet& snippet) {
  if (snippet.body.empty() || snippet.body.size() + snippet.declarations.size() > kMostSnippet)
    return fail(ErrorCode::kInput, fmt::format("a snippet has from 1 to {} bytes", kMostSnippet));
  if (snippet.elements < 1 || snippet.elements > kMostSnippetElements || snippet.iterations < 1 || snippet.iterations > kMostSnippetIterations)
    return fail(ErrorCode::kInput, fmt::format("elements go from 1 to {}, iterations from 1 to {}", kMostSnippetElements, kMostSnippetIterations));
  // What a kernel of somebody else's may not ask for, a snippet may not either.
  const auto kernel = agent::foreign_kernel(kernel_source(snippet), kernel::Language::kCpp);
  if (!kernel) return without("refused", kernel.error().problem);
  HONE_TRY(const task::Task task, task::task_from_expressions("y = x + 1", {"x=f32[N]"}, {fmt::format("N={}", snippet.elements)}));
  const task::Bindings& bindings = task.workloads.front().bindings;
  HONE_TRY(const target::BuildOutcome outcome, toolchain.build(*kernel, task, bindings, {}));
  if (const auto* failure = std::get_if<target::BuildFailure>(&outcome)) return without(failure->reason, failure->log);
  const auto& build = std::get<target::Build>(outcome);
  HONE_TRY(const kernel::BoundPlan plan, kernel::bind(*kernel, task, bindings, target::cpu_limits(target::cpu_info())));

  const int64_t bytes = snippet.elements * static_cast<int64_t>(sizeof(float));
  HONE_TRY(const target::Region in, target::Region::create(bytes, target::Region::Access::kInput));
  HONE_TRY(const target::Region out, target::Region::create(bytes, target::Region::Access::kOutput));
  base::Rng rng(1);
  for (int64_t i = 0; i < snippet.elements; ++i) {
    const float value = 0.5F + static_cast<float>(rng.below(1U << 24)) * 0x1p-24F;
    std::memcpy(in.data() + i * static_cast<int64_t>(sizeof(float)), &value, sizeof value);
  }
  std::memset(out.data(), 0, static_cast<size_t>(bytes));
  const target::Region* const regions[] = {&in, &out};
  target::CpuSessionOptions options;
  options.threads = 1;
  options.tensor_bytes = {bytes, bytes};
  options.names = {"x", "y"};
  HONE_TRY(auto started, target::start_cpu_session(build, plan, 2, regions, options));
  if (const auto* failure = std::get_if<target::LoadFailure>(&started)) return without(failure->reason, failure->output);
  target::Session& session = *std::get<std::unique_ptr<target::Session>>(started);
  const int64_t empty = session.empty_batch_ns();
  const target::Call call{{{0, 0}, {1, 0}}, false};
  SnippetTimes times;
  times.toolchain = build.toolchain;
  std::vector<double> each;
  int64_t all = 0, contended = 0;
  for (int batch = 0; batch <= kBatches && (batch < 2 || all < kEnoughNs); ++batch) {
    const target::BatchOutcome ran = session.run({&call, 1}, kDeadline);
    if (ran.how == target::BatchOutcome::How::kDeadline)
      return without(fmt::format("{} calls did not finish within {} s", snippet.iterations, kDeadline.count()), ran.why);
    if (ran.how != target::BatchOutcome::How::kDone) return without(ran.why, ran.output);
    all += ran.wall_ns;
    if (batch == 0) continue;
    contended += ran.contended_ns;
    each.push_back(evaluate::net_ns(ran.wall_ns, empty) / static_cast<double>(snippet.iterations));
  }
  std::sort(each.begin(), each.end());
  times.batches = static_cast<int>(each.size());
  times.median_ns = each[each.size() / 2];
  times.least_ns = each.front();
  times.most_ns = each.back();
  times.contended = std::clamp(static_cast<double>(contended) / static_cast<double>(std::max<int64_t>(all, 1)), 0.0, 1.0);
  return times;
}

json to_json(const SnippetTimes& times) {
  if (!times.problem.empty()) return {{"problem", times.problem}, {"detail", times.detail}};
  return {{"ns_per_call", {{"median", times.median_ns}, {"least", times.least_ns}, {"most", times.most_ns}}},
          {"batches", times.batches}, {"contended_share", times.contended}, {"threads", 1}, {"toolchain", times.toolchain}};
}

}  // namespace hone::engine
