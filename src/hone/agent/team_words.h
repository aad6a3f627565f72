// Words and limits that a team's prompts share. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/agent/prompt.h"
#include "hone/base/result.h"
#include "hone/kernel/kernel.h"

namespace hone::agent {

/// Repairs of one kernel that are asked for.
inline constexpr int kFixes = 3;

/// Marks of advice in a question: labels of its material(), and what stands before the words of hone's rules.
inline constexpr const char *kResearchMaterial = "RESEARCH", *kDiagnosisMaterial = "DIAGNOSIS", *kLessonsMaterial = "LESSONS";
inline constexpr const char* kRulesSay = "hone's rules say:";

/// How the fence around a kernel is marked.
[[nodiscard]] std::string fence_of(kernel::Language language);

/// The kernel's file with its configuration, as material.
[[nodiscard]] std::string source_of(const kernel::Kernel& kernel);

/// The library's kernels in the words of `documents`; empty without them.
[[nodiscard]] std::string worked_kernels(const Documents& documents, const std::vector<std::string>& files);

struct Metric;
/// What a diagnoser is asked, in the words of `documents`: metrics may be missing, all of them too; `rules` is what hone's
/// own rules found, empty where they found nothing.
[[nodiscard]] Result<std::string> diagnoser_question(const Documents& documents, const kernel::Kernel& kernel, const std::vector<Metric>& metrics,
                                                     const std::string& rules, const std::string& workload = {});

}  // namespace hone::agent
