# Writes OUT: the hash of what COMPILER reads for HEADER with FLAGS, macros included. The same in every folder.
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
execute_process(COMMAND "${COMPILER}" ${FLAGS} -std=c++23 -w -E -P -dD -x c++ "${HEADER}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(SHA256 sum "${text}")
file(WRITE "${OUT}" "${sum}\n")
