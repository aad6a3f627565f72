#include "hone/target/toolchain/call_error.h"

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace hone::target {
namespace {

/// The launch of a line that begins with a place among the calls; how much of the line the place is.
std::optional<size_t> launch_at(std::string_view line, const CallsFile& calls, size_t launches, size_t& length) {
  if (!line.starts_with(calls.name + ":")) return std::nullopt;
  char* end = nullptr;
  const std::string rest(line.substr(calls.name.size() + 1));
  const unsigned long number = std::strtoul(rest.c_str(), &end, 10);
  if (number == 0) return std::nullopt;
  length = calls.name.size() + 1 + static_cast<size_t>(end - rest.c_str());
  if (*end == ':') {
    char* column = nullptr;
    (void)std::strtoul(end + 1, &column, 10);
    if (column > end + 1) length += static_cast<size_t>(column - end);
  }
  const size_t launch = (number - 1) / static_cast<size_t>(calls.lines);
  return launch < launches ? std::optional(launch) : std::nullopt;
}

bool is_undeclared(std::string_view says) { return says.starts_with("use of undeclared identifier") || says.find("was not declared") != std::string_view::npos || says.find("has not been declared") != std::string_view::npos; }

}  // namespace

std::string launch_line(const kernel::Kernel& kernel, size_t launch, const std::string& file) {
  std::istringstream lines(kernel.source);
  size_t seen = 0, number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find("*/") != std::string::npos) break;
    const size_t first = line.find_first_not_of(" \t*/#");
    if (first == std::string::npos) continue;
    const std::string_view text = std::string_view(line).substr(first);
    if (text.starts_with("[[launch]]")) ++seen;
    else if (seen == launch + 1 && text.starts_with("kernel") && text.substr(6, text.find('=') - 6).find_first_not_of(" \t") == std::string_view::npos && text.find('=') != std::string_view::npos)
      return fmt::format("{}:{}", file, number);
  }
  return "the header";
}

std::string call_error(const std::string& log, const kernel::Kernel& kernel, const CallsFile& calls, const std::string& file) {
  constexpr std::string_view kError = " error: ", kNote = " note: ";
  std::istringstream lines(log);
  std::string line, wrong, where;
  std::optional<size_t> launch;
  while (std::getline(lines, line)) {
    const size_t error = line.find(kError), note = line.find(kNote);
    if (wrong.empty() && error != std::string::npos) {
      size_t length = 0;
      launch = launch_at(line, calls, kernel.header.launches.size(), length);
      if (!launch) return {};
      wrong = line.substr(error + kError.size());
    } else if (!wrong.empty() && where.empty() && note != std::string::npos && line.starts_with("kernel.")) {
      where = line.substr(0, line.find(':', line.find(':') + 1));
      // clang says in the note what does not fit; g++ in the error, and in the note at most of which argument.
      const std::string says = line.substr(line.find_first_not_of(' ', note + kNote.size()));
      if (says.starts_with("candidate function not viable") || says.starts_with("candidate template ignored")) wrong = says;
      else if (says.find(" argument ") != std::string::npos) wrong += ", " + says;
    }
  }
  if (wrong.empty()) return {};
  const kernel::Launch& of = kernel.header.launches[*launch];
  const std::string at = launch_line(kernel, *launch, file);
  const std::string_view what = kernel::row_of(kernel.header.language).threads == kernel::Threads::kNone ? "function" : "__global__ function";
  if (is_undeclared(wrong)) {
    const size_t guess = wrong.find("did you mean ");
    return fmt::format("{}: the launch of {} has no {} of that name{}", at, of.function, what, guess == std::string::npos ? "" : "; " + wrong.substr(guess));
  }
  return fmt::format("{}{}the launch of {} ({}) gives it {} arguments{}, which it does not take: {}", where, where.empty() ? "" : ": ", of.function, at, of.args.size(),
                     what == "function" ? fmt::format(" and {} of the block", of.grid.size() == 1 ? "the index" : "the indices") : "", wrong);
}

std::string without_calls(const std::string& log, const kernel::Kernel& kernel, const CallsFile& calls, const std::string& file) {
  std::istringstream lines(log);
  std::string out;
  // What nobody wrote is not quoted either: "    3 | for (…)", and a line that points into it.
  bool quoting = false;
  for (std::string line; std::getline(lines, line);) {
    size_t length = 0;
    const size_t bar = line.find_first_not_of(" 0123456789");
    if (quoting && bar != std::string::npos && bar > 0 && line[bar] == '|') continue;
    quoting = line.starts_with(calls.name + ":");
    const auto launch = launch_at(line, calls, kernel.header.launches.size(), length);
    if (quoting && (!launch || line.find(" note: ") != std::string::npos)) continue;
    if (launch) line = fmt::format("{}, the launch of {}{}", launch_line(kernel, *launch, file), kernel.header.launches[*launch].function, line.substr(length));
    out += line + "\n";
  }
  return out;
}

}  // namespace hone::target
