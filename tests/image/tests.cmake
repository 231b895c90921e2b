# The kinds of pictures that are read, and the writer of WebP files for the tests.
if(TARGET WebP::webp)
  target_link_libraries(test_image PRIVATE WebP::webp)
  target_compile_definitions(test_image PRIVATE LAPILLI_HAVE_WEBP=1)
endif()
if(TARGET TIFF::TIFF)
  target_compile_definitions(test_image PRIVATE LAPILLI_HAVE_TIFF=1)
endif()
gtest_discover_tests(test_image TEST_PREFIX image. PROPERTIES LABELS fast-host DISCOVERY_TIMEOUT 120)
