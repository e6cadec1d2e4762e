// Not part of a program: the compiler is run on this file once per case (CMakeLists.txt). Case 0
// must compile; every other case mixes units and must not.
#include "base/units.h"

namespace {

using perflab::Bytes;
using perflab::Nanos;

constexpr std::int64_t bytes_of(Bytes bytes) {
  return bytes.value;
}

}  // namespace

int main() {
#if PERFLAB_CASE == 0
  return static_cast<int>(bytes_of(Bytes{1} + Bytes{2}));
#elif PERFLAB_CASE == 1
  return static_cast<int>(bytes_of(Nanos{1}));
#elif PERFLAB_CASE == 2
  return (Bytes{1} + Nanos{2}).value != 0;
#elif PERFLAB_CASE == 3
  return Bytes{1} < Nanos{2};
#elif PERFLAB_CASE == 4
  return static_cast<int>(bytes_of(17));
#elif PERFLAB_CASE == 5
  const Nanos duration = Bytes{3};
  return duration.value != 0;
#elif PERFLAB_CASE == 6
  return (Nanos{1} + 2).value != 0;
#elif PERFLAB_CASE == 7
  return perflab::to_ms(Bytes{1}) > 0;
#endif
}
