// What the embedded tables of this folder (archs/*.json, counters/*.json) have in common: a file of
// source keys beside the tables, and no excuse for a table that cannot be read.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perflab::hal {

inline constexpr std::string_view kSourcesFile = "sources.json";

/// The value of a table that the build embedded; anything wrong with it is a bug of ours.
template <class T>
T must(Result<T> result) {
  if (!result) std::fputs((describe(result.error()) + "\n").c_str(), stderr);
  PERFLAB_CHECK(result.has_value());
  return std::move(*result);
}

/// Meaning of source keys, in the order of the file.
using SourceTable = std::vector<std::pair<std::string, std::string>>;

/// What a source key stands for; nullopt for an unknown key.
inline std::optional<std::string_view> meaning_of(const SourceTable& sources,
                                                  std::string_view key) {
  for (const auto& [name, meaning] : sources)
    if (name == key) return meaning;
  return std::nullopt;
}

/// "gfx942" of a target id with features ("gfx942:sramecc+:xnack-").
inline std::string_view gfx_of(std::string_view target_id) {
  return target_id.substr(0, target_id.find(':'));
}

}  // namespace perflab::hal
