// Archive files.
#include <filesystem>

#include "fuzz.h"
#include "hone/archive/store.h"
#include "hone/base/file.h"
#include "hone/engine/event/event.h"

namespace hone::engine {
namespace {

void look_at(hone::Result<hone::archive::Store> store) {
  if (!store) return;
  static_cast<void>(store->check());
  const auto runs = store->runs();
  if (!runs) return;
  for (const hone::archive::RunInfo& run : *runs) {
    if (const auto events = store->events(run.id)) static_cast<void>(hone::engine::read_events(*events));
    static_cast<void>(store->run(run.id)), static_cast<void>(store->kernel(run.champion));
    if (const auto contexts = store->contexts(run.target))
      for (const auto& context : *contexts) static_cast<void>(store->lessons(context.id()));
    static_cast<void>(store->fact("key"));
  }
}

HONE_FUZZ(archive) {
  static const auto scratch = base::ScratchDirectory::create("fuzz");
  fuzz::require(scratch.has_value(), "there is a folder for scratch");
  const std::filesystem::path file = scratch->path() / "archive.db";
  for (const auto& old : std::filesystem::directory_iterator(scratch->path())) std::filesystem::remove(old.path());
  fuzz::require(base::write_file_atomic(file, input).has_value(), "a file is written");
  look_at(archive::Store::open_read_only(file));
  look_at(archive::Store::open(file));
}

}  // namespace
}  // namespace hone::engine
