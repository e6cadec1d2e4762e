// Readings of option values that several commands share. CLI11's own let NaN, "-1" and what does
// not fit into a type through.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/session/caches.h"

namespace perflab::cli {

/// "2%" or "0.02" as 0.02, from 0 to `most`; missing: the text is no such share.
std::optional<double> share_from(std::string_view text, double most);

/// A whole number from `least` to `most`.
CLI::Validator whole_from(std::uint64_t least, std::uint64_t most);

/// Offers these in help, completion and tools, and lets any other text through: for commands with
/// an error of their own for it.
CLI::Validator offered(const std::vector<std::string>& names);

/// --caches: what timed dispatches of a capture find in the GPU's caches. `caches` has to outlive
/// the command line; what it holds is the default.
CLI::Option* add_caches_option(CLI::App& command, replay::Caches& caches);

}  // namespace perflab::cli
