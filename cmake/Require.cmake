# What is missing is named when configuring, with the package to install, and not in the middle of a build.

# lapilli_require_header(VARIABLE HEADER PACKAGE [HINTS DIR...] [SUFFIXES DIR...]): the folder that HEADER lies in, as
# find_path caches it. PACKAGE is Debian's name.
function(lapilli_require_header variable header package)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "HINTS;SUFFIXES")
  # A folder that is known of old, or was given, and has not got it any more.
  if(${variable} AND NOT EXISTS "${${variable}}/${header}")
    unset(${variable} CACHE)
  endif()
  find_path(${variable} ${header} HINTS ${arg_HINTS} PATH_SUFFIXES ${arg_SUFFIXES} include)
  if(NOT ${variable})
    message(FATAL_ERROR "${header} was not found: install it (Debian: ${package}), or say where it is with "
      "-D${variable}=DIR. scripts/deps installs all that is missing.")
  endif()
endfunction()
