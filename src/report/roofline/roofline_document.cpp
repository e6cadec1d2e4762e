// Builder of roofline.json. A field that cannot be given is null; figures and ceilings carry their
// own reason, for all else `missing` of the kernel does.
#include "report/roofline/roofline_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/bottleneck/bottleneck_json.h"
#include "report/kit/document.h"
#include "report/roofline/roofline_chart.h"
#include "report/roofline/roofline_json.h"

namespace perflab::report {
namespace {

using analyze::Figure;
using analyze::KernelRoofline;
using analyze::LevelTraffic;

Json passes_json(const analyze::Roofline& roofline) {
  Json out = Json::array();
  for (const analyze::PassInfo& pass : roofline.passes)
    out.push_back({{"pass", pass.number},
                   {"numbered_by_folder", pass.numbered_by_folder},
                   {"dispatches", pass.dispatches},
                   {"counters", pass.counters}});
  return out;
}

/// Builds the object of one kernel, and its `missing` on the way.
class KernelObject {
 public:
  KernelObject(const KernelRoofline& kernel, FigureWriter& figures)
      : kernel_(kernel), figures_(figures), reasons_(kernel) {}

  Json build() {
    Json out = object_with_room(17);
    out["name"] = kernel_.kernel;
    out["runtime_helper"] = kernel_.runtime_helper;
    out["architecture"] = text("architecture", kernel_.architecture,
                               "the recording does not name the agent of its dispatches");
    out["product"] =
        text("product", kernel_.product, "the recording does not say which product it ran on");
    out["dispatches"] = kernel_.dispatches;
    out["time"] = {{"total_ns", number("time.total_ns", kernel_.time_ns, {"time_ns"},
                                       "the recording has no usable times of its dispatches")},
                   {"from", text("time.from", kernel_.time_from, "there is no time")}};
    out["flops"] = flops();
    out["compute"] = compute();
    out["levels"] = Json::array();
    for (const LevelTraffic& one : kernel_.levels)
      out["levels"].push_back(level(one, out["levels"].size()));
    out["binding"] = binding();
    out["features"] = figures_.groups(kernel_.architecture, kernel_.features);
    out["counters"] = Json::array();
    for (const analyze::CounterValue& counter : kernel_.counters)
      out["counters"].push_back(counter_json(counter));
    out["per_dispatch"] = per_dispatch();
    out["dispatches_left_out"] = kernel_.dispatches_left_out;
    out["explanations"] = kernel_.explanations;
    out["assumptions"] = kernel_.assumptions;
    out["missing"] = missing_json(reasons_.all());
    return out;
  }

 private:
  template <class T>
  Json number(const std::string& field, const std::optional<T>& value,
              std::initializer_list<std::string> names, const std::string& otherwise) {
    if (!value) reasons_.is_null(field, names, otherwise);
    return or_null(value);
  }

  Json text(const std::string& field, const std::string& value, const std::string& otherwise) {
    if (value.empty()) reasons_.is_null(field, {field}, otherwise);
    return or_null(value);
  }

  Json figure(const Figure& figure) { return figures_.figure(kernel_.architecture, figure); }

  Json flops() {
    const std::string none = "no floating-point operations could be counted";
    Json out = {{"raw", number("flops.raw", kernel_.flops_raw, {"flops.raw"}, none)}};
    out["lane_corrected"] =
        number("flops.lane_corrected", kernel_.flops_lane_corrected, {"flops.lane_corrected"},
               kernel_.flops_raw ? "how many lanes worked is not known" : none);
    if (kernel_.flops_are.empty()) reasons_.is_null("flops.are", {"flops.raw"}, none);
    out["are"] = or_null(kernel_.flops_are);
    out["estimate"] = nullptr;
    if (kernel_.estimate)
      out["estimate"] = {{"flops", kernel_.estimate->flops},
                         {"formula", kernel_.estimate->formula},
                         {"known_error", kernel_.estimate->known_error},
                         {"passes", kernel_.estimate->passes}};
    out["by_type"] = Json::array();
    for (const analyze::Work& work : kernel_.work)
      out["by_type"].push_back({{"pipe", hal::to_string(work.pipe)},
                                {"precision", hal::to_string(work.precision)},
                                {"flops", figure(work.flops)},
                                {"lane_corrected", or_null(work.lane_corrected)},
                                {"ceiling", ceiling_json(work.ceiling)}});
    return out;
  }

  Json compute() {
    const std::string no_rate = "it takes floating-point operations and a time";
    Json out = {{"gflops", number("compute.gflops", kernel_.gflops, {"gflops"}, no_rate)}};
    out["gflops_raw"] = number("compute.gflops_raw", kernel_.gflops_raw, {"gflops_raw"}, no_rate);
    out["roof"] = ceiling_json(kernel_.compute_roof);
    reasons_.stands_elsewhere("compute.roof");
    out["share"] = number("compute.share", kernel_.compute_share, {"compute.share"},
                          "it takes an achieved rate and a roof");
    out["overlapped_roof"] =
        number("compute.overlapped_roof", kernel_.overlapped_roof, {"compute.overlapped_roof"},
               "it takes the roofs of all pipes that the kernel uses");
    out["packed_code"] =
        number("compute.packed_code", kernel_.packed_code, {"packed_code"},
               "the kernel's code object was not found or could not be disassembled");
    return out;
  }

  Json level(const LevelTraffic& level, std::size_t index) {
    Json out = {{"name", level.name},
                {"label", level.label},
                {"read_bytes", figure(level.read_bytes)},
                {"write_bytes", level.split ? figure(level.write_bytes) : Json(nullptr)}};
    const auto put = [&](const char* name, const std::optional<double>& value, const char* why) {
      out[name] = number(fmt::format("levels[{}].{}", index, name), value,
                         {fmt::format("levels.{}.{}", level.name, name)}, why);
    };
    put("bytes", level.bytes, "the bytes read or those written are not known");
    put("intensity", level.intensity, "it takes floating-point operations, and bytes above 0");
    put("gb_per_s", level.gb_per_s, "it takes bytes and a time");
    out["ceiling"] = ceiling_json(level.ceiling);
    put("share", level.share, "it takes an achieved rate and a ceiling");
    put("ridge", level.ridge, "it takes the kernel's compute roof and the level's ceiling");
    put("ridge_ratio", level.ridge_ratio, "it takes an intensity and a ridge");
    return out;
  }

  Json binding() {
    if (!kernel_.binding) {
      reasons_.is_null("binding", {"binding"}, "no roof with its share of the time is known");
      return nullptr;
    }
    const analyze::Binding& binding = *kernel_.binding;
    return {{"roof", binding.roof},
            {"bound", binding.bound},
            {"attainable_gflops",
             number("binding.attainable_gflops", binding.attainable_gflops,
                    {"binding.attainable_gflops"}, "it takes floating-point operations")},
            {"share", number("binding.share", binding.share, {"binding.share"},
                             "it takes the time of the dispatches")}};
  }

  [[nodiscard]] Json per_dispatch() const {
    Json out = Json::array();
    for (const analyze::DispatchFigures& dispatch : kernel_.per_dispatch) {
      Json row = object_with_room(10);
      row["ordinal"] = dispatch.ordinal;
      row["gpu"] = dispatch.gpu;
      row["grid"] = dispatch.grid;
      row["workgroup"] = dispatch.workgroup;
      row["duration_ns"] = or_null(dispatch.duration_ns);
      row["flops"] = or_null(dispatch.flops);
      row["hbm_read_bytes"] = or_null(dispatch.hbm_read_bytes);
      row["hbm_write_bytes"] = or_null(dispatch.hbm_write_bytes);
      row["waves_in_flight"] = or_null(dispatch.waves_in_flight);
      row["waves_across_passes"] = or_null(dispatch.waves_across_passes);
      out.push_back(std::move(row));
    }
    return out;
  }

  const KernelRoofline& kernel_;
  FigureWriter& figures_;
  MissingReasons reasons_;
};

}  // namespace

Json roofline_document(const trace::Trace& trace, const analyze::Analysis& analysis,
                       const RooflineRequest& request) {
  const analyze::Roofline& roofline = *analysis.roofline;
  Json document = object_with_room(12);
  document["schema_version"] = "1.2.0";
  document["document"] = "roofline";
  document["generator"] = generator_json();
  document["synthetic"] = or_null(trace::synthetic_note(trace));
  document["passes"] = passes_json(roofline);
  FigureWriter figures;
  Json kernels = Json::array();
  for (const KernelRoofline& kernel : roofline.kernels)
    kernels.push_back(KernelObject(kernel, figures).build());
  document["formulas"] = figures.formulas();
  document["kernels"] = std::move(kernels);
  document["bottlenecks"] = bottlenecks_json(analysis.bottlenecks);
  document["chart"] = charts_json(roofline_charts(roofline));
  document["warnings"] = roofline.warnings;
  document["missing"] = Json::array();
  std::set<std::string> files;
  for (const trace::Source& source : trace.sources) files.insert(source.file);
  document["environment"] = {{"files", files},
                             {"kernel_filter", or_null(request.kernel_filter)},
                             {"roofs", or_null(request.roofs)}};
  return document;
}

Json roofline_summary(const KernelRoofline& kernel, const std::string& path,
                      std::vector<Missing>& missing) {
  MissingReasons reasons(kernel);
  Json out = Json::object();
  const auto put = [&](const char* name, Json value, std::initializer_list<std::string> names,
                       const std::string& otherwise) {
    if (value.is_null()) reasons.is_null(fmt::format("{}.{}", path, name), names, otherwise);
    out[name] = std::move(value);
  };
  // A figure of the counter tables; `scale` is 0.01 where it is a percentage there.
  const auto put_feature = [&](const char* name, const char* feature, double scale) {
    const Figure* figure = find_feature(kernel, feature);
    const bool known = figure != nullptr && figure->value;
    put(name, known ? Json(*figure->value * scale) : Json(nullptr), {},
        figure != nullptr && !figure->reason.empty() ? figure->reason
                                                     : "no counters for it on this architecture");
  };
  const auto hbm = std::ranges::find(kernel.levels, "hbm", &LevelTraffic::name);
  const LevelTraffic level = hbm == kernel.levels.end() ? LevelTraffic{} : *hbm;
  const analyze::Binding binding = kernel.binding.value_or(analyze::Binding{});
  const char* no_bytes = "it takes the bytes that left L2";
  const char* no_roof = "no roof with its share of the time is known";
  put("gflops", or_null(kernel.gflops), {"gflops"},
      "it takes floating-point operations and a time");
  put("flops_are", or_null(kernel.flops_are), {"flops.raw"},
      "no floating-point operations could be counted");
  put("intensity_hbm", or_null(level.intensity), {"levels.hbm.intensity"}, no_bytes);
  put("hbm_gb_per_s", or_null(level.gb_per_s), {"levels.hbm.gb_per_s"}, no_bytes);
  put("roof", or_null(binding.roof), {"binding"}, no_roof);
  put("bound", or_null(binding.bound), {"binding"}, no_roof);
  put("attainable_gflops", or_null(binding.attainable_gflops),
      {"binding.attainable_gflops", "binding"}, "it takes floating-point operations and roofs");
  put("share", or_null(binding.share), {"binding.share", "binding"}, no_roof);
  put_feature("occupancy_achieved", "occupancy.achieved", 0.01);
  put_feature("lanes_per_valu_instruction", "lanes", 1);
  put_feature("l2_hit_rate", "hit.l2", 0.01);
  std::ranges::copy(reasons.fields(), std::back_inserter(missing));
  return out;
}

}  // namespace perflab::report
