// The operations that the interpreter has, by number, and what they share: values lane by lane. Internal to ttir.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "hone/target/ttir/text.h"

namespace hone::target::ttir {

enum Code : int {
  kConstant, kBinary, kCompareInt, kCompareFloat, kSelect, kCast, kOne, kTwo, kFma, kAbsInt, kProgramId, kNumPrograms, kRange, kSplat, kUnsplat, kExpand,
  kBroadcast, kReshape, kTrans, kCat, kJoin, kSplit, kAddPointer, kLoad, kStore, kRmw, kCas, kDot, kReduce, kScan, kGather, kHistogram, kClamp, kExtern,
  kNothing, kMakeDescriptor, kDescriptorLoad, kDescriptorStore, kFor, kIf, kWhile, kReturn, kYield, kCondition, kBranch, kAssert, kAtomicLoad, kAtomicStore, kPoison,
  kCall, kMapElementwise, kDotScaled, kDescriptorGather, kDescriptorScatter, kDescriptorReduce,
};

/// Which of the kind: an operation's arithmetic.
enum Sub : int {
  kNone,
  kAddi, kSubi, kMuli, kDivsi, kDivui, kRemsi, kRemui, kCeildivsi, kFloordivsi, kAndi, kOri, kXori, kShli, kShrsi, kShrui, kMaxsi, kMaxui, kMinsi, kMinui, kMulhiui,
  kAddf, kSubf, kMulf, kDivf, kRemf, kMaxnumf, kMinnumf, kMaximumf, kMinimumf,
  kEq, kNe, kLt, kLe, kGt, kGe, kUlt, kUle, kUgt, kUge, kOrd, kUno,
  kExtsi, kExtui, kTrunci, kSitofp, kUitofp, kFptosi, kFptoui, kOfFloats, kBits, kAddress,
};

/// Throws Stop where it is written in a form that is not known.
[[nodiscard]] Value constant_of(const Op& op);
/// One operation on two lanes of `elem`; `bad` gets kOverflow where a sum of i32 went over the edge. Throws Stop.
[[nodiscard]] uint64_t of_integers(int sub, int64_t a, int64_t b, Elem elem, uint8_t& bad);
[[nodiscard]] double of_floats(int sub, double a, double b);
[[nodiscard]] inline uint64_t float_lane(double value, Elem elem) { return elem == Elem::kF64 ? lane_of(value) : lane_of(rounded(value, elem)); }
[[nodiscard]] inline int64_t unsigned_part(int64_t value, Elem elem) {
  const int bits = bits_of(elem);
  return bits >= 64 ? value : value & ((int64_t{1} << bits) - 1);
}

/// The function of libdevice that an operation calls.
[[nodiscard]] std::string symbol_of(const Op& op);
[[nodiscard]] bool is_external(std::string_view symbol);
/// How a comparison compares; kNone: in a way that is not known.
[[nodiscard]] int comparison(const Op& op);
/// An attribute that is a number; 0 where it is missing.
[[nodiscard]] size_t attribute(const Op& op, std::string_view key);

/// A scalar stands for each lane of a tensor that it meets: regions of reductions are run on whole slices.
[[nodiscard]] inline size_t lane_in(const Value& value, size_t i) { return value.lanes.size() == 1 ? 0 : i; }

template <typename Each>
Value each(const Type& type, Each lane) {
  Value value{type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}};
  for (size_t i = 0; i < value.lanes.size(); ++i) value.lanes[i] = lane(i);
  return value;
}

/// Of two values' lanes; loops that a compiler sees through.
template <typename Lane>
Value each_pair(const Type& type, const Value& a, const Value& b, Lane lane) {
  Value value{type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}};
  const uint64_t *const x = a.lanes.data(), *const y = b.lanes.data();
  uint64_t* const to = value.lanes.data();
  const size_t count = value.lanes.size();
  if (a.lanes.size() == count && b.lanes.size() == count)
    for (size_t i = 0; i < count; ++i) to[i] = lane(x[i], y[i]);
  else if (b.lanes.size() == 1 && a.lanes.size() == count)
    for (size_t i = 0; i < count; ++i) to[i] = lane(x[i], y[0]);
  else
    for (size_t i = 0; i < count; ++i) to[i] = lane(x[lane_in(a, i)], y[lane_in(b, i)]);
  return value;
}

[[nodiscard]] inline Type shape_of(const Value& a, const Value& b, Elem elem) {
  Type type = a.lanes.size() >= b.lanes.size() ? a.type : b.type;
  type.elem = elem;
  type.pointee = Elem::kNone;
  return type;
}

inline void inherit(Value& to, const Value& from, uint8_t which = kMasked | kUnwritten | kOverflow) {
  if (from.bad.empty()) return;
  if (to.bad.empty()) to.bad.assign(to.lanes.size(), 0);
  for (size_t i = 0; i < to.bad.size(); ++i) to.bad[i] |= from.bad[lane_in(from, i)] & which;
}

/// Every operation that only moves lanes: `from` says for each lane of the result which of the source it is.
template <typename From>
Value moved(const Value& source, const Type& type, From from) {
  Value value{type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}};
  for (size_t i = 0; i < value.lanes.size(); ++i) value.lanes[i] = source.lanes[from(i)];
  if (source.bad.empty()) return value;
  value.bad.resize(value.lanes.size());
  for (size_t i = 0; i < value.lanes.size(); ++i) value.bad[i] = source.bad[from(i)];
  return value;
}

/// Lanes begin, begin + step, … along `axis`, `count` of them; without `keep` the axis goes.
[[nodiscard]] Value slice(const Value& value, size_t axis, int64_t begin, int64_t step, int64_t count, bool keep);

}  // namespace hone::target::ttir
