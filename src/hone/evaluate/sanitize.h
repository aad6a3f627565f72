// The sanitizer stage of a promotion: the candidate, built with AddressSanitizer and
// UndefinedBehaviorSanitizer, on small and odd shapes. It finds what the checks of outputs and guards
// cannot see: steps beyond a workspace, scratch, a global or the stack, overflowing integers, misaligned
// pointers, shifts by too much.
#pragma once
#include <span>
#include <string>

#include "hone/evaluate/loader.h"

namespace hone::evaluate {

struct Sanitized {
  Verdict verdict;            ///< accepted: nothing was found, or nothing could be looked for
  int shapes = 0;             ///< that it ran on
  std::string unavailable;    ///< what could not be looked for, and why; empty when all was
};

/// One call of each input family on each of `shapes`. The kernel must have been accepted without sanitizers: a
/// build that fails now is its doing. `until_ns` (base::system_clock()): no shape is begun later, and what goes on then is left without a word.
[[nodiscard]] Result<Sanitized> sanitize(const kernel::Kernel& kernel, std::span<const task::Bindings> shapes,
                                         Loader& loader, Spent& spent, int64_t until_ns = INT64_MAX);

/// The first line of a sanitizer's report, without addresses and process numbers; empty when there is none.
[[nodiscard]] std::string first_finding(const std::string& report);
/// The lines of a report that name a place in the kernel's own source, without addresses; what was touched, too.
[[nodiscard]] std::string finding_frames(const std::string& report);

}  // namespace hone::evaluate
