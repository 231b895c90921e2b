# Markdown is held against what md4c itself says of it; without md4c its tests skip themselves.
target_link_libraries(test_documents PRIVATE lapilli_documents)
if(TARGET MD4C::md4c)
  target_link_libraries(test_documents PRIVATE MD4C::md4c)
  target_compile_definitions(test_documents PRIVATE LAPILLI_HAVE_MD4C=1)
endif()
gtest_discover_tests(test_documents TEST_PREFIX documents. PROPERTIES LABELS fast-host DISCOVERY_TIMEOUT 120)
# Documents that other tools read: translated without a model.
file(GLOB random_documents ${CMAKE_CURRENT_SOURCE_DIR}/documents/random_documents.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/documents/random_[acrt]*.cpp)
add_executable(fake_translation EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/documents/tools/fake_translation.cpp ${random_documents})
target_include_directories(fake_translation PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/documents)
target_link_libraries(fake_translation PRIVATE lapilli_documents lapilli_options)
# The cost of placeholders: docs/use/documents.md has its figure.
add_executable(kept_cost EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/documents/tools/kept_cost.cpp)
target_include_directories(kept_cost PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(kept_cost PRIVATE lapilli_documents)
# The tests of CI need neither program; those of the label clients build them first.
add_test(NAME documents.tools.built COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target fake_translation kept_cost)
set_tests_properties(documents.tools.built PROPERTIES LABELS clients FIXTURES_SETUP document_tools TIMEOUT 600)
set(document_tools $ENV{LAPILLI_CLIENTS})
if(NOT document_tools)
  set(document_tools python3)
endif()
add_test(NAME documents.tools.office COMMAND ${document_tools} ${CMAKE_CURRENT_SOURCE_DIR}/documents/tools/office_files.py
  $<TARGET_FILE:fake_translation>)
set_tests_properties(documents.tools.office PROPERTIES LABELS clients SKIP_RETURN_CODE 77
  FIXTURES_REQUIRED document_tools)
foreach(tool rst asciidoc apps subtitles tex)
  add_test(NAME documents.tools.${tool} COMMAND ${document_tools} ${CMAKE_CURRENT_SOURCE_DIR}/documents/tools/${tool}.py
    $<TARGET_FILE:fake_translation>)
  set_tests_properties(documents.tools.${tool} PROPERTIES LABELS clients SKIP_RETURN_CODE 77
    FIXTURES_REQUIRED document_tools)
endforeach()
# The same with tables, through the program.
lapilli_gpu_test(documents.tools.tables COMMAND ${document_tools} ${CMAKE_CURRENT_LIST_DIR}/tools/tables.py
  $<TARGET_FILE:lapilli_cli> LABELS clients)
set_tests_properties(documents.tools.tables.lavapipe PROPERTIES SKIP_RETURN_CODE 77)
