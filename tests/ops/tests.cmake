# The ops: unit tests without a device, and the suite that runs every case on one.
target_sources(test_ops PRIVATE ${PROJECT_SOURCE_DIR}/tests/lab/layer/gathers.cpp ${CMAKE_CURRENT_LIST_DIR}/suite/value_cover.cpp)
# As they are in the library, but with names: does a kernel read each push constant where its op puts it?
lapilli_add_named_shaders(test_ops ${PROJECT_SOURCE_DIR}/shaders/table.inc ${CMAKE_CURRENT_BINARY_DIR}/named_shaders)
target_compile_definitions(test_ops PRIVATE LAPILLI_NAMED_SHADERS="${CMAKE_CURRENT_BINARY_DIR}/named_shaders")
gtest_discover_tests(test_ops TEST_PREFIX ops. PROPERTIES LABELS fast-host DISCOVERY_TIMEOUT 120)

if(EXISTS ${PROJECT_SOURCE_DIR}/src/vulkan/device/device.cpp)
  file(GLOB suite_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/suite/*.cpp)
  add_executable(op_suite ${suite_sources})
  set_target_properties(op_suite PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(op_suite PRIVATE lapilli_internal)
  add_executable(op_bench ${CMAKE_CURRENT_LIST_DIR}/bench/op_bench.cpp)
  set_target_properties(op_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(op_bench PRIVATE lapilli_internal)
  lapilli_gpu_test(ops.bench COMMAND op_bench --shape 4,32,32 --runs 1 LABELS fast)
  # The limits of MoltenVK; a case that a mask changes nothing of is run once.
  set(masks ${PROJECT_SOURCE_DIR}/tests/lab/masks)
  set(macs "gpu,${masks}/moltenvk-m1.json gpu,${masks}/moltenvk-m5.json gpu,${masks}/moltenvk-intel.json gpu,${masks}/moltenvk-amd.json")
  # gpu: sizes and variants that a GPU would get, which no CPU driver gets otherwise.
  # The kernels of this driver and those of others, by the values of their constants (suite/value_cover.hpp): four fifths of the
  # time go into translating kernels, and 995 of them hold all values. With all their combinations they are long.
  lapilli_gpu_test(ops.suite COMMAND op_suite --caps "full floor gpu" --no-slow --values LABELS slow)
  lapilli_gpu_test(ops.suite.combinations COMMAND op_suite --caps "full" --no-slow LABELS long DRIVER_DEFAULTS)
  lapilli_gpu_test(ops.suite.whole COMMAND op_suite --caps "floor gpu" --no-slow LABELS long)
  lapilli_gpu_test(ops.suite COMMAND op_suite --caps "full floor gpu" --no-slow DRIVERS swiftshader LABELS long)
  lapilli_gpu_test(ops.suite.masks COMMAND op_suite --caps "small-bindings gpu,small-bindings no-subgroup no-timeline" --no-slow
    LABELS long)
  lapilli_gpu_test(ops.suite.sampled COMMAND op_suite --caps "full floor" --no-slow --values --part 1/20 LABELS fast)
  # On SwiftShader, which compiles a kernel for seconds, every hundredth case; with other masks and with validation every fortieth,
  # of the values.
  lapilli_gpu_test(ops.suite.sampled COMMAND op_suite --caps "full floor" --no-slow --part 1/100 DRIVERS swiftshader LABELS slow)
  lapilli_gpu_test(ops.suite.masks.sampled COMMAND op_suite --caps "small-bindings gpu,small-bindings no-subgroup no-timeline"
    --no-slow --values --part 2/40 LABELS slow)
  lapilli_gpu_test(ops.suite.checked.sampled COMMAND op_suite --caps "full floor gpu" --no-slow --values --part 3/40 VALIDATE LABELS slow)
  # Cooperative matrices; a driver without them has no such variant, and the filter matches nothing.
  lapilli_gpu_test(ops.suite.coop COMMAND op_suite --filter /coop --caps "gpu gpu,small-bindings" DRIVERS lvp-sid LABELS slow)
  # The choices of a tuner: workgroup sizes and elements an invocation that no class of device begins with.
  lapilli_gpu_test(ops.suite.numbers COMMAND op_suite --numbers --caps "full" LABELS long)
  lapilli_gpu_test(ops.suite.all COMMAND op_suite
    --caps "full floor small-bindings small-work gpu gpu,floor gpu,small-bindings no-subgroup no-timeline no-indirect ${macs}"
    DRIVERS lavapipe swiftshader LABELS long TIMEOUT 3600)
  lapilli_gpu_test(ops.suite.checked COMMAND op_suite --caps "full floor gpu" --no-slow VALIDATE LABELS long)
  lapilli_gpu_test(ops.suite.lab COMMAND op_suite --caps "full floor" --no-slow PROFILES android-2022 "android-2022,memory=discrete" VALIDATE
    LABELS long)
endif()
