#include "hone/face/report/report.h"

#include <nlohmann/json.hpp>

#include "hone/base/json.h"
#include "hone/face/report/document.h"
#include "hone/face/report/sections.h"

namespace hone::face {
namespace {

constexpr std::pair<std::string_view, std::string_view> kLinks[] = {
    {"results", "Results"},       {"progress", "Progress"}, {"roofline", "Roofline"},
    {"candidates", "Candidates"}, {"source", "Source"},     {"diagnosis", "Diagnosis"},   {"refused", "Refused"},
    {"models", "Models"},
    {"conditions", "Conditions"}};

/// What models were asked, and what came of it.
void add_ledger(report::Material& material, archive::Store& store, const std::vector<archive::Event>& events) {
  if (material.log.models.empty()) return;
  const engine::LedgerSources sources = engine::ledger_sources(store);
  material.ledger = engine::ledger_of(engine::read_events(events), sources);
  for (const engine::LedgerCall& call : material.ledger) {
    const nlohmann::json request = nlohmann::json::parse(sources.request(call.asked.request), nullptr, false);
    if (!request.is_object() || !request.contains("messages") || !request["messages"].is_array() || request["messages"].empty()) continue;
    const nlohmann::json& last = request["messages"].back();
    if (material.system.empty()) material.system = base::string_at(request, "system").value_or("");
    // What tools said is shown with their calls.
    if (base::string_at(last, "role").value_or("") == "user") material.questions[call.asked.ask] = base::string_at(last, "text").value_or("");
  }
}

}  // namespace

Result<std::string> run_report(archive::Store& store, const archive::RunInfo& run) {
  HONE_TRY(const std::vector<archive::Event> events, store.events(run.id));
  const report::RunLog log = report::read_log(run, events);
  const report::Headline head = report::headline_of(log);
  report::Material from{log, head, {}};
  add_ledger(from, store, events);
  if (!log.champion.empty()) {
    auto row = store.kernel(log.champion);
    if (row) {
      from.champion = std::move(*row);
    } else if (row.error().code == ErrorCode::kCorrupt) {
      return tl::unexpected(std::move(row).error());
    }
  }
  report::Html sections;
  report::write_head(sections, from);
  report::write_results(sections, from);
  report::write_progress(sections, from);
  report::write_roofline(sections, from);
  report::write_tree(sections, from);
  report::write_source(sections, from);
  report::write_diagnosis(sections, from);
  report::write_refused(sections, from);
  report::write_models(sections, from);
  report::write_conditions(sections, from);
  return report::document(fmt::format("{}: hone run {}", run.task_name, run.id), run.task_name, kLinks, sections);
}

}  // namespace hone::face
