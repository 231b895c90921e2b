# lapilli_gpu_test(NAME COMMAND PROGRAM [ARGS...]
#                  [DRIVERS lavapipe swiftshader...] [MASKS full floor...] [PROFILES android-2022...]
#                  [VALIDATE] [LABELS fast...] [TIMEOUT SECONDS] [RUN_SERIAL] [SHARD 1/3]
#                  [DRIVER_DEFAULTS])
# One ctest test for each driver, mask (LAPILLI_CAPS) and profile (a pretended device, see tests/lab/README.md; settings
# may follow after ';' written as ','): the program runs once in each. PROGRAM is a target or a path. VALIDATE: any message
# of core or synchronization validation fails the test. A driver that is not there skips the test.
# SHARD: one of so many parts of a GoogleTest program's tests, where others of its runs have the rest.
# A GoogleTest program fails if its filter matches nothing or if one of its tests skips itself, which would be seen nowhere: what
# may be skipped gets a line of its own, with SKIP_REGULAR_EXPRESSION (cli.terminal). It tells only what failed: of hundreds of
# lines CI shows the first and the last.
# Built for another processor or system, the program runs in the emulator, on the drivers of LAPILLI_LAB_ROOT.
# DRIVER_DEFAULTS: lavapipe as users have it, with workgroups side by side. Without it workgroups run in turn: ctest runs as many
# programs as there are processors, and a third of their time went into waking threads. LLVM's optimization stays on: without it
# kernels are translated in 9 tenths of the time, but its kernels are others in the driver's cache, which the tests then share less.
# Defaults: lavapipe, no mask, no profile, labels "slow", 2,400 seconds (six times what the longest takes here: machines
# of CI are at times so slow). The label gpu is added.
function(lapilli_gpu_test name)
  cmake_parse_arguments(PARSE_ARGV 1 t "VALIDATE;RUN_SERIAL;DRIVER_DEFAULTS" "TIMEOUT;SHARD" "COMMAND;DRIVERS;MASKS;PROFILES;LABELS")
  if(NOT t_COMMAND OR t_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lapilli_gpu_test(${name}): COMMAND is missing, or what is this: ${t_UNPARSED_ARGUMENTS}")
  endif()
  foreach(default "DRIVERS lavapipe" "MASKS -" "PROFILES -" "LABELS slow" "TIMEOUT 2400")
    separate_arguments(default)
    list(POP_FRONT default variable)
    if(NOT t_${variable})
      set(t_${variable} ${default})
    endif()
  endforeach()
  # The longest tests begin first, so that they do not run alone at the end.
  set(cost 10)
  if(slow IN_LIST t_LABELS)
    set(cost 1000)
  endif()
  set(shard)
  if(t_SHARD MATCHES "^([0-9]+)/([0-9]+)$")
    math(EXPR index "${CMAKE_MATCH_1} - 1")
    set(shard "GTEST_TOTAL_SHARDS=${CMAKE_MATCH_2};GTEST_SHARD_INDEX=${index}")
  endif()
  set(settings LP_NUM_THREADS=0)
  if(t_DRIVER_DEFAULTS)
    set(settings)
  endif()
  list(POP_FRONT t_COMMAND program)
  if(TARGET ${program})
    foreach(kind sanitize threads)
      if(kind IN_LIST t_LABELS)
        set_property(GLOBAL APPEND PROPERTY LAPILLI_PROGRAMS_${kind} ${program})
      endif()
    endforeach()
    set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${program}>)
  endif()
  foreach(driver IN LISTS t_DRIVERS)
    foreach(profile IN LISTS t_PROFILES)
      foreach(mask IN LISTS t_MASKS)
        set(test ${name}.${driver})
        set(options -d ${driver})
        if(NOT profile STREQUAL "-")
          string(APPEND test .${profile})
          list(APPEND options -p ${profile})
        endif()
        if(NOT mask STREQUAL "-")
          string(APPEND test .${mask})
          list(APPEND options -m ${mask})
        endif()
        if(t_VALIDATE)
          string(APPEND test .validated)
          list(APPEND options -v)
        endif()
        add_test(NAME ${test}
          COMMAND ${PROJECT_SOURCE_DIR}/tests/lab/run ${options} ${program} ${t_COMMAND})
        set_tests_properties(${test} PROPERTIES LABELS "${t_LABELS};gpu" TIMEOUT ${t_TIMEOUT} SKIP_RETURN_CODE 77
          FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites;\\[  SKIPPED \\]"
          ENVIRONMENT "GTEST_BRIEF=1;LAPILLI_LAB_LAYER=${LAPILLI_LAB_LAYER};LAPILLI_LAB_ROOT=${LAPILLI_LAB_ROOT};${settings};${shard}"
          RUN_SERIAL ${t_RUN_SERIAL} COST ${cost})
      endforeach()
    endforeach()
  endforeach()
endfunction()
