// What jemalloc(3) is told, which reads it from this name; other allocators do not look.

/// Memory in pages of 2 MiB: a million dispatches are 60,000 faults with pages of 4 KiB. One
/// arena: what a thread freed is there for the next one, in large pages.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): jemalloc's declaration
extern "C" [[gnu::visibility("default")]] const char* malloc_conf;
const char* malloc_conf = "thp:always,narenas:1";
