// Measured peaks of the CPU we run on: what a speed of light is counted from. Measured when first asked
// for (less than 3 s), kept in the cache folder under a key of machine, threads and version; a kept peak
// grows when a later measurement is higher and never shrinks. Thread-safe.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace hone::target {

struct CpuPeaks {
  /// Memory, all threads together, on buffers that no cache holds: bytes a nanosecond (GB/s).
  double read = 0, write = 0;
  double copy = 0;               ///< bytes read and bytes written together
  /// Multiply-adds a nanosecond, all threads together, with the widest instructions that kernels may
  /// use (matrix tiles need a permission that runners do not ask for). bf16 adds up in f32, i8 in i32.
  double f64 = 0, f32 = 0, bf16 = 0, i8 = 0;
  int threads = 0;
  bool quiet = true;             ///< false: others had the CPU meanwhile, so the peaks may be too low
  double tf32 = 0;               ///< multiply-adds of floats rounded to TF32, on cards; 0: as f32
  friend bool operator==(const CpuPeaks&, const CpuPeaks&) = default;
};

/// The higher of each peak. Quiet when either was.
[[nodiscard]] CpuPeaks higher(const CpuPeaks& a, const CpuPeaks& b);

[[nodiscard]] nlohmann::json to_json(const CpuPeaks& peaks);
/// Nothing when a peak is missing, not a number or not positive.
[[nodiscard]] std::optional<CpuPeaks> peaks_from(const nlohmann::json& value);

/// Measures now, on `threads` pinned threads. Takes about a second, and memory of four last-level
/// caches (at least 256 MiB, at most 1 GiB and an eighth of what is available).
[[nodiscard]] CpuPeaks measure_cpu_peaks(int threads);

/// Keeps the peaks of one machine in a folder: one file for each number of threads.
class PeakKeeper {
 public:
  using Measure = std::function<CpuPeaks(int threads)>;
  PeakKeeper(std::filesystem::path folder, Measure measure)
      : folder_(std::move(folder)), measure_(std::move(measure)) {}

  /// Kept, or measured and kept. What others disturbed is measured once more by the next process, three times in all. A
  /// folder that cannot be written to costs a measurement in each process, nothing else.
  [[nodiscard]] CpuPeaks get(int threads);
  /// Measures in any case; the higher of old and new.
  [[nodiscard]] CpuPeaks measure_again(int threads);

 private:
  [[nodiscard]] std::filesystem::path file(int threads) const;
  CpuPeaks measure_and_keep(int threads);
  std::filesystem::path folder_;
  Measure measure_;
  std::mutex mutex_;
  std::map<int, CpuPeaks> known_;
};

/// Of this CPU, with `threads` threads (0: all that we may run on).
[[nodiscard]] CpuPeaks cpu_peaks(int threads = 0);
[[nodiscard]] CpuPeaks measure_cpu_peaks_again(int threads = 0);

}  // namespace hone::target
