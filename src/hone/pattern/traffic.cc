#include "hone/pattern/traffic.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

bool names(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !in_word(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

/// What a line declares as a pointer that begins at `word` ("float* y_row = y + row * D;"); empty: it is no such line.
std::string alias_in(std::string_view line, std::string_view word) {
  const size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || !names(line.substr(equals), word)) return {};
  size_t begin = equals;
  while (begin > 0 && in_word(line[begin - 1])) --begin;
  return line.substr(0, begin).find('*') == std::string_view::npos ? std::string() : std::string(line.substr(begin, equals - begin));
}

/// Whether some line does more with `word` than to declare a pointer that no line uses.
bool uses(std::string_view text, std::string_view word) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!names(line, word)) continue;
    const std::string alias = alias_in(line, word);
    if (alias.empty() || alias == word || uses(text.substr(std::min(at, text.size())), alias)) return true;
  }
  return false;
}

struct Parameter {
  std::string name;
  bool constant = false;
};

struct FunctionText {
  std::vector<Parameter> parameters;
  std::string_view body;
};

Parameter parameter_of(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  size_t begin = text.size();
  while (begin > 0 && in_word(text[begin - 1])) --begin;
  return {std::string(text.substr(begin)), names(text, "const")};
}

/// Of `void NAME(…) {…}`, whose closing brace stands at the beginning of a line, as in all that patterns write; of
/// SPACE::NAME that one in the namespace.
Result<FunctionText> function_text(std::string_view source, const std::string& name) {
  const size_t colons = name.find("::");
  const size_t begin = colons == std::string::npos ? 0 : source.find("namespace " + name.substr(0, colons) + " {");
  const std::string head = "void " + (colons == std::string::npos ? name : name.substr(colons + 2)) + "(";
  const size_t at = begin == std::string_view::npos ? begin : source.find(head, begin);
  const size_t open = at == std::string_view::npos ? at : source.find(") {", at);
  const size_t end = open == std::string_view::npos ? open : source.find("\n}", open);
  if (end == std::string_view::npos) return fail(ErrorCode::kInput, fmt::format("the source has no function {}", name));
  FunctionText out;
  out.body = source.substr(open, end - open);
  const std::string_view list = source.substr(at + head.size(), open - at - head.size());
  int depth = 0;
  for (size_t from = 0, k = 0; k <= list.size(); ++k) {
    if (k < list.size() && (list[k] == '[' || list[k] == '<' || list[k] == '(')) ++depth;
    if (k < list.size() && (list[k] == ']' || list[k] == '>' || list[k] == ')')) --depth;
    if (k < list.size() && (list[k] != ',' || depth > 0)) continue;
    out.parameters.push_back(parameter_of(list.substr(from, k - from)));
    from = k + 1;
  }
  return out;
}

Result<double> bytes_of(const task::TensorType& type, const task::Bindings& bindings) {
  double bytes = static_cast<double>(task::size_of(type.dtype));
  for (const task::IntExpr& dim : type.dims) {
    HONE_TRY(const int64_t extent, dim.eval(bindings));
    bytes *= static_cast<double>(extent);
  }
  return bytes;
}

}  // namespace

Result<Traffic> traffic_of(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                           const kernel::Limits& limits) {
  HONE_TRY(const kernel::BoundPlan plan, kernel::bind(kernel, task, bindings, limits));
  std::vector<double> bytes;  // inputs, outputs, workspaces
  for (const task::InputSpec& input : task.inputs) {
    HONE_TRY(const double size, bytes_of(input.type, bindings));
    bytes.push_back(size);
  }
  for (const auto& [name, type] : task.outputs) {
    HONE_TRY(const double size, bytes_of(type, bindings));
    bytes.push_back(size);
  }
  for (const kernel::BoundWorkspace& workspace : plan.workspaces)
    bytes.push_back(static_cast<double>(task::size_of(workspace.dtype)) * static_cast<double>(task::element_count(workspace.shape)));
  const size_t inputs = task.inputs.size(), outputs = inputs + task.outputs.size();
  Traffic traffic;
  std::set<size_t> filled;
  for (const kernel::BoundLaunch& launch : plan.launches) {
    HONE_TRY(const FunctionText function, function_text(kernel.source, launch.function));
    LaunchTraffic& moved = traffic.launches.emplace_back();
    moved.function = launch.function;
    std::set<size_t> seen;  // a tensor may be two arguments
    for (size_t k = 0; k < launch.args.size() && k < function.parameters.size(); ++k) {
      if (launch.args[k].kind != kernel::Argument::Kind::kTensor || !uses(function.body, function.parameters[k].name)) continue;
      const auto tensor = static_cast<size_t>(launch.args[k].tensor);
      if (!seen.insert(tensor).second) continue;
      const bool written = tensor >= inputs && !function.parameters[k].constant && filled.insert(tensor).second;
      (written ? moved.written : moved.read) += bytes[tensor];
      (tensor < inputs ? traffic.inputs : tensor < outputs ? traffic.outputs : traffic.workspaces) += bytes[tensor];
    }
  }
  return traffic;
}

}  // namespace hone::pattern
