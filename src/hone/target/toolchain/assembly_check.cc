#include "hone/target/toolchain/assembly_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace hone::target {
namespace {

struct Refused {
  std::string_view name, why;
};

constexpr std::string_view kSystem = "calls the system", kTime = "asks for the time", kRandom = "asks for random numbers",
                           kPlace = "asks on which processor it runs", kState = "reaches for the processor's state",
                           kSegments = "uses a segment of its own", kTransactions = "begins transactions", kWaits = "waits for memory to change";

#if defined(__aarch64__)
constexpr Refused kRefused[] = {{"svc", kSystem}, {"hvc", kSystem}, {"smc", kSystem}, {"wfe", kWaits}, {"wfi", kWaits}, {"wfet", kWaits}};
#else
constexpr Refused kRefused[] = {
    {"syscall", kSystem},    {"sysenter", kSystem},  {"int", kSystem},       {"in", kSystem},        {"out", kSystem},
    {"rdtsc", kTime},        {"rdtscp", kTime},      {"rdpmc", kTime},       {"rdpru", kTime},
    {"rdrand", kRandom},     {"rdseed", kRandom},
    {"rdpid", kPlace},       {"cpuid", kPlace},      {"sgdt", kPlace},       {"sidt", kPlace},       {"sldt", kPlace},
    {"str", kPlace},         {"smsw", kPlace},       {"lsl", kPlace},        {"lar", kPlace},        {"verr", kPlace}, {"verw", kPlace},
    {"xgetbv", kState},      {"xsetbv", kState},     {"fxsave", kState},     {"fxsave64", kState},   {"fxrstor", kState},
    {"fxrstor64", kState},   {"xsave", kState},      {"xsave64", kState},    {"xsavec", kState},     {"xsavec64", kState},
    {"xsaveopt", kState},    {"xsaveopt64", kState}, {"xrstor", kState},     {"xrstor64", kState},   {"rdpkru", kState},
    {"wrpkru", kState},      {"std", kState},        {"popf", kState},       {"iret", kState},       {"rdssp", kState},
    {"incssp", kState},      {"ptwrite", kState},
    {"rdfsbase", kSegments}, {"rdgsbase", kSegments},{"wrfsbase", kSegments},{"wrgsbase", kSegments},
    {"xbegin", kTransactions}, {"xend", kTransactions}, {"xabort", kTransactions}, {"xtest", kTransactions},
    {"umonitor", kWaits},    {"umwait", kWaits},     {"tpause", kWaits},     {"monitorx", kWaits},   {"mwaitx", kWaits}};
#endif

constexpr std::string_view kPrefixes[] = {"lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "bnd", "data16", "addr32", "rex64", "cs", "ds"};

std::string_view take_word(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = std::min(line.find_first_of(" \t,;#", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

/// As AT&T's syntax has it: with or without a letter for the operand's size.
bool is_called(std::string_view mnemonic, std::string_view name) {
  return mnemonic == name || (mnemonic.size() == name.size() + 1 && mnemonic.starts_with(name) && std::string_view("bwlq").find(mnemonic.back()) != std::string_view::npos);
}

std::string_view refuse_line(std::string_view line) {
  std::string_view rest = line, mnemonic = take_word(rest);
  while (std::find(std::begin(kPrefixes), std::end(kPrefixes), mnemonic) != std::end(kPrefixes)) mnemonic = take_word(rest);
  for (const Refused& refused : kRefused)
    if (is_called(mnemonic, refused.name)) return refused.why;
#if defined(__aarch64__)
  constexpr std::string_view kOpen[] = {"fpcr", "fpsr", "tpidr_el0", "nzcv"};
  const auto is_open = [&](std::string_view name) { return rest.find(name) != std::string_view::npos; };
  if ((mnemonic == "mrs" || mnemonic == "msr") && std::none_of(std::begin(kOpen), std::end(kOpen), is_open)) return kState;
#else
  if (rest.find("%gs:") != std::string_view::npos) return kSegments;
#endif
  return {};
}

}  // namespace

std::string refuse_instructions(std::string_view assembly) {
  for (size_t at = 0; at < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', at), assembly.size());
    const std::string_view line = assembly.substr(at, end - at);
    at = end + 1;
    // Labels begin at the margin, directives with a dot.
    if (line.size() < 2 || line[0] != '\t' || line[1] == '.' || line[1] == '#') continue;
    if (const std::string_view why = refuse_line(line); !why.empty()) {
      std::string text(line.substr(1));
      std::ranges::replace(text, '\t', ' ');
      return fmt::format("it {} ({}): a kernel computes, and nothing else", why, text);
    }
  }
  return {};
}

}  // namespace hone::target
