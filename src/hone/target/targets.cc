#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/target/cpu.h"
#include "hone/target/simt_device.h"
#include "hone/target/target.h"

namespace hone::target {
namespace {

using kernel::Language;

/// What the kinds share.
class Opened : public Target {
 public:
  Opened(Place place, std::vector<Language> languages, std::shared_ptr<Toolchain> toolchain, kernel::Limits limits, bool clock)
      : place_(std::move(place)), languages_(std::move(languages)), toolchain_(std::move(toolchain)), limits_(std::move(limits)), clock_(clock) {
    place_.toolchain = toolchain_->name();
  }
  [[nodiscard]] const Place& place() const override { return place_; }
  [[nodiscard]] const std::vector<Language>& languages() const override { return languages_; }
  [[nodiscard]] const std::shared_ptr<Toolchain>& toolchain() const override { return toolchain_; }
  [[nodiscard]] const kernel::Limits& limits() const override { return limits_; }
  [[nodiscard]] bool has_clock() const override { return clock_; }

 private:
  Place place_;
  std::vector<Language> languages_;
  std::shared_ptr<Toolchain> toolchain_;
  kernel::Limits limits_;
  bool clock_;
};

class Cpu final : public Opened {
 public:
  Cpu(int threads, std::vector<Language> languages, std::shared_ptr<Toolchain> toolchain, kernel::Limits limits)
      : Opened({"cpu", fmt::format("{}, {}, {} thread{}", cpu_info().model, cpu_info().isa, threads, threads == 1 ? "" : "s"), {}},
               std::move(languages), std::move(toolchain), std::move(limits), true),
        threads_(threads) {}
  [[nodiscard]] int threads() const override { return threads_; }

 private:
  int threads_;
};

class Gpu final : public Opened {
 public:
  Gpu(std::shared_ptr<Card> card, std::vector<Language> languages, std::shared_ptr<Toolchain> toolchain)
      : Opened({card->info().target(),
                fmt::format("{}, {}, {} multiprocessors, driver {}", card->info().name, card->info().arch, card->info().sms,
                            card->info().driver_version), {}},
               std::move(languages), std::move(toolchain), card_limits(card->info()), true),
        card_(std::move(card)) {}
  [[nodiscard]] std::shared_ptr<Card> card() const override { return card_; }

 private:
  std::shared_ptr<Card> card_;
};

/// A kind of target.
struct Kind {
  std::string_view form;                                   ///< as help says it: "cuda:0"
  std::vector<Language> languages;
  bool clock, everywhere;                                  ///< knows time; is there on any machine
  bool (*matches)(const Kind&, std::string_view name);
  Result<std::shared_ptr<Target>> (*open)(const Kind&, std::string_view name, const TargetOptions&);
};

bool same_name(const Kind& kind, std::string_view name) { return name == kind.form; }

Result<std::shared_ptr<Target>> open_cpu(const Kind& kind, std::string_view, const TargetOptions& options) {
  HONE_TRY(std::shared_ptr<Toolchain> toolchain, local_toolchain());
  const int threads = options.threads > 0 ? options.threads : cpu_info().threads;
  kernel::Limits limits = cpu_limits(cpu_info());
  limits["THREADS"] = threads;
  return std::make_shared<Cpu>(threads, kind.languages, std::move(toolchain), std::move(limits));
}

bool same_driver(const Kind& kind, std::string_view name) { return card_ordinal(name) && card_driver(name) == card_driver(kind.form); }

Result<std::shared_ptr<Target>> open_card(const Kind& kind, std::string_view name, const TargetOptions&) {
  HONE_TRY(std::shared_ptr<Card> card, Card::open(name));
  HONE_TRY(std::shared_ptr<Toolchain> toolchain, gpu_toolchain(card->info().driver + ":" + card->info().arch));
  return std::make_shared<Gpu>(std::move(card), kind.languages, std::move(toolchain));
}

Result<std::shared_ptr<Target>> open_emulator(const Kind& kind, std::string_view name, const TargetOptions&) {
  const SimtDevice& device = *simt_device_of(name);
  HONE_TRY(std::shared_ptr<Toolchain> toolchain, emulator_toolchain(kind.languages.front()));
  return std::make_shared<Opened>(Place{std::string(name), fmt::format("the emulator, with the limits of {}", device.model), {}}, kind.languages,
                                  std::move(toolchain), simt_limits(device), false);
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"cpu", {Language::kCpp}, true, true, same_name, open_cpu},
      {"cuda:0", {Language::kCuda, Language::kTriton, Language::kTileLang}, true, false, same_driver, open_card},
      {"emulator:cuda", {Language::kCuda, Language::kTileLang}, false, true, same_name, open_emulator},
      {"emulator:hip", {Language::kHip, Language::kTileLang}, false, true, same_name, open_emulator},
      {"emulator:triton", {Language::kTriton}, false, true, same_name, open_emulator},
  };
  return all;
}

const Kind* kind_of(std::string_view name) {
  const auto it = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& kind) { return kind.matches(kind, name); });
  return it == kinds().end() ? nullptr : &*it;
}

}  // namespace

bool Target::takes(Language language) const { return std::find(languages().begin(), languages().end(), language) != languages().end(); }

Status check_target_name(const std::string& name) {
  if (kind_of(name)) return {};
  std::vector<std::string_view> forms;
  for (const Kind& kind : kinds()) forms.push_back(kind.form);
  return fail(ErrorCode::kUsage, fmt::format("there is no target \"{}\"", name),
              fmt::format("hone targets lists what there is: {}{}", fmt::join(forms, ", "), name == "opencl" ? "; OpenCL C is no longer taken" : ""));
}

Result<std::shared_ptr<Target>> open_target(const std::string& name, const TargetOptions& options) {
  HONE_TRY_VOID(check_target_name(name));
  const Kind& kind = *kind_of(name);
  return kind.open(kind, name, options);
}

std::vector<Language> languages_of(std::string_view name) {
  const Kind* const kind = kind_of(name);
  return kind ? kind->languages : std::vector<Language>{};
}

Result<kernel::Limits> limits_of(const std::string& name) {
  HONE_TRY_VOID(check_target_name(name));
  const Kind& kind = *kind_of(name);
  if (const SimtDevice* const device = simt_device_of(name)) return simt_limits(*device);
  if (kind.everywhere) return cpu_limits(cpu_info());
  const auto all = cards(card_driver(name));
  const auto ordinal = static_cast<size_t>(card_ordinal(name).value_or(0));
  return all && ordinal < all->size() ? card_limits((*all)[ordinal]) : simt_limits(*simt_device(kind.languages.front()));
}

std::string home_of(Language language) {
  if (const std::string_view emulator = kernel::row_of(language).emulator; !emulator.empty()) return std::string(emulator);
  return kinds().front().languages.front() == language ? std::string(kinds().front().form) : std::string();
}

bool has_clock(std::string_view name) {
  const Kind* const kind = kind_of(name);
  return kind && kind->clock;
}

}  // namespace hone::target
