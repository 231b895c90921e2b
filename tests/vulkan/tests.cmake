# Tests named Device* need a device; the others are pure.
gtest_discover_tests(test_vulkan TEST_PREFIX vulkan. TEST_FILTER "-*Device*" PROPERTIES LABELS "fast;host"
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device* VALIDATE
  DRIVERS lavapipe swiftshader PROFILES - android-2022 LABELS fast)
