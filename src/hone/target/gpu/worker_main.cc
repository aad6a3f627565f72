// The process that holds a candidate on a card: imports the grader's buffers (inputs mapped read-only), loads the
// module, queues the plan's launches on a stream of its own and times each call with events; hot calls are one graph,
// timed as a whole. No host code of a candidate runs here. A fault on the device ends this process and its context, never the grader's.
//
//   hone-gpu DRIVER                        (descriptors as in protocol.h)
//   hone-gpu DRIVER launch ANSWER JOB...   each job's plan, on memory of its own; a line a job to ANSWER: "done", nanoseconds
//                                          (0: not timed) and what the module counted, or why not
//
// DRIVER is a row of the drivers' table (driver.h). The second form is what Nsight Compute and compute-sanitizer watch, and
// what times kernels with a stage left out.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "hone/target/gpu/runner.h"

namespace hone::target::worker {
namespace {

/// A command and the descriptors that came with it; false when hone has gone.
bool receive(GpuCommand& command, std::vector<int>& descriptors) {
  descriptors.clear();
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * (kMaxRegions + 1))];
  iovec part{&command, sizeof command};
  msghdr message{};
  message.msg_iov = &part, message.msg_iovlen = 1;
  message.msg_control = space, message.msg_controllen = sizeof space;
  if (recvmsg(kGpuSocketFd, &message, MSG_CMSG_CLOEXEC) != sizeof command) return false;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_type != SCM_RIGHTS) continue;
    descriptors.resize((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(descriptors.data(), CMSG_DATA(head), descriptors.size() * sizeof(int));
  }
  return true;
}

int serve(const DriverRow& row) {
  if (dup2(kGpuWordsFd, STDOUT_FILENO) < 0 || dup2(kGpuWordsFd, STDERR_FILENO) < 0) return 1;
  void* memory = mmap(nullptr, sizeof(GpuControl), PROT_READ | PROT_WRITE, MAP_SHARED, kGpuControlFd, 0);
  if (memory == MAP_FAILED) return 1;
  auto& control = *static_cast<GpuControl*>(memory);
  GpuRunner runner(row, control);
  const auto answer = [&] {
    const GpuState state = control.state;
    return send(kGpuSocketFd, &state, sizeof state, MSG_NOSIGNAL) == sizeof state &&
           (state == GpuState::kDone || state == GpuState::kRefused);
  };
  control.state = GpuState::kDone;
  if (!runner.start()) return answer(), 1;
  if (!answer()) return 1;
  GpuCommand command;
  for (std::vector<int> descriptors; receive(command, descriptors);) {
    control.why[0] = 0;
    switch (command) {
      case GpuCommand::kLoad: runner.load_candidate(descriptors); break;
      case GpuCommand::kRun: runner.run(); break;
      case GpuCommand::kUnload: runner.unload(); break;
    }
    if (!answer()) return 1;
  }
  return 0;
}

/// A fault leaves the context useless: the jobs behind it are not run, and say so.
int launch(const DriverRow& row, const char* answer, int jobs, char** files) {
  std::FILE* const out = std::fopen(answer, "w");
  if (!out) return 1;
  auto job = std::make_unique<GpuJob>();
  GpuRunner runner(row, job->control);
  Contents contents;
  bool started = false;
  int status = 0;
  for (int i = 0; i < jobs; ++i) {
    const int fd = open(files[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || pread(fd, job.get(), sizeof(GpuJob), 0) != sizeof(GpuJob)) {
      std::fprintf(out, "the job %s cannot be read\n", files[i]);
      return std::fclose(out), 1;
    }
    contents.keep(runner.driver(), *job);
    (void)alarm(job->seconds);
    const bool done = (started || runner.start()) && runner.launch_alone(*job, fd, contents);
    started = true;
    close(fd);
    std::fprintf(out, "%s", done ? "done" : job->control.why);
    if (done) {
      std::fprintf(out, " %lld", static_cast<long long>(job->control.device_ns));
      if (job->counts)
        for (const uint64_t count : runner.counts()) std::fprintf(out, " %llu", static_cast<unsigned long long>(count));
    }
    std::fprintf(out, "\n");
    std::fflush(out);
    // What a checker watches is to end as it began.
    const GpuState state = job->control.state;
    if (!done) status = 1;
    if (state != GpuState::kDone && state != GpuState::kRefused) break;
    runner.unload();
  }
  std::fclose(out);
  return status;
}

}  // namespace
}  // namespace hone::target::worker

int main(int argc, char** argv) {
  namespace target = hone::target;
  const auto* const row = argc > 1 ? target::gpu::find_driver(argv[1]) : nullptr;
  if (!row) return std::fprintf(stderr, "hone-gpu knows no such driver\n"), 1;
  if (argc > 4 && std::strcmp(argv[2], "launch") == 0) return target::worker::launch(*row, argv[3], argc - 4, argv + 4);
  return target::worker::serve(*row);
}
