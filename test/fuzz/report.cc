// Logs of runs, as the archive holds them and pages show them: an event a line, its kind and its JSON. A first line without a kind is the run's
// options.
#include <filesystem>

#include "fuzz.h"
#include "hone/base/file.h"
#include "hone/face/report/report.h"

namespace hone::face {
namespace {

HONE_FUZZ(report) {
  if (input.size() > fuzz::kMostBytes) return;
  static const auto scratch = base::ScratchDirectory::create("fuzz");
  fuzz::require(scratch.has_value(), "there is a folder for scratch");
  for (const auto& old : std::filesystem::directory_iterator(scratch->path())) std::filesystem::remove(old.path());
  auto store = archive::Store::open(scratch->path() / "archive.db");
  fuzz::require(store.has_value(), "there is an archive");
  archive::RunInfo run;
  run.id = "0123456789ab", run.task_name = "t", run.task_hash = std::string(64, 'a'), run.target = "cpu", run.options_json = "{}", run.status = "running";
  std::vector<archive::Event> events;
  for (std::string_view rest = input; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size()), space = std::min(rest.find(' '), end);
    if (space == 0) run.options_json = run.summary_json = rest.substr(0, end);
    else events.push_back({0, std::string(rest.substr(0, space)), std::string(rest.substr(space, end - space))});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!store->create_run(run)) return;
  for (size_t i = 0; i < events.size(); ++i)
    if (!store->append_event(run.id, static_cast<int64_t>(i), events[i].kind, events[i].json)) return;
  const auto page = face::run_report(*store, run);
  fuzz::require(page.has_value(), page ? "" : "a log that can be read has a page: " + page.error().to_string());
}

}  // namespace
}  // namespace hone::face
