// A stand-in for the CUDA runtime, linked into programs as the real one is: calls of the runtime
// that call the stand-in driver. Answers are the driver's; the runtime's own calls make the
// device's context when there is none.
#pragma once

#include "cuda_sim/sim.h"

namespace perflab::cuda_sim::runtime {

using cuda::DriverResult;

DriverResult get_device_count(int* count);
DriverResult set_device(int device);
DriverResult allocate(cuda::DevicePointer* address, std::size_t bytes);
DriverResult release(cuda::DevicePointer address);
DriverResult allocate_host(void** address, std::size_t bytes);
DriverResult release_host(void* address);
DriverResult allocate_managed(cuda::DevicePointer* address, std::size_t bytes);
DriverResult allocate_async(cuda::DevicePointer* address, std::size_t bytes, cuda::Stream stream);
DriverResult release_async(cuda::DevicePointer address, cuda::Stream stream);
DriverResult trim_pool();

/// cudaMemcpyAsync; of unknown kind: not allowed.
DriverResult copy(cuda::CopyKind kind, std::size_t bytes, cuda::Stream stream);
DriverResult copy_peer(int to_device, std::size_t bytes, cuda::Stream stream);
DriverResult fill(std::uint8_t value, std::size_t bytes, cuda::Stream stream);

/// kernel<<<>>>: cuKernelGetName if CUPTI has a client, then cudaLaunchKernel with
/// cuLaunchKernel in it. On
/// per_thread_stream its form for per-thread default streams; with a cluster cudaLaunchKernelExC;
/// of type cooperative cudaLaunchCooperativeKernel.
DriverResult launch(cuda::Function kernel, const Launch& shape, cuda::Stream stream,
                    void** parameters = nullptr);

DriverResult create_stream(cuda::Stream* stream, bool blocking = true);
DriverResult destroy_stream(cuda::Stream stream);
DriverResult synchronize(cuda::Stream stream);
DriverResult query(cuda::Stream stream);
DriverResult create_event(cuda::Event* event);
DriverResult destroy_event(cuda::Event event);
DriverResult record(cuda::Event event, cuda::Stream stream);
DriverResult wait(cuda::Stream stream, cuda::Event event);
DriverResult synchronize_event(cuda::Event event);
DriverResult synchronize_device();
DriverResult reset_device();

DriverResult begin_capture(cuda::Stream stream);
DriverResult end_capture(cuda::Stream stream, Graph* graph);
DriverResult instantiate(cuda::GraphExec* executable, Graph graph);
DriverResult launch_graph(cuda::GraphExec executable, cuda::Stream stream);
DriverResult destroy_graph(cuda::GraphExec executable);

}  // namespace perflab::cuda_sim::runtime
