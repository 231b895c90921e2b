# What holds for the repository as a whole: its layers, who opens files, where its pages lead, what it says of missing
# packages, its install rules, other compilers, the sanitizers.
set(dir ${CMAKE_CURRENT_SOURCE_DIR}/repository)
set(scripts ${PROJECT_SOURCE_DIR}/scripts)

add_test(NAME layers COMMAND ${scripts}/check-layers)
add_test(NAME layers.selftest COMMAND ${dir}/layers-selftest)
add_test(NAME paths COMMAND ${scripts}/check-paths)
add_test(NAME paths.selftest COMMAND ${dir}/paths-selftest)
add_test(NAME format COMMAND ${scripts}/check-format)
set_tests_properties(format PROPERTIES LABELS fast SKIP_RETURN_CODE 77)
add_test(NAME links COMMAND ${scripts}/check-links)
add_test(NAME links.selftest COMMAND ${dir}/links-selftest)
add_test(NAME summarize.selftest COMMAND ${dir}/summarize-selftest)
set_tests_properties(layers layers.selftest paths paths.selftest links links.selftest summarize.selftest
  PROPERTIES LABELS fast)

add_test(NAME missing.selftest
  COMMAND ${dir}/missing-selftest ${CMAKE_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER}
    VULKAN_HEADERS_DIR=${VULKAN_HEADERS_DIR}:libvulkan-dev NLOHMANN_JSON_DIR=${NLOHMANN_JSON_DIR}:nlohmann-json3-dev
    STB_DIR=${STB_DIR}:libstb-dev SPIRV_HEADERS_DIR=${SPIRV_HEADERS_DIR}:spirv-headers)
set_tests_properties(missing.selftest PROPERTIES LABELS fast)

if(TARGET lapilli_cli AND EXISTS ${PROJECT_SOURCE_DIR}/include/lapilli/lapilli.h AND NOT LAPILLI_SANITIZE)
  add_test(NAME install
    COMMAND ${dir}/install-test ${PROJECT_BINARY_DIR} ${CMAKE_COMMAND} ${CMAKE_GENERATOR}
      ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  set_tests_properties(install PROPERTIES LABELS fast TIMEOUT 300)
endif()

# These build all of Lapilli once more, each into a folder of its own beside the release build. Within a sanitizer build
# they would repeat themselves.
if(NOT LAPILLI_SANITIZE)
  foreach(system arm64 mingw)
    add_test(NAME cross.${system} COMMAND ${scripts}/cross --no-install ${system})
  endforeach()
  add_test(NAME installs.shared COMMAND ${scripts}/installs shared)
  set_tests_properties(installs.shared PROPERTIES LABELS slow RUN_SERIAL TRUE TIMEOUT 1800)
  foreach(release bookworm trixie)
    add_test(NAME root.${release} COMMAND ${dir}/root-test ${release})
    set_tests_properties(root.${release} PROPERTIES LABELS slow SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 3600)
  endforeach()
  foreach(compiler g++-15 g++-16 clang++-19)
    add_test(NAME warnings.${compiler} COMMAND ${scripts}/warnings ${compiler})
    set_tests_properties(warnings.${compiler} PROPERTIES LABELS slow SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 3600)
  endforeach()
  foreach(kind asan tsan)
    add_test(NAME sanitize.${kind} COMMAND ${scripts}/sanitize ${kind})
  endforeach()
  set_tests_properties(cross.arm64 cross.mingw sanitize.asan sanitize.tsan PROPERTIES LABELS slow SKIP_RETURN_CODE 77
    RUN_SERIAL TRUE TIMEOUT 1800)
endif()
