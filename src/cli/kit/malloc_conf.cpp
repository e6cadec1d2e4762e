// What jemalloc(3) is told, which reads it from this name; other allocators do not look.

/// Memory in pages of 2 MiB: a million dispatches are 60,000 pages of 4 KiB, each with a fault.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): jemalloc's declaration
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always";
