// What a card's arithmetic could do at most, by its architecture's data sheet and its own clock: a physical limit,
// not a measurement. Pure.
#pragma once
#include "hone/target/calibrate/peaks.h"
#include "hone/target/card.h"

namespace hone::target {

/// Multiply-adds a nanosecond; 0 where the architecture is not in the table. f32 is what matrix units give with
/// operands split in three bf16 parts and six products (errors as f32's own), where that is more than plain f32.
/// Memory peaks are left 0: the stream twin measures them.
[[nodiscard]] CpuPeaks card_peaks(const CardInfo& card);

/// Bytes a nanosecond that the memory's clock and width allow; 0 where the driver does not say.
[[nodiscard]] double card_memory_peak(const CardInfo& card);

}  // namespace hone::target
