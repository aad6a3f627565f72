// Data-driven tests: every file of test/cases/task holds [[good]] and [[bad]] cases.
//   good: inputs + compute (as on a command line) or task (a whole task file); checked are
//         outputs (printed types, in order), primitive and surface (printed graphs), cost.
//   bad:  the same sources; error is the expected "context: message", hint the whole hint (absent: none).
//   hostile: before + piece * times + after stands for @ in `task` (a task file) or `compute`; error and
//         hint as of bad.
// Symbols without a workload are bound to 6.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <filesystem>

#include "hone/base/file.h"
#include "hone/task/graph/cost.h"
#include "hone/task/task.h"

namespace hone::task {
namespace {

std::vector<std::string> texts(const toml::table& table, std::string_view key) {
  std::vector<std::string> result;
  if (const toml::array* array = table.get_as<toml::array>(key))
    for (const toml::node& item : *array) result.push_back(item.value_or(std::string()));
  return result;
}

std::string text(const toml::table& table, std::string_view key) {
  return table[key].value_or(std::string());
}

Result<Task> read(const toml::table& item) {
  if (item.contains("task")) return parse_task(text(item, "task"), "task.toml");
  const std::vector<std::string> inputs = texts(item, "inputs");
  std::vector<std::string> workloads = texts(item, "workloads");
  if (!item.contains("workloads")) {
    std::set<std::string> symbols;
    for (const std::string& input : inputs)
      if (const auto type = TensorType::parse(input.substr(input.find('=') + 1)))
        for (const IntExpr& dim : type->dims) symbols.merge(dim.symbols());
    std::string all;
    for (const std::string& symbol : symbols) all += (all.empty() ? "" : ",") + symbol + "=6";
    if (!all.empty()) workloads.push_back(all);
  }
  return task_from_expressions(text(item, "compute"), inputs, workloads);
}

std::string stripped(std::string value) {
  while (!value.empty() && (value.back() == '\n' || value.back() == ' ')) value.pop_back();
  while (!value.empty() && value.front() == '\n') value.erase(0, 1);
  return value;
}

void check_cost(const toml::table& want, const Task& task) {
  const auto concrete = instantiate(task.primitive, task.workloads[0].bindings);
  ASSERT_TRUE(concrete.has_value());
  const Cost cost = minimal_cost(*concrete);
  EXPECT_EQ(cost.bytes_read, want["read"].value_or(cost.bytes_read));
  EXPECT_EQ(cost.bytes_written, want["written"].value_or(cost.bytes_written));
  EXPECT_EQ(cost.flops, want["flops"].value_or(cost.flops));
  double total = 0;
  for (const auto& [kind, operations] : operations_by_kind(*concrete)) total += operations;
  EXPECT_DOUBLE_EQ(total, cost.flops);
  EXPECT_EQ(cost.transcendental, want["transcendental"].value_or(cost.transcendental));
  const toml::table* products = want["products"].as_table();
  if (!products) return;
  EXPECT_EQ(cost.products.f64, (*products)["f64"].value_or(0.0));
  EXPECT_EQ(cost.products.f32, (*products)["f32"].value_or(0.0));
  EXPECT_EQ(cost.products.convolved_f32, (*products)["convolved_f32"].value_or(0.0));
  EXPECT_EQ(cost.products.bf16, (*products)["bf16"].value_or(0.0));
  EXPECT_EQ(cost.products.i8, (*products)["i8"].value_or(0.0));
}

void check_good(const toml::table& item) {
  const auto task = read(item);
  ASSERT_TRUE(task.has_value()) << task.error().to_string();
  std::vector<std::string> outputs;
  for (const auto& [name, type] : task->outputs) outputs.push_back(name + " = " + type.to_string());
  if (item.contains("outputs")) {
    EXPECT_EQ(outputs, texts(item, "outputs"));
  }
  if (item.contains("primitive")) {
    EXPECT_EQ(stripped(task->primitive.to_string()), stripped(text(item, "primitive")));
  }
  if (item.contains("surface")) {
    EXPECT_EQ(stripped(task->surface.to_string()), stripped(text(item, "surface")));
  }
  if (const toml::table* cost = item.get_as<toml::table>("cost")) check_cost(*cost, *task);
  const auto again = parse_task(task->to_toml(), "again.toml");
  ASSERT_TRUE(again.has_value()) << again.error().to_string() << "\n" << task->to_toml();
  EXPECT_EQ(again->hash(), task->hash());
  EXPECT_EQ(again->to_toml(), task->to_toml());
  EXPECT_EQ(again->primitive.to_string(), task->primitive.to_string());
}

void check_bad(const toml::table& item) {
  const auto task = read(item);
  ASSERT_FALSE(task.has_value()) << "accepted";
  const Error& error = task.error();
  EXPECT_EQ(error.context + ": " + error.message, text(item, "error"));
  EXPECT_EQ(error.hint, text(item, "hint"));
}

/// A text too long to write down: the frame with its @ replaced.
std::string blown_up(const toml::table& item, const std::string& frame) {
  std::string body = text(item, "before");
  for (int64_t i = 0; i < item["times"].value_or(int64_t{0}); ++i) body += text(item, "piece");
  body += text(item, "after");
  std::string whole = frame;
  return whole.replace(whole.find('@'), 1, body);
}

void check_hostile(const toml::table& item) {
  constexpr const char* kFrame =
      "name = \"t\"\ninputs = { x = \"f32[B, D]\" }\ncompute = \"\"\"\n@\"\"\"\nworkloads = [ { B = 4, D = 8 "
      "} ]\n";
  const std::string source = item.contains("task") ? blown_up(item, text(item, "task"))
                                                   : blown_up(item, kFrame);
  const auto task = parse_task(source, "task.toml");
  ASSERT_FALSE(task.has_value()) << "accepted";
  EXPECT_EQ(task.error().context + ": " + task.error().message, text(item, "error"));
  EXPECT_EQ(task.error().hint, text(item, "hint"));
}

class Cases : public testing::TestWithParam<std::string> {};

TEST_P(Cases, Hold) {
  const auto source = base::read_file(std::string(HONE_SOURCE_DIR "/test/cases/task/") + GetParam() +
                                      ".toml");
  ASSERT_TRUE(source.has_value());
  const toml::parse_result parsed = toml::parse(*source);
  ASSERT_TRUE(parsed) << parsed.error();
  int count = 0;
  for (const auto& [kind, list] : parsed.table()) {
    ASSERT_TRUE((kind == "good" || kind == "bad" || kind == "hostile") && list.is_array()) << kind.str();
    for (const toml::node& item : *list.as_array()) {
      const toml::table& table = *item.as_table();
      SCOPED_TRACE(GetParam() + ".toml:" + std::to_string(item.source().begin.line) + " " +
                   text(table, "name") + text(table, "compute"));
      if (kind == "good") {
        check_good(table);
      } else if (kind == "bad") {
        check_bad(table);
      } else {
        check_hostile(table);
      }
      ++count;
    }
  }
  EXPECT_GT(count, 0);
}

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(HONE_SOURCE_DIR "/test/cases/task"))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, Cases, testing::ValuesIn(files()),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace hone::task
