# Tests named RecordingsDevice* need a device. Without libsndfile they know WAV files alone.
target_link_libraries(test_recordings PRIVATE lapilli_recordings)
if(TARGET SndFile::sndfile)
  target_link_libraries(test_recordings PRIVATE SndFile::sndfile)
  target_compile_definitions(test_recordings PRIVATE LAPILLI_HAVE_SNDFILE=1)
endif()
gtest_discover_tests(test_recordings TEST_PREFIX recordings. TEST_FILTER "-*Device*:*Mutation*" PROPERTIES
  LABELS fast-host DISCOVERY_TIMEOUT 120)
# A thousand damaged files of each kind; ten thousand before a release.
add_test(NAME recordings.mutation COMMAND test_recordings --gtest_filter=*Mutation*)
set_tests_properties(recordings.mutation PROPERTIES LABELS long TIMEOUT 3600 ENVIRONMENT LAPILLI_FUZZ_ROUNDS=10000
  FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites")
gtest_discover_tests(test_recordings TEST_PREFIX recordings. TEST_LIST recordings_slow TEST_FILTER "*Mutation*" PROPERTIES
  LABELS slow-host TIMEOUT 1200 DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(recordings.device COMMAND test_recordings --gtest_filter=RecordingsDevice* MASKS full LABELS fast)
lapilli_gpu_test(recordings.device COMMAND test_recordings --gtest_filter=RecordingsDevice* MASKS floor LABELS long)
if(TARGET SndFile::sndfile AND TARGET SampleRate::samplerate)
  target_link_libraries(test_recordings PRIVATE SampleRate::samplerate)
  target_compile_definitions(test_recordings PRIVATE LAPILLI_HAVE_SAMPLERATE=1)
  # The speech of espeak-ng, where it is installed, and noise.
  lapilli_gpu_test(recordings.spoken COMMAND test_recordings --gtest_filter=*DeviceSpoken* LABELS slow)
  set_tests_properties(recordings.spoken.lavapipe PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: espeak-ng"
    FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites")
endif()
