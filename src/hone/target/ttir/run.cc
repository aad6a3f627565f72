// A program from its first operation to its last, and the programs of a launch.
#include "hone/target/ttir/run.h"

#include "hone/target/ttir/program.h"

namespace hone::target::ttir {
namespace {

/// A loop that runs longer than this is one that never ends; the deadline stops what is merely slow.
constexpr int64_t kMostTurns = int64_t{1} << 31;
constexpr int kMostCalls = 64;  ///< one within the other

}  // namespace

void Program::run(std::span<const Argument> arguments, const int64_t* id) {
  id_ = id;
  const Block& entry = function_.body[0];
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    Value value{function_.types[i], {arguments[i]}, {}};
    if (is_int(value.type.elem)) value.lanes[0] = static_cast<uint64_t>(wrapped(static_cast<int64_t>(arguments[i]), value.type.elem));
    set(entry.arguments[i], std::move(value));
  }
  body(function_.body);
}

int64_t Program::decided(const Value& value, const char* what) {
  if (value.lanes.size() != 1) unknown(std::string(what) + " by a tensor");
  if (const uint8_t why = value.bad_at(0) & (kMasked | kUnwritten)) throw Stop{simt::Finding::kUninitialised, std::string(what) + " depends on " + words_of(why)};
  return value.integer(0);
}

std::string Program::words_of(uint8_t why) {
  if (why & kUnwritten) return "memory that nobody wrote";
  return "a lane that its load masked off, with no `other` to say what it holds then";
}

Program::End Program::body(const Region& region) {
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

Program::End Program::straight(const Block& block, const Op*& branch) {
  for (const Op& op : block.ops) {
    if (op.line) line_ = op.line;
    switch (op.code) {
      case kReturn: take(op, 0); return End::kReturn;
      case kYield: take(op, 0); return End::kYield;
      case kCondition: take(op, 1); condition_ = decided(operand(op, 0), "a loop's condition"); return End::kCondition;
      case kBranch: branch = &op; return End::kYield;
      default: execute(op);
    }
  }
  yielded_.clear();
  return End::kYield;
}

void Program::take(const Op& op, size_t from) {
  yielded_.clear();
  for (size_t i = from; i < op.operands.size(); ++i) yielded_.push_back(pointer(op.operands[i]));
}

Program::Values Program::call(const Region& region, const Values& arguments) {
  const Block& entry = region.at(0);
  if (entry.arguments.size() != arguments.size()) throw Stop{simt::Finding::kEmulator, "a region takes another number of values"};
  for (size_t i = 0; i < arguments.size(); ++i) set(entry.arguments[i], arguments[i]);
  body(region);
  return yielded_;
}

void Program::call_function(const Op& op) {
  if (++calls_ > kMostCalls) unknown("a function that calls itself so often");
  const Block& entry = op.callee->body.at(0);
  std::vector<ValuePtr> theirs(static_cast<size_t>(op.callee->values));
  for (size_t i = 0; i < op.operands.size(); ++i) theirs[static_cast<size_t>(entry.arguments.at(i))] = pointer(op.operands[i]);
  std::swap(values_, theirs);
  body(op.callee->body);
  std::swap(values_, theirs);
  --calls_;
  for (size_t i = 0; i < op.results.size(); ++i) set(op.results[i], yielded_.at(i));
}

/// Its region takes an element at a time, and may branch on it.
void Program::map_elementwise(const Op& op) {
  if (attribute(op, "pack") > 1) unknown("tt.map_elementwise of packs, whose elements the layout chooses,");
  const auto scalar = [](const Value& value, size_t lane) {
    Value one{Type{value.type.elem, value.type.pointee, false, {}}, {value.lanes[lane]}, {}};
    if (value.bad_at(lane)) one.bad = {value.bad[lane]};
    return std::make_shared<const Value>(std::move(one));
  };
  std::vector<Value> out;
  const size_t given = op.operands.size();
  for (size_t r = 0; r < op.results.size(); ++r) {
    const Type& type = op.types.at(given + r);
    out.push_back({type, std::vector<uint64_t>(static_cast<size_t>(type.lanes())), {}});
  }
  for (size_t lane = 0; lane < operand(op, 0).lanes.size(); ++lane) {
    Values arguments;
    for (size_t i = 0; i < given; ++i) arguments.push_back(scalar(operand(op, i), lane));
    const Values yielded = call(op.regions.at(0), arguments);
    for (size_t r = 0; r < out.size(); ++r) {
      out[r].lanes.at(lane) = yielded.at(r)->lanes.at(0);
      if (!yielded[r]->bad_at(0)) continue;
      out[r].bad.resize(out[r].lanes.size(), 0);
      out[r].bad[lane] = yielded[r]->bad[0];
    }
  }
  for (size_t r = 0; r < out.size(); ++r) set(op.results[r], std::move(out[r]));
}

void Program::add_pointer(const Op& op) {
  const Value &base = operand(op, 0), &offset = operand(op, 1);
  if (base.lanes.size() != offset.lanes.size() && base.lanes.size() != 1 && offset.lanes.size() != 1) unknown("tt.addptr of tensors of different sizes");
  const auto bytes = static_cast<uint64_t>(bytes_of(base.type.pointee));
  Type type = base.lanes.size() >= offset.lanes.size() ? base.type : offset.type;
  type.elem = Elem::kPointer;
  type.pointee = base.type.pointee;
  Value value = each_pair(type, base, offset, [bytes](uint64_t from, uint64_t steps) { return from + steps * bytes; });
  inherit(value, base);
  inherit(value, offset);
  result(op, std::move(value));
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
    case kConstant: return op.results.empty() ? void() : set(op.results[0], op.constant);
    case kBinary: return binary(op);
    case kCompareInt:
    case kCompareFloat: return compare(op);
    case kCast: return cast(op);
    case kSelect: return select(op);
    case kOne: case kTwo: case kFma: case kAbsInt: case kClamp: return function(op);
    case kProgramId:
    case kNumPrograms: {
      const std::string axis = op.words.empty() ? "x" : op.words[0];
      const size_t d = axis == "y" ? 1 : axis == "z" ? 2 : 0;
      return result(op, Value{last_type(op), {static_cast<uint64_t>(op.code == kProgramId ? id_[d] : grid_[d])}, {}});
    }
    case kRange: {
      const size_t start = attribute(op, "start");
      return result(op, each(last_type(op), [&](size_t i) { return start + i; }));
    }
    case kSplat: case kUnsplat: case kExpand: case kReshape: case kBroadcast: case kTrans: case kCat: case kJoin: case kSplit: return shapes(op);
    case kAddPointer: return add_pointer(op);
    case kLoad: return load(op);
    case kStore: return store(op);
    case kRmw: case kCas: case kAtomicLoad: case kAtomicStore: return atomic(op);
    case kDot: return dot(op);
    case kReduce: return reduce(op);
    case kScan: return scan(op);
    case kGather: return gather(op);
    case kHistogram: return histogram(op);
    case kExtern: return external(op);
    case kDotScaled: return dot_scaled(op);
    case kMakeDescriptor: return make_descriptor(op);
    case kDescriptorLoad: case kDescriptorStore: case kDescriptorGather: case kDescriptorScatter: case kDescriptorReduce: return descriptor(op);
    case kCall: return call_function(op);
    case kMapElementwise: return map_elementwise(op);
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
