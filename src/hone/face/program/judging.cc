// What of a program is right, faster, and worth a search: the pure part of optimising one.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/face/cli/text.h"
#include "hone/face/program/optimise.h"
#include "hone/face/program/program_run.h"

namespace hone::face {

using base::Json;
using evaluate::OutputCheck;
using evaluate::OutputOff;

std::string Duel::to_string() const {
  return fmt::format("{} against {}: {} {}", time_text(ours_ns), time_text(theirs_ns), ratio_text(ratio), evaluate::name_of(comparison));
}

Json Duel::to_json() const {
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", std::isfinite(ratio.high) ? Json(ratio.high) : Json()},
          {"comparison", evaluate::name_of(comparison)}, {"ours_ns", ours_ns}, {"theirs_ns", theirs_ns}};
}

Duel duel_of(const evaluate::ProgramSession::Times& times) {
  evaluate::CompareOptions options;
  options.min_processes = 1;  // one process holds: for the user's program, here and now
  evaluate::Comparer comparer(options);
  for (size_t i = 0; i < times.ours_ns.size(); ++i)
    if (const evaluate::PairedSample sample{times.ours_ns[i], times.theirs_ns[i], 0}; evaluate::usable(sample)) comparer.add(sample);
  if (comparer.pairs() == 0) return {};
  return {comparer.deciding(), comparer.decision(), evaluate::median(times.ours_ns), evaluate::median(times.theirs_ns)};
}

std::vector<double> share_budget(const std::vector<double>& gains, double seconds, double least) {
  std::vector<double> shares(gains.size(), 0);
  std::vector<size_t> order(gains.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
  while (!order.empty() && (gains[order.back()] <= 0 || static_cast<double>(order.size()) * least > std::max(seconds, least))) order.pop_back();
  double sum = 0;
  for (const size_t i : order) sum += gains[i];
  const double spare = std::max(0.0, seconds - static_cast<double>(order.size()) * least);
  for (const size_t i : order) shares[i] = least + spare * gains[i] / sum;
  return shares;
}

std::string accuracy_reason(const OutputCheck& check, const OutputOff& average) {
  constexpr double kSlack = 4, kFloor = 16;  // as for tasks behind a product
  if (!check.wrong.empty()) return fmt::format("{}: {}", check.name, check.wrong);
  if (check.ours.broken > check.eager.broken) return fmt::format("{}: {} elements are not finite where the module's are, or the other way round", check.name, check.ours.broken);
  if (static_cast<double>(check.ours.differ) > kSlack * static_cast<double>(check.eager.differ))
    return fmt::format("{}: {} elements differ", check.name, check.ours.differ);
  const auto type = task::dtype_from(check.dtype);
  const double floor = kFloor * (type ? task::unit_roundoff(*type) : 0) * check.ours.scale;
  const auto over = [&](double ours, double eager, double mean) { return ours > std::max(kSlack * std::max(eager, mean), floor); };
  if (over(check.ours.max, check.eager.max, average.max))
    return fmt::format("{}: off by up to {:.3g}, eager by {:.3g}", check.name, check.ours.max, check.eager.max);
  if (over(check.ours.rms, check.eager.rms, average.rms))
    return fmt::format("{}: off by {:.3g} (root of the mean square), eager by {:.3g}", check.name, check.ours.rms, check.eager.rms);
  return {};
}

Result<std::vector<std::string>> culprits(std::vector<std::string> names, const std::function<Result<bool>(const std::vector<std::string>& on)>& passes) {
  std::vector<std::string> found, good = std::move(names);
  while (!good.empty()) {
    HONE_TRY(const bool right, passes(good));
    if (right) break;
    // The shortest beginning of the list that fails ends with a culprit.
    size_t low = 0, high = good.size();  // the first `low` pass, the first `high` fail
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      HONE_TRY(const bool half, passes({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(middle)}));
      (half ? low : high) = middle;
    }
    found.push_back(good[high - 1]);
    good.erase(good.begin() + static_cast<std::ptrdiff_t>(high) - 1);
  }
  return found;
}

}  // namespace hone::face
