#include "hone/target/calibrate/peaks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/target/cpu.h"

namespace hone::target {
namespace {

/// Grows with every change to what is measured and how.
constexpr std::string_view kVersion = "cpu-peaks-1";

struct Field {
  const char* name;
  double CpuPeaks::* value;
};
constexpr Field kFields[] = {{"read", &CpuPeaks::read}, {"write", &CpuPeaks::write}, {"copy", &CpuPeaks::copy},
                             {"f64", &CpuPeaks::f64},   {"f32", &CpuPeaks::f32},     {"bf16", &CpuPeaks::bf16},
                             {"i8", &CpuPeaks::i8}};

/// So many disturbed measurements, the highest of each peak among them, do for a quiet one: on a machine that others always
/// use there is none. A fraction of light above 1 has its peak measured anew all the same.
constexpr int kDoForQuiet = 3;

struct Kept {
  CpuPeaks peaks;
  int measured = 1;  ///< times
  [[nodiscard]] bool settled() const { return peaks.quiet || measured >= kDoForQuiet; }
};

std::optional<Kept> kept(const std::filesystem::path& file, int threads) {
  const auto text = base::read_file(file);
  if (!text) return std::nullopt;
  const nlohmann::json value = nlohmann::json::parse(*text, nullptr, false);
  const auto peaks = peaks_from(value);
  if (!peaks || peaks->threads != threads) return std::nullopt;
  const auto measured = value.find("measured");
  return Kept{*peaks, measured != value.end() && measured->is_number_integer() ? measured->get<int>() : 1};
}

PeakKeeper& own() {
  static PeakKeeper keeper(base::cache_directory() / "calibration", measure_cpu_peaks);
  return keeper;
}

int threads_or_all(int threads) { return threads > 0 ? threads : cpu_info().threads; }

}  // namespace

CpuPeaks higher(const CpuPeaks& a, const CpuPeaks& b) {
  CpuPeaks all = a;
  for (const Field& field : kFields) all.*field.value = std::max(a.*field.value, b.*field.value);
  all.quiet = a.quiet || b.quiet;
  return all;
}

nlohmann::json to_json(const CpuPeaks& peaks) {
  nlohmann::json out = {{"threads", peaks.threads}, {"quiet", peaks.quiet}};
  for (const Field& field : kFields) out[field.name] = peaks.*field.value;
  return out;
}

std::optional<CpuPeaks> peaks_from(const nlohmann::json& value) {
  CpuPeaks peaks;
  if (!value.is_object()) return std::nullopt;
  for (const Field& field : kFields) {
    const auto it = value.find(field.name);
    if (it == value.end() || !it->is_number()) return std::nullopt;
    peaks.*field.value = it->get<double>();
    if (!(peaks.*field.value > 0) || !std::isfinite(peaks.*field.value)) return std::nullopt;
  }
  const auto threads = value.find("threads"), quiet = value.find("quiet");
  if (threads == value.end() || !threads->is_number_integer() || quiet == value.end() || !quiet->is_boolean())
    return std::nullopt;
  peaks.threads = threads->get<int>();
  peaks.quiet = quiet->get<bool>();
  return peaks;
}

std::filesystem::path PeakKeeper::file(int threads) const {
  base::Hasher key;
  key.add(kVersion).add(cpu_key(cpu_info())).add(std::to_string(threads));
  return folder_ / (base::short_hash(key.finish()) + ".json");
}

CpuPeaks PeakKeeper::measure_and_keep(int threads) {
  CpuPeaks peaks = measure_(threads);
  int measured = 1;
  if (const auto old = kept(file(threads), threads)) peaks = higher(peaks, old->peaks), measured += old->measured;
  if (const auto it = known_.find(threads); it != known_.end()) peaks = higher(peaks, it->second);
  known_[threads] = peaks;
  if (base::make_directories(folder_)) {
    nlohmann::json value = to_json(peaks);
    value["measured"] = measured;
    static_cast<void>(base::write_file_atomic(file(threads), base::canonical_json(value)));
  }
  return peaks;
}

CpuPeaks PeakKeeper::get(int threads) {
  const std::scoped_lock lock(mutex_);
  if (const auto it = known_.find(threads); it != known_.end()) return it->second;
  if (const auto old = kept(file(threads), threads); old && old->settled()) return known_[threads] = old->peaks;
  return measure_and_keep(threads);
}

CpuPeaks PeakKeeper::measure_again(int threads) {
  const std::scoped_lock lock(mutex_);
  return measure_and_keep(threads);
}

CpuPeaks cpu_peaks(int threads) { return own().get(threads_or_all(threads)); }
CpuPeaks measure_cpu_peaks_again(int threads) { return own().measure_again(threads_or_all(threads)); }

}  // namespace hone::target
