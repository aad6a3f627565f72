// The report of a run: one HTML file that needs nothing but a browser. It carries its own style and a
// little script, asks the network for nothing, and is read as well on a phone and on paper. Made from
// the run's log of events alone, so that it can be made of a run that is still going or was killed,
// and of a log that a later version wrote. An Error means that the archive could not be read.
#pragma once
#include <string>

#include "hone/archive/store.h"
#include "hone/base/result.h"

namespace hone::face {

/// The whole file, UTF-8.
[[nodiscard]] Result<std::string> run_report(archive::Store& store, const archive::RunInfo& run);

}  // namespace hone::face
