// What a finished task can tell: symbols, hash, canonical TOML; and tasks from the command line.
#include "hone/task/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "hone/base/hash.h"
#include "hone/task/graph/attr_text.h"
#include "hone/task/graph/op_table.h"
#include "hone/task/task_draft.h"

namespace hone::task {
namespace {

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

/// As a multi-line string, so that the computation stays readable.
std::string toml_lines(std::string_view text) {
  std::string out = "\"\"\"\n";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"\"\"";
}

std::string domain_text(const InputSpec& input) {
  if (input.domain == Domain::kIndex) return fmt::format("index({})", input.index_bound.to_string());
  return std::string(name_of(input.domain));
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Result<InputSpec> input_spec(const std::string& text) {
  const std::string context = fmt::format("-i '{}'", text);
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    return fail(ErrorCode::kUsage, "expected NAME=TYPE", "such as -i 'x=f32[4096,1024]'", context);
  InputSpec input;
  input.name = stripped(std::string_view(text).substr(0, equals));
  if (!is_identifier(input.name))
    return fail(ErrorCode::kUsage, fmt::format("'{}' is not a name: letters, digits and _", input.name), "",
                context);
  auto type = TensorType::parse(std::string_view(text).substr(equals + 1));
  if (!type) return fail(ErrorCode::kUsage, type.error().message, type.error().hint, context);
  input.type = std::move(*type);
  return input;
}

Result<Workload> workload_from(const std::string& text, size_t index) {
  const std::string context = fmt::format("-w '{}'", text);
  Workload workload;
  workload.name = fmt::format("w{}", index);
  std::string_view rest = text;
  while (!stripped(rest).empty()) {
    const size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return fail(ErrorCode::kUsage, fmt::format("expected SYMBOL=NUMBER, found '{}'", stripped(item)),
                  "such as -w 'B=4,D=8'", context);
    const std::string key(stripped(item.substr(0, equals)));
    const std::string_view value = stripped(item.substr(equals + 1));
    if (key == "name") {
      workload.name = value;
      continue;
    }
    const char* end = value.data() + value.size();
    if (key == "weight") {
      const auto read = std::from_chars(value.data(), end, workload.weight);
      if (read.ec != std::errc() || read.ptr != end || !(workload.weight > 0) || workload.weight > 1e9)
        return fail(ErrorCode::kUsage, "the weight of a workload is a number above 0 and below 1e9", "",
                    context);
      continue;
    }
    const auto read = std::from_chars(value.data(), end, workload.bindings[key]);
    if (read.ec != std::errc() || read.ptr != end)
      return fail(ErrorCode::kUsage, fmt::format("'{}' is an integer, found '{}'", key, value), "", context);
  }
  return workload;
}

}  // namespace

std::vector<std::string> Task::symbols() const {
  std::set<std::string> names;
  for (const InputSpec& input : inputs)
    for (const IntExpr& dim : input.type.dims) names.merge(dim.symbols());
  return {names.begin(), names.end()};
}

std::string Task::hash() const {
  base::Hasher hasher;
  hasher.add("hone task 1");
  for (const InputSpec& input : inputs)
    hasher.add(input.name)
        .add(input.type.to_string())
        .add(domain_text(input))
        .add(name_of(input.structure))
        .add(input.constant ? "constant" : "");
  for (const InputSpec& input : inputs)
    if (input.values) hasher.add("values of " + input.name).add(fmt::format("{}", fmt::join(input.values->shape, " "))).add(*input.values->bytes);
  hasher.add(surface.to_string());
  hasher.add(name_of(track)).add(nan_policy ? "nan" : "").add(deterministic ? "deterministic" : "");
  return hasher.finish();
}

std::string Task::to_toml(const std::function<std::string(const InputSpec&)>& file_of) const {
  std::string head = fmt::format("name = {}\n", toml_text(name));
  head += fmt::format("compute = {}\n", toml_lines(compute));
  if (track != Track::kStrict) head += fmt::format("precision = \"{}\"\n", name_of(track));
  if (nan_policy) head += "nan = true\n";
  if (deterministic) head += "deterministic = true\n";
  if (start) head += fmt::format("start = {}\n", toml_text(*start));
  if (!(workloads.size() == 1 && workloads[0].bindings.empty() && workloads[0].name == "w0")) {
    head += "workloads = [\n";
    for (size_t i = 0; i < workloads.size(); ++i) {
      const Workload& workload = workloads[i];
      std::string items;
      if (workload.name != fmt::format("w{}", i))
        items += fmt::format("name = {}, ", toml_text(workload.name));
      if (workload.weight != 1) items += fmt::format("weight = {}, ", number_text(workload.weight));
      for (const auto& [symbol, value] : workload.bindings) items += fmt::format("{} = {}, ", symbol, value);
      if (items.size() >= 2) items.resize(items.size() - 2);
      head += fmt::format("  {{ {} }},\n", items);
    }
    head += "]\n";
  }
  if (!default_workloads.empty()) {
    std::string names;
    for (const std::string& workload : default_workloads)
      names += (names.empty() ? "" : ", ") + toml_text(workload);
    head += fmt::format("default = [{}]\n", names);
  }
  std::string text = head + "\n[inputs]\n";
  for (const InputSpec& input : inputs) {
    const bool plain = input.domain == Domain::kReal && input.structure == Structure::kNone &&
                       !input.constant && !input.values;
    std::string value = toml_text(input.type.to_string());
    if (!plain) {
      value = fmt::format("{{ type = {}", value);
      if (input.domain != Domain::kReal) value += fmt::format(", domain = {}", toml_text(domain_text(input)));
      if (input.structure != Structure::kNone)
        value += fmt::format(", structure = \"{}\"", name_of(input.structure));
      if (input.constant) value += ", constant = true";
      if (input.values) {
        const std::string file = file_of ? file_of(input) : std::string();
        value += fmt::format(", values = {}", toml_text(file.empty() ? pack_values(*input.values, input.type.dtype) : file));
      }
      value += " }";
    }
    text += fmt::format("{} = {}\n", input.name, value);
  }
  text += "\n[outputs]\n";
  for (const auto& [output, type] : outputs)
    text += fmt::format("{} = {}\n", output, toml_text(type.to_string()));
  return text;
}

Result<Task> select_workloads(Task task, const std::vector<std::string>& names) {
  const std::vector<std::string>& wanted = names.empty() ? task.default_workloads : names;
  if (wanted.empty()) return task;
  std::vector<std::string> known;
  for (const Workload& workload : task.workloads) known.push_back(workload.name);
  for (const std::string& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fail(ErrorCode::kUsage,
                  fmt::format("the task {} has no workload '{}'; it has {}", task.name, name,
                              fmt::join(known, ", ")),
                  did_you_mean(name, known));
  std::erase_if(task.workloads, [&](const Workload& workload) {
    return std::find(wanted.begin(), wanted.end(), workload.name) == wanted.end();
  });
  task.default_workloads.clear();
  return task;
}

Result<Task> select_track(Task task, const std::string& name) {
  if (name.empty()) return task;
  const auto track = track_from(name);
  if (!track)
    return fail(ErrorCode::kUsage, fmt::format("there is no track '{}'", name), nearest_word(name, track_words(), kAllTracks));
  task.track = *track;
  return task;
}

Result<Task> task_from_expressions(const std::string& compute, const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& workloads) {
  Draft draft;
  draft.task.name = "expression";
  draft.task.compute = compute;
  if (inputs.empty())
    return fail(ErrorCode::kUsage, "a computation needs an input", "such as -i 'x=f32[4096,1024]'");
  for (const std::string& text : inputs) {
    HONE_TRY(InputSpec input, input_spec(text));
    draft.task.inputs.push_back(std::move(input));
    draft.input_where.emplace_back();
  }
  for (const std::string& text : workloads) {
    HONE_TRY(Workload workload, workload_from(text, draft.task.workloads.size()));
    draft.task.workloads.push_back(std::move(workload));
    draft.workload_where.emplace_back();
  }
  draft.to_file = [](Where where) { return where; };
  draft.context = [](Where where) {
    return where.line == 0 ? std::string() : fmt::format("expression:{}:{}", where.line, where.column);
  };
  return assemble(std::move(draft));
}

std::string bindings_text(const Bindings& bindings) {
  std::string text;
  for (const auto& [name, value] : bindings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "as declared" : text;
}

}  // namespace hone::task
