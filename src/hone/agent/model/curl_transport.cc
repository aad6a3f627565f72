#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

#include <algorithm>
#include <cctype>

#include "hone/agent/model/transport.h"

namespace hone::agent {
namespace {

constexpr size_t kMaxHeaderBytes = size_t{64} << 10;

/// The functions of libcurl, found when the first request is made: hone starts sooner without it and the forty libraries
/// that it brings, and runs where it is not installed.
struct Curl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  bool there = false;
};

/// Never unloaded: it may have threads of its own.
const Curl& libcurl() {
  static const Curl curl = [] {
    Curl c;
    void* library = nullptr;
    for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return c;
    c.there = true;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      c.there &= function != nullptr;
    };
    find(c.global_init, "curl_global_init");
    find(c.easy_init, "curl_easy_init");
    find(c.easy_cleanup, "curl_easy_cleanup");
    find(c.easy_setopt, "curl_easy_setopt");
    find(c.easy_getinfo, "curl_easy_getinfo");
    find(c.easy_perform, "curl_easy_perform");
    find(c.easy_strerror, "curl_easy_strerror");
    find(c.slist_append, "curl_slist_append");
    find(c.slist_free_all, "curl_slist_free_all");
    if (c.there) c.there = c.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    return c;
  }();
  return curl;
}

struct Transfer {
  HttpHead head;
  size_t header_bytes = 0;
  const std::function<bool(const HttpHead&, std::string_view)>* take = nullptr;
  const std::function<bool()>* cancelled = nullptr;
  bool stopped = false, was_cancelled = false;
};

size_t on_header(char* data, size_t size, size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string_view line(data, size * count);
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > kMaxHeaderBytes) return 0;
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  // A new status line begins a new head: "100 Continue" comes before the answer's own.
  if (line.starts_with("HTTP/")) transfer.head.headers.clear();
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  transfer.head.headers[std::move(name)] = std::string(value);
  return size * count;
}

struct Handle {
  CURL* curl = libcurl().easy_init();
  curl_slist* headers = nullptr;
  Transfer transfer;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    libcurl().slist_free_all(headers);
    libcurl().easy_cleanup(curl);
  }
};

size_t on_body(char* data, size_t size, size_t count, void* user) {
  auto& handle = *static_cast<Handle*>(user);
  Transfer& transfer = handle.transfer;
  long status = 0;
  libcurl().easy_getinfo(handle.curl, CURLINFO_RESPONSE_CODE, &status);
  transfer.head.status = static_cast<int>(status);
  if ((*transfer.take)(transfer.head, {data, size * count})) return size * count;
  transfer.stopped = true;
  return 0;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = static_cast<Handle*>(user)->transfer;
  if (*transfer.cancelled && (*transfer.cancelled)()) transfer.was_cancelled = true;
  return transfer.was_cancelled ? 1 : 0;
}

HttpEnd::How how_of(CURLcode code, const Transfer& transfer) {
  if (transfer.was_cancelled) return HttpEnd::How::kCancelled;
  if (transfer.stopped) return HttpEnd::How::kStopped;
  switch (code) {
    case CURLE_OK: return HttpEnd::How::kComplete;
    case CURLE_OPERATION_TIMEDOUT: return HttpEnd::How::kTimedOut;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return HttpEnd::How::kUnreachable;
    default: return HttpEnd::How::kBroken;
  }
}

class CurlTransport final : public HttpTransport {
 public:
  HttpEnd post(const HttpRequest& request, const std::function<bool(const HttpHead&, std::string_view)>& take,
               const std::function<bool()>& cancelled) override {
    const Curl& lib = libcurl();
    if (!lib.there) return {HttpEnd::How::kUnreachable, {}, "libcurl is not on this machine (Debian: apt-get install libcurl4)"};
    Handle handle;
    if (!handle.curl) return {HttpEnd::How::kUnreachable, {}, "libcurl could not be set up"};
    handle.transfer.take = &take;
    handle.transfer.cancelled = &cancelled;
    for (const auto& [name, value] : request.headers)
      handle.headers = lib.slist_append(handle.headers, (name + ": " + value).c_str());
    handle.headers = lib.slist_append(handle.headers, "Expect:");  // no waiting for "100 Continue"
    char problem[CURL_ERROR_SIZE] = "";
    CURL* curl = handle.curl;
    lib.easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    lib.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    lib.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    lib.easy_setopt(curl, CURLOPT_HTTPHEADER, handle.headers);
    lib.easy_setopt(curl, CURLOPT_POST, 1L);
    lib.easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    lib.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    lib.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    lib.easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
    lib.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect.count()));
    lib.easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    lib.easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>((request.idle.count() + 999) / 1000)));
    lib.easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.total.count()));
    lib.easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    lib.easy_setopt(curl, CURLOPT_HEADERDATA, &handle.transfer);
    lib.easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    lib.easy_setopt(curl, CURLOPT_WRITEDATA, &handle);
    lib.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    lib.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    lib.easy_setopt(curl, CURLOPT_XFERINFODATA, &handle);
    const CURLcode code = lib.easy_perform(curl);
    long status = 0;
    lib.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    handle.transfer.head.status = static_cast<int>(status);
    HttpEnd end;
    end.how = how_of(code, handle.transfer);
    end.head = std::move(handle.transfer.head);
    if (code != CURLE_OK) end.problem = problem[0] ? problem : lib.easy_strerror(code);
    return end;
  }
};

}  // namespace

std::unique_ptr<HttpTransport> curl_transport() { return std::make_unique<CurlTransport>(); }

}  // namespace hone::agent
