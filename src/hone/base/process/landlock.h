// Landlock's interface, newer than the headers of many distributions. Values are the kernel's ABI.
#pragma once
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace hone::base::landlock {

/// Grown by appending; kernels accept longer ones whose unknown tail is zero.
struct Ruleset {
  uint64_t handled_access_fs = 0;
  uint64_t handled_access_net = 0;
  uint64_t scoped = 0;
};

inline constexpr uint64_t kFirstAbiFiles = (uint64_t{1} << 13) - 1;
inline constexpr uint64_t kRefer = uint64_t{1} << 13;          // ABI 2
inline constexpr uint64_t kTruncate = uint64_t{1} << 14;       // ABI 3
inline constexpr uint64_t kTcp = 3;                            // ABI 4: bind and connect
inline constexpr uint64_t kDeviceControl = uint64_t{1} << 15;  // ABI 5
inline constexpr uint64_t kScopes = 3;                         // ABI 6: abstract sockets and signals

inline constexpr uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
inline constexpr uint64_t kDeviceNodes = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
/// The rights that make sense for something that is not a folder.
inline constexpr uint64_t kOnFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                     LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl;

inline int abi() {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

inline int create(const Ruleset& ruleset) {
  return static_cast<int>(syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0));
}

inline bool allow(int ruleset, int path, uint64_t rights) {
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = path;
  return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

inline bool restrict_self(int ruleset) {
  return syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

}  // namespace hone::base::landlock
