// The library on tasks that nobody chose: every one gets offers, plain loops at least, and one of them binds. HONE_DRAWN_OFFERS=SEED:N draws others.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hone/base/testing/covering.h"
#include "hone/pattern/least_time.h"
#include "hone/pattern/library.h"
#include "hone/target/arch_limits.h"
#include "hone/target/cpu.h"
#include "hone/target/simt_device.h"
#include "hone/task/drawn/drawn.h"

namespace hone::pattern::drawn_offers_cases {
namespace {

using kernel::Language;

/// `wanted` or what HONE_DRAWN_OFFERS asks for; of the first `make check` takes every third task.
std::vector<task::drawn::DrawnTask> drawn_tasks(const char* wanted) {
  const char* const asked = std::getenv("HONE_DRAWN_OFFERS");
  const auto parsed = task::drawn::parse_wanted(asked ? asked : wanted);
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  if (!parsed) return {};
  std::vector<task::drawn::DrawnTask> taken;
  size_t number = 0;
  for (auto& drawn : task::drawn::draw_tasks(task::drawn::builtin_mix(), *parsed))
    if (number++ % 3 == 0 || asked || base::testing::in_long_part()) taken.push_back(std::move(drawn));
  EXPECT_FALSE(taken.empty());
  return taken;
}

void every_task_has_some_that_bind() {
  for (const auto& drawn : drawn_tasks("40077:40")) {
    SCOPED_TRACE(drawn.name + "\n" + drawn.toml);
    const auto task = task::parse_task(drawn.toml, drawn.name);
    ASSERT_TRUE(task) << task.error().to_string();
    for (const Language language : {Language::kCpp, Language::kCuda, Language::kHip}) {
      std::vector<std::string> why_not;
      auto all = offers(*task, language, why_not);
      if (auto plain = plain_offer(*task, language)) all.push_back(std::move(*plain));
      ASSERT_FALSE(all.empty());
      const auto device = target::simt_device(language);
      const auto limits = device ? target::simt_limits(*device) : target::cpu_limits(target::cpu_info());
      const bool some = std::any_of(all.begin(), all.end(), [&](const Offer& offer) {
        return kernel::bind(offer.kernel, *task, task->workloads.front().bindings, limits).has_value();
      });
      EXPECT_TRUE(some) << kernel::name_of(language);
    }
  }
}

TEST(DrawnOffers, EveryTaskHasSomeThatBind) { every_task_has_some_that_bind(); }
TEST(LongDrawnOffers, EveryTaskHasSomeThatBind) { every_task_has_some_that_bind(); }

/// The first values in an offer's lists are those of a large device; every other finds some among them that its constraints allow.
void every_device_has_a_configuration() {
  std::vector<std::pair<Language, kernel::Limits>> devices;
  for (const int64_t vector : {64, 32, 16})
    devices.emplace_back(Language::kCpp, kernel::Limits{{"THREADS", 2}, {"L1_BYTES", 32 << 10}, {"L2_BYTES", 256 << 10}, {"L3_BYTES", 8 << 20}, {"VECTOR_BYTES", vector}});
  for (const char* arch : {"sm_80", "sm_86", "sm_90a", "sm_100a", "gfx90a", "gfx942", "gfx950"})
    if (const auto* limits = target::arch_limits(arch))
      devices.emplace_back(std::string_view(arch).starts_with("sm") ? Language::kCuda : Language::kHip, target::plan_limits(*limits));
  ASSERT_GT(devices.size(), 5U);
  for (const auto& drawn : drawn_tasks("118833:30")) {
    const auto task = task::parse_task(drawn.toml, drawn.name);
    ASSERT_TRUE(task) << task.error().to_string();
    for (const auto& [language, limits] : devices) {
      std::vector<std::string> why_not;
      for (const Offer& offer : offers(*task, language, why_not)) {
        const kernel::Config config = kernel::fitted(offer.kernel.header, offer.kernel.config, limits);
        const auto fits = kernel::allowed(offer.kernel.header, config, limits);
        ASSERT_TRUE(fits) << fits.error().to_string();
        EXPECT_TRUE(*fits) << kernel::name_of(language) << " with " << task::bindings_text(limits) << ": " << offer.action << "\n" << drawn.toml;
      }
    }
  }
}

TEST(DrawnOffers, EveryDeviceHasAConfiguration) { every_device_has_a_configuration(); }
TEST(LongDrawnOffers, EveryDeviceHasAConfiguration) { every_device_has_a_configuration(); }

void on_gpus_no_part_is_plain_loops() {
  for (const auto& drawn : drawn_tasks("650021:90")) {
    const auto task = task::parse_task(drawn.toml, drawn.name);
    ASSERT_TRUE(task) << task.error().to_string();
    for (const Language language : {Language::kCuda, Language::kHip}) {
      // Products of bytes have no form in HIP.
      if (language == Language::kHip && drawn.toml.find("i8[") != std::string::npos) continue;
      std::vector<std::string> why_not;
      const auto found = offers(*task, language, why_not);
      ASSERT_FALSE(found.empty()) << drawn.toml;
      EXPECT_EQ(found.front().plain_share, 0) << kernel::name_of(language) << ": " << found.front().action << "\n" << drawn.toml;
    }
  }
}

TEST(DrawnOffers, OnGpusNoPartIsPlainLoops) { on_gpus_no_part_is_plain_loops(); }
TEST(LongDrawnOffers, OnGpusNoPartIsPlainLoops) { on_gpus_no_part_is_plain_loops(); }

TEST(DrawnOffers, OnACpuPlainLoopsHoldLittleOfTheLeastTime) {
  const auto wanted = task::drawn::parse_wanted("40077:40");
  ASSERT_TRUE(wanted) << wanted.error().to_string();
  double all = 0, plain = 0;
  for (const auto& drawn : task::drawn::draw_tasks(task::drawn::builtin_mix(), *wanted)) {
    const auto task = task::parse_task(drawn.toml, drawn.name);
    ASSERT_TRUE(task) << task.error().to_string();
    std::vector<std::string> why_not;
    const auto found = offers(*task, Language::kCpp, why_not);
    const double least = least_ns(*task);
    all += least;
    plain += least * (found.empty() ? 1 : found.front().plain_share);
  }
  EXPECT_LT(plain, 0.05 * all);
}

}  // namespace
}  // namespace hone::pattern::drawn_offers_cases
