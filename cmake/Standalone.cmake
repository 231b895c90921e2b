# LAPILLI_STANDALONE: program and library need glibc alone. What they are linked with is static; libvulkan and libcurl are opened at
# run time, by their names, where they are. Libraries without a static archive are left out, as where they are not installed.
# Included before libraries are looked for.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_link_options(-static-libgcc -static-libstdc++)

# lapilli_static_tiff(): the archive of libtiff does not say what it needs. Without all of it, TIFF files are refused.
function(lapilli_static_tiff)
  set(needed)
  foreach(name webp Lerc jbig zstd lzma jpeg deflate z)
    find_library(LAPILLI_STATIC_${name} ${name})
    if(NOT LAPILLI_STATIC_${name})
      message(STATUS "there is no archive of ${name}, which libtiff needs: TIFF files will be refused")
      set(TIFF_FOUND FALSE PARENT_SCOPE)
      return()
    endif()
    list(APPEND needed ${LAPILLI_STATIC_${name}})
  endforeach()
  set_property(TARGET TIFF::TIFF APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${needed})
endfunction()
