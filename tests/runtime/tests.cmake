# Tests named Device* need a device, those named *Slow* take long; the others are pure.
gtest_discover_tests(test_runtime TEST_PREFIX runtime. TEST_FILTER "-*Device*:*Slow*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(runtime.device COMMAND test_runtime --gtest_filter=*Device*-*Slow*:*LeftOut* VALIDATE SHARD 1/12 LABELS slow)
lapilli_gpu_test(runtime.device.all COMMAND test_runtime --gtest_filter=*Device*-*Slow*:*LeftOut* VALIDATE LABELS long)
lapilli_gpu_test(runtime.device COMMAND test_runtime --gtest_filter=*Device*-*Slow*:*LeftOut* VALIDATE
  PROFILES "android-2022,memory=discrete" LABELS long)
# Large weights are loaded alike by these two masks, which CI has for small ones.
set(masked *LargerThanTheStagingBuffer/floor:*LargerThanTheStagingBuffer/smallbindings)
string(APPEND masked :*ErrorsNameTheTensor*/floor:*ErrorsNameTheTensor*/smallbindings)
# A CPU driver translates these kernels for long. The op suite has their shaders and formats.
string(APPEND masked :*DeviceCompare*FewerBits/floor:*DeviceCompare*FewerBits/gpu)
lapilli_gpu_test(runtime.device COMMAND test_runtime --gtest_filter=*Device*-*Slow*:${masked} LABELS slow sanitize threads)
lapilli_gpu_test(runtime.device.masks COMMAND test_runtime --gtest_filter=${masked} LABELS long sanitize threads)
lapilli_gpu_test(runtime.transformer-base COMMAND test_runtime --gtest_filter=*Slow* LABELS slow)
# These pass if validation finds the barrier that is missing.
foreach(place WithinAStep BetweenSteps)
  lapilli_gpu_test(runtime.barrier${place} COMMAND test_runtime --gtest_also_run_disabled_tests
    --gtest_filter=DeviceBarriers.*${place} VALIDATE LABELS fast)
  set_tests_properties(runtime.barrier${place}.lavapipe.validated PROPERTIES
    PASS_REGULAR_EXPRESSION "SYNC-HAZARD-READ-AFTER-WRITE")
endforeach()
