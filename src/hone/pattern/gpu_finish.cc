#include "hone/pattern/gpu_finish.h"

#include <utility>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_finish_body.h"

namespace hone::pattern {
namespace {

using task::IntExpr;
using task::Node;
using task::Prim;

constexpr char kWhere[] = "int64_t line_at, int64_t column_at";

std::string indented(const std::string& lines) {
  std::string out;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at) + 1;
    out += "  " + lines.substr(at, end - at);
    at = end;
  }
  return out;
}

class Finish : FinishBody {
 public:
  explicit Finish(const Contraction& all, std::vector<std::string> places = {}) : FinishBody(all, std::move(places)) {}

  /// Of the one output; see value_text() of the header.
  Result<std::string> value_text(const std::string& name, const std::string& parameters) {
    const int root = nest_.graph->outputs.front();
    HONE_TRY(const std::string result, value(root));
    if (lines_of_row_.contains(result)) facts_.insert(result);
    for (const int axis : element_axes_) facts_.insert(fmt::format("at{}", axis));
    if (needs_line_) facts_.insert("line_at");
    std::string members, given, all;
    for (const std::string& fact : facts_) {
      const auto made = lines_of_row_.find(fact);
      const std::string type = made == lines_of_row_.end() ? "int64_t" : made->second;
      members += fmt::format("  {} {};\n", type, fact);
      given += fmt::format("  const {} {} = row_of.{};\n", type, fact, fact);
    }
    all = fmt::format("struct {0}_row {{\n{1}}};\n__device__ inline {0}_row {0}_row_of({2}, int64_t line_at) {{\n{3}{4}  return {{{5}}};\n}}\n", name, members, parameters,
                      row_positions(), row_lines_, fmt::join(facts_, ", "));
    return all + fmt::format("__device__ inline float {0}_of({1}, const {0}_row& row_of, int64_t column_at, float product_at) {{\n{2}{3}{4}  return {5};\n}}\n", name,
                             parameters, given, column_position(), lines_, result);
  }

  /// See words_text() of the header, and text().
  Result<std::string> words_text(const std::string& parameters, const std::string& where, const std::string& line) {
    in_words_ = true;
    const task::Graph& graph = *nest_.graph;
    std::string rooms, keep, stores;
    std::vector<std::string> asks;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      HONE_TRY(const std::string result, value(graph.outputs[i]));
      const std::string type = storage_type(program_.node(graph.outputs[i]).type.dtype);
      rooms += fmt::format("  hone::gpu::Words<{}, Many> out{}_at;\n", type, i);
      keep += fmt::format("    out{}_at[e_at] = hone::gpu::stored<{}>({});\n", i, type, result);
      const std::string to = fmt::format("{} + ({})", graph.output_names[i], place_of_output(graph.outputs[i]));
      stores += fmt::format("  out{}_at.template store<At>({});\n", i, to);
      asks.push_back(fmt::format("hone::gpu::Words<{}, Many>::on_word({})", type, to));
    }
    std::vector<std::string> loads;
    for (const auto& [words, from] : word_reads_) {
      loads.push_back(fmt::format("{}::template load<At>({})", words, from));
      asks.push_back(fmt::format("{}::on_word({})", words, from));
    }
    const auto column = column_axis();
    const std::string place = column && used_.contains(*column) ? fmt::format("    const int64_t at{} = column_at + e_at;\n", *column) : "";
    const std::string second = all_.second ? fmt::format(", const {} (&seconds_at)[Many]", sum_type()) : "";
    const std::string places = line + row_positions();
    const std::string reads = fmt::format("/// Whether all that is read and written of Many elements beside each other stands on boundaries of words.\n"
                                          "template <int Many>\n__device__ inline bool finish_on_words({0}, {1}) {{\n{2}  return {3};\n}}\n"
                                          "/// What else is read of them, ahead of its use.\n"
                                          "template <int Many>\nstruct finish_given {{\n{4}}};\n"
                                          "template <int Many, hone::gpu::Boundary At = hone::gpu::Boundary::kAsk>\n"
                                          "__device__ inline finish_given<Many> finish_reads({0}, {1}) {{\n{5}  return {{{6}}};\n}}\n",
                                          parameters, where, places, fmt::join(asks, " &&\n         "), fmt::join(word_members_, ""), loads.empty() ? "" : places,
                                          fmt::join(loads, ",\n          "));
    return reads + fmt::format("/// The same for them, written in words likewise.\n"
                               "template <int Many, hone::gpu::Boundary At = hone::gpu::Boundary::kAsk>\n"
                               "__device__ inline void finish_words({}, {}, const {} (&products_at)[Many]{}, [[maybe_unused]] const finish_given<Many>& given_at) {{\n{}{}{}{}"
                               "  HONE_UNROLL\n  for (int e_at = 0; e_at < Many; ++e_at) {{\n    const auto product_at = products_at[e_at];\n{}{}{}{}  }}\n{}}}\n",
                               parameters, where, sum_type(), second, line, row_positions(), row_lines_, rooms,
                               all_.second ? "    const auto second_at = seconds_at[e_at];\n" : "", place, indented(lines_), keep, stores);
  }

  /// `where`: the parameters that say where the element is; `line`: a statement that makes line_at of them.
  Result<std::string> text(const std::string& parameters, const std::string& where, const std::string& line) {
    const task::Graph& graph = *nest_.graph;
    std::string stores;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const int id = graph.outputs[i];
      HONE_TRY(const std::string result, value(id));
      const task::DType dtype = program_.node(id).type.dtype;
      const std::string at = place_of_output(id);
      const std::string& tensor = graph.output_names[i];
      stores += fmt::format("  {}[{}] = hone::gpu::stored<{}>({});\n", tensor, at, storage_type(dtype), result);
    }
    std::string all = fmt::format("/// The rest of the computation for the product's element at `column_at` of line `line_at`.\n"
                                  "__device__ inline void finish({}, {}, {} product_at{}) {{\n{}",
                                  parameters, where, sum_type(),
                                  all_.second ? fmt::format(", {} second_at", sum_type()) : "", line);
    return all + column_position() + row_positions() + row_lines_ + lines_ + stores + "}\n";
  }

 private:
  /// What the products come in.
  [[nodiscard]] std::string sum_type() const { return value_type(program_.node(nest_.graph->inputs.front()).type.dtype, Way::kThread); }
};

}  // namespace

Result<std::string> finish_text(const Contraction& contraction, const std::string& parameters) {
  if (contraction.accumulate == task::DType::kF64) return fail(ErrorCode::kUnavailable, "a product summed in f64");
  return Finish(contraction).text(parameters, kWhere, "");
}

Result<std::string> words_text(const Contraction& contraction, const std::string& parameters) {
  if (contraction.accumulate == task::DType::kF64) return fail(ErrorCode::kUnavailable, "a product summed in f64");
  return Finish(contraction).words_text(parameters, kWhere, "");
}

Result<std::string> value_text(const Contraction& contraction, const std::string& name, const std::string& parameters) {
  if (contraction.accumulate != task::DType::kF32) return fail(ErrorCode::kUnavailable, "a product summed in another type than f32");
  return Finish(contraction).value_text(name, parameters);
}

namespace {
/// The positions' names in [images, channels, space…], and the statement that makes a line of the first two.
struct Images {
  std::vector<std::string> places;
  std::string line;
};
constexpr char kWhereInImages[] = "int64_t image_at, int64_t channel_at, int64_t column_at";
Result<Images> images_of(const Contraction& contraction, const char* column) {
  if (contraction.accumulate != task::DType::kF32) return fail(ErrorCode::kUnavailable, "a product summed in another type than f32");
  const Program& program = contraction.program;
  const task::Dims& dims = program.node(program.nest.graph->inputs.front()).type.dims;
  Images images;
  const std::pair<const char*, IntExpr> axes[] = {{"image_at", dims[0]}, {"channel_at", dims[1]}, {column, contraction.column.extent}};
  for (const auto& [name, extent] : axes)
    if (!is_one(extent)) images.places.emplace_back(name);
  if (images.places.size() != program.row_axes.size() + program.inner_axes.size())
    return fail(ErrorCode::kUnavailable, "the rest of the computation runs over other axes");
  images.line = fmt::format("  const int64_t line_at = image_at * {} + channel_at;\n", wrapped(dims[1].to_cpp()));
  return images;
}
}  // namespace

Result<std::string> finish_text_of_images(const Contraction& contraction, const std::string& parameters) {
  HONE_TRY(const Images images, images_of(contraction, "column_at"));
  return Finish(contraction, images.places).text(parameters, kWhereInImages, images.line);
}

Result<std::string> words_text_of_images(const Contraction& contraction, const std::string& parameters) {
  HONE_TRY(const Images images, images_of(contraction, "(column_at + e_at)"));
  return Finish(contraction, images.places).words_text(parameters, kWhereInImages, images.line);
}

std::string finish_outline(const Contraction& contraction) {
  std::string text;
  for (const Node& node : contraction.program.nest.graph->nodes)
    if (task::is_elementwise(node.prim) && node.prim != Prim::kCast) text += fmt::format("{}, ", task::name_of(node.prim));
  text += "write ";
  const auto& names = contraction.program.nest.graph->output_names;
  for (size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
  return text;
}

}  // namespace hone::pattern
