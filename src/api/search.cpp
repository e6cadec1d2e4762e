// The functions of the C interface over the search of the autotuner (tune/search): ask, tell, best.
// The caller measures. No exception leaves a function; errors become the status of the search.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/documents.h"
#include "api/perflab.h"
#include "base/enum_names.h"
#include "base/text/json.h"
#include "stats/summary.h"
#include "tune/records/read_space.h"
#include "tune/search/search.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name of the C interface
struct perflab_search {
  perflab_documents error;  ///< of the last call
  std::optional<perflab::tune::Space> space;
  std::optional<perflab::tune::Search> search;  ///< none: it could not be opened
  std::vector<bool> told;                       ///< by configuration
  std::uint64_t budget = 0;
  std::string finished, text;
};

namespace {

using namespace perflab;

Result<void> open_search(const perflab_search_inputs* given, perflab_search& out) {
  PERFLAB_TRY(const perflab_search_inputs inputs, api::inputs_of(given, "perflab_search_inputs"));
  if ((inputs.space == nullptr) == (inputs.space_file == nullptr))
    return fail(ErrorCode::usage, "perflab_search_inputs: one of space and space_file is needed",
                "give the space as text, or a file with it");
  tune::SearchOptions options;
  const std::string effort = inputs.effort == nullptr ? "auto" : inputs.effort;
  const auto known = from_name<tune::Effort>(effort);
  if (!known)
    return fail(ErrorCode::usage, fmt::format("\"{}\" is no effort", effort),
                "the efforts are quick, auto and full");
  options.effort = *known;
  options.seed = inputs.seed;
  options.maximize = inputs.maximize != 0;
  PERFLAB_TRY(tune::SpaceFile file, inputs.space != nullptr
                                        ? tune::parse_space(inputs.space, "the space")
                                        : tune::read_space(inputs.space_file));
  if (inputs.architecture != nullptr)
    PERFLAB_TRY_VOID(tune::add_device_limits(file.description, inputs.architecture));
  tune::ListingOptions listing;
  listing.seed = inputs.seed;
  PERFLAB_TRY(tune::Space space, tune::Space::list(std::move(file.description), listing));
  out.space.emplace(std::move(space));
  options.first = {out.space->default_configuration()};
  out.told.resize(out.space->size());
  out.budget = inputs.budget;
  out.search.emplace(*out.space, std::move(options));
  return {};
}

/// Runs `call`, and keeps how it ended; the status.
template <class Call>
int ended(perflab_search& search, const Call& call) {
  Result<void> done;
  try {
    done = call();
  } catch (const std::exception& error) {
    done = fail(ErrorCode::internal, error.what());
  }
  search.error = {};
  if (!done) api::set_failed(done.error(), search.error);
  return search.error.status;
}

/// Likewise of a search that was opened.
template <class Call>
int with_search(perflab_search* search, const Call& call) {
  if (search == nullptr) return exit_code(ErrorCode::usage);
  if (!search->search) return search->error.status;
  try {
    return ended(*search, [&] { return call(*search); });
  } catch (const std::exception&) {  // no memory to say so
    return exit_code(ErrorCode::internal);
  }
}

Result<void> known(const perflab_search& search, std::uint32_t id) {
  if (id < search.told.size()) return {};
  return fail(ErrorCode::usage, fmt::format("there is no configuration {}", id),
              fmt::format("their numbers are below {}", search.told.size()));
}

Result<void> ask(perflab_search& search, std::size_t count, std::uint32_t* ids,
                 std::size_t* asked) {
  if (count == 0 || ids == nullptr || asked == nullptr)
    return fail(ErrorCode::usage, "perflab_search_ask: there is no room for a configuration");
  *asked = 0;
  search.finished.clear();
  const std::size_t evaluated = search.search->evaluated();
  if (search.budget != 0 && evaluated >= search.budget) {
    search.finished = tune::budget_was_used(search.budget);
    return {};
  }
  if (search.budget != 0) count = std::min<std::size_t>(count, search.budget - evaluated);
  for (const tune::Proposal& proposal : search.search->propose(count))
    ids[(*asked)++] = proposal.id;
  if (*asked > 0) return {};
  search.finished = search.search->why_finished();
  if (search.finished.empty()) search.finished = "what is left was asked for and not told";
  return {};
}

Result<void> find(const perflab_search& search, const char* configuration, std::uint32_t* id) {
  if (configuration == nullptr || id == nullptr)
    return fail(ErrorCode::usage, "perflab_search_find: a pointer is NULL");
  PERFLAB_TRY(const Json json, parse_json(configuration, "the configuration"));
  if (!json.is_object()) return fail(ErrorCode::usage, "the configuration is no JSON object");
  std::vector<tune::Binding> values;
  for (const auto& [name, value] : json.items()) {
    PERFLAB_TRY(tune::Value one, tune::value_from_json(value, name));
    values.emplace_back(name, std::move(one));
  }
  const auto found = search.space->find_values(values);
  if (!found)
    return fail(ErrorCode::usage, fmt::format("the space has no configuration {}", configuration));
  *id = *found;
  return {};
}

Result<void> tell(perflab_search& search, std::uint32_t id, const char* outcome,
                  std::span<const double> samples) {
  PERFLAB_TRY_VOID(known(search, id));
  if (search.told[id])
    return fail(ErrorCode::usage, fmt::format("configuration {} was told before", id));
  const auto kind = outcome == nullptr ? tune::Outcome::correct : from_name<tune::Outcome>(outcome);
  if (!kind)
    return fail(ErrorCode::usage, fmt::format("\"{}\" is no outcome", outcome),
                "the outcomes are correct, compile, runtime, timeout, correctness, device_limit");
  if (samples.empty() == (*kind == tune::Outcome::correct))
    return fail(ErrorCode::usage, "a configuration that worked has samples, another has none");
  if (!std::ranges::all_of(samples, [](double sample) { return std::isfinite(sample); }))
    return fail(ErrorCode::usage, "a sample is infinite or not a number",
                "tell the outcome of a configuration that did not work");
  search.search->tell(id, *kind, stats::summarize(samples).median);
  search.told[id] = true;
  return {};
}

}  // namespace

perflab_search* perflab_search_open(const perflab_search_inputs* inputs) {
  try {
    auto out = std::make_unique<perflab_search>();
    ended(*out, [&] { return open_search(inputs, *out); });
    return out.release();
  } catch (...) {
    return nullptr;
  }
}

const perflab_documents* perflab_search_error(const perflab_search* search) {
  return &search->error;
}

size_t perflab_search_size(const perflab_search* search) {
  return search->told.size();
}

int perflab_search_ask(perflab_search* search, size_t count, uint32_t* ids, size_t* asked) {
  return with_search(search, [&](perflab_search& open) { return ask(open, count, ids, asked); });
}

const char* perflab_search_why_finished(const perflab_search* search) {
  return search->finished.c_str();
}

const char* perflab_search_configuration(perflab_search* search, uint32_t id) {
  const int status = with_search(search, [&](perflab_search& open) -> Result<void> {
    PERFLAB_TRY_VOID(known(open, id));
    Json values = Json::object();
    for (std::size_t p = 0; p < open.space->width(); ++p)
      values[open.space->parameters()[p].name] = tune::to_json(open.space->value(id, p));
    open.text = to_canonical_text(values);
    return {};
  });
  return status == 0 ? search->text.c_str() : nullptr;
}

int perflab_search_find(perflab_search* search, const char* configuration, uint32_t* id) {
  return with_search(search, [&](perflab_search& open) { return find(open, configuration, id); });
}

int perflab_search_tell(perflab_search* search, uint32_t id, const char* outcome,
                        const double* samples, size_t count) {
  return with_search(search, [&](perflab_search& open) {
    return tell(open, id, outcome, {samples, samples == nullptr ? 0 : count});
  });
}

size_t perflab_search_best(const perflab_search* search, uint32_t* id, double* value) {
  const auto best = search->search ? search->search->best() : std::nullopt;
  if (best && id != nullptr) *id = *best;
  if (best && value != nullptr) *value = *search->search->best_value();
  return best ? 1 : 0;
}

void perflab_search_close(perflab_search* search) {
  delete search;
}
