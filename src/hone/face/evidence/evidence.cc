#include "hone/face/evidence/evidence.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/fields.h"
#include "hone/base/hash.h"

namespace hone::face::evidence {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "hone evidence 1";

json binary_json(const Binary& binary) {
  return {{"of", binary.of}, {"build", binary.build}, {"code", binary.code}, {"content", binary.content}, {"command", binary.command}};
}

Binary binary_from(const json& value) {
  return {value.at("of").get<std::string>(), value.at("build").get<std::string>(), value.at("code").get<std::string>(),
          value.at("content").get<std::string>(), value.at("command").get<std::string>()};
}

json unsealed_json(const Evidence& e) {
  json binaries = json::array();
  for (const Binary& binary : e.binaries) binaries.push_back(binary_json(binary));
  return {{"format", kFormat},
          {"hone", e.hone},
          {"run", e.run.empty() ? json() : json(e.run)},
          {"unix_ms", e.unix_ms},
          {"task", {{"name", e.task}, {"hash", e.task_hash}, {"toml", e.task_toml}}},
          {"kernel", {{"hash", e.kernel_hash}, {"source", e.source}, {"plan", e.plan}}},
          {"target", e.place.target},
          {"device", e.place.device},
          {"toolchain", e.place.toolchain},
          {"threads", e.threads},
          {"binaries", binaries},
          {"promotion", evaluate::to_json(e.promotion)}};
}

tl::unexpected<Error> lacking(const std::string& name, std::string_view what) {
  return fail(ErrorCode::kInput, fmt::format("{} lacks a part, or has one of another type: {}", name, what), "have it written anew");
}

Result<Evidence> fields_of(const json& value, const std::string& name) {
  Evidence e;
  e.hone = value.at("hone").get<std::string>();
  if (!value.at("run").is_null()) e.run = value.at("run").get<std::string>();
  e.unix_ms = base::exactly<int64_t>(value.at("unix_ms"));
  const json& task = value.at("task");
  e.task = task.at("name").get<std::string>(), e.task_hash = task.at("hash").get<std::string>(), e.task_toml = task.at("toml").get<std::string>();
  const json& kernel = value.at("kernel");
  e.kernel_hash = kernel.at("hash").get<std::string>(), e.source = kernel.at("source").get<std::string>(), e.plan = kernel.at("plan").get<std::string>();
  e.place = {value.at("target").get<std::string>(), value.at("device").get<std::string>(), value.at("toolchain").get<std::string>()};
  e.threads = base::exactly<int>(value.at("threads"));
  for (const json& binary : value.at("binaries")) e.binaries.push_back(binary_from(binary));
  base::Notes notes;
  base::read_value(value.at("promotion"), e.promotion, "promotion", notes);
  if (!notes.empty()) return lacking(name, notes.front());
  return e;
}

}  // namespace

std::string to_text(const Evidence& evidence) {
  json value = unsealed_json(evidence);
  value["seal"] = base::content_hash(base::canonical_json(value));
  return base::canonical_json(value) + "\n";
}

Result<Evidence> evidence_from(std::string_view text, const std::string& name) {
  HONE_TRY(json value, base::parse_json(text, name));
  if (!value.is_object() || value.value("format", json()) != kFormat)
    return fail(ErrorCode::kInput, fmt::format("{} is no evidence that this version reads", name), "hone evidence KERNEL TASK -o FILE writes one");
  const json seal = value.value("seal", json());
  value.erase("seal");
  try {
    HONE_TRY(Evidence evidence, fields_of(value, name));
    evidence.sealed = seal == base::content_hash(base::canonical_json(value));
    return evidence;
  } catch (const json::exception& wrong) {
    return lacking(name, wrong.what());
  }
}

}  // namespace hone::face::evidence
