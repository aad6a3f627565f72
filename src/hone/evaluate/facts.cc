#include "hone/evaluate/facts.h"

#include <string>

#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/json.h"
#include "hone/base/version.h"

namespace hone::evaluate {
namespace {

/// Grows with every change to how inputs are drawn, to the oracle or to the anchor.
constexpr std::string_view kVersion = "facts-2";

}  // namespace

std::filesystem::path Facts::file(std::string_view question) const {
  base::Hasher key;
  key.add(kVersion).add(base::kVersion).add(question);
  return folder_ / (key.finish() + ".json");
}

std::optional<nlohmann::json> Facts::known(std::string_view question) const {
  const auto text = base::read_file(file(question));
  if (!text) return std::nullopt;
  nlohmann::json kept = nlohmann::json::parse(*text, nullptr, false);
  // The question lies beside its answer, for people who look.
  if (!kept.is_object() || kept.value("question", nlohmann::json()) != nlohmann::json(question) || !kept.contains("answer")) return std::nullopt;
  return kept["answer"];
}

void Facts::keep(std::string_view question, const nlohmann::json& answer) const {
  if (!base::make_directories(folder_)) return;
  static_cast<void>(base::write_file_atomic(file(question), base::canonical_json({{"question", question}, {"answer", answer}})));
}

std::shared_ptr<const Facts> cached_facts() { return std::make_shared<const Facts>(base::cache_directory() / "facts"); }

}  // namespace hone::evaluate
