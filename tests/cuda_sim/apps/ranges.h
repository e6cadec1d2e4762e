// NVTX of a program: what nvtx3's headers do, for the few calls that the sample program makes.
#pragma once

#include <cstdint>

namespace perflab::cuda_sim::ranges {

void mark(const char* text);
void push(const char* text);
void pop();
std::uint64_t start(const char* text);
void end(std::uint64_t id);
/// A range of a domain, with a payload.
void push_in(const char* domain, const char* text, std::uint64_t payload);
void pop_in(const char* domain);

}  // namespace perflab::cuda_sim::ranges
