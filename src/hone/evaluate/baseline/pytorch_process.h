// The wire to the helper process and the environment it runs in; private to the PyTorch opponent.
// One thread drives a Channel. Nothing here throws; a broken or silent peer is a Reply.
#pragma once
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hone/base/file.h"

namespace hone::evaluate {

/// All of a Python opponent's environment; it sees no card unless it is to run `on_card`.
[[nodiscard]] std::map<std::string, std::string> pytorch_environment(bool on_card = false);

/// What `python -c` runs: the wire (pytorch_wire.py) and behind it the helper, embedded under that name.
[[nodiscard]] std::string helper_text(std::string_view name);

/// A message with its length before it.
[[nodiscard]] std::string framed(std::string_view text);

/// What came back for a command (the protocol is in pytorch_helper.py).
struct Reply {
  enum class How : uint8_t {
    kDone,      ///< `text` holds the payload, if the command has one
    kError,     ///< the helper says why in `text`
    kClosed,    ///< the helper has ended
    kDeadline,  ///< no answer in time
  } how = How::kDone;
  std::string text;
};

class Channel {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  Channel() = default;
  explicit Channel(base::Fd fd) : fd_(std::move(fd)) {}

  /// False when the helper has gone or does not read until the deadline.
  [[nodiscard]] bool send(std::string_view bytes, Deadline deadline);
  /// One byte with descriptors, at least one.
  [[nodiscard]] bool send(char command, std::span<const int> descriptors);
  /// Waits for one reply with `payload` bytes.
  [[nodiscard]] Reply receive(size_t payload, Deadline deadline);

 private:
  [[nodiscard]] Reply::How read(std::span<char> into, Deadline deadline);
  base::Fd fd_;
};

/// A connected pair of stream sockets that no program we start inherits.
[[nodiscard]] Result<std::pair<base::Fd, base::Fd>> socket_pair();

/// A process forked by the helper: ours to stop and to end, its parent's to reap. No method fails: what
/// has ended shows at the next command.
class ForkedProcess {
 public:
  ForkedProcess() = default;
  explicit ForkedProcess(int pid);
  ForkedProcess(ForkedProcess&&) noexcept = default;
  ForkedProcess& operator=(ForkedProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(pidfd_, other.pidfd_);
    return *this;
  }
  ~ForkedProcess() { kill(); }

  [[nodiscard]] int pid() const { return pid_; }
  void freeze() const;  ///< returns before its threads have stopped, a matter of microseconds
  void thaw() const;
  void kill() const;

 private:
  void send(int signal) const;
  int pid_ = -1;
  base::Fd pidfd_;
};

}  // namespace hone::evaluate
