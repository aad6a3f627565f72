// A header written from its values, for kernels that come without a complete one. Pure.
#pragma once
#include <string>

#include "hone/kernel/kernel.h"

namespace hone::kernel {

/// The header comment that says what `header` says, "/* hone … */", without `config` and [verified]: what a kernel made of
/// values begins with. Parses back to an equal header (tunables and workspaces in the order of their names).
[[nodiscard]] std::string header_comment(const Header& header);

/// The kernel with its header's text written anew from `header` (its layout and comments are lost). kInput where what is
/// written does not parse.
[[nodiscard]] Result<Kernel> with_header(const Kernel& kernel, const Header& header);

}  // namespace hone::kernel
