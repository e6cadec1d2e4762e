# What the guides say: the worked examples of docs/DEVELOPER_GUIDE.md, the formats written from the schemas, messages and names that exist.
perflab_test(docs
  SOURCES
    examples/dispatch_log.cpp
    examples/remote_executor.cpp
    examples/transform_workgroup_size.cpp
    examples_test.cpp
  DEPS perflab::analyze perflab::hal perflab::llm perflab::optimize_source perflab::trace perflab::tune fmt::fmt
  LABEL docs)
target_compile_definitions(test_docs PRIVATE PERFLAB_SLURM_WORKER="$<TARGET_FILE:slurm_worker>")
add_dependencies(test_docs slurm_worker)

add_test(NAME docs.errors COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_errors.py" "${PROJECT_SOURCE_DIR}")
add_test(NAME docs.errors_can_fail
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_errors.py" "${PROJECT_SOURCE_DIR}" tests/docs/errors_sample.md)
set_tests_properties(docs.errors_can_fail PROPERTIES PASS_REGULAR_EXPRESSION "3 messages, 2 of them in no source")
add_test(NAME docs.exec_proposer
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_proposer.py" "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:rocm-perf>)
add_test(NAME docs.facts COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_facts.py" "${PROJECT_SOURCE_DIR}")
add_test(NAME docs.facts_can_fail
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_facts.py" "${PROJECT_SOURCE_DIR}" tests/docs/facts_sample.md)
set_tests_properties(docs.facts_can_fail PROPERTIES PASS_REGULAR_EXPRESSION "\n5 citations in 1 files lead nowhere")
add_test(NAME docs.formats COMMAND python3 "${PROJECT_SOURCE_DIR}/scripts/formats" --check)
add_test(NAME docs.guide_code COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_guide.py" "${PROJECT_SOURCE_DIR}")
add_test(NAME docs.guide_checkers COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/guide_checkers_test.py")
add_test(NAME docs.names
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_names.py" "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:rocm-perf>)
add_test(NAME docs.names_can_fail
  COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_names.py" "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:rocm-perf> tests/docs/names_sample.md)
set_tests_properties(docs.names_can_fail PROPERTIES PASS_REGULAR_EXPRESSION "\n4 names in 1 documents do not exist")
add_test(NAME docs.numbers COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_numbers.py" "${PROJECT_SOURCE_DIR}")
add_test(NAME docs.numbers_can_fail COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_numbers.py" "${PROJECT_SOURCE_DIR}" --self-test)
set_tests_properties(docs.numbers_can_fail PROPERTIES PASS_REGULAR_EXPRESSION "2 of 2 figures differ")
add_test(NAME docs.page_section COMMAND python3 "${CMAKE_CURRENT_SOURCE_DIR}/check_section.py" "${PROJECT_SOURCE_DIR}")
set_tests_properties(docs.exec_proposer docs.page_section PROPERTIES LABELS "docs;slow")
set_tests_properties(docs.numbers docs.numbers_can_fail docs.errors docs.errors_can_fail docs.facts docs.facts_can_fail docs.formats docs.guide_code docs.guide_checkers docs.names docs.names_can_fail PROPERTIES LABELS docs)
set_tests_properties(docs.formats docs.guide_checkers docs.links docs.names docs.names_can_fail docs.page_section PROPERTIES
  ENVIRONMENT "PERFLAB_SCHEMAS=${PROJECT_BINARY_DIR}/schemas")
