// What a compiler made of a kernel, named by its content: two builds of one name compute alike at every step. Thread-safe.
#pragma once
#include <string>
#include <string_view>

namespace hone::target {

/// Hash of what a binary loads: code, constants, data and relocations, on a CPU a shared object, of a card a cubin or code object;
/// notes, names, unwind tables and whatever a debugger reads are left out. Of a bundle (bundle.h): of all its binaries.
/// Empty for what is no 64-bit ELF file.
[[nodiscard]] std::string machine_code(std::string_view image);

}  // namespace hone::target
