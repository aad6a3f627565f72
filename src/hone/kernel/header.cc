#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "hone/kernel/header_text.h"
#include "hone/kernel/kernel.h"
#include "hone/task/task_draft.h"
#include "hone/task/toml_guard.h"

namespace hone::kernel {
namespace {

using task::IntExpr;

/// Reads one header; every accessor reports file, line and column.
class Reader {
 public:
  Reader(std::string path, int line) : path_(std::move(path)), line_(line) {}

  [[nodiscard]] std::string at(const toml::source_position& where) const {
    return fmt::format("{}:{}:{}", path_, where.line + static_cast<uint32_t>(line_) - 1,
                       where.column);
  }
  [[nodiscard]] tl::unexpected<Error> error(const toml::node& node, std::string message,
                                            std::string hint = {}) const {
    return fail(ErrorCode::kInput, std::move(message), std::move(hint), at(node.source().begin));
  }

  Status only(const toml::table& table, std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : table)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        return fail(ErrorCode::kInput, fmt::format("unknown key \"{}\"", key.str()),
                    fmt::format("known here: {}", fmt::join(known, ", ")), at(key.source().begin));
    return {};
  }

  Result<std::string> text(const toml::table& table, std::string_view key, bool needed) const {
    const toml::node* node = table.get(key);
    if (!node) {
      if (!needed) return std::string();
      return error(table, fmt::format("\"{}\" is missing", key));
    }
    if (const auto value = node->value_exact<std::string>()) return *value;
    return error(*node, fmt::format("\"{}\" must be a string", key));
  }

  Result<IntExpr> expression(const toml::node& node, std::string_view what) const {
    if (const auto number = node.value_exact<int64_t>()) return IntExpr(*number);
    const auto text = node.value_exact<std::string>();
    if (!text) return error(node, fmt::format("{} must be an integer or an expression", what));
    auto parsed = IntExpr::parse(*text);
    if (!parsed)
      return error(node, fmt::format("in {} \"{}\": {}", what, *text, parsed.error().message),
                   parsed.error().hint);
    return *parsed;
  }

  Result<std::vector<IntExpr>> expressions(const toml::table& table, std::string_view key) const {
    std::vector<IntExpr> all;
    const toml::node* node = table.get(key);
    if (!node) return all;
    const toml::array* array = node->as_array();
    if (!array) return error(*node, fmt::format("\"{}\" must be a list", key));
    for (const toml::node& item : *array) {
      HONE_TRY(IntExpr value, expression(item, key));
      all.push_back(std::move(value));
    }
    return all;
  }

  Result<std::vector<std::string>> names(const toml::table& table, std::string_view key) const {
    std::vector<std::string> all;
    const toml::node* node = table.get(key);
    if (!node) return all;
    const toml::array* array = node->as_array();
    if (!array) return error(*node, fmt::format("\"{}\" must be a list of strings", key));
    for (const toml::node& item : *array) {
      const auto value = item.value_exact<std::string>();
      if (!value) return error(item, fmt::format("\"{}\" must hold strings only", key));
      all.push_back(*value);
    }
    return all;
  }

 private:
  std::string path_;
  int line_;
};

/// "1/sqrt(D)" and the like, or a number, after "f32:".
Result<Argument> parse_number(const Reader& read, const toml::node& node, std::string_view text) {
  using Form = Argument::Form;
  Argument argument;
  argument.kind = Argument::Kind::kF32;
  const std::string literal(text);
  char* end = nullptr;
  argument.number = std::strtod(literal.c_str(), &end);
  if (!literal.empty() && *end == 0) {
    argument.form = Form::kLiteral;
    return argument;
  }
  const bool over = text.starts_with("1/");
  if (over) text.remove_prefix(2);
  const bool root = text.starts_with("sqrt(") && text.ends_with(")");
  if (root) text = text.substr(5, text.size() - 6);
  argument.form = over ? (root ? Form::kOverRoot : Form::kOver) : (root ? Form::kRoot : Form::kValue);
  auto value = IntExpr::parse(text);
  if (!value)
    return read.error(node, fmt::format("in argument \"f32:{}\": {}", literal, value.error().message),
                      "a number, EXPRESSION, 1/EXPRESSION, sqrt(EXPRESSION) or 1/sqrt(EXPRESSION)");
  argument.value = *value;
  return argument;
}

/// After "=": an integer expression, or another constant as Python writes it.
Result<Argument> parse_constant(const Reader& read, const toml::node& node, const std::string& text) {
  Argument argument;
  argument.kind = Argument::Kind::kConstant;
  char* end = nullptr;
  const auto quoted = [&](char mark) {
    return text.size() >= 2 && text.front() == mark && text.back() == mark && text.find_first_of("\\\n\"'", 1) == text.size() - 1;
  };
  const bool dtype = text.starts_with("tl.") && text.size() > 3 && std::all_of(text.begin() + 3, text.end(), [](unsigned char c) { return std::isalnum(c); });
  const bool word = text == "True" || text == "False" || text == "None" || dtype || quoted('"') || quoted('\'');
  const bool number = !text.empty() && text.find_first_of(".e") != std::string::npos && (std::strtod(text.c_str(), &end), *end == 0);
  if (word || number) {
    argument.tensor = text;
    return argument;
  }
  auto value = IntExpr::parse(text);
  if (!value)
    return read.error(node, fmt::format("in argument \"={}\": {}", text, value.error().message),
                      "an integer expression over tunables and shapes, True, False, None, a number, 'text' or tl.float32");
  argument.value = *value;
  return argument;
}

Result<Argument> parse_argument(const Reader& read, const toml::node& node, Language language) {
  const auto text = node.value_exact<std::string>();
  if (!text) return read.error(node, "an argument must be a string such as \"x\" or \"i64:D\"");
  const Threads threads = row_of(language).threads;
  const bool triton = threads == Threads::kWarps, compiled = threads == Threads::kCompiled;
  if ((triton || compiled) && text->starts_with("=")) return parse_constant(read, node, text->substr(1));
  Argument argument;
  const size_t colon = text->find(':');
  if (colon == std::string::npos) {
    if (*text == "shared" && !triton && !compiled) {
      argument.kind = Argument::Kind::kShared;
    } else if (*text == "null" && triton) {
      argument.kind = Argument::Kind::kNull;
    } else {
      argument.tensor = *text;
    }
    return argument;
  }
  const std::string type = text->substr(0, colon);
  if (type == "tensor") {
    argument.tensor = text->substr(colon + 1);
    return argument;
  }
  if (triton && type == "f32") return parse_number(read, node, std::string_view(*text).substr(colon + 1));
  if (type != "i32" && type != "i64")
    return read.error(node, fmt::format("unknown argument type \"{}\"", type),
                      triton ? "use a tensor's name, \"i32:EXPRESSION\", \"i64:EXPRESSION\", \"f32:NUMBER\", \"=CONSTANT\" or \"null\""
                      : compiled ? "use a tensor's name, \"i32:EXPRESSION\", \"i64:EXPRESSION\" or \"=CONSTANT\""
                                 : "use a tensor's name, \"i32:EXPRESSION\", \"i64:EXPRESSION\" or \"shared\"");
  argument.kind = type == "i32" ? Argument::Kind::kI32 : Argument::Kind::kI64;
  auto value = IntExpr::parse(std::string_view(*text).substr(colon + 1));
  if (!value)
    return read.error(node, fmt::format("in argument \"{}\": {}", *text, value.error().message),
                      value.error().hint);
  argument.value = *value;
  return argument;
}

/// A word, or words with "::" between them.
bool is_function_name(std::string_view name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (;;) {
    const size_t end = name.find("::");
    const std::string_view word = name.substr(0, end);
    if (word.empty() || !std::all_of(word.begin(), word.end(), is_word) || std::isdigit(static_cast<unsigned char>(word[0]))) return false;
    if (end == std::string_view::npos) return true;
    name.remove_prefix(end + 2);
  }
}

Result<Launch> parse_launch(const Reader& read, const toml::table& table, Language language) {
  const Threads threads = row_of(language).threads;
  if (threads == Threads::kCompiled) {
    HONE_TRY_VOID(read.only(table, {"kernel", "args", "when"}));
  } else if (threads == Threads::kWarps) {
    HONE_TRY_VOID(read.only(table, {"kernel", "grid", "warps", "stages", "ctas", "args", "when"}));
  } else {
    HONE_TRY_VOID(read.only(table, {"kernel", "grid", "block", "cluster", "shared", "args", "when", "repeat"}));
  }
  Launch launch;
  HONE_TRY(launch.function, read.text(table, "kernel", true));
  if (!is_function_name(launch.function)) {
    // An instance of a template, mostly.
    const std::string hint = launch.function.find('<') == std::string::npos ? "the name of a function in the file, without its arguments"
                             : threads == Threads::kBlock
                                 ? fmt::format("a plain function is launched: make the template a __device__ function, write a __global__ one that calls {}(…), and name that", launch.function)
                                 : fmt::format("a plain function is launched: write one with the same arguments that calls {}(…), and name that", launch.function);
    return read.error(table, fmt::format("\"{}\" is no function name", launch.function), hint);
  }
  HONE_TRY(launch.grid, read.expressions(table, "grid"));
  if (threads == Threads::kCompiled) launch.grid = {IntExpr(1)};
  if (launch.grid.empty() || launch.grid.size() > 3)
    return read.error(table, "\"grid\" must hold one to three extents");
  HONE_TRY(launch.block, read.expressions(table, "block"));
  if (launch.block.size() > 3) return read.error(table, "\"block\" must hold at most three extents");
  if (table.get("cluster")) {
    HONE_TRY(launch.cluster, read.expressions(table, "cluster"));
    if (launch.cluster.empty() || launch.cluster.size() > 3) return read.error(table, "\"cluster\" must hold one to three extents");
  }
  if (const toml::node* shared = table.get("shared")) {
    HONE_TRY(launch.shared, read.expression(*shared, "shared"));
  }
  for (const auto& [key, to] : {std::pair{"warps", &launch.warps}, {"stages", &launch.stages}, {"ctas", &launch.ctas}})
    if (const toml::node* node = table.get(key)) {
      HONE_TRY(*to, read.expression(*node, key));
    }
  if (const toml::node* when = table.get("when")) {
    HONE_TRY(launch.when, read.expression(*when, "when"));
  }
  if (const toml::node* repeat = table.get("repeat")) {
    HONE_TRY(launch.repeat, read.expression(*repeat, "repeat"));
  }
  const toml::array* args = table["args"].as_array();
  if (!args) return read.error(table, "\"args\" must be a list of strings");
  for (const toml::node& item : *args) {
    HONE_TRY(Argument argument, parse_argument(read, item, language));
    launch.args.push_back(std::move(argument));
  }
  return launch;
}

/// What reaches the source as a macro, or a plan by its name.
Status check_name(const Reader& read, const toml::node& node, std::string_view what, std::string_view name) {
  if (task::is_identifier(name)) return {};
  return read.error(node, fmt::format("{} is called \"{}\"", what, name), "a name is letters, digits and _, no digit first");
}

Result<Workspace> parse_workspace(const Reader& read, std::string_view name, const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  if (!text) return read.error(node, "a workspace is declared as \"f32[EXTENT, …]\"");
  HONE_TRY_VOID(check_name(read, node, "a workspace", name));
  Workspace workspace;
  workspace.name = name;
  std::string_view rest = *text;
  if (rest.substr(0, 5) == "zero ") {
    workspace.zero = true;
    rest.remove_prefix(5);
  }
  const size_t bracket = rest.find('[');
  const auto dtype = task::dtype_from(rest.substr(0, bracket));
  if (!dtype || bracket == std::string_view::npos || rest.back() != ']')
    return read.error(node, fmt::format("\"{}\" is no tensor type", *text),
                      "write for example \"f32[ceil_div(N, 1024)]\" or \"zero f32[64]\"");
  workspace.type.dtype = *dtype;
  std::string_view dims = rest.substr(bracket + 1, rest.size() - bracket - 2);
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; !dims.empty() && i <= dims.size(); ++i) {  // "f32[]" is one number
    if (i < dims.size() && dims[i] == '(') ++depth;
    if (i < dims.size() && dims[i] == ')') --depth;
    if (i < dims.size() && (dims[i] != ',' || depth != 0)) continue;
    auto extent = IntExpr::parse(dims.substr(start, i - start));
    if (!extent)
      return read.error(node, fmt::format("in workspace \"{}\": {}", name, extent.error().message));
    workspace.type.dims.push_back(*extent);
    start = i + 1;
  }
  return workspace;
}

/// `tunables = { TILE = [64, 128], … }` and `config = { TILE = 64 }`.
Status parse_tunables(const Reader& read, const toml::table& table, Kernel& kernel) {
  if (const toml::node* node = table.get("tunables")) {
    const toml::table* all = node->as_table();
    if (!all) return read.error(*node, "\"tunables\" must be a table of lists");
    for (const auto& [key, values] : *all) {
      Tunable tunable{std::string(key.str()), {}};
      HONE_TRY_VOID(check_name(read, values, "a tunable", tunable.name));
      const toml::array* array = values.as_array();
      if (!array || array->empty())
        return read.error(values, fmt::format("tunable {} must list its values", tunable.name));
      for (const toml::node& item : *array) {
        const auto value = item.value_exact<int64_t>();
        if (!value) return read.error(item, fmt::format("tunable {} must hold integers", tunable.name));
        tunable.values.push_back(*value);
      }
      kernel.config[tunable.name] = tunable.values.front();
      kernel.header.tunables.push_back(std::move(tunable));
    }
  }
  if (const toml::node* node = table.get("config")) {
    const toml::table* all = node->as_table();
    if (!all) return read.error(*node, "\"config\" must be a table of integers");
    for (const auto& [key, item] : *all) {
      const auto value = item.value_exact<int64_t>();
      const auto it = kernel.config.find(key.str());
      if (!value || it == kernel.config.end())
        return read.error(item, fmt::format("\"config\" sets {}, which is no tunable", key.str()));
      const auto& tunable = *std::find_if(kernel.header.tunables.begin(), kernel.header.tunables.end(),
                                          [&](const Tunable& t) { return t.name == key.str(); });
      if (std::find(tunable.values.begin(), tunable.values.end(), *value) == tunable.values.end())
        return read.error(item, fmt::format("{} = {} is not among its values {}", tunable.name, *value,
                                            fmt::join(tunable.values, ", ")));
      it->second = *value;
    }
  }
  return {};
}

/// `[verified]`, as hone writes it into a champion's file.
Result<Verified> parse_verified(const Reader& read, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (!table) return read.error(node, "\"verified\" must be a table", "hone writes it; take it out and hone evaluate --save puts it back");
  HONE_TRY_VOID(read.only(*table, {"task", "task_hash", "target", "device", "toolchain", "shapes", "date", "hone"}));
  Verified verified;
  HONE_TRY(verified.task, read.text(*table, "task", true));
  HONE_TRY(verified.task_hash, read.text(*table, "task_hash", true));
  HONE_TRY(verified.target, read.text(*table, "target", true));
  HONE_TRY(verified.device, read.text(*table, "device", true));
  HONE_TRY(verified.toolchain, read.text(*table, "toolchain", true));
  HONE_TRY(verified.shapes, read.names(*table, "shapes"));
  HONE_TRY(verified.date, read.text(*table, "date", true));
  HONE_TRY(verified.hone, read.text(*table, "hone", false));
  return verified;
}

}  // namespace

Result<Kernel> parse_kernel(std::string_view source, const std::string& path) {
  HONE_TRY(const HeaderText text, take_apart(source, path));
  Reader read(path, text.line);
  if (const auto problem = task::toml_guard(text.toml))
    return fail(ErrorCode::kInput, fmt::format("the header does not parse: {}", problem->message), problem->hint,
                read.at({static_cast<toml::source_index>(problem->where.line), static_cast<toml::source_index>(problem->where.column)}));
  toml::parse_result document = toml::parse(text.toml);
  if (!document)
    return fail(ErrorCode::kInput, fmt::format("the header does not parse: {}", document.error().description()),
                "the header is TOML", read.at(document.error().source().begin));
  const toml::table& table = document.table();
  HONE_TRY_VOID(read.only(table, {"language", "compiler", "requires", "tunables", "constraints", "config",
                                  "specialise", "workspaces", "launch", "pattern", "action", "note", "verified"}));
  Kernel kernel;
  kernel.source = source;
  Header& header = kernel.header;
  HONE_TRY(const std::string language, read.text(table, "language", true));
  const auto known = language_from(language);
  if (!known)
    return read.error(*table.get("language"), fmt::format("unknown language \"{}\"", language),
                      language == "opencl" ? "OpenCL C is no longer taken: write the kernel in c++, cuda or hip" : "one of " + language_names());
  header.language = *known;
  HONE_TRY(header.compiler, read.text(table, "compiler", false));
  if (const toml::node* node = table.get("compiler")) {
    if (header.language != Language::kCpp)
      return read.error(*node, fmt::format("\"compiler\" is for c++, not for {}", language), "leave it out");
    if (header.compiler != "g++" && header.compiler != "clang")
      return read.error(*node, fmt::format("unknown compiler \"{}\"", header.compiler), "one of g++, clang");
  }
  HONE_TRY(header.require, read.expressions(table, "requires"));
  HONE_TRY(header.constraints, read.expressions(table, "constraints"));
  HONE_TRY(header.specialise, read.names(table, "specialise"));
  HONE_TRY(header.pattern, read.text(table, "pattern", false));
  HONE_TRY(header.action, read.text(table, "action", false));
  HONE_TRY(header.note, read.text(table, "note", false));
  HONE_TRY_VOID(parse_tunables(read, table, kernel));
  if (const toml::node* node = table.get("workspaces")) {
    const toml::table* all = node->as_table();
    if (!all) return read.error(*node, "\"workspaces\" must be a table");
    for (const auto& [key, value] : *all) {
      HONE_TRY(Workspace workspace, parse_workspace(read, key.str(), value));
      header.workspaces.push_back(std::move(workspace));
    }
  }
  const toml::array* launches = table["launch"].as_array();
  if (!launches || launches->empty())
    return fail(ErrorCode::kInput, "the header has no [[launch]]", "say which function runs, on what grid",
                read.at(table.source().begin));
  for (const toml::node& node : *launches) {
    const toml::table* launch = node.as_table();
    if (!launch) return read.error(node, "each [[launch]] must be a table");
    HONE_TRY(Launch parsed, parse_launch(read, *launch, header.language));
    const LanguageRow& row = row_of(header.language);
    if (parsed.repeat && !row.repeats)
      return read.error(node, fmt::format("\"repeat\" is for cuda and hip, not for {}", language), "write the launch out as often as it is wanted");
    if (!parsed.cluster.empty() && !row.clusters)
      return read.error(node, fmt::format("\"cluster\" is for cuda, not for {}: clusters need sm_90", language), "leave it out");
    if (row.threads == Threads::kBlock && parsed.block.empty())
      return read.error(node, fmt::format("the launch of {} needs \"block\": one to three extents", parsed.function),
                        "how many threads a block has, for example block = [\"256\"]");
    header.launches.push_back(std::move(parsed));
  }
  if (const toml::node* node = table.get("verified")) {
    HONE_TRY(header.verified, parse_verified(read, *node));
  }
  kernel.author = "user";
  return kernel;
}

}  // namespace hone::kernel
