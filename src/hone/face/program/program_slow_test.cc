// Programs in PyTorch's own process: captured anew, composed of steps, compared with the module. Skipped without PyTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/evaluate/baseline/pytorch_testing.h"
#include "hone/evaluate/program/program_session.h"
#include "hone/face/program/optimise.h"
#include "hone/face/program/package.h"
#include "hone/program/aten.h"
#include "hone/program/normalise.h"

namespace hone::face {
namespace {

using evaluate::ProgramSession;
using evaluate::ProgramSource;
using program::Region;
using ::testing::HasSubstr;

const std::string kCases = HONE_SOURCE_DIR "/test/cases/program/";

struct Captured {
  std::unique_ptr<ProgramSession> session;
  program::Program program;
  program::Plan plan;
};

Captured captured(const ProgramSource& source) {
  Captured all;
  auto session = ProgramSession::start(source);
  EXPECT_TRUE(session) << session.error().to_string();
  if (!session) return all;
  all.session = std::move(*session);
  auto program = understood(*all.session);
  EXPECT_TRUE(program) << program.error().to_string();
  all.program = std::move(*program);
  all.plan = program::plan_program(all.program, program::cut(all.program));
  return all;
}

/// The program as steps, what was written out in place of the operators; `by_language`: each task as hone writes it in PyTorch from the task's text.
void expect_composed_is_right(Captured& all, bool by_language) {
  ProgramPackage package;
  package.name = all.program.name + "_steps";
  const auto constants = base::read_file(all.session->constants());
  ASSERT_TRUE(constants);
  package.constants = *constants;
  for (size_t i = 0; by_language && i < all.plan.tasks.size(); ++i) {
    const task::Task& task = all.plan.tasks[i].task;
    const auto source = evaluate::emit_pytorch(task, task.workloads.front().bindings);
    ASSERT_TRUE(source) << task.name << ": " << source.error().to_string();
    package.sources[static_cast<int>(i)] = *source;
  }
  const auto files = program_package(all.program, all.plan, package);
  ASSERT_TRUE(files);
  for (const ExportedFile& file : *files) {
    const auto path = all.session->package_folder({}) / file.name;
    ASSERT_TRUE(base::make_directories(path.parent_path()));
    ASSERT_TRUE(base::write_file_atomic(path, file.content));
  }
  const auto composed = all.session->compose(all.session->package_folder({}), package.name);
  ASSERT_TRUE(composed) << composed.error().to_string();
  std::map<std::string, bool> written;
  for (const program::WrittenOut& one : all.plan.written) written[one.name] = true;
  ASSERT_TRUE(all.session->use(written));
  for (const auto& [set, weights] : {std::pair{0, 0}, {1, 0}, {2, 1}}) {
    const auto outputs = all.session->check(set, weights);
    ASSERT_TRUE(outputs) << outputs.error().to_string();
    ASSERT_FALSE(outputs->empty());
    for (const auto& output : *outputs) EXPECT_EQ(accuracy_reason(output, {}), "") << "set " << set << ", weights " << weights;
  }
}

TEST(ProgramTest, WhatIsCapturedIsWhatTheTestsGoBy) {
  SKIP_WITHOUT_TORCH();
  const Captured all = captured({kCases + "mlp.py", {}});
  ASSERT_TRUE(all.session);
  const auto kept = base::read_file(kCases + "mlp.json");
  ASSERT_TRUE(kept);
  const auto wanted = program::read_program(*kept), found = program::read_program(all.session->capture());
  ASSERT_TRUE(wanted && found);
  ASSERT_EQ(wanted->nodes.size(), found->nodes.size());
  for (size_t i = 0; i < wanted->nodes.size(); ++i) {
    EXPECT_EQ(wanted->nodes[i].op, found->nodes[i].op);
    EXPECT_EQ(wanted->nodes[i].arguments, found->nodes[i].arguments);
    EXPECT_EQ(wanted->nodes[i].types, found->nodes[i].types);
  }
}

TEST(ProgramTest, StepsGiveWhatTheModuleGives) {
  SKIP_WITHOUT_TORCH();
  Captured all = captured({kCases + "llama.py", {}});
  ASSERT_TRUE(all.session);
  expect_composed_is_right(all, true);
}

TEST(ProgramTest, LongStepsGiveWhatTheModuleGives) {
  SKIP_WITHOUT_TORCH();
  for (const char* name : {"residual", "gpt"})
    for (const bool by_language : {false, true}) {
      SCOPED_TRACE(name);
      Captured all = captured({fmt::format("{}{}.py", kCases, name), {}});
      ASSERT_TRUE(all.session);
      expect_composed_is_right(all, by_language);
    }
}

TEST(ProgramTest, LongTrainingLeavesItsStatisticsInTheBuffers) {
  SKIP_WITHOUT_TORCH();
  Captured all = captured({kCases + "residual.py", {}, true});
  ASSERT_TRUE(all.session);
  EXPECT_TRUE(std::any_of(all.program.outputs.begin(), all.program.outputs.end(), [](const program::Output& output) { return output.mutation; }));
  expect_composed_is_right(all, true);
}

/// Rows of the table, in the language and back in PyTorch: adds those that were seen.
void expect_same_meaning(const char* family, std::set<std::string>& seen) {
  SCOPED_TRACE(family);
  Captured all = captured({kCases + "operators.py", family});
  ASSERT_TRUE(all.session);
  for (const program::Step& step : all.plan.steps)
    if (step.kind != Region::Kind::kEager)
      for (const int id : step.body) seen.insert(all.program.nodes[static_cast<size_t>(id)].op);
  expect_composed_is_right(all, true);
}

TEST(ProgramTest, OperatorsMeanTheSameInTheLanguage) {
  SKIP_WITHOUT_TORCH();
  std::set<std::string> seen;
  expect_same_meaning("elementwise", seen);
  EXPECT_GE(seen.size(), 80U);
}

TEST(ProgramTest, LongLossesAndWhatIsPutInByIndicesAreTasks) {
  SKIP_WITHOUT_TORCH();
  std::set<std::string> seen;
  for (const char* family : {"scatters", "losses"}) expect_same_meaning(family, seen);
  for (const char* op : {"cross_entropy_loss", "nll_loss_nd", "cosine_similarity", "index_put", "index_copy", "index_fill", "scatter", "scatter_add", "scatter_reduce", "index_reduce", "masked_scatter"})
    EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [&](const std::string& name) { return name.starts_with(fmt::format("aten.{}.", op)); })) << op;
}

TEST(ProgramTest, LongBitsOfIntegersAreTasks) {
  SKIP_WITHOUT_TORCH();
  std::set<std::string> seen;
  expect_same_meaning("bits", seen);
  for (const char* op : {"bitwise_and.Tensor", "bitwise_or.Tensor", "bitwise_xor.Tensor", "bitwise_not.default", "bitwise_left_shift.Tensor", "bitwise_right_shift.Tensor"}) EXPECT_TRUE(seen.contains(fmt::format("aten.{}", op))) << op;
}

TEST(ProgramTest, UnusualCallsAreTasks) {
  SKIP_WITHOUT_TORCH();
  std::set<std::string> seen;
  expect_same_meaning("unusual", seen);
  for (const char* op : {"any.dims", "all.dims", "aminmax.default", "avg_pool2d.default", "hypot.default", "where.self", "index_put.default"}) EXPECT_TRUE(seen.contains(fmt::format("aten.{}", op))) << op;
}

TEST(ProgramTest, LongOperatorsMeanTheSameInTheLanguage) {
  SKIP_WITHOUT_TORCH();
  std::set<std::string> seen;
  for (const char* family : {"elementwise", "reductions", "products", "windows", "shapes", "indices", "scatters", "bits", "losses", "unusual"}) expect_same_meaning(family, seen);
  // What takes only a shape and a type from its operand is captured as full; prims.where is a piece that decompositions give.
  for (const char* op : {"aten.ones_like.default", "aten.zeros_like.default", "aten.full_like.default", "aten.new_ones.default", "aten.new_zeros.default", "aten.new_full.default", "prims.where.default"}) seen.insert(op);
  // The others are spellings that torch.export of today replaces by those: older ones, and a device's own.
  std::vector<std::string> unseen;
  for (const std::string& op : program::known_operators())
    if (seen.count(op) == 0) unseen.push_back(op);
  EXPECT_LE(unseen.size(), 54U) << fmt::format("{}", fmt::join(unseen, " "));
}

/// A file, what is named of it, and what is said about it.
struct Bad {
  std::string text;
  const char* function;
  const char* message;
};

void expect_refused(const std::vector<Bad>& cases) {
  const auto folder = base::ScratchDirectory::create("bad_programs");
  ASSERT_TRUE(folder);
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.text);
    const auto file = folder->path() / "bad.py";
    ASSERT_TRUE(base::write_file_atomic(file, bad.text));
    auto session = ProgramSession::start({file, bad.function});
    Error error;
    if (!session) {
      error = session.error();
    } else {
      auto read = program::read_program((*session)->capture());
      if (read) read = program::normalise(std::move(*read));
      ASSERT_FALSE(read);
      error = read.error();
    }
    EXPECT_THAT(error.message, HasSubstr(bad.message));
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
    EXPECT_NE(error.hint, "");
  }
}

/// Functions of a file, each a program.
std::vector<std::string> brought(const char* file) {
  const auto text = base::read_file(kCases + file);
  EXPECT_TRUE(text);
  std::vector<std::string> names;
  for (size_t at = text->find("\ndef "); at != std::string::npos; at = text->find("\ndef ", at + 1))
    if (const size_t end = text->find('(', at); text->substr(end, 2) == "()") names.push_back(text->substr(at + 5, end - at - 5));
  return names;
}

/// Those that no kernels can be made of, and why.
const std::map<std::string, std::string> kNotFollowed = {
    {"moe_loop", "depends on the values of tensors"}, {"data_dependent", "depends on the values of tensors"}, {"histogram", "depends on the values of tensors"},
    {"branch", "torch.export cannot follow forward()"}, {"random_op", "draws random numbers"}, {"dropout_on", "draws random numbers"},
    {"ctc", "torch.export cannot follow forward()"}, {"forces", "torch.export cannot follow forward()"}, {"uniques", "depends on the values of tensors"},
    {"checks", "gauss = F.gaussian_nll_loss(x, y"}, {"noisy_gate", "draws random numbers"}, {"statistics", "brought_unseen.py, line "}, {"counted", "bincount has a shape that depends on the values of tensors"}};

/// As PyTorch runs the steps, and as the tasks' texts say them.
void expect_brought_is_right(const char* file, const std::string& name) {
  SCOPED_TRACE(name);
  auto session = ProgramSession::start({kCases + file, name});
  const auto refused = kNotFollowed.find(name);
  if (refused != kNotFollowed.end()) {
    const auto program = session ? understood(**session) : tl::unexpected(session.error());
    ASSERT_FALSE(program);
    EXPECT_THAT(program.error().to_string(), HasSubstr(refused->second));
    return;
  }
  ASSERT_TRUE(session) << session.error().to_string();
  Captured all;
  all.session = std::move(*session);
  auto program = understood(*all.session);
  ASSERT_TRUE(program) << program.error().to_string();
  all.program = std::move(*program);
  all.plan = program::plan_program(all.program, program::cut(all.program));
  for (const program::Step& step : all.plan.steps) EXPECT_EQ(step.kind == Region::Kind::kEager, !step.why.empty());
  for (const bool by_language : {false, true}) {
    SCOPED_TRACE(by_language);
    expect_composed_is_right(all, by_language);
  }
}

TEST(ProgramTest, WhatUsersBringIsRightOrRefusedWithAReason) {
  SKIP_WITHOUT_TORCH();
  for (const auto& [file, name] : {std::pair{"brought.py", "moe_loop"}, {"brought_again.py", "hashes"}}) expect_brought_is_right(file, name);
}

TEST(ProgramTest, LongWhatUsersBringIsRightOrRefusedWithAReason) {
  SKIP_WITHOUT_TORCH();
  for (const auto& [file, least] : {std::pair{"brought.py", 78U}, {"brought_later.py", 49U}, {"brought_unseen.py", 22U}}) {
    const auto names = brought(file);
    EXPECT_GE(names.size(), least);
    for (const std::string& name : names) expect_brought_is_right(file, name);
  }
}

TEST(ProgramTest, LongWhatUsersBringAgainIsRightOrRefusedWithAReason) {
  SKIP_WITHOUT_TORCH();
  const auto names = brought("brought_again.py");
  EXPECT_GE(names.size(), 17U);
  for (const std::string& name : names) expect_brought_is_right("brought_again.py", name);
}

const std::string kModel = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        ";
const std::string kInputs = "\ndef get_inputs():\n    return [torch.randn(4, 6)]\n";

TEST(ProgramTest, WhatCannotBeCapturedIsSaidInOneLine) {
  SKIP_WITHOUT_TORCH();
  expect_refused({{kModel + "return x if x.sum() > 0 else -x" + kInputs, "", "torch.export cannot follow forward()"}});
}

TEST(ProgramTest, LongWhatCannotBeCapturedIsSaidInOneLine) {
  SKIP_WITHOUT_TORCH();
  expect_refused({
      {"x = 1\n", "", "has no Model (it defines no functions or classes)"},
      {"def f(:\n", "", "is no Python: line 1"},
      {"raise ValueError('oh')\n", "", "fails when it is read: ValueError: oh"},
      {kModel + "return x\n", "", "has no get_inputs"},
      {kModel + "return x" + kInputs, "blok", "has no blok"},
      {"def f():\n    return 3\n", "f", "gives no module and inputs but int"},
      {kModel + "return x[x > 0]" + kInputs, "", "depend"},
      {kModel + "return x + torch.rand(6)" + kInputs, "", "random"},
      {kModel + "x += 1; return x" + kInputs, "", "changes one of its arguments"},
      {kModel + "return x @ x" + kInputs, "", "torch.export cannot follow forward()"},
      {kModel + "return x.item()" + kInputs, "", "torch.export cannot follow forward()"},
      {"import torch\ndef f():\n    return torch.nn.Linear(6, 2, device='meta'), [torch.randn(4, 6)]\n", "f", "weights and inputs lie on several devices: cpu, meta"},
      {"import torch\ndef f():\n    return torch.nn.Linear(6, 2), 3\n", "f", "the inputs are a int"},
  });
}

TEST(ProgramTest, LongOddInputsGiveWhatTheModuleGives) {
  SKIP_WITHOUT_TORCH();
  const auto folder = base::ScratchDirectory::create("odd_programs");
  ASSERT_TRUE(folder);
  int number = 0;
  for (const char* inputs : {"[torch.randn(8, 12)[::2, ::2]]", "[torch.randn(6, 4).t()]", "[torch.randn(0, 6)]", "[torch.randn(1, 6).expand(4, 6)]", "{'x': torch.randn(4, 6)}"}) {
    SCOPED_TRACE(inputs);
    const auto file = folder->path() / fmt::format("odd_{}.py", number++);
    ASSERT_TRUE(base::write_file_atomic(file, fmt::format("{}return (torch.softmax(x, -1) @ x.t(), x.sum(-1))\ndef get_inputs():\n    return {}\n", kModel, inputs)));
    Captured all = captured({file, {}});
    ASSERT_TRUE(all.session);
    expect_composed_is_right(all, false);
  }
}

TEST(ProgramTest, LongExamplesGiveWhatTheirModulesGive) {
  SKIP_WITHOUT_TORCH();
  for (const char* name : {"resnet", "diffusion", "mamba2", "recurrent", "llama", "gpt2"})
    for (const bool by_language : {false, true}) {
      SCOPED_TRACE(name);
      Captured all = captured({fmt::format("{}/examples/programs/{}.py", HONE_SOURCE_DIR, name), {}});
      ASSERT_TRUE(all.session);
      expect_composed_is_right(all, by_language);
    }
}

const std::string kLevel3 = HONE_SOURCE_DIR "/programs/kernelbench/level3/";

TEST(ProgramTest, LongALoopWhoseStepsAreOneTaskGivesWhatItsModuleGives) {
  SKIP_WITHOUT_TORCH();
  Captured all = captured({kLevel3 + "34_VanillaRNNHidden.py", "small"});
  ASSERT_TRUE(all.session);
  EXPECT_TRUE(std::any_of(all.plan.tasks.begin(), all.plan.tasks.end(), [](const program::CutTask& task) { return task.steps.size() > 2; }));
  expect_composed_is_right(all, true);
}

/// As written out, by PyTorch's operators and in the language, and as the operator itself.
void expect_loop_is_right(const char* function) {
  SCOPED_TRACE(function);
  Captured all = captured({kCases + "recurrent.py", function});
  ASSERT_TRUE(all.session);
  ASSERT_EQ(all.plan.written.size(), 1U);
  for (const bool by_language : {false, true}) expect_composed_is_right(all, by_language);
  ASSERT_TRUE(all.session->use({{all.plan.written.front().name, false}}));
  const auto outputs = all.session->check(1, 1);
  ASSERT_TRUE(outputs) << outputs.error().to_string();
  for (const auto& output : *outputs) EXPECT_EQ(accuracy_reason(output, {}), "");
}

TEST(ProgramTest, LongConstantsAreKnownToTheirTasks) {
  SKIP_WITHOUT_TORCH();
  const auto folder = base::ScratchDirectory::create("constants");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "constants.py";
  ASSERT_TRUE(base::write_file_atomic(file, "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                                            "        self.register_buffer('mask', torch.ones(6, 6).tril().bool(), persistent=False)\n"
                                            "        self.register_buffer('order', torch.tensor([5, 0, 3, 1]), persistent=False)\n"
                                            "        self.register_buffer('kept', torch.ones(6, 6).triu().bool())\n        self.table = torch.nn.Parameter(torch.randn(9, 6))\n"
                                            "    def forward(self, x):\n        y = (x @ x.t()).masked_fill(self.mask, -1).masked_fill(self.kept, 2)\n        return torch.index_select(y + 1, 1, self.order)\n"
                                            "def get_inputs():\n    return [torch.randn(6, 6)]\n"));
  Captured all = captured({file, {}});
  ASSERT_TRUE(all.session);
  std::vector<std::string> known;
  int drawn = 0;
  for (const program::CutTask& task : all.plan.tasks)
    for (const task::InputSpec& input : task.task.inputs) {
      drawn += input.constant && !input.values;
      if (!input.values) continue;
      std::string text;
      for (int64_t i = 0; i < task::element_count(input.values->shape); ++i) text += fmt::format("{} ", task::value_at(*input.values, input.type.dtype, i));
      known.push_back(text);
    }
  EXPECT_THAT(known, ::testing::UnorderedElementsAre("1 0 0 0 0 0 1 1 0 0 0 0 1 1 1 0 0 0 1 1 1 1 0 0 1 1 1 1 1 0 1 1 1 1 1 1 ", "5 0 3 1 "));
  EXPECT_EQ(drawn, 1);   // of the state_dict, which may come with other values
  expect_composed_is_right(all, true);
}

TEST(ProgramTest, LongWeightsMayBeCalledAsTheModulesOwnThingsAre) {
  SKIP_WITHOUT_TORCH();
  const auto folder = base::ScratchDirectory::create("called_so");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "called_so.py";
  ASSERT_TRUE(base::write_file_atomic(file, "import torch\nNAMES = 'place weights plain folds recorder run owner put computed'.split()\n"
                                            "class Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                                            "        for name in NAMES:\n            setattr(self, name, torch.nn.Parameter(torch.randn(6)))\n"
                                            "        self.steps, self.leaves = torch.nn.Linear(6, 6), torch.nn.Module()\n        self.leaves.register_buffer('shift', torch.randn(6))\n"
                                            "    def forward(self, x):\n        return self.steps(x) + sum(getattr(self, name) for name in NAMES) + self.leaves.shift\n"
                                            "def get_inputs():\n    return [torch.randn(4, 6)]\n"));
  Captured all = captured({file, {}});
  ASSERT_TRUE(all.session);
  expect_composed_is_right(all, false);
}

TEST(ProgramTest, LongRecurrentNetsAreWrittenOut) {
  SKIP_WITHOUT_TORCH();
  for (const char* function : {"lstm", "lstm_both_ways", "lstm_one_sample", "gru", "gru_both_ways", "tanh", "relu", "one_step", "long", "half"}) expect_loop_is_right(function);
}

TEST(ProgramTest, LongTimesOfALoopsStepsAreWithinTheOperatorsPlace) {
  SKIP_WITHOUT_TORCH();
  Captured all = captured({kCases + "recurrent.py", "gru"});
  ASSERT_TRUE(all.session);
  expect_composed_is_right(all, false);
  ASSERT_EQ(all.plan.written.size(), 1U);
  const program::WrittenOut& gru = all.plan.written.front();
  const auto times = all.session->step_times({}, {gru.name}, 0.1);
  ASSERT_TRUE(times) << times.error().to_string();
  int parts = 0, others = 0;
  for (const auto& [key, time] : *times) {
    (key.find('.') == std::string::npos ? others : parts)++;
    EXPECT_GT(time.eager_ns, 0) << key;
    EXPECT_GT(time.kernel_ns, 0) << key;
  }
  EXPECT_EQ(parts, gru.count);
  EXPECT_EQ(others, static_cast<int>(all.plan.steps.size()) - gru.count + 1 - static_cast<int>(std::count_if(all.plan.steps.begin(), all.plan.steps.end(),
                                                                                                           [](const auto& step) { return step.kind == Region::Kind::kFold; })));
}

TEST(ProgramTest, LongLevel3GivesWhatItsModulesGive) {
  SKIP_WITHOUT_TORCH();
  int programs = 0;
  for (const auto& file : std::filesystem::directory_iterator(kLevel3)) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() != ".py" || name == "parts.py") continue;
    SCOPED_TRACE(name);
    Captured all = captured({file.path(), "small"});
    ASSERT_TRUE(all.session);
    expect_composed_is_right(all, true);
    // What runs as PyTorch's moves nothing, or puts a loop's states together.
    for (const program::Step& step : all.plan.steps)
      if (step.kind == Region::Kind::kEager) EXPECT_THAT(step.why, ::testing::AnyOf(program::kView, HasSubstr("puts pieces together")));
    ++programs;
  }
  EXPECT_EQ(programs, 50);
}

TEST(ProgramTest, TheFileSeesNeitherTheNetworkNorOtherFiles) {
  SKIP_WITHOUT_TORCH();
  const auto folder = base::ScratchDirectory::create("jailed_program");
  const auto other = base::ScratchDirectory::create("secret");
  ASSERT_TRUE(folder && other);
  ASSERT_TRUE(base::write_file_atomic(other->path() / "secret.txt", "hidden"));
  const auto file = folder->path() / "curious.py";
  ASSERT_TRUE(base::write_file_atomic(file, fmt::format("import errno, socket\nseen = []\ntry:\n    seen.append(open('{}/secret.txt').read())\nexcept OSError:\n    pass\n"
                                                        "try:\n    seen.append(socket.create_connection(('127.0.0.1', 9)))\nexcept OSError as error:\n"
                                                        "    if error.errno == errno.ECONNREFUSED:\n        seen.append('somebody refused')\nraise ValueError(f'seen: {{seen}}')\n", other->path().string())));
  const auto session = ProgramSession::start({file, {}});
  ASSERT_FALSE(session);
  EXPECT_THAT(session.error().message, HasSubstr("fails when it is read: ValueError: seen: []"));
}

const std::string kDefinition = kCases + "set/definitions/norm/add_norm_d96.json";

ProgramSource definition(const std::string& workload) {
  ProgramSource source{kDefinition, {}};
  source.workload = workload;
  return source;
}

void expect_captured(const std::string& workload, int64_t tokens) {
  Captured all = captured(definition(workload));
  ASSERT_TRUE(all.session);
  EXPECT_EQ(all.program.name, "add_norm_d96");
  EXPECT_THAT(all.program.nodes.front().type().shape, ::testing::ElementsAre(tokens, 96));
  expect_composed_is_right(all, true);
}

TEST(ProgramTest, ADefinitionIsCapturedForAWorkload) {
  SKIP_WITHOUT_TORCH();
  expect_captured("tokens=5", 5);
}

TEST(ProgramTest, LongADefinitionIsCapturedForAWorkload) {
  SKIP_WITHOUT_TORCH();
  expect_captured("", 24);
  expect_captured("77aa", 7);
}

TEST(ProgramTest, LongWhatADefinitionLacksIsSaidInOneLine) {
  SKIP_WITHOUT_TORCH();
  for (const auto& [workload, message] : {std::pair{"0000", "has no workload 0000"}, {"width=4", "has no axis width to be set to 4"}, {"tokens=x", "has no axis tokens to be set to x"}}) {
    const auto session = ProgramSession::start(definition(workload));
    ASSERT_FALSE(session);
    EXPECT_THAT(session.error().message, HasSubstr(message));
    EXPECT_NE(session.error().hint, "");
  }
  const auto folder = base::ScratchDirectory::create("bad_definitions");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "bad.json";
  const std::string axes = R"({"axes": {"M": {"type": "var"}}, "inputs": {"x": {"shape": ["M"], "dtype": "float4_e2m1"}, "eps": {"shape": null, "dtype": "float32"}}, "reference": )";
  const auto refused = [&](const std::string& text, const std::string& workload) {
    EXPECT_TRUE(base::write_file_atomic(file, text));
    ProgramSource source{file, {}};
    source.workload = workload;
    const auto session = ProgramSession::start(source);
    return session ? std::string() : session.error().message;
  };
  EXPECT_THAT(refused("{", ""), HasSubstr("bad.json is no definition"));
  EXPECT_THAT(refused("{\"axes\": {}}", ""), HasSubstr("is no definition: KeyError"));
  EXPECT_THAT(refused(axes + "\"x = 1\"}", "M=2"), HasSubstr("its reference has no function run()"));
  EXPECT_THAT(refused(axes + "\"def run(:\"}", "M=2"), HasSubstr("its reference fails when it is read"));
  EXPECT_THAT(refused(axes + "\"def run(x, eps): return x\"}", ""), HasSubstr("does not say what M is"));
  EXPECT_THAT(refused(axes + "\"def run(x, eps): return x\"}", "M=2"), HasSubstr("has no float4_e2m1"));
}

TEST(ProgramSourceTest, IsAPythonFileOrAFunctionOfOneOrADefinition) {
  EXPECT_EQ(evaluate::program_source("set/gemm.json")->file, "set/gemm.json");
  EXPECT_EQ(evaluate::program_source("a/model.py")->function, "");
  EXPECT_EQ(evaluate::program_source("model.py:block")->function, "block");
  EXPECT_EQ(evaluate::program_source("model.py:block")->file, "model.py");
  EXPECT_FALSE(evaluate::program_source("task.toml"));
  EXPECT_FALSE(evaluate::program_source(""));
}

}  // namespace
}  // namespace hone::face
