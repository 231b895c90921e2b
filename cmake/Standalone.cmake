# LAPILLI_STANDALONE: program and library need glibc alone. What they are linked with is static; libvulkan and libcurl are opened at
# run time, by their names, where they are. Libraries without a static archive are left out, as where they are not installed.
# Included before libraries are looked for.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_link_options(-static-libgcc -static-libstdc++)

# The archives that libtiff needs are not made for shared libraries: TIFF files are refused.
set(LAPILLI_TIFF OFF)
