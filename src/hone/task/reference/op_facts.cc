#include "hone/task/reference/op_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "hone/task/graph/attr_text.h"
#include "hone/task/graph/build.h"

namespace hone::task {
namespace {

constexpr std::array kFloats{DType::kF64, DType::kF32, DType::kBF16, DType::kF16};
constexpr std::array kIntegers{DType::kI64, DType::kI32, DType::kI16, DType::kI8};
constexpr std::array kBools{DType::kBool};

struct DTypeKind {
  std::string_view name;
  std::span<const DType> types;
};
constexpr std::array<DTypeKind, 3> kKinds{DTypeKind{"floats", kFloats}, {"integers", kIntegers}, {"bool", kBools}};

std::pair<std::string, TensorType> example_input(const std::string& text) {
  const size_t colon = text.find(':');
  HONE_CHECK(colon != std::string::npos, text);
  const auto type = TensorType::parse(std::string_view(text).substr(colon + 1));
  HONE_CHECK(type.has_value(), text);
  return {text.substr(0, colon), *type};
}

/// The type that the data of an example has.
DType main_type(const std::vector<std::pair<std::string, TensorType>>& inputs) {
  for (const DType wanted : {DType::kF32, DType::kI64})
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const auto& input) { return input.second.dtype == wanted; }))
      return wanted;
  return DType::kBool;
}

/// The results' types where the op takes `type`.
std::optional<std::vector<DType>> results_for(const Op& op, DType type) {
  const auto graph = example_graph(op, type);
  if (!graph) return std::nullopt;
  std::vector<DType> results;
  for (const int id : graph->outputs) results.push_back(graph->node(id).type.dtype);
  return results;
}

using Results = std::vector<std::pair<DType, std::vector<DType>>>;  ///< by the type taken

/// "" where the type stays, " -> f32" where it is the same for all, " -> T, i64" where one of several
/// results follows the type taken; none where no one text does for all.
std::optional<std::string> common_text(const Results& found) {
  std::string text;
  bool same = true;
  for (size_t i = 0; i < found[0].second.size(); ++i) {
    const bool follows =
        std::all_of(found.begin(), found.end(), [&](const auto& f) { return f.second[i] == f.first; });
    const DType first = found[0].second[i];
    if (!follows &&
        std::any_of(found.begin(), found.end(), [&](const auto& f) { return f.second[i] != first; }))
      return std::nullopt;
    same = same && follows;
    text += (i == 0 ? " -> " : ", ") + std::string(follows ? "T" : name_of(first));
  }
  return same ? "" : text;
}

struct Group {
  std::string text;  ///< "floats", or the names one by one
  std::string result;
};

/// One group where all types of a kind fare alike, else one a type.
void add_groups(const Op& op, const DTypeKind& kind, std::vector<Group>& groups) {
  Results found;
  for (const DType type : kind.types)
    if (auto results = results_for(op, type)) found.emplace_back(type, std::move(*results));
  if (found.empty()) return;
  const auto text = common_text(found);
  if (found.size() == kind.types.size() && text) {
    groups.push_back({std::string(kind.name), *text});
    return;
  }
  for (const auto& one : found) groups.push_back({std::string(name_of(one.first)), *common_text({one})});
}

/// The text for all types at once, where one does.
std::optional<std::string> any_text(const Op& op) {
  Results found;
  for (const DTypeKind& kind : kKinds)
    for (const DType type : kind.types) {
      auto results = results_for(op, type);
      if (!results) return std::nullopt;
      found.emplace_back(type, std::move(*results));
    }
  return common_text(found);
}

std::string type_list(const Graph& graph) {
  std::vector<std::string> types;
  for (const int id : graph.outputs) types.push_back(graph.node(id).type.to_string());
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string also_text(const Op& op) {
  return op.aliases.empty() ? "" : fmt::format("`{}`", fmt::join(op.aliases, "`, `"));
}

std::string in_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

}  // namespace

Result<Graph> example_graph(const Op& op, std::optional<DType> change) {
  const OpExample example = example_of(op);
  std::vector<std::pair<std::string, TensorType>> inputs;
  for (const std::string& text : example.inputs) inputs.push_back(example_input(text));
  const DType data = main_type(inputs);
  std::vector<DeclaredInput> declared;
  for (auto& [name, type] : inputs) {
    if (change && type.dtype == data) type.dtype = *change;
    declared.push_back({name, type, ""});
  }
  // Of several results each gets a name; how many there are only the call itself tells.
  for (int results = 1; results <= 4; ++results) {
    std::vector<std::string> names;
    for (int i = 0; i < results; ++i) names.push_back(fmt::format("result{}", i));
    const auto program = parse_program(fmt::format("{} = {}", fmt::join(names, ", "), example.call));
    HONE_CHECK(program.has_value(), example.call);
    auto graph = build_graph(*program, declared, names);
    if (graph) return std::move(*graph);
    if (op.results == nullptr) return tl::unexpected(graph.error().error);
  }
  return fail(ErrorCode::kInput,
              fmt::format("{} does not take {}", op.name, change ? name_of(*change) : "its example"));
}

std::string types_text(const Op& op) {
  const bool takes_tensor = std::any_of(op.params.begin(), op.params.end(), [](const Param& p) {
    return p.kind == ParamKind::kTensor || p.kind == ParamKind::kTensors;
  });
  if (!takes_tensor) return "-";
  if (op.name == "cast") return "any -> dtype";
  if (const auto all = any_text(op)) return "any" + *all;
  std::vector<Group> groups;
  for (const DTypeKind& kind : kKinds) add_groups(op, kind, groups);
  HONE_CHECK(!groups.empty(), op.name);
  std::string text;
  for (size_t i = 0; i < groups.size(); ++i) {
    text += groups[i].text;
    const bool last = i + 1 == groups.size() || groups[i + 1].result != groups[i].result;
    text += last ? groups[i].result + (i + 1 == groups.size() ? "" : "; ") : ", ";
  }
  return text;
}

std::string default_text(const Param& param) {
  if (!param.optional) return "";
  if (!param.fallback) return "none";
  if (param.kind == ParamKind::kDType) return std::get<std::string>(*param.fallback);
  const auto* list = std::get_if<std::vector<int64_t>>(&*param.fallback);
  if (list != nullptr && list->size() == 1) return std::to_string(list->front());
  return attr_text(*param.fallback);
}

std::string op_text(const Op& op) {
  std::string text = fmt::format("{}\n  {}\n\n  {}", op.signature, op.doc, op.family);
  if (!op.aliases.empty()) text += fmt::format("; also called {}", fmt::join(op.aliases, ", "));
  text += fmt::format("\n  types: {}\n\n  parameters\n", types_text(op));
  size_t width = 0;
  for (const Param& param : op.params) width = std::max(width, param.name.size());
  for (const Param& param : op.params)
    text += fmt::format("    {:{}}  {}{}\n", param.name, width, meaning_of(param.kind),
                        param.optional ? fmt::format("; {} if left out", default_text(param)) : "");
  const OpExample example = example_of(op);
  const auto graph = example_graph(op);
  HONE_CHECK(graph.has_value(), op.name);
  text += fmt::format("\n  example, with {}\n    {}\n    is {}\n\n  in primitives\n",
                      fmt::join(example.inputs, ", "), example.call, type_list(*graph));
  const std::string primitives = lower(*graph).to_string();
  for (size_t at = 0; at < primitives.size();) {
    const size_t end = primitives.find('\n', at);
    text += "    " + primitives.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

std::string ops_used_text(const Graph& surface) {
  std::string text;
  std::set<const Op*> told;
  for (const Node& node : surface.nodes) {
    const Op* const op = find_op(node.op);
    if (!op || std::ranges::none_of(op->params, &Param::optional)) continue;
    if (told.insert(op).second) text += fmt::format("- {}: {}\n", op->signature, op->doc);
  }
  return text;
}

std::string op_table_text() {
  std::string text;
  for (const auto& [family, ops] : ops_by_family()) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", family);
    for (const Op* op : ops)
      text += fmt::format("  {}\n      {}  [{}]\n", op->signature, op->doc, types_text(*op));
  }
  return text + "\nhone ops NAME says more of one; docs/language.md explains the columns.\n";
}

std::string op_table_markdown() {
  std::string page;
  for (const auto& [family, ops] : ops_by_family()) {
    page += fmt::format("### {}\n\n| operation | element types | meaning |\n| --- | --- | --- |\n", family);
    for (const Op* op : ops) {
      const std::string also = also_text(*op);
      page += fmt::format("| `{}` | {} | {}{} |\n", op->signature, types_text(*op), in_cell(op->doc),
                          also.empty() ? "" : " Also " + also + ".");
    }
    page += "\n";
  }
  return page;
}

}  // namespace hone::task
