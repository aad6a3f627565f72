#include "hone/diagnose/profile/assembly.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace hone::diagnose {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> hexadecimal(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Bytes of the widest vector register named; 0 without any.
int width_of(std::string_view operands) {
  if (has(operands, "%zmm")) return 64;
  if (has(operands, "%ymm")) return 32;
  return has(operands, "%xmm") ? 16 : 0;
}

/// One element in a vector register: …ss and …sd, but not conversions that only end like it.
bool is_scalar_float(std::string_view name) {
  if (name.ends_with("ss") || name.ends_with("sd") || name.ends_with("sh"))
    return !name.starts_with("vbroadcast") && !name.starts_with("vpbroadcast");
  return has(name, "cvtss2") || has(name, "cvtsd2") || has(name, "cvtsi2") || name == "vmovd" || name == "vmovq";
}

/// Where the memory operand stands, if the instruction has one.
enum class Memory : uint8_t { kNone, kLoad, kStore };
Memory memory_of(const Instruction& i) {
  const size_t open = i.operands.find('(');
  if (open == std::string::npos || i.mnemonic.starts_with("lea") || i.mnemonic.starts_with("nop") || i.mnemonic.starts_with("prefetch"))
    return Memory::kNone;
  // AT&T: the destination comes last, so a store ends with the memory operand (and its mask).
  const size_t close = i.operands.find(')', open);
  const bool last = close != std::string::npos && !has(std::string_view(i.operands).substr(close), ",");
  const bool compares = i.mnemonic.starts_with("cmp") || i.mnemonic.starts_with("test") || i.mnemonic.starts_with("vucomis") ||
                        i.mnemonic.starts_with("vcomis");
  const std::string_view before = std::string_view(i.operands).substr(0, open);
  return last && !compares && (has(before, "%") || has(before, "$")) ? Memory::kStore : Memory::kLoad;
}

bool is_branch(std::string_view name) { return name.starts_with("j") || name.starts_with("loop"); }

std::optional<uint64_t> target_of(const Instruction& i) {
  if (!is_branch(i.mnemonic) || i.operands.empty() || i.operands.front() == '*') return std::nullopt;
  std::string_view text = i.operands;
  text = text.substr(0, text.find_first_of(" <"));
  if (text.starts_with("0x")) text.remove_prefix(2);
  return hexadecimal(text);
}

/// What a shared object has besides the kernel.
bool is_start_up(std::string_view name) {
  static constexpr std::array kNames = {"_init",       "_fini", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux",
                                        "frame_dummy", ".plt"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view n) { return name == n; }) || name.ends_with("@plt");
}

}  // namespace

std::vector<Function> read_assembly(std::string_view listing) {
  std::vector<Function> functions;
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    std::string_view line = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));
    if (const size_t open = line.find(" <"); open != std::string_view::npos && line.ends_with(">:") && hexadecimal(line.substr(0, open))) {
      functions.push_back({std::string(line.substr(open + 2, line.size() - open - 4)), {}});
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || functions.empty()) continue;
    const auto address = hexadecimal(trimmed(line.substr(0, colon)));
    if (!address) continue;
    line = trimmed(line.substr(colon + 1));
    line = trimmed(line.substr(0, line.find('#')));
    Instruction instruction{*address, {}, {}};
    // Prefixes belong to the instruction that follows them.
    for (std::string_view word : {"rep ", "repz ", "repnz ", "lock ", "notrack ", "bnd ", "{evex} ", "{vex} "})
      if (line.starts_with(word)) line = trimmed(line.substr(word.size()));
    const size_t gap = std::min(line.find_first_of(" \t"), line.size());
    instruction.mnemonic = line.substr(0, gap);
    instruction.operands = trimmed(line.substr(gap));
    if (!instruction.mnemonic.empty()) functions.back().code.push_back(std::move(instruction));
  }
  std::erase_if(functions, [](const Function& f) { return is_start_up(f.name); });
  return functions;
}

Mix mix_of(const std::vector<Instruction>& code) {
  Mix mix;
  for (const Instruction& i : code) {
    const std::string_view name = i.mnemonic;
    if (name.starts_with("nop") || name == "endbr64") continue;
    ++mix.all;
    const int width = width_of(i.operands);
    const bool single = width > 0 && is_scalar_float(name);
    if (single)
      ++mix.scalar_float;
    else if (width > 0)
      ++mix.vector, mix.vector_bytes += width;
    if (has(name, "fma") || has(name, "fnma") || has(name, "fms") || has(name, "dpbf16") || has(name, "dpbusd")) ++mix.fma;
    if (width > 0 && (has(name, "div") || has(name, "sqrt"))) ++mix.divide;
    if (width == 0 && (name.starts_with("div") || name.starts_with("idiv"))) ++mix.divide;
    if (has(name, "gather") || has(name, "scatter")) ++mix.gather;
    if (name.starts_with("call")) ++mix.call;
    const Memory memory = memory_of(i);
    if (memory == Memory::kLoad) ++mix.load;
    if (memory == Memory::kStore) ++mix.store;
    if (has(name, "movnt") && memory == Memory::kStore) ++mix.stream_store;
    if (memory != Memory::kNone && width > 0 && (has(i.operands, "(%rsp") || has(i.operands, "(%rbp"))) ++mix.spill;
  }
  return mix;
}

std::vector<Loop> innermost_loops(const std::vector<Function>& functions) {
  std::vector<Loop> all;
  for (const Function& function : functions) {
    struct Span {
      size_t first, last;
    };
    std::vector<Span> spans;
    std::vector<std::pair<uint64_t, uint64_t>> jumps;  // from, to
    for (const Instruction& i : function.code)
      if (const auto target = target_of(i)) jumps.emplace_back(i.address, *target);
    for (size_t last = 0; last < function.code.size(); ++last) {
      const auto target = target_of(function.code[last]);
      if (!target || *target > function.code[last].address) continue;
      // A block that was moved out of line jumps back too; but it is jumped to itself. A loop is entered at its head only.
      const uint64_t end = function.code[last].address;
      if (std::any_of(jumps.begin(), jumps.end(),
                      [&](const auto& j) { return (j.first < *target || j.first > end) && j.second > *target && j.second <= end; }))
        continue;
      const auto at = std::lower_bound(function.code.begin(), function.code.end(), *target,
                                       [](const Instruction& i, uint64_t a) { return i.address < a; });
      if (at != function.code.end() && at->address == *target) spans.push_back({static_cast<size_t>(at - function.code.begin()), last});
    }
    for (const Span& span : spans) {
      const bool holds_another = std::any_of(spans.begin(), spans.end(), [&](const Span& other) {
        return (other.first != span.first || other.last != span.last) && other.first >= span.first && other.last <= span.last;
      });
      if (holds_another) continue;
      Loop loop{function.name,
                {function.code.begin() + static_cast<std::ptrdiff_t>(span.first),
                 function.code.begin() + static_cast<std::ptrdiff_t>(span.last) + 1},
                {}};
      loop.mix = mix_of(loop.code);
      all.push_back(std::move(loop));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Loop& a, const Loop& b) { return a.mix.weight() > b.mix.weight(); });
  return all;
}

std::string body_text(const Loop& loop) {
  std::string text;
  for (const Instruction& i : loop.code) {
    if (is_branch(i.mnemonic) || i.mnemonic.starts_with("call") || i.mnemonic.starts_with("ret") || has(i.operands, "<")) continue;
    text += i.mnemonic + " " + i.operands + "\n";
  }
  return text;
}

}  // namespace hone::diagnose
