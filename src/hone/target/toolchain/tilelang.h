// TileLang kernels (docs/tilelang.md): TileLang, in a jail, makes CUDA or HIP source of the module and says how that is launched; from
// there on it is a kernel in that language, built and held against its binary like any other.
#pragma once
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "hone/kernel/build_case.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {

/// What tilelang_build.py answered for `launches`, as a kernel in CUDA or HIP. For the emulator without the templates of
/// TileLang, whose plain part hone has. An Error (kInput) where the answer makes no sense. Pure.
[[nodiscard]] Result<kernel::Kernel> kernel_of_tiles(const nlohmann::json& answer, const std::vector<kernel::TileLaunch>& launches, const std::string& target);

/// What names the text that a kernel is lowered to, in a pack: a hash of the kernel, its case, the target and hone's own programs in Python.
[[nodiscard]] std::string tilelang_key(const std::string& target, const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings);

/// `own`, a toolchain for "cuda:ARCH", "hip:ARCH", "emulator:cuda" or "emulator:hip", that takes TileLang kernels too. Their builds say in
/// Build::lowered what was compiled. TileLang is looked for when a kernel asks for it: kUnavailable without it and without packs (shipped.h).
[[nodiscard]] std::unique_ptr<Toolchain> with_tilelang(std::unique_ptr<Toolchain> own, std::string target);

}  // namespace hone::target
