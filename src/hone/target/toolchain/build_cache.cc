#include "hone/target/toolchain/build_cache.h"

#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/target/toolchain/machine_code.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path file_of(const std::string& hash, const char* suffix) {
  return base::cache_directory() / "builds" / hash.substr(0, 2) / (hash + suffix);
}

}  // namespace

std::optional<Build> kept_build(const std::string& hash, const std::string& toolchain) {
  const fs::path artifact = file_of(hash, ".so");
  const auto text = base::read_file(file_of(hash, ".json"));
  const auto image = text ? base::read_file(artifact) : Result<std::string>(tl::unexpected(text.error()));
  if (!image) return std::nullopt;
  const json kept = json::parse(*text, nullptr, false);
  if (kept.is_discarded() || kept.value("artifact", "") != base::content_hash(*image)) return std::nullopt;
  Build build;
  build.hash = hash;
  build.artifact = artifact;
  build.toolchain = kept.value("toolchain", toolchain);
  build.command = kept.value("command", "");
  build.facts = kept.value("facts", std::map<std::string, double>{});
  build.log = kept.value("log", "");
  build.sanitized = kept.value("sanitized", false);
  build.symbols = kept.value("symbols", std::map<std::string, std::string>{});
  build.code = machine_code(*image);
  return build;
}

Result<Build> keep_build(Build build, const fs::path& object) {
  build.artifact = file_of(build.hash, ".so");
  HONE_TRY_VOID(base::make_directories(build.artifact.parent_path()));
  HONE_TRY(const std::string image, base::read_file(object));
  HONE_TRY_VOID(base::write_file_atomic(build.artifact, image));
  build.code = machine_code(image);
  const json kept = {{"command", build.command}, {"facts", build.facts}, {"log", build.log},
                     {"sanitized", build.sanitized}, {"symbols", build.symbols}, {"toolchain", build.toolchain}, {"artifact", base::content_hash(image)}};
  HONE_TRY_VOID(base::write_file_atomic(file_of(build.hash, ".json"), kept.dump()));
  return build;
}

bool has_mix(const Build& build) {
  const auto at = build.facts.lower_bound("mix/");
  return at != build.facts.end() && at->first.starts_with("mix/");
}

std::string first_error(const std::string& log) {
  size_t at = log.find(" error: ");
  if (at == std::string::npos) at = log.find("error: ");
  if (at == std::string::npos) at = log.find_last_not_of('\n');
  if (at == std::string::npos) return "the compiler failed without a word";
  const size_t newline = log.rfind('\n', at), end = std::min(log.find('\n', at), log.size());
  const size_t start = newline == std::string::npos ? 0 : newline + 1;
  return log.substr(start, end - start);
}

}  // namespace hone::target
