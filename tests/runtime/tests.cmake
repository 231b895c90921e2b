# Tests named Device* need a device, those named *Slow* take long; the others are pure.
gtest_discover_tests(test_runtime TEST_PREFIX runtime. TEST_FILTER "-*Device*:*Slow*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(runtime.device COMMAND test_runtime --gtest_filter=*Device*-*Slow* VALIDATE
  DRIVERS lavapipe PROFILES - "android-2022,memory=discrete" LABELS fast)
lapilli_gpu_test(runtime.device COMMAND test_runtime --gtest_filter=*Device*-*Slow* LABELS fast sanitize threads)
