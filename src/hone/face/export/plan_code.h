// A kernel's launch plan as C++: one function that says whether the kernel applies, one that runs it.
// Says no exactly where kernel::bind() fails, so the generated code runs no plan that hone would not.
// Pure. Fails (kInput) where the plan names what does not exist.
#pragma once
#include <string>
#include <vector>

#include "hone/base/result.h"
#include "hone/face/export/export.h"
#include "hone/face/export/names.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::face {

struct PlanCode {
  std::string applies;        ///< bool LABEL_applies(int64_t B, …[, int64_t THREADS])
  std::string run;            ///< void LABEL_run(const float* x, …, int64_t B, …, int64_t THREADS)
  bool applies_threads = false;  ///< the former takes THREADS
  bool narrow_types = false;  ///< uses hone::bf16, hone::f16 or a float of one byte
  bool vector_bytes = false;  ///< uses HONE_VECTOR_BYTES
  bool scratch = false;       ///< uses runtime::Layout and runtime::scratch
  std::vector<std::string> conditions;  ///< of `applies` beside positive extents, tunables filled in
};

/// `space` is the namespace that holds the kernel's functions, `label` begins the names of the two.
[[nodiscard]] Result<PlanCode> write_plan(const kernel::Kernel& kernel, const task::Task& task,
                                          const PlanNames& names, const ExportOptions& options,
                                          const std::string& space, const std::string& label);

}  // namespace hone::face
