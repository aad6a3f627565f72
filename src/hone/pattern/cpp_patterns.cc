#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "hone/pattern/contraction.h"
#include "hone/pattern/cpp_concat.h"
#include "hone/pattern/cpp_conv.h"
#include "hone/pattern/cpp_matmul.h"
#include "hone/pattern/cpp_pool.h"
#include "hone/pattern/cpp_sort.h"
#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/library.h"
#include "hone/pattern/names.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/parts.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/pool_counts.h"
#include "hone/pattern/sorting.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::IntExpr;
using task::Node;

std::string fence(const CppWriter& writer) {
  return writer.stores_elements() ? "  if constexpr (STREAM) hone::stream_fence();\n" : "";
}

/// Rows of up to so many elements wait for their sums longer than for memory.
constexpr int64_t kBriefRow = 1024;

Result<kernel::Kernel> rows(const Program& program, Way way, bool keep) {
  CppWriter writer(program, way, keep ? program.worth_keeping() : std::vector<int>{});
  const size_t passes = program.passes.size();
  const bool in_step = passes > 1 && !program.row_axes.empty();
  std::string body = in_step ? fmt::format("  hone::rows_in_step<TOGETHER, {}>(block * ROWS, end, {} <= {}, [&](int64_t row, [[maybe_unused]] int64_t slot) HONE_BODY {{\n",
                                           passes - 1, program.row_length().to_cpp(), kBriefRow)
                             : "  for (int64_t row = block * ROWS; row < end; ++row) {\n";
  std::string indent = "    ";
  body += writer.row_prologue("row", indent) + writer.keep_prologue(indent, in_step ? "slot" : "");
  for (size_t pass = 0; pass < passes; ++pass) {
    if (in_step && pass > 0) body += indent + "return [=]() HONE_BODY {\n", indent += "  ";
    body += writer.pass_text(pass, indent);
  }
  body += writer.row_stores(indent);
  for (; indent.size() > 4; body += indent + "};\n") indent.resize(indent.size() - 2);
  body += in_step ? "  });\n" : "  }\n";
  const bool stores = writer.stores_elements();
  const IntExpr shared = writer.keep_bytes() * (in_step ? IntExpr::symbol("TOGETHER") : IntExpr(1));
  const bool needs_shared = keep && !(shared.is_constant() && shared.constant() == 0);
  Slots slots;
  slots["pattern"] = "rows";
  slots["note"] = "a row at a time: " + writer.outline() + (keep ? "; keeps what is dear to compute twice" : "");
  slots["requires"] = writer.requirements();
  slots["tunables"] = std::string("ROWS = [16, 64, 4, 1], UNROLL = [4, 2, 1, 8], AHEAD = [1, 0, 2]") + (in_step ? ", TOGETHER = [2, 1, 4]" : "") +
                      (stores ? ", STREAM = [1, 0]" : "");
  slots["rows"] = program.rows().to_string();
  slots["args"] = writer.arguments() + (needs_shared ? ", \"shared\"" : "");
  slots["shared"] = needs_shared ? fmt::format("shared = \"{}\"\n", shared.to_string()) : "";
  slots["parameters"] = writer.parameters() + (needs_shared ? ", void* shared" : "");
  slots["rows_cpp"] = fmt::format("({})", program.rows().to_cpp());
  slots["body"] = body;
  slots["fence"] = fence(writer);
  return finished(fill_pattern("patterns/cpp/rows.cc", slots), "rows");
}

Result<kernel::Kernel> map(const Program& program, Way way) {
  CppWriter writer(program, way, {});
  const bool outer = !program.row_axes.empty();
  const IntExpr length = program.row_length();
  std::string body = writer.row_prologue("row", "  ");
  const std::string pass = writer.pass_text(0, "  ", Span::kSlice);
  Slots slots;
  slots["note"] = "element by element: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = "CHUNK = [16384, 4096, 65536], UNROLL = [4, 2, 1, 8], AHEAD = [0, 2], STREAM = [1, 0]";
  slots["length"] = length.to_string();
  slots["outer_grid"] = outer ? fmt::format(", \"{}\"", program.rows().to_string()) : "";
  slots["args"] = writer.arguments();
  slots["parameters"] = writer.parameters();
  slots["outer_parameter"] = outer ? ", int64_t row" : "";
  slots["length_cpp"] = fmt::format("({})", length.to_cpp());
  slots["body"] = body + pass + writer.row_stores("  ");
  slots["fence"] = fence(writer);
  return finished(fill_pattern("patterns/cpp/map.cc", slots), "map");
}

/// A reduction split between blocks: launch p runs pass p on a chunk of each row and leaves partial
/// results, which every block of the next launch combines for itself.
Result<kernel::Kernel> split(const Program& program, Way way) {
  if (program.inner_axes.size() != 1)
    return fail(ErrorCode::kUnavailable, "the reduced axes are not one segment of memory");
  std::string partials, partial_args, functions, launches;
  std::vector<int> reductions;
  for (const Pass& pass : program.passes)
    for (const int id : pass.reductions) {
      const Node& node = program.node(id);
      if (node.prim == task::Prim::kArgMax || node.prim == task::Prim::kArgMin)
        return fail(ErrorCode::kUnavailable, "an index cannot be combined without its value");
      reductions.push_back(id);
      const bool real = task::is_float(node.type.dtype);
      partials += fmt::format("{}part{} = \"{}[{}, CHUNKS]\"", partials.empty() ? "" : ", ", id, real ? "f64" : "i64", program.rows().to_string());
      partial_args += fmt::format(", \"part{}\"", id);
    }
  const auto partial_parameters = [&] {
    std::string text;
    for (const int id : reductions)
      text += fmt::format(", [[maybe_unused]] {}* part{}", task::is_float(program.node(id).type.dtype) ? "double" : "int64_t", id);
    return text;
  };
  const auto reducer = [&](int id) {
    switch (program.node(id).prim) {
      case task::Prim::kSum: return "hone::Sum";
      case task::Prim::kProd: return "hone::Prod";
      case task::Prim::kMax: case task::Prim::kAny: return "hone::Max";
      default: return "hone::Min";
    }
  };
  const std::string length = program.row_length().to_cpp();
  // Row values of the passes before `pass`, combined from their partial results.
  const auto combined = [&](CppWriter& writer, size_t pass) {
    std::string text;
    for (size_t p = 0; p < pass; ++p)
      for (const int id : program.passes[p].reductions) {
        const bool boolean = program.node(id).type.dtype == task::DType::kBool;
        text += fmt::format("  [[maybe_unused]] const auto v{0} = hone::combine<{1}>(part{0} + row * CHUNKS, CHUNKS){2};\n", id, reducer(id), boolean ? " != 0" : "");
        writer.adopt(id, fmt::format("v{}", id));
      }
    return text;
  };
  std::string signature;
  bool stores = false;
  for (size_t p = 0; p < program.passes.size(); ++p) {
    CppWriter writer(program, way, {});
    if (p == 0) signature = writer.parameters() + partial_parameters();
    std::string body = writer.row_prologue("row", "  ");
    body += combined(writer, p);   // before the pass's text, which refers to these values
    body += writer.pass_text(p, "  ", Span::kSlice);
    for (const int id : program.passes[p].reductions) body += fmt::format("  part{0}[row * CHUNKS + chunk] = v{0};\n", id);
    if (!program.passes[p].stores.empty()) body += "  if constexpr (STREAM) hone::stream_fence();\n", stores = true;
    functions += fmt::format(
        "\nvoid pass{}({}, int64_t chunk, int64_t row) {{\n  const int64_t start = chunk_start({}, chunk);\n"
        "  const int64_t count = chunk_start({}, chunk + 1) - start;\n{}}}\n",
        p, signature, length, length, body);
    launches += fmt::format("[[launch]]\nkernel = \"pass{}\"\ngrid   = [\"CHUNKS\", \"{}\"]\nargs   = [{}{}]\n", p,
                            program.rows().to_string(), writer.arguments(), partial_args);
  }
  CppWriter writer(program, way, {});
  if (!program.row_outputs.empty()) {
    std::string body = writer.row_prologue("row", "  ");
    body += combined(writer, program.passes.size());
    body += writer.row_stores("  ");
    functions += fmt::format("\nvoid finish({}, int64_t row) {{\n{}}}\n", signature, body);
    launches += fmt::format("[[launch]]\nkernel = \"finish\"\ngrid   = [\"{}\"]\nargs   = [{}{}]\n", program.rows().to_string(), writer.arguments(), partial_args);
  }
  Slots slots;
  slots["note"] = "rows in chunks: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = std::string("CHUNKS = [32, 8, 128, 2], UNROLL = [4, 2, 1, 8], AHEAD = [0, 2]") + (stores ? ", STREAM = [1, 0]" : "");
  slots["workspaces"] = partials;
  slots["launches"] = launches;
  slots["functions"] = functions;
  return finished(fill_pattern("patterns/cpp/split.cc", slots), "split");
}

Result<kernel::Kernel> columns(const Program& program, Way way) {
  if (!program.row_outputs.empty() || !program.outputs_have_columns()) return fail(ErrorCode::kUnavailable, "an output has no column");
  CppWriter writer(program, way, {});
  const bool outer = !program.row_axes.empty();
  const IntExpr& width = program.extent(program.inner_axes.back());
  std::string body = writer.row_prologue("row", "  ");
  for (size_t pass = 0; pass < program.passes.size(); ++pass) body += writer.column_pass_text(pass, "  ");
  body += writer.column_stores("  ");
  const bool stores = writer.stores_elements();
  Slots slots;
  slots["note"] = "a tile of columns at a time: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = std::string("WIDTH = [256, 64, 1024, 128, 512, 32]") + (stores ? ", STREAM = [1, 0]" : "");
  slots["columns"] = width.to_string();
  slots["outer_grid"] = outer ? fmt::format(", \"{}\"", program.rows().to_string()) : "";
  slots["args"] = writer.arguments();
  slots["parameters"] = writer.parameters();
  slots["outer_parameter"] = outer ? ", int64_t row" : "";
  slots["columns_cpp"] = fmt::format("({})", width.to_cpp());
  slots["body"] = body;
  slots["fence"] = fence(writer);
  return finished(fill_pattern("patterns/cpp/columns.cc", slots), "columns");
}

/// Offers of single patterns.
std::vector<Offer> direct_cpp_offers(const task::Task& given, std::vector<std::string>& why_not) {
  const task::Task task = with_pool_counts(given);
  std::vector<Offer> offers;
  if (const auto contraction = find_contraction(task); !contraction) {
    why_not.push_back("matmul: " + contraction.error().message);
  } else if (auto products = matmul_cpp(task, **contraction); !products) {
    why_not.push_back("matmul: " + products.error().message);
  } else {
    return std::move(*products);
  }
  const auto add = [&](const char* pattern, const char* action, Result<kernel::Kernel> kernel) {
    if (kernel) {
      kernel->header.action = action;
      offers.push_back({std::move(*kernel), pattern, action});
    } else {
      why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    }
  };
  add("conv", "pack patches and tile", conv_cpp(task));
  add("pool", "tap by tap", pool_cpp(task));
  if (has_sort(task.primitive)) {
    add("topk", "keep the first", topk_cpp(task));
    if (offers.empty()) add("sort", "sort rows", sort_cpp(task));
  }
  if (!offers.empty()) return offers;
  auto program = find_program(task, {.scans = true, .slices = true});
  if (!program) {
    why_not.push_back("rows, map: " + program.error().message);
    if (const auto source = concat_cpp(task)) offers.push_back({finished(*source, "concat"), "concat", "each piece in its place"});
    else why_not.push_back("concat: " + source.error().message);
    return offers;
  }
  auto way = way_for(*program);
  // What lies across is read across: written it is in order.
  if (!way) {
    program = find_program(task, {.scans = true, .by_outputs = true, .slices = true});
    if (program) way = way_for(*program);
  }
  if (!way) {
    why_not.push_back("rows, map: " + way.error().message);
    return offers;
  }
  const bool scans = program->has_scans();
  if (!program->has_reductions() && !scans) {
    add("map", "fuse into one loop", map(*program, *way));
  } else if (program->by_columns) {
    add("columns", "tiles of columns", columns(*program, *way));
  } else {
    if (!program->worth_keeping().empty()) add("rows", "keep in scratch", rows(*program, *way, true));
    add("rows", scans ? "scan" : "recompute", rows(*program, *way, false));
    if (!scans) add("split", "split rows between blocks", split(*program, *way));
  }
  return offers;
}

std::vector<Offer> direct_offers_of(const task::Task& task) {
  std::vector<std::string> ignored;
  return direct_cpp_offers(task, ignored);
}

bool has_direct_offer(const task::Task& task) { return !direct_offers_of(task).empty(); }

/// Whether all of its work comes from one operation of the computation as it was written: one place in the text.
bool is_one_operation(const task::Task& task) {
  std::set<std::pair<int, int>> places;
  for (const Node& node : task.primitive.nodes)
    if (task::is_elementwise(node.prim) ? node.prim != task::Prim::kCast : !node.operands.empty() && node.prim != task::Prim::kBroadcast &&
        node.prim != task::Prim::kReshape && node.prim != task::Prim::kTranspose)
      places.insert({node.where.line, node.where.column});
  return places.size() < 2 && has_direct_offer(task);
}

PartWriter part_writer(const Covered& covered) {
  return {covered, direct_offers_of, [](const task::Task& part) { return Offer{naive_kernel(part), "naive", "plain loops", 1}; }};
}

}  // namespace

std::vector<Offer> offers_cpp(const task::Task& given, std::vector<std::string>& why_not) {
  const Names names(given);
  const task::Task task = normal_form(names.task());
  std::vector<Offer> offers = direct_cpp_offers(task, why_not);
  if (offers.empty()) offers = offers_in_parts(task, part_writer(has_direct_offer));
  return names.given(std::move(offers));
}

Result<Offer> unfused_cpp(const task::Task& given) {
  const Names names(given);
  const task::Task task = normal_form(names.task());
  std::vector<Offer> offers = offers_of_parts(partition(task, is_one_operation, true), part_writer(is_one_operation));
  if (offers.empty()) return fail(ErrorCode::kUnavailable, "the task is one operation, or no pattern covers any of them");
  return names.given(std::move(offers)).front();
}

}  // namespace hone::pattern
