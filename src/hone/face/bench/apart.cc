#include "hone/face/bench/apart.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/json.h"

namespace hone::face::bench {
namespace {

/// Less than a pipe holds, so that writing waits for nobody.
constexpr size_t kMostText = size_t{32} << 10;

std::string text_of(const Result<std::string>& said) {
  if (said) return base::canonical_json({{"said", *said}});
  const Error& e = said.error();
  return base::canonical_json({{"code", static_cast<int>(e.code)}, {"message", e.message.substr(0, kMostText / 2)}, {"hint", e.hint.substr(0, kMostText / 4)}});
}

Result<std::string> said_in(const std::string& text) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_object()) return fail(ErrorCode::kInternal, "a process of ours ended without a word");
  if (value.contains("said")) return value.value("said", "");
  return fail(static_cast<ErrorCode>(value.value("code", 0)), value.value("message", ""), value.value("hint", ""));
}

[[noreturn]] void be_the_child(pid_t parent, const std::function<Result<std::string>()>& work, int out) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before it could matter
  const std::string text = text_of(work());
  HONE_CHECK(text.size() < 2 * kMostText, "it fits into a pipe");
  std::fflush(nullptr);
  const ssize_t written = ::write(out, text.data(), text.size());
  ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

std::string read_all(int in) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(in, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

Result<Apart> Apart::begin(const std::function<Result<std::string>()>& work, const std::function<int()>& interrupts) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::kExhausted, fmt::format("no pipe: {}", std::strerror(errno)));
  base::Fd in(ends[0]), out(ends[1]);
  // What stands in a buffer would be written by both.
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const int passed_on = interrupts();
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kExhausted, fmt::format("cannot begin another process: {}", std::strerror(errno)));
  if (child == 0) be_the_child(parent, work, out.get());
  // The other end is closed here: whoever is begun later must not hold it open.
  return Apart(child, std::move(in), passed_on);
}

Result<std::optional<Ended>> Apart::ended(const std::function<int()>& interrupts, std::chrono::milliseconds patience) {
  int status = 0;
  const pid_t reaped = ::waitpid(child_, &status, WNOHANG);
  if (reaped < 0 && errno != EINTR) return fail(ErrorCode::kInternal, fmt::format("waitpid: {}", std::strerror(errno)));
  if (reaped != child_) {
    const auto now = std::chrono::steady_clock::now();
    if (const int asked = interrupts(); passed_on_ < asked) {
      // Two signals of a kind may arrive as one; SIGTERM says both at once.
      ::kill(child_, passed_on_ == 0 && asked > 1 ? SIGTERM : SIGINT);
      passed_on_ = asked;
      if (asked > 1 && !at_once_) at_once_ = now;
    } else if (at_once_ && now - *at_once_ > patience) {
      ::kill(-child_, SIGKILL);
    }
    return std::nullopt;
  }
  Ended ended;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && at_once_) ended.said = fail(ErrorCode::kInterrupted, "interrupted");
  else if (WIFSIGNALED(status)) ended.died_of = fmt::format("killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  else ended.said = said_in(read_all(in_.get()));
  return ended;
}

Result<Ended> apart(const std::function<Result<std::string>()>& work, const std::function<int()>& interrupts) {
  HONE_TRY(Apart under_way, Apart::begin(work, interrupts));
  for (;;) {
    HONE_TRY(std::optional<Ended> ended, under_way.ended(interrupts));
    if (ended) return std::move(*ended);
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace hone::face::bench
