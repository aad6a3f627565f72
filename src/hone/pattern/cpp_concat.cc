#include "hone/pattern/cpp_concat.h"

#include <set>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/pieces.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

namespace {

/// Pieces over the same rows, equally long, are made by one launch: what they share of the inputs is in the cache then.
struct Together {
  task::IntExpr rows = 1, length = 1;
  std::string body;
};

struct Written {
  std::vector<Together> groups;
  std::set<std::string> requirements;
  bool apart = false;   ///< some are stored element by element
};

Result<Written> write(const std::vector<JoinedPieces>& pieces) {
  Written all;
  for (const JoinedPieces& piece : pieces) {
    HONE_TRY(const Program program, find_program(piece.task, {.slices = true, .placed = piece.placed}));
    if (program.has_reductions()) return fail(ErrorCode::kUnavailable, "a piece is reduced, not element-wise");
    HONE_TRY(const Way way, way_for(program, true));
    CppWriter writer(program, way, {});
    all.requirements.insert(writer.requirements());
    all.apart = all.apart || (!writer.vectorisable() && !writer.stores_in_turns());
    const task::IntExpr rows = program.row_axes.empty() ? task::IntExpr(1) : program.rows(), length = program.row_length();
    if (all.groups.empty() || !(all.groups.back().rows == rows) || !(all.groups.back().length == length)) all.groups.push_back({rows, length, {}});
    std::string& body = all.groups.back().body;
    body += "    {\n" + writer.row_prologue("row", "      ");
    body += writer.pass_text(0, "      ", Span::kSlice) + "    }\n";
  }
  return all;
}

}  // namespace

Result<std::string> concat_cpp(const task::Task& task) {
  HONE_TRY(const std::vector<Piece> pieces, pieces_of(task));
  std::vector<JoinedPieces> each;
  for (const Piece& piece : pieces) each.push_back({piece.task, {piece.placed}});
  HONE_TRY(Written written, write(each));
  // Pieces that take turns are stored together, if they can be.
  if (written.apart)
    if (const auto joined = joined_pieces(task))
      if (auto together = write(*joined); together && !together->apart) written = std::move(*together);
  auto& [groups, requirements, apart] = written;
  std::string functions, launches;
  for (size_t k = 0; k < groups.size(); ++k) {
    const Together& group = groups[k];
    functions += fmt::format(
        "\nvoid pieces{0}({1}, int64_t chunk, int64_t block) {{\n  const int64_t start = chunk * CHUNK;\n"
        "  const int64_t count = hone::min<int64_t>(CHUNK, ({2}) - start);\n"
        "  const int64_t end = hone::min<int64_t>((block + 1) * ROWS, {3});\n"
        "  for (int64_t row = block * ROWS; row < end; ++row) {{\n{4}  }}\n  if constexpr (STREAM) hone::stream_fence();\n}}\n",
        k, parameters_of(task), group.length.to_cpp(), group.rows.to_cpp(), group.body);
    launches += fmt::format("[[launch]]\nkernel = \"pieces{}\"\ngrid   = [\"ceil_div({}, CHUNK)\", \"ceil_div({}, ROWS)\"]\nargs   = [{}]\n", k,
                            group.length.to_string(), group.rows.to_string(), arguments_of(task));
  }
  requirements.erase("");
  if (requirements.size() > 1) return fail(ErrorCode::kUnavailable, "pieces that require different things of the shapes");
  Slots slots;
  slots["note"] = fmt::format("{} pieces of {}, each in its place", pieces.size(), task.outputs.front().first);
  slots["requires"] = requirements.empty() ? "" : *requirements.begin();
  slots["tunables"] = "ROWS = [16, 64, 4, 1], CHUNK = [16384, 4096], UNROLL = [2, 4, 1], STREAM = [1, 0]";
  slots["launches"] = launches;
  slots["functions"] = functions;
  return fill_pattern("patterns/cpp/concat.cc", slots);
}

}  // namespace hone::pattern
