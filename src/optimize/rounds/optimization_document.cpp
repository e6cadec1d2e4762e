// Records as they stand in the ledger, put together.
#include "optimize/rounds/optimization_document.h"

#include <vector>

#include "optimize/rounds/records.h"
#include "report/kit/document.h"

namespace perflab::optimize {
namespace {

Json options_json(const Optimization& out) {
  return {{"min_gain", out.judge.min_gain},
          {"confidence", out.judge.confidence},
          {"seed", out.judge.seed},
          {"resamples", out.judge.resamples},
          {"fewest_samples", out.judge.stopping.fewest},
          {"most_samples", out.judge.stopping.most},
          {"looks", out.judge.stopping.looks},
          {"warmup", out.judge.warmup},
          {"max_candidates", or_null(out.max_candidates)},
          {"patience", or_null(out.patience)}};
}

Json source_json(const Optimization& out) {
  return {{"name", out.source_name},
          {"hash", out.source_hash},
          {"kernel", out.kernel},
          {"signature", out.signature},
          {"host", out.parse.host},
          {"architecture", out.parse.host ? Json(nullptr) : Json(out.parse.arch)},
          {"arguments", out.parse.arguments},
          {"workgroup_size", or_null(out.workgroup_size)}};
}

Json original_json(const Candidate& original) {
  Json all = to_json(original);
  Json out = Json::object();
  for (const char* key : {"file", "build", "object", "proof"}) out[key] = std::move(all[key]);
  return out;
}

Json accepted_json(const Optimization& out, std::vector<Missing>& missing) {
  if (!out.accepted) {
    missing.push_back({.field = "accepted", .reason = out.decision.sentence, .remedy = {}});
    return nullptr;
  }
  const Candidate& candidate = out.candidates[*out.accepted - 1];
  const std::optional<SpeedUp> speed = speed_up(*out.final_proof->measurement);
  PERFLAB_CHECK(speed.has_value());  // nothing is accepted without
  return {{"number", candidate.number},
          {"hash", candidate.hash},
          {"file", candidate.file},
          {"speed_up", {{"value", speed->value}, {"low", speed->low}, {"high", speed->high}}}};
}

Json final_json(const Optimization& out, std::vector<Missing>& missing) {
  if (!out.final_proof) {
    missing.push_back(
        {.field = "final", .reason = "no candidate was better than the original", .remedy = {}});
    return nullptr;
  }
  Json json = to_json(*out.final_proof);
  if (!out.final_proof->as_captured)
    missing.push_back({.field = "final.as_captured",
                       .reason = out.accepted
                                     ? "there is no captured input that times were not taken on"
                                     : "nothing is accepted",
                       .remedy = {}});
  json["number"] = *out.best;
  return json;
}

Json environment_json(const OptimizationData& data) {
  const Optimization& out = *data.optimization;
  Json commands = Json::array();
  const auto add = [&](const Candidate& candidate) {
    if (candidate.build && !candidate.build->command.empty())
      commands.push_back({{"number", candidate.number}, {"command", candidate.build->command}});
  };
  add(out.original);
  for (const Candidate& candidate : out.candidates) add(candidate);
  return {{"source", out.source.string()},
          {"folder", out.folder.string()},
          {"trace", or_null(data.trace)},
          {"capture", or_null(data.capture)},
          {"original_kept", or_null(data.original_kept)},
          {"libclang", or_null(out.libclang)},
          {"libclang_path", or_null(out.libclang_path)},
          {"commands", std::move(commands)},
          {"resumed", out.resumed},
          {"ledger_torn", out.torn}};
}

}  // namespace

Json optimization_document(const OptimizationData& data) {
  const Optimization& out = *data.optimization;
  std::vector<Missing> missing;
  Json candidates = Json::array();
  for (const Candidate& candidate : out.candidates) candidates.push_back(to_json(candidate));
  Json document = {{"schema_version", "1.3.0"},
                   {"document", "optimization"},
                   {"generator", report::generator_json()},
                   {"source", source_json(out)},
                   {"proposer", out.proposer},
                   {"sandbox", to_json(out.sandbox)},
                   {"workshop", out.workshop},
                   {"options", options_json(out)},
                   {"original", original_json(out.original)},
                   {"candidates", std::move(candidates)},
                   {"decision", to_json(out.decision)}};
  document["accepted"] = accepted_json(out, missing);
  document["final"] = final_json(out, missing);
  document["projection"] = data.projection ? to_json(*data.projection) : Json(nullptr);
  if (!data.projection) missing.push_back(data.projection_missing);
  document["usage"] = {{"exchanges", out.usage.exchanges},
                       {"prompt_tokens", out.usage.prompt_tokens},
                       {"completion_tokens", out.usage.completion_tokens},
                       {"cost_usd", or_null(out.usage.cost_usd)}};
  if (!out.usage.cost_usd)
    missing.push_back({.field = "usage.cost_usd",
                       .reason = "what the proposer costs is not known",
                       .remedy = "--price-in and --price-out, for a language model"});
  document["ended"] = {{"because", to_string(out.ended)}, {"sentence", out.ended_sentence}};
  document["warnings"] = out.warnings;
  document["environment"] = environment_json(data);
  document["missing"] = report::missing_json(missing);
  return document;
}

}  // namespace perflab::optimize
