// Commands that look and do not measure: runs, show, targets, report, check.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ctime>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/archive/locks.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/process/process.h"
#include "hone/diagnose/profile/tools.h"
#include "hone/engine/event/event.h"
#include "hone/engine/ledger.h"
#include "hone/engine/local.h"
#include "hone/evaluate/baseline/pytorch.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/face/report/report.h"
#include "hone/face/report/run_log.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/card.h"
#include "hone/target/cpu.h"
#include "hone/target/device/counters.h"
#include "hone/target/gpu/driver.h"
#include "hone/target/simt_device.h"
#include "hone/target/toolchain/cuda_tools.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/python_compiler.h"
#include "hone/target/toolchain/triton.h"

namespace hone::face {
namespace {

using nlohmann::json;

constexpr int kRunsShown = 1000;

std::string date_text(int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

/// A running run that nobody holds was killed.
std::string status_of(const archive::RunInfo& run) {
  if (run.status != "running") return run.status;
  const auto held = archive::held_runs(archive::default_archive());
  if (!held) return run.status;
  return std::find(held->begin(), held->end(), run.id) == held->end() ? "killed" : "running";
}

json json_of(const archive::RunInfo& run, const std::string& status) {
  const json summary = json::parse(run.summary_json, nullptr, false);
  return {{"run", run.id}, {"task", run.task_name}, {"target", run.target}, {"status", status},
          {"created_unix_ms", run.created_unix_ms}, {"champion", run.champion.empty() ? json() : json(run.champion)},
          {"summary", summary.is_discarded() ? json() : summary}};
}

/// What models were asked, what came of it and whose advice stood in the question; nothing without models.
void print_ledger(const std::vector<engine::LedgerCall>& calls) {
  if (calls.empty()) return;
  Table table({"question", "of", "about", "agent", "model", "tokens", "dollars", "seconds", "what came of it"});
  for (const engine::LedgerCall& call : calls) {
    const agent::Cost cost = call.answered ? call.answered->charged : agent::Cost();
    std::string came = engine::outcome_text(call);
    if (!call.advice.empty()) came += fmt::format("; advised by {}", fmt::join(call.advice, ", "));
    const auto number = [](int question) { return question < 0 ? std::string() : fmt::format("{}", question); };
    table.add({number(call.asked.ask), number(call.follows), number(call.about), call.asked.agent, call.asked.name, fmt::format("{}", cost.tokens),
               cost.nanodollars > 0 ? fmt::format("{:.4f}", static_cast<double>(cost.nanodollars) * 1e-9) : "-", fmt::format("{:.1f}", call.seconds), came});
  }
  fmt::print("\nquestions to models (of: the question that the conversation goes on from; about: the one whose kernel it is about)\n{}", table.to_string());
}

/// "1.50x" and whom against; nothing of a run that was compared with nobody.
std::optional<std::pair<std::string, std::string>> speedup_of(const archive::RunInfo& run) {
  const json summary = json::parse(run.summary_json, nullptr, false);
  const auto member = [](const json& object, const char* key) { return object.is_object() ? object.value(key, json()) : json(); };
  const json median = member(member(summary, "speedup"), "median"), opponent = member(summary, "opponent");
  if (!median.is_number()) return std::nullopt;
  return std::pair(fmt::format("{:.2f}x", median.get<double>()), opponent.is_string() ? opponent.get<std::string>() : std::string());
}

Result<int> show_run(archive::Store& store, const archive::RunInfo& run, bool as_json) {
  const std::string status = status_of(run);
  HONE_TRY(const auto events, store.events(run.id));
  const std::vector<engine::LedgerCall> calls = engine::ledger_of(engine::read_events(events), engine::ledger_sources(store));
  if (as_json) {
    json shown = json_of(run, status);
    if (!calls.empty()) shown["questions"] = engine::ledger_json(calls);
    fmt::print("{}\n", base::canonical_json(shown));
    return 0;
  }
  fmt::print("run {}  {}  {}  {}\n\n", run.id, run.task_name, date_text(run.created_unix_ms), status);
  bool several = false;   // cards
  engine::for_each_event<engine::event::Screened>(events, [&](const engine::event::Screened& e, const engine::LoggedEvent&) { several |= e.card.has_value(); });
  std::vector<std::string> head = {"n", "kernel", "verdict", "score", "author", "action", "configuration"};
  if (several) head.emplace_back("card");
  Table table(head);
  engine::for_each_event<engine::event::Screened>(events, [&](const engine::event::Screened& e, const engine::LoggedEvent&) {
    std::vector<std::string> row = {fmt::format("{}", e.n), base::short_hash(e.kernel), std::string(evaluate::name_of(e.screening.verdict.kind)),
                                    e.score > 0 ? fmt::format("{:.2f}x", e.score) : "-", e.author, e.action, report::config_text(e.config)};
    if (several) row.push_back(e.card.value_or("-"));
    table.add(row);
  });
  fmt::print("{}", table.to_string());
  print_ledger(calls);
  if (!run.champion.empty()) fmt::print("\nchampion: {}   (hone show {})\n", base::short_hash(run.champion), base::short_hash(run.champion));
  if (status == "killed" || status == "interrupted" || status == "failed") fmt::print("\nhone resume {} goes on with it\n", run.id);
  return 0;
}

Result<int> show_kernel(archive::Store& store, const archive::KernelRow& row, bool as_json) {
  if (as_json) {
    const json config = json::parse(row.config_json, nullptr, false);
    fmt::print("{}\n", base::canonical_json(json{{"kernel", row.hash}, {"language", row.language}, {"author", row.author},
                                                 {"parent", row.parent.empty() ? json() : json(row.parent)}, {"action", row.action}, {"config", config},
                                                 {"source", row.source}}));
    return 0;
  }
  HONE_TRY(const kernel::Kernel kernel, kernel_of(row.hash, &store));
  fmt::print("// kernel {}  by {}  {}\n", row.hash, row.author, row.action);
  if (!row.parent.empty()) fmt::print("// from {}\n", base::short_hash(row.parent));
  HONE_TRY(const auto run, run_of_champion(store, row.hash));
  if (run) {
    fmt::print("// champion of run {} ({}, {})", run->id, run->task_name, date_text(run->created_unix_ms));
    if (const auto speedup = speedup_of(*run)) fmt::print(": {} {}", speedup->first, speedup->second);
    fmt::print("\n");
  }
  fmt::print("{}\n", kernel::with_config(kernel, kernel.config));
  return 0;
}

}  // namespace

Result<int> list_runs(bool as_json, bool markdown) {
  if (markdown) {
    fmt::print("{}", engine::events_page());
    return 0;
  }
  auto store = read_archive();
  std::vector<archive::RunInfo> runs;
  if (store) {
    HONE_TRY(runs, store->runs(kRunsShown));
  } else if (store.error().code != ErrorCode::kNotFound) {
    return tl::unexpected(store.error());
  }
  if (as_json) {
    json all = json::array();
    for (const auto& run : runs) all.push_back(json_of(run, status_of(run)));
    fmt::print("{}\n", base::canonical_json(json{{"runs", all}}));
    return 0;
  }
  if (runs.empty()) {
    fmt::print("no runs yet: hone optimize examples/softmax.toml\n");
    return 0;
  }
  Table table({"run", "task", "target", "began", "status", "champion", "speedup", "against"});
  for (const auto& run : runs) {
    const auto speedup = speedup_of(run).value_or(std::pair<std::string, std::string>("-", "-"));
    table.add({run.id, run.task_name, run.target, date_text(run.created_unix_ms), status_of(run),
               run.champion.empty() ? "-" : base::short_hash(run.champion),
               speedup.first, speedup.second});
  }
  fmt::print("{}", table.to_string(""));
  return 0;
}

Result<int> show(const std::string& what, bool as_json) {
  HONE_TRY(archive::Store store, read_archive());
  const auto run = store.run(what);
  if (run) return show_run(store, *run, as_json);
  if (what == "last") return tl::unexpected(run.error());
  const auto row = store.kernel(what);
  if (row) return show_kernel(store, *row, as_json);
  // Several that fit, or an archive that cannot be read, say more than "not found".
  const bool digits = std::all_of(what.begin(), what.end(), [](unsigned char c) { return std::isxdigit(c); });
  if (digits && what.size() <= 12 && run.error().code != ErrorCode::kNotFound) return tl::unexpected(run.error());
  if (digits && row.error().code != ErrorCode::kNotFound) return tl::unexpected(row.error());
  return fail(ErrorCode::kNotFound, fmt::format("no run and no kernel of the archive begins with \"{}\"", what), "hone runs lists the runs");
}

namespace {

json builds_json() {
  json all = json::array();
  const auto add = [&](const char* name, const Result<target::CardCompiler>& compiler) {
    if (compiler)
      all.push_back({{"name", name}, {"toolchain", compiler->toolchain}, {"archs", compiler->archs},
                     {"disassembler", compiler->disassembler.empty() ? json() : json(compiler->disassembler)},
                     {"shipped", compiler->shipped.empty() ? json() : json(compiler->shipped)}});
  };
  add("cuda", target::cuda_compiler());
  add("hip", target::hip_compiler());
  return all;
}

/// What ships built, and whether that is all.
std::string shipped_text(const std::string& shipped, const std::string& toolchain) {
  return fmt::format("built ahead of time: {}{}", shipped, target::is_shipped(toolchain) ? "; there is no compiler, so no other kernel is built" : "");
}

/// What hone build takes.
void print_builds() {
  const auto print = [](const char* name, const Result<target::CardCompiler>& compiler, std::string_view facts, std::string_view disassembler) {
    fmt::print("{}:ARCH\n", name);
    if (!compiler) return fmt::print("  {}; {}\n", compiler.error().message, compiler.error().hint);
    fmt::print("  builds only (hone build), no card needed\n  toolchain: {}\n  ARCH: {}\n  facts: {}\n  instruction mix: {}\n", compiler->toolchain,
               fmt::join(compiler->archs, ", "), facts,
               compiler->disassembler.empty() ? fmt::format("none; it takes {}", disassembler) : "by " + compiler->disassembler);
    if (!compiler->shipped.empty()) fmt::print("  {}\n", shipped_text(compiler->shipped, compiler->toolchain));
  };
  print("cuda", target::cuda_compiler(), "registers, spills, stack, shared and constant memory, code; occupancy (modelled)",
        "nvdisasm or cuobjdump (pip install nvidia-cuda-nvdisasm)");
  print("hip", target::hip_compiler(), "vector, accumulation and scalar registers, spills, stack, shared memory, code; occupancy (modelled)",
        "llvm-objdump-22 (apt-get install llvm-22)");
}

/// What hone profile and hone diagnose can read on this machine, one thing a text; the reason where they cannot.
std::string cpu_profiling() {
  const target::Counters counters(::getpid(), target::hardware_events());
  return fmt::format("{}; {}", counters.absent().empty() ? "hardware counters" : "no hardware counters (" + counters.absent() + ")",
                     diagnose::first_tool({"valgrind"}).empty() ? "no modelled caches (there is no valgrind)" : "caches modelled by valgrind");
}

std::string card_profiling() {
  const auto ncu = target::find_card_tool("ncu", "HONE_NCU"), sanitizer = target::find_card_tool("compute-sanitizer", "HONE_COMPUTE_SANITIZER");
  // NVIDIA's driver says here whether it lets anybody but an administrator count.
  const auto settings = base::read_file("/proc/driver/nvidia/params");
  const bool kept_back = ::geteuid() != 0 && settings && settings->find("RmProfilingAdminOnly: 1") != std::string::npos;
  const std::string why_not = !ncu ? ncu.error().message : kept_back ? "the driver keeps them for administrators" : "";
  return fmt::format("{}; {}", why_not.empty() ? "counters by ncu" : fmt::format("no counters ({}): kernels that can be compiled are timed with stages left out", why_not),
                     sanitizer ? "promotions watched by compute-sanitizer" : "no sanitizers on the card (" + sanitizer.error().message + ")");
}

json json_of(const target::CardInfo& card) {
  const auto toolchain = target::gpu_toolchain(card.driver + ":" + card.arch);
  return {{"name", card.target()}, {"device", card.name}, {"arch", card.arch}, {"multiprocessors", card.sms},
          {"memory_bytes", card.memory_bytes}, {"l2_bytes", card.l2_bytes}, {"driver", card.driver_version},
          {"toolchain", toolchain ? json((*toolchain)->name()) : json()}, {"limits", target::card_limits(card)}, {"profiling", card_profiling()}};
}

std::string text_of(const target::CardInfo& card) {
  const auto toolchain = target::gpu_toolchain(card.driver + ":" + card.arch);
  const std::string shipped = target::ShippedBuilds::here().to_string(card.arch);
  return fmt::format("{}\n  {}, {}, {} multiprocessors, memory {}, L2 {}, driver {}\n  toolchain: {}\n{}  profiling: {}\n", card.target(), card.name, card.arch, card.sms,
                     bytes_text(static_cast<double>(card.memory_bytes)), bytes_text(static_cast<double>(card.l2_bytes)), card.driver_version,
                     toolchain ? (*toolchain)->name() : "none: " + toolchain.error().message + "; " + toolchain.error().hint,
                     shipped.empty() || !toolchain ? "" : "  " + shipped_text(shipped, (*toolchain)->name()) + "\n", card_profiling());
}

}  // namespace

Result<int> list_targets(bool as_json) {
  const target::CpuInfo& cpu = target::cpu_info();
  const auto toolchain = target::cpp_toolchain();
  const auto& torch = evaluate::find_pytorch();
  const std::string jail = base::probe_jail().to_string();
  const target::CpuPeaks peaks = target::cpu_peaks();
  const auto simt = target::simt_toolchain();
  const auto triton = target::python_compiler(target::kTritonRow), tilelang = target::python_compiler(target::kTileLangRow);
  if (as_json) {
    json cpu_target = {{"name", "cpu"}, {"machine", json::parse(engine::machine_json())},
                       {"toolchain", toolchain ? json((*toolchain)->name()) : json()}, {"jail", jail},
                       {"profiling", cpu_profiling()}, {"peaks", target::to_json(peaks)},
                       {"pytorch", torch ? json(torch->torch_version) : json()}};
    json line = {{"targets", json::array({cpu_target})}};
    for (const auto* const driver : target::gpu::drivers())
      for (const target::CardInfo& card : target::cards(driver->name).value_or(std::vector<target::CardInfo>())) line["targets"].push_back(json_of(card));
    if (simt)
      for (const auto language : {kernel::Language::kCuda, kernel::Language::kHip}) {
        const target::SimtDevice& device = *target::simt_device(language);
        line["targets"].push_back({{"name", device.target}, {"toolchain", (*simt)->name()}, {"limits_of", device.model},
                                   {"limits", target::simt_limits(device)}, {"jail", jail}});
      }
    if (triton)
      line["targets"].push_back({{"name", "emulator:triton"}, {"toolchain", *triton}, {"limits_of", target::simt_device(kernel::Language::kTriton)->model},
                                 {"limits", target::simt_limits(*target::simt_device(kernel::Language::kTriton))}, {"jail", jail}});
    line["tilelang"] = tilelang ? json(*tilelang) : json();
    line["builds"] = builds_json();
    fmt::print("{}\n", base::canonical_json(line));
    return 0;
  }
  fmt::print("cpu\n  {}, {} threads, {}\n", cpu.model, cpu.threads, cpu.isa);
  fmt::print("  L1 {}, L2 {}, last level {}, memory {}\n", bytes_text(static_cast<double>(cpu.l1_bytes)),
             bytes_text(static_cast<double>(cpu.l2_bytes)), bytes_text(static_cast<double>(cpu.l3_bytes)),
             bytes_text(static_cast<double>(cpu.memory_bytes)));
  fmt::print("  memory peaks: read {:.3g}, write {:.3g}, copy {:.3g} GB/s (read and written){}\n", peaks.read, peaks.write, peaks.copy,
             peaks.quiet ? "" : "; others used the CPU meanwhile");
  fmt::print("  multiply-adds: f64 {:.3g}, f32 {:.3g}, bf16 {:.3g}, i8 {:.3g} billion/s\n", peaks.f64, peaks.f32, peaks.bf16, peaks.i8);
  fmt::print("  toolchain: {}\n", toolchain ? (*toolchain)->name() : "none: " + toolchain.error().message + "; " + toolchain.error().hint);
  fmt::print("  jail: {}\n  profiling: {}\n", jail, cpu_profiling());
  fmt::print("  PyTorch: {}\n", torch ? fmt::format("{} ({})", torch->torch_version, torch->python.string()) : torch.error().message);
  for (const auto* const driver : target::gpu::drivers()) {
    const auto cards = target::cards(driver->name);
    if (!cards || cards->empty()) fmt::print("{}\n  {}\n", driver->name, cards ? "the driver has no card" : cards.error().message);
    if (cards)
      for (const target::CardInfo& card : *cards) fmt::print("{}", text_of(card));
  }
  for (const auto language : {kernel::Language::kCuda, kernel::Language::kHip}) {
    const target::SimtDevice& device = *target::simt_device(language);
    fmt::print("{}\n  {}\n", device.target,
               simt ? fmt::format("{} kernels on the CPU, for correctness only: no times\n  limits of {}: {} multiprocessors, waves of {}, {} of "
                                  "shared memory a block\n  toolchain: {}", kernel::name_of(language), device.model, device.sms, device.wave,
                                  bytes_text(static_cast<double>(device.shared_max)), (*simt)->name())
                    : simt.error().message + "; " + simt.error().hint);
  }
  fmt::print("emulator:triton\n  {}\n", triton ? "triton kernels interpreted on the CPU, for correctness only: no times; hone build takes them for cuda:ARCH and hip:ARCH too\n  toolchain: " + *triton
                                                : triton.error().message + "; " + triton.error().hint);
  fmt::print("TileLang\n  {}\n", tilelang ? "its kernels are taken where CUDA's and HIP's are, the emulator included\n  toolchain: " + *tilelang : tilelang.error().message + "; " + tilelang.error().hint);
  print_builds();
  return 0;
}

Result<int> report_run(const std::string& what, const std::string& output) {
  HONE_TRY(archive::Store store, read_archive());
  HONE_TRY(const archive::RunInfo run, store.run(what));
  HONE_TRY(const std::string page, run_report(store, run));
  std::filesystem::path path = output;
  if (path.empty()) path = home() / "reports" / (run.id + ".html");
  if (path.has_parent_path()) HONE_TRY_VOID(base::make_directories(path.parent_path()));
  HONE_TRY_VOID(base::write_file_atomic(path, page));
  fmt::print("{}\n", path.string());
  return 0;
}

Result<int> check_archive() {
  HONE_TRY(archive::Store store, read_archive());
  HONE_TRY(const auto problems, store.check());
  for (const std::string& problem : problems) fmt::print("{}\n", problem);
  if (problems.empty()) fmt::print("{} is sound\n", archive::default_archive().string());
  return problems.empty() ? 0 : 1;
}

}  // namespace hone::face
