// The patterns in TileLang: files of patterns/tilelang/ filled for a task. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/pattern/library.h"

namespace hone::pattern {

/// As offers_triton(), in TileLang, one text for all cards. There are no plain loops.
[[nodiscard]] std::vector<Offer> offers_tilelang(const task::Task& task, std::vector<std::string>& why_not);

}  // namespace hone::pattern
