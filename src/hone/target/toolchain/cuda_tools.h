// NVIDIA's tools as this machine has them. Thread-safe; asking runs them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/result.h"

namespace hone::target {

struct CudaToolkit {
  std::filesystem::path root;          ///< "/usr/local/cuda-13.0"
  std::filesystem::path nvcc;
  std::string version;                 ///< "13.0.88"
  std::vector<std::string> archs;      ///< "sm_80", "sm_90", … as nvcc lists them: without the letters a and f
};

/// $HONE_NVCC, else the PATH's, else /usr/local/cuda's. Nothing where none runs.
[[nodiscard]] std::optional<CudaToolkit> find_cuda();

/// A program that prints a cubin's instructions.
struct Disassembler {
  std::filesystem::path program;
  std::string name;                    ///< "nvdisasm 13.0.39"
  std::vector<std::string> options;    ///< before the cubin's name
};
/// nvdisasm, else cuobjdump: $HONE_NVDISASM, the toolkit's, the PATH's, the Python packages' (nvidia-cuda-nvdisasm)
/// under $VIRTUAL_ENV or ./.venv.
[[nodiscard]] std::optional<Disassembler> find_disassembler(const CudaToolkit& toolkit);

}  // namespace hone::target
