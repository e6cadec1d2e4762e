// See sim_code_objects.h. Hidden arguments: docs/facts/code_object.md "Hidden arguments".
#include "hsa_sim/sim_code_objects.h"

#include <algorithm>

#include "hsa_sim/kernel_arguments.h"

namespace perflab::test {
using namespace hsa::sim;

std::vector<WrittenArgument> sim_explicit_arguments(std::string_view body) {
  const std::string pointer = "global_buffer", value = "by_value";
  if (body.starts_with("vadd"))
    return {{offsetof(VaddArguments, a), 8, pointer},
            {offsetof(VaddArguments, b), 8, pointer},
            {offsetof(VaddArguments, c), 8, pointer},
            {offsetof(VaddArguments, n), 4, value}};
  if (body.ends_with("_through"))
    return {{offsetof(ThroughArguments, x), 8, pointer},
            {offsetof(ThroughArguments, n), 4, value},
            {offsetof(ThroughArguments, factor), 8, pointer}};
  if (body == "slow")
    return {{offsetof(SlowArguments, x), 8, pointer},
            {offsetof(SlowArguments, n), 4, value},
            {offsetof(SlowArguments, value), 4, value},
            {offsetof(SlowArguments, milliseconds), 4, value}};
  if (body == "chase")
    return {{offsetof(ChaseArguments, head), 8, pointer},
            {offsetof(ChaseArguments, sum), 8, pointer},
            {offsetof(ChaseArguments, steps), 4, value}};
  if (body.starts_with("sum_f32"))
    return {{offsetof(SumArguments, x), 8, pointer},
            {offsetof(SumArguments, out), 8, pointer},
            {offsetof(SumArguments, n), 4, value}};
  return {{offsetof(ArrayArguments, x), 8, pointer}, {offsetof(ArrayArguments, n), 4, value}};
}

namespace {

bool has_variable(const SimObject& object, std::string_view name) {
  return std::ranges::any_of(
      object.variables, [name](const WrittenVariable& variable) { return variable.name == name; });
}

std::string_view body_name(const SimKernel& kernel) {
  return kernel.body.empty() ? kernel.name : kernel.body;
}

WrittenKernel written_kernel(const SimKernel& kernel, const std::vector<WrittenArgument>& arguments,
                             std::uint32_t kernarg_bytes) {
  WrittenKernel written{.name = kernel.name,
                        .metadata = kernel_metadata(kernel.name, arguments),
                        .code = bytes_of<std::uint32_t>(0xbf810000),  // s_endpgm
                        .group_segment_bytes = kernel.group_segment_bytes,
                        .private_segment_bytes = kernel.private_segment_bytes,
                        .kernarg_bytes = kernarg_bytes,
                        .rsrc1 = 0x00af0000,
                        .rsrc2 = 0x84,
                        .properties = 0x8};
  written.metadata[".kernarg_segment_size"] = kernarg_bytes;
  written.metadata[".group_segment_fixed_size"] = kernel.group_segment_bytes;
  written.metadata[".private_segment_fixed_size"] = kernel.private_segment_bytes;
  return written;
}

// The hidden arguments of version 5, from the byte `start` on.
void append_hidden(std::vector<WrittenArgument>& arguments, std::int64_t start) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::string letter(1, static_cast<char>('x' + axis));
    arguments.push_back({start + 4 * axis, 4, "hidden_block_count_" + letter});
    arguments.push_back({start + 12 + 2 * axis, 2, "hidden_group_size_" + letter});
    arguments.push_back({start + 18 + 2 * axis, 2, "hidden_remainder_" + letter});
    arguments.push_back({start + 40 + 8 * axis, 8, "hidden_global_offset_" + letter});
  }
  arguments.push_back({start + 64, 2, "hidden_grid_dims"});
}

std::int64_t end_of(const std::vector<WrittenArgument>& arguments) {
  return arguments.empty() ? 0 : (arguments.back().offset + arguments.back().size + 7) / 8 * 8;
}

}  // namespace

std::vector<WrittenArgument> sim_arguments(std::string_view body) {
  std::vector<WrittenArgument> arguments = sim_explicit_arguments(body);
  append_hidden(arguments, end_of(arguments));
  return arguments;
}

std::uint32_t sim_kernarg_bytes(std::string_view body) {
  return static_cast<std::uint32_t>(end_of(sim_explicit_arguments(body))) + hidden_argument_bytes;
}

std::string sim_code_object(SimObject object) {
  WrittenCodeObject written{.flags = object.flags,
                            .metadata = object_metadata(5, object.target),
                            .symbols = !object.stripped};
  std::string bodies;
  for (const SimKernel& kernel : object.kernels) {
    const std::string_view body = body_name(kernel);
    if (body == "scale" && !has_variable(object, "factor"))
      object.variables.push_back({.name = "factor", .bytes = bytes_of(2.5F)});
    if (body == "accumulate" && !has_variable(object, "total"))
      object.variables.push_back({.name = "total", .bytes = bytes_of(0.0F)});
    if (!kernel.body.empty()) bodies += kernel.name + '=' + kernel.body + ';';
    written.kernels.push_back(written_kernel(kernel, sim_arguments(body), sim_kernarg_bytes(body)));
  }
  written.variables = std::move(object.variables);
  if (!bodies.empty())
    written.variables.push_back({.name = "hsa_sim_body", .bytes = bodies, .exported = false});
  return write_code_object(written);
}

std::string sim_library_object(const std::string& kernel,
                               const std::vector<WrittenArgument>& arguments,
                               const std::string& library, std::int64_t max_workgroup) {
  const SimObject defaults;
  std::vector<WrittenArgument> all = arguments;
  append_hidden(all, end_of(arguments));
  WrittenCodeObject written{
      .flags = defaults.flags, .metadata = object_metadata(5, defaults.target), .symbols = true};
  written.kernels.push_back(
      written_kernel({.name = kernel}, all,
                     static_cast<std::uint32_t>(end_of(arguments)) + hidden_argument_bytes));
  written.kernels.back().metadata[".max_flat_workgroup_size"] = max_workgroup;
  written.variables.push_back({.name = "hsa_sim_library", .bytes = library, .exported = false});
  return write_code_object(written);
}

std::string sim_code_object(std::initializer_list<SimKernel> kernels) {
  return sim_code_object(SimObject{.kernels = kernels});
}

}  // namespace perflab::test
