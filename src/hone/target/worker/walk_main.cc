// Launches the plan of a CPU kernel on one thread and ends, so that a tool may watch it: a few system calls, the loader,
// then nothing but the kernel. It stands in the same jail as a compiler, and nobody believes what comes of it but as a
// model of this kernel.
//
//   hone-walk JOB LIBRARY        (JOB as in walk_protocol.h)
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "hone/target/worker/walk_protocol.h"

namespace hone::target::worker {
namespace {

/// Whole pages of zeros, there when they are touched.
std::byte* allocate(int64_t bytes) {
  void* memory = mmap(nullptr, static_cast<size_t>(std::max<int64_t>(bytes, 1)), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

std::byte* map_file(const char* path, int64_t bytes, int access) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* memory = mmap(nullptr, static_cast<size_t>(std::max<int64_t>(bytes, 1)), access, MAP_PRIVATE, fd, 0);
  close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void run_launch(const Launch& launch, const Entry* entries, std::byte* const* tensors, void* shared) {
  uint64_t slots[kMaxArguments] = {};
  for (uint32_t a = 0; a < launch.arguments; ++a) {
    const Argument& argument = launch.argument[a];
    slots[a] = argument.tensor < 0 ? static_cast<uint64_t>(argument.value) : reinterpret_cast<uint64_t>(tensors[argument.tensor]);
  }
  entries[launch.entry](slots, shared, launch.grid, 0, launch.grid[0] * launch.grid[1] * launch.grid[2]);
}

WalkExit walk(const WalkJob& job, const char* library) {
  const Control& control = job.control;
  std::byte* tensors[kMaxTensors + kMaxWorkspaces] = {};
  for (uint32_t t = 0; t < control.tensors; ++t) {
    const int64_t bytes = control.tensor_bytes[t];
    tensors[t] = job.contents[t][0] != 0 ? map_file(job.contents[t], bytes, PROT_READ) : allocate(bytes);
    if (!tensors[t]) return WalkExit::kNoMemory;
  }
  for (uint32_t i = 0; i < control.workspaces; ++i)
    if (!(tensors[control.tensors + i] = allocate(control.workspace[i].bytes))) return WalkExit::kNoMemory;
  int64_t shared_bytes = 0;
  for (uint32_t i = 0; i < control.launches; ++i) shared_bytes = std::max(shared_bytes, control.launch[i].shared_bytes);
  void* const shared = allocate(shared_bytes);
  if (!shared) return WalkExit::kNoMemory;
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return WalkExit::kNoLibrary;
  const auto* const entries = static_cast<const Entry*>(dlsym(handle, kEntriesSymbol));
  if (!entries) return WalkExit::kNoEntries;
  for (uint32_t call = 0; call < control.calls; ++call) {
    for (uint32_t i = 0; i < control.workspaces; ++i)
      if (control.workspace[i].zero) std::memset(tensors[control.tensors + i], 0, static_cast<size_t>(control.workspace[i].bytes));
    for (uint32_t i = 0; i < control.launches; ++i) run_launch(control.launch[i], entries, tensors, shared);
  }
  return WalkExit{0};
}

}  // namespace
}  // namespace hone::target::worker

int main(int argc, char** argv) {
  using hone::target::worker::WalkExit, hone::target::worker::WalkJob;
  if (argc != 3) return static_cast<int>(WalkExit::kUsage);

  const std::byte* const job = hone::target::worker::map_file(argv[1], sizeof(WalkJob), PROT_READ);
  if (!job) return static_cast<int>(WalkExit::kNoJob);
  // No destructors of anybody's.
  _exit(static_cast<int>(hone::target::worker::walk(*reinterpret_cast<const WalkJob*>(job), argv[2])));
}
