// An archive as a program of November 2026 left it: two finished runs, the second with a scripted model, one more that recalls
// them, and one that was killed at its eighth evaluation. For tests.
#pragma once
#include <filesystem>

#include "hone/archive/store.h"
#include "hone/base/file.h"
#include "hone/base/gzip.h"
#include "hone/engine/testing/fake_run.h"

namespace hone::engine::testing {

inline constexpr const char* kOldPlain = "b53628c4d2ef";
inline constexpr const char* kOldModel = "28fd0e5dddf5";
inline constexpr const char* kOldRecalling = "23b3121567a0";
inline constexpr const char* kOldKilled = "bb7c2e0658d4";

/// A copy of it in `folder`, where a HONE_HOME has its archive.
inline std::filesystem::path unpack_old_archive(const std::filesystem::path& folder) {
  const std::string packed = must(base::read_file(HONE_SOURCE_DIR "/src/hone/engine/event/fixtures/archive_2026_11.db.gz"));
  const std::filesystem::path file = folder / "archive.db";
  must(base::write_file_atomic(file, must(base::gunzip(packed, size_t{1} << 26, "old archive"))));
  return file;
}

}  // namespace hone::engine::testing
