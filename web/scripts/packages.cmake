# Installs web/node_modules from package-lock.json, once for all build folders: builds that run at the same time wait for each other, and
# nothing is done when the packages there are already those of the lock file. -DNPM=npm -DSTAMP=file to touch. No install scripts run.
# .perflab-lock-hash says what is installed; .perflab-present is what the build looks for, and what its `clean` may remove.
get_filename_component(web "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(SHA256 "${web}/package-lock.json" wanted)
set(installed_file "${web}/node_modules/.perflab-lock-hash")

file(LOCK "${web}" DIRECTORY GUARD PROCESS TIMEOUT 600)
set(installed "")
if(EXISTS "${installed_file}")
  file(READ "${installed_file}" installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND "${NPM}" ci --include=dev --ignore-scripts --no-audit --no-fund --loglevel=error WORKING_DIRECTORY "${web}" RESULT_VARIABLE failed OUTPUT_VARIABLE talk ERROR_VARIABLE talk)
  if(failed)
    message(FATAL_ERROR "npm ci failed in ${web}: ${talk}\nThe report page needs the packages of web/package-lock.json from npm's registry, once.")
  endif()
  if(NOT EXISTS "${web}/node_modules/vite/bin/vite.js")
    message(FATAL_ERROR "npm ci left vite out of ${web}/node_modules: ${talk}")
  endif()
  file(WRITE "${installed_file}" "${wanted}")
endif()
file(WRITE "${web}/node_modules/.perflab-present" "${wanted}")
file(WRITE "${STAMP}" "${wanted}")
