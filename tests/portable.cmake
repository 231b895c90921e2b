# The label portable: is Lapilli right on another processor or another system? At most 30 tests, ten minutes in an emulator:
# tokenizers, file formats, hostile files, half precision, layouts, kernels, small models, searches, the interfaces for C
# and C++, the bundled model through the program. scripts/portable builds and runs them for other systems; the target `portable`
# is what they need: few programs, none of which starts another one or needs sockets.
set(portable_programs)

# portable.NAME: all that the GoogleTest program test_NAME has that needs no device, in one process (a start costs an
# emulator more than most tests do).
function(lapilli_portable_host name)
  add_test(NAME portable.${name} COMMAND test_${name} ${ARGN})
  set_tests_properties(portable.${name} PROPERTIES LABELS "long;portable"
    FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites")
endfunction()
foreach(name base formats model ops text)
  # Hundreds of damaged files, and each reading of each: minutes in an emulator.
  lapilli_portable_host(${name} --gtest_filter=-*Mutation*:*EveryReadingThatFails*)
  list(APPEND portable_programs test_${name})
endforeach()

# The bundled model's first sentences through the program: text in, text and ids out.
if(TARGET lapilli_cli)
  foreach(search greedy beam4)
    lapilli_gpu_test(portable.sentences.${search} COMMAND ${CMAKE_COMMAND}
      -DPROGRAM=$<TARGET_FILE:lapilli_cli> "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}" -DSEARCH=${search} -DCOUNT=16
      -DMODEL=${PROJECT_SOURCE_DIR}/models/en-fr -P ${CMAKE_CURRENT_SOURCE_DIR}/portable/sentences.cmake LABELS long portable)
  endforeach()
  list(APPEND portable_programs lapilli_cli)
endif()

# Kernels against their references: conversions to half precision, sums, the step of a search. Models run the others.
if(TARGET op_suite)
  foreach(op convert layer_norm attention_step top_k)
    lapilli_gpu_test(portable.ops.${op} COMMAND op_suite --caps full --no-slow --filter ${op} LABELS long portable)
  endforeach()
  list(APPEND portable_programs op_suite)
endif()

# Tests that are there anyway.
set(existing)
foreach(family marian t5 led)
  lapilli_gpu_test(portable.conformance.${family} COMMAND conformance --strict
    ${CMAKE_CURRENT_SOURCE_DIR}/data/models/${family} LABELS long portable)
endforeach()
foreach(mask full floor)
  list(APPEND existing conformance.search.lavapipe.${mask})
endforeach()
foreach(page embedding embedding_results)
  foreach(language c cpp)
    list(APPEND existing api.page.${page}.${language}.lavapipe)
    list(APPEND portable_programs page_${page}_${language})
  endforeach()
endforeach()
foreach(test IN LISTS existing)
  if(NOT TEST ${test})
    message(FATAL_ERROR "tests/portable.cmake: there is no test ${test} (any more)")
  endif()
  set_property(TEST ${test} APPEND PROPERTY LABELS portable)
endforeach()
# Ten minutes are what all of them take in an emulator.
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  get_test_property(${test} LABELS labels)
  if("portable" IN_LIST labels)
    set_tests_properties(${test} PROPERTIES TIMEOUT 600)
  endif()
endforeach()
list(APPEND portable_programs conformance)
add_custom_target(portable DEPENDS ${portable_programs})

# Where fork, sockets and terminals are missing, only these can be built.
if(WIN32)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  list(REMOVE_ITEM targets ${portable_programs} lapilli_internal lapilli_test_support)
  foreach(target IN LISTS targets)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endforeach()
endif()
