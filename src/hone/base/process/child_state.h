// What a Child holds between its start (spawn.cc) and its end (child.cc). Not thread-safe.
#pragma once
#include <optional>
#include <string>

#include "hone/base/file.h"
#include "hone/base/process/process.h"

namespace hone::base {

/// Our end of one of its output streams.
struct Capture {
  Fd pipe;           ///< non-blocking; closed once the other end is
  std::string text;  ///< at most `limit` bytes
  bool truncated = false;

  /// Takes what is there now, but never more than a pipe holds: a fast writer must not keep us here.
  void read(size_t limit);
};

struct Child::State {
  int pid = -1;
  int init_pid = -1;  ///< -1: the program has no pid namespace of its own
  Fd pidfd;
  Capture out, err;
  size_t output_limit = 0;
  int64_t start_ns = 0;
  std::optional<Exit> exit;  ///< set once it has been reaped

  void kill() const;
  /// Takes what its pipes hold now.
  void read_output();
  /// Ends the rest of its group, reaps and fills `exit`; the program must have ended or been killed.
  void finish();
};

}  // namespace hone::base
