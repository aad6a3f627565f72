// The sections of the report, in their order on the page. Each writes one <section> or nothing where
// the run holds nothing for it, and knows nothing of the others. Pure: what they need of the archive
// is fetched beforehand.
#pragma once
#include <optional>
#include <string>

#include "hone/engine/ledger.h"
#include "hone/face/report/headline.h"
#include "hone/face/report/html.h"
#include "hone/face/report/run_log.h"

namespace hone::face::report {

/// What a page is made of.
struct Material {
  const RunLog& log;
  const Headline& head;
  std::optional<archive::KernelRow> champion;  ///< absent: none, or the archive does not hold it
  std::vector<engine::LedgerCall> ledger = {};       ///< of questions to models
  std::map<int, std::string> questions = {};         ///< what each of them added to its conversation, as far as the archive holds it
  std::string system = {};                           ///< what they all begin with
};

void write_head(Html& out, const Material& from);      ///< what was asked, what came out
void write_results(Html& out, const Material& from);   ///< every workload against every opponent
void write_progress(Html& out, const Material& from);  ///< score over time, by pattern
void write_roofline(Html& out, const Material& from);
void write_tree(Html& out, const Material& from);        ///< path to the champion, all candidates
void write_source(Html& out, const Material& from);      ///< the champion's file, how to use it
void write_diagnosis(Html& out, const Material& from);   ///< the champion's bottleneck, predictions against gains
void write_refused(Html& out, const Material& from);     ///< refused, and considered but not built
void write_models(Html& out, const Material& from);      ///< what language models did and cost
void write_conditions(Html& out, const Material& from);  ///< where the time went, conditions, replay

// Pieces that several sections use.

/// <section id><h2>title</h2><p class="lead">lead</p>; the caller closes it.
void open_section(Html& out, std::string_view id, std::string_view title, const Markup& lead);
/// The kernel's short name, linked to its place in the tree.
[[nodiscard]] Markup kernel_link(const std::string& kernel);
/// A style class for a verdict, whatever its name: "v-wrong", "v-does-not-compile", else "v-other".
[[nodiscard]] std::string verdict_class(std::string_view verdict);
/// "ROWS=4 STREAM=1" with each pair unbreakable.
[[nodiscard]] Markup config_markup(const kernel::Config& config);
/// <dl class="facts"> of names and values; nothing when empty.
void write_facts(Html& out, const Facts& facts);
/// A file name for the task: names come from users, and commands are copied into shells.
[[nodiscard]] std::string task_file(std::string_view task_name);
/// Commands in a box with a button that copies them.
void write_commands(Html& out, const std::string& commands);
/// What the whiskers of a table have to hold; 1 is always in it.
struct Extent {
  double low = 1, high = 1;
  void hold(const evaluate::Ratio& ratio);
};
/// The interval of a ratio as a whisker on a scale that is common to a table.
[[nodiscard]] Markup whisker(const evaluate::Ratio& ratio, Extent extent);

}  // namespace hone::face::report
