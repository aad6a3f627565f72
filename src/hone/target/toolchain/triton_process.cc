#include "hone/target/toolchain/triton_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/clock.h"
#include "hone/base/embedded.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPrograms[] = {"triton_build.py", "triton_check.py"};
constexpr const char* kHowToInstallTriton = "make triton installs it, or name a Python that has it in HONE_TRITON_PYTHON";
constexpr int64_t kMostAnswer = int64_t{64} << 20;

std::string program_text(const char* name) {
  const auto text = base::find_embedded(std::string("python/") + name);
  HONE_CHECK(text.has_value(), name);
  return std::string(*text);
}

/// They lie side by side in the cache, under their hash.
Result<fs::path> programs_folder() {
  const fs::path folder = base::cache_directory() / "triton" / triton_programs_hash();
  HONE_TRY_VOID(base::make_directories(folder));
  for (const char* name : kPrograms)
    if (!fs::exists(folder / name)) HONE_TRY_VOID(base::write_file_once(folder / name, program_text(name)));
  return folder;
}

/// What `python` says of itself and of Triton, without loading Triton.
std::optional<TritonInstall> triton_of(const fs::path& python) {
  base::SpawnOptions spawn;
  spawn.argv = {python.string(), "-I", "-c",
                "import sys, importlib.metadata as m, importlib.util as u\n"
                "print(m.version('triton'))\nprint(sys.prefix)\nprint(sys.base_prefix)\nprint(list(u.find_spec('triton').submodule_search_locations)[0])"};
  spawn.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C"}};
  const auto exit = base::run(spawn, std::chrono::seconds(20));
  if (!exit || !exit->ok()) return std::nullopt;
  std::istringstream lines(exit->out);
  std::string prefix, base_prefix, package;
  TritonInstall install;
  install.python = python;
  if (!std::getline(lines, install.version) || !std::getline(lines, prefix) || !std::getline(lines, base_prefix) || !std::getline(lines, package))
    return std::nullopt;
  std::error_code ignored;
  install.readable = {prefix, base_prefix, fs::path(package).parent_path()};
  install.readable.push_back(fs::canonical(python, ignored).parent_path().parent_path());
  std::erase_if(install.readable, [&](const fs::path& p) { return p == "/usr" || p == "/" || !fs::exists(p, ignored); });
  const fs::path ptxas = fs::path(package) / "backends/nvidia/bin/ptxas";
  if (fs::exists(ptxas, ignored)) install.ptxas = ptxas;
  return install;
}

Result<TritonInstall> look_for_triton() {
  const char* const chosen = std::getenv("HONE_TRITON_PYTHON");
  const std::string asked = chosen ? chosen : "";
  std::vector<fs::path> pythons;
  if (!asked.empty()) {
    pythons.emplace_back(asked);
  } else {
    pythons = {base::data_directory() / "triton/bin/python", fs::absolute(".venv-triton/bin/python")};
  }
  std::error_code ignored;
  for (const fs::path& python : pythons)
    if (asked != "none" && fs::exists(python, ignored))
      if (auto found = triton_of(python)) return *std::move(found);
  return fail(ErrorCode::kUnavailable, asked.empty() || asked == "none" ? "Triton kernels need Triton, and there is none" : fmt::format("{} has no Triton", asked), kHowToInstallTriton);
}

/// One warm process.
class TritonCompiler {
 public:
  static Result<std::unique_ptr<TritonCompiler>> start() {
    const auto& install = find_triton();
    if (!install) return tl::unexpected(install.error());
    HONE_TRY(const fs::path programs, programs_folder());
    HONE_TRY(base::ScratchDirectory scratch, base::ScratchDirectory::create("triton"));
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail(ErrorCode::kExhausted, "no descriptors left for a socket");
    base::Fd ours(ends[0]), theirs(ends[1]);
    base::SpawnOptions spawn;
    spawn.argv = {install->python.string(), "-s", "-B", (programs / "triton_build.py").string()};
    spawn.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}, {"TMPDIR", scratch.path().string()}, {"HOME", scratch.path().string()}};
    spawn.directory = scratch.path();
    spawn.capture_output = false;
    spawn.descriptors = {{3, theirs.get()}};
    base::Jail jail;
    jail.readable = install->readable;
    jail.readable.push_back(programs);
    jail.writable = {scratch.path()};
    jail.memory_bytes = int64_t{8} << 30;
    spawn.jail = jail;
    HONE_TRY(base::Child child, base::Child::spawn(spawn));
    auto compiler = std::unique_ptr<TritonCompiler>(new TritonCompiler(std::move(scratch), std::move(child), std::move(ours)));
    theirs = base::Fd();
    HONE_TRY(const std::string version, compiler->answer(std::chrono::seconds(60)));
    if (version != install->version)
      return fail(ErrorCode::kUnavailable, fmt::format("Triton does not load in the jail ({} said \"{}\")", install->python.string(), version.substr(0, 80)), kHowToInstallTriton);
    return compiler;
  }

  Result<std::string> ask(const std::string& request, std::chrono::seconds deadline) {
    const std::string message = fmt::format("{}\n{}", request.size(), request);
    // It reads the whole request before it works.
    for (size_t at = 0; at < message.size();) {
      const ssize_t wrote = send(socket_.get(), message.data() + at, message.size() - at, MSG_NOSIGNAL);
      if (wrote <= 0) return fail(ErrorCode::kUnavailable, "Triton's process ended");
      at += static_cast<size_t>(wrote);
    }
    return answer(deadline);
  }

 private:
  TritonCompiler(base::ScratchDirectory scratch, base::Child child, base::Fd socket)
      : scratch_(std::move(scratch)), child_(std::move(child)), socket_(std::move(socket)) {}

  Result<std::string> answer(std::chrono::seconds deadline) {
    const int64_t end = base::system_clock().now_ns() + std::chrono::nanoseconds(deadline).count();
    std::string text;
    int64_t length = -1;
    size_t begin = 0;
    while (length < 0 || text.size() < begin + static_cast<size_t>(length)) {
      pollfd ready{socket_.get(), POLLIN, 0};
      const int64_t left = (end - base::system_clock().now_ns()) / 1'000'000;
      if (left <= 0 || poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 1000))) < 0) return fail(ErrorCode::kExhausted, fmt::format("the compiler was stopped after {} s", deadline.count()));
      if (ready.revents == 0) continue;
      char buffer[1 << 16];
      const ssize_t got = read(socket_.get(), buffer, sizeof buffer);
      if (got <= 0) return fail(ErrorCode::kUnavailable, "Triton's process ended");
      text.append(buffer, static_cast<size_t>(got));
      if (length >= 0) continue;
      const size_t line = text.find('\n');
      if (line == std::string::npos && text.size() < 20) continue;
      length = std::strtoll(text.c_str(), nullptr, 10);
      begin = line + 1;
      if (line == std::string::npos || length < 0 || length > kMostAnswer) return fail(ErrorCode::kUnavailable, "Triton's process talks nonsense");
    }
    return text.substr(begin, static_cast<size_t>(length));
  }

  base::ScratchDirectory scratch_;
  base::Child child_;
  base::Fd socket_;
};

}  // namespace

const Result<TritonInstall>& find_triton() {
  static const Result<TritonInstall> found = look_for_triton();
  return found;
}

std::string triton_programs_hash() {
  base::Hasher hasher;
  for (const char* name : kPrograms) hasher.add(program_text(name));
  return base::short_hash(hasher.finish());
}

Result<json> ask_triton(const json& request, std::chrono::seconds deadline) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<TritonCompiler>> idle;
  const auto take = [] {
    const std::scoped_lock lock(mutex);
    std::unique_ptr<TritonCompiler> one;
    if (!idle.empty()) one = std::move(idle.back()), idle.pop_back();
    return one;
  };
  std::unique_ptr<TritonCompiler> compiler = take();
  const std::string text = request.dump(-1, ' ', false, json::error_handler_t::replace);
  auto answer = compiler ? compiler->ask(text, deadline) : tl::unexpected(Error{ErrorCode::kUnavailable, {}, {}, {}});
  // One that ended while it waited says nothing of this kernel.
  if (!answer && answer.error().code == ErrorCode::kUnavailable) {
    HONE_TRY(compiler, TritonCompiler::start());
    answer = compiler->ask(text, deadline);
  }
  if (!answer) return tl::unexpected(answer.error());
  json read = json::parse(*answer, nullptr, false);
  if (!read.is_object()) return fail(ErrorCode::kUnavailable, "Triton's process answered no JSON");
  const std::scoped_lock lock(mutex);
  idle.push_back(std::move(compiler));
  return read;
}

}  // namespace hone::target
