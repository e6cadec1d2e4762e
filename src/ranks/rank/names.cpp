#include "ranks/rank/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/communication_kernels.h"

namespace perflab::ranks {

namespace {

template <class T>
using Entry = std::pair<std::string_view, T>;

/// Letters and digits, lower case: "c10d::_allgather_base_" and "AllGatherBase" are one.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) text += static_cast<char>(std::tolower(byte));
  }
  return text;
}

/// By plain name, prefixes nccl, rccl, c10d taken off. RCCL: rccl.def.cpp of rocprofiler-sdk (both
/// spellings of AllToAll); torch.distributed: ProcessGroupNCCL's records and
/// annotations.
constexpr auto kFunctions = std::to_array<Entry<FunctionFacts>>({
    {"allgather", {CallRole::communicates, CollectiveKind::all_gather}},
    {"allgatherbase", {CallRole::communicates, CollectiveKind::all_gather}},
    {"allgatherintotensor", {CallRole::communicates, CollectiveKind::all_gather}},
    {"allgatherintotensorcoalesced", {CallRole::communicates, CollectiveKind::all_gather}},
    {"allgatherv", {CallRole::communicates, CollectiveKind::group}},
    {"allreduce", {CallRole::communicates, CollectiveKind::all_reduce}},
    {"allreducebarrier", {CallRole::communicates, CollectiveKind::barrier}},
    {"allreducecoalesced", {CallRole::communicates, CollectiveKind::all_reduce}},
    {"allreducewithbias", {CallRole::communicates, CollectiveKind::all_reduce}},
    {"alltoall", {CallRole::communicates, CollectiveKind::all_to_all}},
    {"alltoallbase", {CallRole::communicates, CollectiveKind::all_to_all_v}},
    {"alltoallv", {CallRole::communicates, CollectiveKind::all_to_all_v}},
    {"barrier", {CallRole::communicates, CollectiveKind::barrier}},
    {"bcast", {CallRole::communicates, CollectiveKind::broadcast}},
    {"broadcast", {CallRole::communicates, CollectiveKind::broadcast}},
    {"broadcastoop", {CallRole::communicates, CollectiveKind::broadcast}},
    {"coalesced", {CallRole::communicates, CollectiveKind::group}},
    {"gather", {CallRole::communicates, CollectiveKind::gather}},
    {"group", {CallRole::communicates, CollectiveKind::group}},
    {"groupend", {CallRole::group_end, CollectiveKind::group}},
    {"groupstart", {CallRole::group_start, CollectiveKind::group}},
    {"irecv", {CallRole::communicates, CollectiveKind::receive}},
    {"isend", {CallRole::communicates, CollectiveKind::send}},
    {"putsignal", {CallRole::communicates, CollectiveKind::unknown}},
    {"recv", {CallRole::communicates, CollectiveKind::receive}},
    {"recvanysource", {CallRole::communicates, CollectiveKind::receive}},
    {"reduce", {CallRole::communicates, CollectiveKind::reduce}},
    {"reduceoop", {CallRole::communicates, CollectiveKind::reduce}},
    {"reducescatter", {CallRole::communicates, CollectiveKind::reduce_scatter}},
    {"reducescatterbase", {CallRole::communicates, CollectiveKind::reduce_scatter}},
    {"reducescattertensor", {CallRole::communicates, CollectiveKind::reduce_scatter}},
    {"reducescattertensorcoalesced", {CallRole::communicates, CollectiveKind::reduce_scatter}},
    {"runalgo", {CallRole::communicates, CollectiveKind::unknown}},
    {"scatter", {CallRole::communicates, CollectiveKind::scatter}},
    {"send", {CallRole::communicates, CollectiveKind::send}},
    {"sendrecv", {CallRole::communicates, CollectiveKind::group}},
    {"signal", {CallRole::communicates, CollectiveKind::unknown}},
    {"waitsignal", {CallRole::communicates, CollectiveKind::unknown}},
});

/// As they stand in kernel names; longer ones first.
constexpr auto kInNames = std::to_array<Entry<CollectiveKind>>({
    {"AllReduce", CollectiveKind::all_reduce},
    {"AllGather", CollectiveKind::all_gather},
    {"AllToAllv", CollectiveKind::all_to_all_v},
    {"AlltoAllv", CollectiveKind::all_to_all_v},
    {"AllToAll", CollectiveKind::all_to_all},
    {"AlltoAll", CollectiveKind::all_to_all},
    {"ReduceScatter", CollectiveKind::reduce_scatter},
    {"Broadcast", CollectiveKind::broadcast},
    {"Reduce", CollectiveKind::reduce},
    {"SendRecv", CollectiveKind::group},
});

/// ncclDataType_t of nccl.h; RCCL's roctx texts; torch.dtype as Kineto writes it.
constexpr auto kTypes = std::to_array<Entry<std::int64_t>>({
    {"0", 1},
    {"1", 1},
    {"2", 4},
    {"3", 4},
    {"4", 8},
    {"5", 8},
    {"6", 2},
    {"7", 4},
    {"8", 8},
    {"9", 2},
    {"10", 1},
    {"11", 1},
    {"b16", 2},
    {"bfloat16", 2},
    {"bool", 1},
    {"byte", 1},
    {"char", 1},
    {"double", 8},
    {"f16", 2},
    {"f32", 4},
    {"f64", 8},
    {"f8", 1},
    {"b8", 1},
    {"float", 4},
    {"float16", 2},
    {"float32", 4},
    {"float64", 8},
    {"half", 2},
    {"i32", 4},
    {"i64", 8},
    {"i8", 1},
    {"int", 4},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"int8", 1},
    {"long", 8},
    {"short", 2},
    {"u32", 4},
    {"u64", 8},
    {"u8", 1},
    {"uint32", 4},
    {"uint64", 8},
    {"uint8", 1},
    {"complexfloat", 8},
    {"float8e4m3", 1},
    {"float8e5m2", 1},
    {"fp8e4m3", 1},
    {"fp8e5m2", 1},
    {"float8e4m3fn", 1},
    {"float8e4m3fnuz", 1},
    {"float8e5m2fnuz", 1},
    {"complexdouble", 16},
});

template <class T, std::size_t N>
const T* find_entry(const std::array<Entry<T>, N>& table, std::string_view key) {
  const auto found = std::ranges::find(table, key, &Entry<T>::first);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace

FunctionFacts function_facts(std::string_view name) {
  const std::string text = plain(name);
  std::string_view rest = text;
  for (const std::string_view prefix : {"c10d", "record", "msccl", "nccl", "rccl"}) {
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  }
  const FunctionFacts* const found = find_entry(kFunctions, rest);
  return found == nullptr ? FunctionFacts{} : *found;
}

KernelFacts kernel_facts(std::string_view name) {
  const auto [known, collective] = communication_kernel(name);
  if (known == nullptr) return {};
  KernelFacts facts{.role = KernelRole::communicates};
  if (known->role == CommunicationRole::helper) facts.role = KernelRole::helper;
  if (known->role == CommunicationRole::one_rank) facts.role = KernelRole::one_rank;
  for (const auto& [word, kind] : kInNames) {
    if (!collective.starts_with(word)) continue;
    facts.kind = kind;
    break;
  }
  return facts;
}

std::optional<std::int64_t> type_size(std::string_view name) {
  const std::string text = plain(name);
  std::string_view rest = text;
  for (const std::string_view prefix : {"nccl", "c10", "torch"}) {
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  }
  const std::int64_t* const found = find_entry(kTypes, rest);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string short_kernel_name(std::string_view name) {
  constexpr std::size_t kMost = 512;
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string text;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size() && text.size() < kMost; ++i) {
    const char c = name[i];
    if (depth == 0 && name.substr(i).starts_with(kAnonymous)) {
      text += kAnonymous;
      i += kAnonymous.size() - 1;
    } else if (c == '<') {
      ++depth;
    } else if (c == '>' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      if (c == '(' || c == ' ') break;
      text += c;
    }
  }
  // Names that are only a bracket, or operators, stay as they are.
  return text.empty() ? std::string(name.substr(0, kMost)) : text.substr(0, kMost);
}

}  // namespace perflab::ranks
