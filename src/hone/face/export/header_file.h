// The public header of an exported kernel and the comments that open both files: what is computed, on
// what, verified where. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/face/export/export.h"
#include "hone/face/export/names.h"

namespace hone::face {

/// `text` as lines of a // comment: the first begins with `head`, the others with as many blanks.
[[nodiscard]] std::string comment(std::string_view head, std::string_view text);

/// What the compiler must define for the code to be what was verified.
struct Isa {
  std::string name;       ///< "AVX-512"; empty where there is nothing to check
  std::string condition;  ///< of the preprocessor
};
[[nodiscard]] Isa isa_of(std::string_view isa);

/// What both files are about.
struct Subject {
  const kernel::Kernel& kernel;
  const task::Task& task;
  const kernel::Kernel* fallback;         ///< may be null
  const ExportOptions& options;
  const PlanNames& names;
  std::string name;                       ///< of function and files
  std::vector<std::string> conditions{};  ///< of PlanCode
  bool applies_threads = false;           ///< NAME_applies() takes `threads`
  bool scratch = false;                   ///< memory is kept from call to call

  [[nodiscard]] bool pooled() const { return options.threads == ExportThreads::kPool; }
  /// Names of the extents, as parameters are ordered.
  [[nodiscard]] std::vector<std::string> extents() const;
  /// "const float* x", …, "int64_t B", "int `threads`"; the last only for a pool.
  [[nodiscard]] std::vector<std::string> parameters(const std::string& threads) const;
  /// Of NAME_applies().
  [[nodiscard]] std::vector<std::string> applies_parameters(const std::string& threads) const;
};

[[nodiscard]] std::string provenance(const Subject& subject);
[[nodiscard]] std::string header_file(const Subject& subject);

}  // namespace hone::face
