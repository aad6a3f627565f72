#include "hone/archive/locks.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "hone/base/file.h"

namespace hone::archive {
namespace fs = std::filesystem;
namespace {

constexpr off_t kSetupByte = off_t{1} << 48;  // behind every run's byte

class ByteLock final : public RunLock {
 public:
  explicit ByteLock(base::Fd fd) : fd_(std::move(fd)) {}

 private:
  base::Fd fd_;  // closing it frees the byte
};

struct flock byte_range(off_t start, off_t length) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = length;
  return range;
}

tl::unexpected<Error> lock_error(const char* verb, const fs::path& path, int error) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(error)),
              "the archive's folder must be writable: check its permissions, or point HONE_HOME at "
              "a place that can be written");
}

Result<base::Fd> open_lock_file(const fs::path& path) {
  base::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return lock_error("open", path, errno);
  return fd;
}

}  // namespace

fs::path lock_file(const fs::path& archive) { return archive.string() + ".locks"; }

Result<std::unique_ptr<RunLock>> take_run_lock(const fs::path& archive, std::string_view id) {
  off_t byte = 0;
  const auto parsed = std::from_chars(id.data(), id.data() + id.size(), byte, 16);
  HONE_CHECK(parsed.ec == std::errc() && byte < kSetupByte, id);
  const fs::path path = lock_file(archive);
  HONE_TRY(base::Fd fd, open_lock_file(path));
  struct flock range = byte_range(byte, 1);
  if (::fcntl(fd.get(), F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES) return lock_error("lock", path, errno);
    return fail(ErrorCode::kUnavailable, fmt::format("run {} is being worked on", id),
                "wait for the hone that holds it, or stop that process: its work so far is kept");
  }
  return std::make_unique<ByteLock>(std::move(fd));
}

Result<std::unique_ptr<RunLock>> take_setup_lock(const fs::path& archive) {
  const fs::path path = lock_file(archive);
  HONE_TRY(base::Fd fd, open_lock_file(path));
  struct flock range = byte_range(kSetupByte, 1);
  while (::fcntl(fd.get(), F_OFD_SETLKW, &range) != 0) {
    if (errno != EINTR) return lock_error("lock", path, errno);
  }
  return std::make_unique<ByteLock>(std::move(fd));
}

Result<std::vector<std::string>> held_runs(const fs::path& archive) {
  const fs::path path = lock_file(archive);
  HONE_TRY(base::Fd fd, open_lock_file(path));
  std::vector<std::string> held;
  for (off_t from = 0; from < kSetupByte;) {
    // Answers with some lock in the range, not necessarily its first: look below it again first.
    struct flock range = byte_range(from, kSetupByte - from);
    if (::fcntl(fd.get(), F_OFD_GETLK, &range) != 0) return lock_error("read", path, errno);
    if (range.l_type == F_UNLCK) break;
    off_t found = range.l_start;
    while (found > from) {
      struct flock below = byte_range(from, found - from);
      if (::fcntl(fd.get(), F_OFD_GETLK, &below) != 0) return lock_error("read", path, errno);
      if (below.l_type == F_UNLCK) break;
      found = below.l_start;
    }
    held.push_back(fmt::format("{:012x}", found));
    from = found + 1;
  }
  return held;
}

}  // namespace hone::archive
