// A CPU kernel loaded in a jailed runner process. See session.h for the contract.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "hone/kernel/kernel.h"
#include "hone/target/device/session.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

struct CpuSessionOptions {
  int threads = 0;                      ///< 0: all that we may run on
  /// Not 0: the build is hone's own call of an opponent's library, which has so many threads. It stays in
  /// its jail, but keeps its system calls. 0: a kernel, which keeps none.
  int library_threads = 0;
  std::chrono::seconds start_deadline{60};
  /// Batches will be timed: what an empty one takes is measured before anything of the build is in the process.
  bool timed = true;
  /// For checks: in each call of a batch, by turns, workspaces and scratch begin or end where mapped memory does.
  bool edges = false;
  /// Exact sizes of inputs and outputs; needed for a sanitized or emulated build.
  std::vector<int64_t> tensor_bytes;
  /// Of inputs, outputs and workspaces, for what the emulator says.
  std::vector<std::string> names;
};

/// Why a session did not start: the candidate's doing (a verdict), not an Error.
struct LoadFailure {
  std::string reason;
  std::string output;   ///< what the runner wrote to standard error, bounded
};

/// Starts a runner for `build` with `plan`, mapping `regions` (inputs read-only). `tensors` is the number
/// of task inputs and outputs together; Call::tensors must hold as many. Regions must outlive the session.
[[nodiscard]] Result<std::variant<std::unique_ptr<Session>, LoadFailure>> start_cpu_session(
    const Build& build, const kernel::BoundPlan& plan, int tensors,
    std::span<const Region* const> regions, const CpuSessionOptions& options);

}  // namespace hone::target
