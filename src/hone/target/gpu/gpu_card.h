// A Card on a Driver: its memory, its programs and its workers.
#pragma once
#include <memory>

#include "hone/target/card.h"
#include "hone/target/gpu/driver.h"

namespace hone::target {

/// `driver`: that card, entered.
[[nodiscard]] Result<std::shared_ptr<Card>> gpu_card(std::unique_ptr<gpu::Driver> driver, CardInfo info);

}  // namespace hone::target
