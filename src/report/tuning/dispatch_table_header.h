// A dispatch table as C++: a header that needs C++17 and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "report/tuning/dispatch_table_document.h"

namespace perflab::report {

/// The header: in a namespace of this name a struct of the parameters and a function choose() of
/// the sizes. Values are bool, long long or double where all leaves have such, else texts. Same
/// table, same bytes. Names that C++ does not take are changed. Error (bad_input): two of them
/// would be the same.
Result<std::string> dispatch_table_header(const DispatchTableData& data, std::string_view name);

/// An identifier that no standard reserves, of any text: "a-b" is a_b, "2d" is p_2d, "int" is int_.
std::string cpp_identifier(std::string_view text);

}  // namespace perflab::report
