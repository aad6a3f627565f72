#include "hone/target/toolchain/python_compiler.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"
#include "hone/base/process/process.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSharedProgram = "compile_server.py";
constexpr int64_t kMostAnswer = int64_t{64} << 20;

std::string how_to_install(const PythonRow& row) { return fmt::format("make {} installs it, or name a Python that has it in {}", row.module, row.variable); }

std::vector<const char*> programs_of(const PythonRow& row) {
  std::vector<const char*> all = {kSharedProgram};
  for (const char* name : row.programs)
    all.push_back(name);
  return all;
}

std::string program_text(const char* name) {
  const auto text = base::find_embedded(std::string("python/") + name);
  HONE_CHECK(text.has_value(), name);
  return std::string(*text);
}

/// They lie side by side in the cache, under their hash.
Result<fs::path> programs_folder(const PythonRow& row) {
  const fs::path folder = base::cache_directory() / row.module / python_programs_hash(row);
  HONE_TRY_VOID(base::make_directories(folder));
  for (const char* name : programs_of(row))
    if (!fs::exists(folder / name)) HONE_TRY_VOID(base::write_file_once(folder / name, program_text(name)));
  return folder;
}

/// What `python` says of itself and of the module, without loading it.
std::optional<PythonInstall> install_of(const PythonRow& row, const fs::path& python) {
  base::SpawnOptions spawn;
  spawn.argv = {python.string(), "-I", "-c",
                fmt::format("import sys, importlib.metadata as m, importlib.util as u\n"
                            "print(m.version('{0}'))\nprint(sys.prefix)\nprint(sys.base_prefix)\nprint(list(u.find_spec('{0}').submodule_search_locations)[0])", row.module)};
  spawn.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C"}};
  const auto exit = base::run(spawn, std::chrono::seconds(20));
  if (!exit || !exit->ok()) return std::nullopt;
  std::istringstream lines(exit->out);
  std::string prefix, base_prefix, package;
  PythonInstall install;
  install.python = python;
  if (!std::getline(lines, install.version) || !std::getline(lines, prefix) || !std::getline(lines, base_prefix) || !std::getline(lines, package))
    return std::nullopt;
  install.package = package;
  std::error_code ignored;
  install.readable = {prefix, base_prefix, install.package.parent_path()};
  install.readable.push_back(fs::canonical(python, ignored).parent_path().parent_path());
  std::erase_if(install.readable, [&](const fs::path& p) { return p == "/usr" || p == "/" || !fs::exists(p, ignored); });
  return install;
}

Result<PythonInstall> look_for(const PythonRow& row) {
  const char* const chosen = std::getenv(row.variable);
  const std::string asked = chosen ? chosen : "";
  std::vector<fs::path> pythons;
  if (!asked.empty()) {
    pythons.emplace_back(asked);
  } else {
    pythons = {base::data_directory() / row.module / "bin/python", fs::absolute(fmt::format(".venv-{}/bin/python", row.module))};
  }
  std::error_code ignored;
  for (const fs::path& python : pythons)
    if (asked != "none" && fs::exists(python, ignored))
      if (auto found = install_of(row, python)) return *std::move(found);
  return fail(ErrorCode::kUnavailable, asked.empty() || asked == "none" ? fmt::format("{0} kernels need {0}, and there is none", row.title) : fmt::format("{} has no {}", asked, row.title),
              how_to_install(row));
}

/// One warm process.
class PythonCompiler {
 public:
  static Result<std::unique_ptr<PythonCompiler>> start(const PythonRow& row) {
    const auto& install = find_python(row);
    if (!install) return tl::unexpected(install.error());
    HONE_TRY(const fs::path programs, programs_folder(row));
    HONE_TRY(base::ScratchDirectory scratch, base::ScratchDirectory::create(row.module));
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return fail(ErrorCode::kExhausted, "no descriptors left for a socket");
    base::Fd ours(ends[0]), theirs(ends[1]);
    base::SpawnOptions spawn;
    spawn.argv = {install->python.string(), "-s", "-B", (programs / row.programs[0]).string()};
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
    auto compiler = std::unique_ptr<PythonCompiler>(new PythonCompiler(row.title, std::move(scratch), std::move(child), std::move(ours)));
    theirs = base::Fd();
    HONE_TRY(const std::string version, compiler->answer(std::chrono::seconds(60)));
    if (version != install->version)
      return fail(ErrorCode::kUnavailable, fmt::format("{} does not load in the jail ({} said \"{}\")", row.title, install->python.string(), version.substr(0, 80)), how_to_install(row));
    return compiler;
  }

  Result<std::string> ask(const std::string& request, std::chrono::seconds deadline) {
    const std::string message = fmt::format("{}\n{}", request.size(), request);
    // It reads the whole request before it works.
    for (size_t at = 0; at < message.size();) {
      const ssize_t wrote = send(socket_.get(), message.data() + at, message.size() - at, MSG_NOSIGNAL);
      if (wrote <= 0) return fail(ErrorCode::kUnavailable, fmt::format("{}'s process ended", title_));
      at += static_cast<size_t>(wrote);
    }
    return answer(deadline);
  }

 private:
  PythonCompiler(const char* title, base::ScratchDirectory scratch, base::Child child, base::Fd socket)
      : title_(title), scratch_(std::move(scratch)), child_(std::move(child)), socket_(std::move(socket)) {}

  Result<std::string> answer(std::chrono::seconds deadline) {
    base::Lateness lateness(child_, deadline);
    std::string text;
    int64_t length = -1;
    size_t begin = 0;
    while (length < 0 || text.size() < begin + static_cast<size_t>(length)) {
      pollfd ready{socket_.get(), POLLIN, 0};
      const int64_t left = lateness.left();
      if (left == 0 || poll(&ready, 1, static_cast<int>(std::min<int64_t>(left / 1'000'000 + 1, 250))) < 0) return fail(ErrorCode::kExhausted, fmt::format("the compiler was stopped after {} s", deadline.count()));
      if (ready.revents == 0) continue;
      char buffer[1 << 16];
      const ssize_t got = read(socket_.get(), buffer, sizeof buffer);
      if (got <= 0) return fail(ErrorCode::kUnavailable, fmt::format("{}'s process ended", title_));
      text.append(buffer, static_cast<size_t>(got));
      if (length >= 0) continue;
      const size_t line = text.find('\n');
      if (line == std::string::npos && text.size() < 20) continue;
      length = std::strtoll(text.c_str(), nullptr, 10);
      begin = line + 1;
      if (line == std::string::npos || length < 0 || length > kMostAnswer) return fail(ErrorCode::kUnavailable, fmt::format("{}'s process talks nonsense", title_));
    }
    return text.substr(begin, static_cast<size_t>(length));
  }

  const char* title_;
  base::ScratchDirectory scratch_;
  base::Child child_;
  base::Fd socket_;
};

}  // namespace

const PythonRow kTritonRow{"Triton", "triton", "HONE_TRITON_PYTHON", {"triton_build.py", "triton_check.py"}};
const PythonRow kTileLangRow{"TileLang", "tilelang", "HONE_TILELANG_PYTHON", {"tilelang_build.py", "tilelang_plain.py"}};

const Result<PythonInstall>& find_python(const PythonRow& row) {
  static std::mutex mutex;
  static std::map<std::string_view, Result<PythonInstall>> found;
  const std::scoped_lock lock(mutex);
  const auto it = found.find(row.module);
  return it != found.end() ? it->second : found.emplace(row.module, look_for(row)).first->second;
}

Result<std::string> python_compiler(const PythonRow& row) {
  const auto& install = find_python(row);
  if (!install) return tl::unexpected(install.error());
  return fmt::format("{} {} ({})", row.title, install->version, install->python.string());
}

std::string python_programs_hash(const PythonRow& row) {
  base::Hasher hasher;
  for (const char* name : programs_of(row)) hasher.add(program_text(name));
  return base::short_hash(hasher.finish());
}

Result<json> ask_python(const PythonRow& row, const json& request, std::chrono::seconds deadline) {
  static std::mutex mutex;
  static std::map<std::string_view, std::vector<std::unique_ptr<PythonCompiler>>> all_idle;
  const auto take = [&] {
    const std::scoped_lock lock(mutex);
    auto& idle = all_idle[row.module];
    std::unique_ptr<PythonCompiler> one;
    if (!idle.empty()) one = std::move(idle.back()), idle.pop_back();
    return one;
  };
  std::unique_ptr<PythonCompiler> compiler = take();
  const std::string text = request.dump(-1, ' ', false, json::error_handler_t::replace);
  auto answer = compiler ? compiler->ask(text, deadline) : tl::unexpected(Error{ErrorCode::kUnavailable, {}, {}, {}});
  // One that ended while it waited says nothing of this kernel.
  if (!answer && answer.error().code == ErrorCode::kUnavailable) {
    HONE_TRY(compiler, PythonCompiler::start(row));
    answer = compiler->ask(text, deadline);
    if (!answer && answer.error().code == ErrorCode::kUnavailable) answer.error().code = ErrorCode::kInput;
  }
  if (!answer) return tl::unexpected(answer.error());
  json read = json::parse(*answer, nullptr, false);
  if (!read.is_object()) return fail(ErrorCode::kInput, fmt::format("{}'s process answered no JSON", row.title));
  const std::scoped_lock lock(mutex);
  all_idle[row.module].push_back(std::move(compiler));
  return read;
}

std::string spoken(const json& from, const char* key) { return from.is_object() && from.value(key, json()).is_string() ? from[key].get<std::string>() : std::string(); }

int64_t counted(const json& from, const char* key) { return from.is_object() && from.value(key, json()).is_number_integer() ? from[key].get<int64_t>() : 0; }

std::string error_of(const json& answer) {
  std::string words = spoken(answer, "error").substr(0, 1000);
  if (words.empty()) return {};
  std::replace_if(words.begin(), words.end(), [](unsigned char c) { return c < 32; }, ' ');
  const int64_t line = counted(answer, "line");
  return line > 0 ? fmt::format("kernel.py:{}:{}: error: {}", line, counted(answer, "column"), words) : "error: " + words;
}

}  // namespace hone::target
