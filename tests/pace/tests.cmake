# Devices of three speeds by a clock of the lab layer's own; a phone's and a desktop's GPU.
set(phone ",type=integrated,vendor=0x5143")
lapilli_gpu_test(pace.small COMMAND test_pace --gtest_filter=Small/DevicePace.*:DevicePaceLoading.* PROFILES "pace=6${phone}"
  LABELS slow)
lapilli_gpu_test(pace.small COMMAND test_pace --gtest_filter=Small/DevicePace.* PROFILES "pace=20${phone}" LABELS long)
lapilli_gpu_test(pace.base COMMAND test_pace --gtest_filter=Base/DevicePace.* PROFILES "pace=6${phone}" "pace=20${phone}" LABELS long)
lapilli_gpu_test(pace.fast COMMAND test_pace --gtest_filter=Small/DevicePace.No* PROFILES "pace=300,type=discrete" LABELS slow)
lapilli_gpu_test(pace.fast.base COMMAND test_pace --gtest_filter=Base/DevicePace.No* PROFILES "pace=300,type=discrete" LABELS long)
lapilli_gpu_test(pace.nllb COMMAND test_pace --gtest_filter=Nllb/DevicePace.No* PROFILES "pace=6${phone}" LABELS slow)
# The smaller models say the same of these devices.
lapilli_gpu_test(pace.nllb COMMAND test_pace --gtest_filter=Nllb/DevicePace.No* PROFILES "pace=20${phone}" "pace=300,type=discrete"
  LABELS long)
# All of it, 10,000 frames too, and frames of a fast device, which hold many steps each: an hour, so not in CI.
lapilli_gpu_test(frames.all COMMAND test_pace PROFILES "pace=6${phone}" "pace=20${phone}" "pace=300,type=discrete"
  LABELS long TIMEOUT 3600)
target_include_directories(test_pace SYSTEM PRIVATE ${VULKAN_HEADERS_DIR})
if(TARGET lab_device)
  add_dependencies(test_pace lab_device)
endif()
# Ids do not depend on how long anything takes.
lapilli_gpu_test(pace.ids COMMAND test_generate --gtest_filter=DeviceExpected.GreedyInOneCall
  PROFILES "pace=6,pace_mode=ids${phone}" LABELS slow)
