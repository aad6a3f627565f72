#include "hone/pattern/parts.h"

#include <fmt/format.h>

#include "hone/pattern/compose.h"
#include "hone/pattern/least_time.h"

namespace hone::pattern {

std::vector<Offer> offers_in_parts(const task::Task& task, const PartWriter& writer) {
  return offers_of_parts(partition(task, writer.covered), writer);
}

std::vector<Offer> offers_of_parts(const Partition& parts, const PartWriter& writer) {
  if (parts.parts.size() < 2) return {};
  std::vector<std::vector<Offer>> choices;
  std::vector<double> least;
  size_t covered = 0;
  for (const Part& part : parts.parts) {
    choices.push_back(writer.offers(part.task));
    put_fitting_first(choices.back(), part.task);
    least.push_back(least_ns(part.task));
    covered += !choices.back().empty();
    if (choices.back().empty() && !writer.plain) return {};
    if (choices.back().empty()) choices.back().push_back(writer.plain(part.task));
  }
  if (covered == 0) return {};
  std::vector<Offer> offers;
  const auto offer = [&](size_t changed) {
    std::vector<kernel::Kernel> kernels;
    std::string action;
    double plain = 0, all = 0;
    for (size_t k = 0; k < choices.size(); ++k) {
      const Offer& choice = choices[k][k == changed ? 1 : 0];
      kernels.push_back(choice.kernel);
      plain += choice.plain_share * least[k];
      all += least[k];
      action += fmt::format("{}{}", action.empty() ? "" : ", ", choice.pattern);
    }
    action = fmt::format("in {} parts: {}", choices.size(), action);
    kernel::Kernel kernel = composed(parts, kernels);
    kernel.header.action = action;
    offers.push_back({std::move(kernel), "parts", action, all > 0 ? plain / all : 0});
  };
  offer(choices.size());
  constexpr size_t kMostOffers = 4;
  for (size_t k = 0; k < choices.size() && offers.size() < kMostOffers; ++k)
    if (choices[k].size() > 1) offer(k);
  return offers;
}

}  // namespace hone::pattern
