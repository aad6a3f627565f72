// C++ compilers as this machine has them. Thread-safe; asking runs the compiler.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace hone::target {

/// Versions of clang looked for under Debian's names. Older ones do not take all of hone/cpu.h's C++20.
inline constexpr int kNewestClang = 22, kOldestClang = 16;

struct Compiler {
  std::string program, name, family;  ///< "clang++-22", "clang++-22 22.1.8", "clang"
};

/// Products and sums become one operation, but where a header says otherwise of its own: clang's plain "fast" passes over
/// `#pragma clang fp contract(off)`.
[[nodiscard]] std::vector<std::string> contraction_flags(const Compiler& compiler);
/// That g++ orders instructions before it hands out registers, by what these hold: mathematics on a vector is one long chain, and of several
/// vectors' chains a processor sees two at a time only where they are interleaved. Without -fsched-pressure register tiles spill. (Seven operations on f16,
/// four vectors at a time, AVX2, g++ 12.2: 5.4 ns an element without it, 3.7 with it; a product's 6 by 16 tile 46 and 47 billion multiply-adds a second.)
/// Clang does so anyway, and takes no such words.
[[nodiscard]] std::vector<std::string> scheduling_flags(const Compiler& compiler);

/// What `program` is, if it runs.
[[nodiscard]] std::optional<Compiler> find_compiler(const std::string& program);

/// Instruction set extensions of x86 that `program` uses with -march=native, as its macros name them: "AVX2",
/// "AVX512BF16", "FMA". Sorted; empty where it does not run or the CPU is another.
[[nodiscard]] std::vector<std::string> native_extensions(const std::string& program);

/// The newest clang++ under Debian's names, or the plain one.
[[nodiscard]] std::optional<Compiler> find_clang();

}  // namespace hone::target
