#include "ranks/rank/roctx_text.h"

#include "base/text/numbers.h"

namespace perflab::ranks {

namespace {

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<RoctxText> parse_roctx_text(std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with('{')) text.remove_prefix(1);
  if (text.ends_with('}')) text.remove_suffix(1);
  if (!text.starts_with("RCCL_") && !text.starts_with("NCCL_")) return std::nullopt;
  text.remove_prefix(5);
  RoctxText found;
  const std::size_t colon = text.find(':');
  found.function = without_blanks(text.substr(0, colon));
  if (found.function.empty()) return std::nullopt;  // the range of a group says nothing
  std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view field = without_blanks(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const std::size_t split = field.rfind(':');
    if (split == std::string_view::npos) continue;
    const std::string_view key = without_blanks(field.substr(0, split));
    const std::string_view value = without_blanks(field.substr(split + 1));
    const std::optional<std::int64_t> number = whole_number<std::int64_t>(value);
    const auto not_negative = number && *number >= 0 ? number : std::nullopt;
    if (key == "NCCL communicator ID" && number) found.group = value;
    if (key == "Message size [bytes]") found.bytes = not_negative;
    if (key == "Data type") found.data_type = value;
    if (key == "Peer rank") found.peer = not_negative;
    if (key == "Root") found.root = not_negative;
  }
  return found;
}

std::optional<std::string_view> annotated_function(std::string_view text) {
  constexpr std::string_view kPrefix = "nccl:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  text = text.substr(0, text.find_first_of(" ,"));
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace perflab::ranks
