// A kernel's launch plan as C++: one function that says whether the kernel applies, one that runs it.
// Owns the names that the generated code uses, so that a tensor called `new` or `begin` does no harm.
// Pure. Fails (kInput) where the plan names what does not exist.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/face/export/export.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task.h"

namespace hone::face {

/// C++ identifiers for the task's tensors and symbols: their own names, with _ behind where those are
/// taken.
class PlanNames {
 public:
  /// `taken`: besides keywords and what the generated code itself uses.
  PlanNames(const task::Task& task, std::set<std::string> taken);
  [[nodiscard]] const std::string& tensor(const std::string& name) const { return tensors_.at(name); }
  [[nodiscard]] const std::string& symbol(const std::string& name) const { return symbols_.at(name); }
  [[nodiscard]] bool has_symbol(const std::string& name) const { return symbols_.count(name) > 0; }
  /// An identifier near `name` that nothing else has.
  [[nodiscard]] std::string fresh(const std::string& name) const;

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::string> tensors_, symbols_;
};

/// Element type of a pointer in device code ("hone::bf16") and in the public header ("uint16_t").
[[nodiscard]] std::string_view device_type(task::DType type);
[[nodiscard]] std::string_view public_type(task::DType type);

struct PlanCode {
  std::string applies;        ///< bool LABEL_applies(int64_t B, …[, int64_t THREADS])
  std::string run;            ///< void LABEL_run(const float* x, …, int64_t B, …, int64_t THREADS)
  bool applies_threads = false;  ///< the former takes THREADS
  bool half_types = false;    ///< uses hone::bf16 or hone::f16
  bool vector_bytes = false;  ///< uses HONE_VECTOR_BYTES
  bool scratch = false;       ///< uses runtime::Layout and runtime::scratch
  std::vector<std::string> conditions;  ///< of `applies` beside positive extents, in words of the plan
};

/// `space` is the namespace that holds the kernel's functions, `label` begins the names of the two.
[[nodiscard]] Result<PlanCode> write_plan(const kernel::Kernel& kernel, const task::Task& task,
                                          const PlanNames& names, const ExportOptions& options,
                                          const std::string& space, const std::string& label);

}  // namespace hone::face
