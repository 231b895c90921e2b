# Tests named Device* need a device; the others are pure.
gtest_discover_tests(test_search TEST_PREFIX search. TEST_FILTER "-*Device*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(search.device COMMAND test_search --gtest_filter=*Device* LABELS fast sanitize threads)
lapilli_gpu_test(search.device COMMAND test_search --gtest_filter=*Device* VALIDATE LABELS long)
lapilli_gpu_test(search.device COMMAND test_search --gtest_filter=*Device* VALIDATE PROFILES "android-2022,memory=discrete"
  LABELS long TIMEOUT 3600)
