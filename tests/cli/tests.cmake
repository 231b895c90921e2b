# Tests named CliDevice* need a device, CliTerminal* that and pseudo terminals, CliSmallMemory* a device with too little memory;
# the others need none.
add_dependencies(test_cli lapilli_cli)
if(LAPILLI_BUILD_SAMPLES)
  add_dependencies(test_cli sample_minimal sample_minimal_c)
endif()
target_link_libraries(test_cli PRIVATE util)  # openpty
# It is preloaded into the program, and kills it at a step.
add_library(faults MODULE ${CMAKE_CURRENT_SOURCE_DIR}/cli/faults.c)
set_target_properties(faults PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests UNITY_BUILD OFF)
add_dependencies(test_cli faults)
# Parts of the program that are tested by themselves: for cases that no file of a test can make, and for much hostile input.
target_link_libraries(test_cli PRIVATE lapilli_subtitles lapilli_shards lapilli_documents)
foreach(source arguments/foreign_models arguments/foreign_options arguments/seconds files/blanks files/foreign_files files/journal
    files/json_object files/left_out files/line_reader files/output_names files/record_format output progress/progress_text
    files/text_input files/unread_records run/interruption run/notes run/subtitle_lines run/unsure system)
  target_sources(test_cli PRIVATE ${PROJECT_SOURCE_DIR}/src/cli/${source}.cpp)
endforeach()
target_sources(test_cli PRIVATE ${PROJECT_SOURCE_DIR}/tests/documents/archives.cpp)
gtest_discover_tests(test_cli TEST_PREFIX cli. TEST_FILTER "-*Device*:*Terminal*:*SmallMemory*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
# Measuring a device's limits takes some seconds a time, as do runs that are killed and resumed; 200 inputs ten seconds.
# `repeated`: what other tests say too, of this program or below it.
set(repeated CliDeviceSlowBench.*:CliDeviceLongRecording.AnInterruptionLeavesCompleteSubtitles)
foreach(test Doctor.AMaskIsNamedAndChangesWhatIsOff .WhatIsDrawnDoesNotDependOnTheWindows .SeedsRepeat
    Transcribe.SubtitlesOfSeveralFiles Transcribe.SubtitlesOfWords Transcribe.NotesWhatRepeatsItself
    Transcribe.PicturesOfWhatWordsLookedAt Transcribe.FoldersAreResumed)
  string(APPEND repeated :CliDevice${test})
endforeach()
set(without -${repeated}:*BenchPerOp*:*DeviceResume*:*DeviceFirstInputs*:*DeviceCache*:*DeviceHour*:*DeviceFourMinutes*:*DeviceTenMinutes*:*DeviceTune*:*DeviceEmbed*:*DeviceScoreTexts*:*DeviceSpans*:*DeviceScores*:*DeviceSearch*:*DeviceShards*)
if(NOT LAPILLI_BUILD_SAMPLES)
  string(APPEND without :CliDevice.Sample)
endif()
lapilli_gpu_test(cli.device COMMAND test_cli --gtest_filter=*Device*${without} LABELS slow)
lapilli_gpu_test(cli.device.repeated COMMAND test_cli --gtest_filter=${repeated} LABELS long)
lapilli_gpu_test(cli.embed COMMAND test_cli --gtest_filter=*DeviceEmbed*:*DeviceScoreTexts*:*DeviceSearch* LABELS fast)
lapilli_gpu_test(cli.spans COMMAND test_cli --gtest_filter=*DeviceSpans*:*DeviceScores* LABELS fast)
lapilli_gpu_test(cli.shards COMMAND test_cli --gtest_filter=*DeviceShards* LABELS fast)
lapilli_gpu_test(cli.cache COMMAND test_cli --gtest_filter=*DeviceCache* LABELS slow)
lapilli_gpu_test(cli.bench COMMAND test_cli
  --gtest_filter=*DeviceBenchPerOp.EveryDispatchOfBothPlans:*DeviceBenchPerOp.WithoutTimestamps* LABELS slow)
lapilli_gpu_test(cli.bench.all COMMAND test_cli --gtest_filter=*DeviceBenchPerOp* LABELS long)
lapilli_gpu_test(cli.tune COMMAND test_cli --gtest_filter=*DeviceTune* LABELS slow DRIVER_DEFAULTS)
lapilli_gpu_test(cli.resume COMMAND test_cli --gtest_filter=*DeviceResume* LABELS slow)
# Runs over four minutes of sound, ten, or an hour.
lapilli_gpu_test(cli.four_minutes COMMAND test_cli --gtest_filter=*DeviceFourMinutes* LABELS slow)
lapilli_gpu_test(cli.ten_minutes COMMAND test_cli --gtest_filter=*DeviceTenMinutes* LABELS long)
lapilli_gpu_test(cli.hour COMMAND test_cli --gtest_filter=*DeviceHour* LABELS long TIMEOUT 3600)
lapilli_gpu_test(cli.first_inputs COMMAND test_cli --gtest_filter=*DeviceFirstInputs* LABELS slow)
lapilli_gpu_test(cli.terminal COMMAND test_cli --gtest_filter=*Terminal* LABELS slow)
set_tests_properties(cli.terminal.lavapipe PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: there are no pseudo-terminals"
  FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites")
lapilli_gpu_test(cli.small_memory COMMAND test_cli --gtest_filter=*SmallMemory* PROFILES heap=16 LABELS fast)
# A device that runs a group where an indirect dispatch has none.
lapilli_gpu_test(cli.doctor.lied COMMAND lapilli_cli doctor --quick --runs 1 PROFILES "indirect=one-group" LABELS fast)
set_tests_properties("cli.doctor.lied.lavapipe.indirect=one-group" PROPERTIES
  PASS_REGULAR_EXPRESSION "indirect dispatch: a dispatch of no groups wrote something.*all as the reference.*as recorded.*Please report it")
# A device that says a wrong subgroup size: the doctor finds the kernels that believe it. Elsewhere it finds nothing.
lapilli_gpu_test(cli.doctor COMMAND lapilli_cli doctor --quick LABELS slow)
lapilli_gpu_test(cli.doctor COMMAND lapilli_cli doctor --quick DRIVERS swiftshader LABELS long)
lapilli_gpu_test(cli.doctor COMMAND lapilli_cli doctor --quick PROFILES memory-mali android-2022 LABELS long)
lapilli_gpu_test(cli.doctor.lied COMMAND lapilli_cli doctor --quick --runs 1 PROFILES "type=integrated,subgroupSize=64" LABELS slow)
set_tests_properties("cli.doctor.lied.lavapipe.type=integrated,subgroupSize=64" PROPERTIES
  PASS_REGULAR_EXPRESSION "matmul/lanes.*Please report it")
# Two devices of one driver: the one that a scheduler assigns, and both together.
if(NOT LAPILLI_SANITIZE)
  lapilli_gpu_test(cli.devices COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/devices-test $<TARGET_FILE:lapilli_cli> 40 LABELS slow)
endif()
