# Run by cpack between installing and packing: what Debian's policy wants of the tree: compressed manual pages and changelogs, a
# copyright file, no second copy of the licence. `gzip -n` keeps names and times out.
set(root "${CPACK_TEMPORARY_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}")
set(doc "${root}/share/doc/${CPACK_PACKAGE_NAME}")
file(MAKE_DIRECTORY "${doc}")
file(COPY_FILE "${CPACK_PERFLAB_PACKAGING}/copyright" "${doc}/copyright")
file(REMOVE "${doc}/LICENSE")
set(plain "${doc}/changelog.Debian")
if(EXISTS "${doc}/CHANGELOG.md")  # not in the package of the Python modules
  file(RENAME "${doc}/CHANGELOG.md" "${doc}/changelog")
  list(APPEND plain "${doc}/changelog")
endif()

# The time of the commit, as Debian writes dates.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${doc}/changelog.Debian"
"${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Built from the sources of this version; changelog.gz says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(GLOB_RECURSE pages "${root}/share/man/*.[1-9]")
list(APPEND plain ${pages})
execute_process(COMMAND gzip -9n ${plain} COMMAND_ERROR_IS_FATAL ANY)
list(TRANSFORM plain APPEND .gz)
if(pages)
  file(CREATE_LINK rocm-perf.1.gz "${root}/share/man/man1/rocm-perf-lab.1.gz" SYMBOLIC)  # the program's second name
endif()
file(CHMOD ${plain} "${doc}/copyright" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
