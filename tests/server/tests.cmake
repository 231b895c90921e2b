# Tests named Http* speak to a server of their own in the test, Serve* to the whole one on a device: both need Boost's headers.
target_link_libraries(test_server PRIVATE lapilli_server)
set(without Serve*)
if(NOT LAPILLI_HAVE_BOOST)
  string(APPEND without :*Http*)
endif()
add_dependencies(test_server lapilli_cli)
gtest_discover_tests(test_server TEST_PREFIX server. TEST_FILTER "-${without}" PROPERTIES LABELS fast-host
  DISCOVERY_TIMEOUT 120)
if(LAPILLI_HAVE_BOOST)
  lapilli_gpu_test(server.device COMMAND test_server --gtest_filter=ServeDevice*:ServeProgram* LABELS fast)
  lapilli_gpu_test(server.loss COMMAND test_server --gtest_filter=ServeLoss* PROFILES fail=vkQueueSubmit:90 LABELS slow)
  lapilli_gpu_test(server.soak COMMAND test_server --gtest_filter=ServeSoak* LABELS long)
  # Clients of other programs, which PyPI and npm have: LAPILLI_CLIENTS is a Python with them.
  set(clients $ENV{LAPILLI_CLIENTS})
  if(NOT clients)
    set(clients python3)
  endif()
  foreach(client translators openai_clients rerankers wyoming_client)
    lapilli_gpu_test(server.clients.${client} COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/clients/${client}.py
      $<TARGET_FILE:lapilli_cli> ${PROJECT_SOURCE_DIR}/tests/data LABELS clients)
    set_tests_properties(server.clients.${client}.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
  find_program(LAPILLI_NODE node)
  if(LAPILLI_NODE)
    lapilli_gpu_test(server.clients.libretranslate COMMAND ${LAPILLI_NODE}
      ${CMAKE_CURRENT_SOURCE_DIR}/clients/libretranslate.cjs $<TARGET_FILE:lapilli_cli> LABELS clients)
    set_tests_properties(server.clients.libretranslate.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  # The page in headless Chromium: NODE_PATH names the folder of npm's puppeteer-core and axe-core.
  lapilli_gpu_test(server.clients.page COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/page/run $<TARGET_FILE:lapilli_cli>
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/page-shots LABELS clients)
  set_tests_properties(server.clients.page.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
endif()
