// How documents are held against their schemas and their own lists of what is missing.
#include "report/document_checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "report/kit/document.h"

namespace perflab::report {
namespace {

/// The part of a schema that describes `value`: $ref followed, the matching branch of anyOf taken.
/// Points into `root`.
const Json* describing(const Json& root, const Json* schema, const Json& value) {
  while (schema->contains("$ref"))
    schema = &root.at(Json::json_pointer(schema->at("$ref").get<std::string>().substr(1)));
  if (!schema->contains("anyOf") || !value.is_object()) return schema;
  for (const Json& branch : schema->at("anyOf"))
    if (const Json* found = describing(root, &branch, value); found->contains("properties"))
      return found;
  return schema;
}

/// Path of an element: "a.b[2]".
std::string element(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

/// A path with its array positions taken out: "kernels[].gpu.product".
std::string general(const std::string& path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) out += c;
    if (c == '[') inside = true;
  }
  return out;
}

/// Bounds and shares of PC samples: `intervals`, `method` and the number of samples say why not.
bool is_of_sample_shares(const std::string& path) {
  if (!path.starts_with("pc_sampling.kernels[].")) return false;
  const std::string field = path.substr(path.rfind('.') + 1);
  return field == "low" || field == "high" || field == "wave_time_share" || field == "issued_share";
}

/// Fields for which null is an ordinary value: nothing that could be known is missing.
bool null_is_ordinary(const std::string& path) {
  static const std::set<std::string> kOrdinary = {
      "synthetic",          // recorded, not made up
      "recordings[].pass",  // no pass folder
      "agents[].product",   // a name that the recorder leaves out
      "missing[].remedy",   // nothing would help
      "kernels[].missing[].remedy",
      "kernels[].code_object",        // registers are as the profiler recorded them
      "code_object",                  // likewise
      "kernels[].code_object.entry",  // not out of a bundle
      "code_object.entry",            // likewise
      "environment.rocprofv3",        // no profiler was run
      "environment.platform",         // likewise
      "environment.rank",             // of no job
      // Of a certificate: what was not asked for or did not happen, memory that is no variable.
      "environment.hsaco_path",
      "method.poison_note",
      "method.type",
      "method.max_ulp",
      "method.max_relative",
      "method.max_absolute",
      "run_failure",
      "regions[].symbol",
      // Of an inspection: what does not apply.
      "compiler",
      "disassembler",
      "against",
      "environment.against",
      "bundles[].compressed_version",
      "code_objects[].generic_version",
      "code_objects[].entry",
      "code_objects[].bundle",
      "code_objects[].file_offset",
      "kernels[].kind",
      "kernels[].launch.required_workgroup_size",
      "kernels[].kernarg.arguments[].name",
      "kernels[].kernarg.arguments[].type",
      "kernels[].kernarg.arguments[].address_space",
      "kernels[].kernarg.arguments[].access",
      "gates[].limit",
      "gates[].problem",
      "gates[].failures[].value",  // `why` says the reason
      // Of a roofline: what does not apply, or stands a second time where the reason is.
      "formulas[].architecture",
      "formulas[].rule",
      "formulas[].note",
      "environment.kernel_filter",
      "environment.roofs",
      "kernels[].flops.estimate",
      "kernels[].flops.by_type[].lane_corrected",
      "kernels[].levels[].write_bytes",
      "kernels[].per_dispatch[].duration_ns",
      "kernels[].per_dispatch[].flops",
      "kernels[].per_dispatch[].hbm_read_bytes",
      "kernels[].per_dispatch[].hbm_write_bytes",
      "kernels[].per_dispatch[].waves_in_flight",
      "kernels[].per_dispatch[].waves_across_passes",
      "chart.gpus[].architecture",
      "chart.gpus[].product",
      "chart.gpus[].roofs[].kernel",
      "chart.gpus[].marks[].bound",
      "chart.gpus[].marks[].attainable_gflops",
      // Of thread traces and verdicts: what does not apply, or says itself why.
      "thread_traces.kernels[].missing[].remedy",
      "thread_traces.kernels[].waits.pairs[].wait.row",
      "thread_traces.kernels[].waits.pairs[].wait.text",
      "thread_traces.kernels[].waits.pairs[].cause.row",
      "thread_traces.kernels[].waits.pairs[].cause.text",
      "kernels[].rows.chain[]",  // no source line
      "kernels[].waves[].cu",    // not recorded
      "pc_sampling.sets[].missing[].remedy",
      "pc_sampling.kernels[].missing[].remedy",
      "pc_sampling.kernels[].hot[].offset",     // a table does not say
      "pc_sampling.kernels[].hot[].in_kernel",  // likewise, or code of others
      "pc_sampling.kernels[].hot[].wait",       // no wait
      "pc_sampling.kernels[].lines[].line",
      "pc_sampling.kernels[].call_sites[].line",
      "pc_sampling.kernels[].causes[].in_kernel",
      "pc_sampling.kernels[].reasons[].of_wave_time",
      "bottlenecks.kernels[].missing[].remedy",
      "bottlenecks.kernels[].bound.missing[].remedy",
      "bottlenecks.kernels[].bound.parts[].factor",  // `text` says why
      "bottlenecks.kernels[].history[].change",
      // Of a search: what does not apply, or was not given.
      "objective.pattern",
      "objective.kernel",
      "space.parameters[].default",
      "history[].detail",
      "history[].value",  // the outcome says why
      "history[].cv",
      "history[].predicted",
      "history[].expected_gain",
      "history[].best_so_far",
      "history[].compiled[].occupancy",
      "simulation",
      "capture",          // a command was run
      "history[].proof",  // likewise, or it did not end
      "environment.capture",
      "environment.conditions",    // a command was run, or a recording searched
      "capture.launch.workgroup",  // as captured
      "capture.launch.grid",
      "capture.launch.blocks",
      "capture.launch.dynamic_lds",
      "capture.tolerance.type",  // not given
      "capture.tolerance.max_ulp",
      "capture.tolerance.max_relative",
      "capture.tolerance.max_absolute",
      "environment.command",
      "environment.build",
      "environment.check",
      "environment.code_object",
      "environment.space_file",
      "environment.simulated",
      "environment.warm_start",
      "phases.predict.prior_odds",         // no priors
      "phases.build_ahead",                // nothing was built and looked at
      "phases.build_ahead.error_without",  // nothing was compared
      "phases.build_ahead.error_with",     // likewise
      "phases.build_ahead.error_without_mix",
      "phases.race",                      // every configuration was run until it was steady
      "history[].compiled[].why_no_mix",  // its instructions are known
      "history[].compiled[].mix",         // why_no_mix says it
      "metrics[].pattern",                // not printed
      "metrics[].at_least",               // no limit
      "metrics[].at_most",                // likewise
      "metrics[].best",                   // no best configuration, or why_missing
      "metrics[].why_missing",            // all have it
      "front",                            // one objective
      "front.recorded",                   // nothing was simulated
      "limits",                           // there are none
      "front",                            // there is one objective
      "front.recorded",                   // nothing was simulated
      "limits.best_outside",              // likewise
      "history[].metrics[]",              // metrics[].why_missing
      "best.metrics[]",                   // likewise
      "top[].metrics[]",                  // likewise
      "limits.best_outside.metrics[]",    // likewise
      "environment.journal",
      "environment.executor",
      // Of a timeline: what belongs to nothing.
      "lanes[].process",
      "lanes[].id",
      "path[][]",
      // Of ranks: of what is decided, or no operation (work of a rank).
      "stragglers.doubt",
      "stragglers.causes[].doubt",
      "path.hops[].operation",
      "path.hops[].kernel",  // of a transfer, and where no kernel ran
      "operations[].root",   // of kinds that have none
      // Of a critical path: what does not apply, or was not asked for.
      "segment",
      "what_if",
      "nodes",
      "machine",
      "other_machines[].machine",
      "environment.processes[].machine",
      "environment.threads[].process",
      "attribution.kernel.share",  // of a run of no length
      "attribution.copy.share",
      "attribution.launch_latency.share",
      "attribution.host.share",
      "attribution.host.calls.share",
      "attribution.host.sync_return.share",
      "attribution.host.code.share",
      "attribution.idle.share",
      "critical_path.attribution.kernel.share",
      "critical_path.attribution.copy.share",
      "critical_path.attribution.launch_latency.share",
      "critical_path.attribution.host.share",
      "critical_path.attribution.host.calls.share",
      "critical_path.attribution.host.sync_return.share",
      "critical_path.attribution.host.code.share",
      "critical_path.attribution.idle.share",
      "critical_path.kernels[].path_share",
      "critical_path.kernels[].gain_if_infinitely_fast_ns",  // not computed: not on the path
      "critical_path.kernels[].gain_if_infinitely_fast_share",
      "kernels[].path_share",
      "kernels[].gains",  // beyond the kernels with the most path time
      "kernels[].gains[].factor",
      "kernels[].gains[].gain_share",
      "what_if.gain_share",
      "parallelism.levels[].share",
      "path.segments[].process",
      "path.segments[].id",
      "path.segments[].entered_by",
      "bubbles.longest[].before",
      "bubbles.longest[].after",
      "bubbles.longest[].call",
      "top_slack[].process",
      "top_slack[].id",
      "segments.slowest",
      "segments.list",
      "segments.list[].label",
      "segments.period.cv",
      "segments.slowest.differences[].name",
      "nodes[].process",
      "nodes[].thread",
      "nodes[].stream",
      "nodes[].queue",
      "nodes[].dispatch_id",
  };
  return kOrdinary.contains(general(path)) || is_of_sample_shares(general(path));
}

/// A `missing` list, and the path of the object that holds it.
struct MissingList {
  std::string holder;  ///< "" or "kernels[3]."
  std::vector<std::string> fields;
};

bool covers(const MissingList& list, const std::string& path) {
  if (!path.starts_with(list.holder)) return false;
  const std::string relative = path.substr(list.holder.size());
  const std::string every = general(relative);
  return std::ranges::any_of(list.fields, [&](const std::string& field) {
    // ranks.json names a field of all elements once: "operations[].root".
    const std::string& told = field.find("[]") == std::string::npos ? relative : every;
    return told == field || told.starts_with(field + ".") || told.starts_with(field + "[");
  });
}

/// Whether the object says itself why it has no value: a figure, a ceiling, a counter.
bool has_own_reason(const Json& value) {
  return value.is_object() && value.contains("reason") && !value.contains("field");
}

void expect_own_reason(const Json& value, const std::string& path) {
  for (const char* field : {"value", "mean"}) {
    const bool unknown = value.contains(field) && value.at(field).is_null();
    EXPECT_TRUE(!unknown || value.at("reason").is_string())
        << path << " has neither value nor reason";
  }
  if (!value.contains("state")) return;
  const std::string state = value.at("state");
  const Json& number = value.contains("value") ? value.at("value") : value.at("mean");
  EXPECT_TRUE(number.is_number() || (state != "measured" && state != "zero")) << path;
  EXPECT_TRUE(number == 0 || state != "zero") << path;
}

void nulls_within_explained(const Json& value, const std::string& path,
                            std::vector<MissingList>& lists) {
  if (has_own_reason(value)) return expect_own_reason(value, path);
  const auto covered = [&](const MissingList& list) { return covers(list, path); };
  EXPECT_TRUE(!value.is_null() || null_is_ordinary(path) || std::ranges::any_of(lists, covered))
      << path << " is null and nothing says why";
  const std::string prefix = path.empty() ? "" : path + ".";
  const bool holds_list = value.is_object() && value.contains("missing");
  if (holds_list) {
    MissingList& list = lists.emplace_back();
    list.holder = prefix;
    for (const Json& entry : value.at("missing")) list.fields.push_back(entry.at("field"));
  }
  if (value.is_object())
    for (const auto& [key, member] : value.items())
      nulls_within_explained(member, prefix + key, lists);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      nulls_within_explained(value[i], element(path, i), lists);
  if (holds_list) lists.pop_back();
}

/// The value at "a.b[2].c"; nullptr when there is none, or when it lies inside a null.
const Json* value_at(const Json& document, const std::string& path) {
  std::string pointer = "/";
  for (const char c : path) {
    if (c == ']') continue;
    pointer += c == '.' || c == '[' ? '/' : c;
  }
  const Json::json_pointer at(pointer);
  return document.contains(at) ? &document.at(at) : nullptr;
}

}  // namespace

Json schema_of(const std::string& name) {
  return parse_json(schema_text(name).value_or(""), "schema").value_or(Json());
}

void expect_schema_order(const Json& root, const Json& unresolved, const Json& value,
                         const std::string& path) {
  const Json& schema = *describing(root, &unresolved, value);
  if (value.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < value.size(); ++i)
      expect_schema_order(root, schema.at("items"), value[i], element(path, i));
  if (!value.is_object() || !schema.contains("properties")) return;
  std::vector<std::string> expected, found;
  for (const auto& [key, sub] : schema.at("properties").items())
    if (value.contains(key)) expected.push_back(key);
  for (const auto& [key, member] : value.items()) {
    found.push_back(key);
    if (schema.at("properties").contains(key))
      expect_schema_order(root, schema.at("properties").at(key), member, path + "." + key);
  }
  EXPECT_EQ(found, expected) << "in " << path;
}

void expect_nulls_explained(const Json& document) {
  std::vector<MissingList> lists;
  nulls_within_explained(document, "", lists);
}

void expect_entries_are_true(const Json& holder, const std::string& where) {
  std::set<std::string> seen;
  for (const Json& entry : holder.at("missing")) {
    const std::string field = entry.at("field");
    const Json* value = value_at(holder, field);
    EXPECT_TRUE(value != nullptr && value->is_null()) << where << field << " is not null";
    EXPECT_TRUE(seen.insert(field).second) << where << field << " comes twice";
    EXPECT_GT(entry.at("reason").get<std::string>().size(), 10U) << where << field;
  }
}
}  // namespace perflab::report
