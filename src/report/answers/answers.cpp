// The table of all answers: an analysis comes with a profile, a roofline and a path of its own, so
// that the order decides.
#include "report/answers/answers.h"

#include <algorithm>
#include <array>

namespace perflab::report {

const Answer* answer_of(const std::function<bool(std::string_view)>& has) {
  static constexpr std::array<Answer, 17> kAnswers = {{
      {"analysis", summarise_recording},
      {"dag", summarise_path},
      {"ranks", summarise_ranks, ranks_part_text},
      {"roofline", summarise_roofline},
      {"profile", summarise_process},
      {"inspection", summarise_inspection, inspection_part_text},
      {"doctor", summarise_doctor, doctor_part_text},
      {"capture", summarise_capture, capture_part_text},
      {"autotune", summarise_autotune, autotune_part_text},
      {"autotune_app", summarise_autotune_app, autotune_app_part_text},
      {"dispatch_table", summarise_dispatch_table, dispatch_table_part_text},
      {"optimization", summarise_optimization, optimization_part_text},
      {"comparison", summarise_comparison, comparison_part_text},
      {"certificate", summarise_certificate, replay_part_text},
      {"replay", summarise_replay, replay_part_text},
      {"reservation", summarise_reservation, replay_part_text},
      {"isolate", summarise_capture_run, replay_part_text},
  }};
  const auto* const found = std::ranges::find_if(kAnswers, has, &Answer::document);
  return found == kAnswers.end() ? nullptr : found;
}

}  // namespace perflab::report
