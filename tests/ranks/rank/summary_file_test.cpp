// The file of a summary: whatever was written is read again bit for bit, damage and other versions
// are refused by name, and a rank with very many collectives stays small.
#include "ranks/rank/summary_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "support/prng.h"
#include "support/rank_jobs.h"

namespace perflab::ranks {
namespace {

using test::Prng;

std::int64_t any_number(Prng& random) {
  switch (random.below(4)) {
    case 0:
      return static_cast<std::int64_t>(random.next());
    case 1:
      return random.below(2) == 0 ? std::numeric_limits<std::int64_t>::min()
                                  : std::numeric_limits<std::int64_t>::max();
    default:
      return random.below(2001) - 1000;
  }
}

std::optional<std::int64_t> maybe_number(Prng& random) {
  return random.below(2) == 0 ? std::nullopt : std::optional(any_number(random));
}

std::string any_text(Prng& random) {
  std::string text;
  for (std::int64_t i = random.below(20); i > 0; --i) {
    text += static_cast<char>(random.below(256));
  }
  return text;
}

Name any_name(Prng& random, const RankSummary& summary) {
  const auto count = static_cast<std::int64_t>(summary.names.size());
  const std::int64_t drawn = random.below(count + 1);
  return drawn == count ? kNoName : static_cast<Name>(drawn);
}

void fill_head(Prng& random, RankSummary& summary) {
  for (std::string* const text :
       {&summary.tool_version, &summary.options, &summary.file, &summary.guid, &summary.synthetic,
        &summary.identity.hostname, &summary.identity.machine_id, &summary.identity.gpu_name,
        &summary.identity.facts.from}) {
    *text = any_text(random);
  }
  summary.origin = {.bytes = random.next(),
                    .hash = random.next(),
                    .ranks = static_cast<std::uint32_t>(random.next())};
  summary.identity.facts.rank = maybe_number(random);
  summary.identity.facts.size = maybe_number(random);
  summary.identity.facts.local_rank = maybe_number(random);
  summary.identity.pid = any_number(random);
  summary.identity.gpu = any_number(random);
  summary.identity.platform = random.below(2) == 0 ? trace::Platform::amd : trace::Platform::cuda;
  summary.begin = any_number(random);
  summary.end = any_number(random);
  for (std::int64_t i = random.below(6); i > 0; --i) summary.names.push_back(any_text(random));
  for (std::int64_t i = random.below(3); i > 0; --i) summary.scenarios.push_back(any_text(random));
  for (std::int64_t i = random.below(3); i > 0; --i)
    summary.missing.emplace_back(any_text(random), any_text(random));
}

void fill_collectives(Prng& random, RankSummary& summary) {
  for (std::int64_t i = 1 + random.below(4); i > 0; --i) {
    Communicator one;
    one.key = static_cast<KeySource>(random.below(kKeySources));
    one.id = any_text(random);
    one.size = maybe_number(random);
    for (std::int64_t k = random.below(5); k > 0; --k) one.members.push_back(any_number(random));
    one.lane = any_number(random);
    summary.communicators.push_back(one);
  }
  const auto groups = static_cast<std::int64_t>(summary.communicators.size());
  for (std::int64_t i = random.below(30); i > 0; --i) {
    Collective one;
    one.entry = any_number(random);
    one.exit = std::max(any_number(random), one.entry);
    one.kind = static_cast<CollectiveKind>(random.below(kCollectiveKinds));
    one.inside_graph = random.below(2) == 0;
    one.communicator = static_cast<std::uint32_t>(random.below(groups));
    one.function = any_name(random, summary);
    one.kernel = any_name(random, summary);
    one.data_type = any_name(random, summary);
    one.kernels = static_cast<std::uint32_t>(random.next());
    one.channels = static_cast<std::uint32_t>(random.next());
    one.sequence = maybe_number(random);
    one.send_bytes = maybe_number(random);
    one.receive_bytes = maybe_number(random);
    one.part_bytes = maybe_number(random);
    one.root = maybe_number(random);
    one.peer = maybe_number(random);
    summary.collectives.push_back(one);
  }
}

std::vector<KernelTime> any_kernels(Prng& random, const RankSummary& summary) {
  std::vector<KernelTime> kernels;
  for (std::int64_t i = random.below(5); i > 0; --i) {
    kernels.push_back({.kernel = any_name(random, summary),
                       .dispatches = random.next(),
                       .time = any_number(random)});
  }
  return kernels;
}

void fill_rest(Prng& random, RankSummary& summary) {
  for (std::size_t i = 0; i <= summary.collectives.size(); ++i) {
    Work work;
    work.length = any_number(random);
    work.busy = any_number(random);
    work.copies = any_number(random);
    work.kernels = any_kernels(random, summary);
    work.other_kernels = any_number(random);
    summary.work.push_back(work);
  }
  summary.kernels = any_kernels(random, summary);
  LocalGraph& graph = summary.graph;
  graph.inner = static_cast<std::uint32_t>(random.below(4));
  const auto count = static_cast<std::uint32_t>(2 * summary.collectives.size() + 2) + graph.inner;
  for (std::uint32_t i = 0; i < count; ++i) graph.order.push_back(i);
  for (std::size_t i = count; i > 1; --i) {
    std::swap(graph.order[i - 1],
              graph.order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  for (std::int64_t i = random.below(60); i > 0; --i) {
    const auto to = static_cast<std::size_t>(random.below(count));
    const auto from = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(to) + 1));
    LocalGraph::Edge edge;
    edge.from = graph.order[from];
    edge.to = graph.order[to];
    edge.weight = any_number(random);
    for (auto& spent : edge.spent) spent = random.below(2) == 0 ? 0 : any_number(random);
    edge.kernel = any_name(random, summary);
    edge.kernel_time = any_number(random);
    for (std::size_t s = 0; s < summary.scenarios.size(); ++s)
      edge.scenarios.push_back(any_number(random));
    graph.edges.push_back(edge);
  }
}

RankSummary any_summary(std::uint64_t seed) {
  Prng random(seed);
  RankSummary summary;
  fill_head(random, summary);
  fill_collectives(random, summary);
  fill_rest(random, summary);
  return summary;
}

void expect_same_kernels(const std::vector<KernelTime>& a, const std::vector<KernelTime>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].kernel, b[i].kernel);
    EXPECT_EQ(a[i].dispatches, b[i].dispatches);
    EXPECT_EQ(a[i].time, b[i].time);
  }
}

void expect_same_head(const RankSummary& a, const RankSummary& b) {
  EXPECT_EQ(a.tool_version, b.tool_version);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.file, b.file);
  EXPECT_EQ(a.guid, b.guid);
  EXPECT_EQ(a.synthetic, b.synthetic);
  EXPECT_EQ(a.identity.facts, b.identity.facts);
  EXPECT_EQ(a.identity.hostname, b.identity.hostname);
  EXPECT_EQ(a.identity.machine_id, b.identity.machine_id);
  EXPECT_EQ(a.identity.pid, b.identity.pid);
  EXPECT_EQ(a.identity.gpu, b.identity.gpu);
  EXPECT_EQ(a.identity.gpu_name, b.identity.gpu_name);
  EXPECT_EQ(a.identity.platform, b.identity.platform);
  EXPECT_EQ(a.begin, b.begin);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.scenarios, b.scenarios);
  EXPECT_EQ(a.missing, b.missing);
  ASSERT_EQ(a.communicators.size(), b.communicators.size());
  for (std::size_t i = 0; i < a.communicators.size(); ++i) {
    EXPECT_EQ(a.communicators[i].key, b.communicators[i].key);
    EXPECT_EQ(a.communicators[i].id, b.communicators[i].id);
    EXPECT_EQ(a.communicators[i].size, b.communicators[i].size);
    EXPECT_EQ(a.communicators[i].members, b.communicators[i].members);
    EXPECT_EQ(a.communicators[i].lane, b.communicators[i].lane);
  }
  ASSERT_EQ(a.collectives.size(), b.collectives.size());
  for (std::size_t i = 0; i < a.collectives.size(); ++i) {
    const Collective& x = a.collectives[i];
    const Collective& y = b.collectives[i];
    EXPECT_EQ(std::tie(x.entry, x.exit, x.kind, x.inside_graph, x.communicator, x.function),
              std::tie(y.entry, y.exit, y.kind, y.inside_graph, y.communicator, y.function));
    EXPECT_EQ(std::tie(x.kernel, x.kernels, x.channels, x.sequence, x.send_bytes, x.receive_bytes,
                       x.part_bytes, x.data_type, x.root, x.peer),
              std::tie(y.kernel, y.kernels, y.channels, y.sequence, y.send_bytes, y.receive_bytes,
                       y.part_bytes, y.data_type, y.root, y.peer));
  }
}

void expect_same_rest(const RankSummary& a, const RankSummary& b) {
  ASSERT_EQ(a.work.size(), b.work.size());
  for (std::size_t i = 0; i < a.work.size(); ++i) {
    EXPECT_EQ(a.work[i].length, b.work[i].length);
    EXPECT_EQ(a.work[i].busy, b.work[i].busy);
    EXPECT_EQ(a.work[i].copies, b.work[i].copies);
    EXPECT_EQ(a.work[i].other_kernels, b.work[i].other_kernels);
    expect_same_kernels(a.work[i].kernels, b.work[i].kernels);
  }
  expect_same_kernels(a.kernels, b.kernels);
  EXPECT_EQ(a.graph.inner, b.graph.inner);
  EXPECT_EQ(a.graph.order, b.graph.order);
  ASSERT_EQ(a.graph.edges.size(), b.graph.edges.size());
  for (std::size_t i = 0; i < a.graph.edges.size(); ++i) {
    const LocalGraph::Edge& x = a.graph.edges[i];
    const LocalGraph::Edge& y = b.graph.edges[i];
    EXPECT_EQ(std::tie(x.from, x.to, x.weight, x.spent, x.kernel, x.kernel_time, x.scenarios),
              std::tie(y.from, y.to, y.weight, y.spent, y.kernel, y.kernel_time, y.scenarios));
  }
}

TEST(RankSummaryFile, EverythingIsReadAgain) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    const RankSummary summary = any_summary(seed);
    const std::string bytes = encode_summary(summary);
    EXPECT_EQ(bytes, encode_summary(summary));
    const auto whole = decode_summary(bytes, "it");
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    expect_same_head(summary, *whole);
    expect_same_rest(summary, *whole);
    const auto head = decode_summary(bytes, "it", SummaryPart::collectives);
    ASSERT_TRUE(head.has_value());
    expect_same_head(summary, *head);
    EXPECT_TRUE(head->work.empty());
    EXPECT_TRUE(head->graph.edges.empty());
  }
}

TEST(RankSummaryFile, DamageIsRefused) {
  const std::string bytes = encode_summary(any_summary(3));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(decode_summary(std::string_view(bytes).substr(0, i), "it").has_value()) << i;
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_FALSE(decode_summary(changed, "it").has_value()) << i;
  }
  EXPECT_FALSE(decode_summary(bytes + "x", "it").has_value());
}

TEST(RankSummaryFile, OtherVersionsAndOptionsAreRefusedByName) {
  RankSummary summary = any_summary(5);
  std::string bytes = encode_summary(summary);
  bytes[8] = 7;
  const auto read = decode_summary(bytes, "rank-7.rpsum");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  EXPECT_EQ(read.error().message,
            "rank-7.rpsum: a rank summary of version 7, this program reads version 2");
  RankSummary other = summary;
  EXPECT_TRUE(check_same_making(summary, "a", other, "b").has_value());
  summary.options = "one";
  other.options = "two";
  const auto same = check_same_making(summary, "a", other, "b");
  ASSERT_FALSE(same.has_value());
  EXPECT_EQ(same.error().message, "a and b were made with different options: one and two");
  const auto text = decode_summary("SQLite format 3", "run.db");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().message, "run.db: no rank summary");
}

/// 30,000 collectives with three edges each and random times.
TEST(RankSummaryFile, ManyCollectivesStaySmall) {
  test::RankJobOptions options;
  options.ranks = 2;
  options.operations = 30'000;
  options.communicators = 3;
  test::RankJob job = test::make_rank_job(options);
  RankSummary& summary = job.summaries[0];
  Prng random(9);
  LocalGraph& graph = summary.graph;
  std::vector<LocalGraph::Edge> edges;
  for (const LocalGraph::Edge& edge : graph.edges) {
    for (int i = 0; i < 3; ++i) {
      LocalGraph::Edge more = edge;
      std::int64_t sum = 0;
      for (std::size_t s = 0; s < 5; ++s) sum += more.spent[s] = random.below(200'000);
      more.weight = sum;
      more.kernel_time = random.below(more.spent[0] + 1);
      edges.push_back(more);
    }
  }
  graph.edges = std::move(edges);
  for (Work& work : summary.work) {
    for (Name i = 0; i < 4; ++i) {
      work.kernels.push_back({.kernel = i, .dispatches = 8, .time = random.below(200'000)});
    }
    work.copies = random.below(10'000);
    work.other_kernels = random.below(200'000);
  }
  const std::string bytes = encode_summary(summary);
  RecordProperty("bytes", static_cast<int>(bytes.size()));
  EXPECT_GT(graph.edges.size(), 89'000U);
  EXPECT_LE(bytes.size(), 4U << 20U);
  const auto read = decode_summary(bytes, "it");
  ASSERT_TRUE(read.has_value());
  expect_same_rest(summary, *read);
}

TEST(RankSummaryFile, NamesSayRankRecordingAndGpu) {
  RankSummary summary;
  summary.guid = "0190-ab";
  summary.identity.gpu = 2;
  EXPECT_EQ(summary_file_name(summary), "rank-x-0190-ab-gpu2.rpsum");
  summary.identity.facts.rank = 17;
  EXPECT_EQ(summary_file_name(summary), "rank-00017-0190-ab-gpu2.rpsum");
  summary.guid = "../../etc/passwd";
  EXPECT_EQ(summary_file_name(summary).find('/'), std::string::npos);
}

}  // namespace
}  // namespace perflab::ranks
