// What somebody needs to know who writes kernels in one language. Pure; thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "hone/agent/prompt.h"
#include "hone/kernel/kernel.h"

namespace hone::agent {

/// For prompts of earlier versions: `guide` (Markdown) without what is for other languages alone: a section ("## ") whose heading begins with the name of
/// a language, a section "On the command line", which models have not, and a row of a table whose second cell begins with names of languages and a colon ("CUDA, HIP: …").
[[nodiscard]] std::string guide_for(kernel::Language language, std::string_view guide);

/// own_documents() with what the headers offer written into the guides: what a run keeps, so that a header that offers more changes no question of it.
[[nodiscard]] Documents documents_to_keep();

/// What a writer of kernels in that language has to know, from `documents` (prompts/guide*.md): header, calls, what hone has for
/// it, one whole kernel. kNotFound for a language that nobody runs.
[[nodiscard]] Result<std::string> language_guide(kernel::Language language, const Documents& documents);

}  // namespace hone::agent
