# 10,000 texts for each kind of SentencePiece model, held against Python's sentencepiece. Skipped where Python has none
# of version 0.2; what it gave for some of them is in tests/data/sentencepiece, which test_text reads.
add_executable(sentencepiece_lines ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
target_link_libraries(sentencepiece_lines PRIVATE lapilli_internal lapilli_test_support)
add_test(NAME sentencepiece.fuzz COMMAND ${CMAKE_CURRENT_LIST_DIR}/fuzz $<TARGET_FILE:sentencepiece_lines>
  ${PROJECT_SOURCE_DIR}/models/en-fr/source.spm
  ${PROJECT_SOURCE_DIR}/tests/data/tokenizers/m2m_100/files/sentencepiece.bpe.model)
set_tests_properties(sentencepiece.fuzz PROPERTIES LABELS slow SKIP_RETURN_CODE 77 TIMEOUT 1800)
