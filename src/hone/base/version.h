// hone's version, as the build says it (CMakeLists.txt).
#pragma once

namespace hone::base {

inline constexpr const char* kVersion = HONE_VERSION;

}  // namespace hone::base
