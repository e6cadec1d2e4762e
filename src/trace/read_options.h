// How recordings are read.
#pragma once

#include "base/text/progress.h"

namespace perflab::trace {

struct ReadOptions {
  unsigned threads = 0;  ///< 0: as many as the process may run on; the result does not depend on it
  TellProgress progress = {};
  /// Databases through SQLite alone, never from their pages: the same Trace, slower. Tests compare.
  bool sqlite_only = false;
};

}  // namespace perflab::trace
