# How well the bundled model translates: BLEU, ids and scores of a test set against the reference implementation's. The
# corpus is other people's text and not part of the project; where it is not, the tests are skipped.
gtest_discover_tests(test_evaluation TEST_PREFIX evaluation. TEST_FILTER "-*Device*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(evaluation.layers COMMAND test_evaluation --gtest_filter=*Device* LABELS slow)

add_executable(evaluate ${CMAKE_CURRENT_LIST_DIR}/program/main.cpp ${CMAKE_CURRENT_LIST_DIR}/bleu.cpp
  ${CMAKE_CURRENT_LIST_DIR}/corpus.cpp ${CMAKE_CURRENT_LIST_DIR}/score.cpp ${CMAKE_CURRENT_LIST_DIR}/layers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/chrf.cpp ${CMAKE_CURRENT_LIST_DIR}/unsure.cpp)
set_target_properties(evaluate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(evaluate PRIVATE lapilli_internal)
lapilli_gpu_test(evaluation.beam4 COMMAND evaluate --beam 4 --limit 100 LABELS slow)
lapilli_gpu_test(evaluation.beam4.all COMMAND evaluate --beam 4 LABELS long)
lapilli_gpu_test(evaluation.greedy COMMAND evaluate --beam 1 LABELS slow DRIVER_DEFAULTS)
# One bad layer is not hidden among good ones: what each matrix costs alone. evaluation.layers has one layer in int8 and int4.
foreach(dtype bf16 fp16 int8 int4)
  lapilli_gpu_test(evaluation.layers.${dtype} COMMAND evaluate --layers --dtype ${dtype} LABELS long)
endforeach()
