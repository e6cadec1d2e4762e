// Any bytes as the file of a rank's summary: refused, or a value that is written again as the same
// bytes of both parts. The first byte says whether the rest is a file, or the two packed parts of
// one, which no fuzzer would find behind their hashes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ranks/rank/summary_fields.h"
#include "ranks/rank/summary_file.h"

namespace {

using perflab::ranks::NumberReader;
using perflab::ranks::RankSummary;

void check_again(const RankSummary& summary) {
  const std::string bytes = perflab::ranks::encode_summary(summary);
  const auto again = perflab::ranks::decode_summary(bytes, "again");
  // A header holds texts of at most 64 KiB; more than that no input here has.
  PERFLAB_CHECK(again.has_value());
  PERFLAB_CHECK(perflab::ranks::encode_summary(*again) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > (1U << 16U)) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if ((data[0] & 1U) == 0) {
    const auto summary = perflab::ranks::decode_summary(bytes.substr(1), "fuzz");
    if (summary) check_again(*summary);
    return 0;
  }
  const std::size_t split = (data[1] + (std::size_t{data[2]} << 8U)) % (size - 2);
  const std::string_view rest = bytes.substr(3);
  RankSummary summary;
  NumberReader head(rest.substr(0, split));
  if (!perflab::ranks::take_head(head, summary)) return 0;
  NumberReader tail(rest.substr(std::min(split, rest.size())));
  if (!perflab::ranks::take_rest(tail, summary)) return 0;
  check_again(summary);
  return 0;
}
