#include "hone/target/toolchain/shipped.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hone::target {
namespace {

constexpr std::string_view kShipped = ", shipped";

}  // namespace

ShippedBuilds ShippedBuilds::here() {
  ShippedBuilds all;
  const char* const asked = std::getenv("HONE_PACKS");
  const std::string files = asked ? asked : "";
  if (files == "none") return all;
  std::istringstream list(files);
  for (std::string file; std::getline(list, file, ':');) {
    if (file.empty()) continue;
    auto pack = Pack::open(file);
    if (pack) all.packs_.push_back(std::move(*pack));
    else warn_once(pack.error().message + "; HONE_PACKS names it");
  }
  auto own = Pack::open("/proc/self/exe");
  if (own) all.packs_.push_back(std::move(*own));
  else if (own.error().code != ErrorCode::kNotFound) warn_once(own.error().message);
  return all;
}

std::string ShippedBuilds::to_string(std::string_view arch) const {
  size_t count = 0;
  for (const auto& pack : packs_)
    for (const auto& [key, entry] : pack->entries()) count += arch.empty() || entry.arch == arch;
  if (count == 0) return {};
  return fmt::format("{} kernels for {} by {}", count, arch.empty() ? fmt::format("{}", fmt::join(archs(), ", ")) : std::string(arch),
                     fmt::join(toolchains(arch), ", "));
}

std::vector<std::string> ShippedBuilds::archs() const {
  std::set<std::string> names;
  for (const auto& pack : packs_)
    for (const auto& [key, entry] : pack->entries()) names.insert(entry.arch);
  return {names.begin(), names.end()};
}

std::vector<std::string> ShippedBuilds::toolchains(std::string_view arch) const {
  std::set<std::string> names;
  for (const auto& pack : packs_)
    for (const auto& [key, entry] : pack->entries())
      if (arch.empty() || entry.arch == arch) names.insert(entry.toolchain);
  return {names.begin(), names.end()};
}

void warn_once(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::scoped_lock lock(mutex);
  if (said.insert(line).second) fmt::print(stderr, "hone: {}\n", line);
}

bool is_shipped(std::string_view toolchain) { return toolchain.ends_with(kShipped); }

std::string as_shipped(std::string_view toolchain) { return without_shipped(toolchain).append(kShipped); }

std::string without_shipped(std::string_view toolchain) {
  return std::string(is_shipped(toolchain) ? toolchain.substr(0, toolchain.size() - kShipped.size()) : toolchain);
}

std::string release_of(std::string_view toolchain) {
  const size_t begin = toolchain.find_first_of("0123456789");
  if (begin == std::string_view::npos) return {};
  const size_t dot = toolchain.find('.', begin), end = dot == std::string_view::npos ? dot : toolchain.find_first_not_of("0123456789", dot + 1);
  return std::string(toolchain.substr(begin, end == std::string_view::npos ? end : end - begin));
}

}  // namespace hone::target
