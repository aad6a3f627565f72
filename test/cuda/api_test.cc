// hone/target/gpu/cuda_api.h against NVIDIA's cuda.h: values and layouts when this is compiled, prototypes as far as
// a call can tell them apart (how many parameters, of which sizes, which of them pointers).
#include <cuda.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

#include "hone/target/gpu/cuda_api.h"

namespace hone::target::cuda {
namespace {

static_assert(kSuccess == CUDA_SUCCESS && kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS && kMisalignedAddress == CUDA_ERROR_MISALIGNED_ADDRESS);

static_assert(int{kMaxThreadsPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(int{kWarpSize} == CU_DEVICE_ATTRIBUTE_WARP_SIZE);
static_assert(int{kClockKilohertz} == CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
static_assert(int{kMultiprocessors} == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int{kMemoryClockKilohertz} == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
static_assert(int{kMemoryBusBits} == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
static_assert(int{kL2Bytes} == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(int{kMaxThreadsPerMultiprocessor} == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(int{kMajor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int{kMinor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int{kSharedPerMultiprocessor} == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
static_assert(int{kSharedPerBlockOptIn} == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kFunctionMaxDynamicShared == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kFunctionSharedCarveout == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
static_assert(kFunctionLargeClusters == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(kRead == CU_MEM_ACCESS_FLAGS_PROT_READ && kReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(kPosixDescriptor == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING && kWaitGreaterOrEqual == CU_STREAM_WAIT_VALUE_GEQ && kHostMapped == CU_MEMHOSTALLOC_DEVICEMAP);

static_assert(std::is_same_v<Address, CUdeviceptr> && std::is_same_v<Handle, CUmemGenericAllocationHandle> && std::is_same_v<Device, CUdevice>);
static_assert(sizeof(Location) == sizeof(CUmemLocation) && offsetof(Location, type) == offsetof(CUmemLocation, type) &&
              offsetof(Location, id) == offsetof(CUmemLocation, id));
static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp) && alignof(AllocationProperties) == alignof(CUmemAllocationProp));
static_assert(offsetof(AllocationProperties, type) == offsetof(CUmemAllocationProp, type));
static_assert(offsetof(AllocationProperties, handle_types) == offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(AllocationProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(AllocationProperties, windows) == offsetof(CUmemAllocationProp, win32HandleMetaData));
static_assert(offsetof(AllocationProperties, compression) == offsetof(CUmemAllocationProp, allocFlags.compressionType));
static_assert(offsetof(AllocationProperties, rdma) == offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
static_assert(offsetof(AllocationProperties, usage) == offsetof(CUmemAllocationProp, allocFlags.usage));
static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc) && offsetof(AccessDescription, location) == offsetof(CUmemAccessDesc, location) &&
              offsetof(AccessDescription, flags) == offsetof(CUmemAccessDesc, flags));

static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute) && alignof(LaunchAttribute) <= alignof(CUlaunchAttribute));
static_assert(LaunchAttribute().kind == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && offsetof(LaunchAttribute, kind) == offsetof(CUlaunchAttribute, id));
static_assert(offsetof(LaunchAttribute, extents) == offsetof(CUlaunchAttribute, value.clusterDim.x) &&
              offsetof(LaunchAttribute, extents) + 8 == offsetof(CUlaunchAttribute, value.clusterDim.z));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig) && offsetof(LaunchConfig, grid) == offsetof(CUlaunchConfig, gridDimX) &&
              offsetof(LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes) &&
              offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs) &&
              offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));

template <class A, class B>
constexpr bool kAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class A, class B>
constexpr bool kSame = false;
template <class R, class... A, class S, class... B>
constexpr bool kSame<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) == sizeof...(B)) return kAlike<R, S> && (kAlike<A, B> && ...);
  return false;
}();
static_assert(kSame<int (*)(int*, int), CUresult (*)(CUdevice*, int)> && !kSame<int (*)(int*, int), int (*)(int*, long)> && !kSame<int (*)(int), int (*)()>);

/// The names by which cuda.h knows what it declares: macros lead to the versions that a program gets.
#define COMPARED(F)                                                                                                                              \
  F(init, cuInit) F(driver_version, cuDriverGetVersion) F(error_text, cuGetErrorString) F(error_name, cuGetErrorName)                            \
  F(device_count, cuDeviceGetCount) F(device_get, cuDeviceGet) F(device_name, cuDeviceGetName) F(device_attribute, cuDeviceGetAttribute)         \
  F(device_memory, cuDeviceTotalMem) F(context_retain, cuDevicePrimaryCtxRetain) F(context_release, cuDevicePrimaryCtxRelease)                   \
  F(context_set, cuCtxSetCurrent) F(memory_info, cuMemGetInfo) F(granularity, cuMemGetAllocationGranularity) F(create, cuMemCreate)              \
  F(release, cuMemRelease) F(export_handle, cuMemExportToShareableHandle) F(import_handle, cuMemImportFromShareableHandle)                       \
  F(reserve, cuMemAddressReserve) F(unreserve, cuMemAddressFree) F(map, cuMemMap) F(unmap, cuMemUnmap) F(set_access, cuMemSetAccess)             \
  F(allocate, cuMemAlloc) F(free, cuMemFree) F(host_allocate, cuMemHostAlloc) F(host_free, cuMemFreeHost) F(upload_async, cuMemcpyHtoDAsync) F(host_address, cuMemHostGetDevicePointer)                         \
  F(upload, cuMemcpyHtoD) F(download, cuMemcpyDtoH) F(set_bytes, cuMemsetD8Async) F(set_halves, cuMemsetD16Async)                                \
  F(set_words, cuMemsetD32Async) F(set_column, cuMemsetD2D32Async) F(module_load, cuModuleLoadData) F(module_unload, cuModuleUnload)             \
  F(module_function, cuModuleGetFunction) F(module_global, cuModuleGetGlobal) F(function_set, cuFuncSetAttribute) F(launch, cuLaunchKernel) F(launch_with, cuLaunchKernelEx) F(stream_create, cuStreamCreate)         \
  F(stream_synchronise, cuStreamSynchronize) F(stream_wait_value, cuStreamWaitValue32) F(event_create, cuEventCreate)                            \
  F(capture_begin, cuStreamBeginCapture) F(capture_end, cuStreamEndCapture) F(graph_make_ready, cuGraphInstantiateWithFlags)                     \
  F(graph_upload, cuGraphUpload) F(graph_launch, cuGraphLaunch) F(graph_run_free, cuGraphExecDestroy) F(graph_free, cuGraphDestroy)                                             \
  F(event_record, cuEventRecord) F(event_elapsed, cuEventElapsedTime)

#define SAME(member, function) static_assert(kSame<decltype(Api::member), decltype(&::function)>, #function);
COMPARED(SAME)
#undef SAME

TEST(CudaApi, EveryFunctionIsCompared) {
  std::set<std::string> used, compared;
#define USED(member, symbol, parameters) used.insert(#member);
  HONE_CUDA_FUNCTIONS(USED)
#define LOOKED(member, function) compared.insert(#member);
  COMPARED(LOOKED)
  EXPECT_EQ(used, compared);
}

/// What the header's macros make of a name is the symbol, but where 13.0 declares a younger version of the same shape.
TEST(CudaApi, SymbolsAreTheHeaders) {
  std::set<std::string> ours, theirs;
#define TEXT_OF(name) #name
#define SYMBOL(member, symbol, parameters) ours.insert(symbol);
  HONE_CUDA_FUNCTIONS(SYMBOL)
#define DECLARED(member, function) theirs.insert(TEXT_OF(function));
  COMPARED(DECLARED)
  if (theirs.erase("cuEventElapsedTime_v2")) theirs.insert("cuEventElapsedTime");
  EXPECT_EQ(ours, theirs);
}

TEST(CudaApi, AMissingDriverIsNamed) {
  Api api;
  setenv("HONE_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
  EXPECT_EQ(load(api).find("the driver named by HONE_CUDA_DRIVER does not load: /nonexistent/libcuda.so: "), 0) << load(api);
  // A library that is no driver.
  setenv("HONE_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_EQ(load(api), "libm.so.6 is too old, or no driver: it has no cuInit");
  unsetenv("HONE_CUDA_DRIVER");
}

}  // namespace
}  // namespace hone::target::cuda
