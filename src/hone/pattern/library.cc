#include "hone/pattern/library.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/plain.h"
#include "hone/pattern/plain_gpu.h"
#include "hone/pattern/tilelang_patterns.h"

namespace hone::pattern {
namespace {

using kernel::Language;

/// What the library writes in a language.
struct Shelf {
  Language language;
  std::vector<Offer> (*offers)(const task::Task&, std::vector<std::string>& why_not);
  Offer (*plain)(const task::Task&);  ///< null: it has no plain loops
};

template <Language kLanguage>
constexpr Shelf gpu_shelf() {
  return {kLanguage, [](const task::Task& task, std::vector<std::string>& why_not) { return offers_gpu(task, kLanguage, why_not); },
          [](const task::Task& task) { return Offer{plain_gpu(task, kLanguage), "plain", "plain loops", 1}; }};
}

const Shelf kShelves[] = {
    {Language::kCpp, offers_cpp, [](const task::Task& task) { return Offer{naive_cpp(task), "naive", "plain loops", 1}; }},
    gpu_shelf<Language::kCuda>(),
    gpu_shelf<Language::kHip>(),
    {Language::kTriton, offers_triton, [](const task::Task& task) { return Offer{plain_triton(task), "plain", "plain loops", 1}; }},
    {Language::kTileLang, offers_tilelang, nullptr},
};

const Shelf* shelf_of(Language language) {
  const auto* const it = std::find_if(std::begin(kShelves), std::end(kShelves), [&](const Shelf& s) { return s.language == language; });
  return it == std::end(kShelves) ? nullptr : it;
}

constexpr bool is_plain(std::string_view pattern) { return pattern == "plain" || pattern == "naive"; }

}  // namespace

double plain_share(const kernel::Kernel& kernel, const task::Task& task) {
  if (is_plain(kernel.header.pattern)) return 1;
  if (kernel.header.pattern != "parts") return 0;
  std::vector<std::string> why_not;
  for (const Offer& offer : offers(task, kernel.header.language, why_not))
    if (offer.kernel.source == kernel.source) return offer.plain_share;
  return 0;
}

void put_fitting_first(std::vector<Offer>& offers, const task::Task& task) {
  std::stable_partition(offers.begin(), offers.end(), [&](const Offer& offer) {
    return std::all_of(task.workloads.begin(), task.workloads.end(), [&](const task::Workload& workload) {
      const auto applies = kernel::applies(offer.kernel, workload.bindings, {});
      return !applies || *applies;  // what hangs on the device is not for us to say
    });
  });
}

std::vector<Offer> offers(const task::Task& task, Language language, std::vector<std::string>& why_not) {
  if (const Shelf* const shelf = shelf_of(language)) {
    std::vector<Offer> all = shelf->offers(task, why_not);
    put_fitting_first(all, task);
    return all;
  }
  why_not.push_back(fmt::format("{}: the library writes none", kernel::name_of(language)));
  return {};
}

std::optional<Offer> plain_offer(const task::Task& task, Language language) {
  const Shelf* const shelf = shelf_of(language);
  return shelf && shelf->plain ? std::optional(shelf->plain(task)) : std::nullopt;
}

}  // namespace hone::pattern
