#include "hone/face/program/package.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/embedded.h"
#include "hone/base/version.h"
#include "hone/face/export/python_names.h"

namespace hone::face {
namespace {

using program::Node;
using program::Plan;
using program::Program;
using program::Ref;
using program::Region;
using program::Role;
using program::Step;

std::string python_number(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string shape_tuple(const task::Shape& shape) { return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : ""); }

/// Statements of functions and of run(), from the program's nodes.
class ModuleText {
 public:
  ModuleText(const Program& program, const Plan& plan, const ProgramPackage& package) : program_(program), plan_(plan), package_(package) {}

  std::string text() {
    std::string functions, tasks;
    for (size_t i = 0; i < plan_.tasks.size(); ++i) {
      const program::CutTask& task = plan_.tasks[i];
      const Step& step = plan_.steps[static_cast<size_t>(task.steps.front())];
      const auto source = package_.sources.find(static_cast<int>(i));
      functions += source == package_.sources.end() ? function("eager_" + task.task.name, step) : from_source("eager_" + task.task.name, source->second);
      const bool kernel = package_.kernels.count(static_cast<int>(i)) > 0;
      if (kernel) tasks += fmt::format("from . import {}\n", python_name(task.task.name, {}));
    }
    std::vector<std::string> objects;
    for (size_t i = 0; i < plan_.tasks.size(); ++i) {
      const std::string& name = plan_.tasks[i].task.name;
      const bool kernel = package_.kernels.count(static_cast<int>(i)) > 0;
      objects.push_back(fmt::format("    {0}: Task({0}, eager_{1}{2}),\n", python_string(name), name, kernel ? ", " + python_name(name, {}) : ""));
    }
    std::string text = fmt::format("# Made by hone: the program's steps, and PyTorch's way to do each.\nimport torch\n\nfrom ._runtime import {}, Task, Written\n{}\n\n", base_class(), tasks);
    text += functions + steps_functions();
    text += fmt::format("TASKS = {{\n{}}}\n\n\n", fmt::join(objects, ""));
    for (const program::WrittenOut& written : plan_.written) text += written_functions(written);
    return text + module_class();
  }

 private:
  [[nodiscard]] const Node& node(int id) const { return program_.nodes[static_cast<size_t>(id)]; }

  [[nodiscard]] std::string value(const program::Argument& argument, std::string_view name) const {
    if (argument.is_none()) return "None";
    if (const auto* flag = std::get_if<bool>(&argument.value)) return *flag ? "True" : "False";
    if (const auto* whole = std::get_if<int64_t>(&argument.value)) return fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&argument.value)) return python_number(*real);
    if (const auto* text = std::get_if<std::string>(&argument.value)) return python_string(*text);
    if (const auto* type = std::get_if<task::DType>(&argument.value)) return fmt::format("torch.{}", task::numpy_name_of(*type));
    if (const Ref* ref = argument.ref()) return fmt::format("n{}", ref->node);
    if (const program::Argument::List* list = argument.list()) {
      std::vector<std::string> all;
      for (const program::Argument& item : *list) all.push_back(value(item, name));
      return fmt::format("[{}]", fmt::join(all, ", "));
    }
    const std::string& foreign = std::get<program::Foreign>(argument.value).text;
    if (foreign.starts_with("torch.") || foreign.starts_with("complex(")) return foreign;
    return name == "device" ? fmt::format("torch.device({})", python_string(foreign)) : std::string("None");
  }

  [[nodiscard]] std::string call(const Node& node) const {
    if (node.op == "getitem") return fmt::format("{}[{}]", value(*node.find("source"), ""), value(*node.find("index"), ""));
    std::vector<std::string> arguments;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      const auto& [name, argument] = node.arguments[i];
      const std::string text = value(argument, name);
      if (static_cast<int>(i) < node.positional) arguments.push_back(text);
      else if (text != "None") arguments.push_back(fmt::format("{}={}", name, text));
    }
    return fmt::format("torch.ops.{}({})", node.op, fmt::join(arguments, ", "));
  }

  [[nodiscard]] std::string statements(const Step& step) const {
    const std::set<int> body(step.body.begin(), step.body.end());
    std::string text;
    std::set<int> whole;   // origins that PyTorch runs as they were
    for (const int id : step.body) {
      const int origin = node(id).origin;
      if (origin >= 0 && (whole.count(origin) > 0 || is_whole(step, body, origin))) {
        if (whole.insert(origin).second) text += origin_statements(origin);
        continue;
      }
      text += fmt::format("    n{} = {}\n", id, call(node(id)));
    }
    return text;
  }

  /// Whether nothing but an origin's results is read outside of its pieces, all of which the step has, and what the origin read is there.
  [[nodiscard]] bool is_whole(const Step& step, const std::set<int>& body, int origin) const {
    const program::Origin& from = program_.origins[static_cast<size_t>(origin)];
    std::set<int> results;
    for (const program::Argument& result : from.results)
      if (result.ref() != nullptr && result.ref()->node >= 0 && node(result.ref()->node).origin == origin) results.insert(result.ref()->node);
    const auto there = [&](int id) { return body.count(id) > 0 || std::find(step.inputs.begin(), step.inputs.end(), id) != step.inputs.end(); };
    for (const int operand : program::operands(from.node))
      if (operand < 0 || !there(operand)) return false;
    for (const int id : step.body)
      if (node(id).origin != origin)
        for (const int operand : program::operands(node(id)))
          if (node(operand).origin == origin && body.count(operand) > 0 && results.count(operand) == 0) return false;
    for (const int output : step.outputs)
      if (node(output).origin == origin && body.count(output) > 0 && results.count(output) == 0) return false;
    return std::all_of(results.begin(), results.end(), [&](int id) { return body.count(id) > 0; });
  }

  [[nodiscard]] std::string origin_statements(int origin) const {
    const program::Origin& from = program_.origins[static_cast<size_t>(origin)];
    std::string text = fmt::format("    whole = {}\n", call(from.node));
    for (size_t i = 0; i < from.results.size(); ++i)
      if (const Ref* ref = from.results[i].ref(); ref != nullptr && ref->node >= 0 && node(ref->node).origin == origin)
        text += fmt::format("    n{} = whole{}\n", ref->node, from.node.several ? fmt::format("[{}]", i) : std::string());
    return text;
  }

  [[nodiscard]] static std::string names(const std::vector<int>& nodes) {
    std::vector<std::string> all;
    for (const int id : nodes) all.push_back(fmt::format("n{}", id));
    return fmt::format("{}", fmt::join(all, ", "));
  }

  /// Constants of rank 0 that became numbers of a task are no inputs of it, and are written down here too. What gives nothing but its type, shape or
  /// device (zeros_like) is no input either: any tensor of that kind does.
  [[nodiscard]] std::string numbers(const Step& step) const {
    std::string text;
    std::set<int> needed;
    for (const int id : step.body)
      for (const int operand : program::operands(node(id))) needed.insert(operand);
    for (const int id : needed) {
      if (std::find(step.inputs.begin(), step.inputs.end(), id) != step.inputs.end() || std::find(step.body.begin(), step.body.end(), id) != step.body.end()) continue;
      const auto type = task::numpy_name_of(node(id).type().dtype.value_or(task::DType::kF32));
      if (node(id).is_input() && node(id).number) text += fmt::format("    n{} = torch.tensor({}, dtype=torch.{})\n", id, value(*node(id).number, ""), type);
      else if (!step.inputs.empty()) text += fmt::format("    n{} = torch.empty({}, dtype=torch.{}, device=n{}.device)\n", id, shape_tuple(node(id).type().shape), type, step.inputs.front());
    }
    return text;
  }

  [[nodiscard]] std::string function(const std::string& name, const Step& step) const {
    return fmt::format("def {}({}):\n{}{}    return {}{}\n\n\n", name, names(step.inputs), numbers(step), statements(step), names(step.outputs), ",");
  }

  /// As a task's own PyTorch: one result is no tuple there.
  static std::string from_source(const std::string& name, const std::string& source) {
    return fmt::format("{0}\n\nforward_of_{1} = forward\n\n\ndef {1}(*tensors):\n    results = forward_of_{1}(*tensors)\n"
                       "    return results if isinstance(results, tuple) else (results,)\n\n\n", source, name);
  }

  std::string steps_functions() {
    std::string text;
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      if (plan_.steps[i].kind == Region::Kind::kEager) text += function(fmt::format("step_{}", i), plan_.steps[i]);
    return text + fold_function();
  }

  /// All folds as one function of the weights; each value's place in the list of folded ones.
  std::string fold_function() {
    std::string body;
    std::vector<int> values;
    for (const Step& step : plan_.steps) {
      if (step.kind != Region::Kind::kFold) continue;
      for (const int input : step.inputs)
        if (node(input).is_input()) body += fmt::format("    n{} = weights[{}]\n", input, weight(input));
      body += statements(step);
      for (const int output : step.outputs) values.push_back(output);
    }
    for (size_t i = 0; i < values.size(); ++i) folded_[values[i]] = static_cast<int>(i);
    fold_weights_ = weights_.size();
    if (values.empty()) return {};
    return fmt::format("def fold(weights):\n{}    return {},\n\n\n", body, names(values));
  }

  /// Place among the weights, which it joins where it is none yet.
  int weight(int id) {
    const auto [it, fresh] = weight_of_.emplace(id, static_cast<int>(weights_.size()));
    if (fresh) weights_.push_back(id);
    return it->second;
  }

  /// The name of a value in run().
  std::string read(int id) {
    const Node& here = node(id);
    if (const auto it = folded_.find(id); it != folded_.end()) return fmt::format("folded[{}]", it->second);
    if (!here.is_input()) return fmt::format("n{}", id);
    if (const auto it = leaf_of_.find(id); it != leaf_of_.end()) return fmt::format("leaves[{}]", it->second);
    return fmt::format("weights[{}]", weight(id));
  }

  /// Steps [begin, end) one after the other; those written out are one. What is read for the last time and not in `kept` is let go.
  std::string calls(size_t begin, size_t end, const std::set<int>& kept, bool inside, const std::string& indent) {
    std::map<int, size_t> last;
    for (size_t i = begin; i < end; i = inside ? i + 1 : last_of(i) + 1)
      for (const int input : unit(i, inside).inputs) last[input] = i;
    std::string text;
    int number = 0;
    for (size_t i = begin; i < end; i = inside ? i + 1 : last_of(i) + 1) {
      const Step& step = unit(i, inside);
      if (step.kind == Region::Kind::kFold) continue;
      std::vector<std::string> arguments, dead;
      for (const int input : step.inputs) {
        arguments.push_back(inside ? fmt::format("n{}", input) : read(input));
        if (arguments.back().front() == 'n' && last[input] == i && kept.count(input) == 0) dead.push_back(arguments.back());
      }
      text += fmt::format("{}{}, = steps[{}]({})\n", indent, names(step.outputs), number++, fmt::join(arguments, ", "));
      if (!dead.empty()) text += fmt::format("{}del {}\n", indent, fmt::join(dead, ", "));
    }
    return text;
  }

  /// What runs at a step's place: outside of what was written out, the whole of that.
  [[nodiscard]] const Step& unit(size_t i, bool inside) const {
    const Step& step = plan_.steps[i];
    return inside || step.written < 0 ? step : plan_.written[static_cast<size_t>(step.written)].step;
  }
  /// The last step of the unit that begins with the i-th.
  [[nodiscard]] size_t last_of(size_t i) const {
    const int written = plan_.steps[i].written;
    return written < 0 ? i : i + static_cast<size_t>(plan_.written[static_cast<size_t>(written)].count) - 1;
  }

  /// One name for a step: what stands in lists of steps.
  [[nodiscard]] std::string step_name(size_t i) const {
    const Step& step = plan_.steps[i];
    return step.kind == Region::Kind::kTask ? fmt::format("TASKS[{}]", python_string(plan_.tasks[static_cast<size_t>(step.task)].task.name)) : fmt::format("step_{}", i);
  }

  /// An operator as PyTorch's one step, and as the steps that it was written out as.
  std::string written_functions(const program::WrittenOut& written) {
    const program::Whole& whole = program_.wholes[static_cast<size_t>(written.whole)];
    std::string text = fmt::format("def whole_{}({}):\n{}", written.name, names(written.step.inputs), statements(written.step));
    text += fmt::format("    whole = {}\n", call(whole.node));
    std::vector<std::string> results, steps;
    for (const int output : written.step.outputs)
      results.push_back(fmt::format("whole[{}]", std::find(whole.results.begin(), whole.results.end(), output) - whole.results.begin()));
    text += fmt::format("    return {},\n\n\n", fmt::join(results, ", "));
    const auto begin = static_cast<size_t>(written.first), end = begin + static_cast<size_t>(written.count);
    std::set<int> kept(written.step.outputs.begin(), written.step.outputs.end());
    text += fmt::format("def written_{}(steps, {}):\n{}    return {},\n\n\n", written.name, names(written.step.inputs), calls(begin, end, kept, true, "    "), names(written.step.outputs));
    for (size_t i = begin; i < end; ++i) steps.push_back(step_name(i));
    text += fmt::format("TASKS[{0}] = Written({0}, whole_{1}, written_{1}, [\n    {2}])\n", python_string(written.name), written.name, fmt::join(steps, ",\n    "));
    if (package_.left_whole.count(written.name) > 0) text += fmt::format("TASKS[{}].used = False\n", python_string(written.name));
    return text + "\n\n";
  }

  std::string run_function() {
    std::set<int> given;
    for (const program::Output& output : program_.outputs) {
      std::vector<int> all;
      collect(output.value, all);
      given.insert(all.begin(), all.end());
    }
    std::string text = "    def run(self, steps, leaves, weights, folded):\n" + calls(0, plan_.steps.size(), given, false, "        ");
    std::vector<std::string> results, changed;
    for (const program::Output& output : program_.outputs) {
      const std::string from = output.value.ref() != nullptr ? read(output.value.ref()->node) : value(output.value, "");
      if (output.mutation) changed.push_back(fmt::format("({}, {})", buffer(output.target), from));
      else results.push_back(from);
    }
    return text + fmt::format("        return [{}], [{}]\n", fmt::join(results, ", "), fmt::join(changed, ", "));
  }

  /// A buffer that the program changes, whether or not it reads it.
  std::string buffer(const std::string& target) {
    for (size_t i = 0; i < program_.nodes.size(); ++i)
      if (program_.nodes[i].is_input() && program_.nodes[i].target == target) return fmt::format("weights[{}]", weight(static_cast<int>(i)));
    return fmt::format("self.get_buffer({})", python_string(target));
  }

  [[nodiscard]] std::string base_class() const { return program_.flat.empty() ? "Program" : "Flat"; }

  std::string module_class() {
    int leaf = 0;
    std::vector<std::string> inputs;
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& here = program_.nodes[i];
      if (!here.is_input() || (here.role != Role::kUser && here.role != Role::kFixed)) continue;
      leaf_of_[static_cast<int>(i)] = leaf++;
      const bool tensor = here.role == Role::kUser && here.type().dtype.has_value();
      inputs.push_back(tensor ? fmt::format("({}, {}, torch.{})", python_string(here.name), shape_tuple(here.type().shape), task::numpy_name_of(*here.type().dtype))
                              : fmt::format("({}, None, None)", python_string(here.name)));
    }
    const std::string run = run_function();
    std::vector<std::string> state, aliases, constants, weights, steps, needed;
    for (const auto& [name, entry] : program_.state)
      state.push_back(fmt::format("        {}: ({}, torch.{}, {}),\n", python_string(name), shape_tuple(entry.type.shape), entry.torch_type, entry.parameter ? "True" : "False"));
    for (const auto& [name, first] : program_.aliases) aliases.push_back(fmt::format("{}: {}", python_string(name), python_string(first)));
    for (const int id : weights_) {
      const Node& here = node(id);
      if (here.role != Role::kConstant) {
        weights.push_back(python_string(here.target));
      } else {
        weights.push_back(python_string(fmt::format("constant_{}", constants.size())));
        constants.push_back(python_string(here.target));
      }
    }
    for (size_t i = 0; i < plan_.steps.size(); i = last_of(i) + 1) {
      const int written = plan_.steps[i].written;
      if (written >= 0) steps.push_back(fmt::format("TASKS[{}]", python_string(plan_.written[static_cast<size_t>(written)].name)));
      else if (plan_.steps[i].kind != Region::Kind::kFold) steps.push_back(step_name(i));
    }
    for (size_t i = 0; i < fold_weights_; ++i) needed.push_back(fmt::format("{}", i));
    std::string text = fmt::format("class Module({}):\n    STATE = {{\n{}    }}\n", base_class(), fmt::join(state, ""));
    text += fmt::format("    ALIASES = {{{}}}\n    CONSTANTS = [{}]\n", fmt::join(aliases, ", "), fmt::join(constants, ", "));
    text += fmt::format("    WEIGHTS = [\n        {}]\n", fmt::join(weights, ",\n        "));
    text += fmt::format("    INPUTS = [{}]\n", fmt::join(inputs, ", "));
    if (!program_.flat.empty()) {
      std::vector<std::string> flat;
      for (const std::string& name : program_.flat) flat.push_back(python_string(name));
      text += fmt::format("    ARGUMENTS = [{}]\n", fmt::join(flat, ", "));
    }
    text += fmt::format("    TREES = [\n        {},\n        {}]\n", python_string(program_.arguments_tree), python_string(program_.results_tree));
    text += fmt::format("    STEPS = [\n        {}]\n", fmt::join(steps, ",\n        "));
    if (!package_.record) text += "    RECORD = False\n";
    text += folded_.empty() ? "    FOLDS = []\n" : fmt::format("    FOLDS = [(fold, [{}])]\n", fmt::join(needed, ", "));
    return text + "\n" + run;
  }

  const Program& program_;
  const Plan& plan_;
  const ProgramPackage& package_;
  std::map<int, int> folded_, weight_of_, leaf_of_;
  std::vector<int> weights_;
  size_t fold_weights_ = 0;
};

std::string init_text(const ProgramPackage& package) {
  std::string text = fmt::format("\"\"\"{}, made by hone {}: Module takes the original's state_dict and gives what it gives.\n\nConditions and figures: README.md.\n\"\"\"\n", package.name,
                                 base::kVersion);
  text += "from ._module import TASKS, Module\n\n__all__ = [\"Module\", \"refusals\", \"use\"]\n\n\n";
  text += "def use(tasks):\n    \"\"\"Whether each task's steps run its kernel; those without one never do.\"\"\"\n    for name, used in tasks.items():\n"
          "        TASKS[name].use(used)\n\n\n";
  text += "def refusals():\n    \"\"\"Reasons by task where a kernel cannot run here, once it was called.\"\"\"\n    return {name: task.refusal() for name, task in TASKS.items() if task.refusal()}\n";
  return text;
}

std::string project_text(const ProgramPackage& package) {
  return fmt::format("[build-system]\nrequires = [\"setuptools>=61\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\nname = {}\nversion = \"1.0\"\n"
                     "description = {}\nrequires-python = \">=3.9\"\ndependencies = [\"torch>=2.11\"]\n\n[tool.setuptools.packages.find]\ninclude = [\"{}*\"]\n\n"
                     "[tool.setuptools.package-data]\n\"*\" = [\"source/**\", \"constants.pt\"]\n",
                     python_string(package.name), python_string(fmt::format("{}: a program made by hone {}", package.name, base::kVersion)), package.name);
}

std::string readme_text(const Program& program, const ProgramPackage& package) {
  std::string text = fmt::format("# {0}\n\nA PyTorch program, made by hone, which it does not need.\n\n```python\nimport {0}\nmodel = {0}.Module()\n"
                                 "model.load_state_dict(original.state_dict())\n```\n\n", package.name);
  std::vector<std::string> arguments;
  for (const Node& node : program.nodes)
    if (node.is_input() && node.role == Role::kUser) arguments.push_back(fmt::format("{}: {}", node.name, node.type().to_string()));
  text += fmt::format("It was captured with torch {} {}, and takes arguments of these types only: {}. Where a gradient is wanted PyTorch's operators run, without kernels.\n\n",
                      program.torch, program.train ? "as in training" : "after eval()", fmt::join(arguments, ", "));
  for (const std::string& note : package.notes) text += note + "\n";
  return text;
}

}  // namespace

Result<std::vector<ExportedFile>> program_package(const Program& program, const Plan& plan, const ProgramPackage& package) {
  std::vector<ExportedFile> files;
  const std::string inside = package.name + "/";
  files.push_back({"pyproject.toml", project_text(package)});
  files.push_back({"README.md", readme_text(program, package)});
  files.push_back({inside + "__init__.py", init_text(package)});
  for (const char* part : {"runtime", "recording"}) {
    const auto text = base::find_embedded(fmt::format("program_python/{}.py", part));
    HONE_CHECK(text.has_value(), part);
    files.push_back({fmt::format("{}_{}.py", inside, part), std::string(*text)});
  }
  files.push_back({inside + "_module.py", ModuleText(program, plan, package).text()});
  files.push_back({inside + "constants.pt", package.constants});
  for (const auto& [index, kernel] : package.kernels) {
    const task::Task& task = plan.tasks[static_cast<size_t>(index)].task;
    HONE_TRY(std::vector<ExportedFile> own, export_torch(kernel.kernel, task, kernel.options));
    for (ExportedFile& file : own)
      if (file.name.starts_with(python_name(task.name, {}) + "/")) files.push_back({inside + file.name, std::move(file.content)});
  }
  return files;
}

}  // namespace hone::face
