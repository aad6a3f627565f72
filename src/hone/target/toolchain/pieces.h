// A kernel's namespaces as kernels of their own. A compiler does one after the other what stands in one file; apart they are compiled
// side by side, and one whose tunables stay as they were is not compiled again. Pure.
#pragma once
#include <vector>

#include "hone/kernel/kernel.h"

namespace hone::target {

/// One for each namespace that launches' functions are in: its text and what is outside all namespaces, on the lines where they stood,
/// the tunables and symbols that it names, its launches. Empty unless that says the same as the whole: outside namespaces there are
/// directives and comments alone, none names another, and a macro that one defines ends in it.
[[nodiscard]] std::vector<kernel::Kernel> pieces_of(const kernel::Kernel& kernel);

}  // namespace hone::target
