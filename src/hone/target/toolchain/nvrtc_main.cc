// Has NVRTC compile CUDA for a card that need not be there. Lives in the compilers' jail, as it reads hostile source.
//
//   hone-nvrtc probe LIBRARY                     "13.0" and the architectures it knows ("sm_80" …), a line each
//   hone-nvrtc build LIBRARY UNIT OUT OPTION...  writes the cubin of UNIT to OUT (PTX where the options ask for no real
//                                                architecture); the compiler's words on standard error
//
// Exit status 1: the source is refused; 3: there is no NVRTC that we can use. The library is loaded at run time, its
// builtins from the same folder before it, so that it finds them without LD_LIBRARY_PATH.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <string>
#include <vector>

namespace hone::target::nvrtc {
namespace {

namespace fs = std::filesystem;

constexpr int kRefused = 1, kNone = 3;
constexpr int kSuccess = 0, kCompilation = 6;  // NVRTC_SUCCESS, NVRTC_ERROR_COMPILATION

[[noreturn]] void stop(int status, const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(status);
}

using Program = void*;

/// The part of NVRTC's interface that is used here, as its documentation declares it.
struct Api {
  int (*version)(int*, int*);
  int (*num_archs)(int*);
  int (*archs)(int*);
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile)(Program, int, const char* const*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, size_t*);
  int (*cubin)(Program, char*);
  int (*ptx_size)(Program, size_t*);
  int (*ptx)(Program, char*);
};

Api load(const fs::path& library) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(library.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("libnvrtc-builtins.so")) dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  void* const handle = dlopen(library.c_str(), RTLD_NOW);
  if (!handle) stop(kNone, dlerror());
  Api api{};
  const auto bind = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (!function) stop(kNone, std::string("NVRTC has no ") + name);
  };
  bind(api.version, "nvrtcVersion");
  bind(api.num_archs, "nvrtcGetNumSupportedArchs");
  bind(api.archs, "nvrtcGetSupportedArchs");
  bind(api.create, "nvrtcCreateProgram");
  bind(api.compile, "nvrtcCompileProgram");
  bind(api.log_size, "nvrtcGetProgramLogSize");
  bind(api.log, "nvrtcGetProgramLog");
  bind(api.cubin_size, "nvrtcGetCUBINSize");
  bind(api.cubin, "nvrtcGetCUBIN");
  bind(api.ptx_size, "nvrtcGetPTXSize");
  bind(api.ptx, "nvrtcGetPTX");
  return api;
}

int probe(const Api& api) {
  int major = 0, minor = 0, count = 0;
  if (api.version(&major, &minor) != kSuccess || api.num_archs(&count) != kSuccess) stop(kNone, "NVRTC does not say what it is");
  std::vector<int> archs(static_cast<size_t>(count));
  if (api.archs(archs.data()) != kSuccess) stop(kNone, "NVRTC does not say what it compiles for");
  std::printf("%d.%d\n", major, minor);
  for (const int arch : archs) std::printf("sm_%d\n", arch);
  return 0;
}

int build(const Api& api, const char* unit, const char* out, int count, const char* const* options) {
  std::ifstream in(unit, std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  Program program = nullptr;
  if (!in || api.create(&program, source.c_str(), "unit.cu", 0, nullptr, nullptr) != kSuccess) stop(kNone, "NVRTC takes no program");
  const int status = api.compile(program, count, options);
  size_t size = 0;
  if (api.log_size(program, &size) == kSuccess && size > 1) {
    std::string log(size, '\0');
    if (api.log(program, log.data()) == kSuccess) std::fprintf(stderr, "%s\n", log.c_str());
  }
  if (status != kSuccess) return status == kCompilation ? kRefused : kNone;
  const bool real = std::none_of(options, options + count, [](const char* o) { return std::string_view(o).starts_with("--gpu-architecture=compute_"); });
  if ((real ? api.cubin_size : api.ptx_size)(program, &size) != kSuccess || size == 0) stop(kNone, "NVRTC made nothing");
  std::string made(size, '\0');
  if ((real ? api.cubin : api.ptx)(program, made.data()) != kSuccess) stop(kNone, "NVRTC does not give what it made");
  if (!real) made.pop_back();  // PTX comes with its end
  std::ofstream file(out, std::ios::binary);
  file << made;
  file.close();
  if (!file) stop(kNone, "No space left on device");
  return 0;
}

}  // namespace

int run(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  int status = kNone;
  if (command == "probe") status = probe(load(argv[2]));
  else if (command == "build" && argc > 4) status = build(load(argv[2]), argv[3], argv[4], argc - 5, argv + 5);
  return status;
}

}  // namespace hone::target::nvrtc

int main(int argc, char** argv) {
  const int status = hone::target::nvrtc::run(argc, argv);
  std::fflush(nullptr);
  std::_Exit(status);  // its threads need no goodbye
}
