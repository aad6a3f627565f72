// Files: whole reads, atomic writes, scratch folders that clean up after themselves. Every failure
// names the path and the system's reason.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "hone/base/result.h"

namespace hone::base {

[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path);

/// Writes to a temporary file beside `path`, syncs, renames: readers see the old or the new content.
[[nodiscard]] Status write_file_atomic(const std::filesystem::path& path, std::string_view content);

/// Publishes a file that never changes: it is there as a whole, with these permissions, or not at all. Where another process was
/// faster its file stays, whatever is in it: a jail that has been given one file does not open another of the same name.
[[nodiscard]] Status write_file_once(const std::filesystem::path& path, std::string_view content, mode_t mode = 0644);

[[nodiscard]] Status make_directories(const std::filesystem::path& path);

/// $XDG_CACHE_HOME/hone or ~/.cache/hone: builds and calibration, safe to delete.
[[nodiscard]] std::filesystem::path cache_directory();
/// $HONE_HOME, else $XDG_DATA_HOME/hone, else ~/.local/share/hone: the archive and what runs leave.
[[nodiscard]] std::filesystem::path data_directory();

/// A fresh folder under the system's temporary folder, removed with everything in it.
class ScratchDirectory {
 public:
  [[nodiscard]] static Result<ScratchDirectory> create(std::string_view purpose);
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ScratchDirectory& operator=(ScratchDirectory&& other) noexcept;
  ~ScratchDirectory();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// A file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace hone::base
