#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "hone/base/clock.h"
#include "hone/base/process/child_state.h"
#include "hone/base/process/jail_plan.h"
#include "hone/base/process/launch.h"

namespace hone::base {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> system_error(const std::string& what, int error) {
  return fail(error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN
                  ? ErrorCode::kExhausted
                  : ErrorCode::kUnavailable,
              fmt::format("cannot {}: {}", what, std::strerror(error)));
}

Result<fs::path> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) != 0) return system_error("start " + name, errno);
    return fs::absolute(name);
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::error_code unreadable;
    if (candidate.is_absolute() && fs::is_regular_file(candidate, unreadable) &&
        ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return fail(ErrorCode::kUnavailable, fmt::format("cannot find the program {}", name),
              "install it, or add its folder to PATH");
}

struct Pipe {
  Fd ours, theirs;
};

Result<Pipe> output_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe", errno);
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  ::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

/// A sealed file in memory rather than a pipe: nothing to pump, and no SIGPIPE when nobody reads.
Result<Fd> input_file(std::string_view input) {
  Fd fd(::memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("hold its input", errno);
  while (!input.empty()) {
    const ssize_t n = ::write(fd.get(), input.data(), input.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("hold its input", errno);
    input.remove_prefix(static_cast<size_t>(n));
  }
  ::lseek(fd.get(), 0, SEEK_SET);
  ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE);
  return fd;
}

/// Null-terminated array of C strings over `texts`, which must outlive it.
std::vector<char*> c_strings(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<Child> Child::spawn(const SpawnOptions& options) {
  HONE_CHECK(!options.argv.empty());
  HONE_TRY(const fs::path program, find_program(options.argv[0]));
  std::optional<JailPlan> jail;
  if (options.jail && options.jail->enabled) {
    if (!probe_jail().seccomp)
      return fail(ErrorCode::kUnavailable, "cannot build a jail: this kernel has no seccomp filters",
                  "use a kernel built with CONFIG_SECCOMP_FILTER");
    HONE_TRY(jail, plan_jail(*options.jail, program, probe_jail()));
  }

  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return system_error("open /dev/null", errno);
  Fd input;
  Pipe out, err;
  if (!options.input.empty()) {
    HONE_TRY(input, input_file(options.input));
  }
  if (options.capture_output) {
    HONE_TRY(out, output_pipe());
    HONE_TRY(err, output_pipe());
  }

  std::vector<std::string> argument_texts = options.argv, environment_texts;
  for (const auto& [name, value] : options.environment) environment_texts.push_back(name + "=" + value);
  const std::vector<char*> arguments = c_strings(argument_texts);
  const std::vector<char*> environment = c_strings(environment_texts);
  std::string directory = options.directory.string();
  if (directory.empty() && jail) directory.assign(1, '/');

  LaunchPlan plan;
  plan.jail = jail ? &*jail : nullptr;
  plan.program = program.c_str();
  plan.arguments = arguments.data();
  plan.environment = environment.data();
  plan.directory = directory.empty() ? nullptr : directory.c_str();
  plan.descriptors = {{input ? input.get() : null.get(), 0},
                      {out.theirs ? out.theirs.get() : null.get(), 1},
                      {err.theirs ? err.theirs.get() : null.get(), 2}};
  for (const auto& [theirs, ours] : options.descriptors) {
    HONE_CHECK(theirs >= 3, "standard streams are not mapped");
    plan.descriptors.push_back({ours, theirs});
  }
  for (const DescriptorMove& move : plan.descriptors)
    plan.parking_floor = std::max(plan.parking_floor, move.to + 1);
  // The rules are applied after the descriptors are in place: their own must not be among the targets.
  if (jail && jail->ruleset && jail->ruleset.get() < plan.parking_floor) {
    jail->ruleset = Fd(::fcntl(jail->ruleset.get(), F_DUPFD_CLOEXEC, plan.parking_floor));
    if (!jail->ruleset) return system_error("park a descriptor", errno);
  }
  // Otherwise where the calling thread may run, though another one clones.
  plan.pinned = options.cpu_affinity.has_value() ||
                ::sched_getaffinity(0, sizeof plan.affinity, &plan.affinity) == 0;
  if (options.cpu_affinity) CPU_SET(*options.cpu_affinity, &plan.affinity);

  auto state = std::make_unique<State>();
  state->start_ns = system_clock().now_ns();
  state->output_limit = options.output_limit;
  const LaunchResult launched = launch(plan);
  if (launched.pid < 0)
    return system_error(fmt::format("start {}: cannot {}", program.string(), launched.step),
                        launched.error);
  state->pid = launched.pid;
  state->init_pid = launched.init_pid;
  state->out.pipe = std::move(out.ours);
  state->err.pipe = std::move(err.ours);
  Child child(std::move(state));
  child.state_->pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, launched.pid, 0)));
  if (!child.state_->pidfd) return system_error("watch the program", errno);
  return child;
}

Result<Exit> run(const SpawnOptions& options, std::chrono::nanoseconds deadline) {
  HONE_TRY(Child child, Child::spawn(options));
  return child.wait(deadline);
}

}  // namespace hone::base
