// Names that the emitter and the session share; private to the PyTorch opponent.
#pragma once
#include <string_view>

#include "hone/task/types.h"

namespace hone::evaluate {

/// "float32", "int64", …: an attribute of the torch module.
[[nodiscard]] std::string_view torch_name_of(task::DType type);

}  // namespace hone::evaluate
