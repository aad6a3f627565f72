#include "hone/face/report/report.h"

#include "hone/base/embedded.h"
#include "hone/face/report/sections.h"

namespace hone::face {
namespace {

using report::Html;

std::string_view asset(std::string_view name) {
  const auto content = base::find_embedded(name);
  HONE_CHECK(content.has_value(), "the report's assets are built into every program that can make one");
  return *content;
}

void write_document(Html& out, const report::Material& from, const Html& sections) {
  out.raw(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
  out.add("<title>{}: hone run {}</title>\n<style>\n", from.log.info.task_name, from.log.info.id);
  out.raw(asset("report/report.css")).raw("</style>\n</head>\n<body>\n<nav><a href=\"#top\">");
  out.add("<b>{}</b></a>", from.log.info.task_name);
  constexpr std::pair<std::string_view, std::string_view> kLinks[] = {
      {"results", "Results"},       {"progress", "Progress"}, {"roofline", "Roofline"},
      {"candidates", "Candidates"}, {"source", "Source"},     {"refused", "Refused"},
      {"conditions", "Conditions"}};
  for (const auto& [id, title] : kLinks)
    if (sections.text().find(fmt::format("<section id=\"{}\"", id)) != std::string::npos)
      out.add("<a href=\"#{}\">{}</a>", id, title);
  out.raw("<button type=\"button\" id=\"theme\" hidden=\"\">theme</button></nav>\n<main>\n");
  out.raw(sections);
  out.raw("</main>\n<div id=\"tip\" hidden=\"\"></div>\n<script>\n").raw(asset("report/report.js"));
  out.raw("</script>\n</body>\n</html>\n");
}

}  // namespace

Result<std::string> run_report(archive::Store& store, const archive::RunInfo& run) {
  HONE_TRY(const std::vector<archive::Event> events, store.events(run.id));
  const report::RunLog log = report::read_log(run, events);
  const report::Headline head = report::headline_of(log);
  report::Material from{log, head, {}};
  if (!log.champion.empty()) {
    auto row = store.kernel(log.champion);
    if (row) {
      from.champion = std::move(*row);
    } else if (row.error().code == ErrorCode::kCorrupt) {
      return tl::unexpected(std::move(row).error());
    }
  }
  Html sections;
  report::write_head(sections, from);
  report::write_results(sections, from);
  report::write_progress(sections, from);
  report::write_roofline(sections, from);
  report::write_tree(sections, from);
  report::write_source(sections, from);
  report::write_refused(sections, from);
  report::write_conditions(sections, from);
  Html page;
  write_document(page, from, sections);
  return std::move(page).markup().html;
}

}  // namespace hone::face
