// Has PoCL compile OpenCL C for its CPU device. Lives in the compilers' jail; PoCL's threads, files and
// linker stay there, and what comes out is an object file a kernel.
//
//   hone-opencl probe               the version, once a kernel compiled here gives its known answers
//   hone-opencl build UNIT.cl K...  writes K.o for each kernel; prints "K ARGUMENTS LOCAL_BYTES" a line
//
// Exit status 1: the source is refused (why on standard error); 3: there is no PoCL that we can use.
// libOpenCL is loaded at run time, so that hone builds and runs without it.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hone/target/toolchain/include/hone/pocl.h"

namespace hone::target::opencl {
namespace {

namespace fs = std::filesystem;

constexpr int kRefused = 1, kNoPocl = 3;

[[noreturn]] void stop(int status, const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(status);  // PoCL's threads need no goodbye
}

// From the OpenCL 1.2 specification.
using Handle = void*;
constexpr uint64_t kCpu = 1 << 1;                   // CL_DEVICE_TYPE_CPU
constexpr uint32_t kPlatformName = 0x0902, kDriverVersion = 0x102D;
constexpr uint32_t kBinarySizes = 0x1165, kBinaries = 0x1166, kBuildLog = 0x1183;
constexpr uint32_t kNumArgs = 0x1191, kLocalBytes = 0x11B2;

struct Api {
  int32_t (*platforms)(uint32_t, Handle*, uint32_t*);
  int32_t (*platform_info)(Handle, uint32_t, size_t, void*, size_t*);
  int32_t (*devices)(Handle, uint64_t, uint32_t, Handle*, uint32_t*);
  int32_t (*device_info)(Handle, uint32_t, size_t, void*, size_t*);
  Handle (*context)(const intptr_t*, uint32_t, const Handle*, void*, void*, int32_t*);
  Handle (*program)(Handle, uint32_t, const char**, const size_t*, int32_t*);
  int32_t (*build)(Handle, uint32_t, const Handle*, const char*, void*, void*);
  int32_t (*program_info)(Handle, uint32_t, size_t, void*, size_t*);
  int32_t (*build_info)(Handle, Handle, uint32_t, size_t, void*, size_t*);
  Handle (*kernel)(Handle, const char*, int32_t*);
  int32_t (*kernel_info)(Handle, uint32_t, size_t, void*, size_t*);
  int32_t (*group_info)(Handle, Handle, uint32_t, size_t, void*, size_t*);
};

Api load_api() {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!library) stop(kNoPocl, "there is no OpenCL loader (libOpenCL.so.1)");
  Api api{};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (!function) stop(kNoPocl, std::string("the OpenCL loader has no ") + name);
  };
  find(api.platforms, "clGetPlatformIDs");
  find(api.platform_info, "clGetPlatformInfo");
  find(api.devices, "clGetDeviceIDs");
  find(api.device_info, "clGetDeviceInfo");
  find(api.context, "clCreateContext");
  find(api.program, "clCreateProgramWithSource");
  find(api.build, "clBuildProgram");
  find(api.program_info, "clGetProgramInfo");
  find(api.build_info, "clGetProgramBuildInfo");
  find(api.kernel, "clCreateKernel");
  find(api.kernel_info, "clGetKernelInfo");
  find(api.group_info, "clGetKernelWorkGroupInfo");
  return api;
}

class Pocl {
 public:
  Pocl() : api_(load_api()) {
    uint32_t count = 0;
    std::vector<Handle> platforms(16);
    if (api_.platforms(16, platforms.data(), &count) != 0) count = 0;
    platforms.resize(std::min<size_t>(count, platforms.size()));
    for (const Handle platform : platforms) {
      char name[256] = {};
      if (api_.platform_info(platform, kPlatformName, sizeof name - 1, name, nullptr) != 0) continue;
      if (std::strcmp(name, "Portable Computing Language") != 0) continue;
      if (api_.devices(platform, kCpu, 1, &device_, &count) == 0 && count > 0) break;
      device_ = nullptr;
    }
    if (!device_) stop(kNoPocl, "OpenCL has no PoCL CPU device");
    int32_t status = 0;
    context_ = api_.context(nullptr, 1, &device_, nullptr, nullptr, &status);
    if (!context_) stop(kNoPocl, "PoCL gives no context, status " + std::to_string(status));
  }

  [[nodiscard]] std::string version() const {
    char text[256] = {};
    api_.device_info(device_, kDriverVersion, sizeof text - 1, text, nullptr);
    return text;
  }

  /// Compiles everything, down to machine code.
  void compile(const std::string& source) {
    const char* text = source.c_str();
    int32_t status = 0;
    program_ = api_.program(context_, 1, &text, nullptr, &status);
    if (!program_) stop(kNoPocl, "PoCL takes no program, status " + std::to_string(status));
    status = api_.build(program_, 1, &device_, "", nullptr, nullptr);
    size_t bytes = 0;
    api_.build_info(program_, device_, kBuildLog, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    if (bytes) api_.build_info(program_, device_, kBuildLog, bytes, log.data(), nullptr);
    if (status != 0) stop(kRefused, log.empty() ? "PoCL refuses the source, status " + std::to_string(status) : log);
    std::fputs(log.c_str(), stderr);
    // Asking for the binary is what makes PoCL compile work groups of any size.
    size_t size = 0;
    if (api_.program_info(program_, kBinarySizes, sizeof size, &size, nullptr) != 0 || size == 0)
      stop(kRefused, "PoCL cannot compile the kernels to machine code");
    std::vector<unsigned char> binary(size);
    unsigned char* into = binary.data();
    if (api_.program_info(program_, kBinaries, sizeof into, &into, nullptr) != 0)
      stop(kRefused, "PoCL cannot compile the kernels to machine code");
  }

  struct Facts {
    uint32_t arguments = 0;
    uint64_t local_bytes = 0;
  };
  [[nodiscard]] Facts facts(const std::string& name) const {
    int32_t status = 0;
    const Handle kernel = api_.kernel(program_, name.c_str(), &status);
    if (!kernel) stop(kRefused, "error: the source has no __kernel " + name);
    Facts facts;
    if (api_.kernel_info(kernel, kNumArgs, sizeof facts.arguments, &facts.arguments, nullptr) != 0 ||
        api_.group_info(kernel, device_, kLocalBytes, sizeof facts.local_bytes, &facts.local_bytes, nullptr) != 0)
      stop(kNoPocl, "PoCL does not describe kernel " + name);
    return facts;
  }

 private:
  Api api_;
  Handle device_ = nullptr, context_ = nullptr, program_ = nullptr;
};

/// PoCL leaves what it made under its cache folder: .../NAME/SIZES/NAME.so and the object it is linked from.
fs::path made(const std::string& name, const char* suffix) {
  for (const auto& entry : fs::recursive_directory_iterator(std::getenv("POCL_CACHE_DIR")))
    if (entry.path().filename() == name + suffix) return entry.path();
  stop(kNoPocl, "PoCL left no " + name + suffix);
}

constexpr const char* kProbeSource = R"(
__kernel void hone_probe(__global long* out, int a, long b, __local int* given) {
  __local int one[2], other[64];
  const int i = get_local_id(0) + 4 * get_local_id(1);
  if (i < 2) one[i] = 1000 * (i + 1);
  other[i] = i;
  given[i] = 10 * i;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int last = 7 - i;
  const long at = (get_group_id(1) * get_num_groups(0) + get_group_id(0)) * 8 + i;
  out[at] = get_global_id(0) + 100 * get_global_id(1) + 10000 * get_work_dim() + a + b + other[last] + given[last] + one[i % 2];
}
)";

/// Three by two groups of four by two work items, answers worked out by the specification.
bool probe_holds(PoclGroup group) {
  std::vector<int64_t> out(3 * 2 * 8, -1);
  int32_t given[8] = {};
  const uint64_t slots[] = {reinterpret_cast<uint64_t>(out.data()), 7, uint64_t{1} << 40, 0, 4, 2};
  const bool local[] = {false, false, false, true};
  const int64_t grid[] = {3, 2, 1};
  pocl_run<4, 2, 384>(group, slots, local, given, grid, 0, 6);
  for (int64_t y = 0; y < 2; ++y)
    for (int64_t x = 0; x < 3; ++x)
      for (int64_t i = 0; i < 8; ++i) {
        const int64_t last = 7 - i;
        const int64_t want = (4 * x + i % 4) + 100 * (2 * y + i / 4) + 20000 + 7 + (int64_t{1} << 40) + 11 * last + 1000 * (i % 2 + 1);
        if (out[static_cast<size_t>((y * 3 + x) * 8 + i)] != want) return false;
      }
  return true;
}

int probe() {
  Pocl pocl;
  pocl.compile(kProbeSource);
  void* library = dlopen(made("hone_probe", ".so").c_str(), RTLD_NOW);
  void* group = library ? dlsym(library, "_pocl_kernel_hone_probe_workgroup") : nullptr;
  static_cast<void>(made("hone_probe", ".so.o"));
  if (!group || !probe_holds(reinterpret_cast<PoclGroup>(group)))
    stop(kNoPocl, "work groups of PoCL " + pocl.version() + " are called in a way that hone does not know");
  std::printf("%s\n", pocl.version().c_str());
  return 0;
}

int build(const char* file, const std::vector<std::string>& kernels) {
  std::ifstream in(file);
  std::stringstream source;
  source << in.rdbuf();
  if (!in) stop(kNoPocl, std::string("cannot read ") + file);
  Pocl pocl;
  pocl.compile(source.str());
  for (const std::string& name : kernels) {
    const Pocl::Facts facts = pocl.facts(name);
    fs::copy_file(made(name, ".so.o"), name + ".o", fs::copy_options::overwrite_existing);
    std::printf("%s %u %llu\n", name.c_str(), facts.arguments, static_cast<unsigned long long>(facts.local_bytes));
  }
  return 0;
}

}  // namespace
}  // namespace hone::target::opencl

int main(int argc, char** argv) {
  namespace opencl = hone::target::opencl;
  int status = 2;
  if (argc == 2 && std::strcmp(argv[1], "probe") == 0) status = opencl::probe();
  if (argc > 3 && std::strcmp(argv[1], "build") == 0) status = opencl::build(argv[2], {argv + 3, argv + argc});
  std::fflush(nullptr);
  std::_Exit(status);
}
