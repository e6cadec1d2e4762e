// code/object/unit_names.h: the forms that clang gives, and what only looks like them.
#include "code/object/unit_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perflab::code {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(UnitNames, MarkersHaveAHashAndNothingElse) {
  for (const char* name :
       {"__hip_cuid_7de0a077e60a5253", "__hip_cuid_24e4b8766bea50c", "__hip_cuid_0", "__hip_cuid_"})
    EXPECT_TRUE(is_unit_marker_name(name)) << name;
  for (const char* name : {"__hip_cuid", "__hip_cuid_7DE0", "__hip_cuid_7de0a077e60a52530",
                           "__hip_cuid_xyz", "__hip_cuid_7de0 ", "a__hip_cuid_7de0", ""})
    EXPECT_FALSE(is_unit_marker_name(name)) << name;
}

TEST(UnitNames, OnlyTheUnitIsTakenOff) {
  EXPECT_EQ(without_unit("_ZL1m.static.a29b7bc44de004a4"), "_ZL1m");
  EXPECT_EQ(without_unit("_ZL1m.static.a29b7bc44de004a4.managed"), "_ZL1m.managed");
  EXPECT_EQ(without_unit("_ZL1kPi.intern.98689e44244db53c.kd"), "_ZL1kPi.kd");
  EXPECT_EQ(without_unit("_ZL5inner.static.52641bfe00_059a4aa7"), "_ZL5inner");
  for (const char* name :
       {"_ZL1m", "_ZL1m.managed", "_ZL1m.static.", "_ZL1m.static.xyz", "_ZL1m.static.a29B",
        "_ZL1m.static.a29b7bc44de004a4f", "_ZL1m.static.a29b.more", "_ZL1m.static.a29b.kd.kd",
        ".static.a29b", "_ZL1m.local.a29b", "_ZL1m.static.52641bfe00_059a",
        "_ZL1m.static._059a4aa7", "_ZL1m__static__a29b", ""})
    EXPECT_EQ(without_unit(name), name);
}

TEST(UnitNames, UnitsOfNvccAreTakenOff) {
  EXPECT_EQ(without_unit("_ZN33_GLOBAL__N__643c1924_4_b_cu_table5innerEPi"),
            without_unit("_ZN37_GLOBAL__N__e2a86b8a_8_again_cu_table5innerEPi"));
  EXPECT_EQ(without_unit("__nv_static_22__643c1924_4_b_cu_table_hidden_state"),
            without_unit("__nv_static_26__5a140cef_8_again_cu_table_hidden_state"));
  EXPECT_EQ(
      without_unit(
          "__nv_static_22__643c1924_4_b_cu_table__ZN33_GLOBAL__N__643c1924_4_b_cu_table5innerEPi"),
      without_unit(
          "__nv_static_22__5a140cef_4_c_cu_table__ZN33_GLOBAL__N__5a140cef_4_c_cu_table5innerEPi"));
  EXPECT_NE(without_unit("_ZN33_GLOBAL__N__643c1924_4_b_cu_table5innerEPi"),
            without_unit("_ZN33_GLOBAL__N__643c1924_4_b_cu_table5outerEPi"));
  for (const char* name :
       {"_ZN12_GLOBAL__N_15innerEPi", "_GLOBAL__N_", "_ZN99_GLOBAL__N__643c1924_4_b",
        "_ZN33_GLOBAL__N__643z1924_4_b_cu_table5innerEPi", "__nv_static_22_", "__nv_static_",
        "__nv_static_999999999999999__643c1924_4_b", "__nv_static_22__643c1924_4_b"})
    EXPECT_EQ(without_unit(name), name);
}

TEST(UnitNames, PairsAreEqualNamesAndThoseThatAreAloneInTheirs) {
  const NamePairs pairs =
      pair_names({"b", "a", "m.static.1", "n.static.1", "n.static.2", "gone.static.1", "p"},
                 {"a", "c", "m.static.2", "n.static.3", "p.static.1", "n.static.2"});
  EXPECT_THAT(pairs.same,
              ElementsAre(Pair("a", "a"), Pair("m.static.1", "m.static.2"),
                          Pair("n.static.1", "n.static.3"), Pair("n.static.2", "n.static.2")));
  EXPECT_THAT(pairs.gone, ElementsAre("b", "gone.static.1", "p"));
  EXPECT_THAT(pairs.fresh, ElementsAre("c", "p.static.1"));
  EXPECT_THAT(pair_names({"n.static.1", "n.static.2"}, {"n.static.3"}).same, IsEmpty());
}

}  // namespace
}  // namespace perflab::code
