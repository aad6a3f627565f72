// The fuzzers without libFuzzer: every file of a corpus, then mutants of them for so many seconds.
//
//   hone_fuzz ENTRY CORPUS [--seconds S] [--runs N] [--seed N] [--found FOLDER]     or FILE in place of CORPUS: that input alone
//
// An input that crashes, takes longer than ten seconds or more memory than there is to be is kept in FOLDER (".").
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "fuzz.h"
#include "hone/base/file.h"
#include "hone/base/testing/mutator.h"

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr unsigned kSlowSeconds = 10;
[[maybe_unused]] constexpr rlim_t kMostMemory = rlim_t{3} << 30;  // address space: the program itself, its libraries and 2 GiB

std::string_view running;
char kept_at[4096];

/// Nothing but system calls: the process may be in any state.
void keep_input(int signal) {
  if (const int fd = open(kept_at, O_WRONLY | O_CREAT | O_TRUNC, 0644); fd >= 0) {
    [[maybe_unused]] const ssize_t wrote = write(fd, running.data(), running.size());
    close(fd);
  }
  for (const char* const part : {signal == SIGALRM ? "too slow" : "crashed", ", input kept as ", const_cast<const char*>(kept_at), "\n"})
    [[maybe_unused]] const ssize_t said = write(2, part, std::strlen(part));
  _exit(1);
}

void run(const hone::fuzz::Entry& entry, const std::string& input, const std::string& name) {
  running = input;
  std::snprintf(kept_at, sizeof kept_at, "%s", name.c_str());
  alarm(kSlowSeconds);
  entry.one(input);
  alarm(0);
}

int usage() {
  std::fprintf(stderr, "usage: hone_fuzz ENTRY CORPUS|FILE [--seconds S] [--runs N] [--seed N] [--found FOLDER]\nentries:");
  for (const hone::fuzz::Entry& entry : hone::fuzz::entries()) std::fprintf(stderr, " %s", entry.name);
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return usage();
  const auto& all = hone::fuzz::entries();
  const auto entry = std::find_if(all.begin(), all.end(), [&](const auto& one) { return std::string_view(one.name) == argv[1]; });
  double seconds = 0;
  uint64_t most = UINT64_MAX;
  uint64_t seed = 1;
  std::string found = ".";
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--seconds") seconds = std::atof(argv[i + 1]);
    else if (option == "--runs") most = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--found") found = argv[i + 1];
    else return usage();
  }
  if (entry == all.end()) return usage();
  std::vector<fs::path> files;
  if (fs::is_directory(argv[2])) {
    for (const auto& file : fs::directory_iterator(argv[2])) files.push_back(file.path());
  } else {
    files.emplace_back(argv[2]);
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const fs::path& file : files) {
    auto text = hone::base::read_file(file);
    if (text) texts.push_back(std::move(*text));
  }
  if (texts.empty()) return std::fprintf(stderr, "no input in %s\n", argv[2]), 2;

  const rlimit no_core{0, 0};
#if !defined(__SANITIZE_ADDRESS__)  // which reserves far more than it uses
  const rlimit memory{kMostMemory, kMostMemory};
  setrlimit(RLIMIT_AS, &memory);
#endif
  setrlimit(RLIMIT_CORE, &no_core);
  // A stack of its own, so that a recursion without end is kept too.
  std::vector<char> stack(size_t{64} << 10);
  const stack_t alternative{stack.data(), 0, stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = keep_input;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) sigaction(signal, &action, nullptr);

  const auto start = Clock::now();
  uint64_t runs = 0;
  for (const std::string& text : texts) run(*entry, text, found + "/found-" + entry->name + "-corpus"), ++runs;
  hone::base::testing::Mutator mutator(std::move(texts), hone::base::testing::common_words());
  for (uint64_t number = seed << 32; std::chrono::duration<double>(Clock::now() - start).count() < seconds && number - (seed << 32) < most; ++number, ++runs)
    if (const std::string mutant = mutator.mutant(number); mutant.size() <= hone::fuzz::kMostBytes)
      run(*entry, mutant, found + "/found-" + entry->name + "-" + std::to_string(number));
  std::printf("%s: %llu executions, %zu from the corpus\n", entry->name, static_cast<unsigned long long>(runs), files.size());
  return 0;
}
