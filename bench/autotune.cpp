// What bench/autotune.py runs: the search against one recorded space, many seeds, or against a
// written space of 240,000 configurations. Prints one JSON line: the recorded value of the best
// configuration found after 25, 50, 100 and 200 runs, and the CPU time of the model.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "tune/priors/prior_task.h"
#include "tune/records/read_space.h"
#include "tune/records/recording.h"
#include "tune/search/racing.h"
#include "tune/search/search.h"
#include "tune/space/space.h"

namespace {

using namespace perflab::tune;

constexpr std::array<std::size_t, 4> kBudgets = {25, 50, 100, 200};
constexpr std::size_t kMostRuns = 10;  // of a configuration, as --repeats

struct Options {
  std::string recording, definition, model = "tgp", effort = "full";
  std::size_t seeds = 30, first_seed = 0, batch = 1, budget = 200;
  std::vector<std::string> priors = {};
  std::size_t repeats = 1;  ///< runs of each configuration
  bool race = false;        ///< one run of each, and the likely best ones again
  bool noisy = false, hotspot_slab = false, shuffled = false;
};

/// A space with the value of every configuration.
struct Problem {
  Space space;
  std::vector<std::optional<double>> values;
  std::vector<std::vector<double>> repeats;
  ConfigId first = 0;
  std::vector<Recording> priors = {};
  double optimum = 0;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

std::int64_t whole(const Recording& recording, const RecordedConfiguration& configuration,
                   std::string_view name) {
  const auto at = std::ranges::find(recording.parameters, name) - recording.parameters.begin();
  return std::get<std::int64_t>(configuration.values[static_cast<std::size_t>(at)]);
}

/// The complete part of the interrupted hotspot recording (data/autotune/SOURCE.md).
void keep_hotspot_slab(Recording& recording) {
  std::erase_if(recording.configurations, [&](const RecordedConfiguration& one) {
    return whole(recording, one, "tile_size_x") > 4 || whole(recording, one, "block_size_x") != 1 ||
           whole(recording, one, "block_size_y") != 32;
  });
}

/// The row of the recording that has the defaults of the T1 file; without one, row 0.
ConfigId declared_default(const Space& space, const std::string& definition) {
  if (definition.empty()) return 0;
  const auto file = read_space(definition);
  if (!file) return 0;
  std::vector<Binding> values;
  for (const Parameter& parameter : file->description.parameters) {
    if (!parameter.default_level) continue;
    values.emplace_back(parameter.name, parameter.values[*parameter.default_level]);
  }
  return space.find_values(values).value_or(0);
}

perflab::Result<Problem> recorded_problem(const Options& options) {
  PERFLAB_TRY(Recording recording, read_recording(options.recording));
  if (options.hotspot_slab) keep_hotspot_slab(recording);
  PERFLAB_TRY(Space space, space_of(recording));
  Problem problem{.space = std::move(space), .values = {}, .repeats = {}};
  problem.values.resize(problem.space.size());
  problem.repeats.resize(problem.space.size());
  problem.optimum = std::numeric_limits<double>::infinity();
  for (const RecordedConfiguration& one : recording.configurations) {
    std::vector<Binding> values;
    for (std::size_t i = 0; i < recording.parameters.size(); ++i)
      values.emplace_back(recording.parameters[i], one.values[i]);
    const auto id = problem.space.find_values(values);
    if (!id || !one.value) continue;
    problem.values[*id] = one.value;
    problem.repeats[*id] = one.repeats;
    problem.optimum = std::min(problem.optimum, *one.value);
  }
  for (const std::string& file : options.priors) {
    PERFLAB_TRY(Recording prior, read_recording(file));
    problem.priors.push_back(std::move(prior));
  }
  problem.first = declared_default(problem.space, options.definition);
  return problem;
}

/// 10 parameters, 240,000 configurations, a smooth valley with an alignment effect.
perflab::Result<Problem> written_problem() {
  SpaceDescription description;
  const std::array<std::size_t, 10> counts = {10, 10, 5, 5, 3, 2, 2, 2, 2, 2};
  for (std::size_t p = 0; p < counts.size(); ++p) {
    Parameter parameter{.name = fmt::format("p{}", p), .values = {}, .default_level = {}};
    for (std::size_t v = 0; v < counts[p]; ++v)
      parameter.values.emplace_back(
          static_cast<std::int64_t>(counts[p] > 5 ? 16 * (v + 1) : 1 + v));
    description.parameters.push_back(std::move(parameter));
  }
  PERFLAB_TRY(Space space, Space::list(std::move(description)));
  Problem problem{.space = std::move(space), .values = {}, .repeats = {}};
  problem.optimum = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < problem.space.size(); ++row) {
    const auto levels = problem.space.levels(static_cast<ConfigId>(row));
    double log_value = 0;
    for (std::size_t p = 0; p < levels.size(); ++p) {
      const double distance = static_cast<double>(levels[p]) - 0.6 * static_cast<double>(counts[p]);
      log_value += 0.05 * distance * distance / (1 + static_cast<double>(p));
    }
    if ((levels[0] + 1) % 4 != 0) log_value += 0.2;
    log_value += 0.02 * levels[1] * levels[2] - 0.05 * levels[3] * levels[4];
    problem.values.emplace_back(std::exp(log_value));
    problem.repeats.push_back({std::exp(log_value)});
    problem.optimum = std::min(problem.optimum, *problem.values.back());
  }
  return problem;
}

/// splitmix64, for the choice of the repeat.
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// The results of a prior given to its configurations at random: another kernel's, say.
void shuffle(Recording& recording, std::uint64_t seed) {
  auto& all = recording.configurations;
  for (std::size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1].values, all[scramble(seed + i) % i].values);
}

perflab::Result<Priors> priors_of(const Problem& problem, const Options& options,
                                  std::uint64_t seed) {
  Priors priors;
  for (std::size_t p = 0; p < problem.priors.size(); ++p) {
    Recording recording = problem.priors[p];
    if (options.shuffled) shuffle(recording, 1'000'003 * seed + 7'919 * p);
    PriorDescription named;
    named.file = options.priors[p];
    PERFLAB_TRY(auto prior, PriorTask::make(problem.space, recording, false, std::move(named)));
    priors.push_back(std::move(prior));
  }
  return priors;
}

/// The value of one run: the recorded one, or with --noisy a recorded repeat.
double run_of(const Problem& problem, bool noisy, std::uint64_t seed, ConfigId id,
              std::size_t number) {
  const auto& repeats = problem.repeats[id];
  if (!noisy || repeats.empty()) return *problem.values[id];
  return repeats[scramble(seed * 1'000'003 + id + 7'777'777'777U * number) % repeats.size()];
}

/// One search; the ratio best / optimum at each budget, by the recorded value of what is chosen.
std::vector<double> search_once(const Problem& problem, const Options& options,
                                const Priors& priors, std::uint64_t seed) {
  SearchOptions with;
  with.priors = priors;
  with.seed = seed;
  with.first = {problem.first};
  if (options.model == "polynomial") {
    with.model = ModelKind::polynomial;
    with.seed_evaluations = options.budget / 5;
  }
  if (options.effort == "quick") with.effort = Effort::quick;
  if (options.effort == "auto") with.effort = Effort::automatic;
  Search search(problem.space, with);
  std::vector<double> ratios;
  Racing racing(false, kMostRuns);
  std::size_t evaluated = 0;
  std::size_t runs = 0;
  const auto ratio = [&] {
    const auto best = search.best();
    return best ? *problem.values[*best] / problem.optimum
                : std::numeric_limits<double>::infinity();
  };
  const auto count = [&](std::size_t more) {
    for (const std::size_t budget : kBudgets)
      if (runs < budget && runs + more >= budget) ratios.push_back(ratio());
    runs += more;
  };
  while (runs < options.budget) {
    const auto proposals = search.propose(std::min(options.batch, options.budget - runs));
    if (proposals.empty()) break;
    for (const Proposal& proposal : proposals) {
      const bool works = problem.values[proposal.id].has_value();
      for (std::size_t i = 0; works && i < options.repeats; ++i)
        racing.add(proposal.id, run_of(problem, options.noisy, seed, proposal.id, i));
      search.tell(proposal.id, works ? Outcome::correct : Outcome::run_failed,
                  racing.value(proposal.id));
      ++evaluated;
      count(works ? options.repeats : 1);
    }
    while (options.race && runs < options.budget && search.expected_gain()) {
      const auto again = racing.next(*search.expected_gain(), 1);
      if (again.empty()) break;
      const ConfigId id = again.front();
      racing.add(id, run_of(problem, options.noisy, seed, id, racing.runs(id)));
      search.tell_again(id, *racing.value(id));
      count(1);
    }
  }
  ratios.push_back(ratio());
  ratios.push_back(static_cast<double>(evaluated));
  return ratios;
}

int run(const Options& options) {
  const auto problem =
      options.recording == "written" ? written_problem() : recorded_problem(options);
  if (!problem) {
    fmt::print(stderr, "{}\n", problem.error().message);
    return 1;
  }
  std::vector<std::string> lines;
  perflab::Result<Priors> priors;
  double longest = 0;
  const double begin = cpu_seconds();
  for (std::size_t i = 0; i < options.seeds; ++i) {
    const double before = cpu_seconds();
    if (i == 0 || options.shuffled) priors = priors_of(*problem, options, options.first_seed + i);
    if (!priors) {
      fmt::print(stderr, "{}\n", priors.error().message);
      return 1;
    }
    lines.push_back(fmt::format(
        "[{:.6f}]",
        fmt::join(search_once(*problem, options, *priors, options.first_seed + i), ", ")));
    longest = std::max(longest, cpu_seconds() - before);
  }
  const double mean = (cpu_seconds() - begin) / static_cast<double>(options.seeds);
  fmt::print(
      "{{\"size\": {}, \"default\": {}, \"mean_s\": {:.4f}, \"longest_s\": {:.4f}, \"runs\": "
      "[{}]}}\n",
      problem->space.size(), problem->first, mean, longest, fmt::join(lines, ", "));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto number = [](const char* text) { return static_cast<std::size_t>(std::atoll(text)); };
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--noisy")
      options.noisy = true;
    else if (name == "--race")
      options.race = true;
    else if (name == "--shuffled")
      options.shuffled = true;
    else if (name == "--hotspot-slab")
      options.hotspot_slab = true;
    else if (++i; name == "--definition")
      options.definition = value;
    else if (name == "--prior")
      options.priors.emplace_back(value);
    else if (name == "--seeds")
      options.seeds = number(value);
    else if (name == "--first-seed")
      options.first_seed = number(value);
    else if (name == "--batch")
      options.batch = std::max<std::size_t>(number(value), 1);
    else if (name == "--repeats")
      options.repeats = std::max<std::size_t>(number(value), 1);
    else if (name == "--budget")
      options.budget = number(value);
    else if (name == "--model")
      options.model = value;
    else if (name == "--effort")
      options.effort = value;
    else
      options.recording = argv[--i];
  }
  if (options.recording.empty() || options.seeds == 0) {
    std::fputs("usage: bench_autotune RECORDING|written [--seeds N] [--noisy] [--batch N] ...\n",
               stderr);
    return 2;
  }
  return run(options);
}
