# The samples that are programs of some size, as they run. (Small ones: tests/cli.)
if(TARGET sample_game AND TARGET lapilli_cli)
  foreach(part story pictures skip)
    lapilli_gpu_test(samples.game.${part} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/samples/game-test ${part}
      $<TARGET_FILE:sample_game> $<TARGET_FILE:lapilli_cli> VALIDATE LABELS fast)
  endforeach()
  lapilli_gpu_test(samples.game.window COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/samples/game-test window
    $<TARGET_FILE:sample_game> $<TARGET_FILE:lapilli_cli> VALIDATE LABELS fast)
endif()
if(TARGET sample_engine_host AND TARGET lapilli_cli AND NOT LAPILLI_SANITIZE)
  lapilli_gpu_test(samples.engine_plugin COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/samples/engine_plugin-test
    $<TARGET_FILE:sample_engine_host> $<TARGET_FILE:sample_engine_plugin> ${PROJECT_SOURCE_DIR}/models/en-fr
    $<TARGET_FILE:lapilli_cli> VALIDATE LABELS fast)
endif()
if(TARGET sample_subtitles AND TARGET lapilli_cli)
  lapilli_gpu_test(samples.subtitles COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/samples/subtitles-test
    $<TARGET_FILE:sample_subtitles> $<TARGET_FILE:lapilli_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data VALIDATE LABELS slow)
endif()
# A Slurm of its own, where Debian's is installed: 8 shards of 400 lines with each build, of 12,000 lines on request. HTCondor's files
# are read by its own parser, which PyPI has.
if(TARGET lapilli_cli)
  set(clients $ENV{LAPILLI_CLIENTS})
  if(NOT clients)
    set(clients python3)
  endif()
  lapilli_gpu_test(samples.slurm COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/samples/slurm-test $<TARGET_FILE:lapilli_cli>
    ${PROJECT_SOURCE_DIR} small LABELS slow)
  lapilli_gpu_test(samples.slurm.whole COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/samples/slurm-test $<TARGET_FILE:lapilli_cli>
    ${PROJECT_SOURCE_DIR} whole LABELS clients TIMEOUT 7200)
  lapilli_gpu_test(samples.htcondor COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/samples/htcondor-test
    $<TARGET_FILE:lapilli_cli> ${PROJECT_SOURCE_DIR} LABELS clients)
  foreach(test slurm slurm.whole htcondor)
    set_tests_properties(samples.${test}.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()
