// What the ranks' recordings of a made-up job would say; the job itself: rank_job_run.cpp.
#include "support/rank_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "support/prng.h"
#include "support/rank_job_run.h"

namespace perflab::test {

namespace {

using rank_job::Behind;
using rank_job::Drawn;
using rank_job::Entered;
using rank_job::Job;
using rank_job::Running;
using ranks::Collective;
using ranks::CollectiveKind;
using ranks::KeySource;
using ranks::LocalGraph;
using ranks::RankSummary;

constexpr ranks::Name kKernels = 0;  ///< names: three kernels of the program, then the type
constexpr ranks::Name kType = 3;
constexpr ranks::Name kGeneric = 4;
constexpr ranks::Name kFirstFunction = 5;  ///< then functions by kind

std::vector<std::string> all_names() {
  std::vector<std::string> names = {"gemm", "attention", "layer_norm", "f32",
                                    "ncclDevKernel_Generic_1"};
  static constexpr std::array<const char*, ranks::kCollectiveKinds> kFunctions = {
      "ncclAllReduce", "ncclReduceScatter", "ncclAllGather", "ncclAllToAll", "ncclAllToAllv",
      "ncclAllReduce", "ncclBroadcast",     "ncclScatter",   "ncclReduce",   "ncclGather",
      "ncclSend",      "ncclRecv",          "ncclGroupEnd",  "ncclAllReduce"};
  for (const char* function : kFunctions) names.emplace_back(function);
  return names;
}

void set_bytes(Collective& collective, const Drawn& drawn, std::int64_t n, bool root) {
  std::int64_t send = drawn.bytes;
  std::int64_t receive = drawn.bytes;
  switch (collective.kind) {
    case CollectiveKind::all_gather:
      receive *= n;
      break;
    case CollectiveKind::reduce_scatter:
      send *= n;
      break;
    case CollectiveKind::all_to_all:
      send *= n;
      receive *= n;
      break;
    case CollectiveKind::broadcast:
      if (!root) send = 0;
      break;
    case CollectiveKind::scatter:
      send = root ? send * n : 0;
      break;
    case CollectiveKind::reduce:
      if (!root) receive = 0;
      break;
    case CollectiveKind::gather:
      receive = root ? receive * n : 0;
      break;
    case CollectiveKind::send:
      receive = 0;
      break;
    case CollectiveKind::receive:
      send = 0;
      break;
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::group:
    case CollectiveKind::unknown:
      return;
    default:
      break;
  }
  collective.send_bytes = send;
  collective.receive_bytes = receive;
  collective.data_type = kType;
}

Collective describe(const Job& job, const RankJobTruth::Operation& operation, const Drawn& drawn,
                    const RankJobTruth::Member& member) {
  const RankJobOptions& options = job.options;
  const auto n = static_cast<std::int64_t>(job.truth.groups[drawn.communicator].size());
  const bool named = options.key == KeySource::arguments || options.key == KeySource::text;
  Collective collective;
  collective.entry = job.truth.local(member.rank, member.entry);
  collective.exit = job.truth.local(member.rank, member.exit);
  collective.communicator = drawn.communicator;
  collective.kernel = kGeneric;
  collective.channels = 4 + drawn.communicator + static_cast<std::uint32_t>(drawn.bytes >> 16U);
  if (options.key == KeySource::kernels) return collective;
  collective.kind = member.kind;
  collective.function = kFirstFunction + static_cast<ranks::Name>(member.kind);
  if (!named) return collective;
  const bool pair = operation.kind == CollectiveKind::send;
  if (options.bytes) set_bytes(collective, drawn, n, member.rank == operation.root);
  if (options.peers && operation.root) {
    const bool sends = member.rank == operation.root;
    if (pair) {
      collective.peer = sends ? drawn.peer : drawn.root;
    } else {
      collective.root = drawn.root;
    }
  }
  return collective;
}

std::vector<ranks::Communicator> describe_groups(const Job& job) {
  const RankJobOptions& options = job.options;
  const bool named = options.key == KeySource::arguments || options.key == KeySource::text;
  std::vector<ranks::Communicator> communicators;
  for (std::size_t c = 0; c < job.truth.groups.size(); ++c) {
    ranks::Communicator one;
    one.key = options.key;
    one.lane = static_cast<std::int64_t>(c) + 1;
    const auto& group = job.truth.groups[c];
    if (named) {
      one.id = fmt::format("group {}", c);
      if (options.sizes) one.size = static_cast<std::int64_t>(group.size());
      if (options.members) one.members.assign(group.begin(), group.end());
    }
    communicators.push_back(std::move(one));
  }
  return communicators;
}

ranks::RankIdentity identify(const RankJobOptions& options, std::uint32_t rank) {
  ranks::RankIdentity identity;
  if (options.rank_numbers) {
    identity.facts.rank = rank;
    if (options.size_numbers) identity.facts.size = options.ranks;
    identity.facts.local_rank = rank % options.ranks_per_node;
    identity.facts.from = "RANK";
  }
  identity.hostname = fmt::format("host-{:04}", rank / options.ranks_per_node);
  identity.machine_id = fmt::format("machine-{:04}", rank / options.ranks_per_node);
  identity.pid = 1000 + rank;
  identity.gpu = rank % options.ranks_per_node;
  identity.gpu_name = "gfx942";
  return identity;
}

/// Collectives of a rank in the order of its summary (by recorded entry, then exit), those that
/// were cut away first.
std::vector<std::size_t> recorded_order(const Job& job, std::uint32_t rank) {
  const Running& state = job.running[rank];
  std::vector<std::size_t> order(state.entered.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto times = [&](std::size_t i) {
    const Entered& entered = state.entered[i];
    const auto& member = job.truth.operations[entered.operation].members[entered.member];
    return std::pair(job.truth.local(rank, member.entry), job.truth.local(rank, member.exit));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return times(a) < times(b); });
  return order;
}

/// A summary while it is made: places of the rank's operations in it.
struct Making {
  RankSummary summary;
  std::vector<std::optional<std::uint32_t>> place;  ///< by place in Running::entered
};

void add_edges(const Job& job, std::uint32_t rank, Making& making,
               const std::vector<Behind>& behind, std::uint32_t to, std::int64_t at) {
  const Running& state = job.running[rank];
  const std::int64_t ready_at = ready(state, behind);
  std::map<std::uint32_t, LocalGraph::Edge> edges;  // one of the same origin: the longest
  for (const Behind& one : behind) {
    std::uint32_t from = 0;
    std::int64_t from_at = making.summary.begin;
    if (one.exit_of && making.place[*one.exit_of]) {
      from = making.summary.exit_vertex(*making.place[*one.exit_of]);
      from_at = making.summary.collectives[*making.place[*one.exit_of]].exit;
    }
    const std::int64_t from_true = one.exit_of ? state.exits[*one.exit_of] : state.begin;
    const bool binds = from_true + one.work == ready_at;
    // The binding one has the difference of recorded times; no other may be longer. One that came
    // from before the recording counts from its begin.
    const std::int64_t lag = at - from_at;
    const bool cut = one.exit_of && !making.place[*one.exit_of];
    const std::int64_t weight = binds || cut ? lag : std::min(lag, one.work);
    LocalGraph::Edge edge;
    edge.from = from;
    edge.to = to;
    edge.weight = weight;
    edge.kernel_time = std::clamp<std::int64_t>(one.kernels, 0, std::max<std::int64_t>(weight, 0));
    edge.kernel = edge.kernel_time > 0 ? kKernels + one.kernel : ranks::kNoName;
    edge.spent[static_cast<std::size_t>(analyze::Spent::kernel)] = edge.kernel_time;
    edge.spent[static_cast<std::size_t>(analyze::Spent::idle)] = weight - edge.kernel_time;
    for (const auto& [factor, of] : job.options.scenarios) {
      const double kernels =
          static_cast<double>(edge.kernel_time) * (of && *of != rank ? 1.0 : factor);
      edge.scenarios.push_back(weight - edge.kernel_time + std::llround(kernels));
    }
    const auto [known, fresh] = edges.try_emplace(from, edge);
    if (!fresh && known->second.weight < edge.weight) known->second = edge;
  }
  for (const auto& [from, edge] : edges) making.summary.graph.edges.push_back(edge);
}

void add_graph(const Job& job, std::uint32_t rank, Making& making,
               const std::vector<std::size_t>& order) {
  RankSummary& summary = making.summary;
  LocalGraph& graph = summary.graph;
  // Times are an order here: an entry depends on earlier exits only. Ties: exits first but for
  // those of the same collective.
  const std::size_t count = summary.collectives.size();
  std::vector<std::uint32_t> vertices(2 * count + 2);
  std::iota(vertices.begin(), vertices.end(), 0U);
  const auto key = [&](std::uint32_t vertex) {
    if (vertex == 0) return std::array<std::int64_t, 3>{summary.begin, -1, 0};
    if (vertex == summary.end_vertex()) return std::array<std::int64_t, 3>{INT64_MAX, 0, 0};
    const Collective& one = summary.collectives[(vertex - 1) / 2];
    const bool exit = vertex % 2 == 0;
    return std::array<std::int64_t, 3>{exit ? one.exit : one.entry, (vertex - 1) / 2, exit};
  };
  std::sort(vertices.begin(), vertices.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  graph.order = vertices;
  std::vector<std::size_t> entered(count);
  for (const std::size_t i : order) {
    if (making.place[i]) entered[*making.place[i]] = i;
  }
  std::vector<std::uint32_t> position(vertices.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    position[vertices[i]] = static_cast<std::uint32_t>(i);
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    add_edges(job, rank, making, job.running[rank].entered[entered[k]].behind,
              summary.entry_vertex(k), summary.collectives[k].entry);
  }
  add_edges(job, rank, making, job.running[rank].at_end, summary.end_vertex(), summary.end);
  std::sort(graph.edges.begin(), graph.edges.end(),
            [&](const LocalGraph::Edge& a, const LocalGraph::Edge& b) {
              return std::pair(position[a.to], position[a.from]) <
                     std::pair(position[b.to], position[b.from]);
            });
}

void add_work(const Job& job, std::uint32_t rank, Making& making) {
  RankSummary& summary = making.summary;
  std::vector<std::int64_t> totals(3);
  std::vector<std::uint64_t> dispatches(3);
  std::vector<const Entered*> entered(summary.collectives.size());
  for (std::size_t i = 0; i < making.place.size(); ++i) {
    if (making.place[i]) entered[*making.place[i]] = &job.running[rank].entered[i];
  }
  std::int64_t last = summary.begin;
  for (std::size_t k = 0; k <= summary.collectives.size(); ++k) {
    const bool at_end = k == summary.collectives.size();
    const std::int64_t until = at_end ? summary.end : summary.collectives[k].entry;
    const Behind& behind = at_end ? job.running[rank].at_end.front() : entered[k]->behind.front();
    ranks::Work work;
    work.length = std::max<std::int64_t>(until - last, 0);
    work.busy = std::min(work.length, behind.kernels);
    if (work.busy > 0) {
      work.kernels.push_back(
          {.kernel = kKernels + behind.kernel, .dispatches = 1, .time = work.busy});
      totals[behind.kernel] += work.busy;
      ++dispatches[behind.kernel];
    }
    summary.work.push_back(std::move(work));
    if (!at_end) last = std::max(last, summary.collectives[k].exit);
  }
  for (ranks::Name i = 0; i < 3; ++i) {
    if (dispatches[i] == 0) continue;
    summary.kernels.push_back(
        {.kernel = kKernels + i, .dispatches = dispatches[i], .time = totals[i]});
  }
  std::stable_sort(summary.kernels.begin(), summary.kernels.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
}

void add_sequences(const Job& job, std::uint32_t rank, Making& making) {
  std::map<std::uint32_t, std::int64_t> next;
  for (std::size_t i = 0; i < making.place.size(); ++i) {
    const Entered& entered = job.running[rank].entered[i];
    const RankJobTruth::Operation& operation = job.truth.operations[entered.operation];
    if (operation.kind == CollectiveKind::send) continue;  // pairs are not counted with the others
    const std::int64_t sequence = next[operation.communicator]++;
    if (making.place[i]) making.summary.collectives[*making.place[i]].sequence = sequence;
  }
}

std::size_t cut_of(const RankJobOptions& options, std::uint32_t rank) {
  std::size_t cut = 0;
  for (const auto& [of, many] : options.cut_start) {
    if (of == rank) cut = many;
  }
  return cut;
}

void swap_said(RankSummary& summary, std::size_t at) {
  PERFLAB_CHECK(at + 1 < summary.collectives.size());
  Collective& one = summary.collectives[at];
  Collective& other = summary.collectives[at + 1];
  std::swap(one, other);
  std::swap(one.entry, other.entry);
  std::swap(one.exit, other.exit);
}

RankSummary summarize(Job& job, std::uint32_t rank) {
  const RankJobOptions& options = job.options;
  Making making;
  RankSummary& summary = making.summary;
  summary.tool_version = "0.0.0";
  summary.file = fmt::format("rank-{}.db", rank);
  summary.guid = fmt::format("{:08x}-0000-7000-8000-{:012x}", options.seed & 0xffff'ffffU, rank);
  summary.synthetic = "made up by tests/support/rank_jobs";
  summary.identity = identify(options, rank);
  summary.names = all_names();
  summary.communicators = describe_groups(job);
  const std::vector<std::size_t> order = recorded_order(job, rank);
  const std::size_t cut = std::min(cut_of(options, rank), order.size());
  making.place.resize(order.size());
  summary.begin = job.truth.local(rank, job.truth.begin[rank]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Entered& entered = job.running[rank].entered[order[i]];
    RankJobTruth::Operation& operation = job.truth.operations[entered.operation];
    RankJobTruth::Member& member = operation.members[entered.member];
    if (i < cut) {
      summary.begin = std::max(summary.begin, job.truth.local(rank, member.exit));
      continue;
    }
    making.place[order[i]] = static_cast<std::uint32_t>(summary.collectives.size());
    member.collective = making.place[order[i]];
    summary.collectives.push_back(describe(job, operation, job.drawn[entered.operation], member));
  }
  // A recording begins no later than what it has.
  for (const Collective& one : summary.collectives) {
    summary.begin = std::min(summary.begin, one.entry);
  }
  summary.end = std::max(job.truth.local(rank, job.truth.end[rank]), summary.begin);
  for (const auto& [factor, of] : options.scenarios) {
    summary.scenarios.push_back(of ? fmt::format("kernels x{} on rank {}", factor, *of)
                                   : fmt::format("kernels x{}", factor));
  }
  const bool named = options.key == KeySource::arguments || options.key == KeySource::text;
  if (options.sequences && named) add_sequences(job, rank, making);
  add_graph(job, rank, making, order);
  add_work(job, rank, making);
  for (const auto& [of, at] : options.swapped) {
    if (of == rank) swap_said(summary, at);
  }
  return summary;
}

}  // namespace

std::int64_t RankJobTruth::Operation::arrival() const {
  std::int64_t at = members.front().entry;
  for (const Member& member : members) at = std::max(at, member.entry);
  return at;
}

std::uint32_t RankJobTruth::Operation::last() const {
  const std::int64_t at = arrival();
  return std::find_if(members.begin(), members.end(),
                      [&](const Member& member) { return member.entry == at; })
      ->rank;
}

std::int64_t RankJobTruth::local(std::uint32_t rank, std::int64_t time) const {
  const Clock& clock = clocks[rank];
  return kJobStart + time + clock.offset + std::llround(clock.drift * static_cast<double>(time));
}

RankJob make_rank_job(const RankJobOptions& options) {
  PERFLAB_CHECK(options.ranks >= 2 && options.communicators >= 1 && options.ranks_per_node >= 1);
  Job job(options);
  rank_job::run(job);
  RankJob made;
  job.truth.place.resize(options.ranks);
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    if (std::find(options.dropped.begin(), options.dropped.end(), rank) != options.dropped.end()) {
      continue;
    }
    job.truth.place[rank] = static_cast<std::uint32_t>(made.summaries.size());
    made.summaries.push_back(summarize(job, rank));
  }
  made.truth = std::move(job.truth);
  return made;
}

RankJobOptions random_rank_job(std::uint64_t seed, std::uint32_t most) {
  Prng random(seed ^ 0x72616e6b6a6f62ULL);
  RankJobOptions options;
  options.seed = seed;
  options.ranks = 2 + static_cast<std::uint32_t>(random.below(std::max(most, 2U) - 1));
  options.ranks_per_node = 1 + static_cast<std::uint32_t>(random.below(4));
  options.operations = 1 + static_cast<std::uint32_t>(random.below(60));
  options.communicators = 1 + static_cast<std::uint32_t>(random.below(4));
  options.overlap = random.below(2) == 1;
  options.kinds = {
      CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
      CollectiveKind::all_to_all, CollectiveKind::all_to_all_v,   CollectiveKind::barrier,
      CollectiveKind::broadcast,  CollectiveKind::scatter,        CollectiveKind::reduce,
      CollectiveKind::gather,     CollectiveKind::send,           CollectiveKind::group};
  options.work = 1'000 + random.below(1'000'000);
  options.transfer = 1'000 + random.below(100'000);
  options.jitter = random.below(5'000);
  return options;
}

}  // namespace perflab::test
