// Reading a trace of PyTorch's profiler against simdjson alone on the same bytes: a step of
// launches as torch.profiler writes them, repeated until the text is as large as asked for. Each
// figure is the best of several rounds, taken in turns. Prints JSON. Usage: bench_kineto_read [MB]
// [ROUNDS]
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>

#include "base/text/numbers.h"
#include "trace/kineto/read_kineto.h"
#include "trace/load_state.h"

namespace {

using perflab::trace::LoadState;
using perflab::trace::Trace;

/// Operators, a call with its arrow, a kernel: what a launch leaves in a file.
std::string launch(std::int64_t i) {
  const std::int64_t at = 1000 + 20 * i;
  std::string text;
  for (int op = 0; op < 5; ++op)
    text += fmt::format(
        R"-(  {{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 70, "tid": 70, )-"
        R"-("ts": {}.{:03}, "dur": 9.125, "args": {{"External id": {}, "Record function id": 0, )-"
        R"-("Sequence number": {}, "Fwd thread id": 0, "Ev Idx": {}, )-"
        R"-("Input Dims": [[64, 1024], [1024, 1024], [1024]]}}}},)-"
        "\n",
        at, op, i * 5 + op, i, i * 5 + op);
  text += fmt::format(
      R"-(  {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 70, )-"
      R"-("tid": 70, "ts": {}.250, "dur": 4.503, "args": {{"External id": {}, "cbid": 211, )-"
      R"-("correlation": {}}}}},)-"
      "\n"
      R"-(  {{"ph": "s", "id": {}, "pid": 70, "tid": 70, "ts": {}.250, "cat": "ac2g", )-"
      R"-("name": "ac2g"}},)-"
      "\n",
      at, i * 5, i + 1, i + 1, at);
  text += fmt::format(
      R"-(  {{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel)-"
      R"-(<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, {}> >(int, )-"
      R"-(at::native::CUDAFunctor_add<float>)", "pid": 0, "tid": 7, "ts": {}.001, "dur": 11.744, )-"
      R"-("args": {{"External id": {}, "queued": 0, "device": 0, "context": 1, "stream": 7, )-"
      R"-("correlation": {}, "registers per thread": 32, "shared memory": 0, )-"
      R"-("blocks per SM": 3.87, "warps per SM": 15.51, "grid": [512, 1, 1], )-"
      R"-("block": [128, 1, 1], "est. achieved occupancy %": 24}}}},)-"
      "\n"
      R"-(  {{"ph": "f", "id": {}, "pid": 0, "tid": 7, "ts": {}.001, "cat": "ac2g", )-"
      R"-("name": "ac2g", "bp": "e"}},)-"
      "\n",
      i % 97, at + 10, i * 5, i + 1, i + 1, at + 10);
  return text;
}

std::string made_up(std::size_t bytes) {
  std::string text =
      R"-({"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {"rank": 0, )-"
      R"-("world_size": 1}, "baseTimeNanoseconds": 1700000000000000000, "traceEvents": [)-"
      "\n";
  text.reserve(bytes + (std::size_t{1} << 16));
  for (std::int64_t i = 0; text.size() < bytes; ++i) text += launch(i);
  text += R"-({"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", )-"
          R"-("ts": 1}]})-";
  return text;
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Every value of the text, by simdjson's on-demand parser: no object is made of any.
std::size_t walk(simdjson::ondemand::value value) {
  std::size_t values = 1;
  switch (value.type().value_unsafe()) {
    case simdjson::ondemand::json_type::object:
      for (auto&& field : value.get_object()) {
        std::string_view key;
        if (field.unescaped_key().get(key) != simdjson::SUCCESS) return values;
        values += walk(field.value().value_unsafe());
      }
      return values;
    case simdjson::ondemand::json_type::array:
      for (auto&& element : value.get_array()) values += walk(element.value_unsafe());
      return values;
    case simdjson::ondemand::json_type::number:
      return values + (value.get_double().error() == simdjson::SUCCESS ? 0U : 1U);
    case simdjson::ondemand::json_type::string:
      return values + (value.get_string().error() == simdjson::SUCCESS ? 0U : 1U);
    default:
      return values;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::size_t usual) {
    return argc > i ? perflab::whole_number<std::size_t>(argv[i]).value_or(usual) : usual;
  };
  const std::size_t megabytes = argument(1, 200), rounds = argument(2, 5);
  const std::string text = made_up(megabytes << 20);
  const simdjson::padded_string padded(text);
  double dom = std::numeric_limits<double>::max(), ondemand = dom, ours = dom;
  std::size_t kernels = 0, values = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    dom = std::min(dom, seconds([&] {
                     simdjson::dom::parser parser;
                     simdjson::dom::element root;
                     if (parser.parse(padded).get(root) != simdjson::SUCCESS) kernels = 0;
                   }));
    ondemand = std::min(ondemand, seconds([&] {
                          simdjson::ondemand::parser parser;
                          simdjson::ondemand::document document;
                          if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return;
                          simdjson::ondemand::value root;
                          if (document.get_value().get(root) == simdjson::SUCCESS)
                            values = walk(root);
                        }));
    std::string copy = text;
    ours = std::min(ours, seconds([&] {
                      Trace trace;
                      LoadState state(trace);
                      const auto loaded =
                          perflab::trace::kineto::load_text(state, std::move(copy), "trace.json");
                      if (!loaded) return;
                      perflab::trace::finish(state);
                      kernels = trace.dispatches.size();
                    }));
  }
  const double size = static_cast<double>(text.size()) / 1e6;
  fmt::print(
      "{{\"megabytes\": {:.1f}, \"kernels\": {}, \"values\": {}, \"dom_s\": {:.3f}, "
      "\"ondemand_s\": {:.3f}, \"kineto_s\": {:.3f}, \"of_dom\": {:.2f}, \"of_ondemand\": "
      "{:.2f}}}\n",
      size, kernels, values, dom, ondemand, ours, dom / ours, ondemand / ours);
  return 0;
}
