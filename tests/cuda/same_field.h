// A field of a structure of ours against that of CUPTI's: the same offset and size. `Ours` and
// `Theirs` are names of the test that uses it.
#pragma once

#include <cstddef>

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define SAME_FIELD(ours, theirs)                                   \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs)); \
  static_assert(sizeof(static_cast<Ours*>(nullptr)->ours) ==       \
                sizeof(static_cast<Theirs*>(nullptr)->theirs))
// NOLINTEND(cppcoreguidelines-macro-usage)
