# Which kinds of pictures are read, and who writes WebP files for the tests.
if(TARGET WebP::webp)
  target_link_libraries(test_pictures PRIVATE WebP::webp)
  target_compile_definitions(test_pictures PRIVATE LAPILLI_HAVE_WEBP=1)
endif()
if(TARGET TIFF::TIFF)
  target_compile_definitions(test_pictures PRIVATE LAPILLI_HAVE_TIFF=1)
endif()
gtest_discover_tests(test_pictures TEST_PREFIX pictures. PROPERTIES LABELS fast-host DISCOVERY_TIMEOUT 120)
