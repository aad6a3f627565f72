#include "hone/diagnose/profile/port_model.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "hone/base/file.h"
#include "hone/diagnose/profile/tools.h"
#include "hone/target/toolchain/compiler_run.h"

namespace hone::diagnose {
namespace {

/// The number after `key` and what separates them.
std::optional<double> number_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  const size_t start = text.find_first_not_of(" :[\t");
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<PortModel> read_port_model(std::string_view text) {
  const auto iterations = number_after(text, "Iterations"), cycles = number_after(text, "Total Cycles"), ipc = number_after(text, "IPC"),
             throughput = number_after(text, "Block RThroughput");
  if (!iterations || !cycles || !throughput || *iterations <= 0 || *cycles <= 0) return std::nullopt;
  PortModel model;
  model.cycles = *cycles / *iterations;
  model.throughput = *throughput;
  model.instructions = ipc.value_or(0);
  model.pressure_share = number_after(text, "Resource Pressure").value_or(0) / 100;
  model.dependency_share = number_after(text, "Data Dependencies").value_or(0) / 100;
  return model;
}

Result<PortModel> model_ports(const std::string& body) {
  static const std::string tool = first_tool({"llvm-mca-22", "llvm-mca-19", "llvm-mca-16", "llvm-mca"});
  if (tool.empty()) return fail(ErrorCode::kUnavailable, "there is no llvm-mca", "apt-get install llvm-22");
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("ports"));
  HONE_TRY_VOID(base::write_file_atomic(scratch.path() / "loop.s", body));
  target::ToolNeeds needs;
  needs.output_limit = size_t{4} << 20;
  HONE_TRY(const auto run,
           target::run_compiler({tool, "-iterations=100", "-bottleneck-analysis", "-instruction-info=0", "-resource-pressure=0", "loop.s"},
                                scratch.path(), scratch.path(), std::chrono::seconds(20), needs));
  const auto model = run.ok ? read_port_model(run.out) : std::nullopt;
  if (!model) return fail(ErrorCode::kInput, tool + " cannot read the loop");
  return *model;
}

}  // namespace hone::diagnose
