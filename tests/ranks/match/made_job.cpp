#include "made_job.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

namespace perflab::ranks::made_job {
namespace {

std::int64_t below(SplitMix64& random, std::int64_t end) {
  return end <= 0 ? 0 : static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(end));
}

RankSummary empty_rank(const Settings& settings, std::uint32_t rank) {
  RankSummary summary;
  summary.identity.facts.rank = rank;
  summary.identity.facts.size = static_cast<std::int64_t>(settings.clocks.size());
  summary.identity.pid = 1000 + rank;
  if (!settings.nodes.empty()) {
    summary.identity.hostname = "node" + std::to_string(settings.nodes[rank]);
    summary.identity.machine_id = "machine" + std::to_string(settings.nodes[rank]);
  }
  summary.names = {"kernel", "f32"};
  return summary;
}

}  // namespace

std::int64_t Clock::own(std::int64_t common) const {
  return std::llround((static_cast<double>(common) - offset) / (1 + drift));
}

Job made(const Settings& settings) {
  SplitMix64 random(settings.seed);
  Job job;
  job.clocks = settings.clocks;
  std::vector<std::int64_t> now(settings.clocks.size());
  // Communicators of a rank: their places in its own list.
  std::vector<std::vector<std::uint32_t>> local(settings.clocks.size());
  for (std::uint32_t rank = 0; rank < settings.clocks.size(); ++rank) {
    RankSummary& summary = job.ranks.emplace_back(empty_rank(settings, rank));
    now[rank] = 1'000'000'000 + below(random, 1'000'000);
    local[rank].assign(settings.communicators.size(), 0);
    for (std::uint32_t c = 0; c < settings.communicators.size(); ++c) {
      const auto& members = settings.communicators[c];
      if (std::find(members.begin(), members.end(), rank) == members.end()) continue;
      local[rank][c] = static_cast<std::uint32_t>(summary.communicators.size());
      Communicator communicator;
      communicator.key = settings.key;
      communicator.lane = c;
      communicator.id = settings.ids.empty() ? std::to_string(c) : settings.ids[c];
      if (settings.with_size) communicator.size = static_cast<std::int64_t>(members.size());
      if (settings.with_members) communicator.members.assign(members.begin(), members.end());
      summary.communicators.push_back(communicator);
    }
  }
  for (const Operation& operation : settings.operations) {
    const auto& members = settings.communicators[operation.communicator];
    const Waits waits = info(operation.kind).waits;
    const bool pair = waits == Waits::for_peer;
    std::vector<std::int64_t> entries(members.size());
    std::int64_t last = 0;
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      if (pair && i != operation.root && i != operation.peer) continue;
      entries[i] =
          now[members[i]] + settings.work - settings.jitter / 2 + below(random, settings.jitter);
      last = std::max(last, entries[i]);
    }
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      if (pair && i != operation.root && i != operation.peer) continue;
      const std::uint32_t rank = members[i];
      const bool root = i == operation.root;
      std::int64_t from = last;
      if (waits == Waits::for_root || pair) from = std::max(entries[i], entries[operation.root]);
      if (waits == Waits::root_waits && !root) from = entries[i];
      const std::int64_t exit = from + operation.transfer + below(random, settings.exit_spread);
      now[rank] = exit;
      Collective collective;
      collective.entry = settings.clocks[rank].own(entries[i]);
      collective.exit = settings.clocks[rank].own(exit);
      collective.kind = operation.kind;
      if (pair && !root) collective.kind = CollectiveKind::receive;
      collective.communicator = local[rank][operation.communicator];
      collective.kernel = 0;
      collective.channels = 16;
      if (settings.with_sizes) {
        collective.send_bytes = collective.receive_bytes = operation.bytes;
        collective.data_type = 1;
      }
      if (waits == Waits::for_root || waits == Waits::root_waits) collective.root = operation.root;
      if (pair && settings.with_peers) collective.peer = root ? operation.peer : operation.root;
      job.ranks[rank].collectives.push_back(collective);
    }
  }
  return job;
}

void delete_first(RankSummary& rank, std::uint32_t communicator, std::size_t count) {
  std::erase_if(rank.collectives, [&](const Collective& of) {
    if (of.communicator != communicator || count == 0) return false;
    --count;
    return true;
  });
}

std::vector<Operation> periodic(std::uint32_t communicator, std::size_t iterations,
                                std::size_t layers) {
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < iterations; ++i) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      Operation operation;
      operation.communicator = communicator;
      operation.kind = CollectiveKind::all_gather;
      operations.push_back(operation);
      operation.kind = CollectiveKind::reduce_scatter;
      operations.push_back(operation);
    }
  }
  return operations;
}

std::vector<Operation> irregular(std::uint64_t seed, std::uint32_t communicators,
                                 std::size_t count) {
  constexpr std::array kKinds = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                 CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                 CollectiveKind::barrier,        CollectiveKind::broadcast,
                                 CollectiveKind::reduce};
  SplitMix64 random(seed);
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < count; ++i) {
    Operation operation;
    operation.communicator =
        static_cast<std::uint32_t>(below(random, static_cast<std::int64_t>(communicators)));
    operation.kind = kKinds[static_cast<std::size_t>(below(random, kKinds.size()))];
    operation.bytes = (1 + below(random, 64)) * 4096;
    operation.transfer = 8'000 + below(random, 200'000);
    operations.push_back(operation);
  }
  return operations;
}

}  // namespace perflab::ranks::made_job
