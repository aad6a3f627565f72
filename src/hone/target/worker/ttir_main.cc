// The process around a Triton kernel without a card: maps the shared buffers, reads the kernel's TTIR when it is told to, closes the
// jail behind itself, then interprets batches of calls until it is killed or finds something. It speaks the runner's protocol.
//
//   hone-ttir TEXT          (descriptors as in protocol.h)
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>

#include "hone/base/process/process.h"
#include "hone/target/ttir/run.h"
#include "hone/target/worker/futex.h"
#include "hone/target/worker/protocol.h"

namespace hone::target::worker {
namespace {

void say(simt::Report& report, const ttir::Stop& stop) {
  std::strncpy(report.text, stop.text.c_str(), sizeof report.text - 1);
  report.finding = stop.finding;
}

class Interpreter {
 public:
  explicit Interpreter(Control& control) : control_(control) {}

  /// False where the text is not what the interpreter can run; the report says why.
  bool read(const char* file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    const std::string text = all.str();
    std::istringstream lines(text);
    std::string head, names;
    std::getline(lines, head);
    std::getline(lines, names);
    if (head != "hone-ttir 1") return refuse("the build is no text of the interpreter's");
    try {
      module_ = ttir::read_module(std::string_view(text).substr(head.size() + names.size() + 2));
    } catch (const ttir::Unreadable& why) {
      return refuse("the interpreter does not read this kernel's TTIR: " + why.text);
    }
    if (const std::string missing = ttir::prepare(module_); !missing.empty()) return refuse("the interpreter has no " + missing);
    std::istringstream each(names);
    for (std::string name; each >> name;) functions_.push_back(module_.find(name));
    for (uint32_t i = 0; i < control_.launches; ++i) {
      const Launch& launch = control_.launch[i];
      const ttir::Function* const function = launch.entry < functions_.size() ? functions_[launch.entry] : nullptr;
      if (!function) return refuse("the build lacks a function of the plan");
      if (function->types.size() > launch.arguments) return refuse(function->name + " takes more arguments than its launch gives");
    }
    return true;
  }

  bool map() {
    for (uint32_t i = 0; i < control_.regions; ++i) {
      const RegionInfo& info = control_.region[i];
      const int fd = kFirstRegionFd + static_cast<int>(i);
      void* memory = mmap(nullptr, static_cast<size_t>(info.bytes), info.writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
      if (memory == MAP_FAILED) return false;
      close(fd);
      regions_.push_back(static_cast<char*>(memory));
    }
    for (uint32_t i = 0; i < control_.workspaces; ++i) {
      void* memory = mmap(nullptr, static_cast<size_t>(control_.workspace[i].bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return false;
      workspaces_.push_back(static_cast<char*>(memory));
    }
    return true;
  }

  /// Says that it waits, then does what each batch is for: the kernel's text is read when that is asked, with the jail closed
  /// behind it.
  [[noreturn]] void serve(const char* file) {
    control_.finished.store(UINT32_MAX, std::memory_order_release);
    futex_wake(control_.finished);
    for (uint32_t batch = 0;;) {
      while (control_.released.load(std::memory_order_acquire) == batch) futex_wait(control_.released, batch);
      batch = control_.released.load(std::memory_order_acquire);
      if (control_.command == Command::kLoad) {
        // The jail that loaders have: an interpreter asks for memory as it goes, and no code of the candidate's runs here.
        const State state = !read(file) ? State::kNoEntries : base::lock_down_but_for_loading() ? State::kReady : State::kNoLock;
        control_.state.store(state, std::memory_order_release);
      } else if (control_.scrub == 0 && control_.idle == 0) {  // it keeps nothing between calls, and nobody times it
        for (uint32_t call = 0; call < control_.calls; ++call) {
          control_.call.store(call, std::memory_order_relaxed);
          run_call(call);
        }
      }
      control_.finished.store(batch, std::memory_order_release);
      futex_wake(control_.finished);
    }
  }

 private:
  bool refuse(const std::string& why) {
    control_.report.block[0] = control_.report.thread[0] = -1;
    say(control_.report, {simt::Finding::kEmulator, why});
    return false;
  }

  void run_call(uint32_t call) {
    std::vector<simt::Buffer> buffers;
    for (uint32_t t = 0; t < control_.tensors; ++t) {
      const PlacementInfo& place = control_.placement[call][t];
      const bool writable = control_.region[place.region].writable != 0;
      buffers.push_back({regions_[static_cast<size_t>(place.region)] + place.offset, control_.tensor_bytes[t],
                         writable ? simt::BufferKind::kOutput : simt::BufferKind::kInput, t});
    }
    for (uint32_t w = 0; w < control_.workspaces; ++w) {
      const WorkspaceInfo& info = control_.workspace[w];
      std::memset(workspaces_[w], info.zero ? 0 : 0xFF, static_cast<size_t>(info.bytes));
      buffers.push_back({workspaces_[w], info.bytes, info.zero ? simt::BufferKind::kZeroed : simt::BufferKind::kWorkspace, control_.tensors + w});
    }
    memory_.begin_call(buffers.data(), static_cast<uint32_t>(buffers.size()));
    for (uint32_t i = 0; i < control_.launches; ++i) {
      const Launch& launch = control_.launch[i];
      const ttir::Function& function = *functions_[launch.entry];
      std::vector<ttir::Argument> arguments;
      // What a card's launch has behind these is for its compiler's own purposes.
      for (size_t a = 0; a < function.types.size(); ++a) {
        const Argument& argument = launch.argument[a];
        arguments.push_back(argument.tensor >= 0 ? memory_.address(static_cast<uint32_t>(argument.tensor)) : static_cast<uint64_t>(argument.value));
      }
      try {
        ttir::run(function, arguments, launch.grid, memory_);
      } catch (const ttir::Found& found) {
        end(i, found);
      }
    }
  }

  [[noreturn]] void end(uint32_t launch, const ttir::Found& found) {
    simt::Report& report = control_.report;
    for (int d = 0; d < 3; ++d) report.block[d] = found.program[d];
    for (int64_t& thread : report.thread) thread = -1;
    report.launch = launch;
    report.line = found.line;
    say(report, found.stop);
    _exit(1);
  }

  Control& control_;
  ttir::Module module_;
  std::vector<const ttir::Function*> functions_;
  std::vector<char*> regions_, workspaces_;
  ttir::Memory memory_;
};

int run(int argc, char** argv) {
  if (argc != 2) return 2;
  void* memory = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, kControlFd, 0);
  if (memory == MAP_FAILED) return 3;
  auto& control = *static_cast<Control*>(memory);
  close(kControlFd);
  Interpreter interpreter(control);
  const bool mapped = interpreter.map();
  control.state.store(mapped ? State::kWaiting : State::kNoMemory, std::memory_order_release);
  if (!mapped) return 4;
  interpreter.serve(argv[1]);
}

}  // namespace
}  // namespace hone::target::worker

int main(int argc, char** argv) { return hone::target::worker::run(argc, argv); }
