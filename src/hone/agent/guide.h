// The guide to kernels (docs/kernels.md), or what of it somebody needs who writes in one language. Pure; thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "hone/kernel/kernel.h"

namespace hone::agent {

/// `guide` (Markdown) without what is for other languages alone: a section ("## ") whose heading begins with the name of
/// a language, a section "On the command line", which models have not, and a row of a table whose second cell begins with names of languages and a colon ("CUDA, HIP: …").
[[nodiscard]] std::string guide_for(kernel::Language language, std::string_view guide);

}  // namespace hone::agent
