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

/// The compiler as a library, run in a child of its own: ten times as fast as nvcc.
struct Nvrtc {
  std::filesystem::path library;       ///< "…/libnvrtc.so.13"
  std::filesystem::path program;       ///< hone-nvrtc, which loads it
  std::filesystem::path include;       ///< holds cuda_fp16.h
  std::string version;                 ///< "13.0"
  std::vector<std::string> archs;      ///< as CudaToolkit's
};
/// $HONE_NVRTC (the library, or "none"), the toolkit's, the Python packages' as below. Headers are the toolkit's where
/// there is one, else those of the package nvidia-cuda-runtime beside the library. Nothing where a part is missing.
[[nodiscard]] std::optional<Nvrtc> find_nvrtc(const std::optional<CudaToolkit>& toolkit);

/// A program that prints a cubin's instructions.
struct Disassembler {
  std::filesystem::path program;
  std::string name;                    ///< "nvdisasm 13.0.39"
  std::vector<std::string> options;    ///< before the cubin's name
};
/// nvdisasm, else cuobjdump: $HONE_NVDISASM, the toolkit's, the PATH's, the Python packages' (nvidia-cuda-nvdisasm)
/// of $HONE_PYTHON, $VIRTUAL_ENV, ./.venv or the system.
[[nodiscard]] std::optional<Disassembler> find_disassembler(const std::optional<CudaToolkit>& toolkit);

/// NVIDIA's tool `name` ("ncu", "compute-sanitizer"): the variable's program (or "none"), the PATH's, /usr/local/cuda's.
/// kUnavailable where there is none.
[[nodiscard]] Result<std::filesystem::path> find_card_tool(const std::string& name, const char* variable);

}  // namespace hone::target
