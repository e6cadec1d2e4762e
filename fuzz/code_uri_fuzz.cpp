// Fuzzes the reader of code object URIs with raw text; what it reads, written again, is the same.
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "isolate/code/code_uri.h"

namespace {

std::string written(const perflab::isolate::CodeUri& uri) {
  std::string text =
      uri.path.empty() ? "memory://" + std::to_string(uri.process) : std::string("file://");
  char escape[4];
  for (const char byte : uri.path) {
    std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned char>(byte));
    text += escape;
  }
  if (uri.bytes)
    text += "#offset=" + std::to_string(uri.offset) + "&size=" + std::to_string(*uri.bytes);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = perflab::isolate::parse_code_uri(text);
  if (!read) {
    PERFLAB_CHECK(read.error().code == perflab::ErrorCode::bad_input);
    PERFLAB_CHECK(read.error().message.find('\n') == std::string::npos);
    return 0;
  }
  PERFLAB_CHECK(read->path.find('\0') == std::string::npos);
  PERFLAB_CHECK(!read->path.empty() || read->bytes);
  const auto again = perflab::isolate::parse_code_uri(written(*read));
  PERFLAB_CHECK(again && *again == *read);
  return 0;
}
