// Every writer's kernels against the oracle, on random programs (random_graphs_testing.h). $HONE_RANDOM_SEED begins with
// another program, $HONE_RANDOM_SECONDS goes on with further ones for so long.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "hone/base/testing/covering.h"
#include "hone/evaluate/evaluator.h"
#include "hone/evaluate/verifier.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/pattern/random_graphs_testing.h"

namespace hone::pattern {
namespace {

using kernel::Language;

/// Of one program all that a writer of `language` offers, with the plain kernels.
std::vector<Offer> all_offers(const task::Task& task, Language language) {
  std::vector<std::string> why_not;
  std::vector<Offer> all;
  switch (language) {
    case Language::kCpp:
      all = offers_cpp(task, why_not);
      all.push_back({naive_cpp(task), "naive", ""});
      all.push_back({plain_cpp(task), "plain", ""});
      break;
    default:
      all = offers_gpu(task, language, why_not);
      all.push_back({plain_gpu(task, language), "plain", ""});
  }
  return all;
}

void expect_the_oracles_answers(const task::Task& task, const std::string& compute, Language language) {
  const bool gpu = language == Language::kCuda || language == Language::kHip;
  auto made = gpu ? target::simt_toolchain() : target::local_toolchain();
  if (!made) GTEST_SKIP() << made.error().to_string();
  const std::shared_ptr<target::Toolchain> toolchain = std::move(*made);
  evaluate::VerifierOptions options;
  options.optimisation = "-O1";
  options.deadline = std::chrono::seconds(120);
  options.thorough = base::testing::in_long_part();
  const auto verifier = evaluate::Verifier::create(task, toolchain, options);
  ASSERT_TRUE(verifier) << verifier.error().to_string();
  const std::vector<Offer> offers = all_offers(task, language);
  for (size_t i = 0; i < offers.size(); ++i) {
    if (!base::testing::takes_item(i % 2, 2)) continue;   // in `make check` every second one
    const Offer& offer = offers[i];
    const auto verdict = (*verifier)->verify(offer.kernel);
    ASSERT_TRUE(verdict) << verdict.error().to_string();
    EXPECT_TRUE(verdict->accepted()) << offer.pattern << " " << offer.action << ": " << evaluate::name_of(verdict->kind) << ": " << verdict->reason << "\n"
                                     << verdict->detail.substr(0, 2000) << "\n" << compute << "\n"
                                     << (std::getenv("HONE_RANDOM_SOURCE") ? offer.kernel.source : "");
  }
}

class RandomGraphs : public testing::TestWithParam<Language> {};

TEST_P(RandomGraphs, EveryWriterMakesTheOraclesAnswers) {
  const char* const first = std::getenv("HONE_RANDOM_SEED");
  const char* const seconds = std::getenv("HONE_RANDOM_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds ? std::atoi(seconds) : 0);
  uint64_t seed = first ? std::strtoull(first, nullptr, 10) : 1;
  do {
    random_graphs::Program program(seed);
    const auto task = program.task(6);
    ASSERT_TRUE(task) << task.error().to_string() << "\n" << program.compute;
    SCOPED_TRACE(fmt::format("HONE_RANDOM_SEED={}", seed));
    expect_the_oracles_answers(*task, program.compute, GetParam());
    ++seed;
  } while (std::chrono::steady_clock::now() < end);
}

std::string name_of_writer(const testing::TestParamInfo<Language>& info) {
  return info.param == Language::kCpp ? "Cpp" : info.param == Language::kCuda ? "Cuda" : "Hip";
}
INSTANTIATE_TEST_SUITE_P(Writers, RandomGraphs, testing::Values(Language::kCpp, Language::kCuda, Language::kHip), name_of_writer);
INSTANTIATE_TEST_SUITE_P(LongWriters, RandomGraphs, testing::Values(Language::kCpp, Language::kCuda, Language::kHip), name_of_writer);

}  // namespace
}  // namespace hone::pattern
