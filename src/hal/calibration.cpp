// calibration.json in both directions. The fields are those of schemas/calibration.schema.json.
#include "hal/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_names.h"
#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/text/json_names.h"

namespace perflab::hal {
namespace {

constexpr const char* kCalibrationRemedy = "give a calibration.json that rocm-perf calibrate wrote";

/// No GPU counts or does more than this; a file that says so is damaged.
constexpr double kMostOfAnything = 1e30;

Json proof_json(const CalibrationProof& proof) {
  return {{"kernel", proof.kernel},     {"launch", proof.launch},
          {"formula", proof.formula},   {"expected", proof.expected},
          {"measured", proof.measured}, {"tolerance", proof.tolerance}};
}

Json figures_json(const std::vector<CalibratedFigure>& figures) {
  Json list = Json::array();
  for (const CalibratedFigure& figure : figures) {
    Json proofs = Json::array();
    for (const CalibrationProof& proof : figure.proofs) proofs.push_back(proof_json(proof));
    list.push_back({{"name", figure.name},
                    {"verdict", to_string(figure.verdict)},
                    {"factor", or_null(figure.factor)},
                    {"spread", or_null(figure.spread)},
                    {"runs", figure.runs},
                    {"reason", or_null(figure.reason)},
                    {"proofs", std::move(proofs)}});
  }
  return list;
}

Json ceiling_json(const CalibratedCeiling& ceiling) {
  return {{"level", or_null(ceiling.level)},
          {"pipe", ceiling.rate ? Json(to_string(ceiling.rate->pipe)) : Json(nullptr)},
          {"precision", ceiling.rate ? Json(to_string(ceiling.rate->precision)) : Json(nullptr)},
          {"value", ceiling.value},
          {"unit", ceiling.unit},
          {"spread", ceiling.spread},
          {"runs", ceiling.runs},
          {"nominal", or_null(ceiling.nominal)},
          {"nominal_formula", or_null(ceiling.nominal_formula)},
          {"kernel", ceiling.kernel},
          {"stream", ceiling.stream}};
}

Json gpu_json(const CalibratedGpu& gpu) {
  return {{"architecture", gpu.architecture}, {"name", or_null(gpu.name)},
          {"uuid", or_null(gpu.uuid)},        {"driver", or_null(gpu.driver)},
          {"runtime", or_null(gpu.runtime)},  {"profiler", or_null(gpu.profiler)},
          {"compiler", or_null(gpu.compiler)}};
}

CalibrationProof read_proof(JsonFields& fields) {
  CalibrationProof proof;
  fields.read("kernel", proof.kernel);
  fields.read("launch", proof.launch);
  fields.read("formula", proof.formula);
  fields.read("expected", proof.expected, 0, kMostOfAnything);
  if (fields.good() && proof.expected <= 0) fields.wrong("expected", "is not above 0");
  fields.read("measured", proof.measured);
  if (std::ranges::any_of(proof.measured, [](double x) { return x < 0 || x > kMostOfAnything; }))
    fields.wrong("measured", "has a number that no counter gives");
  if (fields.good() && proof.measured.empty()) fields.wrong("measured", "is empty");
  fields.read("tolerance", proof.tolerance, 0, 1);
  return proof;
}

CalibratedFigure read_figure(JsonFields& fields) {
  CalibratedFigure figure;
  fields.read("name", figure.name);
  read_name(fields, "verdict", figure.verdict);
  fields.read("factor", figure.factor);
  fields.read("spread", figure.spread);
  fields.read("runs", figure.runs, 0);
  figure.reason = fields.text_or_null("reason");
  fields.each("proofs", [&](JsonFields& proof) { figure.proofs.push_back(read_proof(proof)); });
  const bool measured = figure.verdict != CalibrationVerdict::not_measured;
  if (fields.good() && figure.proofs.empty() == measured)
    fields.wrong("proofs", "are there where something was measured, and only there");
  const bool by_factor = figure.verdict == CalibrationVerdict::wrong_by_factor;
  if (fields.good() && by_factor != figure.factor.has_value())
    fields.wrong("factor", "is of the verdict wrong_by_factor, and of no other");
  if (figure.factor && (*figure.factor <= 0 || *figure.factor > kMostOfAnything))
    fields.wrong("factor", "is none that a counter can have");
  return figure;
}

std::vector<CalibratedFigure> read_figures(JsonFields& document, std::string_view key) {
  std::vector<CalibratedFigure> figures;
  document.each(key, [&](JsonFields& fields) { figures.push_back(read_figure(fields)); });
  return figures;
}

CalibratedCeiling read_ceiling(JsonFields& fields) {
  CalibratedCeiling ceiling;
  const bool is_level = !fields.is_null("level");
  const bool is_rate = !fields.is_null("pipe");
  read_name(fields, "level", ceiling.level);
  if (is_rate) {
    ceiling.rate.emplace();
    read_name(fields, "pipe", ceiling.rate->pipe);
    read_name(fields, "precision", ceiling.rate->precision);
  }
  if (fields.good() && is_level == is_rate)
    fields.wrong("level",
                 "is that of a bandwidth, pipe and precision those of a rate: one of both");
  fields.read("value", ceiling.value, 0, kMostOfAnything);
  if (fields.good() && ceiling.value <= 0) fields.wrong("value", "is not above 0");
  fields.read("unit", ceiling.unit);
  fields.read("spread", ceiling.spread, 0, kMostOfAnything);
  fields.read("runs", ceiling.runs, 1);
  fields.read("nominal", ceiling.nominal);
  ceiling.nominal_formula = fields.text_or_null("nominal_formula");
  fields.read("kernel", ceiling.kernel);
  fields.read("stream", ceiling.stream);
  return ceiling;
}

CalibratedGpu read_gpu(JsonFields fields) {
  CalibratedGpu gpu;
  fields.read("architecture", gpu.architecture);
  gpu.name = fields.text_or_null("name");
  gpu.uuid = fields.text_or_null("uuid");
  gpu.driver = fields.text_or_null("driver");
  gpu.runtime = fields.text_or_null("runtime");
  gpu.profiler = fields.text_or_null("profiler");
  gpu.compiler = fields.text_or_null("compiler");
  return gpu;
}

CalibrationKernel read_kernel(JsonFields& fields) {
  CalibrationKernel kernel;
  fields.read("name", kernel.name);
  fields.read("shows", kernel.shows);
  read_name(fields, "check", kernel.check);
  kernel.stream = fields.text_or_null("stream");
  kernel.reason = fields.text_or_null("reason");
  return kernel;
}

const CalibratedFigure* find_figure(const std::vector<CalibratedFigure>& figures,
                                    std::string_view name) {
  const auto found = std::ranges::find(figures, name, &CalibratedFigure::name);
  return found == figures.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(CalibrationVerdict verdict) {
  using enum CalibrationVerdict;
  static constexpr auto kNames =
      enum_names<CalibrationVerdict>({{confirmed, "confirmed"},
                                      {wrong_by_factor, "wrong_by_factor"},
                                      {wrong, "wrong"},
                                      {zero, "zero"},
                                      {noisy, "noisy"},
                                      {not_measured, "not_measured"}});
  return kNames[verdict];
}

std::string_view to_string(CalibratedLevel level) {
  using enum CalibratedLevel;
  static constexpr auto kNames = enum_names<CalibratedLevel>({{memory, "memory"},
                                                              {infinity_cache, "infinity_cache"},
                                                              {l2, "l2"},
                                                              {l1, "l1"},
                                                              {lds, "lds"}});
  return kNames[level];
}

std::string_view to_string(KernelCheck check) {
  using enum KernelCheck;
  static constexpr auto kNames = enum_names<KernelCheck>({{agrees, "agrees"},
                                                          {refused, "refused"},
                                                          {not_compiled, "not_compiled"},
                                                          {not_here, "not_here"},
                                                          {wrong_results, "wrong_results"}});
  return kNames[check];
}

const CalibratedFigure* Calibration::counter(std::string_view name) const {
  return find_figure(counters, name);
}

const CalibratedFigure* Calibration::formula(std::string_view name) const {
  return find_figure(formulas, name);
}

const CalibratedCeiling* Calibration::ceiling(CalibratedLevel level) const {
  const auto found = std::ranges::find(ceilings, level, &CalibratedCeiling::level);
  return found == ceilings.end() ? nullptr : &*found;
}

const CalibratedCeiling* Calibration::ceiling(Pipe pipe, Precision precision) const {
  const auto found = std::ranges::find_if(ceilings, [&](const CalibratedCeiling& one) {
    return one.rate && one.rate->pipe == pipe && one.rate->precision == precision;
  });
  return found == ceilings.end() ? nullptr : &*found;
}

MeasuredRoofs Calibration::roofs() const {
  using enum CalibratedLevel;
  static constexpr std::array<std::optional<MeasuredRoof> MeasuredRoofs::*,
                              enumerator_count<CalibratedLevel>()>
      kLevels = {&MeasuredRoofs::memory, &MeasuredRoofs::infinity_cache, &MeasuredRoofs::l2,
                 &MeasuredRoofs::l1, &MeasuredRoofs::lds};
  MeasuredRoofs roofs;
  for (const CalibratedCeiling& one : ceilings) {
    MeasuredRoof roof{.value = one.value, .low = {}, .high = {}, .column = one.kernel};
    if (one.level)
      roofs.*kLevels.at(static_cast<std::size_t>(*one.level)) = std::move(roof);
    else if (one.rate)
      roofs.rates.push_back(
          {.pipe = one.rate->pipe, .precision = one.rate->precision, .roof = std::move(roof)});
  }
  return roofs;
}

Json calibration_json(const Calibration& calibration) {
  Json ceilings = Json::array();
  for (const CalibratedCeiling& one : calibration.ceilings) ceilings.push_back(ceiling_json(one));
  Json kernels = Json::array();
  for (const CalibrationKernel& one : calibration.kernels)
    kernels.push_back({{"name", one.name},
                       {"shows", one.shows},
                       {"check", to_string(one.check)},
                       {"stream", or_null(one.stream)},
                       {"reason", or_null(one.reason)}});
  return {{"gpu", gpu_json(calibration.gpu)},
          {"date", calibration.date},
          {"runs", calibration.runs},
          {"counters", figures_json(calibration.counters)},
          {"formulas", figures_json(calibration.formulas)},
          {"ceilings", std::move(ceilings)},
          {"kernels", std::move(kernels)}};
}

Result<Calibration> calibration_from_json(const Json& document, std::string_view what) {
  JsonFields fields(document, what);
  const std::string kind = fields.get<std::string>("document");
  if (fields.good() && kind != "calibration") fields.wrong("document", "is not \"calibration\"");
  const std::string version = fields.get<std::string>("schema_version");
  if (fields.good() && !version.starts_with("1."))
    fields.wrong("schema_version", "is not 1.x: another version of rocm-perf wrote it");
  Calibration calibration;
  calibration.gpu = read_gpu(fields.object("gpu"));
  fields.read("date", calibration.date);
  fields.read("runs", calibration.runs, 1);
  calibration.counters = read_figures(fields, "counters");
  calibration.formulas = read_figures(fields, "formulas");
  fields.each("ceilings",
              [&](JsonFields& one) { calibration.ceilings.push_back(read_ceiling(one)); });
  fields.each("kernels", [&](JsonFields& one) { calibration.kernels.push_back(read_kernel(one)); });
  PERFLAB_TRY_VOID(fields.result(kCalibrationRemedy));
  return calibration;
}

std::filesystem::path calibration_place(std::string_view architecture) {
  // The XDG specification: a relative path is to be ignored.
  std::filesystem::path root = environment("XDG_STATE_HOME");
  if (!root.is_absolute()) {
    const std::filesystem::path home = environment("HOME");
    if (!home.is_absolute()) return {};
    root = home / ".local/state";
  }
  return root / "rocm-perf" / fmt::format("calibration-{}.json", architecture);
}

Result<Calibration> read_calibration(const std::filesystem::path& file) {
  PERFLAB_TRY(const std::string text, read_file(file, std::uint64_t{64} << 20));
  PERFLAB_TRY(const Json document, parse_json(text, file.string()));
  return calibration_from_json(document, file.string());
}

}  // namespace perflab::hal
