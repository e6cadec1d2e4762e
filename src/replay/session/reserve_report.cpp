// Words and exit codes of reservations.
#include "replay/session/reserve_report.h"

#include "base/enum_names.h"

namespace perflab::replay {

std::string_view to_string(Reservation reservation) {
  using enum Reservation;
  static constexpr auto kWords =
      enum_names<Reservation>({{exact, "exact"}, {relocated, "relocated"}, {failed, "failed"}});
  return kWords[reservation];
}

int ReserveReport::exit_code() const {
  if (failed > 0) return 1;
  return relocated > 0 ? 2 : 0;
}

}  // namespace perflab::replay
