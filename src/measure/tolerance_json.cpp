// DiffOptions, field by field.
#include "measure/tolerance_json.h"

#include "base/text/json_names.h"

namespace perflab::measure {

Json tolerance_json(const replay::DiffOptions& compare) {
  return {{"type", or_null(compare.type)},
          {"max_ulp", or_null(compare.max_ulp)},
          {"max_relative", or_null(compare.max_relative)},
          {"max_absolute", or_null(compare.max_absolute)},
          {"nan_equal", compare.nan_equal}};
}

replay::DiffOptions tolerance_from(JsonFields in) {
  replay::DiffOptions compare;
  read_name(in, "type", compare.type);
  in.read("max_ulp", compare.max_ulp);
  in.read("max_relative", compare.max_relative);
  in.read("max_absolute", compare.max_absolute);
  in.read("nan_equal", compare.nan_equal);
  return compare;
}

}  // namespace perflab::measure
