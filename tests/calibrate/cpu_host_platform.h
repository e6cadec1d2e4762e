// What programs/host.cpp needs of a GPU's runtime, on the CPU: functions of this program by name.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

using Status = int;
using Module = int;
using Function = void (*)(Work);
using Pointer = char*;
static const Status kGood = 0;
struct Line;
struct Arguments;

static void start() {}
static Module load(const char*) {
  return 0;
}
static Function find(Module, const std::string& name) {
  static const std::map<std::string, Function> kKernels = {
#define KERNEL(name) {#name, name},
      CPU_KERNELS
#undef KERNEL
  };
  return kKernels.at(name);
}
static Pointer allocate(std::size_t bytes) {
  // The program leaves its memory to its end, which here is not near.
  static std::deque<std::vector<char>> memory;
  return memory.emplace_back(bytes).data();
}
static void upload(Pointer to, const std::vector<std::uint32_t>& words) {
  std::memcpy(to, words.data(), words.size() * 4);
}
static void download(std::vector<std::uint32_t>& words, Pointer from) {
  std::memcpy(words.data(), from, words.size() * 4);
}
static void clear(Pointer memory, unsigned char value, std::size_t bytes) {
  std::memset(memory, value, bytes);
}
static void launch(Function function, const Line& line, Arguments& arguments);
