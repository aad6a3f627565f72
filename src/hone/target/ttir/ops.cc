// The table of operations, and what is looked up once for a function.
#include "hone/target/ttir/ops.h"

#include <cstdlib>

#include "hone/target/ttir/math.h"
#include "hone/target/ttir/program.h"

namespace hone::target::ttir {
namespace {

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
    {"arith.select", kSelect}, {"arith.extsi", kCast, kExtsi}, {"arith.extui", kCast, kExtui}, {"arith.trunci", kCast, kTrunci}, {"arith.sitofp", kCast, kSitofp}, {"arith.uitofp", kCast, kUitofp},
    {"arith.fptosi", kCast, kFptosi}, {"arith.fptoui", kCast, kFptoui}, {"arith.extf", kCast, kOfFloats}, {"arith.truncf", kCast, kOfFloats}, {"arith.bitcast", kCast, kBits}, {"arith.index_cast", kCast, kTrunci},
    {"tt.bitcast", kCast, kBits}, {"tt.fp_to_fp", kCast, kOfFloats}, {"tt.int_to_ptr", kCast, kAddress}, {"tt.ptr_to_int", kCast, kAddress}, {"arith.negf", kOne}, {"tt.precise_sqrt", kOne},
    {"math.fma", kFma}, {"math.absi", kAbsInt}, {"tt.get_program_id", kProgramId}, {"tt.get_num_programs", kNumPrograms}, {"tt.make_range", kRange},
    {"tt.splat", kSplat}, {"tt.unsplat", kUnsplat}, {"tt.expand_dims", kExpand}, {"tt.broadcast", kBroadcast}, {"tt.reshape", kReshape}, {"tt.trans", kTrans}, {"tt.cat", kCat},
    {"tt.join", kJoin}, {"tt.split", kSplit}, {"tt.addptr", kAddPointer}, {"tt.load", kLoad}, {"tt.store", kStore}, {"tt.atomic_rmw", kRmw}, {"tt.atomic_cas", kCas},
    {"tt.atomic_load", kAtomicLoad}, {"tt.atomic_store", kAtomicStore}, {"tt.dot", kDot}, {"tt.reduce", kReduce}, {"tt.scan", kScan}, {"tt.gather", kGather}, {"tt.histogram", kHistogram},
    {"tt.clampf", kClamp}, {"tt.extern_elementwise", kExtern}, {"tt.make_tensor_descriptor", kMakeDescriptor}, {"tt.descriptor_load", kDescriptorLoad},
    {"tt.descriptor_store", kDescriptorStore}, {"tt.descriptor_gather", kDescriptorGather}, {"tt.descriptor_scatter", kDescriptorScatter},
    {"tt.descriptor_reduce", kDescriptorReduce}, {"tt.dot_scaled", kDotScaled}, {"tt.call", kCall}, {"tt.map_elementwise", kMapElementwise}, {"tt.map_elementwise.return", kYield},
    {"scf.for", kFor}, {"scf.if", kIf}, {"scf.while", kWhile}, {"tt.return", kReturn}, {"scf.yield", kYield},
    {"tt.reduce.return", kYield}, {"tt.scan.return", kYield}, {"scf.condition", kCondition}, {"cf.br", kBranch}, {"cf.cond_br", kBranch}, {"tt.assert", kAssert},
    {"cf.assert", kAssert}, {"gpu.barrier", kNothing}, {"ttg.barrier", kNothing}, {"llvm.intr.assume", kNothing}, {"tt.grid_dependency_wait", kNothing},
    {"tt.grid_dependency_launch_dependents", kNothing}, {"ub.poison", kPoison},
};

std::string at_line(const Op& op) { return op.line ? " (line " + std::to_string(op.line) + ")" : ""; }

/// Names what is missing, in a region and those within.
std::string prepare_region(Region& region, const Module& module) {
  for (Block& block : region)
    for (Op& op : block.ops) {
      for (const Known& known : kOps)
        if (known.name == op.name) op.code = known.code, op.sub = known.sub;
      if (op.code == kCompareInt || op.code == kCompareFloat) op.sub = comparison(op);
      if ((op.code == kCompareInt || op.code == kCompareFloat) && op.sub == kNone) op.code = -1;
      if (op.code < 0 && op.name.starts_with("math.")) op.code = function_of_one(op.name) ? kOne : function_of_two(op.name) ? kTwo : -1;
      if (op.code < 0) return op.name + at_line(op);
      if (op.code == kExtern) {
        const std::string symbol = symbol_of(op);
        if (!is_external(symbol)) return "libdevice's " + symbol + at_line(op);
      }
      if (op.code == kCall) {
        op.callee = op.words.empty() ? nullptr : module.find(std::string_view(op.words[0]).substr(1));
        if (!op.callee || op.callee->types.size() != op.operands.size() || op.callee->results.size() != op.results.size()) return "function that a call names" + at_line(op);
      }
      if (op.code == kConstant) try {
          op.constant = std::make_shared<const Value>(constant_of(op));
        } catch (const Stop& stop) {
          return stop.text + at_line(op);
        }
      for (Region& inner : op.regions)
        if (std::string missing = prepare_region(inner, module); !missing.empty()) return missing;
    }
  return {};
}

}  // namespace

size_t attribute(const Op& op, std::string_view key) {
  const auto it = op.attributes.find(key);
  return it == op.attributes.end() ? 0 : static_cast<size_t>(std::strtoll(it->second.c_str(), nullptr, 10));
}

std::string prepare(Module& module) {
  for (Function& function : module.functions)
    if (std::string missing = prepare_region(function.body, module); !missing.empty()) return missing;
  return {};
}

}  // namespace hone::target::ttir
