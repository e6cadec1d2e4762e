// Target ids as compilers, bundlers and runtimes spell them (docs/facts/code_object.md "Offload
// bundles").
#include "code/elf/target_id.h"

#include <algorithm>

namespace perflab::code {
namespace {

constexpr std::string_view kPrefix = "gfx";

bool is_processor_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/// Reads "xnack-" or "xnack--" (a bundler's stray dash); a feature that is not known is passed
/// over.
void read_feature(std::string_view text, TargetId& target) {
  const std::size_t end = text.find_last_not_of("+-") + 1;  // 0 when there is no name
  if (end == text.size()) return;
  const Feature state = text[end] == '+' ? Feature::on : Feature::off;
  const std::string_view name = text.substr(0, end);
  if (name == "sramecc" || name == "sram-ecc") target.sramecc = state;
  if (name == "xnack") target.xnack = state;
}

bool feature_fits(Feature code, Feature device) {
  return code == Feature::any || code == Feature::unsupported || code == device;
}

}  // namespace

std::string to_string(const TargetId& target) {
  std::string text = target.processor;
  const auto add = [&](std::string_view name, Feature state) {
    if (state != Feature::on && state != Feature::off) return;
    text.append(":").append(name).append(state == Feature::on ? "+" : "-");
  };
  add("sramecc", target.sramecc);
  add("xnack", target.xnack);
  return text;
}

std::optional<TargetId> parse_target_id(std::string_view text) {
  // The processor is the last dash-separated field that begins with "gfx"; generic ones have dashes
  // of their own ("gfx9-4-generic").
  const std::size_t start = text.rfind(kPrefix);
  if (start == std::string_view::npos || (start > 0 && text[start - 1] != '-')) return std::nullopt;
  text.remove_prefix(start);
  std::string_view processor = text.substr(0, text.find(':'));
  text.remove_prefix(processor.size());
  while (processor.ends_with('-')) processor.remove_suffix(1);
  if (processor.size() == kPrefix.size() || !std::ranges::all_of(processor, is_processor_character))
    return std::nullopt;
  TargetId target{.processor = std::string(processor)};
  while (!text.empty()) {
    text.remove_prefix(1);  // the colon
    const std::string_view feature = text.substr(0, text.find(':'));
    read_feature(feature, target);
    text.remove_prefix(feature.size());
  }
  return target;
}

bool runs_on(const TargetId& code, const TargetId& device) {
  return code.processor == device.processor && feature_fits(code.sramecc, device.sramecc) &&
         feature_fits(code.xnack, device.xnack);
}

}  // namespace perflab::code
