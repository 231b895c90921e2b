# Every recorded case of the folders that the project keeps, on each driver, mask and pretended device. --strict: nothing
# may be unsupported there.
file(GLOB models CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/data/models/*)
file(GLOB tokenizers CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/data/tokenizers/*)
# The same run compares the table of docs/use/models.md with what it finds.
lapilli_gpu_test(conformance COMMAND conformance --strict --check-table ${PROJECT_SOURCE_DIR}/docs/use/models.md ${models}
  ${tokenizers} DRIVERS lavapipe LABELS slow)
# Three cases of this record count the padding of the reference's batch among the ids of a text (repetition_penalty).
foreach(cases forward greedy_single beam4_lp)
  lapilli_gpu_test(conformance.gpt2.${cases} COMMAND conformance --strict --filter ${cases}
    ${PROJECT_SOURCE_DIR}/tests/data/decoders/gpt2 LABELS fast)
endforeach()
# Twins of published directories: names, containers and generation settings as publishers have them.
file(GLOB decoders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/data/decoders/published/*)
lapilli_gpu_test(conformance.decoders COMMAND conformance --strict ${decoders} DRIVERS lavapipe LABELS fast)
lapilli_gpu_test(conformance.decoders COMMAND conformance --strict --every 4 ${decoders} MASKS floor gpu LABELS long)
# The kernels of a GPU; they are the same in all families, and every fourth case has them.
lapilli_gpu_test(conformance.marian COMMAND conformance --strict --every 4 ${PROJECT_SOURCE_DIR}/tests/data/models/marian
  MASKS gpu,small-work LABELS fast)
lapilli_gpu_test(conformance.marian COMMAND conformance --strict --every 12 ${PROJECT_SOURCE_DIR}/tests/data/models/marian
  DRIVERS swiftshader MASKS gpu,small-work LABELS slow)
file(GLOB searches CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/data/search/*)
lapilli_gpu_test(conformance.search COMMAND conformance --strict ${searches} DRIVERS lavapipe swiftshader MASKS full floor gpu
  LABELS fast)
# Models as other programs write them.
file(GLOB doors CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/data/formats/*)
lapilli_gpu_test(conformance.doors COMMAND conformance --strict ${doors} LABELS slow)
lapilli_gpu_test(conformance.doors.sampled COMMAND conformance --strict --every 8 ${doors} DRIVERS lavapipe MASKS floor LABELS fast)
lapilli_gpu_test(conformance.doors.sampled COMMAND conformance --strict --every 16 ${doors} DRIVERS swiftshader LABELS slow)
lapilli_gpu_test(conformance.doors.all COMMAND conformance --strict ${doors} DRIVERS lavapipe MASKS floor LABELS long)
lapilli_gpu_test(conformance.doors.all COMMAND conformance --strict ${doors} DRIVERS swiftshader LABELS long)
# Texts to vectors, by directories of sentence-transformers.
file(GLOB sentences CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/data/sentences/*)
lapilli_gpu_test(conformance.sentences COMMAND conformance --strict ${sentences} DRIVERS lavapipe MASKS full floor
  LABELS fast)
lapilli_gpu_test(conformance.sentences COMMAND conformance --strict ${sentences} DRIVERS swiftshader LABELS slow)
# Features of sound.
file(GLOB features CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/data/features/*)
lapilli_gpu_test(conformance.features COMMAND conformance --strict ${features} DRIVERS lavapipe swiftshader
  MASKS full floor gpu LABELS fast)
# Within the limits of MoltenVK on the three kinds of Macs.
lapilli_gpu_test(conformance.search COMMAND conformance --strict ${searches} DRIVERS lavapipe
  MASKS gpu,moltenvk-m1 gpu,moltenvk-intel gpu,moltenvk-amd LABELS long)
lapilli_gpu_test(conformance COMMAND conformance --strict ${models} DRIVERS swiftshader LABELS long TIMEOUT 3600)
# The steps of these have the kernels of all others, and their encoders read texts, frames, samples and pictures.
set(sampled)
foreach(family marian t5 led prophetnet whisper-long moonshine donut vit-image-classification blenderbot-small bert modernbert
        qwen3 deberta-v2 xlnet-sequence-classification xlnet xlnet-lm transfo-xl t5gemma t5gemma2)
  list(APPEND sampled ${PROJECT_SOURCE_DIR}/tests/data/models/${family})
endforeach()
lapilli_gpu_test(conformance.sampled COMMAND conformance --strict --every 4 ${sampled} MASKS floor LABELS slow)
lapilli_gpu_test(conformance.sampled COMMAND conformance --strict --every 16 ${sampled} MASKS gpu LABELS slow)
lapilli_gpu_test(conformance COMMAND conformance --strict ${models} DRIVERS lavapipe MASKS floor gpu LABELS long TIMEOUT 3600)
lapilli_gpu_test(conformance COMMAND conformance --strict ${models} DRIVERS lavapipe
  MASKS small-bindings no-timeline no-indirect gpu,moltenvk-m1 LABELS long)
lapilli_gpu_test(conformance.checked COMMAND conformance --strict ${PROJECT_SOURCE_DIR}/tests/data/models/marian
  DRIVERS lavapipe MASKS full floor VALIDATE LABELS slow)
lapilli_gpu_test(conformance.checked COMMAND conformance --strict ${PROJECT_SOURCE_DIR}/tests/data/models/marian
  DRIVERS lavapipe PROFILES android-2022 "android-2022,memory=discrete" MASKS full floor VALIDATE LABELS long)
# Pictures as models want them; no device is asked.
file(GLOB pictures CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/data/pictures/*/expected.json)
list(TRANSFORM pictures REPLACE "/expected[.]json$" "")
add_test(NAME conformance.pictures COMMAND conformance --strict ${pictures})
set_tests_properties(conformance.pictures PROPERTIES LABELS fast-host)
# The program fails where it must.
lapilli_gpu_test(conformance.selftest COMMAND ${CMAKE_CURRENT_LIST_DIR}/selftest $<TARGET_FILE:conformance>
  ${PROJECT_SOURCE_DIR}/tests/data/models/marian-separate-vocab ${CMAKE_COMMAND} LABELS fast)
add_test(NAME conformance.table COMMAND ${CMAKE_CURRENT_LIST_DIR}/table-selftest $<TARGET_FILE:conformance>
  ${PROJECT_SOURCE_DIR}/tests/data/tokenizers/byt5)
set_tests_properties(conformance.table PROPERTIES LABELS fast-host)
