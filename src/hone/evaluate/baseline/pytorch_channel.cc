#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "hone/base/embedded.h"
#include "hone/evaluate/baseline/pytorch_process.h"

namespace hone::evaluate {
namespace {

/// Waits for `events`; false at the deadline. Spurious wake-ups are the caller's to retry.
bool wait_for(int fd, short events, Channel::Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;
  pollfd entry{fd, events, 0};
  constexpr int64_t kLongest = 1'000'000;
  return poll(&entry, 1, static_cast<int>(std::min<int64_t>(left.count(), kLongest))) != 0;
}

}  // namespace

std::string helper_text(std::string_view name) {
  const auto wire = base::find_embedded("baseline/pytorch_wire.py"), helper = base::find_embedded(name);
  HONE_CHECK(wire.has_value() && helper.has_value(), "the helper is built in");
  return fmt::format("{}\n{}", *wire, *helper);
}

std::string framed(std::string_view text) {
  const auto size = static_cast<uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

bool Channel::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(fd_.get(), POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Channel::send(char command, std::span<const int> descriptors) {
  iovec bytes{&command, 1};
  std::vector<char> space(CMSG_SPACE(descriptors.size_bytes()));
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  while (true) {
    const ssize_t sent = sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (sent >= 0 || errno != EINTR) return sent == 1;
  }
}

Result<std::pair<base::Fd, base::Fd>> socket_pair() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(ErrorCode::kInternal, fmt::format("socketpair: {}", std::strerror(errno)));
  return std::pair(base::Fd(pair[0]), base::Fd(pair[1]));
}

ForkedProcess::ForkedProcess(int pid)
    : pid_(pid), pidfd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
void ForkedProcess::send(int signal) const {
  if (pidfd_) syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}
void ForkedProcess::freeze() const { send(SIGSTOP); }
void ForkedProcess::thaw() const { send(SIGCONT); }
void ForkedProcess::kill() const { send(SIGKILL); }

Reply::How Channel::read(std::span<char> into, Deadline deadline) {
  while (!into.empty()) {
    const ssize_t got = recv(fd_.get(), into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) {
      into = into.subspan(static_cast<size_t>(got));
    } else if (got < 0 && errno == EAGAIN) {
      if (!wait_for(fd_.get(), POLLIN, deadline)) return Reply::How::kDeadline;
    } else if (got == 0 || errno != EINTR) {
      return Reply::How::kClosed;
    }
  }
  return Reply::How::kDone;
}

Reply Channel::receive(size_t payload, Deadline deadline) {
  Reply reply;
  char status = 0;
  reply.how = read({&status, 1}, deadline);
  if (reply.how != Reply::How::kDone) return reply;
  if (status != 'K') {
    uint32_t size = 0;
    char raw[sizeof size];
    reply.how = read(raw, deadline);
    std::memcpy(&size, raw, sizeof size);
    payload = std::min<size_t>(size, 1 << 16);
  }
  // Room as the bytes come: a size is a claim.
  constexpr size_t kPiece = size_t{1} << 20;
  while (reply.how == Reply::How::kDone && reply.text.size() < payload) {
    const size_t before = reply.text.size();
    reply.text.resize(std::min(payload, before + kPiece));
    reply.how = read(std::span(reply.text).subspan(before), deadline);
  }
  if (reply.how == Reply::How::kDone && status != 'K') reply.how = Reply::How::kError;
  return reply;
}

}  // namespace hone::evaluate
