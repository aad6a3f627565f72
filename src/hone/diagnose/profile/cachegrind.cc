#include "hone/diagnose/profile/cachegrind.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace hone::diagnose {
namespace {

constexpr std::string_view kEventNames[kCacheEvents] = {"Ir", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw", "Bc", "Bcm", "Bi", "Bim"};
/// A line is named where it has at least this share of the misses.
constexpr double kNamedShare = 0.2;
/// Of tensors (bytes), for ratios to them.
constexpr double kLeastBytes = 64 << 10;

/// The next word of `text`, which loses it; empty at the end.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::optional<int64_t> count_of(std::string_view word) {
  if (word == ".") return 0;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

/// Columns of a file: for each of them its event, or kCacheEvents for one that nobody asks for.
class Columns {
 public:
  explicit Columns(std::string_view names) {
    for (std::string_view name = next_word(names); !name.empty(); name = next_word(names))
      events_.push_back(static_cast<size_t>(std::find(std::begin(kEventNames), std::end(kEventNames), name) - std::begin(kEventNames)));
  }
  [[nodiscard]] bool complete() const {
    for (size_t event = 0; event < kCacheEvents; ++event)
      if (std::find(events_.begin(), events_.end(), event) == events_.end()) return false;
    return true;
  }
  /// Zeros at a line's end may be left out.
  [[nodiscard]] std::optional<CacheCounts> read(std::string_view words) const {
    CacheCounts counts{};
    for (const size_t event : events_) {
      const std::string_view word = next_word(words);
      if (word.empty()) break;
      const auto count = count_of(word);
      if (!count) return std::nullopt;
      if (event < kCacheEvents) counts[event] = *count;
    }
    return next_word(words).empty() ? std::optional(counts) : std::nullopt;
  }

 private:
  std::vector<size_t> events_;
};

void add(CacheCounts& to, const CacheCounts& counts) {
  for (size_t i = 0; i < kCacheEvents; ++i) to[i] += counts[i];
}

/// "; 93 % of them at kernel.cc:12": the line with most of the sum of two events.
std::string mostly_at(const LineCounts& counts, CacheEvent a, CacheEvent b) {
  int64_t all = 0, most = 0;
  const SourceLine* at = nullptr;
  for (const auto& [line, count] : counts) {
    const int64_t here = count[a] + count[b];
    all += here;
    if (here > most) most = here, at = &line;
  }
  const double share = all > 0 ? static_cast<double>(most) / static_cast<double>(all) : 0;
  if (!at || share < kNamedShare) return {};
  const std::string where = at->line > 0 ? fmt::format("{}:{}", at->file.substr(at->file.rfind('/') + 1), at->line) : at->function;
  return fmt::format("; {:.0f} % of them at {}", 100 * share, where);
}

std::string size_text(int64_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024;
  return kib >= 1024 ? fmt::format("{:.0f} MiB", kib / 1024) : fmt::format("{:.0f} KiB", kib);
}

}  // namespace

Result<LineCounts> read_cachegrind(std::string_view text) {
  std::optional<Columns> columns;
  std::optional<CacheCounts> summary;
  LineCounts counts;
  SourceLine at{"???", "???", 0};
  CacheCounts sum{};
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const auto after = [&](std::string_view key) { return line.starts_with(key) ? std::optional(line.substr(key.size())) : std::nullopt; };
    const auto wrong = [&] { return fail(ErrorCode::kInput, fmt::format("line {} is no line of Cachegrind's: {}", number, line.substr(0, 80))); };
    if (line.empty() || line.front() == '#' || after("desc:") || after("cmd:")) continue;
    if (const auto names = after("events:")) {
      columns.emplace(*names);
      if (!columns->complete()) return fail(ErrorCode::kInput, fmt::format("events are missing; there are{}", *names));
    } else if (const auto function = after("fn=")) {
      at.function = *function;
    } else if (line.size() > 3 && line[0] == 'f' && line[2] == '=') {
      at.file = line.substr(3);  // fl=, and fi= and fe= of inlined code
    } else if (!columns) {
      return wrong();
    } else if (const auto whole = after("summary:")) {
      summary = columns->read(*whole);
      if (!summary) return wrong();
    } else {
      const auto which = count_of(next_word(line));
      const auto here = columns->read(line);
      if (!which || !here) return wrong();
      at.line = *which;
      add(counts[at], *here);
      add(sum, *here);
    }
  }
  if (!summary) return fail(ErrorCode::kInput, "it has no summary: it was cut off, or is no file of Cachegrind's");
  if (*summary != sum) return fail(ErrorCode::kInput, "its lines do not add up to its summary");
  return counts;
}

LineCounts without(const LineCounts& whole, const LineCounts& idle) {
  LineCounts rest;
  for (const auto& [line, counts] : whole) {
    CacheCounts left = counts;
    if (const auto other = idle.find(line); other != idle.end())
      for (size_t i = 0; i < kCacheEvents; ++i) left[i] = std::max<int64_t>(0, left[i] - other->second[i]);
    if (left != CacheCounts{}) rest.emplace(line, left);
  }
  return rest;
}

CacheCounts sum_of(const LineCounts& counts) {
  CacheCounts sum{};
  for (const auto& [line, count] : counts) add(sum, count);
  return sum;
}

CacheModelGeometry machine_caches() {
  using target::CacheKind;
  const auto known = [](target::CacheGeometry cache) {
    if (cache.bytes <= 0) cache.bytes = 32 << 10;
    if (cache.ways <= 0) cache.ways = 8;
    return cache;
  };
  CacheModelGeometry caches{known(target::cache_geometry(1, CacheKind::kInstructions)), known(target::cache_geometry(1, CacheKind::kData)), {}};
  for (int level = 3; level >= 1 && caches.last.bytes <= 0; --level) caches.last = target::cache_geometry(level, CacheKind::kData);
  caches.last = known(caches.last);
  return caches;
}

target::CacheGeometry simulated(target::CacheGeometry cache) {
  const int64_t lines = std::max<int64_t>(cache.bytes / cache.line, 2);
  const auto sets = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(lines / cache.ways, 1))));
  cache.ways = static_cast<int>(std::max<int64_t>(1, (lines + sets / 2) / sets));
  cache.bytes = sets * cache.ways * cache.line;
  return cache;
}

std::vector<std::string> cachegrind_options(const CacheModelGeometry& caches, const std::string& file) {
  const auto option = [](const char* name, const target::CacheGeometry& machine) {
    const target::CacheGeometry cache = simulated(machine);
    return fmt::format("--{}={},{},{}", name, cache.bytes, cache.ways, cache.line);
  };
  return {"--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", "--demangle=no", option("I1", caches.instructions),
          option("D1", caches.data), option("LL", caches.last), "--cachegrind-out-file=" + file};
}

void add_cache_counts(const LineCounts& counts, const CacheModelGeometry& caches, const task::Cost& cost, const ModelWords& how,
                      Metrics& metrics) {
  const CacheCounts sum = sum_of(counts);
  const auto both = [&](CacheEvent a, CacheEvent b) { return static_cast<double>(sum[a] + sum[b]); };
  const double accesses = both(kDr, kDw), first = both(kD1mr, kD1mw), last = both(kDLmr, kDLmw), branches = both(kBc, kBi);
  const std::string in_first = fmt::format("a first-level cache of {}", size_text(simulated(caches.data).bytes)),
                    in_last = fmt::format("a last-level cache of {}", size_text(simulated(caches.last).bytes));
  const auto share = [&](const char* name, double part, double whole, const std::string& about) {
    if (whole > 0)
      metrics.modelled(name, part / whole, about + "; " + how.in_short);
    else
      metrics.absent(name, "there is nothing to divide by");
  };
  metrics.modelled("instructions", static_cast<double>(sum[kIr]), "of a call; " + how.at_length);
  share("l1_miss_share", first, accesses, fmt::format("accesses that miss {}{}", in_first, mostly_at(counts, kD1mr, kD1mw)));
  if (first > 0)
    share("last_level_miss_share", last, first, fmt::format("of those, that miss {} too{}", in_last, mostly_at(counts, kDLmr, kDLmw)));
  else
    metrics.modelled("last_level_miss_share", 0, "nothing misses the first level; " + how.in_short);
  const double least = cost.bytes_read + cost.bytes_written;
  if (least >= kLeastBytes) {
    share("traffic_ratio", last * caches.last.line, least, fmt::format("bytes fetched from memory over the least, {}", in_last));
    share("l1_traffic_ratio", first * caches.data.line, least, fmt::format("bytes fetched into {} over the least", in_first));
  } else {
    for (const char* name : {"traffic_ratio", "l1_traffic_ratio"}) metrics.absent(name, "the tensors are too small to tell");
  }
  share("l1_misses_per_instruction", first, static_cast<double>(sum[kIr]), fmt::format("of {}", in_first));
  // Hardware that counts knows better.
  if (!metrics.get("branch_miss_share")) share("branch_miss_share", both(kBcm, kBim), branches, "branches foreseen wrongly by a simple predictor");
}

}  // namespace hone::diagnose
