// Commands about the task language and about a task: ops, explain.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/face/cli/context.h"
#include "hone/face/cli/text.h"
#include "hone/face/program/optimise.h"
#include "hone/pattern/library.h"
#include "hone/pattern/traffic.h"
#include "hone/target/calibrate/speed_of_light.h"
#include "hone/target/cpu.h"
#include "hone/task/graph/cost.h"
#include "hone/task/reference/language_page.h"
#include "hone/task/reference/op_facts.h"
#include "hone/task/task_draft.h"

namespace hone::face {
namespace {

using nlohmann::json;

/// "1.05e+06 f32", "-"
std::string products_text(const task::Products& products) {
  std::string text;
  for (const auto& [name, n] : {std::pair{"f64", products.f64}, {"f32", products.f32}, {"bf16", products.bf16}, {"i8", products.i8}})
    if (n > 0) text += fmt::format("{}{:.3g} {}", text.empty() ? "" : ", ", n, name);
  return text.empty() ? "-" : text;
}

std::string domain_of(const task::InputSpec& input) {
  if (input.domain == task::Domain::kIndex) return fmt::format("index({})", input.index_bound.to_string());
  return std::string(task::name_of(input.domain));
}

/// What one family draws for one input.
struct Drawn {
  double least = 0, largest = 0, zeros = 0;  ///< zeros: the share of them
};

task::Shape shape_of(const task::InputSpec& input, const task::Bindings& bindings) {
  task::Shape shape;
  for (const task::IntExpr& dim : input.type.dims) shape.push_back(dim.eval(bindings).value_or(1));
  return shape;
}

/// Of a sample: the trailing dimensions of the workload's shape, kSample elements at most (square where the
/// input has a structure), always the same; known values are all looked at.
Drawn sample_of(const task::InputSpec& input, const task::Bindings& bindings, evaluate::Family family) {
  constexpr int64_t kSample = 4096, kSide = 64;
  task::Shape shape = shape_of(input, bindings);
  int64_t room = evaluate::is_known(input, shape) ? task::element_count(shape) : kSample;
  for (size_t i = shape.size(); i-- > 0;) {
    shape[i] = std::min(shape[i], std::min(room, input.structure == task::Structure::kNone ? room : kSide));
    room /= shape[i];
  }
  const int64_t count = task::element_count(shape);
  const int64_t bound = input.domain == task::Domain::kIndex ? input.index_bound.eval(bindings).value_or(1) : 1;
  std::vector<uint64_t> data(static_cast<size_t>(count));  // 8 bytes an element suffice for every type
  evaluate::draw(input, shape, bound, family, 1, data.data(), 1);
  std::vector<double> values(static_cast<size_t>(count));
  evaluate::load_doubles(input.type.dtype, data.data(), 0, count, values.data());
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  const auto zeros = std::count(values.begin(), values.end(), 0.0);
  return {*least, *largest, static_cast<double>(zeros) / static_cast<double>(count)};
}

/// Lines of a printed graph, each behind two blanks.
std::string indented_lines(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

json lines_of(const std::string& text) {
  json lines = json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Inputs with their families, as text and as JSON.
std::string describe_inputs(const task::Task& task, json& inputs) {
  std::string text = "\ninputs\n";
  Table table({"input", "family", "least", "largest", "zeros"});
  for (const task::InputSpec& input : task.inputs) {
    const bool structured = input.structure != task::Structure::kNone;
    text += fmt::format("  {}: {}, {}{}{}{}\n", input.name, input.type.to_string(), domain_of(input),
                        structured ? fmt::format(", {}", task::name_of(input.structure)) : "", input.constant ? ", constant" : "", input.values ? ", known" : "");
    json families = json::array();
    const bool known = evaluate::is_known(input, shape_of(input, task.workloads.front().bindings));
    for (const evaluate::Family family : evaluate::kAllFamilies) {
      if (known && !families.empty()) break;
      const Drawn drawn = sample_of(input, task.workloads.front().bindings, family);
      const std::string name(known ? "known" : evaluate::name_of(family));
      table.add({families.empty() ? input.name : "", name, fmt::format("{:.4g}", drawn.least), fmt::format("{:.4g}", drawn.largest),
                 fmt::format("{:.0f} %", 100 * drawn.zeros)});
      families.push_back({{"family", name}, {"least", drawn.least}, {"largest", drawn.largest}, {"zeros", drawn.zeros}});
    }
    inputs.push_back({{"name", input.name}, {"type", input.type.to_string()}, {"domain", domain_of(input)},
                      {"structure", task::name_of(input.structure)}, {"constant", input.constant}, {"known", input.values.has_value()}, {"families", families}});
  }
  return text + "\nwhat they are drawn from (a sample of each family, for the first workload)\n" + table.to_string();
}

/// Least work at every workload, as text and as JSON. Peaks that nobody measured leave times of 0.
Result<std::string> describe_work(const task::Task& task, const target::CpuPeaks& peaks, json& workloads) {
  Table table({"workload", "read at least", "written at least", "operations", "transcendental", "multiply-adds", "speed of light", "bound by"});
  std::string kinds;
  for (const auto& workload : task.workloads) {
    HONE_TRY(const auto graph, task::instantiate(task.primitive, workload.bindings));
    const task::Cost cost = task::minimal_cost(graph);
    const auto operations = task::operations_by_kind(graph);
    const double memory_ns = target::memory_ns(cost, peaks), compute_ns = target::compute_ns(cost, task.track, peaks);
    const std::string name = workload.bindings.empty() ? workload.name : task::bindings_text(workload.bindings);
    table.add({name, bytes_text(cost.bytes_read), bytes_text(cost.bytes_written),
               fmt::format("{:.3g}", cost.flops), fmt::format("{:.3g}", cost.transcendental), products_text(cost.products),
               time_text(std::max(memory_ns, compute_ns)), std::string(target::bound_by(memory_ns, compute_ns))});
    std::vector<std::string> parts;
    for (const auto& [kind, n] : operations) parts.push_back(fmt::format("{} {:.3g}", kind, n));
    kinds += fmt::format("  {}: {}\n", name, parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", ")));
    workloads.push_back({{"name", workload.name}, {"bindings", workload.bindings}, {"bytes_read", cost.bytes_read},
                         {"bytes_written", cost.bytes_written}, {"flops", cost.flops}, {"transcendental", cost.transcendental},
                         {"products", {{"f64", cost.products.f64}, {"f32", cost.products.f32}, {"bf16", cost.products.bf16}, {"i8", cost.products.i8}}},
                         {"operations", operations}, {"memory_ns", memory_ns}, {"compute_ns", compute_ns},
                         {"bound_ns", std::max(memory_ns, compute_ns)}, {"bound_by", target::bound_by(memory_ns, compute_ns)}});
  }
  return "\nthe least work, and the least time by this machine's peaks\n" + table.to_string() + "\noperations by kind\n" + kinds;
}

/// What an offer's plan moves through memory at the first workload, by the model of pattern/traffic.h.
json plan_of(const pattern::Offer& offer, const task::Task& task, const kernel::Limits& limits, std::string& text) {
  const auto traffic = pattern::traffic_of(offer.kernel, task, task.workloads.front().bindings, limits);
  if (traffic) text += fmt::format("; {} launches, {}", traffic->launches.size(), bytes_text(traffic->all()));
  text += "\n";
  json launches = json::array();
  for (const kernel::Launch& launch : offer.kernel.header.launches) {
    std::vector<std::string> grid;
    for (const task::IntExpr& extent : launch.grid) grid.push_back(extent.to_string());
    const std::string when = launch.when ? launch.when->to_string() : "";
    text += fmt::format("      {} on a grid of {}{}\n", launch.function, fmt::join(grid, " by "), when.empty() ? "" : ", when " + when);
    launches.push_back({{"function", launch.function}, {"grid", grid}, {"when", when.empty() ? json() : json(when)}});
  }
  return {{"plan", launches}, {"hash", offer.kernel.hash()}, {"action", offer.action}, {"launches", traffic ? json(traffic->launches.size()) : json()},
          {"bytes_moved", traffic ? json(traffic->all()) : json()}};
}

/// The built-in kernels, and the task without fusion (null where it is one operation), as text and as JSON.
std::string describe_patterns(const task::Task& task, const std::string& target, const kernel::Limits& limits, json& patterns, json& unfused) {
  const auto graph = task::instantiate(task.primitive, task.workloads.front().bindings);
  const task::Cost least = graph ? task::minimal_cost(*graph) : task::Cost{};
  std::string text = fmt::format("\npatterns, and what their plans move at the first workload (modelled; the least is {})\n",
                                 bytes_text(least.bytes_read + least.bytes_written));
  std::vector<std::string> why_not;
  const std::vector<kernel::Language> languages = target::languages_of(target);
  for (const kernel::Language language : languages)
    for (const auto& offer : pattern::offers(task, language, why_not)) {
      text += fmt::format("  {}. {}: {} ({})", patterns.size(), offer.pattern, offer.action, offer.kernel.header.note);
      patterns.push_back(plan_of(offer, task, limits, text));
      patterns.back()["pattern"] = offer.pattern;
      patterns.back()["language"] = kernel::name_of(language);
    }
  for (const std::string& why : why_not) text += "  not " + why + "\n";
  if (std::find(languages.begin(), languages.end(), kernel::Language::kCpp) == languages.end()) return text;
  if (const auto apart = pattern::unfused_cpp(task)) {
    text += "  without fusion it would be " + apart->action;
    unfused = plan_of(*apart, task, limits, text);
  }
  return text;
}

/// The first offer in each of the target's languages; in C++ the task without fusion too.
Status save_kernels(const task::Task& task, const std::string& target, const std::filesystem::path& folder) {
  std::vector<std::string> why_not;
  bool any = false;
  HONE_TRY_VOID(base::make_directories(folder));
  for (const kernel::Language language : target::languages_of(target)) {
    const auto offers = pattern::offers(task, language, why_not);
    if (offers.empty()) continue;
    any = true;
    HONE_TRY_VOID(base::write_file_atomic(folder / ("fused" + std::string(kernel::row_of(language).suffix)), offers.front().kernel.source));
    if (language != kernel::Language::kCpp) continue;
    HONE_TRY(const pattern::Offer unfused, pattern::unfused_cpp(task));
    HONE_TRY_VOID(base::write_file_atomic(folder / "unfused.cc", unfused.kernel.source));
  }
  if (!any) return fail(ErrorCode::kUnavailable, fmt::format("no built-in pattern covers this task yet ({})", fmt::join(why_not, "; ")));
  return {};
}

}  // namespace

Result<int> explain(const ExplainArguments& arguments) {
  if (const auto program = evaluate::program_source(arguments.task.file)) return explain_program(*program, arguments);
  HONE_TRY(const task::Task task, task_of(arguments.task));
  HONE_TRY(const kernel::Limits limits, target::limits_of(arguments.target));
  json inputs = json::array(), workloads = json::array(), patterns = json::array(), unfused;
  const std::string surface = task.surface.to_string(), primitive = task.primitive.to_string();
  std::string text = fmt::format("task {} ({}), track {}\n\n{}\ngraph\n{}\nprimitives\n{}", task.name, base::short_hash(task.hash()),
                                 task::name_of(task.track), indented_lines(task.compute), indented_lines(surface), indented_lines(primitive));
  text += describe_inputs(task, inputs);
  HONE_TRY(const std::string work, describe_work(task, target::cpu_peaks(), workloads));
  text += work + describe_patterns(task, arguments.target, limits, patterns, unfused);
  if (!arguments.save.empty()) HONE_TRY_VOID(save_kernels(task, arguments.target, arguments.save));
  if (arguments.json) {
    fmt::print("{}\n", base::canonical_json(json{{"task", task.name}, {"hash", task.hash()}, {"track", task::name_of(task.track)},
                                                 {"graph", lines_of(surface)}, {"primitives", lines_of(primitive)}, {"inputs", inputs},
                                                 {"workloads", workloads}, {"patterns", patterns}, {"unfused", unfused}}));
  } else {
    fmt::print("{}", text);
  }
  return 0;
}

Result<int> list_ops(const std::string& name, bool markdown) {
  if (markdown && !name.empty())
    return fail(ErrorCode::kUsage, "--markdown prints the whole reference, not one operation", "leave one of the two out");
  if (markdown) {
    fmt::print("{}", task::language_page());
  } else if (name.empty()) {
    fmt::print("{}", task::op_table_text());
  } else {
    const task::Op* op = task::find_op(name);
    if (op == nullptr) {
      std::string hint = task::did_you_mean(name, task::all_op_names());
      if (hint.empty()) hint = "hone ops lists them";
      return fail(ErrorCode::kUsage, fmt::format("there is no operation '{}'", name), hint);
    }
    fmt::print("{}", task::op_text(*op));
  }
  return 0;
}

}  // namespace hone::face
