#include "hone/face/export/torch_package.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/base/version.h"
#include "hone/face/export/python_code.h"
#include "hone/face/export/python_names.h"
#include "hone/face/export/torch_source.h"

namespace hone::face {
namespace {

using kernel::Kernel;

std::string indented(const std::string& text, std::string_view by) {
  std::string out;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) out += fmt::format("{}{}\n", by, text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

std::string signature_of(const task::Task& task) {
  std::vector<std::string> inputs, outputs;
  for (const task::InputSpec& input : task.inputs) inputs.push_back(fmt::format("{}: {}", input.name, input.type.to_string()));
  for (const auto& [name, type] : task.outputs) outputs.push_back(fmt::format("{}: {}", name, type.to_string()));
  return fmt::format("{} -> {}", fmt::join(inputs, ", "), fmt::join(outputs, ", "));
}

/// Writes the files of one package.
class Package {
 public:
  Package(const Kernel& kernel, const task::Task& task, const TorchOptions& options, std::string name, TaskCode code, TorchSource source)
      : kernel_(kernel), task_(task), options_(options), name_(std::move(name)), code_(std::move(code)), source_(std::move(source)) {
    keywords_ = code_.given;
  }

  std::vector<ExportedFile> files() {
    std::vector<ExportedFile> all;
    const auto add = [&](const std::string& file, std::string text) { all.push_back({file, std::move(text)}); };
    const std::string inside = name_ + "/";
    add("pyproject.toml", project());
    add("README.md", readme());
    add(inside + "__init__.py", init());
    add(inside + "_task.py", "# Made by hone: the task's shapes, PyTorch code and launch plan.\nimport math  # noqa: F401\n\nimport torch  # noqa: F401\n"
                             "import torch.nn.functional as F  # noqa: F401\n\n" +
                                 plan_imports() + code_.text +
                                 (source_.plan.empty() ? "" : "\n\n" + source_.plan));
    add(inside + "_dispatch.py", runtime_module("dispatch"));
    if (!source_.plan.empty()) add(inside + "_plan.py", runtime_module("plan"));
    for (size_t i = 0; i < source_.modules.size(); ++i) add(inside + fmt::format("_{}.py", source_.modules[i]), with_imports(i));
    for (ExportedFile& file : source_.files) add(inside + "source/" + file.name, std::move(file.content));
    for (ExportedFile& file : source_.binaries) add(inside + "binary/" + file.name, std::move(file.content));
    add(fmt::format("test_{}.py", name_), test());
    return all;
  }

 private:
  /// The run time's modules find each other's names in one file; in a package they import them.
  [[nodiscard]] std::string with_imports(size_t module) const {
    const std::string text = runtime_module(source_.modules[module]);
    const size_t line = text.find('\n') + 1;
    std::string imports = "from ._dispatch import Refused, torch, writable_folder\n";
    if (module > 0) imports += fmt::format("from ._{} import CELLS, DriverKernel  # noqa: F401\n", source_.modules.front());
    return text.substr(0, line) + imports + (source_.plan.empty() ? "" : "from ._plan import bind\n") + text.substr(line);
  }
  /// What the plan calls of the run time.
  [[nodiscard]] std::string plan_imports() const {
    std::vector<std::string> names;
    for (const char* name : {"repeats", "root"})
      if (source_.plan.find(fmt::format("{}(", name)) != std::string::npos) names.emplace_back(name);
    return names.empty() ? "" : fmt::format("from ._plan import {}\n\n", fmt::join(names, ", "));
  }

  [[nodiscard]] std::string parameters() const {
    std::string text = fmt::format("{}", fmt::join(code_.tensors, ", "));
    for (size_t i = 0; i < keywords_.size(); ++i) text += (i == 0 ? ", *, " : ", ") + keywords_[i];
    return text;
  }
  [[nodiscard]] std::string arguments() const {
    std::string text = fmt::format("{}", fmt::join(code_.tensors, ", "));
    for (const std::string& keyword : keywords_) text += fmt::format(", {0}={0}", keyword);
    return text;
  }

  [[nodiscard]] std::string init() const {
    const std::string op = fmt::format("{}_{}", name_, kernel_.hash().substr(0, 8));
    std::vector<std::string> schema;
    for (const std::string& tensor : code_.tensors) schema.push_back("Tensor " + tensor);
    if (!keywords_.empty()) schema.emplace_back("*");
    for (const std::string& keyword : keywords_) schema.push_back("SymInt " + keyword);
    std::vector<std::string> results(task_.outputs.size(), "Tensor");
    const std::string result = results.size() == 1 ? "Tensor" : fmt::format("({})", fmt::join(results, ", "));
    std::string text = fmt::format("\"\"\"{}, made by hone. {}.\n\n{}\nConditions and figures: README.md.\n\"\"\"\nimport pathlib\n\nimport torch\n\n", name_,
                                   signature_of(task_), escaped(indented(task_.compute, "    ")));
    text += fmt::format("from . import _task\nfrom ._{} import {}\nfrom ._dispatch import Operator, undisturbed, wants_grad\n", source_.modules.back(), source_.type);
    text += source_.plan.empty() ? "\n" : fmt::format("from ._task import SYMBOLS, {}\n\n", fmt::join(source_.plans, ", "));
    text += fmt::format("__all__ = [\"{}\"]\n\n_HERE = pathlib.Path(__file__).resolve().parent\n", name_);
    const bool compiles = source_.binaries.empty();
    if (compiles) text += "_SOURCE = _HERE / \"source\"\n_FILES = {path.relative_to(_SOURCE).as_posix(): path.read_text()\n"
            "          for path in sorted(_SOURCE.rglob(\"*\")) if path.is_file()}\n";
    text += kernel_object(source_, "_FILES", compiles ? "_HERE / \"build\"" : "_HERE / \"binary\"");
    text += fmt::format("OPERATOR = Operator({}, _task.INPUTS, _task.OUTPUTS, _task.extents, _task.shapes, _task.composition,\n"
                        "                    _task.MAKES_TENSORS, KERNEL)\n\n", python_string(name_));
    text += fmt::format("# Opaque to torch.compile, which learns the results' shapes from PyTorch's code.\n"
                        "_op = torch.library.custom_op({}, OPERATOR, mutates_args=(),\n    schema={})\n_op.register_fake(OPERATOR.compose)\nOP = torch.ops.hone.{}.default\n\n\n",
                        python_string("hone::" + op), python_string(fmt::format("({}) -> {}", fmt::join(schema, ", "), result)), op);
    text += fmt::format("def {}({}):\n    \"\"\"The kernel where it holds, else PyTorch; PyTorch also where a gradient is wanted.\"\"\"\n", name_, parameters());
    const std::string tensors = fmt::format("({}{})", fmt::join(code_.tensors, ", "), code_.tensors.size() == 1 ? "," : "");
    text += fmt::format("    if wants_grad({0}):\n        return OPERATOR.compose({1})\n    return OPERATOR({1}) if undisturbed({0}) else OP({1})\n", tensors, arguments());
    return text;
  }

  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '\\' || c == '"' ? fmt::format("\\{}", c) : std::string(1, c);
    return out;
  }

  [[nodiscard]] std::string project() const {
    return fmt::format("[build-system]\nrequires = [\"setuptools>=61\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\nname = {}\n"
                       "version = \"1.0\"\ndescription = {}\nrequires-python = \">=3.9\"\ndependencies = [\"torch>=2.4\"]\n\n"
                       "[tool.setuptools]\npackages = [{}]\n\n[tool.setuptools.package-data]\n{} = [\"source/**\", \"binary/**\"]\n",
                       python_string(name_), python_string(fmt::format("{}: a kernel made by hone {}", task_.name, base::kVersion)), python_string(name_), name_);
  }

  [[nodiscard]] std::string readme() const {
    std::string text = fmt::format("# {}\n\nA PyTorch operator, made by hone, which it does not need.\n\n```python\nfrom {} import {}\n```\n\n    {}\n\n{}\n", name_, name_,
                                   name_, signature_of(task_), indented(task_.compute, "    "));
    text += "## Where the kernel is used\n\n";
    if (options_.verified) {
      text += fmt::format("On {} with {}. ", options_.verified->device, options_.verified->toolchain);
      text += source_.type == "CpuKernel" ? "The number of threads is torch's own. " : "";
      text += "Elsewhere PyTorch's operations are, with one warning that says why.\n\n";
    } else {
      text += "Nothing is known of where it was verified: it was exported without a verdict.\n\n";
    }
    text += "There, for tensors of the types above, dense and row-major, all on one device, wherever no gradient is wanted";
    text += source_.conditions.empty() ? ".\n" : ", and\n\n";
    for (const std::string& condition : source_.conditions) text += fmt::format("- {}\n", condition);
    text += "\nFor everything else of the task's shapes PyTorch's own operations give the answer, silently. Tensors of other shapes are a ValueError.\n"
            "The operator has no derivative of its own: `torch.ops.hone` called directly with tensors that want one raises when it is asked for.\n";
    if (!keywords_.empty()) text += fmt::format("No shape gives {}: it is a keyword argument.\n", fmt::join(keywords_, ", "));
    for (const task::InputSpec& input : task_.inputs)
      if (input.domain != task::Domain::kReal || input.structure != task::Structure::kNone || input.values) {
        text += "The kernel takes for granted what the task says of its inputs (values of an index, zero triangles, known values, ...); nothing checks it.\n";
        break;
      }
    text += source_.binaries.empty() ? fmt::format("\nThe first call compiles `{}/source`; what it makes is kept in `{}/build`, or in `~/.cache/hone-export`.\n", name_, name_)
                                     : fmt::format("\n`{}/binary` holds its machine code: nothing is compiled, and `{}/source` is for people.\n", name_, name_);
    if (source_.modules.front() == "driver")
      text += "Warm it up before capturing a CUDA graph. Kernels whose blocks wait for each other must not run on two streams at once.\n";
    text += "\n## Where it comes from\n\n```\n";
    for (const std::string& line : torch_provenance(kernel_, task_, options_)) text += line + "\n";
    return text + "```\n";
  }

  /// With the smallest of the verified shapes, on the kernel's device.
  [[nodiscard]] std::string test() const {
    const auto elements = [](const task::Workload& workload) {
      double product = 1;
      for (const auto& [symbol, value] : workload.bindings) product *= static_cast<double>(value);
      return product;
    };
    const task::Workload& workload = *std::min_element(task_.workloads.begin(), task_.workloads.end(),
                                                       [&](const auto& a, const auto& b) { return elements(a) < elements(b); });
    std::string text = fmt::format("\"\"\"The operator against PyTorch: pytest, or python test_{0}.py.\"\"\"\nimport torch\n\nimport {0}\n\n\ndef inputs():\n"
                                   "    generator = torch.Generator().manual_seed(1)\n    tensors = []\n", name_);
    for (const task::InputSpec& input : task_.inputs) {
      std::vector<int64_t> shape;
      for (const task::IntExpr& extent : input.type.dims) shape.push_back(extent.eval(workload.bindings).value_or(1));
      const std::string size = fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
      std::string made = fmt::format("torch.randn({}, generator=generator)", size);
      if (input.domain == task::Domain::kIndex) {
        made = fmt::format("torch.randint({}, {}, generator=generator)", input.index_bound.eval(workload.bindings).value_or(1), size);
      } else if (input.domain == task::Domain::kSimplex) {
        made += ".softmax(-1)";
      } else if (input.domain == task::Domain::kSign) {
        made += ".sign()";
      } else if (input.domain == task::Domain::kPositive || input.domain == task::Domain::kUnit || input.domain == task::Domain::kNearOne) {
        made = fmt::format("torch.rand({}, generator=generator) * 0.5 + 0.5", size);
      } else if (!task::is_float(input.type.dtype)) {
        made = fmt::format("torch.randint(0, 2, {}, generator=generator)", size);
      }
      if (input.structure == task::Structure::kTriu) made += ".triu()";
      if (input.structure == task::Structure::kTril) made += ".tril()";
      if (input.structure == task::Structure::kSymmetric) made = fmt::format("(lambda a: (a + a.mT) / 2)({})", made);
      text += fmt::format("    tensors.append(({}).to(torch.{}))\n", made, task::numpy_name_of(input.type.dtype));
    }
    std::vector<std::string> given;
    for (const std::string& keyword : keywords_) given.push_back(fmt::format("{}: {}", python_string(keyword), workload.bindings.find(keyword)->second));
    text += fmt::format("    return [tensor.to({}.KERNEL.device) for tensor in tensors]\n\n\nGIVEN = {{{}}}\n\n\ndef close(found, wanted):\n"
                        "    bound = {{torch.float64: 1e-10, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}}.get(wanted.dtype, 0)\n"
                        "    scale = wanted.double().abs().max().item() + 1e-30\n"
                        "    return (found.double() - wanted.double()).abs().max().item() <= bound * scale\n\n\n", name_, fmt::join(given, ", "));
    text += fmt::format("def test_against_pytorch():\n    tensors = inputs()\n    found, wanted = {0}.{0}(*tensors, **GIVEN), {0}.OPERATOR.compose(*tensors, **GIVEN)\n"
                        "    pairs = zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]\n"
                        "    assert all(a.shape == b.shape and a.dtype == b.dtype and close(a, b) for a, b in pairs)\n"
                        "    assert not {0}.OPERATOR.refusals, \"the kernel was not used\"\n\n\nif __name__ == \"__main__\":\n    test_against_pytorch()\n"
                        "    print(\"as PyTorch\")\n", name_);
    return text;
  }

  const Kernel& kernel_;
  const task::Task& task_;
  const TorchOptions& options_;
  std::string name_;
  TaskCode code_;
  TorchSource source_;
  std::vector<std::string> keywords_;
};

}  // namespace

Result<std::vector<ExportedFile>> export_torch(const Kernel& kernel, const task::Task& task, const TorchOptions& options) {
  HONE_TRY(const std::string name, torch_name(options, task));
  HONE_TRY(TaskCode code, task_code(task));
  HONE_TRY(TorchSource source, torch_source(kernel, task, options, name));
  return Package(kernel, task, options, name, std::move(code), std::move(source)).files();
}

}  // namespace hone::face
