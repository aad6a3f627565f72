// Memory: loads, stores, atomic operations.
#include "hone/target/ttir/program.h"

namespace hone::target::ttir {

uint64_t Program::checked_address(const Value& pointer, size_t lane, const char* what) {
  const uint8_t why = pointer.bad_at(lane);
  if (why & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, std::string(what) + " at an address that depends on " + words_of(why)};
  if (why & kOverflow) throw Stop{simt::Finding::kUndefined, std::string(what) + " at an address computed by 32-bit integers that went over 2^31: take tl.int64"};
  return pointer.lanes[lane];
}

bool Program::masked_off(const Value* mask, size_t lane, const char* what) {
  if (!mask) return false;
  const size_t i = lane_in(*mask, lane);
  if (const uint8_t why = mask->bad_at(i) & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, std::string(what) + " whose mask depends on " + words_of(why)};
  return mask->lanes[i] == 0;
}

void Program::check_stored(const Value& value, size_t lane) {
  if (const uint8_t why = value.bad_at(lane) & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, "stores what depends on " + words_of(why)};
}

size_t Program::run_of(const Value& pointer, const Value* mask, size_t begin, uint64_t bytes) {
  if (!pointer.bad.empty() || (mask && (!mask->bad.empty() || mask->lanes.size() != pointer.lanes.size()))) return 0;
  const uint64_t first = pointer.lanes[begin];
  size_t end = begin;
  while (end < pointer.lanes.size() && pointer.lanes[end] == first + (end - begin) * bytes && (!mask || mask->lanes[end] != 0)) ++end;
  return end - begin;
}

void Program::load(const Op& op) {
  const Value& pointer = operand(op, 0);
  const Value* mask = op.operands.size() > 1 ? &operand(op, 1) : nullptr;
  const Value* other = op.operands.size() > 2 ? &operand(op, 2) : nullptr;
  Type type = pointer.type;
  type.elem = pointer.type.pointee;
  type.pointee = Elem::kNone;
  const int bytes = bytes_of(type.elem);
  Value value{type, std::vector<uint64_t>(pointer.lanes.size()), {}};
  std::vector<uint8_t> bad(value.lanes.size(), 0);
  bool any = false;
  size_t looked = 0;
  for (size_t i = 0; i < value.lanes.size(); ++i) {
    if (const size_t run = i < looked ? 0 : run_of(pointer, mask, i, static_cast<uint64_t>(bytes)); run > 1) {
      looked = i + run;
      if (memory_.load_run(pointer.lanes[i], bytes, run, &value.lanes[i])) {
        for (size_t k = i; k < i + run; ++k) value.lanes[k] = from_memory(value.lanes[k], type.elem);
        i += run - 1;
        continue;
      }
    }
    if (masked_off(mask, i, "loads")) {
      if (other) {
        value.lanes[i] = other->lanes[lane_in(*other, i)];
        bad[i] = other->bad_at(lane_in(*other, i));
      } else {
        bad[i] = kMasked;
      }
    } else {
      value.lanes[i] = from_memory(memory_.load(checked_address(pointer, i, "loads"), bytes, bad[i]), type.elem);
    }
    any |= bad[i] != 0;
  }
  if (any) value.bad = std::move(bad);
  result(op, std::move(value));
}

void Program::store(const Op& op) {
  const Value &pointer = operand(op, 0), &value = operand(op, 1);
  const Value* mask = op.operands.size() > 2 ? &operand(op, 2) : nullptr;
  const int bytes = bytes_of(pointer.type.pointee);
  // Lanes that go to one place must agree: they are written in any order.
  std::map<uint64_t, uint64_t> places;
  const bool may_meet = pointer.lanes.size() > 1;
  uint64_t before = 0;
  bool rising = true;
  const bool by_runs = value.bad.empty() && value.lanes.size() == pointer.lanes.size();
  std::vector<uint64_t> bits;
  size_t looked = 0;
  for (size_t i = 0; i < pointer.lanes.size(); ++i) {
    if (const size_t run = i < looked || !by_runs ? 0 : run_of(pointer, mask, i, static_cast<uint64_t>(bytes)); run > 1) {
      looked = i + run;
      bits.resize(run);
      for (size_t k = 0; k < run; ++k) bits[k] = to_memory(value.lanes[i + k], value.type.elem);
      if (memory_.store_run(pointer.lanes[i], bytes, run, bits.data())) {
        rising = rising && pointer.lanes[i] > before;
        i += run - 1;
        before = pointer.lanes[i];
        continue;
      }
    }
    if (masked_off(mask, i, "stores")) continue;
    check_stored(value, lane_in(value, i));
    const uint64_t address = checked_address(pointer, i, "stores"), one = to_memory(value.lanes[lane_in(value, i)], value.type.elem);
    rising = rising && address > before;
    before = address;
    memory_.store(address, bytes, one);
  }
  if (rising || !may_meet) return;
  for (size_t i = 0; i < pointer.lanes.size(); ++i) {
    if (masked_off(mask, i, "stores")) continue;
    const uint64_t one = to_memory(value.lanes[lane_in(value, i)], value.type.elem);
    const auto [it, fresh] = places.emplace(pointer.lanes[i], one);
    if (!fresh && it->second != one) throw Stop{simt::Finding::kRace, "stores different values of one tensor to one place: which stays is not said"};
  }
}

uint64_t Program::combined(std::string_view kind, Elem elem, uint64_t old, uint64_t mine) {
  const Type type{elem, Elem::kNone, false, {}};
  const Value a{type, {old}, {}}, b{type, {mine}, {}};
  if (is_float(elem) && (kind == "fadd" || kind == "add")) return float_lane(a.number(0) + b.number(0), elem);
  if (is_float(elem) && (kind == "max" || kind == "min")) return float_lane(of_floats(kind == "max" ? kMaxnumf : kMinnumf, a.number(0), b.number(0)), elem);
  const int sub = kind == "add" ? kAddi : kind == "and" ? kAndi : kind == "or" ? kOri : kind == "xor" ? kXori : kind == "max" ? kMaxsi : kind == "min" ? kMinsi
                  : kind == "umax" ? kMaxui : kind == "umin" ? kMinui : kNone;
  if (sub == kNone || !is_int(elem)) unknown("an atomic " + std::string(kind) + " of this type");
  uint8_t ignored = 0;
  return of_integers(sub, static_cast<int64_t>(old), static_cast<int64_t>(mine), elem, ignored);
}

void Program::atomic(const Op& op) {
  const bool exchange = op.code == kCas, plain_load = op.code == kAtomicLoad, plain_store = op.code == kAtomicStore;
  const std::string kind = exchange || plain_load || plain_store ? "" : op.words.at(0);
  const std::string order = op.words.at(kind.empty() ? 0 : 1);
  const bool acquire = order == "acquire" || order == "acq_rel", release = order == "release" || order == "acq_rel";
  const Value& pointer = operand(op, 0);
  const Value* given = plain_load ? nullptr : &operand(op, exchange ? 2 : 1);
  const size_t mask_at = plain_load ? 1 : 2;
  const Value* mask = !exchange && op.operands.size() > mask_at ? &operand(op, mask_at) : nullptr;
  const Elem elem = pointer.type.pointee;
  const int bytes = bytes_of(elem);
  Type type = pointer.type;
  type.elem = elem;
  type.pointee = Elem::kNone;
  Value value{type, std::vector<uint64_t>(pointer.lanes.size()), {}};
  std::vector<uint8_t> bad(value.lanes.size(), 0);
  bool any = false;
  for (size_t i = 0; i < value.lanes.size(); ++i) {
    if (masked_off(mask, i, "an atomic operation")) {
      bad[i] = kMasked;
      any = true;
      continue;
    }
    const uint64_t address = checked_address(pointer, i, "an atomic operation");
    const uint64_t mine = given ? given->lanes[lane_in(*given, i)] : 0;
    if (given) check_stored(*given, lane_in(*given, i));
    const auto change = [&](uint64_t bits) -> std::pair<bool, uint64_t> {
      if (plain_load) return {false, 0};
      if (plain_store) return {true, to_memory(mine, elem)};
      if (bad[i] & kUnwritten && kind != "exch") throw Stop{simt::Finding::kUninitialised, "an atomic operation on memory that nobody wrote: zero it first"};
      const uint64_t old = from_memory(bits, elem);
      if (exchange) {
        const Value& expected = operand(op, 1);
        return {bits == to_memory(expected.lanes[lane_in(expected, i)], elem), to_memory(mine, elem)};
      }
      if (kind == "exch") return {true, to_memory(mine, elem)};
      return {true, to_memory(combined(kind, elem, old, mine), elem)};
    };
    value.lanes[i] = from_memory(memory_.atomic(address, bytes, acquire, release, bad[i], change), elem);
    any |= bad[i] != 0;
  }
  if (any) value.bad = std::move(bad);
  result(op, std::move(value));
}

}  // namespace hone::target::ttir
