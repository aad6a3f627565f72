// What the machine code of a C++ kernel may not do, read in the compiler's own assembly: ask who it is, when and where it
// runs, for random numbers, for the system; keep something in registers that nobody clears between calls. Pure.
#pragma once
#include <string>
#include <string_view>

namespace hone::target {

/// Why what the compiler wrote may not be assembled; empty when it may. The source has no assembly of its own (source_check.h).
[[nodiscard]] std::string refuse_instructions(std::string_view assembly);

}  // namespace hone::target
