// What the iterations of a loop wait for: registers that one hands to the next, functions of a library that it calls. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hone/diagnose/profile/assembly.h"

namespace hone::diagnose {

/// The function of the C library's mathematics that a call names ("call 1030 <expf@plt>"); empty where it is another instruction or names
/// another function.
[[nodiscard]] std::string_view library_function(const Instruction& instruction);
/// Names of the mathematics that a segment of code calls, each once.
[[nodiscard]] std::vector<std::string> library_calls(const std::vector<Instruction>& code);
/// Vector registers whose value goes from one iteration into its own next one: the chains that a loop's iterations wait for.
[[nodiscard]] int carried_registers(const std::vector<Instruction>& code);

}  // namespace hone::diagnose
