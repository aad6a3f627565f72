// What changes of one tunable are known to have done to kernels whose metrics were known: in spaces that were measured
// completely and ship with hone (data/ARCHITECTURE), and in the archive's runs. docs/diagnosis_cards.md says what it is used for.
#pragma once
#include <string>

#include "hone/archive/store.h"
#include "hone/base/result.h"
#include "hone/search/changes.h"

namespace hone::engine {

/// For NVIDIA's cards: what ships with hone and, where `store` is given, what its newest runs but `run` saw; what is damaged in there is
/// passed over. For other targets nothing: no space of theirs was measured with its metrics, and on CPUs the rules hold well enough.
[[nodiscard]] Result<search::Changes> known_changes(archive::Store* store, const std::string& target, const std::string& device, const std::string& run);

}  // namespace hone::engine
