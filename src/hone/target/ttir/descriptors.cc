// Memory by tensor descriptors: blocks, rows by a tensor of indices, and reductions into a block.
#include <limits>
#include <map>

#include "hone/target/ttir/program.h"

namespace hone::target::ttir {

/// A descriptor's lanes: base, extents, strides, and whether what is outside is NaN.
void Program::make_descriptor(const Op& op) {
  const Type& type = last_type(op);
  Value value{type, {}, {}};
  value.type.tensor = false;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Value& part = operand(op, i);
    value.lanes.push_back(i == 0 ? checked_address(part, 0, "a descriptor") : static_cast<uint64_t>(decided(part, "a descriptor")));
  }
  const size_t rank = type.shape.size();
  if (value.lanes.size() != 1 + 2 * rank) unknown("a descriptor of this form");
  const auto padding = op.attributes.find("padding");
  value.lanes.push_back(padding != op.attributes.end() && padding->second.find('2') != std::string::npos);
  if (value.lanes[0] % 16) throw Stop{simt::Finding::kUndefined, "a descriptor's tensor begins on no multiple of 16 bytes"};
  for (size_t d = 0; d < rank; ++d) {
    const auto stride = static_cast<int64_t>(value.lanes[1 + rank + d]) * bytes_of(type.pointee);
    if (d + 1 == rank ? static_cast<int64_t>(value.lanes[1 + rank + d]) != 1 : stride % 16 != 0)
      throw Stop{simt::Finding::kUndefined, d + 1 == rank ? "a descriptor's last stride is not 1" : "a descriptor's stride of " + std::to_string(stride) + " bytes is no multiple of 16"};
  }
  result(op, std::move(value));
}

void Program::descriptor(const Op& op) {
  const bool by_rows = op.code == kDescriptorGather || op.code == kDescriptorScatter, loads = op.code == kDescriptorLoad || op.code == kDescriptorGather;
  const bool reduces = op.code == kDescriptorReduce;
  const Value& made = operand(op, 0);
  const size_t rank = made.type.shape.size();
  if (op.operands.size() - (loads ? 1 : 2) != rank || made.lanes.size() != 2 + 2 * rank || (by_rows && rank != 2)) unknown(op.name + " of this form");
  // Rows by a tensor of indices: lane i is of row rows[i / columns].
  const Value* const rows = by_rows ? &operand(op, 1) : nullptr;
  std::vector<int64_t> begin, block = made.type.shape;
  for (size_t d = 0; d < rank; ++d) begin.push_back(rows && d == 0 ? 0 : decided(operand(op, 1 + d), "a descriptor's place"));
  if (rows) block[0] = rows->type.lanes();
  Type type = loads ? last_type(op) : operand(op, op.operands.size() - 1).type;
  int64_t block_lanes = 1;
  for (const int64_t extent : block) block_lanes *= extent;
  if (type.lanes() != block_lanes) unknown(op.name + " of a block of another size");
  const Elem elem = made.type.pointee;
  const int bytes = bytes_of(elem);
  const std::string kind = reduces ? op.words.at(0) : "";
  Value value{type, std::vector<uint64_t>(static_cast<size_t>(block_lanes)), {}};
  std::vector<uint8_t> bad(value.lanes.size(), 0);
  bool any = false;
  std::map<uint64_t, uint64_t> places;  // of a scatter, whose rows may be the same
  for (size_t i = 0; i < value.lanes.size(); ++i) {
    size_t rest = i;
    bool inside = true;
    uint64_t address = made.lanes[0];
    for (size_t d = rank; d-- > 0;) {
      const auto extent = static_cast<size_t>(block[d]);
      int64_t here = begin[d] + static_cast<int64_t>(rest % extent);
      if (rows && d == 0) {
        if (const uint8_t why = rows->bad_at(rest) & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, "a descriptor's row depends on " + words_of(why)};
        here = rows->integer(rest);
      }
      rest /= extent;
      inside = inside && here >= 0 && here < static_cast<int64_t>(made.lanes[1 + d]);
      address += static_cast<uint64_t>(here * static_cast<int64_t>(made.lanes[1 + rank + d]) * bytes);
    }
    if (!inside) {
      if (loads) value.lanes[i] = made.lanes.back() && is_float(elem) ? float_lane(std::numeric_limits<double>::quiet_NaN(), elem) : 0;
      continue;
    }
    if (loads) {
      value.lanes[i] = from_memory(memory_.load(address, bytes, bad[i]), elem);
      any |= bad[i] != 0;
      continue;
    }
    const Value& stored = operand(op, op.operands.size() - 1);
    check_stored(stored, i);
    if (!reduces) {
      const uint64_t bits = to_memory(stored.lanes[i], elem);
      if (by_rows) {
        const auto [it, fresh] = places.emplace(address, bits);
        if (!fresh && it->second != bits) throw Stop{simt::Finding::kRace, "stores different values of one tensor to one place: which stays is not said"};
      }
      memory_.store(address, bytes, bits);
      continue;
    }
    memory_.atomic(address, bytes, false, false, bad[i], [&](uint64_t bits) -> std::pair<bool, uint64_t> {
      if (bad[i] & kUnwritten) throw Stop{simt::Finding::kUninitialised, "an atomic operation on memory that nobody wrote: zero it first"};
      return {true, to_memory(combined(kind, elem, from_memory(bits, elem), stored.lanes[i]), elem)};
    });
  }
  if (any) value.bad = std::move(bad);
  if (loads) result(op, std::move(value));
}

}  // namespace hone::target::ttir
