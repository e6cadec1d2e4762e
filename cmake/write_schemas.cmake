# cmake -D PROGRAM=rocm-perf -D NAMES=a;b -D OUT=folder -P write_schemas.cmake: the complete schemas, as `rocm-perf schema` prints them.
file(REMOVE_RECURSE "${OUT}")
foreach(name ${NAMES})
  execute_process(COMMAND "${PROGRAM}" schema "${name}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${OUT}/${name}.schema.json" "${text}")
endforeach()
