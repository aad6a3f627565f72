// What llvm-mca says of a loop's body: how many cycles an iteration takes when one follows another, and what they wait
// for. A model: every load hits the first-level cache. Reading is pure; the tool runs in the compilers' jail.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "hone/base/result.h"

namespace hone::diagnose {

struct PortModel {
  double cycles = 0;            ///< an iteration, in a long row of them
  double throughput = 0;        ///< cycles an iteration if nothing waited for anything: ports alone
  double instructions = 0;      ///< a cycle
  double pressure_share = 0;    ///< of cycles in which ports are the bottleneck
  double dependency_share = 0;  ///< of cycles in which results of earlier instructions are
};

/// From what `llvm-mca -bottleneck-analysis` prints; nothing where that is not it.
[[nodiscard]] std::optional<PortModel> read_port_model(std::string_view text);

/// Runs the newest llvm-mca there is over `body` (AT&T). kUnavailable where there is none, kInput where it does not
/// know an instruction.
[[nodiscard]] Result<PortModel> model_ports(const std::string& body);

}  // namespace hone::diagnose
