// What agents answer, typed: taken out of a reply's text and checked, or refused with a sentence that the
// model can act on. Nothing is guessed: an answer in two minds is refused. Pure; thread-safe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/kernel/kernel.h"

#include <nlohmann/json.hpp>

namespace hone::agent {

/// Why an answer cannot be used, for the model and the record.
struct Unusable {
  std::string problem;
};

/// Of generator, optimiser and fixer.
struct KernelAnswer {
  std::string action, reason, lesson;
  double expected_speedup = 1;
  kernel::Kernel kernel;
};
[[nodiscard]] tl::expected<KernelAnswer, Unusable> kernel_answer(std::string_view text, kernel::Language language);

/// A kernel somebody sent: parses, is in `language`, and asks for nothing that a kernel has no business
/// asking for (files by path, hone's own marks in the header).
[[nodiscard]] tl::expected<kernel::Kernel, Unusable> foreign_kernel(std::string_view source, kernel::Language language);

/// Of the diagnoser. Evidence may name only `metrics`; there may be none.
struct DiagnosisAnswer {
  std::string bottleneck;
  struct Evidence {
    std::string metric, says;
    double value = 0;
  };
  std::vector<Evidence> evidence;
  std::vector<std::string> plan;
  double expected_speedup = 0;   ///< of the plan over the kernel; 0: it promised nothing
};
[[nodiscard]] tl::expected<DiagnosisAnswer, Unusable> diagnosis_answer(std::string_view text, const std::vector<std::string>& metrics);

/// Of the researcher.
struct ResearchAnswer {
  std::vector<std::pair<std::string, std::string>> applies;  ///< name, why
  std::vector<std::string> ideas;
};
[[nodiscard]] tl::expected<ResearchAnswer, Unusable> research_answer(std::string_view text);

/// Of the analyst. The task file is text: whoever takes it parses it and shows it to the user.
struct TaskAnswer {
  std::string name, toml;
  std::vector<std::string> assumptions;
};
[[nodiscard]] tl::expected<TaskAnswer, Unusable> task_answer(std::string_view text);

}  // namespace hone::agent
