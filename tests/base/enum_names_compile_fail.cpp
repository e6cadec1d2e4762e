// Compiled once per PERFLAB_CASE (see CMakeLists.txt). Case 0 must compile, the others must not.
#include "base/enum_names.h"

enum class Fruit { apple, pear, plum };

#if PERFLAB_CASE == 0
constexpr auto kNames = perflab::enum_names<Fruit>(
    {{Fruit::apple, "apple"}, {Fruit::pear, "pear"}, {Fruit::plum, "plum"}});
#elif PERFLAB_CASE == 1  // the last one has no name
constexpr auto kNames =
    perflab::enum_names<Fruit>({{Fruit::apple, "apple"}, {Fruit::pear, "pear"}});
#elif PERFLAB_CASE == 2  // another one has none
constexpr auto kNames =
    perflab::enum_names<Fruit>({{Fruit::apple, "apple"}, {Fruit::plum, "plum"}});
#elif PERFLAB_CASE == 3  // two in each other's place
constexpr auto kNames = perflab::enum_names<Fruit>(
    {{Fruit::pear, "pear"}, {Fruit::apple, "apple"}, {Fruit::plum, "plum"}});
#elif PERFLAB_CASE == 4  // one of them twice
constexpr auto kNames = perflab::enum_names<Fruit>({{Fruit::apple, "apple"},
                                                    {Fruit::pear, "pear"},
                                                    {Fruit::plum, "plum"},
                                                    {Fruit::plum, "prune"}});
#endif
