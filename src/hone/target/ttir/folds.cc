// Reductions and scans.
#include "hone/target/ttir/program.h"

namespace hone::target::ttir {

void Program::reduce(const Op& op) {
  const size_t axis = attribute(op, "axis"), count = op.operands.size();
  Values now;
  for (size_t i = 0; i < count; ++i) {
    if (axis >= operand(op, i).type.shape.size()) unknown("tt.reduce over this axis");
    now.push_back(pointer(op.operands[i]));
  }
  // Neighbours by pairs, as threads of a warp do it: order is kept, and rounding grows with the logarithm.
  while (now[0]->type.shape[axis] > 1) {
    const int64_t extent = now[0]->type.shape[axis];
    if (extent % 2) unknown("tt.reduce over an extent that is no power of two");
    Values arguments;
    for (int64_t half = 0; half < 2; ++half)
      for (size_t i = 0; i < count; ++i) arguments.push_back(std::make_shared<const Value>(slice(*now[i], axis, half, 2, extent / 2, true)));
    Values combined = call(op.regions.at(0), arguments);
    if (combined.size() != count) unknown("tt.reduce that combines to another number of values");
    // A region that returns a constant says it once for all.
    for (size_t i = 0; i < count; ++i)
      if (combined[i]->lanes.size() != arguments[i]->lanes.size()) combined[i] = std::make_shared<const Value>(moved(*combined[i], arguments[i]->type, [](size_t) { return size_t{0}; }));
    now = std::move(combined);
  }
  for (size_t i = 0; i < count; ++i) set(op.results.at(i), slice(*now[i], axis, 0, 1, 1, false));
}

void Program::scan(const Op& op) {
  const size_t axis = attribute(op, "axis"), count = op.operands.size();
  const auto reversed = op.attributes.find("reverse");
  const bool backwards = reversed != op.attributes.end() && reversed->second.starts_with("true");
  const Value& first = operand(op, 0);
  if (axis >= first.type.shape.size()) unknown("tt.scan over this axis");
  const int64_t extent = first.type.shape[axis];
  Values running;
  std::vector<Value> out;
  for (size_t i = 0; i < count; ++i) out.push_back(operand(op, i));
  size_t inner = 1;
  for (size_t d = axis + 1; d < first.type.shape.size(); ++d) inner *= static_cast<size_t>(first.type.shape[d]);
  for (int64_t step = 0; step < extent; ++step) {
    const int64_t place = backwards ? extent - 1 - step : step;
    Values here;
    for (size_t i = 0; i < count; ++i) here.push_back(std::make_shared<const Value>(slice(operand(op, i), axis, place, 1, 1, false)));
    if (step == 0) {
      running = here;
    } else {
      Values arguments = running;
      arguments.insert(arguments.end(), here.begin(), here.end());
      running = call(op.regions.at(0), arguments);
      if (running.size() != count) unknown("tt.scan that combines to another number of values");
    }
    for (size_t i = 0; i < count; ++i) {
      if (!running[i]->bad.empty() && out[i].bad.empty()) out[i].bad.assign(out[i].lanes.size(), 0);
      for (size_t lane = 0; lane < running[i]->lanes.size(); ++lane) {
        const size_t to = (lane / inner * static_cast<size_t>(extent) + static_cast<size_t>(place)) * inner + lane % inner;
        out[i].lanes[to] = running[i]->lanes[lane];
        if (!out[i].bad.empty()) out[i].bad[to] = running[i]->bad_at(lane);
      }
    }
  }
  for (size_t i = 0; i < count; ++i) set(op.results.at(i), std::move(out[i]));
}

}  // namespace hone::target::ttir
