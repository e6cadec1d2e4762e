// The one file that is compiled again when the version changes.
#include "base/version.h"

namespace perflab {

constinit const std::string_view kProgramVersion = PERFLAB_VERSION;

}  // namespace perflab
