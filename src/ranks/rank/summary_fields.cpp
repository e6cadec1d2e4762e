#include "ranks/rank/summary_fields.h"

#include <type_traits>

namespace perflab::ranks {

namespace {

// Each field function takes either direction: `value` is written, or filled.

template <class T>
void field(NumberWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    out.text(value);
  } else if constexpr (std::is_signed_v<T>) {
    out.number(zigzag(value));
  } else {
    out.number(static_cast<std::uint64_t>(value));
  }
}

template <class T>
void field(NumberReader& in, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = in.text();
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    value = unzigzag(in.number());
  } else {
    const std::uint64_t number = in.number();
    value = static_cast<T>(number);
    if constexpr (std::is_same_v<T, bool>) {
      in.check(number <= 1);
    } else {
      in.check(static_cast<std::uint64_t>(value) == number);
    }
  }
}

/// A number against one that is likely.
template <class Io, class T>
void near_field(Io& io, T& value, std::int64_t likely) {
  if constexpr (Io::kReads) {
    value = wrapping_add(unzigzag(io.number()), likely);
  } else {
    io.number(zigzag(wrapping_sub(value, likely)));
  }
}

/// kNoName as 0.
template <class Io, class T>
void name_field(Io& io, T& value, std::size_t names) {
  if constexpr (Io::kReads) {
    const std::uint64_t number = io.number();
    io.check(number <= names);
    value = number == 0 || number > names ? kNoName : static_cast<Name>(number - 1);
  } else {
    io.number(value == kNoName ? 0 : std::uint64_t{value} + 1);
  }
}

/// Which of several optional numbers are there, then those.
template <class Io, class... T>
void optional_fields(Io& io, T&... values) {
  std::uint64_t there = 0;
  std::uint64_t bit = 1;
  if constexpr (Io::kReads) {
    there = io.number();
    const auto one = [&](auto& value) {
      value.reset();
      if ((there & bit) != 0) value = unzigzag(io.number());
      bit <<= 1U;
    };
    (one(values), ...);
    io.check(there < bit);
  } else {
    const auto note = [&](const auto& value) {
      if (value) there |= bit;
      bit <<= 1U;
    };
    (note(values), ...);
    io.number(there);
    const auto one = [&](const auto& value) {
      if (value) io.number(zigzag(*value));
    };
    (one(values), ...);
  }
}

/// A list, each at least `least` bytes in the file.
template <class Io, class List, class Each>
void list_field(Io& io, List& list, std::size_t least, const Each& each) {
  if constexpr (Io::kReads) {
    const std::size_t count = io.count(least);
    list.clear();
    for (std::size_t i = 0; i < count && io.good(); ++i) each(list.emplace_back());
  } else {
    io.number(list.size());
    for (auto& one : list) each(one);
  }
}

template <class Io, class T>
void enum_field(Io& io, T& value, std::size_t count) {
  if constexpr (Io::kReads) {
    const std::uint64_t number = io.number();
    io.check(number < count);
    value = static_cast<std::remove_cvref_t<T>>(number < count ? number : 0);
  } else {
    io.number(static_cast<std::uint64_t>(value));
  }
}

template <class Io, class Summary>
void identity_fields(Io& io, Summary& summary) {
  auto& identity = summary.identity;
  field(io, summary.tool_version);
  field(io, summary.options);
  field(io, summary.file);
  field(io, summary.guid);
  field(io, summary.synthetic);
  optional_fields(io, identity.facts.rank, identity.facts.size, identity.facts.local_rank);
  field(io, identity.facts.from);
  field(io, identity.hostname);
  field(io, identity.machine_id);
  field(io, identity.pid);
  field(io, identity.gpu);
  field(io, identity.gpu_name);
  enum_field(io, identity.platform, 2);
  field(io, summary.begin);
  near_field(io, summary.end, summary.begin);
}

template <class Io, class One>
void communicator_fields(Io& io, One& one) {
  enum_field(io, one.key, kKeySources);
  field(io, one.id);
  optional_fields(io, one.size);
  std::int64_t last = -1;
  list_field(io, one.members, 1, [&](auto& member) {
    near_field(io, member, wrapping_add(last, 1));
    last = member;
  });
  field(io, one.lane);
}

template <class Io, class Summary>
void collective_fields(Io& io, Summary& summary) {
  const std::size_t names = summary.names.size();
  std::int64_t last = summary.begin;
  std::vector<std::int64_t> sequences(summary.communicators.size());
  list_field(io, summary.collectives, 13, [&](auto& one) {
    near_field(io, one.entry, last);
    near_field(io, one.exit, one.entry);
    last = one.exit;
    enum_field(io, one.kind, kCollectiveKinds);
    field(io, one.inside_graph);
    field(io, one.communicator);
    name_field(io, one.function, names);
    name_field(io, one.kernel, names);
    field(io, one.kernels);
    field(io, one.channels);
    name_field(io, one.data_type, names);
    if constexpr (Io::kReads) {
      io.check(one.communicator < sequences.size());
      if (!io.good()) return;
    }
    std::int64_t& before = sequences[one.communicator];
    std::optional<std::int64_t> step;
    if (one.sequence) step = wrapping_sub(*one.sequence, before);
    auto more = one.receive_bytes;
    // The same number of bytes in and out is written once: as a difference.
    if (one.send_bytes && one.receive_bytes)
      more = wrapping_sub(*one.receive_bytes, *one.send_bytes);
    if constexpr (Io::kReads) {
      optional_fields(io, step, one.send_bytes, one.receive_bytes, one.root, one.peer,
                      one.part_bytes);
      if (step) one.sequence = wrapping_add(*step, before);
      if (one.send_bytes && one.receive_bytes)
        one.receive_bytes = wrapping_add(*one.receive_bytes, *one.send_bytes);
    } else {
      optional_fields(io, step, one.send_bytes, more, one.root, one.peer, one.part_bytes);
    }
    if (one.sequence) before = *one.sequence;
  });
}

template <class Io, class Summary>
void head_fields(Io& io, Summary& summary) {
  identity_fields(io, summary);
  list_field(io, summary.names, 1, [&](auto& one) { field(io, one); });
  list_field(io, summary.scenarios, 1, [&](auto& one) { field(io, one); });
  list_field(io, summary.missing, 2, [&](auto& one) {
    field(io, one.first);
    field(io, one.second);
  });
  list_field(io, summary.communicators, 5, [&](auto& one) { communicator_fields(io, one); });
  collective_fields(io, summary);
}

template <class Io, class List>
void kernel_fields(Io& io, List& kernels, std::size_t names) {
  list_field(io, kernels, 3, [&](auto& one) {
    name_field(io, one.kernel, names);
    field(io, one.dispatches);
    field(io, one.time);
  });
}

/// The weight is written against the sum of what it was spent on, which it nearly always is.
template <class Io, class Edge>
void weight_fields(Io& io, Edge& edge, std::size_t names, std::size_t scenarios) {
  std::uint64_t there = 0;
  if constexpr (!Io::kReads) {
    for (std::size_t i = 0; i < edge.spent.size(); ++i) {
      if (edge.spent[i] != 0) there |= std::uint64_t{1} << i;
    }
    io.number(there);
  } else {
    there = io.number();
    io.check(there < std::uint64_t{1} << edge.spent.size());
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < edge.spent.size(); ++i) {
    if ((there >> i & 1U) != 0) field(io, edge.spent[i]);
    sum = wrapping_add(sum, edge.spent[i]);
  }
  near_field(io, edge.weight, sum);
  name_field(io, edge.kernel, names);
  near_field(io, edge.kernel_time, edge.spent[static_cast<std::size_t>(analyze::Spent::kernel)]);
  if constexpr (Io::kReads) {
    edge.scenarios.resize(io.good() ? scenarios : 0);
  }
  for (auto& weight : edge.scenarios) near_field(io, weight, edge.weight);
}

template <class Io, class Summary>
void graph_fields(Io& io, Summary& summary) {
  auto& graph = summary.graph;
  field(io, graph.inner);
  std::int64_t last = -1;
  list_field(io, graph.order, 1, [&](auto& vertex) {
    std::int64_t number = vertex;
    near_field(io, number, last + 1);
    if constexpr (Io::kReads) {
      io.check(number >= 0 && number < INT64_C(0xFFFF'FFFF));
      vertex = io.good() ? static_cast<std::uint32_t>(number) : 0;
    }
    last = vertex;
  });
  std::int64_t last_to = 0;
  const std::size_t least = 6 + summary.scenarios.size();
  list_field(io, graph.edges, least, [&](auto& edge) {
    std::int64_t to = edge.to;
    std::int64_t from = edge.from;
    near_field(io, to, last_to);
    near_field(io, from, to);
    if constexpr (Io::kReads) {
      const auto vertices = static_cast<std::int64_t>(graph.order.size());
      io.check(to >= 0 && to < vertices && from >= 0 && from < vertices);
      edge.to = io.good() ? static_cast<std::uint32_t>(to) : 0;
      edge.from = io.good() ? static_cast<std::uint32_t>(from) : 0;
    }
    last_to = edge.to;
    weight_fields(io, edge, summary.names.size(), summary.scenarios.size());
  });
}

template <class Io, class Summary>
void rest_fields(Io& io, Summary& summary) {
  const std::size_t names = summary.names.size();
  list_field(io, summary.work, 5, [&](auto& one) {
    field(io, one.length);
    near_field(io, one.busy, one.length);
    field(io, one.copies);
    kernel_fields(io, one.kernels, names);
    field(io, one.other_kernels);
  });
  kernel_fields(io, summary.kernels, names);
  graph_fields(io, summary);
}

/// Vertices in the order: each once, and edges from earlier ones to later ones.
bool graph_is_sound(const RankSummary& summary) {
  const LocalGraph& graph = summary.graph;
  const std::size_t count = 2 * summary.collectives.size() + 2 + graph.inner;
  // A summary without a graph has neither.
  if (graph.order.empty()) return graph.edges.empty() && graph.inner == 0;
  if (graph.order.size() != count) return false;
  std::vector<std::uint32_t> place(count, kNoName);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t vertex = graph.order[i];
    if (vertex >= count || place[vertex] != kNoName) return false;
    place[vertex] = i;
  }
  for (const LocalGraph::Edge& edge : graph.edges) {
    if (place[edge.from] > place[edge.to]) return false;
  }
  return true;
}

}  // namespace

void put_head(NumberWriter& out, const RankSummary& summary) {
  head_fields(out, summary);
}

bool take_head(NumberReader& in, RankSummary& summary) {
  head_fields(in, summary);
  if (!in.good() || !in.at_end()) return false;
  for (const Collective& one : summary.collectives) {
    if (one.exit < one.entry) return false;
  }
  return true;
}

void put_rest(NumberWriter& out, const RankSummary& summary) {
  rest_fields(out, summary);
}

bool take_rest(NumberReader& in, RankSummary& summary) {
  rest_fields(in, summary);
  return in.good() && in.at_end() &&
         (summary.work.empty() || summary.work.size() == summary.collectives.size() + 1) &&
         graph_is_sound(summary);
}

}  // namespace perflab::ranks
