# Tests named Device* need a device; the others are pure.
gtest_discover_tests(test_speech TEST_PREFIX speech. TEST_FILTER "-*Device*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(speech.device COMMAND test_speech --gtest_filter=*Device*-*/staging LABELS slow sanitize)
lapilli_gpu_test(speech.device.staging COMMAND test_speech --gtest_filter=*Device*/staging LABELS long sanitize)
# With other kernels, and with validation, a sixth each.
lapilli_gpu_test(speech.device COMMAND test_speech --gtest_filter=*Device* MASKS floor SHARD 1/6 LABELS slow)
lapilli_gpu_test(speech.device COMMAND test_speech --gtest_filter=*Device* MASKS gpu SHARD 3/6 LABELS slow)
lapilli_gpu_test(speech.device COMMAND test_speech --gtest_filter=*Device* VALIDATE SHARD 5/6 LABELS slow)
lapilli_gpu_test(speech.device.all COMMAND test_speech --gtest_filter=*Device* MASKS floor gpu LABELS long)
lapilli_gpu_test(speech.device.all COMMAND test_speech --gtest_filter=*Device* VALIDATE LABELS long)
