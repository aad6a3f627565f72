#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "hone/base/process/process.h"

namespace hone::base {
namespace {

const char* meaning(int signal) {
  switch (signal) {
    case SIGSEGV: return "invalid memory access";
    case SIGBUS: return "memory that is not there, or misaligned access";
    case SIGFPE: return "integer division by zero or overflow";
    case SIGILL: return "an instruction this processor does not have, or a trap";
    case SIGABRT: return "it aborted itself";
    case SIGKILL: return "killed from outside, or out of memory";
    case SIGSYS: return "a system call the jail forbids";
    case SIGXCPU: return "its CPU time was used up";
    case SIGXFSZ: return "a file grew past its limit";
    default: return sigdescr_np(signal);
  }
}

std::string duration(int64_t ns) {
  if (ns >= 1'000'000'000) return fmt::format("{:.4g} s", static_cast<double>(ns) * 1e-9);
  return fmt::format("{:.4g} ms", static_cast<double>(ns) * 1e-6);
}

}  // namespace

std::string_view line_from(std::string_view printed, std::string_view mark) {
  const size_t at = printed.find(mark);
  if (at == std::string_view::npos) return {};
  return printed.substr(at, std::min(printed.find('\n', at), at + 300) - at);
}

std::string Exit::describe() const {
  if (how == How::kDeadline) return "stopped at its deadline of " + duration(deadline_ns);
  if (how == How::kExited) return fmt::format("exited with status {}", status);
  const char* name = sigabbrev_np(status);
  const char* why = meaning(status);
  if (!name || !why) return fmt::format("killed by signal {}", status);
  return fmt::format("killed by SIG{} ({})", name, why);
}

}  // namespace hone::base
