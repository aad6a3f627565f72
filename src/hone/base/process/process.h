// Child processes: spawn, pipes, deadlines, limits. One owner per Child; not thread-safe, but
// different children may be driven from different threads. A child never outlives its owner: the
// destructor kills its whole group and reaps it, and children die with us (PR_SET_PDEATHSIG).
#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/result.h"

namespace hone::base {

/// What a child may do. Whatever the kernel below us offers is used (namespaces, Landlock, seccomp,
/// rlimits); probe_jail() says what is missing. An ordinary user needs no helper program.
struct Jail {
  bool enabled = true;
  /// Files and folders, read and execute, recursively. The program itself, /usr, what the dynamic
  /// loader reads and its own /proc are always readable; everything else is not there.
  std::vector<std::filesystem::path> readable;
  std::vector<std::filesystem::path> writable;   ///< folders (or devices), recursively
  bool network = false;
  /// What CUDA's driver asks for besides its devices: UNIX sockets that have a name and wait (connecting stays refused), and to name
  /// its threads under /proc/self/task.
  bool card = false;
  int64_t memory_bytes = 0;                      ///< address space; 0: no limit
  int64_t file_bytes = int64_t{1} << 30;         ///< largest file it may write; 0: not a byte
  int cpu_seconds = 0;                           ///< 0: no limit
  int processes = 64;                            ///< threads and children
  enum class Calls : uint8_t {
    kCompiler,   ///< ordinary file work and children; no sockets, ptrace, mounts, keys, bpf, …
    /// As above, but threads only, no children: freeze() stops one process. lock_down() in it
    /// leaves it compute and pipes.
    kRunner,
  } calls = Calls::kCompiler;
};

/// What this machine can enforce.
struct JailSupport {
  bool namespaces = false;   ///< user, mount, pid, network, ipc
  int landlock_abi = 0;      ///< 0: none
  bool seccomp = false;
  [[nodiscard]] std::string to_string() const;  ///< "namespaces, Landlock 7, seccomp" or what is missing
};
[[nodiscard]] const JailSupport& probe_jail();

/// For a runner inside its jail, once its threads are there: from here on all of them may read files and map
/// them, code included, and no more: what a loader needs. No thread can be started. Anything else is EPERM.
[[nodiscard]] Status lock_down_but_for_loading();
/// And after loading: futexes, clocks, yielding, writing to open descriptors, abort and exit. Memory is what there
/// is: asking for more is EPERM. Any other system call kills the process (SIGSYS).
[[nodiscard]] Status lock_down();

struct SpawnOptions {
  std::vector<std::string> argv;                 ///< argv[0]: absolute path, or looked up in PATH
  std::map<std::string, std::string> environment;  ///< the whole environment; nothing is inherited
  std::filesystem::path directory;               ///< working folder; empty: ours, or / in a jail
  std::optional<Jail> jail;
  std::map<int, int> descriptors;                ///< child's number (>= 3) -> ours
  std::string input;                             ///< written to its standard input, then closed
  bool capture_output = true;                    ///< else standard output and error go to /dev/null
  size_t output_limit = 1 << 20;                 ///< bytes kept of each stream; the rest is dropped
  std::optional<int> cpu_affinity;               ///< pin to this CPU
};

struct Exit {
  enum class How : uint8_t { kExited, kSignalled, kDeadline } how = How::kExited;
  int status = 0;                                ///< exit status or signal number
  std::string out, err;                          ///< captured, cut at output_limit
  bool truncated = false;
  int64_t wall_ns = 0, cpu_ns = 0;               ///< cpu_ns includes children it waited for
  /// An upper bound: Linux counts the memory of the spawning process until the program is loaded.
  int64_t max_rss_bytes = 0;
  int64_t deadline_ns = 0;                       ///< what was given, when it passed
  [[nodiscard]] bool ok() const { return how == How::kExited && status == 0; }
  /// "exited with status 3", "killed by SIGSEGV (invalid memory access)", "stopped at its deadline of 30 s"
  [[nodiscard]] std::string describe() const;
};

/// What a program printed from `mark` on, to the end of the line and 300 bytes at most; empty: no such mark.
[[nodiscard]] std::string_view line_from(std::string_view printed, std::string_view mark);

class Child {
 public:
  /// Fails (kUnavailable) when the program cannot be found or started; a jail that cannot be built
  /// at all (no seccomp) is an error too, a missing part of it is not.
  [[nodiscard]] static Result<Child> spawn(const SpawnOptions& options);
  Child(Child&&) noexcept;
  Child& operator=(Child&&) noexcept;
  ~Child();

  [[nodiscard]] int pid() const;        ///< of the jailed program itself, in our own pid namespace
  [[nodiscard]] int pidfd() const;      ///< readable when it has ended
  /// How long it has waited for a processor that others had, since it began: of it and of each program that it started and
  /// that still runs, the thread that waited longest. 0 where the kernel does not count it.
  [[nodiscard]] int64_t queued_ns() const;
  /// Pumps output until it ends or the deadline (from this call on) passes; past it the whole group
  /// is killed. What a Lateness does not count does not count here. Nothing pumps in between: a program nobody waits for blocks
  /// after 64 KiB of output.
  [[nodiscard]] Exit wait(std::chrono::nanoseconds deadline);
  void kill();
  /// Stops every thread of the program (SIGSTOP) and returns once all have stopped; false when it
  /// has ended, or is killed for not stopping within a second. Its children go on.
  [[nodiscard]] bool freeze();
  /// Lets them go; false when it has ended or something else let it go while it was frozen.
  bool thaw();

 private:
  struct State;
  explicit Child(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A deadline, from here on, that does not count what the program waits for a processor that others have, up to ten times the
/// deadline: a loaded machine makes nobody late. Of the first second, or quarter of the deadline, everything counts.
class Lateness {
 public:
  Lateness(const Child& child, std::chrono::nanoseconds deadline);   ///< the child must outlive it
  /// Nanoseconds until the deadline, as far as is known; to be asked every second. 0: it is late.
  [[nodiscard]] int64_t left();

 private:
  const Child& child_;
  int64_t deadline_, begin_, allowed_, queued_before_ = -1;
};

/// Spawn and wait in one.
[[nodiscard]] Result<Exit> run(const SpawnOptions& options, std::chrono::nanoseconds deadline);

}  // namespace hone::base
