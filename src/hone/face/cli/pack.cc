// hone pack: what a search on a card builds first, built ahead of time into one file, and that file as the end of a program.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"
#include "hone/engine/examine.h"
#include "hone/evaluate/baseline/stream_twin.h"
#include "hone/evaluate/oracle/card/card_reductions.h"
#include "hone/evaluate/parallel.h"
#include "hone/evaluate/verify/draw/draw_card.h"
#include "hone/face/bench/suite.h"
#include "hone/face/cli/cases.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/live_line.h"
#include "hone/face/cli/text.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/target/card.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/triton.h"

namespace hone::face {
namespace {

/// A kernel to pack, and what came of it.
struct PackJob {
  std::string name;
  const task::Task* task = nullptr;
  kernel::Kernel kernel;
  int turn = 0;                          ///< what comes first stays where not all fits
  task::Bindings bindings{};
  std::optional<target::Build> build;
  std::string why_not;
};

/// Of a card's own language: hone's own programs first, then what every run builds for its task (plain loops and twins), then the offers in
/// their order. Programs and twins are CUDA's alone.
std::vector<PackJob> jobs_for(const std::vector<task::Task>& tasks, const task::Task& own, kernel::Language language, int offers) {
  std::vector<PackJob> jobs;
  const bool cuda = language == kernel::Language::kCuda;
  for (const auto& [name, source] : {std::pair{"grader.cu", std::string(target::grader_source())}, {"draw.cu", evaluate::draw_source()}, {"reduce.cu", evaluate::reduce_source()}}) {
    if (!cuda) break;
    const auto kernel = kernel::parse_kernel(source, name);
    HONE_CHECK(kernel.has_value(), name);
    jobs.push_back({name, &own, *kernel, 0});
  }
  for (const task::Task& task : tasks) {
    jobs.push_back({task.name + ": plain", &task, pattern::plain_gpu(task, language), 1});
    if (cuda)
      for (kernel::Kernel& twin : evaluate::stream_twins_cuda(task)) jobs.push_back({task.name + ": stream twin", &task, std::move(twin), 1});
    std::vector<std::string> why_not;
    std::vector<pattern::Offer> library = pattern::offers(task, language, why_not);
    const size_t count = offers < 0 ? library.size() : std::min(library.size(), static_cast<size_t>(offers));
    for (size_t i = 0; i < count; ++i)
      jobs.push_back({fmt::format("{}: {}", task.name, engine::name_of(engine::seed_of(library[i]))), &task, library[i].kernel, 2 + static_cast<int>(i)});
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const PackJob& a, const PackJob& b) { return a.turn < b.turn; });
  return jobs;
}

/// Points of a kernel's tunables: the defaults, then one value changed at a time.
std::vector<kernel::Kernel> points_of(const kernel::Kernel& kernel, int most) {
  std::vector<kernel::Kernel> all{kernel};
  for (const kernel::Tunable& tunable : kernel.header.tunables)
    for (size_t k = 1; k < tunable.values.size() && std::ssize(all) < most; ++k) {
      kernel::Kernel point = kernel;
      point.config[tunable.name] = tunable.values[k];
      if (const auto fits = kernel::allowed(point.header, point.config, {}); !fits || *fits) all.push_back(std::move(point));
    }
  return all;
}

/// Plain loops, where the language has them, and the offers, a job for each point and case.
std::vector<PackJob> case_jobs_for(const std::vector<task::Task>& tasks, kernel::Language language, int offers, int points) {
  std::vector<PackJob> jobs;
  for (const task::Task& task : tasks) {
    std::vector<std::string> why_not;
    std::vector<pattern::Offer> library = pattern::offers(task, language, why_not);
    if (offers >= 0 && std::ssize(library) > offers) library.resize(static_cast<size_t>(offers));
    if (auto plain = pattern::plain_offer(task, language)) library.push_back(*std::move(plain));
    for (size_t i = 0; i < library.size(); ++i) {
      int turn = static_cast<int>(i);
      for (const kernel::Kernel& point : points_of(library[i].kernel, points)) {
        for (task::Bindings& shape : shapes_of_cases(point, task))
          jobs.push_back({fmt::format("{}: {}", task.name, library[i].pattern), &task, point, turn, std::move(shape), {}, {}});
        turn += static_cast<int>(library.size());
      }
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const PackJob& a, const PackJob& b) { return a.turn < b.turn; });
  return jobs;
}

/// As many at a time as there are processors.
void build_jobs(target::Toolchain& toolchain, std::vector<PackJob>& jobs) {
  constexpr std::chrono::seconds kDeadline(300), kSilence(10);
  LiveLine line;
  std::mutex mutex;
  size_t done = 0;
  auto said = std::chrono::steady_clock::now();
  evaluate::parallel_for(static_cast<int64_t>(jobs.size()), static_cast<int>(std::thread::hardware_concurrency()), [&](int64_t i) {
    PackJob& job = jobs[static_cast<size_t>(i)];
    target::BuildOptions options;
    options.deadline = kDeadline;
    auto outcome = toolchain.build(job.kernel, *job.task, job.bindings.empty() ? job.task->workloads.front().bindings : job.bindings, options);
    if (!outcome) job.why_not = outcome.error().to_string();
    else if (auto* const failure = std::get_if<target::BuildFailure>(&*outcome)) job.why_not = std::move(failure->reason);
    else job.build = std::get<target::Build>(*std::move(outcome));
    const std::scoped_lock lock(mutex);
    ++done;
    if (const auto now = std::chrono::steady_clock::now(); line.terminal() || now - said >= kSilence) {
      said = now;
      line.renew(fmt::format("{} of {} kernels", done, jobs.size()));
    }
  });
  line.end();
}

Result<std::vector<task::Task>> tasks_to_pack(const PackArguments& arguments) {
  HONE_TRY(const auto files, bench::suite_files(arguments.suite, arguments.only));
  std::vector<task::Task> tasks;
  for (const auto& file : files) {
    TaskArguments one = arguments.task;
    one.file = file.string();
    HONE_TRY(task::Task task, task_of(one));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Status make_pack(const PackArguments& arguments) {
  const bool cuda = arguments.target.starts_with("cuda:");
  if (!cuda && !arguments.target.starts_with("hip:"))
    return fail(ErrorCode::kUsage, fmt::format("\"{}\" is no architecture that kernels are packed for", arguments.target), "cuda:sm_90a, hip:gfx942, …: see hone targets");
  const kernel::Language own_language = cuda ? kernel::Language::kCuda : kernel::Language::kHip;
  const auto asked = arguments.language.empty() ? std::optional(own_language) : kernel::language_from(arguments.language);
  const kernel::Language language = asked.value_or(kernel::Language::kCpp);
  const bool triton = language == kernel::Language::kTriton;
  if (language != own_language && !triton && language != kernel::Language::kTileLang)
    return fail(ErrorCode::kUsage, fmt::format("kernels in \"{}\" are not packed for {}", arguments.language, arguments.target),
                fmt::format("{}, triton or tilelang", kernel::name_of(own_language)));
  HONE_TRY(const std::vector<task::Task> tasks, tasks_to_pack(arguments));
  HONE_TRY(const auto toolchain, triton ? target::triton_toolchain(arguments.target) : target::gpu_toolchain(arguments.target));
  const task::Task own = target::card_program_task();
  const auto start = std::chrono::steady_clock::now();
  std::vector<PackJob> jobs = language == own_language ? jobs_for(tasks, own, language, arguments.offers) : case_jobs_for(tasks, language, arguments.offers, arguments.points);
  if (jobs.empty()) return fail(ErrorCode::kUnavailable, fmt::format("there is nothing to pack: hone writes none of {} tasks in {}", tasks.size(), kernel::name_of(language)), "hone explain says why");
  build_jobs(*toolchain, jobs);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  target::PackWriter writer(static_cast<size_t>(arguments.most) << 20);
  std::set<std::string> keys, compilers;
  size_t packed = 0, unpacked = 0, failed = 0, kept = 0, left = 0;
  for (const PackJob& job : jobs) {
    if (!job.build) {
      fmt::print(stderr, "hone: not built: {}: {}\n", job.name, job.why_not);
      ++failed;
      continue;
    }
    const target::Build& build = *job.build;
    HONE_TRY(const std::vector<target::PackedBuild> parts, target::packed_of(build));
    bool whole = true, is_new = false;
    for (const target::PackedBuild& part : parts) {
      if (!whole || keys.contains(part.key)) continue;
      is_new = true;
      whole = writer.add(part);
      if (whole) keys.insert(part.key), unpacked += part.image.size();
    }
    left += !whole;
    if (!whole || !is_new) continue;
    ++packed;
    kept += build.wall_ns == 0;
    compilers.insert(target::without_shipped(build.toolchain));
  }
  if (packed == 0) return fail(ErrorCode::kUnavailable, fmt::format("none of {} kernels is packed", jobs.size()), jobs.front().why_not);
  const std::string content = writer.finish();
  HONE_TRY_VOID(base::write_file_atomic(arguments.file, content));
  fmt::print("{}: {} kernels of {} tasks for {} by {}; {}, unpacked {}; {:.0f} s, {} of them kept from before\n", arguments.file, packed, tasks.size(),
             arguments.target.substr(arguments.target.find(':') + 1), fmt::join(compilers, ", "), bytes_text(static_cast<double>(content.size())),
             bytes_text(static_cast<double>(unpacked)), seconds, kept);
  if (failed > 0) fmt::print("{} kernels were not built\n", failed);
  if (left > 0) fmt::print("{} kernels are left out: more than {} MiB\n", left, arguments.most);
  return {};
}

}  // namespace

Result<int> pack_kernels(const PackArguments& arguments) {
  if (arguments.suite.empty() && arguments.into.empty())
    return fail(ErrorCode::kUsage, "what is to be packed? Give a suite, or --into for a pack that is there", "see hone pack --help");
  if (!arguments.suite.empty()) HONE_TRY_VOID(make_pack(arguments));
  if (arguments.into.empty()) return 0;
  HONE_TRY_VOID(target::append_pack(arguments.into, arguments.file));
  std::error_code ignored;
  fmt::print("{}: {}, ends with {}\n", arguments.into, bytes_text(static_cast<double>(std::filesystem::file_size(arguments.into, ignored))), arguments.file);
  return 0;
}

}  // namespace hone::face
