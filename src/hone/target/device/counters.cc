#include "hone/target/device/counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace hone::target {
namespace {

std::vector<int> threads_of(int pid) {
  std::vector<int> threads;
  std::error_code error;
  // Threads may end while we look: an error ends the walk.
  std::filesystem::directory_iterator entry(fmt::format("/proc/{}/task", pid), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    int thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) threads.push_back(thread);
  }
  return threads;
}

int open_event(const CounterEvent& event, int thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string reason(int number) {
  switch (number) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "the processor, or the virtual machine, gives no hardware counters";
    case EACCES:
    case EPERM:
      return "counting needs a permission (kernel.perf_event_paranoid) that there is not";
    case ENOSYS:
      return "the kernel has no performance events";
    default:
      return fmt::format("counters cannot be opened: {}", std::strerror(number));
  }
}

}  // namespace

const std::vector<CounterEvent>& hardware_events() {
  static const std::vector<CounterEvent> kEvents = {{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                                                    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                                                    {"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
                                                    {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
                                                    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
                                                    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES}};
  return kEvents;
}

Counters::Counters(int pid, const std::vector<CounterEvent>& events) {
  const std::vector<int> threads = threads_of(pid);
  if (threads.empty()) absent_ = "there is no such process";
  int last_error = 0;
  for (const CounterEvent& event : events) {
    Opened opened{event.name, {}};
    for (const int thread : threads)
      if (base::Fd fd(open_event(event, thread)); fd)
        opened.threads.push_back(std::move(fd));
      else
        last_error = errno;
    if (!threads.empty() && opened.threads.size() == threads.size()) events_.push_back(std::move(opened));
  }
  if (events_.empty() && absent_.empty()) absent_ = reason(last_error);
}

void Counters::start() {
  for (const Opened& event : events_)
    for (const base::Fd& fd : event.threads) ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0);
}

void Counters::stop() {
  for (const Opened& event : events_)
    for (const base::Fd& fd : event.threads) ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::optional<double> Counters::count(const std::string& name) const {
  const auto event = std::find_if(events_.begin(), events_.end(), [&](const Opened& e) { return e.name == name; });
  if (event == events_.end()) return std::nullopt;
  double total = 0;
  for (const base::Fd& fd : event->threads) {
    struct {
      uint64_t value, enabled, running;
    } found{};
    if (read(fd.get(), &found, sizeof found) != sizeof found) return std::nullopt;
    if (found.running > 0)
      total += static_cast<double>(found.value) * static_cast<double>(found.enabled) / static_cast<double>(found.running);
  }
  return total;
}

}  // namespace hone::target
