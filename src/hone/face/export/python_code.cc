#include "hone/face/export/python_code.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/face/export/composition.h"
#include "hone/face/export/python_names.h"
#include "hone/task/language/int_expr_python.h"

namespace hone::face {
namespace {

using kernel::Argument;
using kernel::Launch;
using task::IntExpr;

using Names = std::map<std::string, IntExpr, std::less<>>;

/// "()", "(a,)", "(a, b)".
std::string tuple_of(const std::vector<std::string>& items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

/// True where `word` stands in `text` with no letter or digit beside it.
bool mentions(const std::string& text, const std::string& word) {
  const auto part = [&](size_t at) { return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'); };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !part(at - 1)) && !part(at + word.size())) return true;
  return false;
}

std::string strings(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(python_string(text));
  return tuple_of(quoted);
}

/// Finds the extents from the inputs' shapes.
class Solver {
 public:
  explicit Solver(const task::Task& task) : task_(task) {
    std::set<std::string> taken;
    for (const task::InputSpec& input : task.inputs) {
      tensors_.push_back(python_name(input.name, taken));
      taken.insert(tensors_.back());
    }
    for (const std::string& symbol : task.symbols()) {
      const std::string name = python_name(symbol, taken);
      taken.insert(name);
      names_.emplace(symbol, IntExpr::symbol(name));
      unsolved_.insert(symbol);
    }
  }

  std::string function() {
    plain();
    while (!unsolved_.empty())
      if (!derived()) give();
    std::vector<std::string> results, ranks, lengths, parameters = tensors_;
    for (const std::string& symbol : task_.symbols()) results.push_back(name_of(symbol));
    for (size_t i = 0; i < tensors_.size(); ++i) {
      lengths.push_back(fmt::format("len({})", tensors_[i]));
      ranks.push_back(std::to_string(task_.inputs[i].type.dims.size()));
      for (size_t d = 0; d < task_.inputs[i].type.dims.size(); ++d)
        if (defining_.count({i, d}) == 0) checks_.push_back(fmt::format("{} != {}", place(i, d), python(task_.inputs[i].type.dims[d])));
    }
    if (!given_.empty()) {
      parameters.emplace_back("*");
      for (const std::string& symbol : given_) parameters.push_back(name_of(symbol));
    }
    std::string text = fmt::format("def extents({}):\n    \"\"\"The extents SYMBOLS from the inputs' shapes; None where they are not the task's.\"\"\"\n",
                                   fmt::join(parameters, ", "));
    text += fmt::format("    if {} != {}:\n        return None\n", tuple_of(lengths), tuple_of(ranks));
    for (const std::string& line : lines_) text += "    " + line + "\n";
    if (!checks_.empty()) text += fmt::format("    if {}:\n        return None\n", fmt::join(checks_, " or "));
    return text + fmt::format("    return {}\n", tuple_of(results));
  }

  [[nodiscard]] const std::vector<std::string>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<std::string>& given() const { return given_; }

 private:
  [[nodiscard]] std::string name_of(const std::string& symbol) const { return names_.find(symbol)->second.to_string(); }
  [[nodiscard]] std::string python(const IntExpr& expression) const { return task::to_python(expression.substitute(names_)); }
  [[nodiscard]] std::string place(size_t input, size_t dim) const { return fmt::format("{}[{}]", tensors_[input], dim); }

  /// Extents that are a symbol.
  void plain() {
    for (size_t i = 0; i < task_.inputs.size(); ++i)
      for (size_t d = 0; d < task_.inputs[i].type.dims.size(); ++d) {
        const IntExpr& extent = task_.inputs[i].type.dims[d];
        const auto symbols = extent.symbols();
        if (symbols.size() != 1 || !(extent == IntExpr::symbol(*symbols.begin())) || unsolved_.erase(*symbols.begin()) == 0) continue;
        lines_.push_back(fmt::format("{} = {}", name_of(*symbols.begin()), place(i, d)));
        defining_.insert({i, d});
      }
  }

  /// One more from an extent such as 2*D, G*C or D + 1, of which the rest is known; checked like any other then.
  bool derived() {
    for (size_t i = 0; i < task_.inputs.size(); ++i)
      for (size_t d = 0; d < task_.inputs[i].type.dims.size(); ++d) {
        const IntExpr& extent = task_.inputs[i].type.dims[d];
        std::vector<std::string> open;
        for (const std::string& symbol : extent.symbols())
          if (unsolved_.count(symbol) > 0) open.push_back(symbol);
        if (open.size() != 1) continue;
        const IntExpr wanted = IntExpr::symbol(open[0]);
        const auto factor = IntExpr::divide_exactly(extent, wanted);
        const IntExpr rest = extent - wanted;
        if (factor && factor->symbols().count(open[0]) == 0) {
          lines_.push_back(fmt::format("{} = {} // max(1, {})", name_of(open[0]), place(i, d), python(*factor)));
        } else if (rest.symbols().count(open[0]) == 0) {
          lines_.push_back(fmt::format("{} = {} - ({})", name_of(open[0]), place(i, d), python(rest)));
        } else {
          continue;
        }
        unsolved_.erase(open[0]);
        return true;
      }
    return false;
  }

  /// No shape gives one: the caller does. One that the computation mentions, as people know those.
  void give() {
    auto chosen = std::find_if(unsolved_.begin(), unsolved_.end(), [&](const std::string& symbol) { return mentions(task_.compute, symbol); });
    if (chosen == unsolved_.end()) chosen = unsolved_.begin();
    given_.push_back(*chosen);
    unsolved_.erase(chosen);
  }

  const task::Task& task_;
  std::vector<std::string> tensors_, given_, lines_, checks_;
  Names names_;
  std::set<std::string> unsolved_;
  std::set<std::pair<size_t, size_t>> defining_;
};

/// Writes plan().
class PlanWriter {
 public:
  PlanWriter(const kernel::Kernel& kernel, const task::Task& task) : header_(kernel.header) {
    std::set<std::string> taken{"SMS", "SHARED_MAX", "WAVE", "STEP", "repeats", "root"};
    for (const std::string& symbol : task.symbols()) {
      const std::string name = python_name(symbol, taken);
      taken.insert(name);
      parameters_.push_back(name);
      with_.insert_or_assign(symbol, IntExpr::symbol(name));
      known_.insert(name);
    }
    for (const auto& [tunable, value] : kernel.config) with_.insert_or_assign(tunable, IntExpr(value));
    for (const char* limit : {"SMS", "SHARED_MAX", "WAVE"}) {
      parameters_.emplace_back(limit);
      known_.insert(limit);
    }
    const auto add = [this](const std::string& name) { const size_t place = tensors_.size(); tensors_.emplace(name, place); };
    for (const task::InputSpec& input : task.inputs) add(input.name);
    for (const auto& [name, type] : task.outputs) add(name);
    for (const kernel::Workspace& workspace : header_.workspaces) add(workspace.name);
  }

  Result<std::string> write() {
    std::string text = fmt::format("def plan({}):\n    \"\"\"Workspaces and launches; None where the kernel does not apply.\"\"\"\n", fmt::join(parameters_, ", "));
    for (const IntExpr& condition : header_.require) {
      HONE_TRY(const std::string holds, value(condition));
      text += fmt::format("    if not ({}):\n        return None\n", holds);
    }
    text += "    workspaces = [";
    for (const kernel::Workspace& workspace : header_.workspaces) {
      HONE_TRY(const std::string shape, values(workspace.type.dims));
      text += fmt::format("\n        (torch.{}, {}, {}),  # {}", task::numpy_name_of(workspace.type.dtype), shape, workspace.zero ? "True" : "False", workspace.name);
    }
    text += header_.workspaces.empty() ? "]\n    launches = []\n" : "\n    ]\n    launches = []\n";
    for (const Launch& launch : header_.launches) {
      HONE_TRY(const std::string one, one_launch(launch));
      text += one;
    }
    return text + "    return workspaces, launches\n";
  }

 private:
  Result<std::string> value(const IntExpr& expression) const {
    const IntExpr resolved = expression.substitute(with_);
    for (const std::string& name : resolved.symbols())
      if (known_.count(name) == 0)
        return fail(ErrorCode::kInput, fmt::format("the plan uses {} in \"{}\", which is no shape symbol, no tunable and no limit of a GPU", name,
                                                   expression.to_string()));
    return task::to_python(resolved);
  }
  Result<std::string> values(const std::vector<IntExpr>& expressions, size_t padded_to = 0) const {
    std::vector<std::string> all;
    for (const IntExpr& expression : expressions) {
      HONE_TRY(std::string one, value(expression));
      all.push_back(std::move(one));
    }
    while (all.size() < padded_to) all.emplace_back("1");
    return tuple_of(all);
  }

  Result<std::string> argument(const Argument& argument, const Launch& launch) const {
    if (argument.kind == Argument::Kind::kTensor) {
      const auto found = tensors_.find(argument.tensor);
      if (found == tensors_.end())
        return fail(ErrorCode::kInput, fmt::format("{} takes \"{}\", which is no input, output or workspace", launch.function, argument.tensor));
      return fmt::format("(\"tensor\", {})", found->second);
    }
    if (argument.kind == Argument::Kind::kShared)
      return fail(ErrorCode::kInput, fmt::format("{} takes \"shared\": a GPU kernel declares extern __shared__ instead", launch.function));
    if (argument.kind == Argument::Kind::kNull) return std::string("(\"null\", None)");
    if (argument.kind == Argument::Kind::kConstant && !argument.tensor.empty()) return fmt::format("(\"text\", {})", python_string(argument.tensor));
    if (argument.kind == Argument::Kind::kF32 && argument.form == Argument::Form::kLiteral) return fmt::format("(\"f32\", {})", argument.number);
    HONE_TRY(const std::string text, value(argument.value));
    if (argument.kind == Argument::Kind::kConstant) return fmt::format("(\"constant\", {})", text);
    if (argument.kind == Argument::Kind::kF32) {
      const bool root = argument.form == Argument::Form::kRoot || argument.form == Argument::Form::kOverRoot;
      const bool over = argument.form == Argument::Form::kOver || argument.form == Argument::Form::kOverRoot;
      return fmt::format("(\"f32\", {}{}({}))", over ? "1 / " : "", root ? "root" : "float", text);
    }
    return fmt::format("(\"{}\", {})", argument.kind == Argument::Kind::kI32 ? "i32" : "i64", text);
  }

  Result<std::string> one_launch(const Launch& launch) {
    std::string text, indent = "    ";
    if (launch.repeat) {
      HONE_TRY(const std::string times, value(*launch.repeat));
      text += fmt::format("{}for STEP in repeats({}):\n", indent, times);
      indent += "    ";
      known_.insert("STEP");
    }
    if (launch.when) {
      HONE_TRY(const std::string when, value(*launch.when));
      text += fmt::format("{}if {}:\n", indent, when);
      indent += "    ";
    }
    HONE_TRY(const std::string grid, values(launch.grid, 3));
    // Triton's own numbers in the place of threads, which its compiler lays out.
    HONE_TRY(const std::string block, values(header_.language == kernel::Language::kTriton ? std::vector<IntExpr>{launch.warps, launch.stages} : launch.block, 3));
    HONE_TRY(const std::string cluster, values(launch.cluster, 3));
    HONE_TRY(const std::string shared, value(launch.shared));
    std::vector<std::string> args;
    for (const Argument& item : launch.args) {
      HONE_TRY(std::string one, argument(item, launch));
      args.push_back(std::move(one));
    }
    known_.erase("STEP");
    return text + fmt::format("{0}launches.append((\n{0}    {1}, {2}, {3}, {4}, {5},\n{0}    {6}))\n", indent, python_string(launch.function), grid, block,
                              cluster, shared, tuple_of(args));
  }

  const kernel::Header& header_;
  std::vector<std::string> parameters_;
  Names with_;
  std::set<std::string> known_;
  std::map<std::string, size_t> tensors_;
};

}  // namespace

Result<TaskCode> task_code(const task::Task& task) {
  HONE_TRY(const Composition composition, compose_pytorch(task));
  TaskCode code;
  const auto specs = [](const auto& list) {
    std::string text;
    for (const auto& [name, dtype] : list) text += fmt::format("    ({}, torch.{}),\n", python_string(name), task::numpy_name_of(dtype));
    return "(\n" + text + ")\n";
  };
  std::vector<std::pair<std::string, task::DType>> inputs, outputs;
  for (const task::InputSpec& input : task.inputs) inputs.emplace_back(input.name, input.type.dtype);
  for (const auto& [name, type] : task.outputs) outputs.emplace_back(name, type.dtype);
  code.text = "INPUTS = " + specs(inputs) + "OUTPUTS = " + specs(outputs);
  code.text += fmt::format("SYMBOLS = {}\nMAKES_TENSORS = {}\n\n\n", strings(task.symbols()), composition.makes_tensors ? "True" : "False");
  Solver solver(task);
  code.text += solver.function();
  code.tensors = solver.tensors();
  code.given = solver.given();

  std::vector<std::string> parameters, shapes;
  Names names;
  std::set<std::string> taken;
  for (const std::string& symbol : task.symbols()) {
    parameters.push_back(python_name(symbol, taken));
    taken.insert(parameters.back());
    names.emplace(symbol, IntExpr::symbol(parameters.back()));
  }
  for (const auto& [name, type] : task.outputs) {
    std::vector<std::string> extents;
    for (const IntExpr& extent : type.dims) extents.push_back(task::to_python(extent.substitute(names)));
    shapes.push_back(tuple_of(extents));
  }
  code.text += fmt::format("\n\ndef shapes({}):\n    \"\"\"Of the outputs.\"\"\"\n    return {}\n", fmt::join(parameters, ", "), tuple_of(shapes));
  code.text += fmt::format("\n\ndef composition({}):\n    \"\"\"The task as PyTorch's own operations.\"\"\"\n{}", fmt::join(composition.parameters, ", "),
                           composition.body);
  return code;
}

Result<std::string> plan_function(const kernel::Kernel& kernel, const task::Task& task) { return PlanWriter(kernel, task).write(); }

}  // namespace hone::face
