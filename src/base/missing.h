// How a figure that cannot be computed is carried: null in the document, and the reason here.
#pragma once

#include <string>

namespace perflab {

/// Why a figure of a document is null, and what would get it.
struct Missing {
  std::string field;  ///< path in the document: "roofline", "occupancy.theoretical"
  std::string reason;
  std::string remedy;
};

}  // namespace perflab
