// A failure has a name for programs and a sentence for people.
#include "replay/failures.h"

#include <gtest/gtest.h>

namespace perflab::replay {
namespace {

TEST(Failures, ASentenceIsWithoutTheNameOfItsFailure) {
  const Error known = fail(Failure::no_runtime, "libhsa: cannot be opened", "install it").error();
  EXPECT_EQ(known.message, "no_runtime: libhsa: cannot be opened");
  EXPECT_EQ(sentence_of(known), "libhsa: cannot be opened");
  // What only looks like one has no kind.
  const Error other =
      perflab::fail(ErrorCode::bad_input, "no_runtime: in a file", "look at it").error();
  EXPECT_EQ(sentence_of(other), "no_runtime: in a file");
}

}  // namespace
}  // namespace perflab::replay
