// Sizes of tests whose loops are long: smaller in builds with sanitizers (preset dev, which `make
// test` runs), whole in the others.
#pragma once

namespace perflab::test {

/// `whole`, or `fewer` where what is tested runs under sanitizers.
template <class T>
constexpr T size_of_test([[maybe_unused]] T whole, [[maybe_unused]] T fewer) {
#ifdef PERFLAB_SANITIZED
  return fewer;
#else
  return whole;
#endif
}

}  // namespace perflab::test
