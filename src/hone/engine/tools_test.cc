// Tools of a run, asked for by a scripted model: what they say, and what they refuse.
#include "hone/engine/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/engine/consult.h"
#include "hone/engine/testing/model_run.h"

namespace hone::engine {
namespace {

using agent::Request;
using nlohmann::json;
using testing::answer_text;
using testing::calls;
using testing::kernel_text;
using testing::ModelBench;
using testing::must;
using testing::says;
using ::testing::HasSubstr;
using ::testing::Not;

Result<Examined> looked(evaluate::Evaluator&, const kernel::Kernel&, bool) {
  Examined out;
  out.workload = "w5";
  for (int w = 0; w < 6; ++w) {
    diagnose::Profile profile{fmt::format("w{}", w), {}, 1, {}};
    profile.metrics.measured("light", 0.9 - 0.1 * w, "share of the speed of light");
    profile.metrics.modelled("vector_share", 0.5, "");
    profile.metrics.absent("cache_miss_share", "no counters here");
    out.profiles.push_back(std::move(profile));
  }
  out.diagnosis.bottleneck = diagnose::kBalance;
  out.diagnosis.says = "one thread waits";
  return out;
}

/// A run whose model makes `asked` calls, a conversation each, then answers with a kernel.
struct ToolBench : ModelBench {
  Services extended(archive::Store& store) {
    Services all = with_models(store);
    all.examine = looked;
    all.microbenchmark = snippet;
    all.peaks = [] { return json{{"read", 99.5}}; };
    return all;
  }
  std::vector<json> ask(const std::vector<std::pair<std::string, json>>& asked) {
    config.limits.calls = static_cast<int>(asked.size()) + 1;
    add("m", [asked](const Request&, int n) {
      if (n >= static_cast<int>(asked.size())) return says(answer_text(kernel_text("time 2e6")));
      return calls(asked[static_cast<size_t>(n)].first, asked[static_cast<size_t>(n)].second);
    });
    // Long enough for a first kernel to be accepted meanwhile.
    clients[0]->takes = std::chrono::milliseconds(50);
    options.models_json = config.to_json();
    archive::Store store = open();
    (void)must(start_run(task, options, extended(store)));
    return events("tool");
  }
  std::function<Result<SnippetTimes>(const Snippet&)> snippet = [](const Snippet& s) -> Result<SnippetTimes> {
    SnippetTimes times;
    if (s.body == "broken") times.problem = "does not compile", times.detail = "kernel.cc:9: error";
    times.median_ns = static_cast<double>(s.elements);
    times.batches = 7;
    return times;
  };
};

json said(const json& event) { return json::parse(event.at("text").get<std::string>()); }

TEST(Tools, tell_of_the_best_kernel_and_of_drafts) {
  ToolBench bench;
  const auto told = bench.ask({{"profile_kernel", json::object()},
                               {"diagnose", {{"kernel", "best"}}},
                               {"profile_kernel", {{"source", kernel_text("time 3e6")}}},
                               {"diagnose", {{"source", kernel_text("wrong")}}}});
  ASSERT_EQ(told.size(), 4U);
  for (const json& event : told) EXPECT_FALSE(event.at("failed").get<bool>()) << event.dump();
  const json profile = said(told[0]);
  // The worst first, and no more than are asked for.
  ASSERT_EQ(profile.at("metrics").size(), kMostProfiles);
  EXPECT_EQ(profile.at("left_out"), 2);
  EXPECT_EQ(profile.at("metrics")[0].at("workload"), "w5");
  const json& metrics = profile.at("metrics")[0].at("metrics");
  EXPECT_EQ(metrics.at("light").at("origin"), "measured");
  EXPECT_EQ(metrics.at("vector_share").at("origin"), "modelled");
  EXPECT_EQ(metrics.at("cache_miss_share").at("origin"), "absent");
  EXPECT_TRUE(metrics.at("cache_miss_share").at("value").is_null());
  EXPECT_EQ(said(told[1]).at("diagnosis").at("bottleneck"), "balance");
  EXPECT_EQ(said(told[2]).at("verdict"), "accepted");
  EXPECT_EQ(said(told[3]).at("verdict"), "wrong");
  EXPECT_FALSE(said(told[3]).contains("diagnosis"));
  EXPECT_EQ(bench.model_verdicts().size(), 1U) << "a draft is no candidate";
}

TEST(Tools, say_of_a_draft_what_it_is_worth) {
  ToolBench bench;
  bench.bound_ns = 5e3;
  const auto told = bench.ask({{"evaluate_kernel", {{"source", kernel_text("time 1e4")}}}, {"evaluate_kernel", {{"source", kernel_text("wrong")}}}});
  ASSERT_EQ(told.size(), 2U);
  const json good = said(told[0]), bad = said(told[1]);
  EXPECT_EQ(good.at("verdict"), "accepted");
  EXPECT_EQ(good.at("call_ns"), json::array({1e4}));
  EXPECT_EQ(good.at("bound_ns"), json::array({5e3}));
  // The fake kernels of the search take longer by far.
  EXPECT_GT(good.at("times_the_best").get<double>(), 1);
  EXPECT_EQ(good.at("largest_error"), 1.25e-7);
  EXPECT_EQ(good.at("largest_error_allowed"), 1e-6);
  EXPECT_EQ(bad.at("verdict"), "wrong");
  EXPECT_EQ(bad.at("score"), 0);
  EXPECT_EQ(bad.at("detail"), "smallest failing case: B=1");
  for (const char* key : {"call_ns", "bound_ns", "times_the_best", "largest_error"}) EXPECT_FALSE(bad.contains(key)) << key;
}

TEST(Tools, refuse_forged_names_of_kernels) {
  ToolBench bench;
  // Put into the archive by somebody else: no kernel of this run.
  archive::KernelRow row;
  row.hash = std::string(64, 'a');
  row.source = kernel_text("time 1");
  row.config_json = "{}";
  row.language = "c++";
  ASSERT_TRUE(bench.open().put_kernel(row));
  const auto told = bench.ask({{"profile_kernel", {{"kernel", std::string(64, 'a')}}},
                               {"diagnose", {{"kernel", "../../../etc/passwd"}}},
                               {"read_disassembly", {{"kernel", "a"}}},
                               {"profile_kernel", {{"kernel", "best"}, {"source", kernel_text("time 1")}}}});
  ASSERT_EQ(told.size(), 4U);
  for (const json& event : told) EXPECT_TRUE(event.at("failed").get<bool>()) << event.dump();
  EXPECT_THAT(told[0].at("text").get<std::string>(), HasSubstr("no accepted kernel of that hash"));
  EXPECT_THAT(told[1].at("text").get<std::string>(), HasSubstr("do not fit"));
  EXPECT_THAT(told[3].at("text").get<std::string>(), HasSubstr("not both"));
}

TEST(Tools, refuse_sources_that_reach_out) {
  ToolBench bench;
  const auto told = bench.ask({{"profile_kernel", {{"source", kernel_text("\n#include \"/etc/passwd\"")}}},
                               {"read_disassembly", {{"source", kernel_text("time 1", "pattern = \"rows\"\n")}}},
                               {"diagnose", {{"source", std::string(131073, 'x')}}}});
  ASSERT_EQ(told.size(), 3U);
  for (const json& event : told) EXPECT_TRUE(event.at("failed").get<bool>()) << event.dump();
  EXPECT_THAT(told[0].at("text").get<std::string>(), HasSubstr("by its path"));
}

TEST(Tools, time_snippets_within_bounds) {
  ToolBench bench;
  const auto told = bench.ask({{"microbenchmark", {{"body", "y[0] = x[0];"}, {"elements", 64}}},
                               {"microbenchmark", {{"body", "broken"}}},
                               {"microbenchmark", {{"body", "y[0] = 1;"}, {"iterations", 4000000000}}},
                               {"microbenchmark", {{"body", "y[0] = 1;"}, {"elements", -1}}}});
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(said(told[0]).at("ns_per_call").at("median"), 64);
  EXPECT_TRUE(told[1].at("failed").get<bool>());
  EXPECT_THAT(told[1].at("text").get<std::string>(), HasSubstr("kernel.cc:9: error"));
  EXPECT_THAT(told[2].at("text").get<std::string>(), HasSubstr("do not fit"));
  EXPECT_THAT(told[3].at("text").get<std::string>(), HasSubstr("do not fit"));
}

TEST(Tools, show_peaks_and_search_memory) {
  ToolBench bench;
  {
    archive::Store store = bench.open();
    archive::RunInfo earlier;
    earlier.id = "ba5eba11ba5e";
    earlier.task_name = "softplus";
    earlier.task_hash = bench.task.hash();
    earlier.target = "cpu";
    earlier.task_toml = "name = \"softplus\"";
    earlier.options_json = "{}";
    earlier.status = "running";
    ASSERT_TRUE(store.create_run(earlier));
    archive::KernelRow row;
    row.hash = std::string(64, 'b');
    row.source = kernel_text(std::string(20000, 'z'));
    row.config_json = "{}";
    row.language = "c++";
    row.action = "Wide stores";
    ASSERT_TRUE(store.put_kernel(row));
    ASSERT_TRUE(store.update_run(earlier.id, "finished", row.hash, R"({"gain_over_first":3.5})"));
    ASSERT_TRUE(store.put_fact(lessons_key(bench.task.hash()), R"(["blocks of 64 were best"])"));
  }
  const auto told = bench.ask({{"show_limits", json::object()},
                               {"search_memory", {{"query", "softplus WIDE"}}},
                               {"search_memory", {{"query", "nosuchthing"}}},
                               {"search_memory", {{"query", std::string(500, 'a')}}}});
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(said(told[0]).at("peaks").at("read"), 99.5);
  const json found = said(told[1]).at("found");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("quick_looks_over_first"), 3.5);
  EXPECT_TRUE(found[0].at("gain").is_null()) << "nothing was measured in pairs";
  EXPECT_EQ(found[0].at("lessons")[0], "blocks of 64 were best");
  EXPECT_LT(found[0].at("source").get<std::string>().size(), 4000U);
  EXPECT_THAT(found[0].at("source").get<std::string>(), HasSubstr("bytes"));
  EXPECT_TRUE(said(told[2]).at("found").empty());
  EXPECT_TRUE(told[3].at("failed").get<bool>());
}

TEST(Tools, a_run_without_memory_offers_none_of_it) {
  ToolBench bench;
  bench.options.memory = false;
  const auto told = bench.ask({{"search_memory", {{"query", "a"}}}});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].at("text").get<std::string>(), HasSubstr("there is no tool"));
  for (const json& tool : bench.events("agents").at(0).at("tools")) EXPECT_NE(tool.at("name"), "search_memory");
}

TEST(Tools, say_what_similar_tasks_taught) {
  ToolBench first;
  first.sources = 2;
  (void)first.ask({});
  archive::Store store = first.open();
  MemoryQuery query;
  query.near = &first.task;
  const Services services = first.services(store);
  query.place = {services.target, services.device, services.toolchain};
  query.seeds = services.seeds;
  query.now_unix_ms = first.clock.unix_ms();
  const json known = must(search_memory(store, query));
  ASSERT_TRUE(known.at("similar").is_object()) << known.dump();
  EXPECT_FALSE(known.at("similar").at("first").empty());
  EXPECT_FALSE(known.at("similar").contains("known"));
  query.run = first.run_id;
  EXPECT_TRUE(must(search_memory(store, query)).at("similar").is_null()) << "a run does not hear of itself";
}

}  // namespace
}  // namespace hone::engine
