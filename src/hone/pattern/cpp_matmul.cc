#include "hone/pattern/cpp_matmul.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/pattern/cpp_packer.h"
#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

std::string extent_text(const IntExpr& e) { return "(" + e.to_cpp() + ")"; }

/// "at + 3", "at - 3" or "at".
std::string moved_by(const std::string& at, int64_t offset) {
  return offset == 0 ? at : fmt::format("{} {} {}", at, offset < 0 ? '-' : '+', std::abs(offset));
}

/// Depth that a block packs where neighbours in memory lie across panels: as many streams as prefetchers follow. A multiple
/// of every group.
constexpr int kPackedLines = 8;

class MatmulWriter {
 public:
  MatmulWriter(const task::Task& task, const Contraction& found)
      : task_(task), found_(found), products_(products_for(found)), a_(task, found, products_, true), b_(task, found, products_, false),
        triangles_(products_.group == 1 && a_.in_segments() ? triangles_of(task, found) : ProductTriangles{}) {}

  [[nodiscard]] bool triangular() const { return triangles_.a || triangles_.b || triangles_.result; }

  /// Both factors packed first, by launches of their own.
  [[nodiscard]] Offer packed(CppWriter& writer) const {
    Slots slots = common(writer);
    const std::string batch = found_.batch.extent.to_string();
    slots["note"] = fmt::format("packed panels and register tiles{}; then {}", triangular() ? ", without what is zero" : "", writer.outline());
    slots["a_batch"] = found_.a.has(found_.batch) ? batch : "1";
    slots["b_batch"] = found_.b.has(found_.batch) ? batch : "1";
    slots["a_at"] = found_.a.has(found_.batch) ? "batch_at * " : "0 * ";
    slots["b_at"] = found_.b.has(found_.batch) ? "batch_at * " : "0 * ";
    // A triangle's blocks cost more and less: smaller ones are shared out evenly.
    slots["tall"] = triangular() ? "8, 4, 16, 1" : "16, 8, 4, 1, 32";
    slots["wide"] = triangular() ? "4, 8, 2, 16" : "8, 16, 4, 1";
    slots["a_grid"] = pack_grid(a_, found_.row.extent, "ROWS"), slots["b_grid"] = pack_grid(b_, found_.column.extent, "COLUMNS");
    slots["pack_a"] = pack_text(a_, found_.row.extent, "packed_a", "ROWS", triangles_.a);
    slots["pack_b"] = pack_text(b_, found_.column.extent, "packed_b", "COLUMNS", triangles_.b);
    slots["clip"] = clip();
    slots["clipped"] = triangular() ? ", clip_at" : "";
    const bool costly_last = triangles_.b && !triangles_.b->upper;
    slots["across"] = costly_last ? fmt::format("hone::ceil_div({}, WIDE * COLUMNS) - 1 - across_at", extent_text(found_.column.extent)) : "across_at";
    slots["epilogue"] = writer.row_prologue("row_at", "    ") + writer.pass_text(0, "    ", Span::kSlice);
    return offer("patterns/cpp/matmul.cc", slots, triangular() ? "pack and tile, skip zeros" : "pack and tile");
  }

  /// Each block packs what it needs, for a part of the depth.
  [[nodiscard]] Offer parts(CppWriter& writer) const {
    Slots slots = common(writer);
    slots["note"] = fmt::format("parts of the depth, packed by the blocks themselves; then {}", writer.outline());
    slots["pack_a"] = a_.text("      ");
    slots["pack_b"] = b_.text("      ");
    const std::string rows = found_.row.extent.to_string(), columns = found_.column.extent.to_string(), depth = found_.depth.extent.to_string();
    // As many as PARTS a thread asks for, and so many that none sums more than 32 segments.
    slots["parts"] = fmt::format("min(ceil_div({0}, DEPTH), max(ceil_div(PARTS * THREADS, ceil_div({1}, TALL * ROWS) * ceil_div({2}, WIDE * COLUMNS) * ({3})), "
                                 "ceil_div({0}, 32 * DEPTH)))", depth, rows, columns, found_.batch.extent.to_string());
    slots["packed_bytes"] = std::to_string(products_.sum_bytes / products_.group);
    slots["epilogue"] = writer.row_prologue("row_at", "    ") + writer.pass_text(0, "    ", Span::kSlice);
    return offer("patterns/cpp/matmul_parts.cc", slots, "split the depth");
  }

  [[nodiscard]] bool can_be_parts() const { return a_.in_segments() && !triangular(); }

 private:
  [[nodiscard]] Slots common(const CppWriter& writer) const {
    Slots slots;
    slots["requires"] = writer.requirements();
    slots["type"] = task::name_of(products_.packed);
    slots["sum_type"] = task::name_of(found_.accumulate);
    slots["bytes"] = std::to_string(products_.sum_bytes);
    // Two vectors and more of 64 bytes first, as 12 lines of them fill 24 of 32 registers; what a machine has no registers for, its constraints leave out.
    slots["wide_tiles"] = products_.sum_bytes == 8 ? "16, 24, 32, 8, 4" : "32, 48, 64, 16, 8";
    slots["scalar"] = products_.sum;
    slots["vector"] = products_.vector;
    slots["element"] = products_.element;
    slots["products"] = products_.type;
    slots["args"] = arguments_of(task_);
    slots["parameters"] = parameters_of(task_);
    slots["rows"] = found_.row.extent.to_string();
    slots["columns"] = found_.column.extent.to_string();
    slots["batch"] = found_.batch.extent.to_string();
    slots["depth"] = found_.depth.extent.to_string();
    slots["group"] = std::to_string(products_.group);
    slots["rows_cpp"] = extent_text(found_.row.extent);
    slots["columns_cpp"] = extent_text(found_.column.extent);
    slots["depth_cpp"] = extent_text(found_.depth.extent);
    slots["batch_cpp"] = extent_text(found_.batch.extent);
    slots["fence"] = "  if constexpr (STREAM) hone::stream_fence();\n";
    return slots;
  }

  /// Slots that a pattern has no use for are left out.
  static Offer offer(const char* pattern, Slots& slots, const char* action) {
    const bool parts = std::string_view(pattern).ends_with("parts.cc");
    if (parts) slots.erase("type"), slots.erase("group"), slots.erase("depth");
    else slots.erase("sum_type"), slots.erase("vector"), slots.erase("batch_cpp");
    kernel::Kernel kernel = finished(fill_pattern(pattern, slots), "matmul");
    kernel.header.action = action;
    return {std::move(kernel), "matmul", action};
  }

  /// Blocks of the launch that packs a factor: panels, or where these lie across memory segments of depth.
  static bool by_depth(const CppPacker& packer) { return packer.side_by_side() && packer.in_segments(); }
  [[nodiscard]] std::string pack_grid(const CppPacker& packer, const IntExpr& lines, const char* count) const {
    return by_depth(packer) ? fmt::format("ceil_div({}, {})", found_.depth.extent.to_string(), kPackedLines) : fmt::format("ceil_div({}, {})", lines.to_string(), count);
  }

  [[nodiscard]] std::string pack_text(const CppPacker& packer, const IntExpr& lines, const char* to, const char* count,
                                      const std::optional<task::Triangle>& triangle) const {
    const std::string all = extent_text(lines), depth = extent_text(found_.depth.extent);
    const bool segments = by_depth(packer);
    std::string out, indent = "  ";
    if (segments) {
      out += fmt::format("  for (int64_t first_at = 0; first_at < {0}; first_at += {1}) {{\n", all, count);
      indent = "    ";
    } else {
      out += fmt::format("  const int64_t first_at = block_at * {};\n", count);
    }
    out += fmt::format("{}const int64_t count_at = hone::min<int64_t>({}, {} - first_at);\n", indent, count, all);
    out += segments ? fmt::format("{0}{2}int64_t low_at = block_at * {3}, end_at = hone::min<int64_t>(low_at + {3}, {1});\n", indent, depth, triangle ? "" : "const ", kPackedLines)
                     : fmt::format("{0}[[maybe_unused]] {2}int64_t low_at = 0, end_at = {1};\n", indent, depth, triangle ? "" : "const ");
    if (triangle) {
      out += triangle->upper ? fmt::format("{}low_at = hone::max(low_at, {});\n", indent, moved_by("first_at", triangle->offset))
                             : fmt::format("{}end_at = hone::min(end_at, {});\n", indent, moved_by(fmt::format("first_at + {}", count), triangle->offset));
      out += fmt::format("{}if (low_at >= end_at) {};\n", indent, segments ? "continue" : "return");
    }
    out += fmt::format("{}[[maybe_unused]] const int64_t many_at = end_at - low_at;\n", indent);
    out += fmt::format("{}{}* to_at = {} + (batch_at * hone::align({}, {}) + first_at) * hone::align({}, {}) + low_at * {};\n", indent,
                       products_.element, to, all, count, depth, products_.group, count);
    out += packer.text(indent);
    return out + (segments ? "  }\n" : "");
  }

  /// The depth that a register tile needs, where triangles leave something out.
  [[nodiscard]] std::string clip() const {
    if (!triangular()) return {};
    std::string text = "  const auto clip_at = [&](int64_t row_at, int64_t column_at, hone::Segment now_at) HONE_BODY {\n"
                       "    row_at += first_at, column_at += start;\n";
    const auto factor = [&](const std::optional<task::Triangle>& t, const char* line, const char* lines, const char* name) {
      if (!t) return;
      text += t->upper ? fmt::format("    now_at.low = hone::max(now_at.low, {});  // {} is zero before\n", moved_by(line, t->offset), name)
                       : fmt::format("    now_at.end = hone::min(now_at.end, {});  // {} is zero from there\n",
                                     moved_by(fmt::format("{} + {}", line, lines), t->offset), name);
    };
    factor(triangles_.a, "row_at", "ROWS", "the left factor");
    factor(triangles_.b, "column_at", "COLUMNS", "the right factor");
    if (const auto& t = triangles_.result)
      text += fmt::format("    if ({}) now_at.end = now_at.low;  // nobody looks at it\n",
                          t->upper ? "column_at + COLUMNS <= " + moved_by("row_at", t->offset)
                                   : "column_at >= " + moved_by("row_at + ROWS", t->offset));
    return text + "    return now_at;\n  };\n";
  }

  const task::Task& task_;
  const Contraction& found_;
  CppProducts products_;
  CppPacker a_, b_;
  ProductTriangles triangles_;
};

/// Whether blocks had better pack for themselves: few blocks and much depth, or a factor that is used once or so.
bool wants_parts(const task::Task& task, const Contraction& found) {
  constexpr double kBlockRows = 192, kBlockColumns = 256, kFewBlocks = 4, kDeep = 2048, kFewLines = 48;
  return std::any_of(task.workloads.begin(), task.workloads.end(), [&](const task::Workload& w) {
    const auto at = [&](const IntExpr& e) {
      const auto v = e.eval(w.bindings);
      return v ? static_cast<double>(*v) : 1.0;
    };
    const double rows = at(found.row.extent), columns = at(found.column.extent), depth = at(found.depth.extent), batch = at(found.batch.extent);
    const double blocks = std::ceil(rows / kBlockRows) * std::ceil(columns / kBlockColumns) * batch;
    return (depth >= kDeep && blocks <= kFewBlocks) || (std::min(rows, columns) <= kFewLines && std::max(rows, columns) >= 4 * kBlockColumns);
  });
}

}  // namespace

Result<std::vector<Offer>> matmul_cpp(const task::Task& task, const Contraction& found) {
  if (found.accumulate == task::DType::kI32 && found.depth.letters.size() > 1) return fail(ErrorCode::kUnavailable, "a sum of i8 products over several axes");
  const bool wide = found.accumulate == task::DType::kF64;
  const auto writer = [&] { return CppWriter(found.program, wide ? Way::kVector64 : Way::kVector32, {}, {found.program.nest.graph->inputs.front()}); };
  CppWriter packed = writer(), parts = writer();
  if (!packed.vectorisable()) return fail(ErrorCode::kUnavailable, "the innermost axis is not contiguous in every tensor");
  const MatmulWriter text(task, found);
  std::vector<Offer> offers;
  if (text.can_be_parts() && wants_parts(task, found)) offers.push_back(text.parts(parts));
  offers.push_back(text.packed(packed));
  return offers;
}

}  // namespace hone::pattern
