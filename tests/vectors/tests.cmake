target_link_libraries(test_vectors PRIVATE lapilli_vectors)
gtest_discover_tests(test_vectors TEST_PREFIX vectors. PROPERTIES LABELS fast-host DISCOVERY_TIMEOUT 120)
