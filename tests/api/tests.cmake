# Tests named *Device* need a device; ApiWithoutDriver* want none to be found.
gtest_discover_tests(test_api TEST_PREFIX api. TEST_FILTER "-*Device*:*WithoutDriver*" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
add_test(NAME api.without_driver COMMAND test_api --gtest_filter=*WithoutDriver*)
set_tests_properties(api.without_driver PROPERTIES LABELS fast-host FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites"
  ENVIRONMENT "VK_ICD_FILENAMES=/dev/null;VK_DRIVER_FILES=/dev/null")
# `repeated`: what other tests say too, here or below the interface.
set(repeated ApiDeviceLive.ChunksAreTheSameHoweverManyAtATime:ApiDeviceLive.InterimResultsChangeNothing)
string(APPEND repeated :ApiDeviceStore.CutAndForeignBlobsAreIgnored:ApiDeviceStore.CallbacksThatFail)
string(APPEND repeated :ApiFilesDevice.EveryOpenThatFailsIsAnError:ApiFilesDevice.OtherFormatsAndFamilies)
lapilli_gpu_test(api.device COMMAND test_api --gtest_filter=*Device*-ApiHostDevice*:*/ApiHostDevices*:*ApiLoss*:${repeated}
  LABELS slow sanitize threads)
lapilli_gpu_test(api.device.repeated COMMAND test_api --gtest_filter=${repeated} LABELS long sanitize threads)
# A loss at each submission, and every call that may fail, take long; one loss of each sort is fast.
set(swept *AtAnySubmission:*AnyCall*:*EachCall*)
lapilli_gpu_test(api.loss COMMAND test_api --gtest_filter=ApiLossDevice*-${swept} LABELS slow sanitize)
lapilli_gpu_test(api.loss.all COMMAND test_api --gtest_filter=*ApiLossDevice* LABELS long TIMEOUT 3600)
lapilli_gpu_test(api.host_device COMMAND test_api --gtest_filter=ApiHostDevice*:*/ApiHostDevices* VALIDATE LABELS fast)
lapilli_gpu_test(api.host_device COMMAND test_api --gtest_filter=ApiHostDevice*:*/ApiHostDevices* VALIDATE DRIVERS swiftshader
  LABELS long)
# For the sanitizers: with validation it is fast.
lapilli_gpu_test(api.host_device COMMAND test_api --gtest_filter=ApiHostDevice*:*/ApiHostDevices* LABELS long sanitize threads)
# The code of the pages about embedding, as C and as C++; it runs where there is a main function for it.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/embed/embedding*.md)
foreach(page IN LISTS pages)
  get_filename_component(name ${page} NAME_WE)
  string(REPLACE "-" "_" id ${name})
  foreach(language c cpp)
    set(code ${CMAKE_CURRENT_BINARY_DIR}/pages/${id}.${language})
    set(more)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/api/${id}_main.inc)
      set(more ${CMAKE_CURRENT_SOURCE_DIR}/api/${id}_main.inc)
    endif()
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/pages)
    add_custom_command(OUTPUT ${code}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/api/page-code ${code} ${page} ${more}
      DEPENDS ${page} ${CMAKE_CURRENT_SOURCE_DIR}/api/page-code ${more} VERBATIM)
    if(more)
      add_executable(page_${id}_${language} ${code})
      lapilli_gpu_test(api.page.${id}.${language} COMMAND page_${id}_${language} ${PROJECT_SOURCE_DIR}/models/en-fr
        ${CMAKE_CURRENT_BINARY_DIR}/pages LABELS fast sanitize)
    else()
      add_library(page_${id}_${language} OBJECT ${code})
      target_compile_options(page_${id}_${language} PRIVATE -Wno-unused-function)  # they are for who reads the page
    endif()
    target_link_libraries(page_${id}_${language} PRIVATE lapilli lapilli_options)
    set_target_properties(page_${id}_${language} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF CXX_STANDARD 17)
    set_property(GLOBAL APPEND PROPERTY LAPILLI_PROGRAMS_sanitize page_${id}_${language})
  endforeach()
endforeach()
