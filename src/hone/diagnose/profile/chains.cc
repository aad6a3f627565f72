#include "hone/diagnose/profile/chains.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace hone::diagnose {
namespace {

/// Numbers of the vector registers that an operand names, its own and those of an address.
std::vector<size_t> registers_in(std::string_view operand) {
  std::vector<size_t> all;
  for (size_t at = operand.find("mm"); at != std::string_view::npos; at = operand.find("mm", at + 1)) {
    if (at < 2 || operand[at - 2] != '%') continue;
    size_t number = 0;
    const auto [end, error] = std::from_chars(operand.data() + at + 2, operand.data() + operand.size(), number);
    if (error == std::errc() && end != operand.data() + at + 2 && number < 32) all.push_back(number);
  }
  return all;
}

/// Of "(%rdi,%rax,4),%zmm1,%zmm0{%k1}": its operands.
std::vector<std::string_view> operands_in(std::string_view text) {
  std::vector<std::string_view> all;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    all.push_back(text.substr(from, i - from));
    from = i + 1;
  }
  return all;
}

bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Whether the last operand, which is written, is read as well: multiply-adds, masks that merge, and arithmetic of two operands.
bool reads_last(std::string_view mnemonic, std::string_view last) {
  static constexpr std::array kMoves = {"mov", "cvt", "sqrt", "pshuf", "lddqu"};
  if (!mnemonic.starts_with('v')) return std::none_of(kMoves.begin(), kMoves.end(), [&](std::string_view move) { return mnemonic.starts_with(move); });
  static constexpr std::array kKeeping = {"fmadd", "fmsub", "fnm", "vpdp", "dpbf16"};
  return std::any_of(kKeeping.begin(), kKeeping.end(), [&](std::string_view name) { return mentions(mnemonic, name); }) ||
         (mentions(last, "{%k") && !mentions(last, "{z}"));
}

}  // namespace

std::string_view library_function(const Instruction& i) {
  if (!i.mnemonic.starts_with("call")) return {};
  const std::string_view text = i.operands;
  const size_t open = text.find('<');
  if (open == std::string_view::npos) return {};
  std::string_view name = text.substr(open + 1);
  name = name.substr(0, name.find_first_of("@>+"));
  static constexpr std::array kStems = {"exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan", "asin", "acos", "atan",
                                        "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "cbrt", "hypot", "fmod",
                                        "round", "roundeven", "nearbyint", "rint", "floor", "ceil", "trunc", "remainder"};
  std::string_view stem = name;
  if (stem.ends_with("_finite")) stem.remove_suffix(7);
  while (stem.starts_with('_')) stem.remove_prefix(1);
  const auto is = [&](std::string_view s) { return stem == s || (stem.size() == s.size() + 1 && stem.starts_with(s) && stem.back() == 'f'); };
  return std::any_of(kStems.begin(), kStems.end(), is) ? name : std::string_view();
}

std::vector<std::string> library_calls(const std::vector<Instruction>& code) {
  std::vector<std::string> all;
  for (const Instruction& i : code) {
    const std::string_view name = library_function(i);
    if (!name.empty() && std::find(all.begin(), all.end(), name) == all.end()) all.emplace_back(name);
  }
  return all;
}

int carried_registers(const std::vector<Instruction>& code) {
  // What each register's value was made of, of the values that the iteration began with.
  std::array<uint32_t, 32> made{};
  std::array<bool, 32> written{};
  for (size_t r = 0; r < made.size(); ++r) made[r] = uint32_t{1} << r;
  for (const Instruction& i : code) {
    const std::vector<std::string_view> operands = operands_in(i.operands);
    // A comparison writes flags.
    if (operands.empty() || i.mnemonic.starts_with("call") || mentions(i.mnemonic, "comis") || mentions(i.mnemonic, "test")) continue;
    const std::string_view last = operands.back();
    const std::vector<size_t> to = mentions(last, "(") ? std::vector<size_t>{} : registers_in(last);
    if (to.empty()) continue;
    const size_t dest = to.front();
    uint32_t of = 0;
    std::vector<size_t> from;
    for (size_t o = 0; o + 1 < operands.size(); ++o)
      for (const size_t r : registers_in(operands[o])) from.push_back(r), of |= made[r];
    const bool zeroes = mentions(i.mnemonic, "xor") && !from.empty() && from[0] == (from.size() > 1 ? from[1] : dest);
    made[dest] = zeroes ? 0 : of | (reads_last(i.mnemonic, last) ? made[dest] : 0);
    written[dest] = true;
  }
  int carried = 0;
  for (size_t r = 0; r < made.size(); ++r)
    if (written[r] && (made[r] >> r & 1U) != 0) ++carried;
  return carried;
}

}  // namespace hone::diagnose
