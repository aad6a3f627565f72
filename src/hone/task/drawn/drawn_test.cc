// What the published distribution promises (docs/drawn.md), over 1,000 draws: every task is a task at its three
// workloads, in the sizes that tasks/README.md gives; the shares; every operation of the language occurs.
#include "hone/task/drawn/drawn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "hone/base/embedded.h"
#include "hone/base/hash.h"
#include "hone/task/drawn/kinds.h"
#include "hone/task/graph/op_table.h"
#include "hone/task/task.h"

namespace hone::task::drawn {
namespace {

using ::testing::AllOf;
using testing::Ge;
using ::testing::HasSubstr;
using testing::Le;

struct Parsed {
  DrawnTask drawn;
  Task task;
};

/// 1,000 tasks of a seed, read once for all tests.
const std::vector<Parsed>& thousand() {
  static const std::vector<Parsed> tasks = [] {
    std::vector<Parsed> all;
    for (DrawnTask& drawn : draw_tasks(builtin_mix(), {2, 1000})) {
      auto task = parse_task(drawn.toml, drawn.name + ".toml");
      EXPECT_TRUE(task.has_value()) << (task ? "" : task.error().to_string()) << "\n" << drawn.toml;
      if (task) all.push_back({std::move(drawn), std::move(*task)});
    }
    return all;
  }();
  return tasks;
}

double share(const std::function<bool(const Parsed&)>& holds) {
  const auto& all = thousand();
  return static_cast<double>(std::count_if(all.begin(), all.end(), holds)) / static_cast<double>(all.size());
}

int heavy_operations(const Task& task) {
  static const std::set<std::string> kHeavy = {
      "matmul", "bmm", "linear", "addmm", "einsum", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
      "attention", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "sort", "argsort", "topk", "embedding", "gather", "take",
      "index_select", "take_along_axis"};
  int count = 0;
  for (const Node& node : task.surface.nodes) count += kHeavy.contains(node.op) ? 1 : 0;
  return count;
}

const Bindings& bindings_of(const Task& task, std::string_view workload) {
  for (const Workload& w : task.workloads)
    if (w.name == workload) return w.bindings;
  ADD_FAILURE() << task.name << " has no workload " << workload;
  return task.workloads.front().bindings;
}

ConcreteGraph at(const Task& task, std::string_view workload) {
  auto graph = instantiate(task.primitive, bindings_of(task, workload));
  EXPECT_TRUE(graph.has_value()) << task.name << " " << workload << ": " << (graph ? "" : graph.error().to_string());
  return graph ? std::move(*graph) : ConcreteGraph{};
}

struct Size {
  int64_t elements = 0, bytes = 0, largest = 0;
};

Size size_of_graph(const ConcreteGraph& graph) {
  Size size;
  for (const auto* ids : {&graph.graph.inputs, &graph.graph.outputs})
    for (const int id : *ids) {
      const int64_t count = element_count(graph.shapes[static_cast<size_t>(id)]);
      size.elements += count;
      size.bytes += count * task::size_of(graph.graph.node(id).type.dtype);
    }
  for (const Shape& shape : graph.shapes) size.largest = std::max(size.largest, element_count(shape));
  return size;
}

/// Microseconds of a card like an H100: the larger of moving the least bytes and of the products, at 0.6 of the peaks.
double modelled_micros(const Cost& cost) {
  const double halves = cost.products.bf16 + cost.products.i8, wide = cost.products.all() - halves;
  return std::max((cost.bytes_read + cost.bytes_written) / 3e6, 2 * (halves / 700e6 + wide / 60e6)) / 0.6;
}

TEST(Drawn, sizes_are_those_of_their_workloads) {
  for (const auto& [drawn, task] : thousand()) {
    SCOPED_TRACE(drawn.toml);
    ASSERT_EQ(task.workloads.size(), 3U);
    EXPECT_THAT(task.default_workloads, testing::ElementsAre("small"));
    const ConcreteGraph full = at(task, "full"), small = at(task, "small"), tiny = at(task, "tiny");
    const Size most = size_of_graph(full), least = size_of_graph(tiny);
    EXPECT_LE(most.bytes, int64_t{4} << 30);
    EXPECT_LE(minimal_cost(full).flops, 2e13);
    EXPECT_LE(size_of_graph(small).bytes, int64_t{256} << 20);
    EXPECT_LE(minimal_cost(small).flops, 2e9);
    EXPECT_LE(least.elements, 20'000);
    EXPECT_LE(least.bytes, 80'000);
    EXPECT_LE(least.largest, 20'000);
    EXPECT_LE(minimal_cost(tiny).flops, 600'000);
  }
}

TEST(Drawn, every_input_reaches_an_output) {
  for (const auto& [drawn, task] : thousand()) {
    std::vector<bool> needed(task.primitive.nodes.size());
    for (const int id : task.primitive.outputs) needed[static_cast<size_t>(id)] = true;
    for (size_t id = needed.size(); id-- > 0;)
      if (needed[id])
        for (const int operand : task.primitive.nodes[id].operands) needed[static_cast<size_t>(operand)] = true;
    for (const int id : task.primitive.inputs)
      EXPECT_TRUE(needed[static_cast<size_t>(id)]) << task.primitive.node(id).name << " is not used:\n" << drawn.toml;
  }
}

TEST(Drawn, shares_of_heavy_operations) {
  const double one = share([](const Parsed& p) { return heavy_operations(p.task) >= 1; });
  const double two = share([](const Parsed& p) { return heavy_operations(p.task) >= 2; });
  EXPECT_GE(one, 0.60);
  EXPECT_GE(two, 0.40);
  RecordProperty("one", fmt::format("{:.3f}", one));
  RecordProperty("two", fmt::format("{:.3f}", two));
}

TEST(Drawn, shares_of_types) {
  const auto holds = [](const Parsed& p, DType type) {
    return std::any_of(p.task.inputs.begin(), p.task.inputs.end(), [&](const InputSpec& input) { return input.type.dtype == type; });
  };
  const double half = share([&](const Parsed& p) { return holds(p, DType::kBF16) || holds(p, DType::kF16); });
  EXPECT_THAT(half, AllOf(Ge(0.45), Le(0.55)));
  RecordProperty("half", fmt::format("{:.3f}", half));
  EXPECT_GE(share([&](const Parsed& p) { return holds(p, DType::kI8); }), 0.02);
  EXPECT_GE(share([&](const Parsed& p) { return holds(p, DType::kI64); }), 0.05);
  EXPECT_GE(share([&](const Parsed& p) { return holds(p, DType::kBool); }), 0.02);
}

/// Of the extents at `full` that are 33 or more, which no head count, tap or group is.
TEST(Drawn, half_of_the_extents_are_no_multiple_of_64) {
  double all = 0, odd = 0;
  for (const auto& [drawn, task] : thousand())
    for (const auto& [name, value] : bindings_of(task, "full"))
      if (value > 32) all += 1, odd += value % 64 != 0 ? 1 : 0;
  EXPECT_THAT(odd / all, AllOf(Ge(0.45), Le(0.60)));
  RecordProperty("odd", fmt::format("{:.3f}", odd / all));
}

TEST(Drawn, half_of_the_tasks_take_a_card_50_microseconds) {
  const double large = share([](const Parsed& p) { return modelled_micros(minimal_cost(at(p.task, "full"))) >= 50; });
  EXPECT_GE(large, 0.5);
  RecordProperty("share", fmt::format("{:.3f}", large));
}

/// Operations that came after the mix was frozen: its next version draws them (docs/drawn.md).
const std::set<std::string> kLaterThanTheMix{"bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "index_add", "left_shift", "linear_scan", "log10", "right_shift", "scatter_add", "scatter_max", "scatter_min", "unfold", "windows"};

TEST(Drawn, every_operation_of_the_language_occurs) {
  std::set<std::string> missing;
  for (const auto& [name, op] : op_table())
    if (!kLaterThanTheMix.contains(name)) missing.insert(name);
  for (const auto& [drawn, task] : thousand())
    for (const Node& node : task.surface.nodes) missing.erase(node.op);
  EXPECT_TRUE(missing.empty()) << fmt::format("{}", fmt::join(missing, ", "));
}

TEST(Drawn, every_kind_of_the_mix_is_there_and_drawn) {
  std::set<std::string> drawn_kinds;
  for (const Parsed& p : thousand()) drawn_kinds.insert(p.drawn.kind);
  for (const auto& [key, weight] : builtin_mix().sections.at("kinds")) {
    EXPECT_NE(find_kind(key), nullptr) << key;
    EXPECT_TRUE(drawn_kinds.contains(key)) << key;
  }
  size_t kinds = 0;
  for (const auto& list : {language_kinds(), vision_kinds(), sequence_kinds(), decision_kinds(), numeric_kinds()}) kinds += list.size();
  EXPECT_EQ(kinds, builtin_mix().sections.at("kinds").size());
}

TEST(Drawn, names_are_told_apart) {
  std::set<std::string> names;
  for (const Parsed& p : thousand()) {
    EXPECT_TRUE(names.insert(p.task.name).second) << p.task.name;
    EXPECT_THAT(p.task.name, testing::StartsWith("drawn_2_"));
  }
}

TEST(Drawn, a_longer_list_begins_with_the_shorter) {
  const auto few = draw_tasks(builtin_mix(), {7, 20}), many = draw_tasks(builtin_mix(), {7, 60});
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].toml, many[i].toml);
  EXPECT_NE(few[0].toml, draw_task(builtin_mix(), 8, 0).toml);
}

/// The suite is frozen: where this fails, the mix gets another version (docs/drawn.md).
TEST(Drawn, the_same_tasks_on_every_machine) {
  base::Hasher hasher;
  for (const uint64_t seed : {1, 7, 2026})
    for (const DrawnTask& drawn : draw_tasks(builtin_mix(), {seed, 50})) hasher.add(drawn.toml);
  EXPECT_EQ(base::short_hash(hasher.finish()), "c47ddb8c7eb4");
  EXPECT_EQ(builtin_mix().hash(), "0c9b44bb6f48");
}

TEST(Drawn, says_what_is_wanted) {
  const auto wanted = parse_wanted("7:40");
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ(wanted->seed, 7U);
  EXPECT_EQ(wanted->count, 40);
  for (const char* wrong : {"", "7", "7:", ":40", "7:0", "7:-1", "x:4", "7:40x", "7:10001"}) {
    const auto none = parse_wanted(wrong);
    ASSERT_FALSE(none.has_value()) << wrong;
    EXPECT_EQ(none.error().code, ErrorCode::kUsage);
    EXPECT_THAT(none.error().hint, HasSubstr("7:40"));
  }
}

class DrawnMix : public testing::Test {
 protected:
  static std::string text() { return std::string(*base::find_embedded("drawn/mix.toml")); }
  static std::string changed(const std::string& from, const std::string& to) {
    std::string all = text();
    const size_t at = all.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? all : all.replace(at, from.size(), to);
  }
  static std::string error(const std::string& mix) {
    const auto read = parse_mix(mix, "mine.toml");
    EXPECT_FALSE(read.has_value());
    return read ? "" : read.error().to_string();
  }
};

TEST_F(DrawnMix, another_one_draws_other_tasks_of_its_name) {
  const auto mine = parse_mix(changed("name    = \"drawn\"", "name = \"mine\""), "mine.toml");
  ASSERT_TRUE(mine.has_value()) << mine.error().to_string();
  EXPECT_NE(mine->hash(), builtin_mix().hash());
  EXPECT_THAT(draw_task(*mine, 1, 3).name, testing::StartsWith("mine_1_003_"));
  std::string only = text();
  const size_t begin = only.find("[kinds]"), end = only.find("[types]");
  std::string kinds = "[kinds]\n";
  for (const auto& [key, weight] : builtin_mix().sections.at("kinds")) kinds += fmt::format("{} = {}\n", key, key == "sampler" ? 1 : 0);
  only.replace(only.rfind("\n", begin) + 1, end - begin, kinds);
  const auto samplers = parse_mix(only, "mine.toml");
  ASSERT_TRUE(samplers.has_value()) << samplers.error().to_string();
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(draw_task(*samplers, 1, i).kind, "sampler");
}

TEST_F(DrawnMix, errors_name_line_and_key) {
  EXPECT_THAT(error(changed("gelu_tanh = 7", "gelu_tnah = 7")), AllOf(HasSubstr("mine.toml:"), HasSubstr("activation.gelu_tnah"), HasSubstr("gelu_tanh")));
  EXPECT_THAT(error(changed("gelu_tanh = 7", "gelu_tanh = -7")), AllOf(HasSubstr("mine.toml:"), HasSubstr("activation.gelu_tanh")));
  EXPECT_THAT(error(changed("gelu_tanh = 7\n", "")), HasSubstr("activation.gelu_tanh"));
  EXPECT_THAT(error(changed("[12, 15, 45]", "[12, 15]")), AllOf(HasSubstr("mine.toml:"), HasSubstr("time.short")));
  EXPECT_THAT(error(changed("[12, 15, 45]", "\"a lot\"")), AllOf(HasSubstr("mine.toml:"), HasSubstr("time.short")));
  EXPECT_THAT(error(changed("version = 2", "version = 0")), HasSubstr("version"));
  EXPECT_THAT(error(changed("[types]", "[typos]")), HasSubstr("typos"));
  EXPECT_THAT(error("name = "), HasSubstr("mine.toml"));
}

}  // namespace
}  // namespace hone::task::drawn
