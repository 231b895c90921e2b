# cpack runs this between what cmake --install put into CPACK_TEMPORARY_DIRECTORY and the package.

# run COMMAND...: it must succeed.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# As Debian wants its packages: manuals and changelogs compressed, the licence in the file "copyright" alone, static
# libraries without what only a debugger reads.
if(CPACK_GENERATOR STREQUAL DEB)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/usr)
  file(REMOVE ${root}/${CPACK_LAPILLI_DOCDIR}/LICENSE)
  file(COPY_FILE ${CPACK_LAPILLI_CHANGELOG} ${root}/${CPACK_LAPILLI_DOCDIR}/changelog)
  file(GLOB_RECURSE compressed ${root}/share/man/*.1 ${root}/${CPACK_LAPILLI_DOCDIR}/changelog)
  foreach(file IN LISTS compressed)
    run(gzip -9n ${file})
  endforeach()
  file(GLOB_RECURSE archives ${root}/*.a)
  foreach(file IN LISTS archives)
    run(${CPACK_LAPILLI_STRIP} --strip-debug --enable-deterministic-archives --remove-section=.comment
      --remove-section=.note ${file})
  endforeach()
endif()

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  file(GLOB_RECURSE all LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/*)
  list(APPEND all ${CPACK_TEMPORARY_DIRECTORY})
  foreach(file IN LISTS all)
    run(touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} ${file})
  endforeach()
endif()
