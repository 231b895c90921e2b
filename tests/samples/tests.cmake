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
