#Tests named Http* speak to a server of their own in the test, and so need Boost's headers.
target_link_libraries(test_server PRIVATE lapilli_server) set(filter "*") if (NOT LAPILLI_HAVE_BOOST)
    set(filter "-Http*") endif()
        gtest_discover_tests(test_server TEST_PREFIX server.TEST_FILTER "${filter}" PROPERTIES LABELS fast -
                             host DISCOVERY_TIMEOUT 120)
