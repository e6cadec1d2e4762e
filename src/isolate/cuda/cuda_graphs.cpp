// An executable graph is a copy: what is done to the graph that it was made from does not matter.
// What is done to the copy itself makes the nodes that were read worthless.
#include "isolate/cuda/cuda_graphs.h"

#include <algorithm>
#include <utility>

#include "cuda/launch_parameters.h"

namespace perflab::isolate {
namespace {

namespace calls = cuda::driver_call;
using cuda::DriverResult;

constexpr std::size_t kMostNodes = std::size_t{1} << 20;
constexpr const char* kChangedGraph =
    "a node of its graph was changed after that was made executable";

std::vector<cuda::GraphNode> nodes_of(const cuda::Driver& driver, cuda::Graph graph) {
  std::size_t count = 0;
  if (driver.graph_get_nodes == nullptr || driver.graph_node_get_type == nullptr ||
      driver.graph_kernel_node_get == nullptr ||
      driver.graph_get_nodes(graph, nullptr, &count) != DriverResult::success || count > kMostNodes)
    return {};
  std::vector<cuda::GraphNode> nodes(count);
  if (driver.graph_get_nodes(graph, nodes.data(), &count) != DriverResult::success) return {};
  nodes.resize(std::min(nodes.size(), count));
  return nodes;
}

bool is_kernel(const cuda::Driver& driver, cuda::GraphNode node) {
  cuda::GraphNodeType type{};
  return driver.graph_node_get_type(node, &type) == DriverResult::success &&
         type == cuda::GraphNodeType::kernel;
}

bool has_no_predecessor(const cuda::Driver& driver, cuda::GraphNode node) {
  std::size_t count = 0;
  return driver.graph_node_get_dependencies != nullptr &&
         driver.graph_node_get_dependencies(node, nullptr, nullptr, &count) ==
             DriverResult::success &&
         count == 0;
}

bool makes_executable(cuda::CallbackId id) {
  return id == calls::graph_instantiate || id == calls::graph_instantiate_v2 ||
         id == calls::graph_instantiate_flags || id == calls::graph_instantiate_parameters ||
         id == calls::graph_instantiate_parameters_ptsz;
}

}  // namespace

Result<void> CudaGraphs::read_launch(cuda::GraphNode node, const cuda::KernelNodeParameters& given,
                                     GraphKernel& out) const {
  LaunchCall& call = out.call;
  call.function = out.function.function;
  std::ranges::copy(given.grid, call.grid.begin());
  std::ranges::copy(given.block, call.block.begin());
  call.shared_bytes = given.shared_bytes;
  call.parameters = given.parameters;
  call.extra = given.extra;
  PERFLAB_TRY(out.arguments, arguments_of(driver_, call, out.function.function));
  call.parameters = call.extra = nullptr;  // the node's; the copy is what counts
  cuda::LaunchAttribute attribute{};
  if (driver_.graph_kernel_node_attribute == nullptr) return {};
  if (driver_.graph_kernel_node_attribute(node, cuda::LaunchAttributeId::cluster_dimension,
                                          &attribute.value) == DriverResult::success)
    std::ranges::copy(attribute.value.cluster, call.cluster.begin());
  attribute = {};
  if (driver_.graph_kernel_node_attribute(node, cuda::LaunchAttributeId::cooperative,
                                          &attribute.value) == DriverResult::success)
    call.cooperative = attribute.value.cooperative != 0;
  return {};
}

GraphKernel CudaGraphs::read_node(cuda::GraphNode node) const {
  GraphKernel out;
  cuda::KernelNodeParameters given{};
  if (driver_.graph_kernel_node_get(node, &given) != DriverResult::success) return out;
  cuda::Function launched =
      given.function != nullptr ? given.function : reinterpret_cast<cuda::Function>(given.kernel);
  CudaModules::forget_loads();
  const auto found = function_of(driver_, launched);
  const char* symbol = nullptr;
  if (!found || driver_.function_get_name == nullptr ||
      driver_.function_get_name(&symbol, found->function) != DriverResult::success ||
      symbol == nullptr)
    return out;
  modules_.bind_loads(found->module);
  out.function = *found;
  out.name = kernels_.named(symbol);
  if (!out.name->wanted) return out;
  out.first = has_no_predecessor(driver_, node);
  if (const Result<void> read = read_launch(node, given, out); !read)
    out.problem = read.error().message;
  return out;
}

void CudaGraphs::read(cuda::GraphExec executable, cuda::Graph graph) {
  auto kernels = std::make_shared<std::vector<GraphKernel>>();
  for (cuda::GraphNode node : nodes_of(driver_, graph))
    if (is_kernel(driver_, node))
      if (GraphKernel kernel = read_node(node); kernel.name != nullptr)
        kernels->push_back(std::move(kernel));
  std::ranges::stable_partition(*kernels, &GraphKernel::first);
  const std::lock_guard lock(mutex_);
  graphs_.insert_or_assign(executable, std::move(kernels));
}

void CudaGraphs::note_change(cuda::GraphExec executable) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(executable);
  if (found == graphs_.end()) return;
  auto changed = std::make_shared<std::vector<GraphKernel>>(*found->second);
  for (GraphKernel& kernel : *changed) kernel.problem = kChangedGraph;
  found->second = std::move(changed);
}

void CudaGraphs::called(cuda::CallbackId id, const void* parameters) {
  if (makes_executable(id)) {
    const auto& made = *static_cast<const cuda::GraphInstantiateParameters*>(parameters);
    return read(*made.executable, made.graph);
  }
  const auto& given = *static_cast<const cuda::GraphExecParameters*>(parameters);
  switch (id) {
    case calls::graph_exec_update:
    case calls::graph_exec_update_v2:
      return read(given.executable, given.graph);
    case calls::graph_exec_kernel_node_set:
    case calls::graph_exec_kernel_node_set_v2:
    case calls::graph_exec_node_set:
      return note_change(given.executable);
    case calls::graph_exec_destroy: {
      const std::lock_guard lock(mutex_);
      graphs_.erase(given.executable);
      return;
    }
    default:
      return;
  }
}

std::shared_ptr<const std::vector<GraphKernel>> CudaGraphs::kernels_of(
    cuda::GraphExec executable) const {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(executable);
  return found == graphs_.end() ? std::make_shared<const std::vector<GraphKernel>>()
                                : found->second;
}

Result<void> launch_alone(const cuda::Driver& driver, const GraphKernel& kernel,
                          cuda::Stream stream) {
  std::array<cuda::LaunchAttribute, 2> attributes{};
  cuda::LaunchConfiguration shape{.grid = {},
                                  .block = {},
                                  .shared_bytes = kernel.call.shared_bytes,
                                  .stream = stream,
                                  .attributes = attributes.data(),
                                  .attribute_count = 0};
  std::ranges::copy(kernel.call.grid, shape.grid);
  std::ranges::copy(kernel.call.block, shape.block);
  if (kernel.call.cluster[0] != 0) {
    cuda::LaunchAttribute& one = attributes[shape.attribute_count++];
    one.id = cuda::LaunchAttributeId::cluster_dimension;
    std::ranges::copy(kernel.call.cluster, one.value.cluster);
  }
  if (kernel.call.cooperative) {
    cuda::LaunchAttribute& one = attributes[shape.attribute_count++];
    one.id = cuda::LaunchAttributeId::cooperative;
    one.value.cooperative = 1;
  }
  std::vector<std::byte> buffer = kernel.arguments.bytes;
  std::size_t bytes = buffer.size();
  const auto word = [](std::uintptr_t value) {
    return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr)
  };
  std::array<void*, 5> extra = {word(cuda::launch_parameter::buffer_pointer), buffer.data(),
                                word(cuda::launch_parameter::buffer_size), &bytes,
                                word(cuda::launch_parameter::end)};
  return checked(driver, "cuLaunchKernelEx",
                 driver.launch_kernel_ex(&shape, kernel.function.function, nullptr, extra.data()));
}

}  // namespace perflab::isolate
