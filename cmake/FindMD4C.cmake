# Finds md4c, a parser of Markdown: MD4C::md4c.
find_path(MD4C_INCLUDE_DIR md4c.h)
find_library(MD4C_LIBRARY md4c)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MD4C REQUIRED_VARS MD4C_LIBRARY MD4C_INCLUDE_DIR)
mark_as_advanced(MD4C_INCLUDE_DIR MD4C_LIBRARY)
if(MD4C_FOUND AND NOT TARGET MD4C::md4c)
  add_library(MD4C::md4c UNKNOWN IMPORTED)
  set_target_properties(MD4C::md4c PROPERTIES IMPORTED_LOCATION "${MD4C_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${MD4C_INCLUDE_DIR}")
endif()
