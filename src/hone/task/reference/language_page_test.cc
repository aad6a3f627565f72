#include "hone/task/reference/language_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/file.h"
#include "hone/task/reference/op_facts.h"
#include "hone/task/task.h"

namespace hone::task {
namespace {

using ::testing::HasSubstr;

TEST(LanguagePage, TheCommittedPageIsTheProgramsOwn) {
  const auto committed = base::read_file(HONE_SOURCE_DIR "/docs/language.md");
  ASSERT_TRUE(committed.has_value());
  const std::string page = language_page();
  const size_t same = static_cast<size_t>(
      std::mismatch(page.begin(), page.end(), committed->begin(), committed->end()).first - page.begin());
  EXPECT_TRUE(*committed == page) << "run `make docs`; the page differs from the program at: "
                                  << page.substr(same, 200);
}

/// Whoever reads the task and not the page has to know of an epsilon that the task leaves out, and needs no word on an exponential.
TEST(OpFacts, TellOfATasksOperationsWhatItLeavesOut) {
  const Task task = task_from_expressions("h = rms_norm(exp(x), w); y = rms_norm(h + x, w) * softmax(x, axis=-1)", {"x=f32[B,D]", "w=f32[D]"}, {"B=2,D=3"}).value();
  const std::string text = ops_used_text(task.surface);
  EXPECT_THAT(text, testing::StartsWith("- rms_norm(x, weight = none, axis: axes = none, eps: number = 1e-6): "));
  EXPECT_THAT(text, HasSubstr("\n- softmax("));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_EQ(ops_used_text(task_from_expressions("y = f32(x)[1:].reshape(-1)", {"x=f16[B,D]"}, {"B=2,D=3"}).value().surface), "");
}

TEST(LanguagePage, NamesEveryOperation) {
  const std::string page = language_page();
  for (const auto& [name, op] : op_table()) EXPECT_THAT(page, HasSubstr("| `" + op.signature + "` |"));
  EXPECT_THAT(page, testing::Not(HasSubstr("{{")));
}

/// The blocks marked ```toml, but for those that an error message follows.
std::vector<std::string> examples(const std::string& page) {
  std::vector<std::string> found;
  for (size_t at = page.find("```toml\n"); at != std::string::npos; at = page.find("```toml\n", at + 1)) {
    const size_t begin = at + 8;
    const size_t end = page.find("```\n", begin);
    if (page.compare(end, 13, "```\n\n```\nhone") != 0) found.push_back(page.substr(begin, end - begin));
  }
  return found;
}

TEST(LanguagePage, ItsExamplesAreTasks) {
  const auto found = examples(language_page());
  EXPECT_GE(found.size(), 2U);
  for (const std::string& text : found) {
    const auto task = parse_task(text, "example.toml");
    EXPECT_TRUE(task.has_value()) << task.error().to_string() << "\n" << text;
  }
}

TEST(OpFacts, EveryOpHasAnExampleThatHolds) {
  for (const auto& [name, op] : op_table()) {
    const auto graph = example_graph(op);
    ASSERT_TRUE(graph.has_value()) << name << ": " << graph.error().to_string();
    EXPECT_EQ(graph->node(graph->outputs[0]).op, name);
    EXPECT_THAT(op_text(op), HasSubstr(op.signature));
  }
}

/// What inference accepts, lowering can do.
TEST(OpFacts, EveryTypeTakenCanBeLowered) {
  for (const auto& [name, op] : op_table())
    for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
      const auto graph = example_graph(op, static_cast<DType>(i));
      if (!graph) continue;
      const Graph primitive = lower(*graph);
      for (size_t k = 0; k < graph->outputs.size(); ++k)
        EXPECT_EQ(primitive.node(primitive.outputs[k]).type, graph->node(graph->outputs[k]).type) << name;
    }
}

/// By hand, from what NumPy and PyTorch do.
TEST(OpFacts, ElementTypes) {
  const std::pair<const char*, const char*> expected[] = {
      {"exp", "floats; integers, bool -> f32"},
      {"add", "floats, integers; bool -> i64"},
      {"abs", "floats, integers"},
      {"eq", "any -> bool"},
      {"logical_and", "bool"},
      {"sum", "floats; integers, bool -> i64"},
      {"argmax", "floats, integers -> i64"},
      {"topk", "any -> T, i64"},
      {"conv2d", "floats, integers"},
      {"attention", "floats"},
      {"cast", "any -> dtype"},
      {"embedding", "any"},
      {"one_hot", "integers -> i64"},
      {"zeros", "-"},
  };
  for (const auto& [name, text] : expected) EXPECT_EQ(types_text(*find_op(name)), text) << name;
}

TEST(OpFacts, Defaults) {
  const Op& norm = *find_op("layer_norm");
  EXPECT_EQ(default_text(norm.params[0]), "");
  EXPECT_EQ(default_text(norm.params[1]), "none");
  EXPECT_EQ(default_text(norm.params[4]), "1e-05");
  EXPECT_EQ(default_text(find_op("conv2d")->params[3]), "1");
  EXPECT_EQ(default_text(find_op("zeros")->params[1]), "f32");
  EXPECT_EQ(default_text(find_op("softmax")->params[1]), "-1");
}

}  // namespace
}  // namespace hone::task
