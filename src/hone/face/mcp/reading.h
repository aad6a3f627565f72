// What clients of `hone mcp` may read: guides to each language, the task language, device headers, patterns; and prompts for
// their own models. Texts of the program itself. Pure; thread-safe.
#pragma once
#include <vector>

#include "hone/face/mcp/server.h"

namespace hone::face::mcp {

/// hone://guide/LANGUAGE, hone://operations, hone://kernels, hone://header/PATH, hone://pattern/NAME; not listed one by one,
/// hone://doc/NAME.
[[nodiscard]] std::vector<Resource> resources();
/// write_kernel and improve_kernel.
[[nodiscard]] std::vector<PromptText> prompts();

}  // namespace hone::face::mcp
