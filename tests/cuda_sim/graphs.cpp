// Captures of streams and graphs of the stand-in libcuda.so.1. A graph's nodes wait for each other
// in a row. Facts: docs/facts/cuda_cupti.md "Graphs", "Capture".
#include <algorithm>

#include "cuda_sim/given_launch.h"
#include "cuda_sim/modules.h"

namespace perflab::cuda_sim {

extern "C" {

DriverResult cuStreamIsCapturing(cuda::Stream stream, std::uint32_t* status) {
  return called(driver_calls::cuStreamIsCapturing, [&](Call&) {
    const StreamState* const state = Machine::get().stream_of(stream);
    if (state == nullptr) return DriverResult::invalid_context;
    *status = state->captured == nullptr ? 0 : 1;
    return DriverResult::success;
  });
}

DriverResult cuThreadExchangeStreamCaptureMode(cuda::StreamCaptureMode* mode) {
  return called(driver_calls::cuThreadExchangeStreamCaptureMode, [&](Call&) {
    thread_local auto of_thread = cuda::StreamCaptureMode::global;
    std::swap(*mode, of_thread);
    return DriverResult::success;
  });
}

DriverResult cuStreamBeginCapture_v2(cuda::Stream stream, std::uint32_t /*mode*/) {
  return called(driver_calls::cuStreamBeginCapture_v2, [&](Call&) {
    StreamState* const state = Machine::get().stream_of(stream);
    if (state == nullptr || stream == nullptr) return DriverResult::stream_capture_unsupported;
    const std::lock_guard held(Machine::get().lock);
    state->captured = Machine::get().keep(new GraphState);
    return DriverResult::success;
  });
}

DriverResult cuStreamEndCapture(cuda::Stream stream, Graph* graph) {
  return called(driver_calls::cuStreamEndCapture, [&](Call&) {
    StreamState* const state = Machine::get().stream_of(stream);
    if (state == nullptr || state->captured == nullptr) return DriverResult::invalid_value;
    const std::lock_guard held(Machine::get().lock);
    GraphState* const captured = state->captured;
    state->captured = nullptr;
    if (!captured->valid) {
      Machine::get().forget(captured);
      delete captured;
      constexpr auto kCaptureInvalidated = DriverResult{901};
      return kCaptureInvalidated;
    }
    *graph = reinterpret_cast<Graph>(captured);
    return DriverResult::success;
  });
}

DriverResult cuGraphInstantiateWithFlags(cuda::GraphExec* executable, Graph graph,
                                         std::uint64_t /*flags*/) {
  const cuda::GraphInstantiateParameters given{executable, graph};
  return called_with(driver_calls::cuGraphInstantiateWithFlags, given, [&](Call&) {
    Machine& machine = Machine::get();
    const std::lock_guard held(machine.lock);
    auto* const made = machine.keep(new GraphExecState{
        .id = machine.next_graph++, .nodes = reinterpret_cast<const GraphState*>(graph)->nodes});
    for (std::size_t i = 0; i < made->nodes.size(); ++i) {
      made->nodes[i].work.graph = made->id;
      made->nodes[i].work.graph_node = (std::uint64_t{made->id} << 32U) + i;
    }
    *executable = reinterpret_cast<cuda::GraphExec>(made);
    return DriverResult::success;
  });
}

// A node's handle is its place in its graph: each waits for the one before it.
DriverResult cuGraphGetNodes(cuda::Graph graph, cuda::GraphNode* nodes, std::size_t* count) {
  return called(driver_calls::cuGraphGetNodes, [&](Call&) {
    auto& all = reinterpret_cast<GraphState*>(graph)->nodes;
    if (nodes != nullptr)
      for (std::size_t i = 0; i < std::min(*count, all.size()); ++i)
        nodes[i] = reinterpret_cast<cuda::GraphNode>(&all[i]);
    *count = all.size();
    return DriverResult::success;
  });
}

DriverResult cuGraphNodeGetType(cuda::GraphNode node, cuda::GraphNodeType* type) {
  return called(driver_calls::cuGraphNodeGetType, [&](Call&) {
    const WorkKind kind = reinterpret_cast<const Operation*>(node)->work.kind;
    *type = kind == WorkKind::kernel ? cuda::GraphNodeType::kernel
            : kind == WorkKind::fill ? cuda::GraphNodeType::fill
                                     : cuda::GraphNodeType::copy;
    return DriverResult::success;
  });
}

DriverResult cuGraphKernelNodeGetParams_v2(cuda::GraphNode node,
                                           cuda::KernelNodeParameters* parameters) {
  return called(driver_calls::cuGraphKernelNodeGetParams_v2, [&](Call&) {
    NodeKernel* const kernel = reinterpret_cast<const Operation*>(node)->kernel.get();
    if (kernel == nullptr) return DriverResult::invalid_value;
    const GivenLaunch given(kernel->function, kernel->shape, nullptr, nullptr, nullptr);
    *parameters = {.function = nullptr,
                   .grid = {},
                   .block = {},
                   .shared_bytes = given.plain.shared_bytes,
                   .parameters = kernel->parameters.data(),
                   .extra = nullptr,
                   .kernel = nullptr,
                   .context = nullptr};
    // As the real driver has it: the one or the other.
    if (reinterpret_cast<const FunctionState*>(kernel->function)->is_function)
      parameters->function = kernel->function;
    else
      parameters->kernel = reinterpret_cast<cuda::Kernel>(kernel->function);
    std::ranges::copy(given.plain.grid, parameters->grid);
    std::ranges::copy(given.plain.block, parameters->block);
    return DriverResult::success;
  });
}

DriverResult cuGraphNodeGetDependencies_v2(cuda::GraphNode node, cuda::GraphNode* dependencies,
                                           void* /*edges*/, std::size_t* count) {
  return called(driver_calls::cuGraphNodeGetDependencies_v2, [&](Call&) {
    const auto* const operation = reinterpret_cast<const Operation*>(node);
    *count = operation->is_first ? 0 : 1;
    if (dependencies != nullptr && *count != 0)
      *dependencies = reinterpret_cast<cuda::GraphNode>(const_cast<Operation*>(operation - 1));
    return DriverResult::success;
  });
}

DriverResult cuGraphKernelNodeGetAttribute(cuda::GraphNode node, cuda::LaunchAttributeId attribute,
                                           cuda::LaunchAttributeValue* value) {
  return called(driver_calls::cuGraphKernelNodeGetAttribute, [&](Call&) {
    const Launch& shape = reinterpret_cast<const Operation*>(node)->work.launch;
    *value = {};
    if (attribute == cuda::LaunchAttributeId::cooperative)
      value->cooperative = shape.type == cuda::launch_type::cooperative ? 1 : 0;
    if (attribute == cuda::LaunchAttributeId::cluster_dimension)
      GivenLaunch::copy(shape.cluster, value->cluster);
    return DriverResult::success;
  });
}

DriverResult cuGraphLaunch(cuda::GraphExec executable, cuda::Stream stream) {
  const cuda::GraphLaunchParameters given{executable, stream};
  return called_with(driver_calls::cuGraphLaunch, given, [&](Call& call) {
    Machine& machine = Machine::get();
    StreamState* const on = machine.stream_of(stream);
    if (on == nullptr) return DriverResult::invalid_context;
    const auto* const graph = reinterpret_cast<const GraphExecState*>(executable);
    // Told when the last node has its times: at once, or when its body has run.
    const auto first = std::make_shared<Work>();
    for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
      Operation node = graph->nodes[i];
      node.work.correlation = call.correlation;
      const bool is_last = i + 1 == graph->nodes.size();
      machine.submit(node.work, *on, node.body, [first, i, is_last](const Work& done) {
        if (i == 0) *first = done;
        Listener* const told = Machine::get().listener;
        if (told != nullptr && is_last) told->graph_launched(*first, done);
      });
    }
    {
      const std::lock_guard held(machine.lock);
      ++machine.counts.graph_launches;
    }
    return DriverResult::success;
  });
}

DriverResult cuGraphExecDestroy(cuda::GraphExec executable) {
  const cuda::GraphExecParameters given{executable, nullptr};
  return called_with(driver_calls::cuGraphExecDestroy, given, [&](Call&) {
    const std::lock_guard held(Machine::get().lock);
    Machine::get().forget(executable);
    delete reinterpret_cast<GraphExecState*>(executable);
    return DriverResult::success;
  });
}

}  // extern "C"

}  // namespace perflab::cuda_sim
