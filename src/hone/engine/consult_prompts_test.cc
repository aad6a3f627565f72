// What models are told in a run: times and bounds, the best kernel, what tuning found, who else is asked, machine and
// inputs; and that it stays within its limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hone/agent/prompt.h"
#include "hone/engine/briefing.h"
#include "hone/engine/consult.h"
#include "hone/engine/testing/model_run.h"

namespace hone::engine {
namespace {

using agent::Request;
using nlohmann::json;
using testing::answer_text;
using testing::kernel_text;
using testing::last_text;
using testing::ModelBench;
using testing::must;
using testing::says;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// What is between two lines of a text; empty where the first is not there.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find(to, begin) - begin);
}

TEST(ConsultPrompts, say_times_bounds_ratios_and_errors_of_the_kernel_asked_about) {
  ModelBench bench;
  bench.bound_ns = 1e5;
  bench.config.limits.calls = 2;
  bench.add("m", [](const Request&, int) { return says(answer_text(kernel_text("time 2e5"))); });
  (void)bench.run();
  const std::string text = last_text(bench.clients[0]->requests().at(1));
  EXPECT_THAT(text, HasSubstr("You are the optimiser"));
  EXPECT_THAT(text, HasSubstr("200 us a call, caches cold"));
  EXPECT_THAT(text, HasSubstr("the bound is 100 us, so 50 % of the bound's speed"));
  EXPECT_THAT(text, HasSubstr("side by side (3 pairs: "));
  EXPECT_THAT(text, HasSubstr("largest error 1.25e-07 of at most 1e-06 (the anchor's own: 2.5e-07), rms 1e-08 of at most 4e-08"));
  EXPECT_THAT(text, HasSubstr("at the workloads' own shapes: output y, normal inputs, D=1000"));
  EXPECT_THAT(text, HasSubstr("The kernel above is the best of the run so far"));
  EXPECT_THAT(text, Not(HasSubstr("fraction_of_speed_of_light")));
}

TEST(ConsultPrompts, show_the_best_kernel_whatever_they_ask_about) {
  ModelBench bench;
  bench.config.calls_at_once = 2;
  bench.config.limits.calls = 8;
  std::atomic<int> made{0};
  bench.add("m", [&](const Request& request, int) {
    const bool second = last_text(request).find("direction: functions:") != std::string::npos;
    return says(answer_text(kernel_text(second ? "time 1e4" : fmt::format("time {}", 300000 - ++made))));
  });
  (void)bench.run();
  std::string text;
  for (const Request& request : bench.clients[0]->requests())
    if (last_text(request).find("You are the optimiser") != std::string::npos && last_text(request).find("is: bytes:") != std::string::npos)
      text = last_text(request);
  EXPECT_THAT(text, HasSubstr("// time 29999"));
  const std::string best = between(text, "The best kernel of the run so far", "The other lines of work");
  EXPECT_THAT(best, HasSubstr("// time 1e4"));
  EXPECT_THAT(best, HasSubstr("10 us a call"));
  EXPECT_THAT(text, HasSubstr("You may start\nfrom any kernel shown"));
}

/// Directions come from the task: what bounds it, how large it is, what it computes.
TEST(Directions, follow_from_the_task_and_the_target) {
  const kernel::Limits card = {{"SMS", 132}, {"SHARED_MAX", 232448}, {"WAVE", 32}}, cpu = {{"THREADS", 8}};
  const auto of = [](const char* compute, const std::vector<std::string>& inputs, const std::vector<std::string>& sizes, const kernel::Limits& limits) {
    return directions_for(must(task::task_from_expressions(compute, inputs, sizes)), {}, limits);
  };
  EXPECT_THAT(of("c = a @ b", {"a=f32[4096,4096]", "b=f32[4096,4096]"}, {}, card).front(), HasSubstr("matrix units"));
  EXPECT_THAT(of("c = a @ b", {"a=f32[4096,4096]", "b=f32[4096,4096]"}, {}, cpu).front(), HasSubstr("register tiles"));
  EXPECT_THAT(of("y = x + 1", {"x=f32[65536,4096]"}, {}, card).front(), HasSubstr("bytes:"));
  const auto few = of("y = sum(x, axis=-1)", {"x=f32[4,1000000]"}, {}, card);
  EXPECT_TRUE(std::any_of(few.begin(), few.end(), [](const std::string& d) { return d.find("4 elements of output for 132 multiprocessors") != std::string::npos; }));
  const auto spread = of("y = exp(x)", {"x=f32[B]"}, {"B=64", "B=1048576"}, cpu);
  EXPECT_TRUE(std::any_of(spread.begin(), spread.end(), [](const std::string& d) { return d.starts_with("shapes:"); }));
  EXPECT_TRUE(std::any_of(spread.begin(), spread.end(), [](const std::string& d) { return d.starts_with("functions:"); }));
}

/// What a prompt shows once it does not show again: near-identical kernels as a difference, the library's by number.
TEST(ConsultPrompts, print_no_kernel_twice) {
  agent::TeamOptions options;
  options.models.emplace_back().name = "m";
  options.width = 2;
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += fmt::format("// line {}\n", i);
  options.worked = {kernel_text("worked\n" + lines)};
  agent::Team team(options);
  const kernel::Kernel library = must(kernel::parse_kernel(options.worked[0], "k"));
  agent::Ask first = must(team.prepare(0, 0, {library, 1, 0.5, true}));
  EXPECT_THAT(last_text(first.request), HasSubstr("It is the library's kernel number 1."));
  EXPECT_THAT(last_text(first.request), Not(HasSubstr("// line 7")));
  EXPECT_THAT(first.request.system, HasSubstr("// line 7"));
  team.sent(first);
  const auto taken = team.take(0, says(answer_text(kernel_text("time 1\n" + lines))), "", 1, {});
  ASSERT_TRUE(taken.seed);
  agent::Judged judged;
  judged.accepted = true;
  judged.verdict = "accepted";
  judged.score = 2;
  team.judged(taken.seed->kernel.hash(), judged);
  const kernel::Kernel near = must(kernel::parse_kernel(kernel_text("time 1\n" + lines + "// one more\n"), "k"));
  const std::string text = last_text(must(team.prepare(0, 0, {near, 3, 0.5, true})).request);
  EXPECT_THAT(text, HasSubstr("+// one more"));
  const size_t at = text.find("// line 7\n");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.find("// line 7\n", at + 1), std::string::npos) << "twice";
}

TEST(ConsultPrompts, say_what_tuning_found) {
  ModelBench bench;
  bench.sources = 1;
  bench.config.limits.calls = 3;
  std::atomic<int> screened{0};
  bench.work = [&] { ++screened; };
  bench.add("m", [&](const Request&, int n) {
    // The second answer is not there before the tuner has gone through all there is.
    for (int i = 0; n == 1 && screened < testing::kAllowedOfASource + 4 && i < 2000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return says(answer_text(n == 0 ? kernel_text("time 4e5", "tunables = { A = [1, 2, 4, 8] }\n") : kernel_text(fmt::format("time {}", 900000 + n))));
  });
  (void)bench.run();
  const auto requests = bench.clients[0]->requests();
  ASSERT_EQ(requests.size(), 3U);
  const std::string first = between(last_text(requests[1]), "Settings of its tunables that were tried", "The kernel above"),
                    then = between(last_text(requests[2]), "Settings of its tunables that were tried", "The kernel above");
  EXPECT_THAT(first, HasSubstr("A=1 (as above): 400 us a call"));
  EXPECT_THAT(then, AllOf(HasSubstr("A=1"), HasSubstr("A=2"), HasSubstr("A=4"), HasSubstr("A=8")));
}

TEST(ConsultPrompts, name_the_other_directions) {
  ModelBench bench;
  bench.config.calls_at_once = 2;
  bench.config.limits.calls = 6;
  bench.add("m", [](const Request&, int n) { return says(answer_text(kernel_text(fmt::format("time {}", 300000 - n)))); });
  bench.clients[0]->takes = std::chrono::milliseconds(300);
  (void)bench.run();
  const auto requests = bench.clients[0]->requests();
  const auto of = [&](const char* hint) {
    for (const Request& request : requests)
      if (last_text(request).find(std::string("direction: ") + hint) != std::string::npos) return last_text(request);
    return std::string();
  };
  EXPECT_THAT(of("bytes:"), HasSubstr("- functions: fewer and cheaper exponentials, logarithms and divisions of the same accuracy; algebra that shares them: waits to be asked"));
  EXPECT_THAT(of("functions:"), HasSubstr("- bytes: at the most 1.953 MiB must move"));
}

TEST(ConsultPrompts, notes_are_cut_between_words_and_say_what_became_of_the_lesson) {
  ModelBench bench;
  bench.bound_ns = 1e5;
  bench.config.limits.calls = 3;
  std::string action;
  for (int i = 0; i < 24; ++i) action += fmt::format("{}word{:02}", i ? " " : "", i);
  bench.add("m", [&](const Request&, int n) {
    return says(answer_text(kernel_text(n == 0 ? "time 2e5" : fmt::format("time {}", 800000 + n), "tunables = { A = [3] }\n"), action,
                            fmt::format("lesson {}", n)));
  });
  (void)bench.run();
  const std::string text = last_text(bench.clients[0]->requests().at(2));
  EXPECT_THAT(text, HasSubstr("word15 word16 … by m [A=3]: accepted, 200 us a call, 50 % of the bound's speed"));
  EXPECT_THAT(text, HasSubstr("[its author's lesson: lesson 0]"));
  EXPECT_THAT(text, HasSubstr("0.25 times the speed of the best then"));
  EXPECT_THAT(text, HasSubstr("[its author's lesson, though its kernel was no faster than the best: lesson 1]"));
  const auto lessons = must(bench.open().fact(lessons_key(bench.task.hash())));
  ASSERT_TRUE(lessons);
  EXPECT_THAT(*lessons, AllOf(HasSubstr("(lesson 0)"), HasSubstr("(of a kernel that was no faster than the best: lesson 1)")));
}

TEST(ConsultPrompts, system_prompt_says_machine_build_workload_inputs_and_timing) {
  ModelBench bench;
  bench.bound_ns = 1e5;
  bench.config.limits.calls = 1;
  bench.options.budget_evaluations = 40;
  bench.add("m", [](const Request&, int) { return says(answer_text(kernel_text("time 2e5"))); });
  bench.options.models_json = bench.config.to_json();
  archive::Store store = bench.open();
  Services services = bench.with_models(store);
  target::CpuPeaks peaks;
  peaks.read = 20.5, peaks.write = 10.25, peaks.copy = 15, peaks.f64 = 40, peaks.f32 = 80, peaks.bf16 = 160, peaks.i8 = 320, peaks.threads = 2;
  services.place_facts = [&] { return cpu_facts(json::parse(services.machine_json), "g++ 12.2.0: AVX2 FMA\n", peaks); };
  services.machine_json = R"({"model": "Pretended CPU", "isa": "avx2", "threads": 2, "l2_bytes": 2097152})";
  (void)must(start_run(bench.task, bench.options, services));
  const std::string text = bench.clients[0]->requests().at(0).system;
  EXPECT_THAT(text, HasSubstr("Pretended CPU, avx2, 2 threads, L2 (a core) 2 MiB"));
  EXPECT_THAT(text, HasSubstr("g++ 12.2.0: AVX2 FMA"));
  EXPECT_THAT(text, HasSubstr("read 20.5 GB/s, write 10.25 GB/s, copy 15 GB/s"));
  EXPECT_THAT(text, HasSubstr("f64 40, f32 80, bf16 160, i8 320"));
  EXPECT_THAT(text, HasSubstr("2.048 MB must move"));
  EXPECT_THAT(text, HasSubstr("takes 100 us here (20.48 GB/s)"));
  EXPECT_THAT(text, HasSubstr("the bound is 100 us, by memory"));
  EXPECT_THAT(text, HasSubstr("The run looks at 40 kernels at the most"));
  for (const char* fact : {"one call with cold caches", "poison and every line", "none of which is in the time", "mantissa: heavy-tailed",
                           "No input is NaN or infinite", "4 times the anchor's", "One fp32 rounding is 6e-8"})
    EXPECT_THAT(text, HasSubstr(fact));
}

TEST(ConsultPrompts, speak_of_the_target_they_write_for) {
  ModelBench bench;
  bench.config.limits.calls = 1;
  bench.add("m", [](const Request&, int) { return says(answer_text(kernel_text("time 2e5"))); });
  bench.options.models_json = bench.config.to_json();
  archive::Store store = bench.open();
  Services services = bench.with_models(store);
  services.machine_json = R"({"model": "Pretended CPU", "isa": "avx512", "threads": 2})";
  services.place_facts = [] { return std::string("Kernels run on a pretended card\n"); };
  services.timing = "timing_card";
  services.languages = {kernel::Language::kCuda};
  std::vector<search::Seed> library;
  for (const char* name : {"one", "two", "three"}) {
    const std::string text = fmt::format("/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"{0}\"\ngrid = [\"1\"]\nblock = [\"32\"]\nargs = [\"x\", \"y\"]\n*/\n__global__ void {0}() {{}}\n", name);
    library.push_back({must(kernel::parse_kernel(text, name)), std::string(name) == "three" ? "columns" : "rows", name, true});
  }
  services.seeds.insert(services.seeds.begin(), library.begin(), library.end());
  (void)must(start_run(bench.task, bench.options, services));
  const std::string text = bench.clients[0]->requests().at(0).system;
  for (const char* said : {"__global__", "SMS SHARED_MAX WAVE", "twice the size of the L2 cache", "a pretended card", "void one()", "void three()"}) EXPECT_THAT(text, HasSubstr(said));
  for (const char* not_said : {"Pretended CPU", "avx512", "-march=native", "f32v", "void two()", "every line of inputs"}) EXPECT_THAT(text, Not(HasSubstr(not_said)));
  // What is the same in every run comes first, so that providers keep it.
  EXPECT_LT(text.find("mantissa: heavy-tailed"), text.find("a pretended card"));
  EXPECT_LT(text.find("a pretended card"), text.find("void one()"));
}

TEST(ConsultPrompts, stay_within_their_limits) {
  ModelBench bench;
  bench.config.limits.calls = 14;
  const std::string long_text(30'000, '/');
  bench.add("m", [&](const Request&, int n) {
    return says(answer_text(kernel_text(fmt::format("time {}\n{}", 400000 - (n % 2 == 0 ? 0 : 1000 * n), long_text), "tunables = { A = [1, 2, 4, 8] }\n"),
                            std::string(150, 'a') + std::to_string(n), std::string(400, 'l')));
  });
  (void)bench.run();
  size_t most = 0;
  for (const Request& request : bench.clients[0]->requests()) most = std::max(most, last_text(request).size());
  // Two kernels of 24 KiB, 1500 tokens of notes, and the rest.
  EXPECT_LT(most, 2 * (24U << 10) + 4 * 1500 + 10'000);
  EXPECT_GT(most, 24U << 10);
}

TEST(ConsultPrompts, say_what_an_operation_is_where_the_task_leaves_it_out) {
  agent::TeamOptions options;
  options.models.emplace_back().name = "m";
  options.task_toml = "y = rms_norm(x)";
  options.operations = "- rms_norm(x, eps: number = 1e-6): a norm\n";
  agent::Team team(options);
  EXPECT_THAT(must(team.prepare(0, 0, {})).request.system, HasSubstr("leaves it out:\n- rms_norm(x, eps: number = 1e-6): a norm\n"));
}

/// A run that began with the prompts of an earlier version is told, and replays, in their words: their places are still filled.
TEST(ConsultPrompts, fill_the_places_of_earlier_versions) {
  agent::TeamOptions options;
  options.models.emplace_back().name = "m";
  options.width = 1;
  options.machine = "the machine";
  options.documents = agent::own_documents();
  options.documents["docs/kernels.md"] = "# guide\n## CUDA\nall of it\n";
  options.documents["prompts/system.md"] = "+++\nversion = 1\n+++\n{{guide}}|{{machine}}|{{task}}";
  options.documents["prompts/generator.md"] = "+++\nversion = 1\n+++\n{{direction}}|{{best_score}}|{{light}}|{{best}}|{{history}}|{{knowledge}}{{answer_format}}";
  options.documents["prompts/optimiser.md"] = "+++\nversion = 1\n+++\n{{score}}|{{best_score}}|{{kernel}}|{{diagnosis}}|{{history}}";
  agent::Team team(options);
  agent::Ask ask = must(team.prepare(0, 0, {}));
  EXPECT_THAT(ask.request.system, HasSubstr("## CUDA\nall of it\n|the machine|"));
  EXPECT_THAT(last_text(ask.request), HasSubstr("|no||there is none yet|nothing yet|"));
  team.sent(ask);
  const auto taken = team.take(0, says(answer_text(kernel_text("time 1"))), "", 1, {});
  ASSERT_TRUE(taken.seed);
  agent::Judged judged;
  judged.accepted = true;
  judged.verdict = "accepted";
  judged.score = 2;
  judged.light = 0.5;
  team.judged(taken.seed->kernel.hash(), judged);
  ask = must(team.prepare(0, 0, {taken.seed->kernel, 2, 0.5}));
  EXPECT_THAT(last_text(ask.request), HasSubstr("2.00|2.00|<<<KERNEL-"));
  EXPECT_THAT(last_text(ask.request), HasSubstr("|fraction_of_speed_of_light: 0.5 (measured)\n|<<<NOTES-"));
  EXPECT_THAT(last_text(ask.request), HasSubstr("- (yours) try by m: accepted, 2.00 times the first\n"));
}

}  // namespace
}  // namespace hone::engine
