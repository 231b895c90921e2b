# Rules for the repository as a whole: its layers, the place that opens files, links of pages, messages about missing packages,
# install rules, other compilers, sanitizers.
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
add_test(NAME examples COMMAND ${scripts}/check-examples)
add_test(NAME examples.selftest COMMAND ${dir}/examples-selftest)
add_test(NAME summarize.selftest COMMAND ${dir}/summarize-selftest)
add_test(NAME word_errors.selftest COMMAND ${dir}/word-errors-selftest)
add_test(NAME minutes.selftest COMMAND ${dir}/minutes-selftest)
add_test(NAME prebuilt COMMAND ${scripts}/prebuild-shaders --check)
add_test(NAME prebuilt.selftest COMMAND ${dir}/prebuilt-selftest)
set_tests_properties(prebuilt prebuilt.selftest PROPERTIES LABELS fast SKIP_RETURN_CODE 77)
set_tests_properties(layers layers.selftest paths paths.selftest links links.selftest examples examples.selftest
  summarize.selftest word_errors.selftest minutes.selftest
  PROPERTIES LABELS fast)

add_executable(without_images ${dir}/without_images.cpp ${PROJECT_SOURCE_DIR}/src/image/stb_none.cpp
  ${PROJECT_SOURCE_DIR}/src/image/picture_none.cpp)
target_link_libraries(without_images PRIVATE lapilli_internal)
add_test(NAME without_images COMMAND without_images)
set_tests_properties(without_images PROPERTIES LABELS fast)

find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  add_test(NAME manifests COMMAND ${Python3_EXECUTABLE} ${dir}/manifests-test)
  add_test(NAME pages COMMAND ${Python3_EXECUTABLE} ${scripts}/check-pages)
  add_test(NAME pages.selftest COMMAND ${Python3_EXECUTABLE} ${dir}/pages-selftest)
  set_tests_properties(manifests pages pages.selftest PROPERTIES LABELS fast)
endif()

add_test(NAME missing.selftest
  COMMAND ${dir}/missing-selftest ${CMAKE_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER}
    VULKAN_HEADERS_DIR=${VULKAN_HEADERS_DIR}:libvulkan-dev NLOHMANN_JSON_DIR=${NLOHMANN_JSON_DIR}:nlohmann-json3-dev
    STB_DIR=${STB_DIR}:libstb-dev SPIRV_HEADERS_DIR=${SPIRV_HEADERS_DIR}:spirv-headers)
set_tests_properties(missing.selftest PROPERTIES LABELS fast)

# The shared library, whichever is built: what it exports; and programs made with earlier headers run with it.
if(NOT WIN32 AND NOT LAPILLI_SANITIZE)
  get_target_property(kind lapilli TYPE)
  if(kind STREQUAL SHARED_LIBRARY)
    add_library(lapilli_shared ALIAS lapilli)
  else()
    lapilli_from_objects(lapilli_shared SHARED)
    lapilli_as_shared(lapilli_shared)
    set_target_properties(lapilli_shared PROPERTIES OUTPUT_NAME lapilli
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/shared)
  endif()
  lapilli_gpu_test(python COMMAND ${dir}/python-test $<TARGET_FILE:lapilli_shared> ${CMAKE_C_COMPILER})
  add_test(NAME abi COMMAND ${scripts}/abi $<TARGET_FILE:lapilli_shared>)
  set_tests_properties(abi PROPERTIES LABELS fast SKIP_RETURN_CODE 77)
  file(GLOB old_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/abi/lapilli-*.h)
  foreach(header IN LISTS old_headers)
    get_filename_component(old ${header} NAME)
    string(REGEX REPLACE "^lapilli-|[.]h$" "" old ${old})
    add_executable(abi_program_${old} ${dir}/abi/program.c)
    target_compile_definitions(abi_program_${old} PRIVATE LAPILLI_OLD_HEADER="${header}")
    target_link_libraries(abi_program_${old} PRIVATE lapilli_shared lapilli_options)
    lapilli_gpu_test(abi.program_${old} COMMAND abi_program_${old} ${PROJECT_SOURCE_DIR}/models/en-fr LABELS fast)
  endforeach()
endif()

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
  set_tests_properties(installs.shared PROPERTIES LABELS long RUN_SERIAL TRUE TIMEOUT 3600)
  # Lapilli within another project: what that sees of it; and, built once more, what it does there.
  foreach(part configure build)
    add_test(NAME subdirectory.${part} COMMAND ${dir}/subdirectory-test ${part} ${CMAKE_CURRENT_BINARY_DIR}/subdirectory-${part}
      ${CMAKE_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  endforeach()
  set_tests_properties(subdirectory.configure PROPERTIES LABELS fast)
  set_tests_properties(subdirectory.build PROPERTIES LABELS long RUN_SERIAL TRUE TIMEOUT 3600)
  # Two builds without a cache: some four minutes on two cores; then seconds.
  set(packages ${CMAKE_CURRENT_BINARY_DIR}/packages)
  set(lavapipe ${PROJECT_SOURCE_DIR}/tests/lab/run -d lavapipe)
  add_test(NAME package.build COMMAND ${dir}/package-test build ${packages})
  add_test(NAME package.deb COMMAND ${lavapipe} ${dir}/package-test deb ${packages} ${CMAKE_C_COMPILER})
  add_test(NAME package.archive COMMAND ${lavapipe} ${dir}/package-test archive ${packages} ${CMAKE_C_COMPILER})
  set_tests_properties(package.build PROPERTIES LABELS long FIXTURES_SETUP packages RUN_SERIAL TRUE TIMEOUT 3600)
  set_tests_properties(package.deb package.archive PROPERTIES LABELS long FIXTURES_REQUIRED packages
    SKIP_RETURN_CODE 77 TIMEOUT 600)
  set(standalone ${PROJECT_SOURCE_DIR}/build/portable-package)
  foreach(release bookworm trixie)
    add_test(NAME root.${release} COMMAND ${dir}/root-test ${release})
    # The packages that need glibc alone, as scripts/package made them before.
    add_test(NAME standalone.${release} COMMAND ${dir}/standalone-test ${release} ${standalone}/packages)
    add_test(NAME standalone.${release}.arm64 COMMAND ${dir}/standalone-test ${release} ${standalone}-arm64/packages arm64)
    set_tests_properties(root.${release} standalone.${release} standalone.${release}.arm64 PROPERTIES LABELS long
      SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 3600)
  endforeach()
  # Someone without these sources' folder, in a fresh Debian 12.
  foreach(what deb vcpkg)
    add_test(NAME root.${what} COMMAND ${dir}/deb-root-test ${what})
    set_tests_properties(root.${what} PROPERTIES LABELS long SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 3600)
  endforeach()
  add_test(NAME conan COMMAND ${dir}/conan-test)
  set_tests_properties(conan PROPERTIES LABELS long SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 3600)
  foreach(compiler g++-14 g++-15 g++-16 clang++-19)
    add_test(NAME warnings.${compiler} COMMAND ${scripts}/warnings ${compiler})
    set_tests_properties(warnings.${compiler} PROPERTIES LABELS long SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 3600)
  endforeach()
  # Each file alone, with the system's compiler: does it include what it uses?
  add_test(NAME file_by_file COMMAND ${scripts}/warnings c++)
  set_tests_properties(file_by_file PROPERTIES LABELS long RUN_SERIAL TRUE TIMEOUT 5400)
  foreach(kind asan tsan)
    add_test(NAME sanitize.${kind} COMMAND ${scripts}/sanitize ${kind})
  endforeach()
  set_tests_properties(cross.arm64 cross.mingw sanitize.asan sanitize.tsan PROPERTIES LABELS long)
  set_tests_properties(cross.arm64 cross.mingw sanitize.asan sanitize.tsan PROPERTIES SKIP_RETURN_CODE 77 RUN_SERIAL TRUE
    TIMEOUT 3600)
endif()
