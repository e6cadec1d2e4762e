// Values by group: each group keeps its own, in the order they came, and its room when emptied.
#include "stats/grouped.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

namespace perflab::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(GroupedValues, KeepsTheValuesOfEachGroupInTheirOrder) {
  GroupedValues<std::int64_t> values(std::vector<std::size_t>{2, 0, 3});
  values.add(2, 7);
  values.add(0, 1);
  values.add(2, 5);
  values.add(0, 9);
  EXPECT_THAT(values.of(0), ElementsAre(1, 9));
  EXPECT_THAT(values.of(1), IsEmpty());
  EXPECT_THAT(values.of(2), ElementsAre(7, 5));  // room for one more
  values.clear();
  EXPECT_THAT(values.of(0), IsEmpty());
  values.add(2, 8);
  EXPECT_THAT(values.of(2), ElementsAre(8));
}

TEST(GroupedValues, HoldsNothingWithoutGroups) {
  EXPECT_NO_THROW(GroupedValues<std::uint32_t>(std::vector<std::size_t>{}));
}

}  // namespace
}  // namespace perflab::stats
