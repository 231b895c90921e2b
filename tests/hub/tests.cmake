# Tests named HubFetch* and CliHubFetch* ask a server of their own in the test, and so need libcurl; CliHub* run the program.
if(TARGET lapilli_hub)
  target_link_libraries(test_hub PRIVATE lapilli_hub)
  # The program's own names of models; the linker leaves out what they have besides.
  set_target_properties(test_hub PROPERTIES LAPILLI_ONE_SECTION OFF)
  foreach(source arguments/model_names arguments/foreign_models arguments/suggestions files/foreign_files files/output_names)
    target_sources(test_hub PRIVATE ${PROJECT_SOURCE_DIR}/src/cli/${source}.cpp)
  endforeach()
  add_dependencies(test_hub lapilli_cli)
  set(filter "*")
  if(NOT CURL_FOUND)
    set(filter "-*HubFetch*")
  endif()
  gtest_discover_tests(test_hub TEST_PREFIX hub. TEST_FILTER "${filter}" PROPERTIES LABELS fast-host
    DISCOVERY_TIMEOUT 120)
endif()
