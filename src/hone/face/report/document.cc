#include "hone/face/report/document.h"

#include "hone/base/embedded.h"
#include "hone/base/result.h"

namespace hone::face::report {
namespace {

std::string_view asset(std::string_view name) {
  const auto content = base::find_embedded(name);
  HONE_CHECK(content.has_value(), "the report's assets are built into every program that can make one");
  return *content;
}

}  // namespace

std::string document(std::string_view title, std::string_view name,
                     std::span<const std::pair<std::string_view, std::string_view>> links, const Html& sections) {
  Html out;
  out.raw(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
  out.add("<title>{}</title>\n<style>\n", title);
  out.raw(asset("report/report.css")).raw("</style>\n</head>\n<body>\n<nav><a href=\"#top\">");
  out.add("<b>{}</b></a>", name);
  for (const auto& [id, text] : links)
    if (sections.text().find(fmt::format("<section id=\"{}\"", id)) != std::string::npos)
      out.add("<a href=\"#{}\">{}</a>", id, text);
  out.raw("<button type=\"button\" id=\"theme\" hidden=\"\">theme</button></nav>\n<main>\n");
  out.raw(sections);
  out.raw("</main>\n<div id=\"tip\" hidden=\"\"></div>\n<script>\n").raw(asset("report/report.js"));
  out.raw("</script>\n</body>\n</html>\n");
  return std::move(out).markup().html;
}

}  // namespace hone::face::report
