#include "hone/base/trace.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/file.h"

namespace hone::base {
namespace {

void append(int file, const std::string& line) {
  if (::write(file, line.data(), line.size()) < 0) return;  // a trace is a convenience: nothing depends on it
}

/// The file, or -1. Opened once; a process that is forked keeps it.
int trace_file() {
  static const Fd file = [] {
    const char* path = std::getenv("HONE_TRACE");
    if (!path || !*path) return Fd();
    Fd opened(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    // The format's array may stay open at its end.
    if (opened && ::lseek(opened.get(), 0, SEEK_END) == 0) append(opened.get(), "[\n");
    return opened;
  }();
  return file ? file.get() : -1;
}

}  // namespace

Span::Span(const char* name) : name_(trace_file() >= 0 ? name : nullptr) {
  if (name_) start_ns_ = system_clock().now_ns();
}

Span::~Span() {
  if (!name_) return;
  const int64_t end_ns = system_clock().now_ns();
  append(trace_file(), fmt::format("{{\"name\":\"{}\",\"ph\":\"X\",\"ts\":{:.3f},\"dur\":{:.3f},\"pid\":{},\"tid\":{}}},\n", name_,
                                   1e-3 * static_cast<double>(start_ns_), 1e-3 * static_cast<double>(end_ns - start_ns_), ::getpid(),
                                   ::syscall(SYS_gettid)));
}

}  // namespace hone::base
