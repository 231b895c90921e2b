# Tests named Http* speak to a server of their own in the test, Serve* to the whole one on a device: both need Boost's headers.
target_link_libraries(test_server PRIVATE lapilli_server)
set(without Serve*)
if(NOT LAPILLI_HAVE_BOOST)
  string(APPEND without :Http*)
endif()
gtest_discover_tests(test_server TEST_PREFIX server. TEST_FILTER "-${without}" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
if(LAPILLI_HAVE_BOOST)
  lapilli_gpu_test(server.device COMMAND test_server --gtest_filter=ServeDevice* LABELS fast)
  # Clients of other programs, which PyPI and npm have: LAPILLI_CLIENTS is a Python with them.
  set(clients $ENV{LAPILLI_CLIENTS})
  if(NOT clients)
    set(clients python3)
  endif()
  foreach(client translators)
    lapilli_gpu_test(server.clients.${client} COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/clients/${client}.py
      $<TARGET_FILE:lapilli_cli> LABELS clients)
    set_tests_properties(server.clients.${client}.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()
