# Real trained weights, out of the folder that LAPILLI_REAL names; skipped without it. They are made once, into this build's folder real.
# CI has the two smallest models of sound and one of vectors in fp32; label long: all recordings, Whisper of many languages, other formats, a model of text, a tagger and other vectors.
# A window of Whisper with its times of words is half a minute of CPU time in tiny.en, a minute and more in base.
# RESOURCE_LOCK: one of them makes what the others find.
find_package(Python3 COMPONENTS Interpreter)
function(lapilli_real_test name model)
  cmake_parse_arguments(PARSE_ARGV 2 t "" "DTYPE" "RECORDINGS;LABELS")
  lapilli_gpu_test(real.${name} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/real/run $<TARGET_FILE:lapilli_cli>
    ${PROJECT_BINARY_DIR}/real ${model} ${t_DTYPE} ${t_RECORDINGS} LABELS ${t_LABELS} real)
  set_tests_properties(real.${name}.lavapipe PROPERTIES RESOURCE_LOCK real)
endfunction()

if(Python3_FOUND)
  lapilli_real_test(whisper-tiny.en whisper-tiny.en DTYPE fp32 RECORDINGS jfk LABELS slow)
  lapilli_real_test(moonshine-tiny moonshine-tiny DTYPE fp32 RECORDINGS jfk cards-001 LABELS slow)
  lapilli_real_test(all-MiniLM-L6-v2 all-MiniLM-L6-v2 DTYPE fp32 LABELS slow)
  lapilli_real_test(whisper-tiny.en.all whisper-tiny.en DTYPE fp32 LABELS long)
  lapilli_real_test(moonshine-tiny.all moonshine-tiny DTYPE fp32 LABELS long)
  lapilli_real_test(whisper-base whisper-base DTYPE fp32 RECORDINGS french chinese LABELS long)
  lapilli_real_test(flan-t5-small-titles flan-t5-small-titles DTYPE fp32 LABELS long)
  lapilli_real_test(whisper-tiny.en.fp16 whisper-tiny.en DTYPE fp16 LABELS long)
  lapilli_real_test(bge-small-en-v1.5 bge-small-en-v1.5 DTYPE fp32 LABELS long)
  lapilli_real_test(distilbert-edit-tagger distilbert-edit-tagger DTYPE fp32 LABELS long)
  foreach(model moonshine-tiny flan-t5-small-titles all-MiniLM-L6-v2 bge-small-en-v1.5 distilbert-edit-tagger)
    foreach(dtype fp16 bf16 int8 int4)
      lapilli_real_test(${model}.${dtype} ${model} DTYPE ${dtype} LABELS long)
    endforeach()
  endforeach()
  # Minutes of CPU: a window for each clip, and again with gaps.
  lapilli_gpu_test(real.gaps COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/real/gaps $<TARGET_FILE:lapilli_cli>
    ${PROJECT_BINARY_DIR}/real whisper-tiny.en moonshine-tiny LABELS long real)
  set_tests_properties(real.gaps.lavapipe PROPERTIES RESOURCE_LOCK real)
endif()
