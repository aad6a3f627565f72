// An accepted CPU kernel as a C++ header and source that any program can build and call: the kernel,
// the device headers it uses, its launch plan as plain C++ and a small thread pool, in two files with
// no dependency on hone. Pure: it makes text and writes nothing. Fails (kInput) where the plan names
// something unknown, or where the source includes a file that would not travel.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::face {

/// Who runs the blocks of a grid.
enum class ExportThreads : uint8_t {
  kPool,    ///< std::threads kept from call to call, and the caller
  kSerial,  ///< the caller alone; THREADS is 1 and the function has no parameter `threads`
};

/// What the files say about where the kernel comes from. Text for people; empty fields are left out.
struct Provenance {
  std::string machine;              ///< "AMD EPYC 9575F 64-Core Processor, 16 threads"
  std::string toolchain;            ///< "g++ 12.2.0"
  std::string date;                 ///< of the verdict, "2025-03-01"; empty: not verified, and the files say so
  std::vector<std::string> shapes;  ///< verified, one line each: "B = 4096, D = 8192"
  std::string measured;             ///< "1.84 times as fast as … (95% interval 1.79 to 1.90)"
};

struct ExportOptions {
  std::string name;                 ///< of function and files; empty: the task's
  std::string space = "kernels";    ///< namespace, "a::b" for a nested one
  ExportThreads threads = ExportThreads::kPool;
  /// Bytes that every pointer must be aligned to; calls with others go to the fall-back. 0: no more
  /// than the element type needs. The evaluator places tensors on cache lines, so any less is a
  /// promise of whoever wrote the kernel (hone's patterns keep it).
  int alignment = 64;
  kernel::Limits limits;            ///< L1_BYTES and the like of the machine it was verified on
  task::Bindings specialised;       ///< values of the symbols that the kernel's header specialises
  std::string isa;                  ///< target::CpuInfo::isa there: building for less is warned of
  std::vector<std::string> flags = {"-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math",
                                    "-ffp-contract=fast"};
  std::vector<std::string> gnu_flags = {"-fschedule-insns", "-fsched-pressure"};  ///< and g++'s
  Provenance provenance;
};

struct ExportedFile {
  std::string name;
  std::string content;
};

/// NAME.h and NAME.cc. `fallback` runs where `kernel` does not apply: something simple that always
/// does, such as the trusted naive kernel.
[[nodiscard]] Result<std::vector<ExportedFile>> export_header(const kernel::Kernel& kernel,
                                                              const task::Task& task,
                                                              const std::optional<kernel::Kernel>& fallback,
                                                              const ExportOptions& options);

}  // namespace hone::face
