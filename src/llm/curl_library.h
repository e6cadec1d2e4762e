// libcurl, opened when a chat server is asked for the first time: linking it would make every start
// of rocm-perf about 5 ms slower (20 shared libraries). Interface: curl/curl.h of libcurl 7.88.
#pragma once

#include <curl/curl.h>

#include <string>

#include "base/error.h"

namespace perflab::llm {

/// The entry points that are used.
struct CurlApi {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_url) url = nullptr;
  decltype(&::curl_url_cleanup) url_cleanup = nullptr;
  decltype(&::curl_url_set) url_set = nullptr;
  decltype(&::curl_url_get) url_get = nullptr;
  decltype(&::curl_free) free = nullptr;
};

/// Opens the library and fills the table; it stays loaded. `name` is for tests: otherwise
/// libcurl.so.4, or libcurl-gnutls.so.4. Error (missing_tool): there is none, or it lacks an entry.
Result<CurlApi> open_curl(const std::string& name = {});

}  // namespace perflab::llm
