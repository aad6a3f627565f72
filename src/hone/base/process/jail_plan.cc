#include "hone/base/process/jail_plan.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "hone/base/process/landlock.h"

namespace hone::base {
namespace fs = std::filesystem;
namespace {

/// What every program needs to start and compilers need to work, where it exists.
constexpr std::array kAlwaysReadable = {
    "/usr",  "/bin",  "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
    "/dev/urandom", "/dev/random", "/dev/zero", "/sys/devices/system/cpu"};
constexpr std::array kAlwaysWritable = {"/dev/null"};
/// Where there is no private /proc that could be opened whole.
constexpr std::array kReadableProc = {"/proc/cpuinfo", "/proc/meminfo"};

constexpr int kUserInside = 1000;
/// The kernel hands out process numbers below this once only, then starts again above them.
constexpr int kReservedPids = 300;
constexpr int kMaxLinks = 40;
constexpr rlim_t kOpenFiles = 1024;
/// Of a runner's threads: the usual, whatever ours is.
constexpr int64_t kRunnersStack = int64_t{8} << 20;

bool is_inside(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

/// Collects the trees that will be visible, and the links on the way to them.
class View {
 public:
  /// False, with errno, when the path leads nowhere.
  bool add(const fs::path& path, bool writable) {
    std::vector<fs::path> rest;
    push(rest, path);
    fs::path at = "/";
    int links_left = kMaxLinks;
    struct stat info {};
    while (!rest.empty()) {
      const fs::path next = rest.back() == ".." ? at.parent_path() : at / rest.back();
      rest.pop_back();
      if (::lstat(next.c_str(), &info) != 0) return false;
      if (!S_ISLNK(info.st_mode)) {
        at = next;
        continue;
      }
      std::error_code error;
      const fs::path target = fs::read_symlink(next, error);
      if (error || links_left-- == 0) {
        errno = error ? error.value() : ELOOP;
        return false;
      }
      links_.insert({next.string(), target.string()});
      push(rest, target);
      if (target.is_absolute()) at = "/";
    }
    if (at == "/" || ::stat(at.c_str(), &info) != 0) {
      if (at == "/") errno = EINVAL;  // a jail that shows everything is none
      return false;
    }
    trees_.push_back({at.string(), writable, S_ISDIR(info.st_mode)});
    return true;
  }

  void fill(JailPlan& plan) {
    // Parents first; of two entries for one path, the writable one.
    std::sort(trees_.begin(), trees_.end(), [](const auto& a, const auto& b) {
      return a.path != b.path ? a.path < b.path : a.writable > b.writable;
    });
    for (const JailPlan::Tree& tree : trees_) {
      const JailPlan::Tree* around = innermost(plan.trees, tree.path);
      if (!around || (around->writable != tree.writable && around->path != tree.path))
        plan.trees.push_back(tree);
    }
    for (const JailPlan::Tree& tree : plan.trees) {
      using Kind = JailPlan::Entry::Kind;
      if (!covered(plan.trees, fs::path(tree.path).parent_path().string()))
        add_entry(plan, {tree.folder ? Kind::kFolder : Kind::kFile, tree.path.substr(1), {}});
    }
    for (const auto& [path, target] : links_)
      if (!covered(plan.trees, path))
        add_entry(plan, {JailPlan::Entry::Kind::kLink, path.substr(1), target});
    add_entry(plan, {JailPlan::Entry::Kind::kFolder, "proc", {}});
  }

 private:
  static void push(std::vector<fs::path>& rest, const fs::path& path) {
    const fs::path relative = path.relative_path();
    const std::vector<fs::path> parts(relative.begin(), relative.end());
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      if (!part->empty() && *part != ".") rest.push_back(*part);
  }

  static const JailPlan::Tree* innermost(const std::vector<JailPlan::Tree>& trees,
                                         const std::string& path) {
    const JailPlan::Tree* found = nullptr;
    for (const JailPlan::Tree& tree : trees)
      if (is_inside(path, tree.path)) found = &tree;
    return found;
  }

  static bool covered(const std::vector<JailPlan::Tree>& trees, const std::string& path) {
    return innermost(trees, path) != nullptr;
  }

  void add_entry(JailPlan& plan, JailPlan::Entry entry) {
    if (!made_.insert(entry.path).second) return;
    const std::string parent = fs::path(entry.path).parent_path().string();
    if (!parent.empty()) add_entry(plan, {JailPlan::Entry::Kind::kFolder, parent, {}});
    plan.entries.push_back(std::move(entry));
  }

  std::vector<JailPlan::Tree> trees_;
  std::set<std::pair<std::string, std::string>> links_;
  std::set<std::string> made_;
};

tl::unexpected<Error> missing(const fs::path& path, int error) {
  return fail(ErrorCode::kNotFound,
              fmt::format("the jail cannot show {}: {}", path.string(), std::strerror(error)));
}

Status plan_files(JailPlan& plan, const Jail& jail, const fs::path& program) {
  View view;
  for (const char* path : kAlwaysReadable) (void)view.add(path, false);
  for (const char* path : kAlwaysWritable) (void)view.add(path, true);
  if (!plan.namespaces)
    for (const char* path : kReadableProc) (void)view.add(path, false);
  const auto add = [&](const fs::path& path, bool writable) -> Status {
    HONE_CHECK(!path.empty(), "the jail was asked to show a path without a name");
    if (!view.add(fs::absolute(path), writable)) return missing(path, errno);
    return {};
  };
  HONE_TRY_VOID(add(program, false));
  for (const fs::path& path : jail.readable) HONE_TRY_VOID(add(path, false));
  for (const fs::path& path : jail.writable) HONE_TRY_VOID(add(path, true));
  view.fill(plan);
  return {};
}

/// Threads of our user on this machine. A folder has two links and one more for each folder in it.
rlim_t threads_of_our_user() {
  DIR* proc = ::opendir("/proc");
  if (!proc) return 0;
  rlim_t threads = 0;
  while (const dirent* entry = ::readdir(proc)) {
    struct stat info {};
    const std::string tasks = fmt::format("/proc/{}/task", entry->d_name);
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && ::stat(tasks.c_str(), &info) == 0 &&
        info.st_uid == ::getuid())
      threads += info.st_nlink - 2;
  }
  ::closedir(proc);
  return threads;
}

void plan_limits(JailPlan& plan, const Jail& jail) {
  const auto limit = [&](int resource, rlim_t soft, rlim_t hard) {
    rlimit now{};
    ::getrlimit(resource, &now);
    plan.limits.push_back({resource, {std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)}});
  };
  const auto same = [&](int resource, int64_t value) {
    limit(resource, static_cast<rlim_t>(value), static_cast<rlim_t>(value));
  };
  same(RLIMIT_CORE, 0);
  same(RLIMIT_NOFILE, kOpenFiles);
  same(RLIMIT_FSIZE, jail.file_bytes);
  if (jail.calls == Jail::Calls::kRunner) same(RLIMIT_STACK, kRunnersStack);
  if (jail.memory_bytes > 0) same(RLIMIT_AS, jail.memory_bytes);
  if (jail.cpu_seconds > 0) {
    // The soft limit names itself (SIGXCPU), the hard one cannot be caught.
    const auto seconds = static_cast<rlim_t>(jail.cpu_seconds);
    limit(RLIMIT_CPU, seconds, seconds + 1);
  }
  // In a user namespace of its own the kernel (5.14) counts from zero: the init, the process that
  // builds the jail and the program. Otherwise all of the user's processes count.
  const rlim_t others = plan.namespaces ? 2 : threads_of_our_user();
  same(RLIMIT_NPROC, static_cast<int64_t>(others) + jail.processes);
}

}  // namespace

Result<JailPlan> plan_jail(const Jail& jail, const fs::path& program, const JailSupport& support) {
  JailPlan plan;
  plan.namespaces = support.namespaces;
  plan.network = jail.network;
  plan.card = jail.card;
  plan.uid_map = fmt::format("{} {} 1", kUserInside, ::geteuid());
  plan.gid_map = fmt::format("{} {} 1", kUserInside, ::getegid());
  plan.highest_pid = std::to_string(kReservedPids + jail.processes + 1);
  HONE_TRY_VOID(plan_files(plan, jail, program));
  plan_limits(plan, jail);
  if (support.landlock_abi > 0) {
    HONE_TRY(plan.ruleset, landlock_ruleset(plan, support.landlock_abi));
    plan.on_threads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE | (support.landlock_abi >= 3 ? landlock::kTruncate : 0);
  }
  plan.filter = jail_filter(jail);
  if (plan.namespaces) plan.init_program = init_program();
  return plan;
}

Result<Fd> landlock_ruleset(const JailPlan& plan, int abi) {
  landlock::Ruleset attributes;
  attributes.handled_access_fs = landlock::kFirstAbiFiles;
  if (abi >= 2) attributes.handled_access_fs |= landlock::kRefer;
  if (abi >= 3) attributes.handled_access_fs |= landlock::kTruncate;
  if (abi >= 4 && !plan.network) attributes.handled_access_net = landlock::kTcp;
  if (abi >= 5) attributes.handled_access_fs |= landlock::kDeviceControl;
  if (abi >= 6) attributes.scoped = landlock::kScopes;
  Fd ruleset(landlock::create(attributes));
  if (!ruleset)
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot make a Landlock ruleset: {}", std::strerror(errno)));
  for (const JailPlan::Tree& tree : plan.trees) {
    uint64_t rights = tree.writable ? attributes.handled_access_fs & ~landlock::kDeviceNodes
                                    : landlock::kRead;
    if (!tree.folder) rights &= landlock::kOnFiles;
    const Fd path(::open(tree.path.c_str(), O_PATH | O_CLOEXEC));
    if (!path || !landlock::allow(ruleset.get(), path.get(), rights)) return missing(tree.path, errno);
  }
  return ruleset;
}

}  // namespace hone::base
