#include "hone/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hone::base {
namespace fs = std::filesystem;
namespace {

ErrorCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kInternal;
  }
}

std::string hint_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "the disk is full: free some space, or point HONE_HOME at another disk";
    case EROFS:
      return "the file system is read-only: point HONE_HOME at a place that can be written";
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of the folder around it";
    default:
      return {};
  }
}

tl::unexpected<Error> io_error(const char* verb, const fs::path& path, int error) {
  return fail(code_of(error),
              std::string("cannot ") + verb + " " + path.string() + ": " + std::strerror(error),
              hint_of(error));
}

fs::path from_env(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value ? fs::path(value) : fs::path();
}

fs::path home() {
  fs::path path = from_env("HOME");
  return path.empty() ? fs::temp_directory_path() : path;
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return io_error("read", path, errno);
  std::string content;
  char chunk[65536];
  for (;;) {
    const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n == 0) return content;
    if (n < 0) {
      if (errno == EINTR) continue;
      return io_error("read", path, errno);
    }
    content.append(chunk, static_cast<size_t>(n));
  }
}

namespace {

/// Writes and syncs a temporary file beside `path`, and has `publish` give it that name (0, or errno).
template <class Publish>
Status write_beside(const fs::path& path, std::string_view content, mode_t mode, const Publish& publish) {
  std::string temporary = path.string() + ".XXXXXX";
  Fd fd(::mkstemp(temporary.data()));
  if (!fd) return io_error("write", path, errno);
  const auto give_up = [&](int error) {
    ::unlink(temporary.c_str());
    return io_error("write", path, error);
  };
  while (!content.empty()) {
    const ssize_t n = ::write(fd.get(), content.data(), content.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return give_up(errno);
    }
    content.remove_prefix(static_cast<size_t>(n));
  }
  if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0) return give_up(errno);
  // A file that somebody still writes to cannot be executed.
  fd = Fd();
  if (const int error = publish(temporary.c_str()); error != 0) return give_up(error);
  return {};
}

}  // namespace

Status write_file_atomic(const fs::path& path, std::string_view content) {
  return write_beside(path, content, 0644, [&](const char* temporary) { return ::rename(temporary, path.c_str()) == 0 ? 0 : errno; });
}

Status write_file_once(const fs::path& path, std::string_view content, mode_t mode) {
  return write_beside(path, content, mode, [&](const char* temporary) {
    if (::link(temporary, path.c_str()) != 0 && errno != EEXIST) return errno;
    ::unlink(temporary);
    return 0;
  });
}

Status make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return io_error("create", path, error.value());
  return {};
}

fs::path cache_directory() {
  const fs::path base = from_env("XDG_CACHE_HOME");
  return (base.empty() ? home() / ".cache" : base) / "hone";
}

fs::path data_directory() {
  const fs::path own = from_env("HONE_HOME");
  if (!own.empty()) return own;
  const fs::path base = from_env("XDG_DATA_HOME");
  return (base.empty() ? home() / ".local" / "share" : base) / "hone";
}

Result<ScratchDirectory> ScratchDirectory::create(std::string_view purpose) {
  std::error_code error;
  fs::path root = fs::temp_directory_path(error);
  if (error) root = "/tmp";
  std::string name = (root / ("hone-" + std::string(purpose) + ".XXXXXX")).string();
  if (!::mkdtemp(name.data())) return io_error("create", name, errno);
  return ScratchDirectory(fs::path(name));
}

ScratchDirectory& ScratchDirectory::operator=(ScratchDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchDirectory::~ScratchDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace hone::base
