# Run after linking a GoogleTest program: writes OUT, a CTest include file with one test per suite, NAME.Suite. A process per TEST
# would cost more than most tests do (ASan's start alone is 0.1 s of CPU). NAMED has what perflab_suites() says, Suite=SECONDS=LABELS+...
# Every suite leaves its results in RESULTS as XML, which is what scripts/summary counts. ASan's record of dynamic thread-local memory is
# off: it takes any block of a library that was opened at run time for one of its own, and LeakSanitizer then follows it to anywhere (a
# few times in a hundred runs of `replay`). What costs a third of the time and finds little more is off or small: long stacks of
# allocations, a large quarantine, and, but for slow suites and the fuzzing, locals that are used after their function.
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests failed: ${failed}")
endif()
string(REPLACE "+" ";" NAMED "${NAMED}")
string(REGEX MATCHALL "(^|\n)[A-Za-z_0-9/]+\\." suites "${listed}")
set(text "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n|\\.$" "" suite "${suite}")
  string(REPLACE "/" "_" file "${NAME}.${suite}")
  set(seconds ${SECONDS})
  set(cost "")
  set(labels ${LABEL})
  foreach(named IN LISTS NAMED)
    if(named MATCHES "^${suite}=([0-9]*)=(.*)$")
      list(REMOVE_ITEM NAMED "${named}")
      string(REPLACE "," ";" named_labels "${CMAKE_MATCH_2}")
      list(APPEND labels ${named_labels})
      if(CMAKE_MATCH_1)
        set(seconds ${CMAKE_MATCH_1})
        set(cost " COST ${CMAKE_MATCH_1}")  # the longest begin first
      endif()
    endif()
  endforeach()
  set(asan "intercept_tls_get_addr=0:malloc_context_size=6:quarantine_size_mb=32")
  if(";${labels};" MATCHES ";slow;")
    string(APPEND asan ":detect_leaks=1")  # of the program as well (src/cli/kit/sanitizer_conf.cpp)
  else()
    string(APPEND asan ":detect_stack_use_after_return=0")
  endif()
  string(APPEND text "add_test([=[${NAME}.${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}.*]=] [=[--gtest_output=xml:${RESULTS}/${file}.xml]=])\n"
    "set_tests_properties([=[${NAME}.${suite}]=] PROPERTIES LABELS [=[${labels}]=] TIMEOUT ${seconds}${cost} WORKING_DIRECTORY [=[${DIRECTORY}]=]\n"
    "  ENVIRONMENT ASAN_OPTIONS=${asan})\n")
endforeach()
if(NAMED)
  message(FATAL_ERROR "perflab_suites(${NAME} ...): ${PROGRAM} has no such suite: ${NAMED}")
endif()
file(WRITE "${OUT}" "${text}")
