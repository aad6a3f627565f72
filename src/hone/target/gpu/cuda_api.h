// The functions of NVIDIA's driver (libcuda) that hone uses, found when they are needed: hone is built without CUDA
// and runs where there is no driver. Declarations follow the driver API's documentation, version 12.0 on; a test
// compares them with cuda.h where that is installed. Called by cuda_driver.cc, and by nobody else.
#pragma once
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hone/target/gpu/driver.h"

namespace hone::target::cuda {

using gpu::Address, gpu::Event, gpu::Function, gpu::kSuccess, gpu::Module, gpu::Stream;
using Result = gpu::Result;     // CUresult
using Device = int;
using Handle = unsigned long long;
using Context = struct OpaqueContext*;
using Graph = gpu::OpaqueGraph*;
using GraphRun = gpu::OpaqueGraphRun*;  // CUgraphExec

inline constexpr Result kOutOfMemory = 2, kIllegalAddress = 700, kMisalignedAddress = 716;

enum Attribute : int {
  kMaxThreadsPerBlock = 1,
  kWarpSize = 10,
  kClockKilohertz = 13,
  kMultiprocessors = 16,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kMajor = 75,
  kMinor = 76,
  kSharedPerMultiprocessor = 81,
  kSharedPerBlockOptIn = 97,
};
inline constexpr int kFunctionMaxDynamicShared = 8, kFunctionSharedCarveout = 9, kFunctionLargeClusters = 14;
inline constexpr unsigned kPortableCluster = 8;   // blocks; larger ones have to be allowed for a function

struct Location {
  int type = 1;                 // a device
  int id = 0;
};
struct AllocationProperties {
  int type = 1;                 // pinned
  int handle_types = 1;         // POSIX file descriptor
  Location location;
  void* windows = nullptr;
  unsigned char compression = 0, rdma = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
inline constexpr int kRead = 1, kReadWrite = 3;
struct AccessDescription {
  Location location;
  int flags = kReadWrite;
};
/// Of a launch; here the one kind that hone uses: how many blocks run together.
struct LaunchAttribute {
  int kind = 4;                 // cluster dimension
  char padding[4] = {};
  unsigned extents[16] = {};    // a union of 64 bytes
};
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
inline constexpr int kPosixDescriptor = 1;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr unsigned kStreamNonBlocking = 1, kWaitGreaterOrEqual = 0, kHostMapped = 2;

#define HONE_CUDA_FUNCTIONS(F)                                                                                     \
  F(init, "cuInit", (unsigned))                                                                                    \
  F(driver_version, "cuDriverGetVersion", (int*))                                                                  \
  F(error_text, "cuGetErrorString", (Result, const char**))                                                        \
  F(error_name, "cuGetErrorName", (Result, const char**))                                                          \
  F(device_count, "cuDeviceGetCount", (int*))                                                                      \
  F(device_get, "cuDeviceGet", (Device*, int))                                                                     \
  F(device_name, "cuDeviceGetName", (char*, int, Device))                                                          \
  F(device_attribute, "cuDeviceGetAttribute", (int*, int, Device))                                                 \
  F(device_memory, "cuDeviceTotalMem_v2", (size_t*, Device))                                                       \
  F(context_retain, "cuDevicePrimaryCtxRetain", (Context*, Device))                                                \
  F(context_release, "cuDevicePrimaryCtxRelease_v2", (Device))                                                     \
  F(context_set, "cuCtxSetCurrent", (Context))                                                                     \
  F(memory_info, "cuMemGetInfo_v2", (size_t*, size_t*))                                                            \
  F(granularity, "cuMemGetAllocationGranularity", (size_t*, const AllocationProperties*, int))                     \
  F(create, "cuMemCreate", (Handle*, size_t, const AllocationProperties*, unsigned long long))                     \
  F(release, "cuMemRelease", (Handle))                                                                             \
  F(export_handle, "cuMemExportToShareableHandle", (void*, Handle, int, unsigned long long))                       \
  F(import_handle, "cuMemImportFromShareableHandle", (Handle*, void*, int))                                        \
  F(reserve, "cuMemAddressReserve", (Address*, size_t, size_t, Address, unsigned long long))                       \
  F(unreserve, "cuMemAddressFree", (Address, size_t))                                                              \
  F(map, "cuMemMap", (Address, size_t, size_t, Handle, unsigned long long))                                        \
  F(unmap, "cuMemUnmap", (Address, size_t))                                                                        \
  F(set_access, "cuMemSetAccess", (Address, size_t, const AccessDescription*, size_t))                             \
  F(allocate, "cuMemAlloc_v2", (Address*, size_t))                                                                 \
  F(free, "cuMemFree_v2", (Address))                                                                               \
  F(host_allocate, "cuMemHostAlloc", (void**, size_t, unsigned))                                                   \
  F(host_free, "cuMemFreeHost", (void*))                                                                           \
  F(host_address, "cuMemHostGetDevicePointer_v2", (Address*, void*, unsigned))                                     \
  F(upload, "cuMemcpyHtoD_v2", (Address, const void*, size_t))                                                     \
  F(upload_async, "cuMemcpyHtoDAsync_v2", (Address, const void*, size_t, Stream))                                  \
  F(download, "cuMemcpyDtoH_v2", (void*, Address, size_t))                                                         \
  F(set_bytes, "cuMemsetD8Async", (Address, unsigned char, size_t, Stream))                                        \
  F(set_halves, "cuMemsetD16Async", (Address, unsigned short, size_t, Stream))                                     \
  F(set_words, "cuMemsetD32Async", (Address, unsigned, size_t, Stream))                                            \
  F(set_column, "cuMemsetD2D32Async", (Address, size_t, unsigned, size_t, size_t, Stream))                         \
  F(module_load, "cuModuleLoadData", (Module*, const void*))                                                       \
  F(module_unload, "cuModuleUnload", (Module))                                                                     \
  F(module_function, "cuModuleGetFunction", (Function*, Module, const char*))                                      \
  F(module_global, "cuModuleGetGlobal_v2", (Address*, size_t*, Module, const char*))                               \
  F(function_set, "cuFuncSetAttribute", (Function, int, int))                                                      \
  F(launch, "cuLaunchKernel",                                                                                      \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**))      \
  F(launch_with, "cuLaunchKernelEx", (const LaunchConfig*, Function, void**, void**))                              \
  F(stream_create, "cuStreamCreate", (Stream*, unsigned))                                                          \
  F(stream_synchronise, "cuStreamSynchronize", (Stream))                                                           \
  F(stream_wait_value, "cuStreamWaitValue32_v2", (Stream, Address, uint32_t, unsigned))                            \
  F(capture_begin, "cuStreamBeginCapture_v2", (Stream, int))                                                       \
  F(capture_end, "cuStreamEndCapture", (Stream, Graph*))                                                           \
  F(graph_make_ready, "cuGraphInstantiateWithFlags", (GraphRun*, Graph, unsigned long long))                       \
  F(graph_upload, "cuGraphUpload", (GraphRun, Stream))                                                             \
  F(graph_launch, "cuGraphLaunch", (GraphRun, Stream))                                                             \
  F(graph_run_free, "cuGraphExecDestroy", (GraphRun))                                                              \
  F(graph_free, "cuGraphDestroy", (Graph))                                                                         \
  F(event_create, "cuEventCreate", (Event*, unsigned))                                                             \
  F(event_record, "cuEventRecord", (Event, Stream))                                                                \
  F(event_elapsed, "cuEventElapsedTime", (float*, Event, Event))

struct Api {
#define HONE_CUDA_MEMBER(name, symbol, parameters) Result(*name) parameters = nullptr;
  HONE_CUDA_FUNCTIONS(HONE_CUDA_MEMBER)
#undef HONE_CUDA_MEMBER

  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
  [[nodiscard]] std::string describe(Result result) const {
    const char *text = nullptr, *name = nullptr;
    if (error_text(result, &text) != kSuccess || !text) text = "an error without a name";
    if (error_name(result, &name) != kSuccess || !name) name = "?";
    return std::string(text) + " (" + name + ")";
  }
};

/// Opens the driver: $HONE_CUDA_DRIVER, or libcuda.so.1. What is wrong; empty when nothing is.
[[nodiscard]] inline std::string load(Api& api) {
  const char* given = std::getenv("HONE_CUDA_DRIVER");
  if (given && !*given) given = nullptr;
  void* const library = dlopen(given ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library && given) return std::string("the driver named by HONE_CUDA_DRIVER does not load: ") + dlerror();
  if (!library) return "there is no NVIDIA driver (libcuda.so.1)";
#define HONE_CUDA_FIND(name, symbol, parameters)                                  \
  api.name = reinterpret_cast<Result(*) parameters>(dlsym(library, symbol));      \
  if (!api.name) return std::string(given ? given : "the NVIDIA driver") + " is too old, or no driver: it has no " symbol;
  HONE_CUDA_FUNCTIONS(HONE_CUDA_FIND)
#undef HONE_CUDA_FIND
  if (const Result result = api.init(0); result != kSuccess) return "the NVIDIA driver does not start: " + api.describe(result);
  return {};
}

}  // namespace hone::target::cuda
