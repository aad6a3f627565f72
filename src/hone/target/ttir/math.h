// Arithmetic of single lanes by name: what an element-wise operation of TTIR, or a function of NVIDIA's libdevice, computes.
#pragma once
#include <cstdint>
#include <string_view>

namespace hone::target::ttir {

using OfOne = double (*)(double);
using OfTwo = double (*)(double, double);
using OfIntegers = int64_t (*)(int64_t, int64_t, int64_t);  ///< of one to three, the last given standing for those behind
using OfMixed = double (*)(double, int64_t);
using ToInteger = int64_t (*)(double);

/// Of "math.exp", "__nv_tanhf", …; null: there is none of that name. Results are rounded to the type by whoever calls.
[[nodiscard]] OfOne function_of_one(std::string_view name);
[[nodiscard]] OfTwo function_of_two(std::string_view name);
[[nodiscard]] OfIntegers function_of_integers(std::string_view name);
[[nodiscard]] OfMixed function_of_mixed(std::string_view name);
[[nodiscard]] ToInteger function_to_integer(std::string_view name);

}  // namespace hone::target::ttir
