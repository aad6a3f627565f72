#include "hone/target/worker/program.h"

#include <map>
#include <mutex>
#include <string>

#include "hone/base/embedded.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"

namespace hone::target {

namespace fs = std::filesystem;

Result<fs::path> worker_program(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, fs::path, std::less<>> written;
  const std::scoped_lock lock(mutex);
  if (const auto it = written.find(name); it != written.end()) return it->second;
  const auto image = base::find_embedded("bin/" + std::string(name));
  HONE_CHECK(image.has_value(), name);
  const fs::path folder = base::cache_directory() / "bin";
  HONE_TRY_VOID(base::make_directories(folder));
  const fs::path file = folder / (std::string(name) + "-" + base::short_hash(base::content_hash(*image)));
  if (!fs::exists(file)) HONE_TRY_VOID(base::write_file_once(file, *image, 0755));
  written.emplace(name, file);
  return file;
}

}  // namespace hone::target
