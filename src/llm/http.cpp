// libcurl's multi interface, so that Ctrl-C ends a wait at once. libcurl's documentation: CURLOPT_*
// and curl_url_get pages of 7.88.
#include "llm/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdio>

#include "base/system/broken_pipe.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/text.h"
#include "llm/curl_library.h"

namespace perflab::llm {

struct Http::State {
  CurlApi curl;
};

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostHeaderBytes = std::size_t{64} << 10;

/// What arrives, as far as it is wanted.
struct Incoming {
  std::size_t most_bytes = 0, header_bytes = 0;
  std::string body;
  bool too_large = false;
};

std::size_t take_body(char* bytes, std::size_t /*one*/, std::size_t count, void* user) {
  auto& incoming = *static_cast<Incoming*>(user);
  if (count > incoming.most_bytes - incoming.body.size()) {
    incoming.too_large = true;
    return CURL_WRITEFUNC_ERROR;
  }
  incoming.body.append(bytes, count);
  return count;
}

std::size_t count_header(char* /*bytes*/, std::size_t /*one*/, std::size_t count, void* user) {
  auto& incoming = *static_cast<Incoming*>(user);
  incoming.header_bytes += count;
  if (incoming.header_bytes <= kMostHeaderBytes) return count;
  incoming.too_large = true;
  return 0;
}

/// One transfer of libcurl with everything that has to be given back.
class Transfer {
 public:
  explicit Transfer(const CurlApi& curl)
      : curl_(curl), easy_(curl.easy_init()), multi_(curl.multi_init()) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (added_) curl_.multi_remove_handle(multi_, easy_);
    if (easy_ != nullptr) curl_.easy_cleanup(easy_);
    if (multi_ != nullptr) curl_.multi_cleanup(multi_);
    curl_.slist_free_all(headers_);
  }

  Result<HttpAnswer> run(const HttpRequest& request) {
    if (easy_ == nullptr || multi_ == nullptr)
      return fail(ErrorCode::internal, "not enough memory for a request", "give it more memory");
    PERFLAB_TRY_VOID(configure(request));
    if (curl_.multi_add_handle(multi_, easy_) != CURLM_OK)
      return fail(ErrorCode::internal, "libcurl does not take the request");
    added_ = true;
    return perform();
  }

 private:
  // easy_setopt reads its last argument by the option's kind. Options of curl_off_t take a long as
  // well: they are the same here.
  static_assert(sizeof(long) == sizeof(curl_off_t));
  void set(CURLoption option, long value) { note(curl_.easy_setopt(easy_, option, value)); }
  void set(CURLoption option, const char* text) { note(curl_.easy_setopt(easy_, option, text)); }
  void set_object(CURLoption option, void* object) {
    note(curl_.easy_setopt(easy_, option, object));
  }
  void set_function(CURLoption option, curl_write_callback function) {
    note(curl_.easy_setopt(easy_, option, function));
  }
  void note(CURLcode code) {
    if (option_error_ == CURLE_OK) option_error_ = code;
  }

  void add_header(const std::string& line) {
    curl_slist* const longer = curl_.slist_append(headers_, line.c_str());
    if (longer == nullptr) return note(CURLE_OUT_OF_MEMORY);
    headers_ = longer;
  }

  Result<void> configure(const HttpRequest& request) {
    incoming_.most_bytes = request.most_bytes;
    const auto bounded = [](milliseconds time) {
      return static_cast<long>(std::clamp<long long>(time.count(), 1, INT_MAX));
    };
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NOSIGNAL, 1L);  // several threads
    set(CURLOPT_CONNECTTIMEOUT_MS, bounded(request.connect_limit));
    set(CURLOPT_TIMEOUT_MS, bounded(request.limit));
    set(CURLOPT_USERAGENT, "rocm-perf");
    if (request.direct) set(CURLOPT_NOPROXY, "*");
    for (const auto& [name, value] : request.headers) add_header(name + ": " + value);
    add_header("Expect:");  // a pause of a second before bodies of 1 MiB and more
    set_object(CURLOPT_HTTPHEADER, headers_);
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<long>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.c_str());
    set_function(CURLOPT_WRITEFUNCTION, take_body);
    set_object(CURLOPT_WRITEDATA, &incoming_);
    set_function(CURLOPT_HEADERFUNCTION, count_header);
    set_object(CURLOPT_HEADERDATA, &incoming_);
    // Not known to every version: ending must not wait for a name server that does not answer.
    (void)curl_.easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
    if (option_error_ == CURLE_OK) return {};
    return fail(ErrorCode::internal,
                fmt::format("libcurl refuses a setting: {}", curl_.easy_strerror(option_error_)));
  }

  Result<HttpAnswer> perform() {
    constexpr int kLongestWait = 200;  // milliseconds: without an InterruptScope nothing wakes us
    const BrokenPipeGuard guard;
    for (int running = 1; running > 0;) {
      if (interrupted()) return HttpAnswer{.end = HttpEnd::interrupted};
      if (curl_.multi_perform(multi_, &running) != CURLM_OK)
        return fail(ErrorCode::internal, "libcurl does not go on");
      if (running == 0) break;
      curl_waitfd wake{.fd = interrupt_descriptor(), .events = CURL_WAIT_POLLIN, .revents = 0};
      const unsigned extra = wake.fd >= 0 ? 1 : 0;
      if (curl_.multi_poll(multi_, &wake, extra, kLongestWait, nullptr) != CURLM_OK)
        return fail(ErrorCode::internal, "libcurl does not wait");
    }
    int left = 0;
    const CURLMsg* const message = curl_.multi_info_read(multi_, &left);
    if (message == nullptr || message->msg != CURLMSG_DONE)
      return fail(ErrorCode::internal, "libcurl does not say how the request ended");
    return conclude(message->data.result);
  }

  HttpAnswer conclude(CURLcode code) {
    HttpAnswer answer;
    answer.body = std::move(incoming_.body);
    if (code == CURLE_OK) {
      long status = 0;
      curl_off_t wait = 0;
      curl_.easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
      curl_.easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &wait);
      answer.end = HttpEnd::answered;
      answer.status = static_cast<int>(status);
      if (wait > 0) answer.retry_after = std::chrono::seconds(wait);
      return answer;
    }
    answer.detail = curl_.easy_strerror(code);
    if (!answer.detail.empty()) answer.detail[0] = lower(answer.detail[0]);
    answer.end = end_of(code, answer.detail);
    return answer;
  }

  HttpEnd end_of(CURLcode code, std::string& detail) const {
    curl_off_t connected_after = 0;
    long error_number = 0;
    curl_.easy_getinfo(easy_, CURLINFO_CONNECT_TIME_T, &connected_after);
    curl_.easy_getinfo(easy_, CURLINFO_OS_ERRNO, &error_number);
    switch (code) {
      case CURLE_COULDNT_CONNECT:
        if (error_number != 0) detail = errno_text(static_cast<int>(error_number));
        return HttpEnd::unreachable;
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_RESOLVE_PROXY:
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
      case CURLE_PROXY:
        return HttpEnd::unreachable;
      case CURLE_OPERATION_TIMEDOUT:
        if (connected_after > 0) return HttpEnd::timed_out;
        detail = "no connection within the time limit";
        return HttpEnd::unreachable;
      default:
        return incoming_.too_large ? HttpEnd::too_large : HttpEnd::broken;
    }
  }

  const CurlApi& curl_;
  CURL* easy_;
  CURLM* multi_;
  curl_slist* headers_ = nullptr;
  Incoming incoming_;
  CURLcode option_error_ = CURLE_OK;
  bool added_ = false;
};

/// A URL taken apart by libcurl.
class Url {
 public:
  explicit Url(const CurlApi& curl) : curl_(curl), url_(curl.url()) {}
  Url(const Url&) = delete;
  Url& operator=(const Url&) = delete;
  ~Url() { curl_.url_cleanup(url_); }

  bool read(const std::string& text) {
    return curl_.url_set(url_, CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  }
  [[nodiscard]] std::string part(CURLUPart which) const {
    char* text = nullptr;
    if (curl_.url_get(url_, which, &text, 0) != CURLUE_OK || text == nullptr) return {};
    std::string copy = text;
    curl_.free(text);
    return copy;
  }

 private:
  const CurlApi& curl_;
  CURLU* url_;
};

/// The machine itself: its traffic leaves it on no wire.
bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  int a = 0, b = 0, c = 0, d = 0, end = 0;
  const std::string text(host);
  return std::sscanf(text.c_str(), "%3d.%3d.%3d.%3d%n", &a, &b, &c, &d, &end) == 4 &&
         end == static_cast<int>(text.size()) && a == 127;
}

}  // namespace

Http::Http(std::unique_ptr<State> state) : state_(std::move(state)) {}
Http::Http(Http&&) noexcept = default;
Http::~Http() = default;

Result<Http> Http::open() {
  PERFLAB_TRY(const CurlApi curl, open_curl());
  return Http(std::make_unique<State>(curl));
}

Result<ServerPlace> Http::place(std::string_view base_url) const {
  const std::string text(trimmed(base_url));
  Url url(state_->curl);
  // libcurl would take "host:1" for a scheme or guess one: an address without "://" is refused.
  if (text.find("://") == std::string::npos || !url.read(text))
    return fail(ErrorCode::usage, "the chat server's base URL is not a URL",
                "give one such as https://api.example.com/v1");
  ServerPlace place;
  const std::string scheme = url.part(CURLUPART_SCHEME);
  std::string host = url.part(CURLUPART_HOST);
  std::ranges::transform(host, host.begin(), lower);
  const std::string port = url.part(CURLUPART_PORT);
  place.shown = fmt::format("{}://{}{}{}", scheme, host, port.empty() ? "" : ":", port);
  place.host = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
  place.loopback = is_loopback(place.host);
  if (!url.part(CURLUPART_USER).empty() || !url.part(CURLUPART_PASSWORD).empty())
    return fail(ErrorCode::usage,
                fmt::format("the base URL of {} holds a user or a password", place.shown),
                "keys are taken from the environment: set ROCM_PERF_LLM_KEY");
  if (!url.part(CURLUPART_QUERY).empty() || !url.part(CURLUPART_FRAGMENT).empty())
    return fail(ErrorCode::usage,
                fmt::format("the base URL of {} holds a query or a fragment", place.shown));
  if (scheme != "https" && scheme != "http")
    return fail(ErrorCode::usage,
                fmt::format("{}: chat servers are asked by https, not {}", place.shown, scheme));
  if (scheme == "http" && !place.loopback)
    return fail(ErrorCode::usage,
                fmt::format("{}: the key and the source could be read on the way", place.shown),
                "use https; http is for servers on this machine");
  place.path = url.part(CURLUPART_PATH);
  while (place.path.ends_with('/')) place.path.pop_back();
  place.url = place.shown + place.path;
  return place;
}

Result<HttpAnswer> Http::post(const HttpRequest& request) const {
  return Transfer(state_->curl).run(request);
}

}  // namespace perflab::llm
