#include "hone/target/toolchain/gpu_entry.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::target {

std::string source_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  size_t at = 2;
  const bool nested = at < symbol.size() && symbol[at] == 'N';
  if (nested) ++at;
  std::string last;
  while (at < symbol.size()) {
    if (symbol[at] == 'L') ++at;  // internal linkage
    size_t length = 0, digits = at;
    while (digits < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[digits])) && length < symbol.size())
      length = 10 * length + static_cast<size_t>(symbol[digits++] - '0');
    if (digits == at || length == 0 || length > symbol.size() - digits) break;
    last += (last.empty() ? "" : "::") + symbol.substr(digits, length);
    at = digits + length;
    if (!nested) break;
  }
  return last;
}

tl::expected<const GpuEntry*, std::string> find_entry(const std::vector<GpuEntry>& entries, const std::string& function) {
  std::vector<const GpuEntry*> found;
  for (const GpuEntry& entry : entries)
    if (const std::string name = source_name(entry.symbol); name == function || name.ends_with("::" + function)) found.push_back(&entry);
  if (found.size() == 1) return found[0];
  if (found.size() > 1)
    return tl::unexpected(fmt::format("the launch of {} may mean any of {} __global__ functions of this name", function, found.size()));
  std::vector<std::string> names;
  for (const GpuEntry& entry : entries) names.push_back(source_name(entry.symbol));
  std::sort(names.begin(), names.end());
  if (names.empty()) return tl::unexpected(fmt::format("the launch of {} has no __global__ function: the source has none (a template must be instantiated)", function));
  if (names.size() > 8) names.resize(8);
  return tl::unexpected(fmt::format("the launch of {} has no __global__ function of that name; there is {}", function, fmt::join(names, ", ")));
}

std::string match_plan(const std::vector<GpuEntry>& entries, const kernel::Kernel& kernel, std::map<std::string, const GpuEntry*>& found) {
  for (const kernel::Launch& launch : kernel.header.launches) {
    const auto entry = find_entry(entries, launch.function);
    if (!entry) return entry.error();
    const std::vector<int64_t>& takes = (*entry)->parameters;
    if (takes.size() != launch.args.size())
      return fmt::format("{} takes {} arguments, its launch gives {}", launch.function, takes.size(), launch.args.size());
    for (size_t i = 0; i < takes.size(); ++i) {
      const bool tensor = launch.args[i].kind == kernel::Argument::Kind::kTensor;
      if (tensor ? takes[i] != 8 : takes[i] > 8)
        return fmt::format("argument {} of {} has {} bytes, its launch gives {} of 8", i + 1, launch.function, takes[i], tensor ? "a pointer" : "an integer");
    }
    found[launch.function] = *entry;
  }
  return {};
}

}  // namespace hone::target
