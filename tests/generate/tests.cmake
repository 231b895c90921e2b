# Tests named Device* need a device (those of faults lie to the driver about what happened, so validation would have much
# to say); the others are pure.
gtest_discover_tests(test_generate TEST_PREFIX generate. TEST_FILTER "-*Device*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(generate.device COMMAND test_generate --gtest_filter=*Device*-*Faults*:*Expected*:*DeviceSampling*:*NonCoherent* VALIDATE
  PROFILES - "android-2022,memory=discrete" LABELS slow)
lapilli_gpu_test(generate.device COMMAND test_generate --gtest_filter=*Device*-*Faults*:*Expected*:*DeviceSampling*:*SelfTest* LABELS fast
  sanitize threads)
# Not under ThreadSanitizer: it has room for 64 locks, and the CPU driver's compiler holds more after so many kernels.
lapilli_gpu_test(generate.self_test COMMAND test_generate --gtest_filter=*SelfTest* LABELS fast sanitize)
# Twenty thousand draws for each filter. On the other driver, where they take longer, without a filter and with one: the op suite runs
# the kernel of the filters there in full.
lapilli_gpu_test(generate.sampling COMMAND test_generate --gtest_filter=*DeviceSampling* LABELS fast)
lapilli_gpu_test(generate.sampling COMMAND test_generate
  --gtest_filter=*DeviceSampling*/nothing:*DeviceSampling*/top_p:DeviceSampling.* DRIVERS swiftshader
  LABELS slow TIMEOUT 1800)
lapilli_gpu_test(generate.faults COMMAND test_generate --gtest_filter=*DeviceFaults* LABELS fast sanitize)
lapilli_gpu_test(generate.expected COMMAND test_generate --gtest_filter=*DeviceExpected* LABELS fast)
