#include "hone/target/toolchain/build_cache.h"

#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/target/toolchain/machine_code.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path file_of(const std::string& hash, const std::string& suffix) {
  return base::cache_directory() / "builds" / hash.substr(0, 2) / (hash + suffix);
}
/// Named after its content, so that no artifact ever takes the place of another, which somebody may be about to load.
fs::path artifact_of(const std::string& hash, const std::string& content_hash) {
  return file_of(hash, "-" + base::short_hash(content_hash) + ".so");
}

}  // namespace

std::optional<Build> kept_build(const std::string& hash, const std::string& toolchain) try {
  const auto text = base::read_file(file_of(hash, ".json"));
  const json kept = text ? json::parse(*text, nullptr, false) : json();
  if (!kept.is_object() || !kept.value("artifact", json()).is_string()) return std::nullopt;
  const fs::path artifact = artifact_of(hash, kept["artifact"]);
  const auto image = base::read_file(artifact);
  if (!image || kept["artifact"] != base::content_hash(*image)) return std::nullopt;
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
} catch (const json::exception&) {  // what cannot be read is built anew
  return std::nullopt;
}

Result<Build> keep_build(Build build, const fs::path& object) {
  HONE_TRY(const std::string image, base::read_file(object));
  const std::string content_hash = base::content_hash(image);
  build.artifact = artifact_of(build.hash, content_hash);
  HONE_TRY_VOID(base::make_directories(build.artifact.parent_path()));
  HONE_TRY_VOID(base::write_file_once(build.artifact, image));
  if (const auto there = base::read_file(build.artifact); !there || *there != image) HONE_TRY_VOID(base::write_file_atomic(build.artifact, image));
  build.code = machine_code(image);
  const json kept = {{"command", build.command}, {"facts", build.facts}, {"log", build.log},
                     {"sanitized", build.sanitized}, {"symbols", build.symbols}, {"toolchain", build.toolchain}, {"artifact", content_hash}};
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
