// One element holds everything: base64 of gzip of {page, program, documents}. Base64 has no
// character that ends an element or begins one, whatever the documents say; and pages of large
// runs stay small. The element's form is the contract with web/src (documents.ts, pack.mjs).
#include "report/page/page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/text/json.h"
#include "base/version.h"
#include "page_template.h"

namespace perflab::report {
namespace {

/// Where the template wants the documents.
constexpr std::string_view kPlace = "<!--DOCUMENTS-->";
/// Version of the form that the page reads.
constexpr int kPageVersion = 1;

/// gzip (RFC 1952) without time and name, so that it depends on nothing but the text.
Result<std::string> gzip(std::string_view text) {
  constexpr int kGzip = 16;  // added to the window size: zlib.h, deflateInit2
  constexpr int kMemory = 9;
  if (text.size() > std::numeric_limits<uInt>::max())
    return fail(ErrorCode::usage, "the documents are larger than 4 GiB: they fit no page",
                "leave --full out, or restrict them with --segment N");
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorCode::internal, "zlib does not start");
  std::string input(text);  // zlib's input is not const
  std::string out(::deflateBound(&stream, input.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (status != Z_STREAM_END) return fail(ErrorCode::internal, "zlib does not finish");
  return out;
}

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : std::uint32_t{0};
    };
    const std::uint32_t three = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    out += kDigits[three >> 18U];
    out += kDigits[three >> 12U & 63U];
    out += i + 1 < bytes.size() ? kDigits[three >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63U] : '=';
  }
  return out;
}

/// A string as JSON text.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The JSON text that the page unpacks.
std::string documents_text(std::span<const PageDocument> documents) {
  std::string out = fmt::format(R"({{"page": {}, "program": {}, "documents": [)", kPageVersion,
                                quoted(std::string(kProgramVersion)));
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const PageDocument& one = documents[i];
    out += fmt::format(R"({}{{"name": {}, "file": {}, "document": )", i == 0 ? "" : ",",
                       quoted(one.name), one.file ? quoted(*one.file) : "null");
    out += one.text;
    out += '}';
  }
  return out + "]}\n";
}

}  // namespace

Result<std::string> html_page(std::span<const PageDocument> documents) {
  const std::string_view page = page_template().front().text;
  const std::size_t place = page.find(kPlace);
  if (place == std::string_view::npos || page.find(kPlace, place + 1) != std::string_view::npos)
    return fail(ErrorCode::internal,
                fmt::format("the template of pages does not have {} once", kPlace));
  PERFLAB_TRY(const std::string packed, gzip(documents_text(documents)));
  std::string out(page.substr(0, place));
  out += R"(<script type="application/gzip+base64" id="documents">)";
  out += base64(packed);
  out += "</script>";
  out += page.substr(place + kPlace.size());
  return out;
}

}  // namespace perflab::report
