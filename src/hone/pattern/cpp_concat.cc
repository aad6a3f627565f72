#include "hone/pattern/cpp_concat.h"

#include <set>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/pieces.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

Result<std::string> concat_cpp(const task::Task& task) {
  HONE_TRY(const std::vector<Piece> pieces, pieces_of(task));
  std::string functions, launches;
  std::set<std::string> requirements;
  for (size_t k = 0; k < pieces.size(); ++k) {
    const task::Task& piece = pieces[k].task;
    HONE_TRY(const Program program, find_program(piece, {.slices = true, .placed = {pieces[k].placed}}));
    if (program.has_reductions()) return fail(ErrorCode::kUnavailable, "a piece is reduced, not element-wise");
    HONE_TRY(const Way way, way_for(program));
    CppWriter writer(program, way, {});
    requirements.insert(writer.requirements());
    const std::string rows = program.row_axes.empty() ? "1" : program.rows().to_string();
    const std::string rows_cpp = program.row_axes.empty() ? "1" : program.rows().to_cpp();
    const task::IntExpr length = program.row_length();
    std::string body = writer.row_prologue("row", "    ");
    body += writer.pass_text(0, "    ", Span::kSlice);
    functions += fmt::format(
        "\nvoid piece{0}({1}, int64_t chunk, int64_t block) {{\n  const int64_t start = chunk * CHUNK;\n"
        "  const int64_t count = hone::min<int64_t>(CHUNK, ({2}) - start);\n"
        "  const int64_t end = hone::min<int64_t>((block + 1) * ROWS, {3});\n"
        "  for (int64_t row = block * ROWS; row < end; ++row) {{\n{4}  }}\n  if constexpr (STREAM) hone::stream_fence();\n}}\n",
        k, parameters_of(task), length.to_cpp(), rows_cpp, body);
    launches += fmt::format("[[launch]]\nkernel = \"piece{}\"\ngrid   = [\"ceil_div({}, CHUNK)\", \"ceil_div({}, ROWS)\"]\nargs   = [{}]\n", k,
                            length.to_string(), rows, arguments_of(task));
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
