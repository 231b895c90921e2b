# The library's faces: what it exports, its name as a shared library, and its insides for those of our own programs that
# use more than the interface. Included behind the target lapilli and all that it links.

# Only what LAPILLI_API marks is exported (tests/data/abi.txt lists it).
set_target_properties(lapilli PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON)

# lapilli_as_shared(TARGET): until 1.0 a minor version may change the interface, so the soname carries it. What the C++
# library instantiates has no visibility that we could set; the linker keeps it in.
function(lapilli_as_shared target)
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(APPLE)
    target_link_options(${target} PRIVATE "LINKER:-exported_symbol,_lapilli_*")
  elseif(NOT WIN32)
    set(map ${PROJECT_SOURCE_DIR}/cmake/lapilli.map)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endfunction()

# lapilli_from_objects(TARGET KIND): another library, STATIC or SHARED, of the objects that lapilli is made of.
function(lapilli_from_objects target kind)
  add_library(${target} ${kind} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:lapilli>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  get_target_property(needed lapilli LINK_LIBRARIES)
  target_link_libraries(${target} PRIVATE ${needed})
endfunction()

# lapilli_static: the program and the tests see the insides, which a shared library does not show.
get_target_property(kind lapilli TYPE)
if(kind STREQUAL SHARED_LIBRARY)
  lapilli_as_shared(lapilli)
  if(WIN32)
    target_compile_definitions(lapilli PUBLIC LAPILLI_SHARED PRIVATE LAPILLI_BUILDING)
  endif()
  lapilli_from_objects(lapilli_static STATIC)
else()
  add_library(lapilli_static ALIAS lapilli)
endif()

# Beside the program the module of Python wants a library that it can load: of the same objects.
if(LAPILLI_STANDALONE AND kind STREQUAL STATIC_LIBRARY)
  lapilli_from_objects(lapilli_module SHARED)
  lapilli_as_shared(lapilli_module)
  set_target_properties(lapilli_module PROPERTIES OUTPUT_NAME lapilli EXCLUDE_FROM_ALL OFF)
  install(TARGETS lapilli_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
