// What this machine can enforce: asked once, by trying.
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "hone/base/process/jail_plan.h"
#include "hone/base/process/landlock.h"
#include "hone/base/process/launch.h"

namespace hone::base {
namespace {

bool has_seccomp() {
  const uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/// A launch without a program. Rights to make a namespace say little about rights to mount in it
/// (AppArmor, container runtimes), so the whole jail is built.
bool has_namespaces(JailSupport support) {
  support.namespaces = true;
  if (init_program() < 0) return false;
  auto plan = plan_jail(Jail{}, "/dev/null", support);
  if (!plan) return false;
  LaunchPlan rehearsal;
  rehearsal.jail = &*plan;
  const LaunchResult result = launch(rehearsal);
  if (result.pid < 0) return false;
  waitpid(result.pid, nullptr, __WALL);
  kill(result.init_pid, SIGKILL);
  waitpid(result.init_pid, nullptr, __WALL);
  return true;
}

JailSupport probe() {
  JailSupport support;
  support.seccomp = has_seccomp();
  support.landlock_abi = landlock::abi();
  support.namespaces = support.seccomp && has_namespaces(support);
  return support;
}

}  // namespace

const JailSupport& probe_jail() {
  static const JailSupport support = probe();
  return support;
}

std::string JailSupport::to_string() const {
  return fmt::format("{}, {}, {}", namespaces ? "namespaces" : "no namespaces",
                     landlock_abi > 0 ? fmt::format("Landlock {}", landlock_abi) : "no Landlock",
                     seccomp ? "seccomp" : "no seccomp");
}

}  // namespace hone::base
