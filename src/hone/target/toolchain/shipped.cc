#include "hone/target/toolchain/shipped.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/target/toolchain/build_cache.h"

namespace hone::target {
namespace {

constexpr std::string_view kShipped = ", shipped";

}  // namespace

ShippedBuilds ShippedBuilds::here(std::string_view family) {
  ShippedBuilds all;
  all.family_ = family;
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

bool ShippedBuilds::counts(const Pack::Entry& entry, std::string_view arch) const {
  return !entry.arch.empty() && entry.arch.starts_with(family_) && (arch.empty() || entry.arch == arch);
}

std::string ShippedBuilds::to_string(std::string_view arch) const {
  size_t count = 0;
  for (const auto& pack : packs_)
    for (const auto& [key, entry] : pack->entries()) count += counts(entry, arch);
  if (count == 0) return {};
  return fmt::format("{} kernels for {} by {}", count, arch.empty() ? fmt::format("{}", fmt::join(archs(), ", ")) : std::string(arch),
                     fmt::join(toolchains(arch), ", "));
}

std::vector<std::string> ShippedBuilds::archs() const {
  std::set<std::string> names;
  for (const auto& pack : packs_)
    for (const auto& [key, entry] : pack->entries())
      if (counts(entry, {})) names.insert(entry.arch);
  return {names.begin(), names.end()};
}

std::vector<std::string> ShippedBuilds::toolchains(std::string_view arch) const {
  std::set<std::string> names;
  for (const auto& pack : packs_)
    for (const auto& [key, entry] : pack->entries())
      if (counts(entry, arch)) names.insert(entry.toolchain);
  return {names.begin(), names.end()};
}

Result<std::optional<Build>> build_of(const ShippedBuilds::Found& found, const std::string& key, const std::string& salt,
                                      const std::function<Result<std::string>(const std::filesystem::path& file, Build& build)>& look_over) {
  Build build;
  build.toolchain = as_shipped(found.entry->toolchain);
  build.hash = base::Hasher().add("shipped-1").add(key).add(found.entry->hash).add(salt).finish();
  if (auto kept = kept_build(build.hash, build.toolchain)) return kept;
  auto packed = found.pack->read(key);
  if (!packed) {
    warn_once(packed.error().message);
    return std::nullopt;
  }
  build.log = std::move(packed->log);
  HONE_TRY(const base::ScratchDirectory scratch, base::ScratchDirectory::create("shipped"));
  const std::filesystem::path file = scratch.path() / "binary";
  HONE_TRY_VOID(base::write_file_atomic(file, packed->image));
  const auto refused = look_over(file, build);
  if (!refused || !refused->empty()) {
    warn_once(fmt::format("a kernel of the pack in {} is not taken: {}", found.pack->file().string(), refused ? *refused : "it is no binary of that kind"));
    return std::nullopt;
  }
  build.facts.merge(packed->facts);  // with what only compilers say, and what was counted
  HONE_TRY(build, keep_build(std::move(build), file));
  return build;
}

Result<std::vector<PackedBuild>> packed_of(const Build& build) {
  HONE_TRY(std::string image, base::read_file(build.artifact));
  std::string compiler = without_shipped(build.toolchain);
  std::vector<PackedBuild> all;
  if (build.lowered) {
    // "TileLang 0.1.15, nvcc 13.0.88": the binary is the second one's.
    const size_t end = compiler.find(", ");
    HONE_CHECK(end != std::string::npos, compiler);
    all.push_back({build.lowered_key, {}, compiler.substr(0, end), {}, {}, build.lowered->source});
    compiler.erase(0, end + 2);
  }
  all.push_back({build.key, build.card_arch, std::move(compiler), build.facts, build.log, std::move(image)});
  return all;
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
