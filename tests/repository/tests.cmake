# What holds for the repository as a whole.
add_test(NAME layers COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-layers)
add_test(NAME layers.selftest COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/repository/layers-selftest)
set_tests_properties(layers layers.selftest PROPERTIES LABELS "fast")
