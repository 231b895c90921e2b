# With CMAKE_UNITY_BUILD (scripts/run, scripts/test, packages) a folder is compiled as one file: headers are read and templates are
# compiled once a folder, which takes a third of the time. Names in unnamed namespaces must then differ within a folder, and what a
# file includes serves those behind it; the test `file_by_file` builds everything without.

# These files include windows.h, which defines many names: they are compiled alone.
set(LAPILLI_FILES_ALONE "^$")
if(WIN32)
  set(LAPILLI_FILES_ALONE "/(loader|locate|path|system|http_curl)[.]cpp$")
endif()
# These files of the program use the errors of src/base, the others those of the public interface: two groups.
set(LAPILLI_OUTWARD_FILES "/src/(cli/(files/sound_sources|cmd_fetch|cmd_models|arguments/(model_(choice|names)|registries)|run/(transcription|sound_input))|server/protocols/recorded_sound)[.]cpp$")

function(lapilli_one_file_a_folder target sources)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  list(FILTER sources EXCLUDE REGEX "${LAPILLI_FILES_ALONE}")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src)
    # These share most of what they include: their rooms, and the interface with the tools below it.
    string(REGEX REPLACE "^(ops|runtime|vulkan|generate|model|formats/doors)/.*" "\\1" folder ${folder})
    string(REGEX REPLACE "^tools$" "api" folder ${folder})
    string(REPLACE "/" "_" folder ${folder})
    if(source MATCHES "${LAPILLI_OUTWARD_FILES}")
      set(folder outward)
    elseif(source MATCHES "/src/cli/")
      set(folder cli)
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()

# Headers that nearly every folder includes are read once: 6 % of the library's time. Compiler caches keep nothing that was compiled with
# precompiled headers, so where there is such a cache, these are left out.
function(lapilli_headers_once target)
  if(CMAKE_UNITY_BUILD AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <nlohmann/json.hpp> <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstring>
      <deque> <filesystem> <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <thread>
      <unordered_map> <unordered_set> <variant> <vector>)
  endif()
endfunction()

# The parts around the library read arguments, files and requests, whose time is nothing beside a model's: so they compile in two thirds
# of the time.
function(lapilli_compile_sooner target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU,Clang>>:-O1>)
endfunction()
