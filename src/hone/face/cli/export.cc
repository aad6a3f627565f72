// hone export: an accepted kernel for other programs, as C++ or for PyTorch.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/engine/event/event.h"
#include "hone/engine/local.h"
#include "hone/face/cli/cases.h"
#include "hone/face/cli/context.h"
#include "hone/face/export/export.h"
#include "hone/face/export/torch_package.h"
#include "hone/face/export/torch_source.h"
#include "hone/pattern/library.h"
#include "hone/target/cpu.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/triton.h"

namespace hone::face {
namespace {

using nlohmann::json;

/// What is exported and what is known of it.
struct Exported {
  kernel::Kernel kernel;
  task::Task task;
  ExportOptions options;
  std::optional<engine::Place> verified;  ///< where a run or the kernel's file says it was
};

tl::unexpected<Error> elsewhere(const KernelArguments& arguments, const std::vector<std::string>& differences) {
  return fail(ErrorCode::kInput, fmt::format("{} was verified elsewhere, not here ({})", arguments.kernels.front(), fmt::join(differences, "; ")),
              "hone evaluate KERNEL TASK.toml --save FILE verifies it here; then export FILE");
}

/// Where it was verified is where the run was, which need not be here.
Status take_from_run(archive::Store& store, const archive::RunInfo& run, Exported& exported) {
  Provenance& from = exported.options.provenance;
  from.date = engine::day_of(run.created_unix_ms);
  HONE_TRY(const auto events, store.events(run.id));
  const engine::LoggedEvent first = events.empty() ? engine::LoggedEvent() : engine::read_event(events.front());
  if (const auto* const started = first.as<engine::event::Started>(); started && started->machine.is_object()) {
    exported.options.isa = base::string_at(started->machine, "isa").value_or(exported.options.isa);
    from.toolchain = started->toolchain;
    from.machine = fmt::format("{}, {} threads", base::string_at(started->machine, "model").value_or("?"), base::int_at(started->machine, "threads").value_or(0));
    if (!started->device.empty()) exported.verified = engine::Place{run.target, started->device, from.toolchain};
  }
  const json summary = json::parse(run.summary_json, nullptr, false);
  if (summary.is_object() && summary.contains("speedup") && summary["speedup"].is_object()) {
    const auto end = [&](const char* key) {  // an interval's upper end may be unbounded
      const json value = summary["speedup"].value(key, json());
      return value.is_number() ? fmt::format("{:.2f}", value.get<double>()) : std::string("no bound");
    };
    from.measured = fmt::format("{} times as fast as {} (95 % interval {} to {})", end("median"), base::string_at(summary, "opponent").value_or(""), end("low"), end("high"));
  }
  return {};
}

Result<Exported> exported_of(const KernelArguments& arguments) {
  auto store = read_archive();
  if (!store && store.error().code != ErrorCode::kNotFound) return tl::unexpected(store.error());
  Exported exported;
  const bool named = !arguments.task.file.empty() || !arguments.task.expression.empty();
  if (named) {
    HONE_TRY(exported.task, task_of(arguments.task));
  }
  HONE_TRY(exported.kernel, kernel_of(arguments.kernels.front(), store ? &*store : nullptr, named ? &exported.task : nullptr));
  std::optional<archive::RunInfo> run;
  if (store) {
    HONE_TRY(run, run_of_champion(*store, exported.kernel.hash()));
  }
  if (!named && run) {
    HONE_TRY(exported.task, task::parse_task(run->task_toml, "run " + run->id));
  } else if (!named) {
    return fail(ErrorCode::kUsage, "which task is the kernel for?", fmt::format("hone export KERNEL TASK.toml --as {}", arguments.as));
  }
  ExportOptions& options = exported.options;
  options.limits = target::cpu_limits(target::cpu_info());
  options.isa = target::cpu_info().isa;
  options.specialised = exported.task.workloads.front().bindings;
  // hone's patterns ask no more of a pointer than its type does.
  if (!exported.kernel.header.pattern.empty()) options.alignment = 0;
  for (const auto& workload : exported.task.workloads) options.provenance.shapes.push_back(task::bindings_text(workload.bindings));
  if (run) HONE_TRY_VOID(take_from_run(*store, *run, exported));
  if (const auto& verified = exported.kernel.header.verified) {
    exported.verified = engine::Place{verified->target, verified->device, verified->toolchain};
    if (!run) {
      options.provenance.date = verified->date;
      options.provenance.toolchain = verified->toolchain;
      options.provenance.machine = verified->device;
    }
  } else if (!run) {
    fmt::print(stderr, "note: this kernel is no champion of the archive; hone evaluate says whether it is right\n");
  }
  return exported;
}

/// The header checks nothing at run time, so that it is made where it was verified.
Result<std::vector<ExportedFile>> as_header(const KernelArguments& arguments, const Exported& exported) {
  HONE_TRY(const std::shared_ptr<target::Target> cpu, target::open_target("cpu"));
  const engine::Place& here = cpu->place();
  if (const auto differences = engine::not_as_verified(exported.kernel, exported.task, here); !differences.empty()) return elsewhere(arguments, differences);
  if (exported.verified && !exported.kernel.header.verified && exported.verified->device != here.device)
    return elsewhere(arguments, {fmt::format("device: {}, here {}", exported.verified->device, here.device)});
  return export_header(exported.kernel, exported.task, pattern::naive_cpp(exported.task), exported.options);
}

/// What is made for PyTorch looks where it runs; here only task and shapes count.
Result<TorchOptions> torch_options(const KernelArguments& arguments, const Exported& exported) {
  if (exported.verified)
    if (const auto differences = engine::not_as_verified(exported.kernel, exported.task, *exported.verified); !differences.empty())
      return elsewhere(arguments, differences);
  return TorchOptions{exported.options, exported.verified};
}

/// "cuda:sm_90a" of where it was verified: "NVIDIA H200, sm_90a, 132 multiprocessors, …".
std::string target_of(const engine::Place& place) {
  const size_t begin = place.device.find(", "), end = place.device.find(", ", begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return (place.target.starts_with("hip") ? "hip:" : "cuda:") + place.device.substr(begin + 2, end - begin - 2);
}

/// Machine code for each case, by what the kernel was verified with.
Result<std::vector<ExportedBuild>> builds_of(const KernelArguments& arguments, const Exported& exported) {
  const kernel::Kernel& kernel = exported.kernel;
  const std::string verified = exported.verified ? target_of(*exported.verified) : "", target = arguments.target.empty() ? verified : arguments.target;
  if (!target.starts_with("cuda:") && !target.starts_with("hip:"))
    return fail(ErrorCode::kUsage, target.empty() ? "which architecture is the machine code to be for?" : fmt::format("\"{}\" is no architecture", target),
                "--target cuda:sm_90a, hip:gfx942, …: see hone targets");
  if (!verified.empty() && target != verified) return elsewhere(arguments, {fmt::format("architecture: {}, asked for is {}", verified, target)});
  if (kernel.header.language == kernel::Language::kCpp)
    return fail(ErrorCode::kInput, "a kernel in c++ has no machine code for a card", "--as torch writes a package that compiles it");
  const bool triton = kernel.header.language == kernel::Language::kTriton;
  HONE_TRY(const auto toolchain, triton ? target::triton_toolchain(target) : target::gpu_toolchain(target));
  std::vector<ExportedBuild> all;
  for (const task::Bindings& shape : shapes_of_cases(kernel, exported.task)) {
    HONE_TRY(target::BuildOutcome outcome, toolchain->build(kernel, exported.task, shape, {}));
    if (const auto* const failure = std::get_if<target::BuildFailure>(&outcome)) {
      if (all.empty()) return fail(ErrorCode::kInput, fmt::format("it is not built for {}: {}", target, failure->reason));
      fmt::print(stderr, "note: not built for {}: {}\n", task::bindings_text(shape), failure->reason);
      continue;
    }
    ExportedBuild& made = all.emplace_back(ExportedBuild{shape, std::get<target::Build>(std::move(outcome)), {}});
    HONE_TRY(made.image, base::read_file(made.build.artifact));
    const std::string by = target::without_shipped(made.build.toolchain), first = by.substr(0, by.find(", "));
    if (exported.verified && (", " + exported.verified->toolchain + ",").find(", " + first + ",") == std::string::npos)
      return elsewhere(arguments, {fmt::format("toolchain: {}, here {}", exported.verified->toolchain, by)});
  }
  return all;
}

Status write(const std::filesystem::path& path, const std::string& content) {
  if (path.has_parent_path()) HONE_TRY_VOID(base::make_directories(path.parent_path()));
  return base::write_file_atomic(path, content);
}

}  // namespace

Result<int> export_kernel(const KernelArguments& arguments) {
  const std::string& form = arguments.as;
  const bool binary = form == "binary";
  if (form != "header" && form != "torch" && form != "kernelbench" && !binary)
    return fail(ErrorCode::kUsage, fmt::format("unknown form \"{}\"", form),
                "--as header: a C++ header and source without dependencies; torch: a Python package with a PyTorch operator; "
                "binary: the same with the kernel as machine code; kernelbench: one file with ModelNew");
  HONE_TRY(const Exported exported, exported_of(arguments));
  if (form == "kernelbench") {
    HONE_TRY(const TorchOptions options, torch_options(arguments, exported));
    HONE_TRY(const ExportedFile file, export_kernelbench(exported.kernel, exported.task, options));
    const std::filesystem::path path = arguments.output.empty() ? file.name : arguments.output;
    HONE_TRY_VOID(write(path, file.content));
    fmt::print("{}\n", path.string());
    return 0;
  }
  std::vector<ExportedFile> files;
  std::filesystem::path folder = arguments.output.empty() ? "." : arguments.output;
  if (form == "header") {
    HONE_TRY(files, as_header(arguments, exported));
  } else {
    HONE_TRY(TorchOptions options, torch_options(arguments, exported));
    if (binary) {
      HONE_TRY(options.builds, builds_of(arguments, exported));
    }
    HONE_TRY(files, export_torch(exported.kernel, exported.task, options));
    HONE_TRY(const std::string name, torch_name(options, exported.task));
    if (arguments.output.empty()) folder = name + "-torch";
  }
  HONE_TRY_VOID(base::make_directories(folder));
  for (const ExportedFile& file : files) {
    HONE_TRY_VOID(write(folder / file.name, file.content));
    if (form == "header") fmt::print("{}\n", (folder / file.name).string());
  }
  if (form != "header") fmt::print("{}\n", folder.string());
  return 0;
}

}  // namespace hone::face
