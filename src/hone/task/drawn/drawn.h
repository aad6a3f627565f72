// Tasks drawn from a published distribution over what people run: a chain or a small graph of one or two heavy
// operations and what stands around them. docs/drawn.md says what is drawn, how often and why. Pure: the same mix, seed
// and index give the same text on every machine, and task i of a seed does not depend on how many are asked for.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/task/drawn/mix.h"

namespace hone::task::drawn {

/// "SEED:N"
struct Wanted {
  uint64_t seed = 0;
  int64_t count = 0;
};
/// kUsage where it is not two whole numbers, or more than 10,000 tasks.
[[nodiscard]] Result<Wanted> parse_wanted(std::string_view text);

struct DrawnTask {
  std::string name;  ///< "drawn_7_012_conv2d_groupnorm"
  std::string toml;  ///< a task file
  std::string kind;  ///< a key of [kinds]
};

[[nodiscard]] DrawnTask draw_task(const Mix& mix, uint64_t seed, uint64_t index);
[[nodiscard]] std::vector<DrawnTask> draw_tasks(const Mix& mix, const Wanted& wanted);

}  // namespace hone::task::drawn
