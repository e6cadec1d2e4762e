// The examination as JSON.
#include "doctor/doctor_document.h"

#include "report/kit/document.h"

namespace perflab::doctor {
namespace {

Json part_json(const Part& part) {
  return {{"need", to_string(part.need)},     {"title", part.title},
          {"state", to_string(part.state)},   {"version", or_null(part.version)},
          {"path", or_null(part.path)},       {"details", part.details},
          {"problem", or_null(part.problem)}, {"remedy", or_null(part.remedy)}};
}

Json calibration_json(const std::optional<CalibrationHere>& calibration) {
  if (!calibration) return nullptr;
  return {{"file", calibration->file.string()},         {"date", or_null(calibration->date)},
          {"age_days", or_null(calibration->age_days)}, {"driver", or_null(calibration->driver)},
          {"confirmed", calibration->confirmed},        {"disproved", calibration->disproved},
          {"problem", or_null(calibration->problem)}};
}

Json gpu_json(const Gpu& gpu) {
  return {{"node", or_null(gpu.node)},
          {"processor", gpu.processor},
          {"product", or_null(gpu.product)},
          {"compute_units", or_null(gpu.compute_units)},
          {"architecture_known", gpu.known},
          {"compilable", gpu.compilable},
          {"calibration", calibration_json(gpu.calibration)}};
}

Json command_json(const CommandReadiness& command) {
  Json lacks = Json::array();
  for (const Lack& lack : command.lacks)
    lacks.push_back({{"need", to_string(lack.need)}, {"means", lack.means}});
  return {{"command", command.command},
          {"readiness", to_string(command.readiness)},
          {"lacks", std::move(lacks)}};
}

}  // namespace

Json doctor_document(const Examination& examination) {
  Json parts = Json::array(), gpus = Json::array(), commands = Json::array();
  for (const Part& part : examination.parts) parts.push_back(part_json(part));
  for (const Gpu& gpu : examination.gpus) gpus.push_back(gpu_json(gpu));
  for (const CommandReadiness& command : examination.commands)
    commands.push_back(command_json(command));
  return {{"schema_version", "1.1.0"},
          {"document", "doctor"},
          {"generator", report::generator_json()},
          {"commands", std::move(commands)},
          {"parts", std::move(parts)},
          {"gpus", std::move(gpus)},
          {"environment",
           {{"system", or_null(examination.system)}, {"kernel", or_null(examination.kernel)}}}};
}

}  // namespace perflab::doctor
