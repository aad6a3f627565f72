// Reads a task file. The mix of drawn/ is read with toml++ too; nothing else of this room knows it.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "hone/base/file.h"
#include "hone/task/graph/op_table.h"
#include "hone/task/language/limits.h"
#include "hone/task/source_map.h"
#include "hone/task/task_draft.h"
#include "hone/task/toml_guard.h"

namespace hone::task {
namespace {

Where where_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

std::string_view kind_text(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
    default:
      return "something else";
  }
}

bool may_be_non_finite(const InputSpec& input) {
  return is_float(input.type.dtype) && (input.domain == Domain::kReal || input.domain == Domain::kPositive);
}

class Reader {
 public:
  Reader(std::string_view text, std::string path, std::optional<std::filesystem::path> folder) : text_(text), path_(std::move(path)), folder_(std::move(folder)) {}

  Result<Task> run() {
    if (auto problem = toml_guard(text_))
      return wrong(problem->where, std::move(problem->message), std::move(problem->hint));
    const toml::parse_result parsed = toml::parse(text_, path_);
    if (!parsed) {
      TomlProblem problem = toml_problem(parsed.error().description(), text_,
                                         where_of(parsed.error().source()));
      return wrong(problem.where, std::move(problem.message), std::move(problem.hint));
    }
    const toml::table& root = parsed.table();
    HONE_TRY_VOID(check_keys(root, "a task", task_keys()));
    Task& task = draft_.task;
    HONE_TRY(const std::string* name, text_at(root, "name", true));
    task.name = *name;
    if (task.name.empty())
      return wrong(where_of(root.get("name")->source()), "the name is empty", "name = \"softmax\"");
    if (task.name.size() > kMaxName)
      return wrong(where_of(root.get("name")->source()),
                   fmt::format("the name has more than {} characters", kMaxName));
    HONE_TRY_VOID(read_inputs(root));
    HONE_TRY_VOID(read_outputs(root));
    HONE_TRY(const std::string* compute, text_at(root, "compute", true));
    task.compute = *compute;
    HONE_TRY_VOID(read_workloads(root));
    HONE_TRY_VOID(read_default(root));
    HONE_TRY_VOID(read_policies(root));
    const SourceMap map(text_, where_of(root.get("compute")->source()));
    draft_.to_file = [map](Where inside) { return map.to_file(inside); };
    draft_.context = [path = path_](Where where) {
      return where.line == 0 ? path : fmt::format("{}:{}:{}", path, where.line, where.column);
    };
    return assemble(std::move(draft_));
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(Where where, std::string message, std::string hint = {}) const {
    return tl::unexpected<Error>(
        readable({ErrorCode::kInput, std::move(message), std::move(hint),
                  where.line == 0 ? path_ : fmt::format("{}:{}:{}", path_, where.line, where.column)}));
  }

  struct Entry {
    std::string key;
    Where where;
    const toml::node* value;
  };

  /// toml++ sorts tables by key; the file's order is the declared one.
  static std::vector<Entry> in_order(const toml::table& table) {
    std::vector<Entry> entries;
    for (const auto& [key, value] : table)
      entries.push_back({std::string(key.str()), where_of(key.source()), &value});
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
    });
    return entries;
  }

  [[nodiscard]] Status check_keys(const toml::table& table, std::string_view what,
                                  std::span<const Word> known) const {
    std::vector<std::string> names;
    for (const Word& word : known) names.emplace_back(word.name);
    for (const Entry& entry : in_order(table)) {
      if (std::find(names.begin(), names.end(), entry.key) != names.end()) continue;
      std::string hint = did_you_mean(entry.key, names);
      if (hint.empty()) hint = fmt::format("keys of {}: {}", what, join(names));
      return wrong(entry.where, fmt::format("{} has no key '{}'", what, entry.key), hint);
    }
    return {};
  }

  static std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  /// Null where an optional key is absent.
  [[nodiscard]] Result<const std::string*> text_at(const toml::table& table, std::string_view key,
                                                   bool needed) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) {
      if (!needed) return nullptr;
      return wrong({}, fmt::format("the task has no '{}'", key),
                   key == "compute" ? "compute = \"y = …\"" : fmt::format("{} = \"…\"", key));
    }
    if (!node->is_string())
      return wrong(where_of(node->source()), fmt::format("'{}' is a text, found {}", key, kind_text(*node)));
    return &node->as_string()->get();
  }

  [[nodiscard]] Result<bool> flag_at(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return false;
    if (!node->is_boolean())
      return wrong(where_of(node->source()),
                   fmt::format("'{}' is true or false, found {}", key, kind_text(*node)));
    return node->as_boolean()->get();
  }

  [[nodiscard]] Result<TensorType> type_from(const toml::node& node) const {
    const auto type = TensorType::parse(node.as_string()->get());
    if (type) return *type;
    Error error = type.error();
    int column = 1;
    if (error.context.rfind("column ", 0) == 0)
      std::from_chars(error.context.data() + 7, error.context.data() + error.context.size(), column);
    const SourceMap map(text_, where_of(node.source()));
    return wrong(map.to_file({1, column}), std::move(error.message), std::move(error.hint));
  }

  Status read_inputs(const toml::table& root) {
    const toml::node* node = root.get("inputs");
    if (node == nullptr) return wrong({}, "the task has no 'inputs'", "inputs = { x = \"f32[B, D]\" }");
    if (!node->is_table())
      return wrong(where_of(node->source()),
                   fmt::format("'inputs' is a table of types, found {}", kind_text(*node)),
                   "inputs = { x = \"f32[B, D]\" }");
    if (node->as_table()->empty()) return wrong(where_of(node->source()), "a task needs an input");
    for (const Entry& entry : in_order(*node->as_table())) {
      if (!is_identifier(entry.key))
        return wrong(entry.where, fmt::format("'{}' is not a name: letters, digits and _", entry.key));
      InputSpec input;
      input.name = entry.key;
      if (entry.value->is_string()) {
        auto type = type_from(*entry.value);
        const auto keys = task_keys();
        if (!type &&
            std::any_of(keys.begin(), keys.end(), [&](const Word& key) { return key.name == entry.key; }))
          return wrong(entry.where, fmt::format("'{}' stands among the inputs", entry.key),
                       "keys of the task come before the first [section]");
        if (!type) return tl::unexpected(std::move(type).error());
        input.type = std::move(*type);
      } else if (entry.value->is_table()) {
        HONE_TRY_VOID(read_long_input(*entry.value->as_table(), entry, input));
      } else {
        return wrong(
            where_of(entry.value->source()),
            fmt::format("the input '{}' is a type or a table, found {}", entry.key, kind_text(*entry.value)),
            "x = \"f32[B, D]\" or x = { type = \"f32[B, D]\", domain = \"positive\" }");
      }
      draft_.task.inputs.push_back(std::move(input));
      draft_.input_where.push_back(entry.where);
    }
    return {};
  }

  [[nodiscard]] Status read_long_input(const toml::table& table, const Entry& entry, InputSpec& input) const {
    HONE_TRY_VOID(check_keys(table, "an input", input_keys()));
    HONE_TRY(const std::string* type, text_at(table, "type", false));
    if (type == nullptr)
      return wrong(entry.where, fmt::format("the input '{}' has no type", entry.key), "type = \"f32[B, D]\"");
    HONE_TRY(input.type, type_from(*table.get("type")));
    HONE_TRY(const std::string* domain, text_at(table, "domain", false));
    if (domain != nullptr) HONE_TRY_VOID(read_domain(*table.get("domain"), *domain, input));
    HONE_TRY(const std::string* structure, text_at(table, "structure", false));
    if (structure != nullptr) {
      const auto known = structure_from(*structure);
      if (!known)
        return wrong(where_of(table.get("structure")->source()),
                     fmt::format("there is no structure \"{}\"", *structure),
                     nearest_word(*structure, structure_words(), "none, triu, tril or symmetric"));
      input.structure = *known;
    }
    HONE_TRY(input.constant, flag_at(table, "constant"));
    HONE_TRY(const std::string* values, text_at(table, "values", false));
    if (values != nullptr) HONE_TRY_VOID(read_values(*table.get("values"), *values, input));
    return {};
  }

  [[nodiscard]] Status read_values(const toml::node& node, const std::string& text, InputSpec& input) const {
    const Where where = where_of(node.source());
    const auto read = [&]() -> Result<KnownValues> {
      if (text.starts_with(kPackedPrefix)) return unpack_values(text, input.type.dtype);
      HONE_TRY(const std::string npy, base::read_file(*folder_ / text));
      HONE_TRY(KnownValues values, values_from_npy(npy, input.type.dtype));
      values.file = text;
      return values;
    };
    const bool packed = text.starts_with(kPackedPrefix);
    if (!packed && !folder_)
      return wrong(where, fmt::format("the values of '{}' are in a file, and this text has no folder", input.name), "give the task as a file");
    std::error_code ignored;
    if (!packed && !std::filesystem::is_regular_file(*folder_ / text, ignored))
      return wrong(where, fmt::format("there is no file {} beside the task for the values of '{}'", text, input.name), "values = \"mask.npy\", relative to the task file");
    auto values = read();
    if (!values) return wrong(where, fmt::format("the values of '{}': {} {}", input.name, packed ? "they" : text, values.error().message), values.error().hint);
    input.values = std::move(*values);
    return {};
  }

  [[nodiscard]] Status read_domain(const toml::node& node, const std::string& text, InputSpec& input) const {
    const Where where = where_of(node.source());
    constexpr std::string_view kHint = "real, positive, simplex, index(N), sign, near_one or unit";
    if (text.rfind("index(", 0) == 0 && text.back() == ')') {
      auto bound = IntExpr::parse(std::string_view(text).substr(6, text.size() - 7));
      if (!bound) return wrong(where, "in the bound of index: " + bound.error().message, bound.error().hint);
      input.domain = Domain::kIndex;
      input.index_bound = std::move(*bound);
      return {};
    }
    if (text.rfind("index(", 0) == 0)
      return wrong(where, "expected ')' after the bound of index", "index(N): integers from 0 to N - 1");
    if (text == "index")
      return wrong(where, "the domain index needs its bound", "index(N): integers from 0 to N - 1");
    const auto domain = domain_from(text);
    if (!domain)
      return wrong(where, fmt::format("there is no domain \"{}\"", text),
                   nearest_word(text, domain_words(), kHint));
    input.domain = *domain;
    return {};
  }

  Status read_outputs(const toml::table& root) {
    const toml::node* node = root.get("outputs");
    if (node == nullptr) return {};
    if (!node->is_table() || node->as_table()->empty())
      return wrong(where_of(node->source()),
                   fmt::format("'outputs' is a table of types, found {}",
                               node->is_table() ? "an empty one" : kind_text(*node)),
                   "outputs = { y = \"f32[B, D]\" }");
    for (const Entry& entry : in_order(*node->as_table())) {
      if (!is_identifier(entry.key))
        return wrong(entry.where, fmt::format("'{}' is not a name: letters, digits and _", entry.key));
      if (!entry.value->is_string())
        return wrong(where_of(entry.value->source()),
                     fmt::format("the output '{}' is a type, found {}", entry.key, kind_text(*entry.value)));
      HONE_TRY(TensorType type, type_from(*entry.value));
      for (const InputSpec& input : draft_.task.inputs)
        if (input.name == entry.key)
          return wrong(entry.where, fmt::format("'{}' is both an input and an output", entry.key));
      draft_.outputs.emplace_back(entry.key, std::move(type));
      draft_.output_where.push_back(entry.where);
    }
    return {};
  }

  Status read_workloads(const toml::table& root) {
    const toml::node* node = root.get("workloads");
    if (node == nullptr) return {};
    constexpr std::string_view kHint = "workloads = [ { B = 64, D = 1024 } ]";
    if (!node->is_array() || node->as_array()->empty())
      return wrong(where_of(node->source()),
                   fmt::format("'workloads' is a list of tables, found {}",
                               node->is_array() ? "an empty one" : kind_text(*node)),
                   std::string(kHint));
    for (const toml::node& item : *node->as_array()) {
      if (!item.is_table())
        return wrong(where_of(item.source()), fmt::format("a workload is a table, found {}", kind_text(item)),
                     std::string(kHint));
      Workload workload;
      workload.name = fmt::format("w{}", draft_.task.workloads.size());
      draft_.binding_where.emplace_back();
      for (const Entry& entry : in_order(*item.as_table())) {
        HONE_TRY_VOID(read_workload_key(entry, workload));
        draft_.binding_where.back()[entry.key] = entry.where;
      }
      draft_.task.workloads.push_back(std::move(workload));
      draft_.workload_where.push_back(where_of(item.source()));
    }
    return {};
  }

  [[nodiscard]] Status read_workload_key(const Entry& entry, Workload& workload) const {
    const toml::node& value = *entry.value;
    const Where where = where_of(value.source());
    if (entry.key == "name") {
      if (!value.is_string() || value.as_string()->get().empty())
        return wrong(where, fmt::format("the name of a workload is a text, found {}",
                                        value.is_string() ? "an empty one" : kind_text(value)));
      workload.name = value.as_string()->get();
    } else if (entry.key == "weight") {
      const auto weight = value.is_number() ? value.value<double>() : std::nullopt;
      if (!weight || !(*weight > 0) || *weight > 1e9)
        return wrong(where, "the weight of a workload is a number above 0 and below 1e9");
      workload.weight = *weight;
    } else {
      if (!value.is_integer())
        return wrong(where,
                     fmt::format("'{}' of a workload is an integer, found {}", entry.key, kind_text(value)));
      workload.bindings[entry.key] = value.as_integer()->get();
    }
    return {};
  }

  /// default = "small" or ["small", "large"]; assemble() knows whether there are such workloads.
  Status read_default(const toml::table& root) {
    const toml::node* node = root.get("default");
    if (node == nullptr) return {};
    std::vector<const toml::node*> names{node};
    if (const toml::array* list = node->as_array()) {
      names.clear();
      for (const toml::node& item : *list) names.push_back(&item);
    }
    for (const toml::node* name : names) {
      if (!name->is_string())
        return wrong(where_of(name->source()),
                     fmt::format("'default' is the name of a workload or a list of names, found {}",
                                 kind_text(*name)),
                     "default = \"small\"");
      draft_.task.default_workloads.push_back(name->as_string()->get());
      draft_.default_where.push_back(where_of(name->source()));
    }
    return {};
  }

  Status read_policies(const toml::table& root) {
    Task& task = draft_.task;
    HONE_TRY(const std::string* precision, text_at(root, "precision", false));
    if (precision != nullptr) {
      const auto track = track_from(*precision);
      if (!track)
        return wrong(where_of(root.get("precision")->source()),
                     fmt::format("there is no precision \"{}\"", *precision),
                     nearest_word(*precision, track_words(), kAllTracks));
      task.track = *track;
    }
    HONE_TRY(task.nan_policy, flag_at(root, "nan"));
    // A key that changes nothing would pass for a promise.
    if (task.nan_policy && std::none_of(task.inputs.begin(), task.inputs.end(), may_be_non_finite))
      return wrong(where_of(root.get("nan")->source()), "'nan = true' would change nothing: no input may hold NaN or an infinity",
                   "leave it out; only float inputs of the domains real and positive may hold them");
    HONE_TRY(task.deterministic, flag_at(root, "deterministic"));
    HONE_TRY(const std::string* start, text_at(root, "start", false));
    if (start != nullptr && start->empty())
      return wrong(where_of(root.get("start")->source()), "'start' names no file",
                   "leave it out to begin from nothing");
    if (start != nullptr) task.start = *start;
    return {};
  }

  std::string_view text_;
  std::string path_;
  std::optional<std::filesystem::path> folder_;
  Draft draft_;
};

}  // namespace

Result<Task> parse_task(std::string_view toml, const std::string& path, const std::optional<std::filesystem::path>& folder) { return Reader(toml, path, folder).run(); }

Result<Task> load_task(const std::filesystem::path& path) {
  HONE_TRY(const std::string text, base::read_file(path));
  return parse_task(text, path.string(), path.parent_path());
}

}  // namespace hone::task
