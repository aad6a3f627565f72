// One file with the class ModelNew of a KernelBench problem: the run time's modules, the task's code, the kernel's
// sources as strings, the class.
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/face/export/python_code.h"
#include "hone/face/export/python_names.h"
#include "hone/face/export/torch_package.h"
#include "hone/face/export/torch_source.h"

namespace hone::face {
namespace {

using kernel::Kernel;

constexpr int kProblems = 100;

/// What KernelBench's class is built with (kernelbench_level1.toml).
struct Problem {
  std::string init = "[]";                                      ///< Python, lists for tuples
  std::vector<std::pair<std::string, std::string>> modules;     ///< attribute, expression
  std::vector<std::string> parameters;                          ///< "conv2d.weight"
  std::vector<std::pair<std::string, int64_t>> given;           ///< extents that no shape gives
};

/// "kernelbench_063_…" is 63; 0 for a task of another kind.
int number_of(const task::Task& task) {
  constexpr std::string_view kPrefix = "kernelbench_";
  if (!task.name.starts_with(kPrefix) || task.name.size() < kPrefix.size() + 4 || task.name[kPrefix.size() + 3] != '_') return 0;
  int number = 0;
  for (const char c : task.name.substr(kPrefix.size(), 3)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return 0;
    number = 10 * number + (c - '0');
  }
  return number <= kProblems ? number : 0;
}

std::string python_of(const toml::node& node) {
  if (const auto* list = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *list) items.push_back(python_of(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  if (const auto* truth = node.as_boolean()) return truth->get() ? "True" : "False";
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  const auto* real = node.as_floating_point();
  HONE_CHECK(real != nullptr, "a constructor's argument is a number, a truth or a list");
  const std::string text = fmt::format("{}", real->get());
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

Problem problem_of(int number) {
  const auto text = base::find_embedded("kernelbench/kernelbench_level1.toml");
  HONE_CHECK(text.has_value(), "the table of problems is built in");
  const toml::parse_result table = toml::parse(*text);
  HONE_CHECK(static_cast<bool>(table), "the table of problems parses");
  Problem problem;
  for (const toml::node& node : *table.table()["problem"].as_array()) {
    const toml::table& row = *node.as_table();
    if (row["id"].value_or(0) != number) continue;
    problem.init = python_of(*row.get("init"));
    if (const auto* modules = row["modules"].as_array())
      for (const toml::node& module : *modules)
        problem.modules.emplace_back((*module.as_table())["name"].value_or(""), (*module.as_table())["make"].value_or(""));
    if (const auto* parameters = row["parameters"].as_array())
      for (const toml::node& parameter : *parameters) problem.parameters.emplace_back(parameter.value_or(""));
    if (const auto* given = row["given"].as_table())
      for (const auto& [name, value] : *given) problem.given.emplace_back(name.str(), value.value_or(int64_t{0}));
  }
  return problem;
}

/// Python for `text`: raw between three quotes where that can be read back, so that the source stays readable.
std::string source_string(const std::string& text) {
  const bool raw = text.find("'''") == std::string::npos && (text.empty() || (text.back() != '\\' && text.back() != '\''));
  return raw ? "r'''" + text + "'''" : python_string(text);
}

/// A module of the run time without the comment that opens it.
std::string module_body(const std::string& name) {
  const std::string text = runtime_module(name);
  return text.substr(text.find('\n') + 1);
}

std::string class_text(const task::Task& task, const Problem& problem, const TaskCode& code, int number) {
  const size_t inputs = task.inputs.size() - problem.parameters.size();
  std::vector<std::string> forward(code.tensors.begin(), code.tensors.begin() + static_cast<std::ptrdiff_t>(inputs)), tensors = forward;
  for (const std::string& parameter : problem.parameters) tensors.push_back("self." + parameter);
  std::string text = fmt::format("class ModelNew(nn.Module):\n    \"\"\"KernelBench level 1, problem {}, forward only: its parameters take no gradient{}.\"\"\"\n\n", number,
                                 number == 33 ? ", and running statistics stay as they are" : "");
  text += fmt::format("    def __init__(self, *init):\n        super().__init__()\n        if as_lists(init) != {0}:\n"
                      "            raise ValueError(f\"this kernel is for the problem as it is built with {0}, not {{as_lists(init)}}\")\n", problem.init);
  for (const auto& [name, make] : problem.modules) text += fmt::format("        self.{} = {}\n", name, make);
  if (!problem.modules.empty()) text += "        self.requires_grad_(False)\n";
  text += fmt::format("\n    def forward(self, {}):\n", fmt::join(forward, ", "));
  if (number == 33) text += "        if not self.training:  # by the running statistics, which is another computation\n            return self.bn(x)\n";
  std::vector<std::string> scalars;
  for (size_t i = 0; i < inputs; ++i)
    if (task.inputs[i].type.dims.empty()) scalars.push_back(forward[i]);
  for (const std::string& scalar : scalars) {
    const auto tensor = std::find_if(forward.begin(), forward.end(), [&](const std::string& name) { return std::find(scalars.begin(), scalars.end(), name) == scalars.end(); });
    const auto type = task::numpy_name_of(task.inputs[static_cast<size_t>(std::find(forward.begin(), forward.end(), scalar) - forward.begin())].type.dtype);
    text += fmt::format("        if not isinstance({0}, torch.Tensor):\n            {0} = torch.full((), {0}, dtype=torch.{1}, device={2}.device)\n", scalar, type,
                        tensor == forward.end() ? "torch.tensor(0)" : *tensor);
  }
  text += fmt::format("        tensors = ({}{})\n", fmt::join(tensors, ", "), tensors.size() == 1 ? "," : "");
  std::string given;
  for (const auto& [name, value] : problem.given) given += fmt::format(", {}={}", name, value);
  text += fmt::format("        if wants_grad(tensors):\n            return OPERATOR.compose(*tensors{0})\n        return OPERATOR(*tensors{0})\n", given);
  return text;
}

}  // namespace

Result<ExportedFile> export_kernelbench(const Kernel& kernel, const task::Task& task, const TorchOptions& options) {
  const int number = number_of(task);
  if (number == 0)
    return fail(ErrorCode::kInput, fmt::format("{} is no problem of KernelBench that hone knows: what its class is built with is not known", task.name),
                "tasks/kernelbench/level1 has the problems of level 1, named kernelbench_NNN_…; --as torch takes any task");
  HONE_TRY(const std::string name, torch_name(options, task));
  HONE_TRY(TaskCode code, task_code(task));
  HONE_TRY(const TorchSource source, torch_source(kernel, task, options, name));
  const Problem problem = problem_of(number);
  const bool given = std::all_of(code.given.begin(), code.given.end(), [&](const std::string& symbol) {
    return std::any_of(problem.given.begin(), problem.given.end(), [&](const auto& pair) { return pair.first == symbol; });
  });
  if (task.inputs.size() <= problem.parameters.size() || !given)
    return fail(ErrorCode::kInput, fmt::format("{} has not the inputs of KernelBench's problem {}: which are parameters of its modules is not known", task.name, number),
                fmt::format("its last inputs are: {}", problem.parameters.empty() ? "no module's" : fmt::format("{}", fmt::join(problem.parameters, ", "))));
  std::string text = fmt::format("# ModelNew of KernelBench level 1, problem {}, made by hone, which it does not need.\n#\n", number);
  for (const std::string& line : torch_provenance(kernel, task, options)) text += "# " + line + "\n";
  text += "#\n# Elsewhere, and for other tensors, PyTorch's operations compute the same. The first call compiles; what it makes is\n"
          "# kept in ~/.cache/hone-export.\n";
  for (const std::string& condition : source.conditions) text += fmt::format("#   {}\n", condition);
  // Imports of all modules come first, each once.
  std::vector<std::string> imports;
  std::string bodies;
  std::vector<std::string> modules{"dispatch"};
  if (!source.plan.empty()) modules.emplace_back("plan");
  modules.insert(modules.end(), source.modules.begin(), source.modules.end());
  for (const std::string& module : modules) {
    std::istringstream lines(module_body(module));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("import ")) {
        bodies += line + "\n";
      } else if (std::find(imports.begin(), imports.end(), line) == imports.end() && line != "import torch") {
        imports.push_back(line);
      }
    }
  }
  imports.emplace_back("import math");
  std::sort(imports.begin(), imports.end());
  text += fmt::format("{}\n\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n", fmt::join(imports, "\n"));
  text += "\n" + bodies + "\n\n" + code.text + (source.plan.empty() ? "" : "\n\n" + source.plan) + "\n\nSOURCES = {\n";
  for (const ExportedFile& file : source.files) text += fmt::format("{}: {},\n", python_string(file.name), source_string(file.content));
  text += "}\n" + kernel_object(source, "SOURCES", "None");
  text += fmt::format("OPERATOR = Operator({}, INPUTS, OUTPUTS, extents, shapes, composition, MAKES_TENSORS, KERNEL)\n\n\n", python_string(name));
  text += "def as_lists(value):\n    \"\"\"Tuples and lists alike.\"\"\"\n    return [as_lists(item) for item in value] if isinstance(value, (tuple, list)) else value\n\n\n";
  text += class_text(task, problem, code, number);
  return ExportedFile{name + "_kernelbench.py", std::move(text)};
}

}  // namespace hone::face
