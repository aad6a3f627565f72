#include "hone/task/graph/windows.h"

#include <fmt/format.h>

#include "hone/task/graph/infer.h"

namespace hone::task {

int spatial_rank(const Call& call) {
  const size_t at = call.op.name.rfind('d');
  return call.op.name[at - 1] - '0';
}

Status settle_window(Call& call, const std::string& key, int rank, int64_t least) {
  const auto it = call.attrs.find(key);
  HONE_CHECK(it != call.attrs.end(), key);
  auto& values = std::get<Ints>(it->second);
  if (values.size() == 1) values.assign(static_cast<size_t>(rank), values[0]);
  if (static_cast<int>(values.size()) != rank)
    return wrong(fmt::format("'{}' of {} is one number or a list of {}, found {} numbers", key, call.op.name,
                             rank, values.size()));
  for (const int64_t value : values)
    if (value < least)
      return wrong(fmt::format("'{}' of {} is at least {}, found {}", key, call.op.name, least, value));
  return {};
}

IntExpr window_count(const IntExpr& extent, const IntExpr& kernel, int64_t low, int64_t high, int64_t stride,
                     int64_t dilation) {
  return IntExpr::floor_div(extent + low + high - dilation * (kernel - 1) - 1, stride) + 1;
}

Status check_count(const IntExpr& count, std::string_view op, size_t axis) {
  if (count.is_constant() && count.constant() < 1)
    return wrong(
        fmt::format("{}: the window is larger than spatial dimension {} with its padding", op, axis));
  return {};
}

}  // namespace hone::task
