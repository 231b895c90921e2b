# Tests named *Device* need a device; ApiWithoutDriver* want none to be found.
gtest_discover_tests(test_api TEST_PREFIX api. TEST_FILTER "-*Device*:*WithoutDriver*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
add_test(NAME api.without_driver COMMAND test_api --gtest_filter=*WithoutDriver*)
set_tests_properties(api.without_driver PROPERTIES LABELS fast-host FAIL_REGULAR_EXPRESSION "Running 0 tests"
  ENVIRONMENT "VK_ICD_FILENAMES=/dev/null;VK_DRIVER_FILES=/dev/null")
lapilli_gpu_test(api.device COMMAND test_api --gtest_filter=*Device* LABELS fast sanitize threads)
