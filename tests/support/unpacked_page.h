// What a page of rocm-perf holds: its documents, unpacked the way a browser does it.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/json.h"

namespace perflab::test {

/// Bytes of base64 text; the test fails for what is none.
inline std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) {
      ADD_FAILURE() << "no digit of base64: " << c;
      return {};
    }
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xFFU);
  }
  return out;
}

inline std::string from_gzip(std::string packed) {
  z_stream stream{};
  std::string out;
  std::string buffer(std::size_t{1} << 16, '\0');
  EXPECT_EQ(::inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  EXPECT_EQ(status, Z_STREAM_END);
  ::inflateEnd(&stream);
  return out;
}

/// The base64 text of a page's documents; empty, with a failed test, when it has none.
inline std::string_view packed_documents(std::string_view page) {
  constexpr std::string_view kBegin = R"(<script type="application/gzip+base64" id="documents">)";
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find("</script>", begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) {
    ADD_FAILURE() << "the page has no documents";
    return {};
  }
  return page.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

/// {page, program, documents: [{name, file, document}]}.
inline Json unpacked_page(std::string_view page) {
  const std::string text = from_gzip(from_base64(packed_documents(page)));
  const auto parsed = parse_json(text, "page");
  EXPECT_TRUE(parsed.has_value()) << text.substr(0, 400);
  return parsed ? *parsed : Json::object();
}

}  // namespace perflab::test
