#include "hone/task/drawn/drawn.h"

#include <fmt/format.h>

#include <charconv>

#include "hone/task/drawn/kinds.h"
#include "hone/task/drawn/sizes.h"

namespace hone::task::drawn {
namespace {

constexpr int64_t kMostTasks = 10'000;
constexpr size_t kHints = 3;

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace

Kind find_kind(const std::string& name) {
  for (const auto& kinds : {language_kinds(), vision_kinds(), sequence_kinds(), decision_kinds(), numeric_kinds()})
    for (const auto& [key, kind] : kinds)
      if (key == name) return kind;
  return nullptr;
}

Result<Wanted> parse_wanted(std::string_view text) {
  Wanted wanted;
  const size_t colon = text.find(':');
  const bool fine = colon != std::string_view::npos && read_number(text.substr(0, colon), wanted.seed) && read_number(text.substr(colon + 1), wanted.count) &&
                    wanted.count >= 1 && wanted.count <= kMostTasks;
  if (!fine)
    return fail(ErrorCode::kUsage, fmt::format("\"{}\" does not say which tasks to draw: a seed and how many, 1 to {}", text, kMostTasks), "for example 7:40");
  return wanted;
}

DrawnTask draw_task(const Mix& mix, uint64_t seed, uint64_t index) {
  Sketch sketch(mix, seed, index);
  DrawnTask task;
  task.kind = sketch.pick("kinds");
  const Kind kind = find_kind(task.kind);
  HONE_CHECK(kind != nullptr, task.kind);
  kind(sketch);
  give_sizes(sketch);
  task.name = fmt::format("{}_{}_{:03}", mix.name, seed, index);
  const std::vector<std::string>& hints = sketch.hints();
  for (size_t i = 0; i < hints.size() && i < kHints; ++i) task.name += "_" + hints[i];
  if (hints.empty()) task.name += "_" + task.kind;
  const std::string comment = fmt::format("# Task {} of seed {}, drawn from the mix \"{}\", version {}: {}.\n", index, seed, mix.name, mix.version, task.kind);
  task.toml = sketch.to_toml(task.name, comment);
  return task;
}

std::vector<DrawnTask> draw_tasks(const Mix& mix, const Wanted& wanted) {
  std::vector<DrawnTask> tasks;
  for (int64_t i = 0; i < wanted.count; ++i) tasks.push_back(draw_task(mix, wanted.seed, static_cast<uint64_t>(i)));
  return tasks;
}

}  // namespace hone::task::drawn
