// A made-up training job for bench/ranks_scale.py: each rank computes on one stream and
// communicates on two, a collective behind so many kernels; work waits for the collective before
// the last. All ranks are simulated; those asked for are written as databases of rocprofv3, or
// directly as the summaries that such recordings give.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/text/numbers.h"
#include "base/version.h"
#include "ranks/rank/summarize.h"
#include "ranks/rank/summary_file.h"
#include "support/api_rows.h"
#include "support/rocpd_writer.h"

namespace {

using namespace perflab;

constexpr std::uint32_t kNode = 8;                  // ranks
constexpr std::int64_t kBegin = 5'000'000'000'000;  // of common time on every clock
constexpr std::int64_t kSlot = 6'000;               // ns a kernel has
constexpr std::int64_t kLead = 50'000;              // ns by which the host is ahead
constexpr std::int64_t kReaction = 5'000;           // ns from an event to what waits for it
constexpr std::int64_t kBetween = 2'000;            // ns from a round's kernels to the next one's
constexpr std::uint32_t kKernels = 64;              // distinct ones
constexpr std::uint32_t kStep = 32;                 // collectives between synchronisations
constexpr std::array<test::Handle, 3> kStreams = {0, 0x55b6'0f49'7900, 0x55b6'0f49'7a00};

struct Job {
  std::uint32_t ranks = 0, dispatches = 0, every = 0;
  [[nodiscard]] std::uint32_t collectives() const { return dispatches / (every + 1); }
};

/// What one rank does between two of its collectives, in common time.
struct Round {
  std::int64_t from = 0, to = 0;     ///< kernels
  std::int64_t entry = 0, exit = 0;  ///< the collective behind them
};

/// Two of three collectives are of all ranks, the third is of a node.
bool is_of_all(std::uint32_t collective) {
  return collective % 3 != 0;
}

const char* function_of(std::uint32_t collective) {
  if (is_of_all(collective)) return "ncclAllReduce";
  return collective / 3 % 2 == 0 ? "ncclReduceScatter" : "ncclAllGather";
}

std::int64_t draw(std::uint32_t rank, std::uint32_t collective, std::int64_t below) {
  const std::uint64_t seed = (std::uint64_t{rank} << 32U) | collective;
  return static_cast<std::int64_t>(SplitMix64(seed).next() % static_cast<std::uint64_t>(below));
}

/// All ranks together; `keep(rank, round)` sees every rank's rounds in order.
template <class Keep>
void simulate(const Job& job, const Keep& keep) {
  struct State {
    std::int64_t worked = 0, exit = 0, exit_before = 0;
    Round round;
  };
  std::vector<State> all(job.ranks);
  const std::int64_t work = kSlot * job.every;
  for (std::uint32_t k = 0; k < job.collectives(); ++k) {
    const std::uint32_t group = is_of_all(k) ? job.ranks : kNode;
    for (std::uint32_t first = 0; first < job.ranks; first += group) {
      const std::uint32_t past = std::min(first + group, job.ranks);
      std::int64_t last = 0;
      for (std::uint32_t rank = first; rank < past; ++rank) {
        State& own = all[rank];
        own.round.from = std::max(own.worked + kBetween, own.exit_before + kReaction);
        own.worked = own.round.to =
            own.round.from + work + draw(rank, k, work / 20) + (rank == 5 ? work / 50 : 0);
        own.round.entry = std::max(own.worked, own.exit) + kReaction;
        last = std::max(last, own.round.entry);
      }
      for (std::uint32_t rank = first; rank < past; ++rank) {
        State& own = all[rank];
        own.exit_before = own.exit;
        own.exit = own.round.exit = last + 40'000 + draw(rank, ~k, 3'000);
        keep(rank, own.round);
      }
    }
  }
}

/// A clock of the rank's node: seconds apart, up to 40 ppm fast.
std::int64_t own_time(std::uint32_t rank, std::int64_t common) {
  const std::int64_t node = rank / kNode;
  return kBegin + common + node * 3'000'000'000 + common / 1'000'000 * (node % 40);
}

test::WriterOptions writer_options(const Job& job, std::uint32_t rank) {
  test::WriterOptions options;
  options.guid = fmt::format("{:08x}-7f00-7000-8000-{:012x}", 0x10000 + rank, job.ranks);
  options.synthetic = "Synthetic benchmark trace made by bench_rank_recordings: nothing measured.";
  options.node.id = 884'468'036 + rank / kNode;
  options.node.hash += rank / kNode;
  options.node.machine_id = fmt::format("{:032x}", rank / kNode);
  options.node.hostname = fmt::format("node{}", rank / kNode);
  options.process.pid = 10'000 + rank;
  options.process.command = "/app/train";
  options.process.environment = fmt::format(
      R"({{"RANK": "{}", "WORLD_SIZE": "{}", "LOCAL_RANK": "{}"}})", rank, job.ranks, rank % kNode);
  return options;
}

/// Writes one rank. Host calls are one after another, launches kLead before their kernels.
class Recording {
 public:
  Recording(const std::filesystem::path& file, const Job& job, std::uint32_t rank)
      : job_(job), rank_(rank), writer_(file, writer_options(job, rank)) {
    writer_.agent(test::host_agent());
    writer_.agent(test::mi300x_agent());
    for (std::size_t i = 0; i <= kStreams.size(); ++i) writer_.queue();
    for (std::size_t i = 0; i < kStreams.size(); ++i) writer_.stream();
    writer_.code_object();
    rccl_ = writer_.kernel(
        {.name = "ncclDevKernel_Generic_4",
         .display_name = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"});
    for (std::uint32_t i = 0; i < kKernels; ++i)
      kernels_.push_back(
          writer_.kernel({.name = fmt::format("_Z8stage_{:03}ILi{}EEvPfPKfi", i, i % 7),
                          .display_name = fmt::format(
                              "void stage_{:03}<{}>(float*, float const*, int)", i, i % 7)}));
  }

  void write(const std::vector<Round>& rounds) {
    for (std::uint32_t k = 0; k < rounds.size(); ++k) {
      if (k >= 2) call(test::stream_wait_event(0, 900, kStreams[0], event(2 * (k - 2) + 1)));
      compute(k, rounds[k]);
      communicate(k, rounds[k]);
      if (k % kStep == kStep - 1) {
        const std::int64_t start = host_;
        call(test::stream_synchronize(
            0, std::max<std::int64_t>(rounds[k].to + kReaction - start, 1'500), kStreams[0]));
      }
    }
  }
  Result<void> close() { return writer_.close(); }

 private:
  static test::Handle event(std::uint32_t number) {
    return 0x55b6'1080'0000 + 0x100 * (number % 64);
  }

  /// A call that takes `row.end` ns from now on.
  test::Id call(test::RegionRow row, test::Id parent = 0) {
    row.start = own_time(rank_, host_);
    host_ += row.end;
    row.end = own_time(rank_, host_);
    row.event.stack_id = writer_.next_stack_id();
    row.event.parent_stack_id = parent == 0 ? row.event.stack_id : parent;
    host_ += 400;
    writer_.region(row);
    return row.event.stack_id;
  }
  void dispatch(test::Id kernel, std::size_t stream, std::int64_t start, std::int64_t end,
                test::Id stack, std::int64_t groups) {
    writer_.dispatch({.kernel = kernel,
                      .start = own_time(rank_, start),
                      .end = own_time(rank_, end),
                      .queue = static_cast<test::Id>(stream) + 1,
                      .stream = static_cast<test::Id>(stream),
                      .grid = {.x = 256 * groups},
                      .event = {.stack_id = stack}});
  }
  void compute(std::uint32_t number, const Round& round) {
    const std::int64_t slot = (round.to - round.from) / job_.every;
    for (std::uint32_t i = 0; i < job_.every; ++i) {
      const std::int64_t planned = round.from + slot * i;
      host_ = std::max(host_, planned - kLead);
      const test::Id stack = call({.end = 3'000});
      const std::int64_t start = std::max({planned, host_ + 1'000, busy_ + 800});
      const std::uint32_t kernel = i % kKernels;
      busy_ = start + slot / 2 + slot * kernel / (4 * kKernels) +
              draw(rank_, number * job_.every + i, slot / 20);
      dispatch(kernels_[kernel], 0, start, busy_, stack, 64 + kernel);
    }
  }
  void communicate(std::uint32_t number, const Round& round) {
    const std::size_t stream = is_of_all(number) ? 1 : 2;
    PERFLAB_CHECK(busy_ < round.entry);
    call(test::event_record(0, 700, event(2 * number), kStreams[0]));
    call(test::stream_wait_event(0, 900, kStreams[stream], event(2 * number)));
    // RCCL's regions are written when they end, and are their own parents.
    const test::Id outer = writer_.next_stack_id();
    const std::int64_t start = host_;
    host_ += 1'000;
    const test::Id stack = call({.name = "hipExtLaunchKernel", .end = 3'000}, outer);
    writer_.region(
        {.name = function_of(number),
         .start = own_time(rank_, start),
         .end = own_time(rank_, host_),
         .event = {.category = "RCCL_API", .stack_id = outer, .parent_stack_id = outer}});
    host_ += 400;
    PERFLAB_CHECK(host_ < round.entry);
    dispatch(rccl_, stream, round.entry, round.exit, stack, 104);
    call(test::event_record(0, 700, event(2 * number + 1), kStreams[stream]));
  }

  const Job& job_;
  std::uint32_t rank_;
  test::RocpdWriter writer_;
  test::Id rccl_ = 0;
  std::vector<test::Id> kernels_;
  std::int64_t host_ = 0;  ///< common time of the host's thread
  std::int64_t busy_ = 0;  ///< end of the last kernel that is no collective
};

/// The summary of one rank, with one inner vertex and six edges a collective.
class Summary {
 public:
  Summary(const Job& job, std::uint32_t rank, const std::vector<Round>& rounds)
      : job_(job), rank_(rank), rounds_(rounds) {
    const test::WriterOptions said = writer_options(job, rank);
    summary_.tool_version = kProgramVersion;
    summary_.options = ranks::options_text({});
    summary_.file = fmt::format("rank{:04}.db", rank);
    summary_.guid = said.guid;
    summary_.synthetic = said.synthetic;
    summary_.identity = {
        .facts = {.rank = rank, .size = job.ranks, .local_rank = rank % kNode, .from = "RANK"},
        .hostname = said.node.hostname,
        .machine_id = said.node.machine_id,
        .pid = said.process.pid,
        .gpu_name = "gfx942"};
    summary_.begin = own_time(rank, 0);
    summary_.end = own_time(rank, rounds.back().exit + 1'000);
    summary_.communicators.resize(2);
    for (std::size_t i = 0; i < 2; ++i) {
      summary_.communicators[i].key = ranks::KeySource::calls;
      summary_.communicators[i].lane = i == 0 ? 2 : 1;
    }
    summary_.names = {"ncclDevKernel_Generic_4", "ncclReduceScatter", "ncclAllReduce",
                      "ncclAllGather"};
    for (std::uint32_t i = 0; i < kKernels; ++i)
      summary_.names.push_back(fmt::format("stage_{:03}", i));
  }

  ranks::RankSummary made() {
    summary_.graph.inner = static_cast<std::uint32_t>(rounds_.size());
    summary_.graph.order.push_back(0);
    for (std::uint32_t k = 0; k < rounds_.size(); ++k) {
      add_collective(k);
      add_work(k);
    }
    add_edges();
    return std::move(summary_);
  }

 private:
  using Edge = ranks::LocalGraph::Edge;

  void add_collective(std::uint32_t k) {
    const std::string_view function = function_of(k);
    ranks::Collective& one = summary_.collectives.emplace_back();
    one.entry = own_time(rank_, rounds_[k].entry);
    one.exit = own_time(rank_, rounds_[k].exit);
    one.kind = function == "ncclAllReduce"       ? ranks::CollectiveKind::all_reduce
               : function == "ncclReduceScatter" ? ranks::CollectiveKind::reduce_scatter
                                                 : ranks::CollectiveKind::all_gather;
    one.communicator = is_of_all(k) ? 1 : 0;
    one.function = static_cast<ranks::Name>(std::ranges::find(summary_.names, function) -
                                            summary_.names.begin());
    one.kernel = 0;
    one.channels = 104;
  }
  void add_work(std::uint32_t k) {
    const std::int64_t from = k == 0 ? summary_.begin : own_time(rank_, rounds_[k - 1].exit);
    ranks::Work& work = summary_.work.emplace_back();
    work.length = std::max<std::int64_t>(own_time(rank_, rounds_[k].entry) - from, 0);
    work.busy = work.length * 3 / 4;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t kernel = kKernels - 1 - i;
      work.kernels.push_back({.kernel = kernel + 4,
                              .dispatches = job_.every / kKernels + 1,
                              .time = work.busy / 16 - 100 * i});
      work.other_kernels = work.busy * 3 / 4;
    }
    if (k + 1 == rounds_.size()) summary_.work.emplace_back();
  }

  [[nodiscard]] std::uint32_t worked(std::uint32_t k) const {
    return summary_.end_vertex() + 1 + k;
  }
  [[nodiscard]] std::int64_t time(std::int64_t common) const { return own_time(rank_, common); }
  void edge(std::uint32_t from, std::uint32_t to, std::int64_t weight, std::int64_t kernels) {
    Edge& made = summary_.graph.edges.emplace_back();
    made.from = from;
    made.to = to;
    made.weight = weight;
    const auto at = [&](analyze::Spent kind) -> std::int64_t& {
      return made.spent[static_cast<std::size_t>(kind)];
    };
    at(analyze::Spent::kernel) = kernels;
    at(analyze::Spent::idle) = weight - kernels;
    made.kernel = kernels > 0 ? 4 + to % kKernels : ranks::kNoName;
    made.kernel_time = kernels / 8;
  }
  /// From one moment to another that comes so much later at least: exact where it binds.
  [[nodiscard]] std::int64_t between(std::int64_t from, std::int64_t to, std::int64_t least) const {
    const std::int64_t recorded = time(to) - time(from);
    return to - from == least ? recorded : std::min(recorded, least);
  }
  void add_edges() {
    for (std::uint32_t k = 0; k < rounds_.size(); ++k) {
      const Round& now = rounds_[k];
      const std::uint32_t entry = summary_.entry_vertex(k);
      const std::int64_t work = now.to - now.from, busy = work * 3 / 4;
      const std::int64_t two_ago = k < 2 ? 0 : rounds_[k - 2].exit;
      const std::uint32_t exit = k < 2 ? 0 : summary_.exit_vertex(k - 2);
      edge(exit, worked(k), between(two_ago, now.to, work + kReaction), busy);
      if (k > 0) {
        const Round& before = rounds_[k - 1];
        edge(worked(k - 1), worked(k), between(before.to, now.to, work + kBetween), busy);
        edge(exit, entry, between(two_ago, now.entry, kReaction + kBetween), 0);
        edge(worked(k - 1), entry, between(before.to, now.entry, kReaction + kBetween), 0);
        edge(summary_.exit_vertex(k - 1), entry, between(before.exit, now.entry, kReaction), 0);
      }
      edge(worked(k), entry, between(now.to, now.entry, kReaction), 0);
      for (const std::uint32_t vertex : {worked(k), entry, summary_.exit_vertex(k)})
        summary_.graph.order.push_back(vertex);
    }
    const auto last = static_cast<std::uint32_t>(rounds_.size() - 1);
    edge(summary_.exit_vertex(last), summary_.end_vertex(), summary_.end - time(rounds_[last].exit),
         0);
    summary_.graph.order.push_back(summary_.end_vertex());
  }

  const Job& job_;
  std::uint32_t rank_;
  const std::vector<Round>& rounds_;
  ranks::RankSummary summary_;
};

Result<void> write_database(const std::filesystem::path& folder, const Job& job, std::uint32_t rank,
                            const std::vector<Round>& rounds) {
  Recording recording(folder / fmt::format("rank{:04}.db", rank), job, rank);
  recording.write(rounds);
  return recording.close();
}

Result<void> write_summary(const std::filesystem::path& folder, const Job& job, std::uint32_t rank,
                           const std::vector<Round>& rounds) {
  const ranks::RankSummary summary = Summary(job, rank, rounds).made();
  return ranks::write_summary(folder / ranks::summary_file_name(summary), summary);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i) {
    return argc > i ? whole_number<std::uint32_t>(argv[i]).value_or(0) : 0U;
  };
  const std::string_view what = argc > 1 ? argv[1] : "";
  const Job job{.ranks = number(3), .dispatches = number(4), .every = number(5)};
  const std::uint32_t first = number(6), past = std::min(first + number(7), job.ranks);
  if (argc != 8 || first >= past || job.every < 16 || job.every >= job.dispatches ||
      (what != "databases" && what != "summaries")) {
    fmt::print(stderr,
               "usage: {} databases|summaries FOLDER RANKS DISPATCHES "
               "KERNELS-BEFORE-A-COLLECTIVE FIRST COUNT\n",
               argv[0]);
    return 2;
  }
  std::vector<std::vector<Round>> rounds(past - first);
  simulate(job, [&](std::uint32_t rank, const Round& round) {
    if (rank >= first && rank < past) rounds[rank - first].push_back(round);
  });
  for (std::uint32_t rank = first; rank < past; ++rank) {
    const auto write = what == "databases" ? write_database : write_summary;
    if (const Result<void> done = write(argv[2], job, rank, rounds[rank - first]); !done) {
      fmt::print(stderr, "{}\n", describe(done.error()));
      return exit_code(done.error().code);
    }
  }
  return 0;
}
