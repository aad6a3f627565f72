#include "hone/target/toolchain/triton_start.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/kernel/write_header.h"
#include "hone/target/toolchain/python_compiler.h"

namespace hone::target {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kDescribeDeadline{60};

/// The values of `name` in the configurations, in order of appearance; empty: it is in none.
std::vector<int64_t> values_in(const json& configs, const std::string& name) {
  std::vector<int64_t> all;
  for (const json& config : configs)
    if (const auto it = config.find(name); it != config.end() && (it->is_number_integer() || it->is_boolean())) {
      const int64_t value = it->is_boolean() ? it->get<bool>() : it->get<int64_t>();
      if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
    }
  return all;
}

bool has_tunable(const kernel::Header& header, const std::string& name) {
  return std::any_of(header.tunables.begin(), header.tunables.end(), [&](const kernel::Tunable& t) { return t.name == name; });
}

void add_tunable(kernel::Header& header, const std::string& name, std::vector<int64_t> values) {
  if (!has_tunable(header, name)) header.tunables.push_back({name, std::move(values)});
}

/// What @triton.heuristics computes of the launch's arguments, by name: an expression of the header. Null pointers are asked for as "hone_null_NAME".
Result<task::IntExpr> heuristic(const std::string& name, const json& function, const std::vector<kernel::Argument>& args, const std::string& where) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::kInput, fmt::format("the heuristic {} of {} {}", name, function.value("name", ""), what), "leave it out, and give the constant in the header: a tunable of its name, or \"=VALUE\"", where);
  };
  const auto parsed = task::IntExpr::parse(function["heuristics"].at(name).get<std::string>());
  if (!parsed) return refuse("makes no expression: " + parsed.error().message);
  std::map<std::string, task::IntExpr, std::less<>> known;
  const json& parameters = function["parameters"];
  for (size_t i = 0; i < std::min(parameters.size(), args.size()); ++i) {
    const std::string parameter = parameters[i].value("name", "");
    using Kind = kernel::Argument::Kind;
    known.emplace("hone_null_" + parameter, task::IntExpr(args[i].kind == Kind::kNull || (args[i].kind == Kind::kConstant && args[i].tensor == "None") ? 1 : 0));
    const bool is_number = args[i].kind == Kind::kI32 || args[i].kind == Kind::kI64 || (args[i].kind == Kind::kConstant && args[i].tensor.empty());
    if (is_number) known.emplace(parameter, args[i].value);
  }
  for (const std::string& symbol : parsed->symbols())
    if (!known.contains(symbol)) return refuse(fmt::format("reads {}, which is no whole number of the launch", symbol));
  return parsed->substitute(known);
}

/// Puts the constants among a launch's arguments. Says what is missing.
Result<bool> complete_launch(kernel::Header& header, kernel::Launch& launch, const json& function, const std::string& where) {
  const json heuristics = function.value("heuristics", json::object());
  const json& parameters = function["parameters"];
  const json& configs = function["configs"];
  bool changed = false;
  if (launch.args.size() < parameters.size()) {
    std::vector<kernel::Argument> args;
    std::vector<size_t> computed;
    size_t next = 0;
    const auto of_run_time = static_cast<size_t>(std::count_if(parameters.begin(), parameters.end(), [](const json& p) { return !p.value("constant", false); }));
    if (launch.args.size() > of_run_time) return false;  // some constants are given: by position, as the compiler will see
    for (const json& parameter : parameters) {
      const std::string name = parameter.value("name", "");
      if (!parameter.value("constant", false)) {
        if (next >= launch.args.size())
          return fail(ErrorCode::kInput, fmt::format("{} takes {} arguments of run time, its launch gives {}", launch.function, of_run_time, launch.args.size()), "", where);
        args.push_back(launch.args[next++]);
        continue;
      }
      const std::vector<int64_t> values = values_in(configs, name);
      kernel::Argument constant;
      constant.kind = kernel::Argument::Kind::kConstant;
      constant.value = task::IntExpr::symbol(name);
      if (!values.empty()) add_tunable(header, name, values);
      if (!has_tunable(header, name) && heuristics.contains(name)) {
        computed.push_back(args.size());
      } else if (!has_tunable(header, name)) {
        constant.tensor = parameter.value("default", "");
        if (constant.tensor.empty())
          return fail(ErrorCode::kInput, fmt::format("nothing says what the constant {} of {} is", name, launch.function),
                      fmt::format("give it a tunable of that name, or \"=VALUE\" in its place among the arguments"), where);
      }
      args.push_back(std::move(constant));
      changed = true;
    }
    // A heuristic may ask for one that stands before it in the decorator: each is put in where it is known.
    for (const size_t i : computed) {
      HONE_TRY(args[i].value, heuristic(parameters[i].value("name", ""), function, args, where));
    }
    launch.args = std::move(args);
  }
  for (const auto& [key, to] : {std::pair{"num_warps", &launch.warps}, {"num_stages", &launch.stages}})
    if (heuristics.contains(key)) {
      HONE_TRY(*to, heuristic(key, function, launch.args, where));
      changed = true;
    }
  // The header's own words stand; those of its defaults' are the configurations'.
  for (const auto& [key, name, to, otherwise] : {std::tuple{"num_warps", "WARPS", &launch.warps, int64_t{4}}, {"num_stages", "STAGES", &launch.stages, int64_t{3}}})
    if (const auto values = values_in(configs, key); !values.empty() && to->is_constant() && to->constant() == otherwise) {
      add_tunable(header, name, values);
      *to = task::IntExpr::symbol(name);
      changed = true;
    }
  return changed;
}

/// The tensors that a launch gives to the parameters named in `list`.
std::vector<std::string> tensors_of(const kernel::Launch& launch, const json& function, const char* list) {
  std::vector<std::string> all;
  const json& parameters = function["parameters"];
  for (const json& name : function.value(list, json::array()))
    for (size_t i = 0; i < std::min(parameters.size(), launch.args.size()); ++i)
      if (parameters[i].value("name", json()) == name && launch.args[i].kind == kernel::Argument::Kind::kTensor) all.push_back(launch.args[i].tensor);
  return all;
}

constexpr int64_t kCleared = 1024;  ///< elements that a program clears

std::string clearing_name(const std::string& output) { return "hone_zero_" + output; }

std::string clearing_function(const std::string& output) {
  return fmt::format("\n\nimport triton\nimport triton.language\n\n\n@triton.jit\ndef {}(to, N, BLOCK: triton.language.constexpr):\n"
                     "    at = triton.language.program_id(0).to(triton.language.int64) * BLOCK + triton.language.arange(0, BLOCK)\n"
                     "    triton.language.store(to + at, triton.language.zeros((BLOCK,), to.dtype.element_ty), mask=at < N)\n", clearing_name(output));
}

/// A launch before each that is the first to take an output which its function's autotune resets: Triton's users hand in zeros, hone's outputs hold
/// rubbish. Gives those outputs' names.
Result<std::vector<std::string>> clear_outputs(kernel::Header& header, const json& answer, const task::Task* task, const std::string& where) {
  std::vector<std::string> cleared, taken;
  std::vector<kernel::Launch> launches;
  for (const kernel::Launch& launch : header.launches) {
    std::vector<std::string> zeroed, restored;
    for (const json& function : answer.at("functions"))
      if (function.at("name") == launch.function) zeroed = tensors_of(launch, function, "zeroed"), restored = tensors_of(launch, function, "restored");
    for (const std::string& tensor : restored)
      if (task && std::any_of(task->inputs.begin(), task->inputs.end(), [&](const task::InputSpec& input) { return input.name == tensor; }))
        return fail(ErrorCode::kInput, fmt::format("restore_value says that {} changes {} where it lies, which is an input", launch.function, tensor),
                    "hone's inputs are read only: have the kernel write an output", where);
    for (const std::string& tensor : zeroed) {
      const auto is_it = [&](const auto& named) { return named.name == tensor; };
      if (std::find(taken.begin(), taken.end(), tensor) != taken.end() || std::any_of(header.workspaces.begin(), header.workspaces.end(), is_it)) continue;
      if (!task) return fail(ErrorCode::kInput, fmt::format("{} is to be cleared (reset_to_zero), and only its task says how large it is", tensor), "name the task with the kernel", where);
      const auto output = std::find_if(task->outputs.begin(), task->outputs.end(), [&](const auto& one) { return one.first == tensor; });
      if (output == task->outputs.end()) return fail(ErrorCode::kInput, fmt::format("reset_to_zero names {}, which is no output of the task", tensor), "inputs are read only", where);
      task::IntExpr count = 1;
      for (const task::IntExpr& extent : output->second.dims) count = count * extent;
      kernel::Launch& clearing = launches.emplace_back();
      clearing.function = clearing_name(tensor);
      clearing.when = launch.when;
      clearing.grid = {task::IntExpr::ceil_div(count, kCleared)};
      for (const auto kind : {kernel::Argument::Kind::kTensor, kernel::Argument::Kind::kI64, kernel::Argument::Kind::kConstant}) {
        kernel::Argument& argument = clearing.args.emplace_back();
        argument.kind = kind;
        if (kind == kernel::Argument::Kind::kTensor) argument.tensor = tensor;
        else argument.value = kind == kernel::Argument::Kind::kI64 ? count : task::IntExpr(kCleared);
      }
      cleared.push_back(tensor);
      taken.push_back(tensor);
    }
    for (const kernel::Argument& argument : launch.args)
      if (argument.kind == kernel::Argument::Kind::kTensor) taken.push_back(argument.tensor);
    launches.push_back(launch);
  }
  header.launches = std::move(launches);
  return cleared;
}

/// Constants behind those that the launch gives. Says whether there were any.
bool complete_constants(kernel::Header& header, kernel::Launch& launch, const json& function) {
  const json& parameters = function["parameters"];
  auto given = static_cast<size_t>(std::count_if(launch.args.begin(), launch.args.end(), [](const kernel::Argument& a) { return a.kind == kernel::Argument::Kind::kConstant; }));
  const auto said = [&](const json& parameter) {
    const std::string name = parameter.value("name", "");
    if (const auto values = values_in(function["configs"], name); !values.empty()) add_tunable(header, name, values);
    return has_tunable(header, name) || parameter.value("default", "").empty();
  };
  // Defaults at the end are Python's own to fill in.
  size_t needed = given;
  for (size_t i = given; i < parameters.size(); ++i)
    if (said(parameters[i])) needed = i + 1;
  for (size_t i = given; i < needed; ++i) {
    kernel::Argument constant;
    constant.kind = kernel::Argument::Kind::kConstant;
    if (said(parameters[i])) constant.value = task::IntExpr::symbol(parameters[i].value("name", ""));
    else constant.tensor = parameters[i].value("default", "");
    launch.args.push_back(std::move(constant));
  }
  return needed > given;
}

/// What the compiler says of the functions that the launches name.
Result<json> described(const PythonRow& row, const kernel::Kernel& kernel, const std::string& where, const char* document) {
  json functions = json::array();
  if (&row == &kTileLangRow)
    for (const kernel::Launch& launch : kernel.header.launches) functions.push_back({{"name", launch.function}});
  HONE_TRY(json answer, ask_python(row, {{"source", kernel.source}, {"target", "cuda:90"}, {"want", "describe"}, {"functions", std::move(functions)}}, kDescribeDeadline));
  if (answer.contains("error"))
    return fail(ErrorCode::kInput, answer.value("error", "it is not taken"), fmt::format("{} says what a module may hold", document),
                fmt::format("{}:{}:{}", where, answer.value("line", 0), answer.value("column", 0)));
  return answer;
}

}  // namespace

Result<kernel::Kernel> complete_tilelang(kernel::Kernel kernel, std::string_view path) {
  const std::string where(path);
  HONE_TRY(const json answer, described(kTileLangRow, kernel, where, "docs/tilelang.md"));
  kernel::Header header = kernel.header;
  bool changed = false;
  try {
    for (size_t i = 0; i < header.launches.size(); ++i) changed = complete_constants(header, header.launches[i], answer.at("functions").at(i)) || changed;
  } catch (const json::exception&) {
    return fail(ErrorCode::kInput, "the compiler's answer makes no sense", "", where);
  }
  if (!changed) return kernel;
  return kernel::with_header(kernel, header);
}

Result<kernel::Kernel> complete_triton(kernel::Kernel kernel, std::string_view path, const task::Task* task) {
  const std::string where(path);
  HONE_TRY(const json answer, described(kTritonRow, kernel, where, "docs/triton.md"));
  kernel::Header header = kernel.header;
  bool changed = false;
  try {
    for (kernel::Launch& launch : header.launches)
      for (const json& function : answer.at("functions"))
        if (function.at("name") == launch.function) {
          HONE_TRY(const bool more, complete_launch(header, launch, function, where));
          changed = changed || more;
        }
  } catch (const json::exception&) {
    // The answer comes out of the module's own process.
    return fail(ErrorCode::kInput, "the compiler's answer makes no sense", "", where);
  }
  HONE_TRY(const auto cleared, clear_outputs(header, answer, task, where));
  for (const std::string& output : cleared) kernel.source += clearing_function(output);
  if (!changed && cleared.empty()) return kernel;
  return kernel::with_header(kernel, header);
}

}  // namespace hone::target
