// Places in JSON documents: JSON pointers (RFC 6901).
#pragma once

#include <string>
#include <string_view>

namespace perflab {

/// A member's name as a reference token of a pointer (section 3): "~" is "~0", "/" is "~1".
std::string pointer_token(std::string_view member);

}  // namespace perflab
