#include "report/ranks/ranks_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/kit/document.h"
#include "report/ranks/ranks_words.h"

namespace perflab::report {
namespace {

using ranks::RanksAnalysis;

constexpr std::string_view kNoCollectives = "no rank recorded a communication kernel";

class RanksWriter {
 public:
  explicit RanksWriter(const RanksAnalysis& analysis)
      : all_(analysis), begin_(begin_of(analysis)) {}

  Json document() {
    Json out = {
        {"schema_version", "1.0.0"}, {"document", "ranks"}, {"generator", generator_json()}};
    out["synthetic"] = or_null(all_.ranks.front().synthetic);
    out["job"] = job();
    out["answer"] = answer();
    out["ranks"] = Json::array();
    for (ranks::RankIndex rank = 0; rank < all_.ranks.size(); ++rank)
      out["ranks"].push_back(rank_json(rank));
    out["stragglers"] = stragglers();
    out["collectives"] = Json::array();
    for (const ranks::Statistics& row : all_.figures.statistics)
      out["collectives"].push_back(collective(row));
    out["groups"] = Json::array();
    for (const ranks::Group& group : all_.matching.groups) out["groups"].push_back(group_of(group));
    add_waits_for(out);
    out["operations"] = Json::array();
    note_silent_kinds();
    for (const ranks::OperationFigures& one : all_.figures.worst)
      out["operations"].push_back(operation(one));
    out["path"] = path();
    out["warnings"] = all_.warnings;
    for (const ranks::RankSummary& rank : all_.ranks)
      for (const auto& [field, reason] : rank.missing) missing("ranks[]." + field, reason);
    out["missing"] = missing_json(missing_);
    return out;
  }

 private:
  /// Where the document's times count from: those of clocks since 1970 are larger than what a
  /// reader of JSON with floating point keeps (2^53).
  static std::int64_t begin_of(const RanksAnalysis& all) {
    if (all.path) return all.path->begin;
    std::optional<std::int64_t> first;
    for (const ranks::OperationFigures& one : all.figures.worst)
      for (const ranks::Member& member : all.matching.operations[one.operation].members) {
        const std::int64_t entry = all.clocks.aligned(
            member.rank, all.ranks[member.rank].collectives[member.collective].entry);
        first = std::min(first.value_or(entry), entry);
      }
    return first.value_or(0);
  }

  /// A field is named once, with its first reason.
  Json missing(const std::string& field, std::string_view reason, std::string_view remedy = {}) {
    if (named_.insert(field).second)
      missing_.push_back(
          {.field = field, .reason = std::string(reason), .remedy = std::string(remedy)});
    return nullptr;
  }
  template <class T>
  Json value(const char* field, const std::optional<T>& one, std::string_view reason,
             std::string_view remedy = {}) {
    return one ? Json(*one) : missing(field, reason, remedy);
  }

  Json unmatched() const {
    std::map<ranks::Unmatched, std::pair<std::size_t, std::set<ranks::RankIndex>>> by_reason;
    for (const ranks::NotMatched& one : all_.matching.unmatched) {
      auto& [count, of] = by_reason[one.why];
      ++count;
      of.insert(one.member.rank);
    }
    Json out = Json::array();
    for (const auto& [why, found] : by_reason)
      out.push_back({{"reason", unmatched_name(why)},
                     {"sentence", unmatched_words(why)},
                     {"operations", found.first},
                     {"ranks", found.second.size()}});
    return out;
  }

  Json job() {
    std::optional<std::int64_t> size;
    std::set<std::string> nodes;
    std::int64_t kernel_time = 0, judged_time = 0, recorded_time = 0;
    std::uint64_t recorded = 0;
    for (const ranks::RankSummary& rank : all_.ranks) {
      recorded += rank.collectives.size();
      for (const ranks::Collective& one : rank.collectives) recorded_time += one.exit - one.entry;
      if (rank.identity.facts.size) size = std::max(size.value_or(0), *rank.identity.facts.size);
      if (!rank.identity.hostname.empty()) nodes.insert(rank.identity.hostname);
    }
    for (const ranks::RankFigures& rank : all_.figures.ranks) {
      kernel_time += rank.kernel_time;
      judged_time += rank.judged_time;
    }
    std::vector<std::int64_t> absent = all_.matching.missing_ranks;
    if (absent.size() > kMostMissingRanks) absent.resize(kMostMissingRanks);
    Json out = {{"ranks", all_.ranks.size()}};
    out["size"] = value("job.size", size, "no recording says how many ranks the job has",
                        "record with torchrun, an MPI or Slurm, which set it");
    out["missing_ranks"] = absent;
    out["missing_rank_count"] = all_.matching.missing_ranks.size();
    out["numbered"] = all_.ranked;
    out["nodes"] = nodes;
    out["groups"] = all_.matching.groups.size();
    out["operations"] = all_.figures.operations;
    out["decided"] = all_.figures.decided;
    out["clocks"] = all_.clocks.zones;
    out["violations"] = all_.clocks.violation_count;
    out["largest_violation_ns"] =
        all_.clocks.violations.empty() ? 0 : all_.clocks.violations.front().by;
    out["noise_violations"] = all_.clocks.noise_count;
    out["largest_noise_ns"] = all_.clocks.largest_noise;
    out["collectives"] = recorded;
    out["collective_time_ns"] = recorded_time;
    out["kernel_time_ns"] = kernel_time;
    out["judged_time_ns"] = judged_time;
    const auto waited = [&](std::int64_t value) {
      return judged_time > 0 ? std::optional(value) : std::nullopt;
    };
    const std::string_view no_wait =
        recorded == 0 ? kNoCollectives : "of no operation it is known who waits for whom in it";
    out["wait_ns"] = value("job.wait_ns", waited(all_.figures.wait.value), no_wait);
    out["wait_error_ns"] = value("job.wait_error_ns", waited(all_.figures.wait.error), no_wait);
    out["unmatched"] = unmatched();
    out["begin_ns"] = begin_;
    return out;
  }

  Json answer() {
    Json out = {{"who", who_words(all_)}};
    out["victim"] = value("answer.victim", victim_words(all_), "no wait is longer than its error");
    out["why"] = all_.causes.empty() ? missing("answer.why", "no rank causes much of the waiting")
                                     : Json(cause_words(all_, all_.causes.front()));
    out["worth"] = worth();
    out["collective"] = all_.figures.statistics.empty()
                            ? missing("answer.collective", "no operation was matched")
                            : Json(collective_words(all_.figures.statistics.front()));
    return out;
  }

  Json worth() {
    if (!all_.path) return missing("answer.worth", all_.no_path);
    const auto& answers = all_.path->what_if;
    for (const std::size_t i : what_if_order(*all_.path, all_.asked))
      if (answers[i].gain) return what_if_words(*all_.path, answers[i]);
    return missing("answer.worth", "no question could be answered");
  }

  Json clock(ranks::RankIndex rank) {
    if (rank >= all_.clocks.ranks.size()) return {};
    const ranks::RankClock& own = all_.clocks.ranks[rank];
    const std::string_view none = "too few operations with ranks of another clock";
    Json out = {{"zone", own.zone}, {"offset_ns", own.offset}, {"drift_ppm", own.drift * 1e6}};
    out["low_ns"] = value("ranks[].clock.low_ns", own.low, none);
    out["high_ns"] = value("ranks[].clock.high_ns", own.high, none);
    out["likely_error_ns"] = value("ranks[].clock.likely_error_ns", own.likely, none);
    return out;
  }

  Json rank_json(ranks::RankIndex rank) {
    const ranks::RankSummary& summary = all_.ranks[rank];
    const ranks::RankIdentity& identity = summary.identity;
    const ranks::RankFigures& own = all_.figures.ranks[rank];
    Json out = {{"label", rank_label(all_, rank)}};
    out["rank"] = value("ranks[].rank", identity.facts.rank,
                        "the recording names no variable of torchrun, MPI or Slurm",
                        "start the job with torchrun, an MPI or Slurm; of JSON and CSV, which have "
                        "no variables, name the files by rank (rank_3_results.json)");
    out["rank_from"] = identity.facts.from.empty()
                           ? missing("ranks[].rank_from", "the recording gives no number")
                           : Json(identity.facts.from);
    out["host"] = identity.hostname.empty() ? missing("ranks[].host", "the recording names no host")
                                            : Json(identity.hostname);
    out["pid"] = identity.pid;
    out["gpu"] = identity.gpu;
    out["gpu_name"] = identity.gpu_name.empty()
                          ? missing("ranks[].gpu_name", "the recording does not name the GPU")
                          : Json(identity.gpu_name);
    out["file"] = summary.file;
    out["collectives"] = summary.collectives.size();
    out["clock"] = clock(rank);
    out["operations"] = own.operations;
    out["last"] = own.last;
    const std::uint64_t decided = own.operations - std::min(own.operations, own.undecided);
    out["last_share"] = decided > 0
                            ? Json(static_cast<double>(own.last) / static_cast<double>(decided))
                            : missing("ranks[].last_share",
                                      "none of its operations has a last arriver "
                                      "that is decided");
    out["undecided"] = own.undecided;
    out["kernel_time_ns"] = own.kernel_time;
    out["judged_time_ns"] = own.judged_time;
    add(out, "wait", own.wait);
    add(out, "lateness", own.lateness);
    add(out, "delay_caused", own.delay_caused);
    return out;
  }

  static void add(Json& out, const std::string& field, const ranks::Uncertain& value) {
    out[field + "_ns"] = value.value;
    out[field + "_error_ns"] = value.error;
  }

  static Json against(const ranks::AgainstMedian& figure) {
    return {{"own_ns", figure.own}, {"median_ns", figure.median}};
  }

  Json cause_json(const ranks::Cause& cause) {
    Json out = {
        {"rank", cause.rank},
        {"cause", name(cause.kind)},
        {"doubt", cause.doubt == ranks::CauseDoubt::none ? Json(nullptr) : Json(name(cause.doubt))},
        {"sentence", cause_words(all_, cause)},
        {"operations", cause.operations},
        {"lateness_ns", cause.lateness},
        {"length", against(cause.length)},
        {"busy", against(cause.busy)},
        {"kernels", against(cause.kernels)},
        {"copies", against(cause.copies)},
        {"idle", against(cause.idle)},
        {"spent", Json::array()}};
    for (std::size_t kind = 0; kind < cause.spent.size(); ++kind)
      out["spent"].push_back({{"on", spent_name(static_cast<analyze::Spent>(kind))},
                              {"own_ns", cause.spent[kind].own},
                              {"median_ns", cause.spent[kind].median}});
    out["kernel"] = nullptr;
    if (cause.kernel)
      out["kernel"] = {{"name", cause.kernel->kernel},
                       {"dispatches", cause.kernel->dispatches},
                       {"median_dispatches", cause.kernel->median_dispatches},
                       {"time_ns", cause.kernel->time},
                       {"median_time_ns", cause.kernel->median_time},
                       {"median_at_most_ns", cause.kernel->median_at_most}};
    else
      missing("stragglers.causes[].kernel", "no kernel ran before the operations");
    out["clock_factor"] = value("stragglers.causes[].clock_factor", cause.clock_factor,
                                "the cause is not that all kernels are slower by one factor");
    return out;
  }

  Json stragglers() {
    const ranks::PatternFigures& found = all_.figures.pattern;
    Json out = {{"pattern", name(found.pattern)},
                {"doubt", found.doubt == ranks::PatternDoubt::none ? Json(nullptr)
                                                                   : Json(name(found.doubt))}};
    out["rank"] = value("stragglers.rank", found.rank, "it is not one rank again and again");
    out["node"] = value("stragglers.node", found.node, "it is not the ranks of one node");
    const bool any = has_collectives(all_);
    out["delay_share"] = value("stragglers.delay_share", found.delay_share,
                               any ? "nobody waited for a rank that is known" : kNoCollectives);
    out["last_share"] = value("stragglers.last_share", found.last_share,
                              any ? "of no operation it is known who came last" : kNoCollectives);
    const std::string_view few = "too few operations, or the work before them is not known";
    out["correlation"] = value("stragglers.correlation", found.correlation, few);
    out["slope"] = value("stragglers.slope", found.slope, few);
    out["sentence"] = pattern_words(all_);
    out["causes"] = Json::array();
    for (const ranks::Cause& cause : all_.causes) out["causes"].push_back(cause_json(cause));
    return out;
  }

  /// Why collectives have no bytes, and what helps: their kind has none, or nothing says them.
  std::pair<std::string_view, std::string_view> no_size_reason() const {
    using enum ranks::CollectiveKind;
    const bool could = std::ranges::any_of(all_.figures.statistics, [](const auto& row) {
      return !row.bytes && row.kind != group && row.kind != unknown && row.kind != barrier;
    });
    if (!could) return {"barriers, and several operations in one kernel, have no one size", ""};
    const bool amd = std::ranges::any_of(all_.ranks, [](const ranks::RankSummary& rank) {
      return rank.identity.platform == trace::Platform::amd;
    });
    return {"the recordings give no sizes",
            amd ? "set RCCL_LOG_ROCTX=1 and record markers (rocprofv3 --rccl-trace --marker-trace)"
                : "record with a newer PyTorch, whose profiler writes them to each operation"};
  }

  Json collective(const ranks::Statistics& row) {
    const std::string_view unknown_waits =
        "its kind does not say who waits for whom, or there is neither a common clock nor a kind "
        "in which everyone waits";
    const std::string_view no_clock = "the ranks have no common clock with a bound";
    const std::string_view no_transfer =
        "its kind does not say who waits for whom, there is no common clock, or a rank of it was "
        "not recorded: nobody knows when the last one came";
    const auto of = [](const char* field) { return fmt::format("collectives[].{}", field); };
    const auto put = [&](Json& out, const char* field, const auto& one, std::string_view reason,
                         std::string_view remedy = {}) {
      out[field] = value(of(field).c_str(), one, reason, remedy);
    };
    Json out = {
        {"name", collective_name(row)}, {"group", row.group}, {"kind", ranks::info(row.kind).name}};
    out["function"] = row.function.empty()
                          ? missing(of("function"), "the recording does not name the call")
                          : Json(row.function);
    const auto [no_size, sizes] = no_size_reason();
    put(out, "bytes", row.bytes, no_size, sizes);
    out["operations"] = row.operations;
    out["incomplete"] = row.incomplete;
    out["undecided"] = row.undecided;
    out["kernel_time_ns"] = row.kernel_time;
    out["longest_ns"] = row.longest;
    const auto field_of = [&](auto member) {
      return row.wait ? std::optional((*row.wait).*member) : std::nullopt;
    };
    put(out, "wait_ns", field_of(&ranks::Uncertain::value), unknown_waits);
    put(out, "wait_error_ns", field_of(&ranks::Uncertain::error), unknown_waits);
    put(out, "wait_share", row.wait_share, unknown_waits);
    put(out, "wait_share_low", row.wait_share_low, unknown_waits);
    put(out, "wait_share_high", row.wait_share_high, unknown_waits);
    out["verdict"] = name(row.verdict);
    out["sentence"] = collective_words(row);
    put(out, "transfer_median_ns", row.transfer_median, no_transfer);
    put(out, "transfer_shortest_ns", row.transfer_shortest, no_transfer);
    put(out, "transfer_longest_ns", row.transfer_longest, no_transfer);
    put(out, "entry_skew_mean_ns", row.entry_skew_mean, no_clock);
    put(out, "exit_skew_mean_ns", row.exit_skew_mean, no_clock);
    const std::string_view no_rate = row.bytes ? no_transfer : no_size;
    const std::string_view remedy = row.bytes ? std::string_view() : sizes;
    put(out, "algorithm_gb_per_s", row.algorithm_gb_per_s, no_rate, remedy);
    put(out, "bus_gb_per_s", row.bus_gb_per_s, no_rate, remedy);
    return out;
  }

  Json group_of(const ranks::Group& group) {
    Json out = {{"id", group.id}, {"key", name(group.key)}, {"ranks", group.ranks}};
    out["size"] = value("groups[].size", group.size, "the recordings do not say how many ranks");
    out["assumed_starts"] = group.assumed_starts;
    return out;
  }

  void add_waits_for(Json& out) const {
    std::vector<ranks::WaitsFor> pairs = all_.figures.matrix;
    std::ranges::stable_sort(pairs, std::ranges::greater(), &ranks::WaitsFor::wait);
    const std::size_t shown = std::min(pairs.size(), kMostRankPairs);
    std::int64_t left_out = 0;
    for (std::size_t i = shown; i < pairs.size(); ++i) left_out += pairs[i].wait;
    out["waits_for"] = Json::array();
    for (std::size_t i = 0; i < shown; ++i)
      out["waits_for"].push_back({{"waits", pairs[i].waits},
                                  {"last", pairs[i].last},
                                  {"wait_ns", pairs[i].wait},
                                  {"operations", pairs[i].operations}});
    out["waits_for_left_out"] = pairs.size() - shown;
    out["waits_for_left_out_ns"] = left_out;
  }

  /// Where an operation's kind does not say who waits, that is a reason beside the others.
  void note_silent_kinds() {
    const auto silent = [](const ranks::OperationFigures& one) {
      return std::ranges::none_of(one.members, [](const ranks::MemberFigures& member) {
        return ranks::OperationFigures::wait(member).has_value();
      });
    };
    if (!std::ranges::any_of(all_.figures.worst, silent)) return;
    for (const char* field : {"last", "last_by", "last_margin_ns", "last_margin_error_ns"})
      missing(fmt::format("operations[].{}", field),
              "its kind does not say who waits, two ranks or more came within the error, or nobody "
              "waited longer than it");
  }

  Json operation(const ranks::OperationFigures& one) {
    const ranks::Matched& matched = all_.matching.operations[one.operation];
    Json out = {{"operation", one.operation},
                {"group", matched.group},
                {"kind", ranks::info(matched.kind).name},
                {"root", or_null(matched.root)},
                {"complete", matched.complete}};
    const std::string_view undecided =
        "two ranks or more came within the error, or nobody waited longer than it";
    out["last"] = value("operations[].last", one.last, undecided);
    out["last_by"] =
        one.last_by ? Json(name(*one.last_by)) : missing("operations[].last_by", undecided);
    const auto margin = [&](auto member) {
      return one.last_margin ? std::optional((*one.last_margin).*member) : std::nullopt;
    };
    out["last_margin_ns"] =
        value("operations[].last_margin_ns", margin(&ranks::Uncertain::value), undecided);
    out["last_margin_error_ns"] =
        value("operations[].last_margin_error_ns", margin(&ranks::Uncertain::error), undecided);
    out["transfer_ns"] = value("operations[].transfer_ns", one.transfer,
                               "its kind does not say who waits, there is no common clock, or a "
                               "rank of it was not recorded");
    out["bytes"] = value("operations[].bytes", one.bytes, "the recordings give no sizes");
    out["members"] = Json::array();
    for (std::size_t i = 0; i < one.members.size(); ++i)
      out["members"].push_back(member_of(matched.members[i], one.members[i]));
    return out;
  }

  Json member_of(const ranks::Member& member, const ranks::MemberFigures& figures) {
    const ranks::Collective& own = all_.ranks[member.rank].collectives[member.collective];
    const auto wait = ranks::OperationFigures::wait(figures);
    Json out = {{"rank", member.rank},
                {"entry_ns", all_.clocks.aligned(member.rank, own.entry) - begin_},
                {"duration_ns", figures.duration}};
    const std::string_view why = "a rank of this kind does not wait, or there is no common clock";
    out["wait_ns"] = wait ? Json(wait->value) : missing("operations[].members[].wait_ns", why);
    out["wait_error_ns"] =
        wait ? Json(wait->error) : missing("operations[].members[].wait_error_ns", why);
    return out;
  }

  Json path() {
    if (!all_.path) return missing("path", all_.no_path);
    const ranks::JobPath& path = *all_.path;
    Json out = {{"makespan_ns", path.makespan()}};
    out["error_ns"] = value("path.error_ns", path.error,
                            "the clocks at its two ends have no bound against each other");
    out["sentence"] = path_words(all_);
    out["left_out_ranks"] = path.left_out.size();
    out["residuals"] = path.residual_count;
    out["shifted_ns"] = path.shifted;
    out["hop_count"] = path.hops.size();
    out["hops"] = hops(path);
    out["ranks"] = Json::array();
    for (const ranks::RankOnPath& rank : path.ranks)
      out["ranks"].push_back({{"rank", rank.rank},
                              {"hops", rank.hops},
                              {"work_ns", rank.work},
                              {"transfer_ns", rank.transfer}});
    out["what_if"] = Json::array();
    for (const std::size_t i : what_if_order(path, all_.asked))
      out["what_if"].push_back(question(path, path.what_if[i], i < all_.asked));
    out["assumptions"] = {
        "what is not recorded (MPI, sockets, other processes) counts as work of the rank that "
        "waited for it",
        "a transfer takes as long as recorded, whoever comes last and whatever runs beside it",
        "an operation that is not matched, of a kind that does not say who waits, or of which a "
        "rank was not recorded takes each rank as long as recorded, with the waiting in it",
        "algorithms and channels of the library stay what they were"};
    return out;
  }

  Json question(const ranks::JobPath& path, const ranks::RankWhatIfAnswer& one, bool asked) {
    Json out = {{"text", one.text}, {"asked", asked}};
    out["makespan_ns"] = value("path.what_if[].makespan_ns", one.makespan, one.missing);
    out["gain_ns"] = value("path.what_if[].gain_ns", one.gain, one.missing);
    out["gain_share"] =
        one.gain && path.makespan() > 0
            ? Json(static_cast<double>(*one.gain) / static_cast<double>(path.makespan()))
            : missing("path.what_if[].gain_share", one.missing);
    out["sentence"] = what_if_words(path, one);
    return out;
  }

  Json hops(const ranks::JobPath& path) {
    std::vector<std::size_t> longest(path.hops.size());
    for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = i;
    if (longest.size() > kMostHops) {
      std::ranges::stable_sort(longest, std::ranges::greater(),
                               [&](std::size_t i) { return path.hops[i].to - path.hops[i].from; });
      longest.resize(kMostHops);
      std::ranges::sort(longest);
    }
    Json out = Json::array();
    for (const std::size_t i : longest) {
      const ranks::Hop& hop = path.hops[i];
      const auto& names = all_.ranks[hop.rank].names;
      out.push_back(
          {{"rank", hop.rank},
           {"from_rank", hop.from_rank},
           {"collective", hop.collective},
           {"from_ns", hop.from - begin_},
           {"to_ns", hop.to - begin_},
           {"operation",
            hop.operation == ranks::kNoOperation ? Json(nullptr) : Json(hop.operation)},
           {"kernel", hop.kernel < names.size() ? Json(names[hop.kernel]) : Json(nullptr)},
           {"kernel_time_ns", hop.kernel_time}});
    }
    return out;
  }

  const RanksAnalysis& all_;
  std::int64_t begin_;
  std::vector<Missing> missing_;
  std::set<std::string> named_;
};

}  // namespace

Json ranks_document(const RanksAnalysis& analysis) {
  return RanksWriter(analysis).document();
}

}  // namespace perflab::report
