# cpack: a deb, a tar.gz and a zip of what cmake --install gives; scripts/package builds and packs. Included last, behind
# Install.cmake. SOURCE_DATE_EPOCH is the time of everything in them, so that the same sources give the same bytes.

# Whose work is in it, with the licences; Debian wants this file by this name, and others may read it, too.
file(STRINGS ${PROJECT_SOURCE_DIR}/LICENSE licence)
list(REMOVE_AT licence 0 1 2 3)  # title and copyright
set(LAPILLI_LICENSE_EXPAT "")
foreach(line IN LISTS licence)
  string(APPEND LAPILLI_LICENSE_EXPAT " ${line}\n")
endforeach()
string(REGEX REPLACE "\n +\n" "\n .\n" LAPILLI_LICENSE_EXPAT "${LAPILLI_LICENSE_EXPAT}")
string(STRIP "${LAPILLI_LICENSE_EXPAT}" LAPILLI_LICENSE_EXPAT)
string(PREPEND LAPILLI_LICENSE_EXPAT " ")
string(CONCAT LAPILLI_LICENSE_BSD_DISCLAIMER
  " THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\" AND ANY EXPRESS OR IMPLIED WARRANTIES,\n"
  " INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE\n"
  " DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,\n"
  " SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR\n"
  " SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,\n"
  " WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF\n"
  " THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.")
configure_file(${PROJECT_SOURCE_DIR}/cmake/copyright.in ${PROJECT_BINARY_DIR}/package/copyright @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(NOT PROJECT_IS_TOP_LEVEL)
  return()  # the packages of others are theirs
endif()
set(CPACK_GENERATOR DEB TGZ ZIP CACHE STRING "Packages that cpack makes")
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VENDOR "The Lapilli authors")
set(CPACK_PACKAGE_CONTACT "The Lapilli authors <lapilli@localhost>" CACHE STRING
  "Who answers for the packages: \"NAME <MAIL>\"")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PackageFiles.cmake)
set(CPACK_LAPILLI_DOCDIR ${CMAKE_INSTALL_DOCDIR})
set(CPACK_LAPILLI_STRIP ${CMAKE_STRIP})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION text)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libvulkan1)  # opened at run time, so that nothing else tells
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "mesa-vulkan-drivers | vulkan-icd")
if(LAPILLI_IS_STATIC)
  # What links it links these.
  foreach(dependency LAPILLI_UNICODE:libutf8proc-dev LAPILLI_REGEX:libpcre2-dev LAPILLI_ZLIB:zlib1g-dev
      WebP_FOUND:libwebp-dev TIFF_FOUND:libtiff-dev)
    string(REGEX MATCH "^([A-Za-z_]+):(.*)" dependency ${dependency})
    if(${CMAKE_MATCH_1})
      string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", ${CMAKE_MATCH_2}")
    endif()
  endforeach()
endif()
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Translates and summarizes texts on any Vulkan 1.1 device, or without
one by Mesa's CPU driver, with published encoder-decoder models. A small model
from English to French is included. The library, its headers for C and C++ and
what CMake and pkg-config need to find it are included as well.")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if it is set
file(WRITE ${PROJECT_BINARY_DIR}/package/changelog
  "${PROJECT_NAME} (${PROJECT_VERSION}) unstable; urgency=low\n\n  * What is new: CHANGELOG.md\n\n"
  " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
set(CPACK_LAPILLI_CHANGELOG ${PROJECT_BINARY_DIR}/package/changelog)
if(NOT LAPILLI_IS_STATIC)
  file(WRITE ${PROJECT_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
endif()
include(CPack)
