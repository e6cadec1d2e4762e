// A search space as it is declared, before its configurations are listed: parameters, restrictions,
// derived values and device limits. Format facts: docs/facts/tuning.md "Formats".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/values/value.h"

namespace perflab::tune {

/// Row number of a configuration in Space.
using ConfigId = std::uint32_t;
/// Index into Parameter::values.
using Level = std::uint16_t;

struct Parameter {
  std::string name;
  std::vector<Value> values;           ///< as declared; no two are same_value()
  std::optional<Level> default_level;  ///< when the file declares a default
};

/// What a file or a caller declares. Expressions may name parameters and derived values, in any
/// order.
struct SpaceDescription {
  std::vector<Parameter> parameters;
  std::vector<std::string> restrictions;                     ///< expressions; truth is Python's
  std::vector<std::pair<std::string, std::string>> derived;  ///< name, expression
  std::vector<std::string> device_limits;       ///< expressions like restrictions, counted apart
  std::vector<std::string> device_limit_texts;  ///< in words, one per device limit
  /// Set for a list of configurations: only these exist. Rows of parameters.size() levels.
  std::optional<std::vector<std::vector<Level>>> listed;
  bool default_declared = false;
  /// The defaults of other programs' files are often none that their own restrictions allow: then
  /// Space::list takes the first configuration and says so in notes. Ours must hold.
  bool default_may_fail = false;
  std::vector<std::string> notes;  ///< what was made of the file, for people
  std::string source;              ///< the file's name, for messages; may be empty
};

struct ListingOptions {
  std::uint64_t seed = 0;        ///< of the sample, when there are too many
  std::size_t most = 4'000'000;  ///< configurations that are listed; beyond: a sample
  std::size_t sample = 200'000;  ///< configurations of such a sample
  /// Values tried before a listing is given up for a sample, which may take half as many: a second
  /// or two. Eight operations in expressions count as one.
  std::size_t steps = 20'000'000;
};

}  // namespace perflab::tune
