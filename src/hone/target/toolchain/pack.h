// A pack: one file of compiled kernels, to be shipped with hone. Each has a key that says nothing of the machine it was
// built on (shipped.h). The file may be the end of another, such as the program itself. Thread-safe once opened.
//
//   magic | an entry's gzip … | index, gzip | length of all (8 bytes, little endian) | length of the index (8) | its hash (64) | magic
//
// The index has each entry's key, architecture, compiler, place and hash, so that finding one reads nothing of the others,
// and the hash of the index stands for the whole. Hashes find damage, no forger: a pack is trusted as the program is.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/result.h"

namespace hone::target {

/// One kernel of a pack.
struct PackedBuild {
  std::string key;                     ///< 64 hexadecimal digits
  std::string arch;                    ///< "sm_90a"; empty: text that a compiler made on the way to a binary, no kernel
  std::string toolchain;               ///< what compiled it: "NVRTC 13.0"
  std::map<std::string, double> facts; ///< as of Build
  std::string log;                     ///< likewise
  std::string image;                   ///< the cubin, the code object or the text
};

/// Collects a pack in memory.
class PackWriter {
 public:
  /// `most` bytes at most, all in all; 0: no limit.
  explicit PackWriter(size_t most = 0);
  /// False where it does not fit any more; what is smaller may. The key has to be another than those before.
  bool add(const PackedBuild& build);
  [[nodiscard]] size_t size() const { return index_.size(); }
  /// The file's content.
  [[nodiscard]] std::string finish() const;

 private:
  struct Line {
    std::string key, arch, toolchain, hash;
    uint64_t at = 0, bytes = 0, unpacked = 0;
  };
  size_t most_;
  std::string bytes_;
  std::vector<Line> index_;
};

class Pack {
 public:
  struct Entry {
    std::string arch, toolchain;
    std::string hash;                  ///< of its bytes in the file: names what is in it
    uint64_t at = 0, bytes = 0;        ///< from the pack's beginning; packed
    uint64_t unpacked = 0;
  };

  /// Reads the index. kNotFound where the file is not there or does not end with a pack; kCorrupt where the pack is damaged.
  [[nodiscard]] static Result<std::shared_ptr<const Pack>> open(const std::filesystem::path& file);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }  ///< of the pack, which may be less than the file
  [[nodiscard]] const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }  ///< by key
  /// One of the entries, by its key. kCorrupt where it is damaged or cannot be read any more.
  [[nodiscard]] Result<PackedBuild> read(std::string_view key) const;

 private:
  std::filesystem::path file_;
  base::Fd fd_;
  uint64_t start_ = 0, bytes_ = 0;
  std::map<std::string, Entry, std::less<>> entries_;
};

/// Makes `program` end with the pack, in the place of one that it ends with. The program may be running.
[[nodiscard]] Status append_pack(const std::filesystem::path& program, const std::filesystem::path& pack);

}  // namespace hone::target
