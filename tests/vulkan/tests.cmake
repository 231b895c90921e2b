# Tests named Device* need a device; the others are pure. Those of faults lie to the driver about what happened (and keep a
# hung device on purpose), so that validation would have much to say. Several threads at once are not validated: Debian 12's
# layer (1.3.239) damages the heap then, once in some 240 runs of that test, and none of 2,400 without it.
gtest_discover_tests(test_vulkan TEST_PREFIX vulkan. TEST_FILTER "-*Device*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device*-*Faults*:*ThreadsShareTheDevice*:*DevicePipelines* VALIDATE
  LABELS fast)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device*-*Faults*:*ThreadsShareTheDevice*:*DevicePipelines* VALIDATE
  PROFILES "android-2022,memory=discrete" LABELS slow)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device*-*Faults*:*ThreadsShareTheDevice*:*DevicePipelines* VALIDATE
  DRIVERS swiftshader LABELS slow)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device*-*Faults*:*ThreadsShareTheDevice*:*DevicePipelines* VALIDATE
  DRIVERS swiftshader PROFILES android-2022 "android-2022,memory=discrete" LABELS long)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device*-*Faults* LABELS fast sanitize threads)
lapilli_gpu_test(vulkan.faults COMMAND test_vulkan --gtest_filter=*DeviceFaults* LABELS slow sanitize threads)
lapilli_gpu_test(vulkan.faults COMMAND test_vulkan --gtest_filter=*DeviceFaults* DRIVERS swiftshader LABELS long)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device*-*Faults*:*ThreadsShareTheDevice*:*DevicePipelines* VALIDATE
  PROFILES moltenvk-m1 "android-2022,heap=64" "igpu-gen9,memory=noncoherent" LABELS slow)
lapilli_gpu_test(vulkan.device COMMAND test_vulkan --gtest_filter=*Device*-*Faults*:*ThreadsShareTheDevice*:*DevicePipelines* VALIDATE
  PROFILES android-2022 gtx1060 moltenvk-intel moltenvk-amd LABELS long)
# As MoltenVK is met: the loader shows it to those alone who ask for such drivers, and it offers an extension that must be enabled.
lapilli_gpu_test(vulkan.portability COMMAND test_vulkan --gtest_filter=DeviceAdopted.*:DeviceList.*:*DeviceMasks.BytesSurvive*
  VALIDATE DRIVERS portability PROFILES moltenvk-m1 LABELS fast)
