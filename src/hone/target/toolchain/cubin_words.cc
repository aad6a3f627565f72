// What NVIDIA's tools print, read.
#include <array>
#include <charconv>
#include <sstream>

#include "hone/target/toolchain/cubin.h"

namespace hone::target {
namespace {

/// The number right before `words` in `line`: "16 bytes spill stores".
std::optional<int64_t> number_before(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int64_t value = 0;
  if (std::from_chars(line.data() + begin, line.data() + at, value).ec != std::errc{}) return std::nullopt;
  return value;
}

constexpr std::string_view kInfo = "ptxas info    : ";
constexpr std::string_view kProperties = "Function properties for ";
constexpr std::string_view kCompiling = "Compiling entry function '";

/// Bits of one thread's share of a memory instruction, by its suffixes.
std::string opcode_width(std::string_view opcode) {
  static constexpr std::array<std::string_view, 3> kWide = {"256", "128", "64"};
  const auto has = [&](std::string_view suffix) {
    for (size_t at = opcode.find('.'); at != std::string_view::npos; at = opcode.find('.', at + 1))
      if (const std::string_view rest = opcode.substr(at + 1); rest.substr(0, rest.find('.')) == suffix) return true;
    return false;
  };
  for (const std::string_view wide : kWide)
    if (has(wide)) return std::string(wide);
  if (has("U8") || has("S8")) return "8";
  if (has("U16") || has("S16")) return "16";
  return "32";
}

constexpr std::string_view kMemory[] = {"LDG", "STG", "LDS", "STS", "LDL", "STL", "LDGSTS"};
constexpr std::string_view kCounted[] = {
    "FFMA", "FADD", "FMUL", "FFMA2", "DFMA", "DADD", "DMUL", "HFMA2", "HADD2", "HMUL2", "IMAD", "MUFU", "HMMA", "HGMMA", "IMMA", "IGMMA", "DMMA",
    "QMMA", "QGMMA", "BGMMA", "UTCHMMA", "UTCQMMA", "LDSM", "STSM", "LDC", "BAR", "SYNCS", "UTMALDG", "UTMASTG", "ATOM", "ATOMG", "ATOMS", "RED", "SHFL",
    "CALL", "BRA", "MEMBAR"};

void count_opcode(std::string_view opcode, std::map<std::string, int64_t>& mix) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  if (base.empty() || base == "NOP") return;
  ++mix["all"];
  for (const std::string_view memory : kMemory)
    if (base == memory) ++mix[std::string(base) + "." + opcode_width(opcode)];
  for (const std::string_view other : kCounted)
    if (base == other) ++mix[std::string(base)];
}

}  // namespace

std::map<std::string, PtxasFacts> read_ptxas(const std::string& log) {
  std::map<std::string, PtxasFacts> all;
  std::istringstream lines(log);
  PtxasFacts* of = nullptr;   // whom the two lines after "Function properties for" are about
  bool entry = false;         // "Used … registers" speaks of the entry that was named last
  std::string current;
  for (std::string line; std::getline(lines, line);) {
    const std::string_view text = line;
    if (!text.starts_with(kInfo)) {
      // nvcc's begins with blanks, NVRTC's with the tool's name.
      if (of && text.find(" bytes stack frame, ") != std::string_view::npos) {
        const auto stores = number_before(text, " bytes spill stores"), loads = number_before(text, " bytes spill loads");
        if (stores && loads) of->spill_bytes = *stores + *loads;
      }
      of = nullptr;
      continue;
    }
    const std::string_view words = text.substr(kInfo.size());
    of = nullptr;
    if (words.starts_with(kCompiling)) {
      current = words.substr(kCompiling.size(), words.find('\'', kCompiling.size()) - kCompiling.size());
      all[current] = {};
      entry = true;
    } else if (words.starts_with(kProperties)) {
      of = &all[std::string(words.substr(kProperties.size()))];
    } else if (words.starts_with("Used ") && entry) {
      all[current].shared_bytes = number_before(words, " bytes smem").value_or(0);
      entry = false;
    }
  }
  return all;
}

std::string without_ptxas(const std::string& log) {
  std::istringstream lines(log);
  std::string rest;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with(kInfo) && line.find(" bytes stack frame, ") == std::string::npos) rest += line + "\n";
  return rest;
}

std::map<std::string, std::map<std::string, int64_t>> read_sass(const std::string& text) {
  constexpr std::string_view kSection = ".text.", kFunction = "Function : ";
  std::map<std::string, std::map<std::string, int64_t>> all;
  std::map<std::string, int64_t>* mix = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kSection) && line.ends_with(':')) {
      mix = &all[line.substr(kSection.size(), line.size() - kSection.size() - 1)];
    } else if (const size_t at = line.find(kFunction); at != std::string::npos) {
      mix = &all[line.substr(at + kFunction.size())];
    }
    const size_t open = line.find("/*"), close = line.find("*/");
    if (!mix || open == std::string::npos || close == std::string::npos || line.find_first_not_of(" \t") != open || line.compare(open, 4, "/*0x") == 0 ||
        line.compare(open, 3, "/* ") == 0)
      continue;
    std::istringstream words(line.substr(close + 2));
    std::string word;
    words >> word;
    if (word == "{") words >> word;
    if (word.starts_with('@')) words >> word;
    while (!word.empty() && (word.back() == ';' || word.back() == ',')) word.pop_back();
    count_opcode(word, *mix);
  }
  return all;
}

}  // namespace hone::target
