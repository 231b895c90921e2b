# Small twins of published directories: their JSON files as publishers have them, of 2020 to today, weights that are drawn, and what
# the reference implementation says of them.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  lapilli_gpu_test(published COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run $<TARGET_FILE:lapilli_cli>
    --first --silent ${PROJECT_SOURCE_DIR}/tests/data/published LABELS slow)
  # Thirty seconds of sound take kernels without LLVM's optimization longer than translating them.
  lapilli_gpu_test(published.sound COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run $<TARGET_FILE:lapilli_cli>
    --first --sound ${PROJECT_SOURCE_DIR}/tests/data/published LABELS slow)
  lapilli_gpu_test(published.all COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run $<TARGET_FILE:lapilli_cli>
    ${PROJECT_SOURCE_DIR}/tests/data/published LABELS long)
endif()
