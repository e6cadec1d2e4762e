// Names of phases and decisions, as documents have them.
#include "tune/run/tuning.h"

namespace perflab::tune {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::baseline:
      return "baseline";
    case Phase::warm_start:
      return "warm_start";
    case Phase::seed:
      return "seed";
    case Phase::confirm:
      return "confirm";
  }
  return "";
}

std::string_view to_string(Decision decision) {
  switch (decision) {
    case Decision::separated:
      return "separated";
    case Decision::tie:
      return "tie";
    case Decision::only_one:
      return "only_one";
    case Decision::not_compared:
      return "not_compared";
  }
  return "";
}

}  // namespace perflab::tune
