# Markdown is held against what md4c itself says of it; without md4c its tests skip themselves.
target_link_libraries(test_documents PRIVATE lapilli_documents)
if(TARGET MD4C::md4c)
  target_link_libraries(test_documents PRIVATE MD4C::md4c)
  target_compile_definitions(test_documents PRIVATE LAPILLI_HAVE_MD4C=1)
endif()
gtest_discover_tests(test_documents TEST_PREFIX documents. PROPERTIES LABELS fast-host DISCOVERY_TIMEOUT 120)
