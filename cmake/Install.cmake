# cmake --install: program, library, headers, the bundled model, the licence, and what other builds need to find us
# (find_package(lapilli), pkg-config). The whole prefix may be moved afterwards.
include(CMakePackageConfigHelpers)

install(TARGETS lapilli EXPORT lapilli
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET lapilli_cli)
  install(TARGETS lapilli_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(LAPILLI_RUNS_HERE)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
  endif()
endif()
if(TARGET lapilli_cli AND LAPILLI_HAVE_BOOST AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(SYSTEM_SERVICE "@system-service")  # a name of systemd's own
  configure_file(${PROJECT_SOURCE_DIR}/cmake/lapilli.service.in ${PROJECT_BINARY_DIR}/package/lapilli.service
    @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/lapilli.service DESTINATION lib/systemd/system)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/include/lapilli)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lapilli DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/models/en-fr)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/en-fr DESTINATION ${CMAKE_INSTALL_DATADIR}/lapilli/models)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/models/models.jsonl ${PROJECT_SOURCE_DIR}/models/registries.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lapilli/models)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/samples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN "*.md" EXCLUDE)
# Pages lead to files of the sources, which are not installed; there they name these (scripts/check-pages).
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -D \"SOURCE=${PROJECT_SOURCE_DIR}\"
  -D \"OUT=${PROJECT_BINARY_DIR}/pages\" -P \"${PROJECT_SOURCE_DIR}/cmake/InstalledPages.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${PROJECT_BINARY_DIR}/pages/ DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Of projects in C alone, which know no C++ runtime; "-lstdc++ -lm" with GCC.
set(LAPILLI_CXX_RUNTIME ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER LAPILLI_CXX_RUNTIME INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|m)$")
list(REMOVE_DUPLICATES LAPILLI_CXX_RUNTIME)

get_target_property(kind lapilli TYPE)
string(COMPARE EQUAL "${kind}" STATIC_LIBRARY LAPILLI_IS_STATIC)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lapilli)
install(EXPORT lapilli NAMESPACE lapilli:: FILE lapilliTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lapilliConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/lapilliConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/lapilliConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/lapilliConfig.cmake ${PROJECT_BINARY_DIR}/package/lapilliConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindUtf8proc.cmake ${PROJECT_SOURCE_DIR}/cmake/FindPCRE2.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindWebP.cmake
  DESTINATION ${package_dir})

# pkg-config has no word for "the C++ runtime"; a static library needs it named for users who link as C.
list(TRANSFORM LAPILLI_CXX_RUNTIME PREPEND "-l" OUTPUT_VARIABLE LAPILLI_PC_PRIVATE)
list(JOIN LAPILLI_PC_PRIVATE " " LAPILLI_PC_PRIVATE)
string(APPEND LAPILLI_PC_PRIVATE " -pthread")
foreach(lib IN LISTS CMAKE_DL_LIBS)
  string(APPEND LAPILLI_PC_PRIVATE " -l${lib}")
endforeach()
if(Utf8proc_FOUND)
  string(PREPEND LAPILLI_PC_PRIVATE "-lutf8proc ")
endif()
if(LAPILLI_REGEX)
  string(PREPEND LAPILLI_PC_PRIVATE "-lpcre2-8 ")
endif()
if(ZLIB_FOUND)
  string(PREPEND LAPILLI_PC_PRIVATE "-lz ")
endif()
if(WebP_FOUND)
  string(PREPEND LAPILLI_PC_PRIVATE "-lwebp ")
endif()
if(TIFF_FOUND)
  string(PREPEND LAPILLI_PC_PRIVATE "-ltiff ")
endif()
# Who asks without --static links all the same: a static library is nothing without these.
if(LAPILLI_IS_STATIC)
  set(LAPILLI_PC_LIBS "${LAPILLI_PC_PRIVATE}")
  set(LAPILLI_PC_PRIVATE "")
else()
  set(LAPILLI_PC_LIBS "")
endif()
set(LAPILLI_PC_CFLAGS "")
if(WIN32 AND NOT LAPILLI_IS_STATIC)
  set(LAPILLI_PC_CFLAGS "-DLAPILLI_SHARED")
endif()
# Models lie where lapilli.h expects them: there is no way to quote a path for both `$(pkg-config ...)` and an eval.
if(CMAKE_INSTALL_INCLUDEDIR STREQUAL "include" AND CMAKE_INSTALL_DATADIR STREQUAL "share")
  string(APPEND LAPILLI_PC_CFLAGS " -DLAPILLI_PACKAGED")
endif()
file(RELATIVE_PATH LAPILLI_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/lapilli.pc.in ${PROJECT_BINARY_DIR}/package/lapilli.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/lapilli.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
