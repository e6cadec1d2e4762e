// Names of the origins as the documents of a capture spell them.
#include "capture/model.h"

#include <algorithm>
#include <utility>

namespace perflab::capture {
namespace {

constexpr std::array<std::pair<Origin, std::string_view>, 8> kOriginNames{
    {{Origin::pool, "pool"},
     {Origin::region, "region"},
     {Origin::vmem, "vmem"},
     {Origin::managed, "managed"},
     {Origin::locked, "locked"},
     {Origin::ipc, "ipc"},
     {Origin::interop, "interop"},
     {Origin::variable, "variable"}}};

}  // namespace

std::string_view to_string(Origin origin) {
  return std::ranges::find(kOriginNames, origin, &std::pair<Origin, std::string_view>::first)
      ->second;
}

std::optional<Origin> origin_from(std::string_view name) {
  const auto* const found =
      std::ranges::find(kOriginNames, name, &std::pair<Origin, std::string_view>::second);
  return found == kOriginNames.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace perflab::capture
