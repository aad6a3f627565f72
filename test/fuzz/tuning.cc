// Tuning caches, T1 files and conditions; a line "----" parts a T1 file from a cache of its space.
#include "fuzz.h"
#include "hone/search/tune/condition.h"
#include "hone/search/tune/space_files.h"

namespace hone::search {
namespace {

HONE_FUZZ(tuning) {
  if (input.size() > fuzz::kMostBytes) return;
  const std::string names[] = {"B", "D", "S"};
  if (const auto condition = tune::Condition::parse(input, names)) {
    const tune::Value b(int64_t{8}), d(0.5), s(std::string("half"));
    const tune::Value* const values[] = {&b, &d, &s};
    static_cast<void>(condition->holds(values)), static_cast<void>(condition->value(values));
  }
  const size_t line = input.find("\n----\n");
  const std::string_view first = input.substr(0, line), second = line == std::string_view::npos ? input : input.substr(line + 6);
  const auto cache = tune::parse_cache(second, "cache");
  if (cache) {
    const auto again = tune::parse_cache(tune::cache_text(*cache), "again");
    fuzz::require(again.has_value() && again->points == cache->points, "a cache is read back as it was written");
    static_cast<void>(tune::t4_text(*cache)), static_cast<void>(cache->space()), static_cast<void>(cache->experience());
  }
  const auto space = tune::parse_t1(first, "t1");
  if (!space) return;
  base::Rng rng(1);
  if (const auto point = space->sample(rng)) {
    fuzz::require(space->allowed(*point), "a sample is allowed");
    static_cast<void>(space->neighbours(*point)), static_cast<void>(space->key(*point));
  }
  if (cache) static_cast<void>(tune::within(*cache, *space, "cache", "t1"));
}

}  // namespace
}  // namespace hone::search
