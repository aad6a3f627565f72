#include "hone/target/device/contention.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace hone::target {

int64_t run_delay_ns(int pid) {
  int64_t total = 0;
  std::error_code error;
  // Threads may end while we look: an error ends the walk.
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", pid), error);
  for (; !error && thread != std::filesystem::directory_iterator(); thread.increment(error)) {
    std::ifstream file(thread->path() / "schedstat");
    int64_t ran = 0, waited = 0;
    if (file >> ran >> waited) total += waited;
  }
  return total;
}

int64_t stolen_ns() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  int64_t field[8] = {};
  file >> cpu;
  for (int64_t& value : field) file >> value;
  return field[7] * (1'000'000'000 / std::max<long>(1, sysconf(_SC_CLK_TCK)));
}

}  // namespace hone::target
