#include "hone/target/card.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/target/gpu/driver.h"
#include "hone/target/gpu/gpu_card.h"

namespace hone::target {
namespace {

constexpr const char* kHint = "hone targets lists what there is";

}  // namespace

Result<std::vector<CardInfo>> cards(std::string_view driver) {
  const gpu::DriverRow* const row = gpu::find_driver(driver);
  HONE_CHECK(row, driver);
  std::vector<CardInfo> all;
  if (const std::string why = row->cards(all); !why.empty()) return fail(ErrorCode::kUnavailable, why, kHint);
  return all;
}

std::string_view card_driver(std::string_view target) { return target.substr(0, target.find(':')); }

std::optional<int> card_ordinal(std::string_view target) {
  const std::string_view driver = card_driver(target);
  if (driver.size() == target.size() || !gpu::find_driver(driver)) return std::nullopt;
  const std::string_view digits = target.substr(driver.size() + 1);
  int ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (error != std::errc() || end != digits.data() + digits.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

double clock_mhz(std::span<const ClockReading> before, std::span<const ClockReading> after) {
  std::vector<double> all;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    if (before[i].ns > 0 && after[i].ns > before[i].ns && after[i].cycles > before[i].cycles)
      all.push_back(1e3 * static_cast<double>(after[i].cycles - before[i].cycles) / static_cast<double>(after[i].ns - before[i].ns));
  if (all.empty()) return 0;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

task::Task card_program_task() {
  const auto task = task::parse_task("name = \"program\"\ninputs = { x = \"f32[N]\" }\noutputs = { y = \"f32[N]\" }\ncompute = \"y = -x\"\nworkloads = [ { N = 1 } ]\n", "program");
  HONE_CHECK(task.has_value(), task ? "" : task.error().to_string());
  return *task;
}

std::string_view grader_source() {
  const auto source = base::find_embedded("card/grader.cu");
  HONE_CHECK(source.has_value(), "the grader is built in");
  return *source;
}

int64_t flush_bytes(const CardInfo& card) { return std::max<int64_t>(2 * card.l2_bytes, int64_t{64} << 20); }

kernel::Limits card_limits(const CardInfo& card) {
  return {{"SMS", card.sms}, {"SHARED_MAX", card.shared_max}, {"WAVE", card.wave}};
}

Result<std::shared_ptr<Card>> Card::open(std::string_view target) {
  const std::optional<int> ordinal = card_ordinal(target);
  HONE_CHECK(ordinal, target);
  HONE_TRY(const std::vector<CardInfo> all, cards(card_driver(target)));
  if (*ordinal >= static_cast<int>(all.size()))
    return fail(ErrorCode::kUnavailable, fmt::format("there is no card {}; the driver has {}", target, all.size()), kHint);
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Card>, std::less<>> opened;
  const std::scoped_lock lock(mutex);
  const CardInfo& info = all[static_cast<size_t>(*ordinal)];
  std::weak_ptr<Card>& known = opened[info.target()];
  if (auto card = known.lock()) return card;
  std::unique_ptr<gpu::Driver> driver;
  if (const std::string why = gpu::find_driver(info.driver)->open(driver, *ordinal); !why.empty())
    return fail(ErrorCode::kUnavailable, fmt::format("card {} cannot be used: {}", *ordinal, why));
  HONE_TRY(auto card, gpu_card(std::move(driver), info));
  known = card;
  return card;
}

}  // namespace hone::target
