# Markdown is held against what md4c itself says of it; without md4c its tests skip themselves.
target_link_libraries(test_documents PRIVATE lapilli_documents)
if(TARGET MD4C::md4c)
  target_link_libraries(test_documents PRIVATE MD4C::md4c)
  target_compile_definitions(test_documents PRIVATE LAPILLI_HAVE_MD4C=1)
endif()
gtest_discover_tests(test_documents TEST_PREFIX documents. PROPERTIES LABELS fast-host DISCOVERY_TIMEOUT 120)

# Files made by other tools, which PyPI has: LAPILLI_CLIENTS is a Python with them.
set(documents_python $ENV{LAPILLI_CLIENTS})
if(NOT documents_python)
  set(documents_python python3)
endif()
lapilli_gpu_test(documents.tools.tables COMMAND ${documents_python} ${CMAKE_CURRENT_LIST_DIR}/tools/tables.py
  $<TARGET_FILE:lapilli_cli> LABELS clients)
set_tests_properties(documents.tools.tables.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
