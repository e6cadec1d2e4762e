// What a comparison leaves out, and why: a gate that passes has said nothing about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::compare {

enum class NotComparedReason : std::uint8_t {
  no_databases,             ///< a profile away from its databases holds the sums of one kernel
  other_without_databases,  ///< the other side is such a profile
  not_chosen,               ///< --kernel does not match them
  only_in_side,             ///< the other side has no such kernel
};
/// "no_databases", "other_without_databases", "not_chosen", "only_in_side".
std::string_view to_string(NotComparedReason reason);

/// Kernels of one side that were compared with nothing.
struct NotCompared {
  bool of_b = false;  ///< of B, else of A
  NotComparedReason reason = NotComparedReason::no_databases;
  std::optional<std::size_t> kernels = {};  ///< how many; missing: the input does not say
  std::optional<double> share = {};  ///< of the time of the side's kernels; missing: likewise
};

/// Why, in a sentence, and what would have them compared; the remedy is empty where nothing would.
std::string reason_text(NotComparedReason reason);
std::string remedy_text(NotComparedReason reason);

/// The warning about profiles without their databases; empty: there is none among these.
/// `total_tested`: the sums over all kernels are compared.
std::string no_databases_warning(const std::vector<NotCompared>& left_out, bool total_tested);

}  // namespace perflab::compare
