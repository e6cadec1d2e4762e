// What rocprofiler-sdk's JSON says of agents, in rocpd's extdata and in rocprofv3's own JSON
// (docs/facts/rocpd.md "Agents").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/json.h"
#include "trace/trace.h"

namespace perflab::trace {

/// An integer member; nullopt when absent or of another type. Precondition: it is an object.
std::optional<std::int64_t> json_integer(const Json& object, const char* key);

/// A positive integer; nullopt when there is none: 0 stands for "not known". Precondition: it is an
/// object.
std::optional<std::int64_t> json_positive(const Json& object, const char* key);

/// A text member; empty when absent or of another type. Precondition: it is an object.
std::string json_text(const Json& object, const char* key);

/// Hardware figures of an agent; 0 stands in the JSON for "not known". Precondition: it is an
/// object.
AgentFacts agent_facts(const Json& object);

/// A kernel's name without the ending of its descriptor's symbol.
std::string_view without_kd(std::string_view name);

}  // namespace perflab::trace
