// Text of attributes, as printed graphs show it.
#pragma once
#include <string>

#include "hone/task/graph/graph.h"

namespace hone::task {

/// The shortest decimal that reads back as `value`, with a point or exponent; "inf", "nan".
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string attr_text(const Attr& attr);
/// "axis=1, keepdims=true"
[[nodiscard]] std::string attrs_text(const Attrs& attrs);

}  // namespace hone::task
