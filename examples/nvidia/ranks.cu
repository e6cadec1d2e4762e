// A rank of an NCCL job of which it is known how late the last rank comes to each all-reduce: by a
// kernel that takes longer there (slow), by one more kernel (extra), by its host (host), or not at
// all (even). Says of each all-reduce what the ranks did before it (spin.cu).
//     nvcc -O2 -std=c++17 -arch=native ranks.cu spin.cu -lnccl -o ranks
//     RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 ./ranks slow 20 FILE & RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 ...
// FILE: a name that all ranks see and that is not there yet.
#include <nccl.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "zoo.h"

extern "C" int launch_spin(int which, std::uint64_t ns, std::uint64_t* stamps, void* stream);

namespace {

constexpr std::size_t kCount = 1 << 20;                                            // floats, 4 MiB
constexpr std::uint64_t kStep = 1'000'000, kLate = 20'000'000, kLead = 5'000'000;  // ns

void nccl(ncclResult_t result, const char* text) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s\n", text, ncclGetErrorString(result));
  std::_Exit(2);
}
#define NCCL(...) nccl(__VA_ARGS__, #__VA_ARGS__)

int variable(const char* name) {
  const char* const text = std::getenv(name);
  if (text != nullptr) return std::atoi(text);
  std::fprintf(stderr, "%s is not set\n", name);
  std::_Exit(2);
}

/// The first rank's, through a file.
ncclUniqueId shared_id(int rank, const std::string& path) {
  ncclUniqueId id;
  if (rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    std::ofstream(path + ".new", std::ios::binary).write(id.internal, sizeof id.internal);
    std::filesystem::rename(path + ".new", path);
    return id;
  }
  for (int tries = 0; tries < 30'000; ++tries) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(id.internal, sizeof id.internal)) return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::fprintf(stderr, "%s: no other rank came\n", path.c_str());
  std::_Exit(2);
}

struct Rank {
  int rank = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float *in = nullptr, *out = nullptr;
  std::uint64_t* stamps = nullptr;  ///< two for each round

  void spin(int which, std::uint64_t ns, long round) const {
    zoo::call(static_cast<cudaError_t>(launch_spin(which, ns, stamps + 2 * round, stream)),
              "cudaLaunchKernel(spin)");
    zoo::count("kernels");
  }
  void all_reduce() const {
    NCCL(ncclAllReduce(in, out, kCount, ncclFloat32, ncclSum, comm, stream));
    zoo::count("kernels");
  }
};

/// Nothing that is done for the first time is part of what is measured.
void warm_up(const Rank& own) {
  for (int which = 0; which < 3; ++which) own.spin(which, 0, 0);
  for (int i = 0; i < 2; ++i) {
    own.all_reduce();
    CALL(cudaStreamSynchronize(own.stream));
  }
  // The hosts are ahead of their GPUs from here on, and the GPUs begin together.
  own.spin(0, kLead, 0);
  own.all_reduce();
}

/// What stands before each all-reduce. The host's delay comes before a kernel of the GPU, so that
/// how long the call of the all-reduce takes does not matter.
void rounds(const Rank& own, const std::string& how, bool late, long count) {
  for (long round = 0; round < count; ++round) {
    if (how == "host") {
      own.spin(0, 0, round);
      CALL(cudaStreamSynchronize(own.stream));
      if (late) std::this_thread::sleep_for(std::chrono::nanoseconds(kLate));
    } else {
      own.spin(0, how == "slow" && late ? kStep + kLate : kStep, round);
    }
    if (how == "extra" && late) own.spin(1, kLate, round);
    own.spin(2, how == "host" ? kStep : 0, round);
    own.all_reduce();
  }
  CALL(cudaStreamSynchronize(own.stream));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const long count = zoo::number(argc, argv, 2, 20);
  if (argc != 4 || (how != "slow" && how != "extra" && how != "host" && how != "even")) {
    std::fprintf(stderr, "usage: ranks slow|extra|host|even ROUNDS FILE\n");
    return 2;
  }
  Rank own{.rank = variable("RANK")};
  const int size = variable("WORLD_SIZE");
  CALL(cudaSetDevice(variable("LOCAL_RANK")));
  NCCL(ncclCommInitRank(&own.comm, size, shared_id(own.rank, argv[3]), own.rank));
  CALL(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking));
  CALL(cudaMalloc(&own.in, kCount * sizeof(float)));
  CALL(cudaMalloc(&own.out, kCount * sizeof(float)));
  CALL(cudaMalloc(&own.stamps, 2 * count * sizeof(std::uint64_t)));
  std::vector<float> host(kCount, static_cast<float>(own.rank + 1));
  CALL(cudaMemcpy(own.in, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  warm_up(own);
  rounds(own, how, own.rank == size - 1, count);
  std::vector<std::uint64_t> stamps(2 * count);
  CALL(cudaMemcpy(stamps.data(), own.stamps, stamps.size() * sizeof(std::uint64_t),
                  cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(host.data(), own.out, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  NCCL(ncclCommDestroy(own.comm));
  const float sum = static_cast<float>(size) * static_cast<float>(size + 1) / 2;
  for (const float one : host) {
    if (one == sum) continue;
    std::fprintf(stderr, "the sum is %g instead of %g\n", one, sum);
    return 1;
  }
  for (long round = 0; round < count; ++round) {
    zoo::done().expect += (round == 0 ? "" : ", ");
    const std::uint64_t stayed = stamps[2 * round + 1] - stamps[2 * round];
    zoo::done().expect += "{\"rank\": " + std::to_string(own.rank) +
                          ", \"stayed_ns\": " + std::to_string(stayed) + "}";
  }
  zoo::say();
  return 0;
}
