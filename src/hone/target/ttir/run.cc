#include "hone/target/ttir/run.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "hone/target/ttir/math.h"

namespace hone::target::ttir {
namespace {

enum Code : int {
  kConstant, kBinary, kCompareInt, kCompareFloat, kSelect, kCast, kOne, kTwo, kFma, kAbsInt, kProgramId, kNumPrograms, kRange, kSplat, kUnsplat, kExpand,
  kBroadcast, kReshape, kTrans, kCat, kJoin, kSplit, kAddPointer, kLoad, kStore, kRmw, kCas, kDot, kReduce, kScan, kGather, kHistogram, kClamp, kExtern,
  kMapElementwise, kNothing, kMakeDescriptor, kDescriptorLoad, kDescriptorStore, kFor, kIf, kWhile, kReturn, kYield, kCondition, kBranch, kAssert, kAtomicLoad, kAtomicStore, kPoison,
};

/// Which of the kind: an operation's arithmetic.
enum Sub : int {
  kNone,
  kAddi, kSubi, kMuli, kDivsi, kDivui, kRemsi, kRemui, kCeildivsi, kFloordivsi, kAndi, kOri, kXori, kShli, kShrsi, kShrui, kMaxsi, kMaxui, kMinsi, kMinui, kMulhiui,
  kAddf, kSubf, kMulf, kDivf, kRemf, kMaxnumf, kMinnumf, kMaximumf, kMinimumf,
  kEq, kNe, kLt, kLe, kGt, kGe, kUlt, kUle, kUgt, kUge, kOrd, kUno,
};

struct Known {
  std::string_view name;
  int code;
  int sub = kNone;
};

constexpr Known kOps[] = {
    {"arith.constant", kConstant}, {"arith.addi", kBinary, kAddi}, {"arith.subi", kBinary, kSubi}, {"arith.muli", kBinary, kMuli}, {"arith.divsi", kBinary, kDivsi}, {"arith.divui", kBinary, kDivui},
    {"arith.remsi", kBinary, kRemsi}, {"arith.remui", kBinary, kRemui}, {"arith.ceildivsi", kBinary, kCeildivsi}, {"arith.floordivsi", kBinary, kFloordivsi}, {"arith.andi", kBinary, kAndi}, {"arith.ori", kBinary, kOri},
    {"arith.xori", kBinary, kXori}, {"arith.shli", kBinary, kShli}, {"arith.shrsi", kBinary, kShrsi}, {"arith.shrui", kBinary, kShrui}, {"arith.maxsi", kBinary, kMaxsi}, {"arith.maxui", kBinary, kMaxui},
    {"arith.minsi", kBinary, kMinsi}, {"arith.minui", kBinary, kMinui}, {"arith.addf", kBinary, kAddf}, {"arith.subf", kBinary, kSubf}, {"arith.mulf", kBinary, kMulf}, {"arith.divf", kBinary, kDivf},
    {"arith.remf", kBinary, kRemf}, {"arith.maxnumf", kBinary, kMaxnumf}, {"arith.minnumf", kBinary, kMinnumf}, {"arith.maximumf", kBinary, kMaximumf}, {"arith.minimumf", kBinary, kMinimumf},
    {"tt.precise_divf", kBinary, kDivf}, {"tt.approx_divf", kBinary, kDivf}, {"tt.mulhiui", kBinary, kMulhiui}, {"arith.cmpi", kCompareInt}, {"arith.cmpf", kCompareFloat},
    {"arith.select", kSelect}, {"arith.extsi", kCast}, {"arith.extui", kCast}, {"arith.trunci", kCast}, {"arith.sitofp", kCast}, {"arith.uitofp", kCast},
    {"arith.fptosi", kCast}, {"arith.fptoui", kCast}, {"arith.extf", kCast}, {"arith.truncf", kCast}, {"arith.bitcast", kCast}, {"arith.index_cast", kCast},
    {"tt.bitcast", kCast}, {"tt.fp_to_fp", kCast}, {"tt.int_to_ptr", kCast}, {"tt.ptr_to_int", kCast}, {"arith.negf", kOne}, {"tt.precise_sqrt", kOne},
    {"math.fma", kFma}, {"math.absi", kAbsInt}, {"tt.get_program_id", kProgramId}, {"tt.get_num_programs", kNumPrograms}, {"tt.make_range", kRange},
    {"tt.splat", kSplat}, {"tt.unsplat", kUnsplat}, {"tt.expand_dims", kExpand}, {"tt.broadcast", kBroadcast}, {"tt.reshape", kReshape}, {"tt.trans", kTrans}, {"tt.cat", kCat},
    {"tt.join", kJoin}, {"tt.split", kSplit}, {"tt.addptr", kAddPointer}, {"tt.load", kLoad}, {"tt.store", kStore}, {"tt.atomic_rmw", kRmw}, {"tt.atomic_cas", kCas},
    {"tt.atomic_load", kAtomicLoad}, {"tt.atomic_store", kAtomicStore}, {"tt.dot", kDot}, {"tt.reduce", kReduce}, {"tt.scan", kScan}, {"tt.gather", kGather}, {"tt.histogram", kHistogram},
    {"tt.clampf", kClamp}, {"tt.extern_elementwise", kExtern}, {"tt.make_tensor_descriptor", kMakeDescriptor}, {"tt.descriptor_load", kDescriptorLoad},
    {"tt.descriptor_store", kDescriptorStore}, {"scf.for", kFor}, {"scf.if", kIf}, {"scf.while", kWhile}, {"tt.return", kReturn}, {"scf.yield", kYield},
    {"tt.reduce.return", kYield}, {"tt.scan.return", kYield}, {"scf.condition", kCondition}, {"cf.br", kBranch}, {"cf.cond_br", kBranch}, {"tt.assert", kAssert},
    {"cf.assert", kAssert}, {"gpu.barrier", kNothing}, {"ttg.barrier", kNothing}, {"llvm.intr.assume", kNothing}, {"tt.grid_dependency_wait", kNothing},
    {"tt.grid_dependency_launch_dependents", kNothing}, {"ub.poison", kPoison},
};

/// A loop that runs longer than this is one that never ends; the deadline stops what is merely slow.
constexpr int64_t kMostTurns = int64_t{1} << 31;

[[noreturn]] void unknown(const std::string& what) { throw Stop{simt::Finding::kEmulator, what + " is not among what the interpreter has"}; }

size_t at(const std::map<std::string, std::string, std::less<>>& attributes, std::string_view key) {
  const auto it = attributes.find(key);
  return it == attributes.end() ? 0 : static_cast<size_t>(std::strtoll(it->second.c_str(), nullptr, 10));
}

int64_t unsigned_part(int64_t value, Elem elem) {
  const int bits = bits_of(elem);
  return bits >= 64 ? value : value & ((int64_t{1} << bits) - 1);
}

/// The units read the upper 19 bits; `nearest`: where a product is made of several, parts are rounded before.
float to_tf32(float value, bool nearest = false) {
  return std::isfinite(value) ? std::bit_cast<float>((std::bit_cast<uint32_t>(value) + (nearest ? 0x1000u : 0u)) & 0xffffe000u) : value;
}

/// The function of libdevice that an operation calls.
std::string symbol_of(const Op& op) {
  const auto it = op.attributes.find("symbol");
  std::string symbol = it == op.attributes.end() ? "" : it->second;
  std::erase(symbol, '"');
  return symbol;
}
bool classifies(std::string_view symbol) { return symbol.starts_with("__nv_isnan") || symbol.starts_with("__nv_isinf") || symbol.starts_with("__nv_finite"); }
bool is_fma(std::string_view symbol) { return symbol == "__nv_fmaf" || symbol == "__nv_fma"; }

class Program {
 public:
  Program(const Function& function, const int64_t* grid, Memory& memory) : function_(function), grid_(grid), memory_(memory), values_(static_cast<size_t>(function.values)) {}

  void run(std::span<const Argument> arguments, const int64_t* id) {
    id_ = id;
    const Block& entry = function_.body[0];
    for (size_t i = 0; i < entry.arguments.size(); ++i) {
      Value value{function_.types[i], {arguments[i]}, {}};
      if (is_int(value.type.elem)) value.lanes[0] = static_cast<uint64_t>(wrapped(static_cast<int64_t>(arguments[i]), value.type.elem));
      set(entry.arguments[i], std::move(value));
    }
    body(function_.body);
  }
  [[nodiscard]] int line() const { return line_; }

 private:
  using Values = std::vector<ValuePtr>;
  enum class End : uint8_t { kYield, kReturn, kCondition };

  void set(int number, Value value) { values_[static_cast<size_t>(number)] = std::make_shared<const Value>(std::move(value)); }
  void set(int number, ValuePtr value) { values_[static_cast<size_t>(number)] = std::move(value); }
  [[nodiscard]] const ValuePtr& pointer(int number) const {
    const ValuePtr& value = values_[static_cast<size_t>(number)];
    if (!value) throw Stop{simt::Finding::kEmulator, "a value is used before it is there"};
    return value;
  }
  [[nodiscard]] const Value& operand(const Op& op, size_t i) const {
    if (i >= op.operands.size()) throw Stop{simt::Finding::kEmulator, op.name + " has too few operands"};
    return *pointer(op.operands[i]);
  }
  [[nodiscard]] const Type& last_type(const Op& op) const {
    if (op.types.empty()) throw Stop{simt::Finding::kEmulator, op.name + " has no type"};
    return op.types.back();
  }
  void result(const Op& op, Value value) {
    if (op.results.empty()) return;
    set(op.results[0], std::move(value));
  }

  /// A branch or a bound must be known.
  int64_t decided(const Value& value, const char* what) {
    if (value.lanes.size() != 1) unknown(std::string(what) + " by a tensor");
    if (const uint8_t why = value.bad_at(0) & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, std::string(what) + " depends on " + words_of(why)};
    return value.integer(0);
  }
  static std::string words_of(uint8_t why) {
    if (why & kUnwritten) return "memory that nobody wrote";
    return "a lane that its load masked off, with no `other` to say what it holds then";
  }

  /// Runs a function's or a region's blocks from the first on.
  End body(const Region& region) {
    size_t block = 0;
    for (int64_t turns = 0; turns < kMostTurns; ++turns) {
      const Op* branch = nullptr;
      const End end = straight(region[block], branch);
      if (!branch) return end;
      size_t way = 0;
      if (branch->name == "cf.cond_br") way = decided(operand(*branch, 0), "a branch") ? 0 : 1;
      const auto& [next, values] = branch->targets.at(way);
      Values given;
      for (const int value : values) given.push_back(pointer(value));
      const Block& to = region.at(static_cast<size_t>(next));
      if (given.size() != to.arguments.size()) throw Stop{simt::Finding::kEmulator, "a branch gives the wrong number of values"};
      for (size_t i = 0; i < given.size(); ++i) set(to.arguments[i], given[i]);
      block = static_cast<size_t>(next);
    }
    throw Stop{simt::Finding::kDeadlock, "a loop does not end"};
  }

  /// One block up to its end; what it yields is in yielded_.
  End straight(const Block& block, const Op*& branch) {
    for (const Op& op : block.ops) {
      if (op.line) line_ = op.line;
      switch (op.code) {
        case kReturn: return End::kReturn;
        case kYield: take(op, 0); return End::kYield;
        case kCondition: take(op, 1); condition_ = decided(operand(op, 0), "a loop's condition"); return End::kCondition;
        case kBranch: branch = &op; return End::kYield;
        default: execute(op);
      }
    }
    yielded_.clear();
    return End::kYield;
  }
  void take(const Op& op, size_t from) {
    yielded_.clear();
    for (size_t i = from; i < op.operands.size(); ++i) yielded_.push_back(pointer(op.operands[i]));
  }

  /// A region with arguments given; the values it yields.
  Values call(const Region& region, const Values& arguments) {
    const Block& entry = region.at(0);
    if (entry.arguments.size() != arguments.size()) throw Stop{simt::Finding::kEmulator, "a region takes another number of values"};
    for (size_t i = 0; i < arguments.size(); ++i) set(entry.arguments[i], arguments[i]);
    body(region);
    return yielded_;
  }

  template <typename Each>
  static Value each(const Type& type, Each lane) {
    Value value{type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}};
    for (size_t i = 0; i < value.lanes.size(); ++i) value.lanes[i] = lane(i);
    return value;
  }
  /// A scalar stands for each lane of a tensor that it meets: regions of reductions are run on whole slices.
  static size_t lane_in(const Value& value, size_t i) { return value.lanes.size() == 1 ? 0 : i; }
  static Type shape_of(const Value& a, const Value& b, Elem elem) {
    Type type = a.lanes.size() >= b.lanes.size() ? a.type : b.type;
    type.elem = elem;
    type.pointee = Elem::kNone;
    return type;
  }
  static void inherit(Value& to, const Value& from, uint8_t which = kMasked | kUnwritten | kOverflow) {
    if (from.bad.empty()) return;
    if (to.bad.empty()) to.bad.assign(to.lanes.size(), 0);
    for (size_t i = 0; i < to.bad.size(); ++i) to.bad[i] |= from.bad[lane_in(from, i)] & which;
  }

  void execute(const Op& op);
  void binary(const Op& op);
  uint64_t integers(int sub, int64_t a, int64_t b, Elem elem, uint8_t& bad);
  static double floats(int sub, double a, double b);
  static uint64_t float_lane(double value, Elem elem) { return elem == Elem::kF64 ? lane_of(value) : lane_of(rounded(value, elem)); }
  void compare(const Op& op);
  void cast(const Op& op);
  void constant(const Op& op);
  void shapes(const Op& op);
  void load(const Op& op);
  void store(const Op& op);
  void atomic(const Op& op);
  void dot(const Op& op);
  void reduce(const Op& op);
  void scan(const Op& op);
  void gather(const Op& op);
  void histogram(const Op& op);
  void external(const Op& op);
  void descriptor(const Op& op);
  void loop(const Op& op);
  uint64_t checked_address(const Value& pointer, size_t lane, const char* what) {
    const uint8_t why = pointer.bad_at(lane);
    if (why & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, std::string(what) + " at an address that depends on " + words_of(why)};
    if (why & kOverflow) throw Stop{simt::Finding::kUndefined, std::string(what) + " at an address computed by 32-bit integers that went over 2^31: take tl.int64"};
    return pointer.lanes[lane];
  }
  bool masked_off(const Value* mask, size_t lane, const char* what) {
    if (!mask) return false;
    const size_t i = lane_in(*mask, lane);
    if (const uint8_t why = mask->bad_at(i) & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, std::string(what) + " whose mask depends on " + words_of(why)};
    return mask->lanes[i] == 0;
  }
  void check_stored(const Value& value, size_t lane) {
    if (const uint8_t why = value.bad_at(lane) & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, "stores what depends on " + words_of(why)};
  }
  /// Slices of `value` along `axis`: lanes [begin, begin + count * step) by step.
  static Value slice(const Value& value, size_t axis, int64_t begin, int64_t step, int64_t count, bool keep);

  const Function& function_;
  const int64_t* grid_;
  Memory& memory_;
  const int64_t* id_ = nullptr;
  std::vector<ValuePtr> values_;
  Values yielded_;
  int64_t condition_ = 0;
  int line_ = 0;
};

void Program::constant(const Op& op) {
  const Type& type = last_type(op);
  std::string text = op.literal;
  std::vector<std::string> items;
  if (!text.empty() && text.front() == '[') {
    std::string item;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == ' ' || c == '\n') continue;
      if (c == ',') items.push_back(std::exchange(item, ""));
      else item += c;
    }
    items.push_back(item);
  } else {
    items.push_back(text);
  }
  const auto lane = [&](const std::string& item) -> uint64_t {
    if (item == "true") return 1;
    if (item == "false") return 0;
    if (!item.empty() && item.front() == '"') unknown("a constant written as bytes");
    if (is_float(type.elem)) {
      if (item.starts_with("0x")) {
        const uint64_t bits = std::strtoull(item.c_str(), nullptr, 16);
        return type.elem == Elem::kF64 || type.elem == Elem::kF32 ? bits : from_memory(bits, type.elem);
      }
      return float_lane(std::strtod(item.c_str(), nullptr), type.elem);
    }
    const bool hex = item.starts_with("0x");
    const int64_t value = hex ? static_cast<int64_t>(std::strtoull(item.c_str(), nullptr, 16)) : item.starts_with("-") ? std::strtoll(item.c_str(), nullptr, 10) : static_cast<int64_t>(std::strtoull(item.c_str(), nullptr, 10));
    return static_cast<uint64_t>(wrapped(value, type.elem));
  };
  const auto lanes = static_cast<size_t>(type.lanes());
  if (items.size() != 1 && items.size() != lanes) unknown("a constant of this form");
  std::vector<uint64_t> parsed;
  for (const std::string& item : items) parsed.push_back(lane(item));
  result(op, each(type, [&](size_t i) { return parsed[parsed.size() == 1 ? 0 : i]; }));
}

uint64_t Program::integers(int sub, int64_t a, int64_t b, Elem elem, uint8_t& bad) {
  const auto wide = [&](__int128 exact) {
    const int64_t kept = wrapped(static_cast<int64_t>(exact), elem);
    // Unsigned arithmetic goes round as it pleases: only what is used as an address is asked.
    if (elem == Elem::kI32 && static_cast<__int128>(kept) != exact) bad |= kOverflow;
    return static_cast<uint64_t>(kept);
  };
  const int bits = bits_of(elem);
  const auto ua = static_cast<uint64_t>(unsigned_part(a, elem)), ub = static_cast<uint64_t>(unsigned_part(b, elem));
  const auto back = [&](uint64_t value) { return static_cast<uint64_t>(wrapped(static_cast<int64_t>(value), elem)); };
  const bool divides = sub == kDivsi || sub == kDivui || sub == kRemsi || sub == kRemui || sub == kCeildivsi || sub == kFloordivsi;
  if (divides && b == 0) throw Stop{simt::Finding::kUndefined, "divides an integer by 0"};
  // The one quotient that does not fit.
  if (divides && b == -1 && sub != kDivui && sub != kRemui) return sub == kRemsi ? 0 : wide(-static_cast<__int128>(a));
  const bool beyond = ub >= static_cast<uint64_t>(bits);  // a shift by more than the width
  switch (sub) {
    case kAddi: return wide(static_cast<__int128>(a) + b);
    case kSubi: return wide(static_cast<__int128>(a) - b);
    case kMuli: return wide(static_cast<__int128>(a) * b);
    case kDivsi: return static_cast<uint64_t>(a / b);
    case kRemsi: return static_cast<uint64_t>(a % b);
    case kFloordivsi: return static_cast<uint64_t>(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));
    case kCeildivsi: return static_cast<uint64_t>(a / b + (a % b != 0 && (a % b < 0) == (b < 0)));
    case kDivui: return back(ua / ub);
    case kRemui: return back(ua % ub);
    case kAndi: return static_cast<uint64_t>(a & b);
    case kOri: return static_cast<uint64_t>(a | b);
    case kXori: return static_cast<uint64_t>(a ^ b);
    case kShli: return beyond ? 0 : back(ua << ub);
    case kShrsi: return static_cast<uint64_t>(beyond ? (a < 0 ? -1 : 0) : a >> ub);
    case kShrui: return beyond ? 0 : back(ua >> ub);
    case kMaxsi: return static_cast<uint64_t>(std::max(a, b));
    case kMinsi: return static_cast<uint64_t>(std::min(a, b));
    case kMaxui: return back(std::max(ua, ub));
    case kMinui: return back(std::min(ua, ub));
    case kMulhiui: return back(static_cast<uint64_t>((static_cast<unsigned __int128>(ua) * ub) >> bits));
    default: unknown("an operation of floats on integers");
  }
}

double Program::floats(int sub, double a, double b) {
  const bool nan_here = std::isnan(a) || std::isnan(b);
  const auto larger = [](double x, double y) { return x > y || (x == y && !std::signbit(x)) ? x : y; };
  const auto smaller = [](double x, double y) { return x < y || (x == y && std::signbit(x)) ? x : y; };
  switch (sub) {
    case kAddf: return a + b;
    case kSubf: return a - b;
    case kMulf: return a * b;
    case kDivf: return a / b;
    case kRemf: return std::fmod(a, b);
    // max.f32 and max.NaN.f32: the first loses a NaN that stands beside a number.
    case kMaxnumf: return std::isnan(a) ? b : std::isnan(b) ? a : larger(a, b);
    case kMinnumf: return std::isnan(a) ? b : std::isnan(b) ? a : smaller(a, b);
    case kMaximumf: return nan_here ? std::numeric_limits<double>::quiet_NaN() : larger(a, b);
    case kMinimumf: return nan_here ? std::numeric_limits<double>::quiet_NaN() : smaller(a, b);
    default: unknown("an operation of integers on floats");
  }
}

void Program::binary(const Op& op) {
  const Value &a = operand(op, 0), &b = operand(op, 1);
  if (a.lanes.size() != b.lanes.size() && a.lanes.size() != 1 && b.lanes.size() != 1) unknown(op.name + " of tensors of different sizes");
  const Type type = shape_of(a, b, a.type.elem);
  if (is_float(type.elem)) {
    // In double and then rounded is what one operation of f32, f16 or bf16 gives.
    Value value = each(type, [&](size_t i) { return float_lane(floats(op.sub, a.number(lane_in(a, i)), b.number(lane_in(b, i))), type.elem); });
    inherit(value, a);
    inherit(value, b);
    return result(op, std::move(value));
  }
  if (type.elem == Elem::kPointer) unknown(op.name + " of pointers");
  bool any = false;
  std::vector<uint8_t> over(static_cast<size_t>(type.lanes()), 0);
  Value value = each(type, [&](size_t i) {
    const uint64_t lane = integers(op.sub, a.integer(lane_in(a, i)), b.integer(lane_in(b, i)), type.elem, over[i]);
    any |= over[i] != 0;
    return lane;
  });
  if (any) value.bad = std::move(over);
  inherit(value, a);
  inherit(value, b);
  // An overflow is no longer one where the low bits were all that was wanted.
  if (op.sub == kRemui || op.sub == kRemsi || op.sub == kAndi || op.sub == kXori || op.sub == kShrui)
    for (uint8_t& bad : value.bad) bad &= static_cast<uint8_t>(~kOverflow);
  // False and anything is false.
  if (type.elem == Elem::kI1 && (op.sub == kAndi || op.sub == kOri))
    for (size_t i = 0; i < value.bad.size(); ++i) {
      const uint64_t settles = op.sub == kOri;
      const size_t la = lane_in(a, i), lb = lane_in(b, i);
      if ((!a.bad_at(la) && a.lanes[la] == settles) || (!b.bad_at(lb) && b.lanes[lb] == settles)) value.bad[i] = 0, value.lanes[i] = settles;
    }
  result(op, std::move(value));
}

void Program::compare(const Op& op) {
  const Value &a = operand(op, 0), &b = operand(op, 1);
  const Type type = shape_of(a, b, Elem::kI1);
  const int sub = op.sub;
  const auto holds = [sub](auto x, auto y) -> bool {
    switch (sub) {
      case kEq: return x == y;
      case kNe: return x != y;
      case kLt: case kUlt: return x < y;
      case kLe: case kUle: return x <= y;
      case kGt: case kUgt: return x > y;
      case kGe: case kUge: return x >= y;
      default: return false;
    }
  };
  Value value;
  if (op.code == kCompareFloat) {
    const bool if_unordered = op.words[0][0] == 'u';
    value = each(type, [&](size_t i) -> uint64_t {
      const double x = a.number(lane_in(a, i)), y = b.number(lane_in(b, i));
      if (std::isnan(x) || std::isnan(y)) return if_unordered;
      return sub == kOrd || (sub != kUno && holds(x, y));
    });
  } else if (sub >= kUlt) {
    value = each(type, [&](size_t i) -> uint64_t { return holds(a.lanes[lane_in(a, i)], b.lanes[lane_in(b, i)]); });
  } else {
    value = each(type, [&](size_t i) -> uint64_t { return holds(a.integer(lane_in(a, i)), b.integer(lane_in(b, i))); });
  }
  inherit(value, a, kMasked | kUnwritten);
  inherit(value, b, kMasked | kUnwritten);
  result(op, std::move(value));
}

/// How a comparison compares; kNone: in a way that is not known.
int comparison(const Op& op) {
  const std::string_view how = op.words.empty() ? std::string_view() : op.words[0];
  if (how == "eq") return kEq;
  if (how == "ne") return kNe;
  if (how == "ord") return kOrd;
  if (how == "uno") return kUno;
  if (how.size() != 3) return kNone;
  const bool is_unsigned = op.code == kCompareInt && how[0] == 'u';
  const std::string_view rest = how.substr(1);
  constexpr std::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (int i = 0; i < 6; ++i)
    if (rest == kNames[i]) return is_unsigned ? kUlt + i - 2 : kEq + i;
  return kNone;
}

void Program::cast(const Op& op) {
  const Value& from = operand(op, 0);
  Type type = last_type(op);
  // In a reduction's region a scalar stands for a slice.
  if (from.lanes.size() != static_cast<size_t>(type.lanes())) type.tensor = from.type.tensor, type.shape = from.type.shape;
  const Elem source = from.type.elem, to = type.elem;
  const std::string& name = op.name;
  const bool extui = name == "arith.extui", extsi = name == "arith.extsi", cut = name == "arith.trunci" || name == "arith.index_cast";
  const bool address = name == "tt.int_to_ptr" || name == "tt.ptr_to_int";
  const bool from_unsigned = name == "arith.uitofp", from_int = from_unsigned || name == "arith.sitofp";
  const bool to_signed = name == "arith.fptosi", to_int = to_signed || name == "arith.fptoui";
  const bool of_floats = name == "arith.extf" || name == "arith.truncf" || name == "tt.fp_to_fp";
  const auto rounding = op.attributes.find("rounding");
  const bool to_zero = name == "tt.fp_to_fp" && rounding != op.attributes.end() && rounding->second == "rtz";
  const auto lane = [&](size_t i) -> uint64_t {
    const int64_t integer = from.integer(i);
    if (extui) return static_cast<uint64_t>(unsigned_part(integer, source));
    if (extsi) return static_cast<uint64_t>(source == Elem::kI1 ? -integer : integer);
    if (cut) return static_cast<uint64_t>(wrapped(integer, to));
    if (address) return from.lanes[i];
    if (from_int) {
      const int64_t number = from_unsigned ? unsigned_part(integer, source) : source == Elem::kI1 ? -integer : integer;
      if (to == Elem::kF64) return lane_of(static_cast<double>(number));
      const bool large = from_unsigned && number < 0;
      return to == Elem::kF32 ? lane_of(large ? static_cast<float>(static_cast<uint64_t>(number)) : static_cast<float>(number)) : float_lane(static_cast<double>(number), to);
    }
    if (to_int) {
      const double value = std::trunc(from.number(i));
      const int bits = bits_of(to);
      const double least = to_signed ? -std::ldexp(1.0, bits - 1) : 0, most = std::ldexp(1.0, to_signed ? bits - 1 : bits);
      // The instruction holds what does not fit to the nearest that does; NaN becomes 0.
      if (std::isnan(value)) return 0;
      if (value < least) return to_signed ? static_cast<uint64_t>(wrapped(int64_t{1} << (bits - 1), to)) : 0;
      if (value >= most) return static_cast<uint64_t>(to_signed ? static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1) : wrapped(-1, to));
      return static_cast<uint64_t>(to_signed ? static_cast<int64_t>(value) : wrapped(static_cast<int64_t>(static_cast<uint64_t>(value)), to));
    }
    if (of_floats) {
      const double value = from.number(i);
      if (to_zero) {
        float nearest = rounded(value, to);
        if (std::fabs(static_cast<double>(nearest)) <= std::fabs(value) || !std::isfinite(nearest)) return lane_of(nearest);
        unknown("rounding towards zero");
      }
      return float_lane(value, to);
    }
    // Bits as they are.
    if (to == Elem::kPointer || source == Elem::kPointer) return from.lanes[i];
    if (bits_of(to) != bits_of(source)) unknown(name + " between sizes");
    return from_memory(to_memory(from.lanes[i], source), to);
  };
  Value value = each(type, lane);
  value.bad = from.bad;
  result(op, std::move(value));
}

/// Every operation that only moves lanes: `from` says for each lane of the result which of the source it is.
template <typename From>
Value moved(const Value& source, const Type& type, From from) {
  Value value{type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}};
  if (!source.bad.empty()) value.bad.assign(value.lanes.size(), 0);
  for (size_t i = 0; i < value.lanes.size(); ++i) {
    const size_t at = from(i);
    value.lanes[i] = source.lanes[at];
    if (!source.bad.empty()) value.bad[i] = source.bad[at];
  }
  return value;
}

void Program::shapes(const Op& op) {
  const Value& source = operand(op, 0);
  Type type = last_type(op);
  switch (op.code) {
    case kSplat: return result(op, moved(source, type, [](size_t) { return size_t{0}; }));
    case kUnsplat: return result(op, moved(source, Type{source.type.elem, source.type.pointee, false, {}}, [](size_t) { return size_t{0}; }));
    case kExpand:
    case kReshape:
      if (static_cast<size_t>(type.lanes()) != source.lanes.size()) unknown(op.name + " to another number of elements");
      return result(op, moved(source, type, [](size_t i) { return i; }));
    case kBroadcast: {
      if (type.shape.size() != source.type.shape.size()) unknown("tt.broadcast to another rank");
      return result(op, moved(source, type, [&](size_t i) {
        size_t at = 0, step = 1;
        for (size_t d = type.shape.size(); d-- > 0;) {
          const auto extent = static_cast<size_t>(type.shape[d]), there = static_cast<size_t>(source.type.shape[d]);
          at += (there == 1 ? 0 : i % extent) * step;
          i /= extent;
          step *= there;
        }
        return at;
      }));
    }
    case kTrans: {
      const auto it = op.attributes.find("order");
      std::vector<size_t> order;
      if (it == op.attributes.end()) unknown("tt.trans without an order");
      for (size_t at = it->second.find(':'); at != std::string::npos && at < it->second.size(); at = it->second.find(',', at + 1)) order.push_back(static_cast<size_t>(std::atoi(it->second.c_str() + at + 1)));
      if (order.size() != type.shape.size()) unknown("tt.trans of this form");
      std::vector<size_t> steps(order.size(), 1);
      for (size_t d = order.size() - 1; d-- > 0;) steps[d] = steps[d + 1] * static_cast<size_t>(source.type.shape[d + 1]);
      return result(op, moved(source, type, [&](size_t i) {
        size_t at = 0;
        for (size_t d = order.size(); d-- > 0;) {
          at += i % static_cast<size_t>(type.shape[d]) * steps[order[d]];
          i /= static_cast<size_t>(type.shape[d]);
        }
        return at;
      }));
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
  for (size_t i = 0; i < value.lanes.size(); ++i) {
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
  for (size_t i = 0; i < pointer.lanes.size(); ++i) {
    if (masked_off(mask, i, "stores")) continue;
    check_stored(value, lane_in(value, i));
    const uint64_t address = checked_address(pointer, i, "stores"), bits = to_memory(value.lanes[lane_in(value, i)], value.type.elem);
    rising = rising && address > before;
    before = address;
    memory_.store(address, bytes, bits);
  }
  if (rising || !may_meet) return;
  for (size_t i = 0; i < pointer.lanes.size(); ++i) {
    if (masked_off(mask, i, "stores")) continue;
    const uint64_t bits = to_memory(value.lanes[lane_in(value, i)], value.type.elem);
    const auto [it, fresh] = places.emplace(pointer.lanes[i], bits);
    if (!fresh && it->second != bits) throw Stop{simt::Finding::kRace, "stores different values of one tensor to one place: which stays is not said"};
  }
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
      if (kind == "fadd") {
        const Value a{Type{elem, Elem::kNone, false, {}}, {old}, {}}, b{Type{elem, Elem::kNone, false, {}}, {mine}, {}};
        return {true, to_memory(float_lane(a.number(0) + b.number(0), elem), elem)};
      }
      uint8_t ignored = 0;
      const int sub = kind == "add" ? kAddi : kind == "and" ? kAndi : kind == "or" ? kOri : kind == "xor" ? kXori : kind == "max" ? kMaxsi : kind == "min" ? kMinsi
                      : kind == "umax" ? kMaxui : kind == "umin" ? kMinui : kNone;
      if (sub == kNone || !is_int(elem)) unknown("tt.atomic_rmw " + kind);
      return {true, to_memory(integers(sub, static_cast<int64_t>(old), static_cast<int64_t>(mine), elem, ignored), elem)};
    };
    value.lanes[i] = from_memory(memory_.atomic(address, bytes, acquire, release, bad[i], change), elem);
    any |= bad[i] != 0;
  }
  if (any) value.bad = std::move(bad);
  result(op, std::move(value));
}

void Program::dot(const Op& op) {
  const Value &a = operand(op, 0), &b = operand(op, 1), &c = operand(op, 2);
  const size_t rank = c.type.shape.size();
  if ((rank != 2 && rank != 3) || a.type.shape.size() != rank || b.type.shape.size() != rank) unknown("tt.dot of this rank");
  const auto extent = [](const Value& v, size_t d) { return static_cast<size_t>(v.type.shape[d]); };
  const size_t batch = rank == 3 ? extent(c, 0) : 1, m = extent(c, rank - 2), n = extent(c, rank - 1), k = extent(a, rank - 1);
  if (extent(b, rank - 2) != k || extent(a, rank - 2) != m || extent(b, rank - 1) != n) unknown("tt.dot of these shapes");
  const auto it = op.attributes.find("inputPrecision");
  const std::string precision = it == op.attributes.end() ? "ieee" : it->second;
  const Elem in = a.type.elem;
  Value value{c.type, c.lanes, c.bad};
  const bool any = !a.bad.empty() || !b.bad.empty();
  if (any && value.bad.empty()) value.bad.assign(value.lanes.size(), 0);
  // Parts of an f32 as the precision has them; products of part i and part j with i + j below `parts` are summed.
  const size_t parts = in != Elem::kF32 || precision == "ieee" || precision == "tf32" ? 1 : precision == "bf16x6" ? 3 : 2;
  const auto part = [&](float x, size_t which) {
    if (in != Elem::kF32 || precision == "ieee") return x;
    const bool tf32 = precision.starts_with("tf32");
    for (size_t i = 0; i < which; ++i) x -= tf32 ? to_tf32(x, true) : rounded(x, Elem::kBF16);
    return tf32 ? to_tf32(x, parts > 1) : rounded(x, Elem::kBF16);
  };
  const auto split = [&](const Value& v) {
    std::vector<float> all(v.lanes.size() * parts);
    for (size_t i = 0; i < v.lanes.size(); ++i)
      for (size_t p = 0; p < parts; ++p) all[i * parts + p] = part(v.f32(i), p);
    return all;
  };
  std::vector<float> fa, fb;
  if (is_float(in) && in != Elem::kF64) fa = split(a), fb = split(b);
  for (size_t z = 0; z < batch; ++z)
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        const size_t to = (z * m + i) * n + j;
        const auto ai = [&](size_t x) { return (z * m + i) * k + x; };
        const auto bj = [&](size_t x) { return (z * k + x) * n + j; };
        if (in == Elem::kF64) {
          double sum = c.number(to);
          for (size_t x = 0; x < k; ++x) sum = std::fma(a.number(ai(x)), b.number(bj(x)), sum);
          value.lanes[to] = lane_of(sum);
        } else if (is_int(in)) {
          int64_t sum = c.integer(to);
          for (size_t x = 0; x < k; ++x) sum += a.integer(ai(x)) * b.integer(bj(x));
          value.lanes[to] = static_cast<uint64_t>(wrapped(sum, c.type.elem));
        } else {
          // As Triton makes them of parts: the small products first, a NaN among them (of an infinity's parts) left out, then the large
          // ones, and what there was before last. (So its text for sm_90 has it.)
          float sum = parts > 1 ? 0 : c.f32(to);
          const auto add = [&](size_t p, size_t q) {
            for (size_t x = 0; x < k; ++x) sum = std::fma(fa[ai(x) * parts + p], fb[bj(x) * parts + q], sum);
          };
          for (size_t small = parts - 1; small > 0; --small)
            for (size_t p = small + 1; p-- > 0;) add(p, small - p);
          if (std::isnan(sum) && parts > 1) sum = 0;
          add(0, 0);
          if (parts > 1) sum += c.f32(to);
          value.lanes[to] = lane_of(rounded(sum, c.type.elem));
        }
        if (any)
          for (size_t x = 0; x < k; ++x) value.bad[to] |= a.bad_at(ai(x)) | b.bad_at(bj(x));
      }
  result(op, std::move(value));
}

Value Program::slice(const Value& value, size_t axis, int64_t begin, int64_t step, int64_t count, bool keep) {
  Type type = value.type;
  const auto extent = static_cast<size_t>(type.shape[axis]);
  size_t inner = 1;
  for (size_t d = axis + 1; d < type.shape.size(); ++d) inner *= static_cast<size_t>(type.shape[d]);
  if (keep) type.shape[axis] = count;
  else type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  if (type.shape.empty()) type.tensor = false;
  const auto many = static_cast<size_t>(count);
  return moved(value, type, [&](size_t i) {
    const size_t in = i % inner, at = i / inner % many, out = i / inner / many;
    return (out * extent + static_cast<size_t>(begin) + at * static_cast<size_t>(step)) * inner + in;
  });
}

void Program::reduce(const Op& op) {
  const size_t axis = at(op.attributes, "axis"), count = op.operands.size();
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
  const size_t axis = at(op.attributes, "axis"), count = op.operands.size();
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

void Program::gather(const Op& op) {
  const Value &source = operand(op, 0), &index = operand(op, 1);
  const size_t axis = at(op.attributes, "axis");
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

void Program::external(const Op& op) {
  const std::string symbol = symbol_of(op);
  const OfOne one = op.operands.size() == 1 ? function_of_one(symbol) : nullptr;
  const OfTwo two = op.operands.size() == 2 ? function_of_two(symbol) : nullptr;
  const Value& a = operand(op, 0);
  const Elem elem = last_type(op).elem;
  if (classifies(symbol)) {
    Type type = a.type;
    type.elem = elem;
    Value value = each(type, [&](size_t i) { const double x = a.number(i); return static_cast<uint64_t>(symbol[5] == 'f' ? std::isfinite(x) : symbol[7] == 'n' ? std::isnan(x) : std::isinf(x)); });
    inherit(value, a);
    return result(op, std::move(value));
  }
  if (is_fma(symbol)) {
    const Value &b = operand(op, 1), &c = operand(op, 2);
    Value value = each(a.type, [&](size_t i) { return elem == Elem::kF64 ? lane_of(std::fma(a.number(i), b.number(i), c.number(i))) : lane_of(std::fma(a.f32(i), b.f32(i), c.f32(i))); });
    for (const Value* v : {&a, &b, &c}) inherit(value, *v);
    return result(op, std::move(value));
  }
  if (!one && !two) unknown("libdevice's " + symbol);
  Type type = a.type;
  type.elem = elem;
  const Value& b = operand(op, op.operands.size() - 1);
  Value value = each(type, [&](size_t i) { return float_lane(one ? one(a.number(i)) : two(a.number(i), b.number(lane_in(b, i))), elem); });
  inherit(value, a);
  inherit(value, b);
  result(op, std::move(value));
}

/// A descriptor's lanes: base, extents, strides, and whether what is outside is NaN.
void Program::descriptor(const Op& op) {
  if (op.code == kMakeDescriptor) {
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
    return result(op, std::move(value));
  }
  const Value& made = operand(op, 0);
  const bool loads = op.code == kDescriptorLoad;
  const size_t rank = made.type.shape.size();
  const size_t indices = op.operands.size() - (loads ? 1 : 2);
  if (indices != rank || made.lanes.size() != 2 + 2 * rank) unknown(op.name + " of this form");
  std::vector<int64_t> begin;
  for (size_t d = 0; d < rank; ++d) begin.push_back(decided(operand(op, 1 + d), "a descriptor's place"));
  Type type = loads ? last_type(op) : operand(op, op.operands.size() - 1).type;
  int64_t block_lanes = 1;
  for (const int64_t extent : made.type.shape) block_lanes *= extent;
  if (type.lanes() != block_lanes) unknown(op.name + " of a block of another size");
  const Elem elem = made.type.pointee;
  const int bytes = bytes_of(elem);
  Value value{type, std::vector<uint64_t>(static_cast<size_t>(block_lanes)), {}};
  std::vector<uint8_t> bad(value.lanes.size(), 0);
  bool any = false;
  for (size_t i = 0; i < value.lanes.size(); ++i) {
    size_t rest = i;
    bool inside = true;
    uint64_t address = made.lanes[0];
    for (size_t d = rank; d-- > 0;) {
      const int64_t here = begin[d] + static_cast<int64_t>(rest % static_cast<size_t>(made.type.shape[d]));
      rest /= static_cast<size_t>(made.type.shape[d]);
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
    } else {
      const Value& stored = operand(op, op.operands.size() - 1);
      check_stored(stored, i);
      memory_.store(address, bytes, to_memory(stored.lanes[i], elem));
    }
  }
  if (any) value.bad = std::move(bad);
  if (loads) result(op, std::move(value));
}

void Program::loop(const Op& op) {
  if (op.code == kIf) {
    const Value& condition = operand(op, 0);
    const bool yes = decided(condition, "a branch") != 0;
    if (!yes && op.regions.size() < 2) return;
    const Values yielded = call(op.regions[yes ? 0 : 1], {});
    for (size_t i = 0; i < op.results.size(); ++i) set(op.results[i], yielded.at(i));
    return;
  }
  if (op.code == kWhile) {
    Values carried;
    for (const int value : op.operands) carried.push_back(pointer(value));
    for (int64_t turns = 0; turns < kMostTurns; ++turns) {
      carried = call(op.regions.at(0), carried);
      if (!condition_) {
        for (size_t i = 0; i < op.results.size(); ++i) set(op.results[i], carried.at(i));
        return;
      }
      carried = call(op.regions.at(1), carried);
    }
    throw Stop{simt::Finding::kDeadlock, "a loop does not end"};
  }
  const int64_t from = decided(operand(op, 0), "a loop's bound"), to = decided(operand(op, 1), "a loop's bound"), step = decided(operand(op, 2), "a loop's step");
  const Elem elem = op.types.back().elem;
  if (step <= 0) throw Stop{simt::Finding::kUndefined, "a loop's step is not positive"};
  Values carried;
  for (size_t i = 3; i < op.operands.size(); ++i) carried.push_back(pointer(op.operands[i]));
  for (int64_t i = from; i < to; i += step) {
    Values arguments{std::make_shared<const Value>(Value{Type{elem, Elem::kNone, false, {}}, {static_cast<uint64_t>(i)}, {}})};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    carried = call(op.regions.at(0), arguments);
  }
  for (size_t i = 0; i < op.results.size(); ++i) set(op.results[i], carried.at(i));
}

void Program::execute(const Op& op) {
  switch (op.code) {
    case kConstant: return constant(op);
    case kBinary: return binary(op);
    case kCompareInt:
    case kCompareFloat: return compare(op);
    case kCast: return cast(op);
    case kSelect: {
      const Value &which = operand(op, 0), &yes = operand(op, 1), &no = operand(op, 2);
      Type type = which.lanes.size() > std::max(yes.lanes.size(), no.lanes.size()) ? which.type : yes.lanes.size() >= no.lanes.size() ? yes.type : no.type;
      type.elem = yes.type.elem;
      type.pointee = yes.type.pointee;
      Value value{type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}};
      if (!which.bad.empty() || !yes.bad.empty() || !no.bad.empty()) value.bad.assign(value.lanes.size(), 0);
      for (size_t i = 0; i < value.lanes.size(); ++i) {
        const size_t w = lane_in(which, i);
        const Value& from = which.lanes[w] ? yes : no;
        value.lanes[i] = from.lanes[lane_in(from, i)];
        if (!value.bad.empty()) value.bad[i] = which.bad_at(w) | from.bad_at(lane_in(from, i));
      }
      return result(op, std::move(value));
    }
    case kOne: {
      const Value& a = operand(op, 0);
      const OfOne function = op.name == "tt.precise_sqrt" ? function_of_one("math.sqrt") : op.name == "arith.negf" ? nullptr : function_of_one(op.name);
      Value value = each(a.type, [&](size_t i) { return float_lane(function ? function(a.number(i)) : -a.number(i), a.type.elem); });
      inherit(value, a);
      return result(op, std::move(value));
    }
    case kTwo: {
      const Value &a = operand(op, 0), &b = operand(op, 1);
      const OfTwo function = function_of_two(op.name);
      Value value = each(shape_of(a, b, a.type.elem), [&](size_t i) { return float_lane(function(a.number(lane_in(a, i)), b.number(lane_in(b, i))), a.type.elem); });
      inherit(value, a);
      inherit(value, b);
      return result(op, std::move(value));
    }
    case kFma: {
      const Value &a = operand(op, 0), &b = operand(op, 1), &c = operand(op, 2);
      Value value = each(a.type, [&](size_t i) {
        if (a.type.elem == Elem::kF64) return lane_of(std::fma(a.number(i), b.number(i), c.number(i)));
        return lane_of(rounded(std::fma(a.f32(i), b.f32(i), c.f32(i)), a.type.elem));
      });
      for (const Value* v : {&a, &b, &c}) inherit(value, *v);
      return result(op, std::move(value));
    }
    case kAbsInt: {
      const Value& a = operand(op, 0);
      Value value = each(a.type, [&](size_t i) { return static_cast<uint64_t>(wrapped(a.integer(i) < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(a.integer(i))) : a.integer(i), a.type.elem)); });
      inherit(value, a);
      return result(op, std::move(value));
    }
    case kClamp: {
      const Value &x = operand(op, 0), &low = operand(op, 1), &high = operand(op, 2);
      const bool all = op.attributes.count("propagateNan") && op.attributes.at("propagateNan") == "all";
      Value value = each(x.type, [&](size_t i) {
        const double v = x.number(i);
        if (all && std::isnan(v)) return x.lanes[i];
        return float_lane(floats(kMinnumf, floats(kMaxnumf, v, low.number(lane_in(low, i))), high.number(lane_in(high, i))), x.type.elem);
      });
      for (const Value* v : {&x, &low, &high}) inherit(value, *v);
      return result(op, std::move(value));
    }
    case kProgramId:
    case kNumPrograms: {
      const std::string axis = op.words.empty() ? "x" : op.words[0];
      const size_t d = axis == "y" ? 1 : axis == "z" ? 2 : 0;
      return result(op, Value{last_type(op), {static_cast<uint64_t>(op.code == kProgramId ? id_[d] : grid_[d])}, {}});
    }
    case kRange: {
      const size_t start = at(op.attributes, "start");
      return result(op, each(last_type(op), [&](size_t i) { return start + i; }));
    }
    case kSplat: case kUnsplat: case kExpand: case kReshape: case kBroadcast: case kTrans: case kCat: case kJoin: case kSplit: return shapes(op);
    case kAddPointer: {
      const Value &base = operand(op, 0), &offset = operand(op, 1);
      const auto bytes = static_cast<uint64_t>(bytes_of(base.type.pointee));
      Type type = base.lanes.size() >= offset.lanes.size() ? base.type : offset.type;
      type.elem = Elem::kPointer;
      type.pointee = base.type.pointee;
      Value value = each(type, [&](size_t i) { return base.lanes[lane_in(base, i)] + offset.lanes[lane_in(offset, i)] * bytes; });
      inherit(value, base);
      inherit(value, offset);
      return result(op, std::move(value));
    }
    case kLoad: return load(op);
    case kStore: return store(op);
    case kRmw: case kCas: case kAtomicLoad: case kAtomicStore: return atomic(op);
    case kDot: return dot(op);
    case kReduce: return reduce(op);
    case kScan: return scan(op);
    case kGather: return gather(op);
    case kHistogram: return histogram(op);
    case kExtern: return external(op);
    case kMakeDescriptor: case kDescriptorLoad: case kDescriptorStore: return descriptor(op);
    case kFor: case kIf: case kWhile: return loop(op);
    case kPoison: {
      Value value = each(last_type(op), [](size_t) { return uint64_t{0}; });
      value.bad.assign(value.lanes.size(), kMasked);
      return result(op, std::move(value));
    }
    case kAssert:
      if (!operand(op, 0).lanes[0]) throw Stop{simt::Finding::kUndefined, "an assertion does not hold"};
      return;
    case kNothing: return;
    default: unknown(op.name);
  }
}

/// Names what is missing, in a region and those within.
std::string prepare_region(Region& region) {
  for (Block& block : region)
    for (Op& op : block.ops) {
      for (const Known& known : kOps)
        if (known.name == op.name) op.code = known.code, op.sub = known.sub;
      if (op.code == kCompareInt || op.code == kCompareFloat) op.sub = comparison(op);
      if ((op.code == kCompareInt || op.code == kCompareFloat) && op.sub == kNone) op.code = -1;
      if (op.code < 0 && op.name.starts_with("math.")) op.code = function_of_one(op.name) ? kOne : function_of_two(op.name) ? kTwo : -1;
      if (op.code < 0) return op.name + (op.line ? " (line " + std::to_string(op.line) + ")" : "");
      if (op.code == kExtern) {
        const std::string symbol = symbol_of(op);
        const bool there = function_of_one(symbol) || function_of_two(symbol) || is_fma(symbol) || classifies(symbol);
        if (!there) return "libdevice's " + symbol + (op.line ? " (line " + std::to_string(op.line) + ")" : "");
      }
      for (Region& inner : op.regions)
        if (std::string missing = prepare_region(inner); !missing.empty()) return missing;
    }
  return {};
}

}  // namespace

std::string prepare(Function& function) { return prepare_region(function.body); }

void run(const Function& function, std::span<const Argument> arguments, const int64_t* grid, Memory& memory) {
  memory.begin_launch();
  Found found;
  const auto report = [&](const Stop& stop, int line) {
    found.stop = stop;
    found.line = line;
    throw Found(found);
  };
  for (size_t i = 0; i < function.divisible.size(); ++i)
    if (arguments[i] % static_cast<uint64_t>(function.divisible[i]) != 0)
      report(Stop{simt::Finding::kUndefined, "parameter " + std::to_string(i + 1) + " of " + function.name + " is promised to be a multiple of " + std::to_string(function.divisible[i]) + ", and is not"}, 0);
  int64_t number = 0;
  for (found.program[2] = 0; found.program[2] < grid[2]; ++found.program[2])
    for (found.program[1] = 0; found.program[1] < grid[1]; ++found.program[1])
      for (found.program[0] = 0; found.program[0] < grid[0]; ++found.program[0]) {
        memory.begin_program(number++);
        Program program(function, grid, memory);
        try {
          program.run(arguments, found.program);
        } catch (const Stop& stop) {
          report(stop, program.line());
        } catch (const std::exception& error) {
          report(Stop{simt::Finding::kEmulator, std::string("the text is not as the interpreter expects: ") + error.what()}, program.line());
        }
      }
}

}  // namespace hone::target::ttir
