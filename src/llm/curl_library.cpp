#include "llm/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

namespace perflab::llm {
namespace {

constexpr const char* kCurlRemedy = "install libcurl 7.85 or later (Debian: libcurl4)";

template <class Function>
bool find_entry(void* library, const char* name, Function& entry) {
  entry = reinterpret_cast<Function>(::dlsym(library, name));
  return entry != nullptr;
}

/// Name of the first entry that is not there; nullptr: all are.
const char* fill(CurlApi& api, void* library) {
  const char* missing = nullptr;
  const auto want = [&](const char* name, auto& entry) {
    if (!find_entry(library, name, entry) && missing == nullptr) missing = name;
  };
  want("curl_global_init", api.global_init);
  want("curl_easy_init", api.easy_init);
  want("curl_easy_cleanup", api.easy_cleanup);
  want("curl_easy_setopt", api.easy_setopt);
  want("curl_easy_getinfo", api.easy_getinfo);
  want("curl_easy_strerror", api.easy_strerror);
  want("curl_multi_init", api.multi_init);
  want("curl_multi_cleanup", api.multi_cleanup);
  want("curl_multi_add_handle", api.multi_add_handle);
  want("curl_multi_remove_handle", api.multi_remove_handle);
  want("curl_multi_perform", api.multi_perform);
  want("curl_multi_poll", api.multi_poll);
  want("curl_multi_info_read", api.multi_info_read);
  want("curl_slist_append", api.slist_append);
  want("curl_slist_free_all", api.slist_free_all);
  want("curl_url", api.url);
  want("curl_url_cleanup", api.url_cleanup);
  want("curl_url_set", api.url_set);
  want("curl_url_get", api.url_get);
  want("curl_free", api.free);
  return missing;
}

}  // namespace

Result<CurlApi> open_curl(const std::string& name) {
  const std::vector<std::string> names =
      name.empty() ? std::vector<std::string>{"libcurl.so.4", "libcurl-gnutls.so.4"}
                   : std::vector<std::string>{name};
  std::string why;
  for (const std::string& one : names) {
    void* const library = ::dlopen(one.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const text = ::dlerror();
      if (why.empty()) why = text != nullptr ? text : one;
      continue;
    }
    CurlApi api;
    if (const char* const missing = fill(api, library); missing != nullptr) {
      why = fmt::format("{} has no {}", one, missing);
      continue;
    }
    if (api.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) return api;
    why = fmt::format("{} does not start", one);
  }
  return fail(ErrorCode::missing_tool, fmt::format("libcurl cannot be opened: {}", why),
              kCurlRemedy);
}

}  // namespace perflab::llm
