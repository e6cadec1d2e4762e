// Fuzzes what the recording library makes of texts of a program: JSON of a range's text has to be
// readable whatever the bytes, names only get shorter or demangled, words are known or refused.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/json.h"
#include "record/activity/text.h"
#include "record/json_text.h"
#include "record/tool/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = perflab::parse_json(perflab::record::json_text(text), "text");
  PERFLAB_CHECK(json && json->is_string());
  const std::string read = json->get<std::string>();
  // Valid UTF-8 comes back byte for byte; of anything else comes valid UTF-8.
  const auto again = perflab::parse_json(perflab::record::json_text(read), "text");
  PERFLAB_CHECK(again && again->get<std::string>() == read);

  const std::string_view name = perflab::record::call_name(text);
  PERFLAB_CHECK(text.starts_with(name));
  PERFLAB_CHECK(name.empty() == text.empty());
  const std::string symbol(text.substr(0, text.find('\0')));
  PERFLAB_CHECK(perflab::record::demangled(symbol).empty() == symbol.empty());

  const auto what = perflab::record::parse_what(text);
  if (!what) {
    PERFLAB_CHECK(what.error().code == perflab::ErrorCode::usage);
  } else {
    PERFLAB_CHECK(!what->sync || what->calls);
    PERFLAB_CHECK(perflab::parse_json(perflab::record::what_words_json(*what), "words"));
  }
  return 0;
}
