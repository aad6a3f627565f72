// What the CPU under us is: model, threads, caches, vector width. Read once from /proc and /sys.
// Immutable but for keep_to_share(); thread-safe.
#pragma once
#include <string>

#include "hone/kernel/kernel.h"

namespace hone::target {

struct CpuInfo {
  std::string model;          ///< "AMD EPYC 9575F 64-Core Processor"
  int threads = 1;            ///< CPUs we may run on (affinity respected)
  int64_t l1_bytes = 0;       ///< data, per core
  int64_t l2_bytes = 0;       ///< per core
  int64_t l3_bytes = 0;       ///< last level, all of it that one core can use
  int64_t memory_bytes = 0;   ///< physical
  int vector_bytes = 16;      ///< 64 with AVX-512, 32 with AVX2
  std::string isa;            ///< "avx512", "avx2", "sse2", …
};
[[nodiscard]] const CpuInfo& cpu_info();

/// This process runs from now on on one of so many nearly equal shares of its cores, and cpu_info() counts that share's threads: for one of
/// several processes that would otherwise each begin as many threads as there are CPUs. While it has one thread only. False, and nothing is
/// changed, where there are fewer cores than shares.
bool keep_to_share(size_t part, size_t of);

/// One cache as a model of caches takes it.
struct CacheGeometry {
  int64_t bytes = 0;
  int ways = 0;  ///< lines of a set
  int line = 64; ///< bytes
  [[nodiscard]] int64_t sets() const { return bytes / (int64_t{ways} * line); }
};
enum class CacheKind : uint8_t { kInstructions, kData };  ///< data or unified
/// Of this CPU's level 1 to 3, as sysfs has it; bytes are 0 where there is none, ways where nobody says.
[[nodiscard]] CacheGeometry cache_geometry(int level, CacheKind kind);

/// Names a CPU target: model, isa, threads. Lessons and calibration are kept by it.
[[nodiscard]] std::string cpu_key(const CpuInfo& cpu);

/// THREADS, L1_BYTES, L2_BYTES, L3_BYTES, VECTOR_BYTES.
[[nodiscard]] kernel::Limits cpu_limits(const CpuInfo& cpu);

}  // namespace hone::target
