// The element-wise rest of a computation behind a product, as a device function of one element. Pure text.
#pragma once
#include <string>

#include "hone/base/result.h"
#include "hone/pattern/contraction.h"

namespace hone::pattern {

/// `__device__ void finish(PARAMETERS, int64_t line_at, int64_t column_at, float product)`: stores every output's
/// element at column `column_at` of line `line_at`, the lines being batch and rows as one index. kUnavailable where an
/// operation is not one of a single element.
[[nodiscard]] Result<std::string> finish_text(const Contraction& contraction, const std::string& parameters);

/// `finish_reads<Many>(PARAMETERS, int64_t line_at, int64_t column_at)`: what else is read of elements beside each other in a line; and
/// `finish_words<Many>(PARAMETERS, int64_t line_at, int64_t column_at, const float (&products)[Many], finish_reads's)`: the same for them.
[[nodiscard]] Result<std::string> words_text(const Contraction& contraction, const std::string& parameters);

/// The same of a computation with one output, which is returned as a float: `NAME_of(PARAMETERS, row_of, column_at, product_at)`. What
/// hangs on the line alone is made once for each line: `NAME_row NAME_row_of(PARAMETERS, line_at)`.
[[nodiscard]] Result<std::string> value_text(const Contraction& contraction, const std::string& name, const std::string& parameters);

/// Likewise for a product [images, channels, space…] whose first two dimensions are told apart without a division:
/// `finish(PARAMETERS, int64_t image_at, int64_t channel_at, int64_t column_at, float product_at)`, the columns being the
/// places in space. Its program keeps the three apart (fences).
[[nodiscard]] Result<std::string> finish_text_of_images(const Contraction& contraction, const std::string& parameters);

/// Likewise finish_reads<Many> and finish_words<Many> at (int64_t image_at, int64_t channel_at, int64_t column_at), of elements beside each
/// other in a channel.
[[nodiscard]] Result<std::string> words_text_of_images(const Contraction& contraction, const std::string& parameters);

/// One sentence's worth: "write y", "add, max, write y".
[[nodiscard]] std::string finish_outline(const Contraction& contraction);

}  // namespace hone::pattern
