// What reading memory hands its bytes to.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/error.h"

namespace perflab::isolate {

/// Takes the bytes of a range piece by piece; all but the last are whole pages.
using ByteSink = std::function<Result<void>(std::span<const std::byte>)>;

}  // namespace perflab::isolate
