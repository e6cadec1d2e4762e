// The grammar stands in AMD's loader extension (hsa_ven_amd_loader_loaded_code_object_get_info):
// "#" or "?" before the range, "%" and two hexadecimal digits for what is no plain character.
#include "isolate/code/code_uri.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/numbers.h"

namespace perflab::isolate {
namespace {

constexpr std::string_view kFile = "file://", kMemory = "memory://";
constexpr std::size_t kLongestShown = 200;

/// An integer literal of C.
std::optional<std::uint64_t> literal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X"))
    return whole_number<std::uint64_t>(text.substr(2), 16);
  return whole_number<std::uint64_t>(text, text.starts_with('0') ? 8 : 10);
}

/// Missing: a broken escape, or a byte that no path has.
std::optional<std::string> decoded(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char byte = text[i];
    if (byte == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const auto code = whole_number<unsigned char>(text.substr(i + 1, 2), 16);
      if (!code) return std::nullopt;
      byte = static_cast<char>(*code);
      i += 2;
    }
    if (byte == '\0') return std::nullopt;
    path += byte;
  }
  return path;
}

/// "offset=N&size=N". False: it is not.
bool read_range(std::string_view text, CodeUri& uri) {
  constexpr std::string_view kOffset = "offset=", kSize = "size=";
  const std::size_t both = text.find('&');
  if (!text.starts_with(kOffset) || both == std::string_view::npos) return false;
  const std::string_view size = text.substr(both + 1);
  if (!size.starts_with(kSize)) return false;
  const auto offset = literal(text.substr(kOffset.size(), both - kOffset.size()));
  uri.bytes = literal(size.substr(kSize.size()));
  if (!offset || !uri.bytes) return false;
  uri.offset = *offset;
  return true;
}

}  // namespace

Result<CodeUri> parse_code_uri(std::string_view text) {
  const auto refuse = [&] {
    std::string shown(text.substr(0, kLongestShown));
    std::ranges::replace_if(shown, [](unsigned char byte) { return byte < 32 || byte > 126; }, '?');
    return fail(ErrorCode::bad_input,
                fmt::format("\"{}\" is not the place of a code object", shown));
  };
  const bool in_file = text.starts_with(kFile);
  if (!in_file && !text.starts_with(kMemory)) return refuse();
  const std::string_view rest = text.substr(in_file ? kFile.size() : kMemory.size());
  const std::size_t mark = rest.find_first_of("#?");
  const std::string_view name = rest.substr(0, mark);
  CodeUri uri;
  const bool has_range = mark != std::string_view::npos;
  if (has_range && !read_range(rest.substr(mark + 1), uri)) return refuse();
  if (in_file) {
    auto path = decoded(name);
    if (!path || path->empty()) return refuse();
    uri.path = std::move(*path);
    return uri;
  }
  const auto process = whole_number<std::uint64_t>(name, 10);
  if (!process || !has_range) return refuse();
  uri.process = *process;
  return uri;
}

}  // namespace perflab::isolate
