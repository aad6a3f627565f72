// Operations that move lanes.
#include <cstdlib>

#include "hone/target/ttir/program.h"

namespace hone::target::ttir {
namespace {

/// Lanes by the steps that an element more along each axis takes in the source.
template <typename Lane>
void copy_strided(const std::vector<Lane>& from, std::vector<Lane>& to, const std::vector<int64_t>& shape, const std::vector<size_t>& steps) {
  int64_t all = 1;
  for (const int64_t extent : shape) all *= extent;
  to.resize(static_cast<size_t>(all));
  if (shape.empty()) return static_cast<void>(to[0] = from[0]);
  const auto inner = static_cast<size_t>(shape.back());
  const size_t step = steps.back();
  std::vector<int64_t> place(shape.size(), 0);
  size_t base = 0;
  for (size_t at = 0; at < to.size(); at += inner) {
    for (size_t i = 0; i < inner; ++i) to[at + i] = from[base + i * step];
    for (size_t d = shape.size() - 1; d-- > 0;) {
      base += steps[d];
      if (++place[d] < shape[d]) break;
      base -= steps[d] * static_cast<size_t>(shape[d]);
      place[d] = 0;
    }
  }
}

Value strided(const Value& source, const Type& type, const std::vector<size_t>& steps) {
  Value value{type, {}, {}};
  copy_strided(source.lanes, value.lanes, type.shape, steps);
  if (!source.bad.empty()) copy_strided(source.bad, value.bad, type.shape, steps);
  return value;
}

Value repeated(const Value& source, const Type& type) {
  const auto count = static_cast<size_t>(type.lanes());
  Value value{type, std::vector<uint64_t>(count, source.lanes.at(0)), {}};
  if (source.bad_at(0)) value.bad.assign(count, source.bad[0]);
  return value;
}

}  // namespace

Value slice(const Value& value, size_t axis, int64_t begin, int64_t step, int64_t count, bool keep) {
  Type type = value.type;
  const auto extent = static_cast<size_t>(type.shape[axis]);
  size_t inner = 1;
  for (size_t d = axis + 1; d < type.shape.size(); ++d) inner *= static_cast<size_t>(type.shape[d]);
  if (keep) type.shape[axis] = count;
  else type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  if (type.shape.empty()) type.tensor = false;
  const auto take = [&](const auto& from, auto& to) {
    to.reserve(static_cast<size_t>(type.lanes()));
    for (size_t out = 0; out < from.size(); out += extent * inner)
      for (int64_t at = begin; at < begin + count * step; at += step) {
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(out + static_cast<size_t>(at) * inner);
        if (inner == 1) to.push_back(*first);
        else to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(inner));
      }
  };
  Value taken{type, {}, {}};
  take(value.lanes, taken.lanes);
  if (!value.bad.empty()) take(value.bad, taken.bad);
  return taken;
}

void Program::shapes(const Op& op) {
  const Value& source = operand(op, 0);
  Type type = last_type(op);
  switch (op.code) {
    case kSplat: return result(op, repeated(source, type));
    case kUnsplat: return result(op, moved(source, Type{source.type.elem, source.type.pointee, false, {}}, [](size_t) { return size_t{0}; }));
    case kExpand:
    case kReshape:
      if (static_cast<size_t>(type.lanes()) != source.lanes.size()) unknown(op.name + " to another number of elements");
      return result(op, Value{type, source.lanes, source.bad});
    case kBroadcast: {
      const size_t rank = type.shape.size();
      if (rank != source.type.shape.size()) unknown("tt.broadcast to another rank");
      std::vector<size_t> steps(rank, 0);
      size_t step = 1;
      for (size_t d = rank; d-- > 0;) {
        const int64_t there = source.type.shape[d];
        if (there != 1 && there != type.shape[d]) unknown("tt.broadcast of an extent");
        if (there != 1) steps[d] = step;
        step *= static_cast<size_t>(there);
      }
      return result(op, strided(source, type, steps));
    }
    case kTrans: {
      const auto it = op.attributes.find("order");
      std::vector<size_t> order;
      if (it == op.attributes.end()) unknown("tt.trans without an order");
      for (size_t at = it->second.find(':'); at != std::string::npos && at < it->second.size(); at = it->second.find(',', at + 1)) order.push_back(static_cast<size_t>(std::atoi(it->second.c_str() + at + 1)));
      if (order.size() != type.shape.size()) unknown("tt.trans of this form");
      std::vector<size_t> steps(order.size(), 1);
      for (size_t d = order.size() - 1; d-- > 0;) steps[d] = steps[d + 1] * static_cast<size_t>(source.type.shape[d + 1]);
      std::vector<size_t> by(order.size());
      for (size_t d = 0; d < order.size(); ++d) {
        if (order[d] >= order.size() || source.type.shape[order[d]] != type.shape[d]) unknown("tt.trans of this form");
        by[d] = steps[order[d]];
      }
      return result(op, strided(source, type, by));
    }
    case kCat:
    case kJoin: {
      const Value& other = operand(op, 1);
      const bool join = op.code == kJoin;
      Value value{type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}};
      if (!source.bad.empty() || !other.bad.empty()) value.bad.assign(value.lanes.size(), 0);
      const size_t half = source.lanes.size();
      for (size_t i = 0; i < value.lanes.size(); ++i) {
        const Value& from = (join ? i % 2 : i / half) == 0 ? source : other;
        const size_t at = join ? i / 2 : i % half;
        value.lanes[i] = from.lanes.at(at);
        if (!value.bad.empty()) value.bad[i] = from.bad_at(at);
      }
      return result(op, std::move(value));
    }
    case kSplit: {
      if (op.results.size() != 2) unknown("tt.split of this form");
      Type half = source.type;
      half.shape.pop_back();
      if (half.shape.empty()) half.tensor = false;
      for (size_t k = 0; k < 2; ++k) set(op.results[k], moved(source, half, [&](size_t i) { return 2 * i + k; }));
      return;
    }
    default: unknown(op.name);
  }
}

void Program::gather(const Op& op) {
  const Value &source = operand(op, 0), &index = operand(op, 1);
  const size_t axis = attribute(op, "axis");
  if (axis >= source.type.shape.size() || index.type.shape.size() != source.type.shape.size()) unknown("tt.gather over this axis");
  Type type = source.type;
  type.shape = index.type.shape;
  size_t inner_to = 1, inner_from = 1;
  for (size_t d = axis + 1; d < type.shape.size(); ++d) inner_to *= static_cast<size_t>(type.shape[d]), inner_from *= static_cast<size_t>(source.type.shape[d]);
  const auto extent_to = static_cast<size_t>(type.shape[axis]), extent_from = static_cast<size_t>(source.type.shape[axis]);
  Value value = moved(source, type, [&](size_t i) {
    const int64_t wanted = index.integer(i);
    if (wanted < 0 || static_cast<size_t>(wanted) >= extent_from) throw Stop{simt::Finding::kOutOfBounds, "tl.gather takes element " + std::to_string(wanted) + " of " + std::to_string(extent_from)};
    return (i / inner_to / extent_to * extent_from + static_cast<size_t>(wanted)) * inner_from + i % inner_to;
  });
  inherit(value, index, kMasked | kUnwritten);
  result(op, std::move(value));
}

void Program::histogram(const Op& op) {
  const Value& source = operand(op, 0);
  const Value* mask = op.operands.size() > 1 ? &operand(op, 1) : nullptr;
  Value value = each(last_type(op), [](size_t) { return uint64_t{0}; });
  for (size_t i = 0; i < source.lanes.size(); ++i) {
    if (masked_off(mask, i, "a histogram")) continue;
    check_stored(source, i);
    const int64_t bin = source.integer(i);
    if (bin < 0 || static_cast<size_t>(bin) >= value.lanes.size()) throw Stop{simt::Finding::kOutOfBounds, "tl.histogram counts " + std::to_string(bin) + " in " + std::to_string(value.lanes.size()) + " bins"};
    ++value.lanes[static_cast<size_t>(bin)];
  }
  result(op, std::move(value));
}

}  // namespace hone::target::ttir
