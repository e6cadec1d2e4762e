// Tables in which quotes within a text stand as they are: rocprofv3 puts a text between quotes and
// marks none within it (docs/facts/rocprofv3_outputs.md "CSV"). Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace perflab::trace::trace_csv {

/// The table with the quotes within texts doubled, as RFC 4180 has it. In each row one field may
/// have such quotes; it ends where the row's other fields follow. Nullopt: a row does not fit.
std::optional<std::string> with_doubled_quotes(std::string_view table);

}  // namespace perflab::trace::trace_csv
