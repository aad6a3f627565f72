#include "hone/target/cpu.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

#include "hone/base/result.h"
#include "hone/target/cores.h"

namespace hone::target {
namespace {

std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown CPU";
}

/// Size of the data or unified cache of a level; 0 when absent.
int64_t cache_bytes(int level) { return cache_geometry(level, CacheKind::kData).bytes; }

int allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

CpuInfo probe() {
  CpuInfo cpu;
  cpu.model = model_name();
  cpu.threads = allowed_cpus();
  cpu.l1_bytes = cache_bytes(1) ? cache_bytes(1) : 32 << 10;
  cpu.l2_bytes = cache_bytes(2) ? cache_bytes(2) : 256 << 10;
  cpu.l3_bytes = cache_bytes(3) ? cache_bytes(3) : cpu.l2_bytes;
  cpu.memory_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    cpu.vector_bytes = 64;
    cpu.isa = "avx512";
  } else if (__builtin_cpu_supports("avx2")) {
    cpu.vector_bytes = 32;
    cpu.isa = "avx2";
  } else {
    cpu.isa = "sse2";
  }
#else
  cpu.isa = "neon";
#endif
  return cpu;
}

CpuInfo& info() {
  static CpuInfo known = probe();
  return known;
}

}  // namespace

CacheGeometry cache_geometry(int level, CacheKind kind) {
  CacheGeometry cache;
  for (int index = 0; index < 8; ++index) {
    const std::string base = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    int found = 0, ways = 0, line = 0;
    std::string type, size;
    std::ifstream(base + "level") >> found;
    std::ifstream(base + "type") >> type;
    std::ifstream(base + "size") >> size;  // "32K"
    std::ifstream(base + "ways_of_associativity") >> ways;
    std::ifstream(base + "coherency_line_size") >> line;
    if (found != level || (type == "Instruction") != (kind == CacheKind::kInstructions) || size.empty()) continue;
    const int64_t number = std::stoll(size);
    cache.bytes = size.back() == 'K' ? number << 10 : size.back() == 'M' ? number << 20 : number;
    cache.ways = ways;
    if (line > 0) cache.line = line;
    break;
  }
  return cache;
}

const CpuInfo& cpu_info() { return info(); }

bool keep_to_share(size_t part, size_t of) {
  HONE_CHECK(part < of, "one of the shares");
  const std::vector<std::vector<int>> all = cores();
  if (all.size() < of) return false;
  std::vector<int> mine;
  for (size_t core = all.size() * part / of; core < all.size() * (part + 1) / of; ++core) mine.insert(mine.end(), all[core].begin(), all[core].end());
  if (!keep_to(mine)) return false;
  info().threads = allowed_cpus();
  return true;
}

std::string cpu_key(const CpuInfo& cpu) {
  return fmt::format("cpu/{}/{}/{}t/L2-{}K/L3-{}M", cpu.model, cpu.isa, cpu.threads,
                     cpu.l2_bytes >> 10, cpu.l3_bytes >> 20);
}

kernel::Limits cpu_limits(const CpuInfo& cpu) {
  return {{"THREADS", cpu.threads},
          {"L1_BYTES", cpu.l1_bytes},
          {"L2_BYTES", cpu.l2_bytes},
          {"L3_BYTES", cpu.l3_bytes},
          {"VECTOR_BYTES", cpu.vector_bytes}};
}

}  // namespace hone::target
