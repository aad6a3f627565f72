// Arithmetic of single lanes by name: what an element-wise operation of TTIR, or a function of NVIDIA's libdevice, computes.
#pragma once
#include <string_view>

namespace hone::target::ttir {

using OfOne = double (*)(double);
using OfTwo = double (*)(double, double);

/// Of "math.exp", "__nv_tanhf", …; null: there is none of that name. Results are rounded to the type by whoever calls.
[[nodiscard]] OfOne function_of_one(std::string_view name);
[[nodiscard]] OfTwo function_of_two(std::string_view name);

}  // namespace hone::target::ttir
