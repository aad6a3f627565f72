// Scans in TileLang: patterns/tilelang/scans.py, and the steps of TileElements that a pass over scanned values takes.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "hone/pattern/template.h"
#include "hone/pattern/tilelang_patterns.h"
#include "hone/pattern/tilelang_text.h"
#include "hone/pattern/tilelang_tile.h"
#include "hone/pattern/triton_patterns.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::Node;
using task::Prim;

/// What running results are kept as: sums of exponentials as logarithms, which may be far from 0.
std::string kept_as(const Node& scan) { return scan.prim == Prim::kCumLogSumExp ? "float64" : tile_type(scan.type.dtype); }

int64_t bytes_kept(const Node& scan) { return scan.prim == Prim::kCumLogSumExp ? 8 : task::size_of(scan.type.dtype); }

/// What changes no result.
std::string unmoved_by(const Node& scan) {
  const std::string type = kept_as(scan);
  const bool most = scan.prim == Prim::kCumMax || scan.prim == Prim::kCumLogSumExp;
  if (scan.prim == Prim::kCumProd) return fmt::format("T.cast(1, \"{}\")", type);
  if (!most && scan.prim != Prim::kCumMin) return fmt::format("T.cast(0, \"{}\")", type);
  if (task::is_float(scan.type.dtype)) return fmt::format("{}T.infinity(\"{}\")", most ? "-" : "", type);
  return fmt::format("T.{}_value(\"{}\")", most ? "min" : "max", type);
}

/// What two results come to, one behind the other. Not of recurrences.
std::string both(const Node& scan, const std::string& before, const std::string& behind) {
  const bool real = task::is_float(scan.type.dtype);
  switch (scan.prim) {
    case Prim::kCumProd: return fmt::format("{} * {}", before, behind);
    case Prim::kCumMax: return fmt::format("{}({}, {})", real ? "greater" : "T.max", before, behind);
    case Prim::kCumMin: return fmt::format("{}({}, {})", real ? "less" : "T.min", before, behind);
    case Prim::kCumLogSumExp: return fmt::format("log_sum({}, {}, \"{}\")", before, behind, tile_type(scan.type.dtype));
    default: return fmt::format("{} + {}", before, behind);
  }
}

/// The place in shared memory of element j of a segment, in the order of the walk.
std::string place_walked(bool reverse) { return reverse ? "BLOCK - 1 - j + (BLOCK - 1 - j) // EACH" : "j + j // EACH"; }

std::vector<int> all_scans(const Program& program) {
  std::vector<int> all;
  const auto& nodes = program.nest.graph->nodes;
  for (size_t id = 0; id < nodes.size(); ++id)
    if (task::is_scan(nodes[id].prim)) all.push_back(static_cast<int>(id));
  return all;
}

}  // namespace

std::string TileElements::scan_memory(const std::string& indent) {
  std::string text;
  if (along_.size() != 1) refuse("a scan over several axes");
  const std::vector<int> all = all_scans(program_);
  for (const int id : all) {
    const Node& node = program_.node(id);
    const bool reverse = node.attr<bool>("reverse");
    if (task::size_of(node.type.dtype) < 4) refuse("a scan of less than 32 bits");
    if (reverse != program_.node(all.front()).attr<bool>("reverse")) refuse("scans in both directions");
    const std::string type = kept_as(node);
    text += fmt::format("{0}s{1} = T.alloc_shared(({2}), \"{3}\")\n{0}t{1} = T.alloc_shared((2, {4}), \"{3}\")\n{0}c{1} = T.alloc_shared((2, ROWS), \"{3}\")\n"
                        "{0}u{1} = T.alloc_local((1,), \"{3}\")\n", indent, id, cell("ROWS", "WIDE"), type, cell("ROWS", "PIECES"));
    if (node.prim == Prim::kLinearScan)
      text += fmt::format("{0}f{1} = T.alloc_shared(({2}), \"{3}\")\n{0}g{1} = T.alloc_shared((2, {4}), \"float64\")\n{0}w{1} = T.alloc_local((1,), \"float64\")\n",
                          indent, id, cell("ROWS", "WIDE"), type, cell("ROWS", "PIECES"));
    if (node.attr<bool>("exclusive")) text += fmt::format("{0}x{1} = T.alloc_local((1,), \"{2}\")\n", indent, id, type);
    const std::string found = fmt::format("s{}[{}]", id, cell("i", place_walked(reverse)));
    bound_[id] = type == tile_type(node.type.dtype) ? found : fmt::format("T.cast({}, \"{}\")", found, tile_type(node.type.dtype));
  }
  return text;
}

std::pair<int64_t, int64_t> TileElements::scan_bytes() const {
  std::pair<int64_t, int64_t> all;
  for (const int id : all_scans(program_)) {
    const Node& node = program_.node(id);
    const bool pair = node.prim == Prim::kLinearScan;
    all.first += bytes_kept(node) * (pair ? 2 : 1);
    all.second += 2 * (bytes_kept(node) + (pair ? 8 : 0));
  }
  return all;
}

std::vector<int> TileElements::scans_below(const std::vector<int>& roots) const {
  std::set<int> seen, found;
  std::vector<int> work = roots;
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    const Node& node = program_.node(id);
    if (task::is_reduction(node.prim) || !seen.insert(id).second) continue;
    if (task::is_scan(node.prim)) found.insert(id);
    work.insert(work.end(), node.operands.begin(), node.operands.end());
  }
  return {found.begin(), found.end()};
}

/// A segment of one scan: its elements, what each piece comes to, what all before it come to, running results.
std::string TileElements::scan_step(int id, const std::string& rows, const std::string& length, const std::string& indent) {
  const Node& node = program_.node(id);
  const bool reverse = node.attr<bool>("reverse"), exclusive = node.attr<bool>("exclusive"), pair = node.prim == Prim::kLinearScan;
  const std::string inner = indent + "        ", type = kept_as(node), neutral = unmoved_by(node), s = fmt::format("s{}", id), t = fmt::format("t{}", id), u = fmt::format("u{}[0]", id);
  const std::string at = cell("i", place_walked(reverse)), piece = cell("i", "p"), earlier = cell("i", "T.max(p - (1 << turn), 0)"), walked = cell("i", "p * (EACH + 1) + k");
  const std::string pieces = across_ ? "for p, i in T.Parallel(PIECES, ROWS):" : "for i, p in T.Parallel(ROWS, PIECES):";
  begin(inner);
  std::string lines = positions(kept_, "row", inner) + positions(along_, "at", inner);
  const int values = node.operands.back();
  const std::string value = element(values), factor = pair ? element(node.operands[0]) : "";
  const std::string taken = node.prim == Prim::kCumLogSumExp ? fmt::format("T.cast({}, \"float64\")", value) : tile_cast(value, program_.node(values).type.dtype, node.type.dtype, false);
  lines += text_of_body() + fmt::format("{}{}[{}] = {}\n", inner, s, at, taken);
  std::string nothing = fmt::format("{}{}[{}] = {}\n", inner, s, at, neutral);
  if (pair) {
    // The first result is its value, whatever its factor.
    const std::string first = reverse ? length + " - 1" : "0";
    lines += fmt::format("{0}f{1}[{2}] = T.if_then_else(at == {3}, T.cast(0, \"{4}\"), {5})\n", inner, id, at, first, type, tile_cast(factor, program_.node(node.operands[0]).type.dtype, node.type.dtype, false));
    nothing += fmt::format("{}f{}[{}] = T.cast(1, \"{}\")\n", inner, id, at, type);
  }
  std::string text = fmt::format("{0}{1}\n{0}    row = block * ROWS + i\n{0}    at = segment * BLOCK + j\n{0}    if row < {2} and at < {3}:\n{4}{0}    else:\n{5}",
                                 indent, tiles(), rows, length, lines, nothing);
  const std::string element = fmt::format("{}[{}]", s, walked);
  const std::string next = pair ? fmt::format("f{}[{}] * {} + {}", id, walked, u, element) : both(node, u, element);
  // What pieces come to, and what all up to each do.
  const std::string deep = indent + "    ", one = deep + "    ";
  text += fmt::format("{0}if PIECES > 1:\n{1}{2}\n{3}{4} = T.if_then_else(p == 0, c{5}[step % 2, i], {6})\n", indent, deep, pieces, one, u, id, neutral);
  if (pair) text += fmt::format("{}w{}[0] = T.cast(1, \"float64\")\n", one, id);
  text += fmt::format("{0}for k in T.serial(EACH):\n{0}    {1} = {2}\n", one, u, next);
  if (pair) text += fmt::format("{0}    w{1}[0] = both_factors(w{1}[0], T.cast(f{1}[{2}], \"float64\"))\n", one, id, walked);
  text += fmt::format("{}{}[0, {}] = {}\n", one, t, piece, u);
  if (pair) text += fmt::format("{0}g{1}[0, {2}] = w{1}[0]\n", one, id, piece);
  const std::string mine = fmt::format("{}[turn % 2, {}]", t, piece), others = fmt::format("{}[turn % 2, {}]", t, earlier);
  const std::string my_factor = fmt::format("g{}[turn % 2, {}]", id, piece), their_factor = fmt::format("g{}[turn % 2, {}]", id, earlier);
  const std::string joined = pair ? fmt::format("T.cast({} * T.cast({}, \"float64\"), \"{}\") + {}", my_factor, others, type, mine) : both(node, others, mine);
  text += fmt::format("{0}for turn in TURNS:\n{0}    {1}\n{0}        {2}[(turn + 1) % 2, {3}] = T.if_then_else(p >= 1 << turn, {4}, {5})\n", deep, pieces, t, piece, joined, mine);
  if (pair) text += fmt::format("{}        g{}[(turn + 1) % 2, {}] = T.if_then_else(p >= 1 << turn, both_factors({}, {}), {})\n", deep, id, piece, their_factor, my_factor, my_factor);
  text += fmt::format("{0}{1}\n{2}{3} = T.if_then_else(p == 0, c{4}[step % 2, i], {5}[len(TURNS) % 2, {6}])\n", indent, pieces, deep, u, id, t, cell("i", "T.max(p - 1, 0)"));
  text += fmt::format("{}for k in T.serial(EACH):\n", deep);
  if (exclusive) {
    // The element gives way to what was before it.
    text += fmt::format("{0}x{1}[0] = {2}\n{0}{2} = {3}\n{0}{3} = {4}\n", one, id, element, u, both(node, u, fmt::format("x{}[0]", id)));
  } else {
    text += fmt::format("{0}{1} = {2}\n{0}{3} = {1}\n", one, u, next, element);
  }
  return text + fmt::format("{0}if p == PIECES - 1:\n{0}    c{1}[(step + 1) % 2, i] = {2}\n", deep, id, u);
}

std::string TileElements::loop(const std::string& rows, const std::string& length, const std::string& indent, const std::string& body, const std::vector<int>& scans) {
  std::string text, steps;
  for (const int id : scans) {
    text += fmt::format("{}T.fill(c{}, {})\n", indent, id, unmoved_by(program_.node(id)));
    steps += scan_step(id, rows, length, indent + "    ");
  }
  const bool reverse = !scans.empty() && program_.node(scans.front()).attr<bool>("reverse");
  text += fmt::format("{}for {} in T.serial(T.ceildiv({}, BLOCK)):\n", indent, scans.empty() ? "segment" : "step", length);
  // From one step to the next threads may have other places, which TileLang does not see (the sort's steps raced so).
  if (!scans.empty()) text += indent + "    T.sync_threads()\n";
  if (!scans.empty()) text += fmt::format("{}    segment = {}\n", indent, reverse ? fmt::format("T.ceildiv({}, BLOCK) - 1 - step", length) : "step");
  return text + steps + fmt::format("{0}    {1}\n{0}        row = block * ROWS + i\n{0}        at = segment * BLOCK + j\n{0}        if row < {2} and at < {3}:\n{4}", indent, tiles(), rows, length, body);
}

namespace tile {

Result<kernel::Kernel> scans(const Program& program) {
  /// Elements of a block's segment.
  constexpr int64_t kTile = 4096;
  TritonParameters parameters("=");
  TileElements elements(program, program.row_axes, program.inner_axes, parameters);
  // Down columns: neighbours in a line of memory are different lines of the scan. Sums of threads lie along rows.
  const bool across = !program.row_axes.empty() && program.row_axes.back() == program.nest.order.back() && !program.has_reductions();
  if (across) elements.go_across();
  const std::string rows = parameters.extent(program.rows()), length = parameters.extent(program.row_length()), indent(12, ' ');
  Slots slots;
  slots["body"] = elements.scan_memory(indent);
  for (size_t pass = 0; elements.obstacle().empty() && pass < program.passes.size(); ++pass) slots["body"] += elements.pass(pass, rows, length, indent);
  slots["body"] += elements.row_stores(rows, indent);
  if (!elements.obstacle().empty()) return fail(ErrorCode::kUnavailable, elements.obstacle());
  const auto [line_bytes, total_bytes] = elements.scan_bytes();
  slots["rows_name"] = rows;
  slots["functions"] = tile_functions(slots["body"]);
  slots["note"] = fmt::format("scans {}: {}", across ? "down columns" : "along rows", program.outline());
  slots["requires"] = elements.requirements();
  slots["line_bytes"] = std::to_string(line_bytes);
  slots["total_bytes"] = std::to_string(total_bytes);
  const int64_t lines = triton::largest(*program.task, program.rows()), longest = triton::largest(*program.task, program.row_length());
  // Rows are read by what lies side by side in them; columns by 32 of them.
  const int64_t block = triton::covering(longest, 8, across ? 64 : 2048);
  const int64_t together = triton::covering(lines, 1, across ? 32 : std::clamp<int64_t>(kTile / 2 / block, 1, 32));
  const int64_t threads = block * together >= 1024 ? 256 : 128;
  // Each piece is some elements long, and there are threads for all of them.
  const int64_t pieces = std::clamp<int64_t>(threads / together, 1, std::max<int64_t>(1, block / 4));
  slots["rows_choices"] = triton::around(together, 1, across ? 128 : 32);
  slots["block_choices"] = triton::around(block, 8, 4096);
  slots["pieces_choices"] = triton::around(pieces, 1, 256);
  slots["threads_choices"] = threads == 256 ? "256, 128, 512" : "128, 64, 256";
  HONE_TRY_VOID(say_parameters(slots, *program.task, parameters, {"ROWS", "BLOCK", "PIECES", "THREADS"}));
  return finished(fill_pattern("patterns/tilelang/scans.py", slots), "scans");
}

}  // namespace tile
}  // namespace hone::pattern
