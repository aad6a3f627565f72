#include "hone/agent/model/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "hone/base/file.h"

namespace hone::agent {
namespace {

constexpr size_t kLongest = 4096;

Result<Secret> checked(std::string value, const std::string& where) {
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back()))) value.pop_back();
  // A line break in a header would begin another one.
  const auto printable = [](unsigned char c) { return c > 0x20 && c < 0x7F; };
  if (value.empty() || value.size() > kLongest || !std::all_of(value.begin(), value.end(), printable))
    return fail(ErrorCode::kInput, fmt::format("{} holds no key: expected one word of printable characters", where));
  return Secret(std::move(value));
}

}  // namespace

std::string Secret::redact(std::string text) const {
  if (value_.empty()) return text;
  for (size_t at = 0; (at = text.find(value_, at)) != std::string::npos;) text.replace(at, value_.size(), "[key]");
  return text;
}

Result<Secret> secret_from_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (!value || !*value)
    return fail(ErrorCode::kUnavailable, fmt::format("the environment variable {} is not set", name),
                "put the provider's key into it, or name a file with key_file");
  return checked(value, "the environment variable " + name);
}

Result<Secret> secret_from_file(const std::filesystem::path& path) {
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0)
    return fail(ErrorCode::kInput, fmt::format("the key file {} cannot be read: {}", path.string(), std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInput, fmt::format("{} is no file", path.string()));
  if (status.st_uid != ::geteuid() || (status.st_mode & 077U) != 0)
    return fail(ErrorCode::kInput, fmt::format("the key file {} can be read by others", path.string()),
                fmt::format("chmod 600 {}", path.string()));
  std::string text(kLongest + 1, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return checked(text.substr(0, text.find('\n')), path.string());
}

}  // namespace hone::agent
