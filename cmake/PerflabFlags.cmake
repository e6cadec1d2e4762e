# perflab_flags: warnings and hardening for every target of this project, and for nothing else (dependencies are SYSTEM).
add_library(perflab_flags INTERFACE)
target_compile_features(perflab_flags INTERFACE cxx_std_23)
target_compile_options(perflab_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-qual
  -Wformat=2 -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Werror
  # libstdc++ 12's stable_sort calls a function that C++17 deprecated; clang reports it at the caller.
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-deprecated-declarations>
  # g++ 12 reports these inside libstdc++ and fmt when sanitizers change inlining; clang checks the same code.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict>
  # Forty files as one take 1 to 2 GB; g++ collects garbage again and again below that (a tenth of its time).
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)
target_compile_definitions(perflab_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
