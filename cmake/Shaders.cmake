# lapilli_add_shaders(TARGET TABLE): compiles every line of the shader table to a header with SPIR-V words, and generates
# shader_id.hpp (the enum) and shader_table.cpp (id -> words, name).  A line: ID FILE [MACRO[=VALUE]...] [NAME:VALUE]
# Lines that differ in the last alone share what is compiled for the first of them; see src/ops/core/shader_code.cpp.
# With the macro PREBUILT it is not compiled here: prebuilt/ID.inc is what scripts/prebuild-shaders has made of it.
include(ShaderTable)
find_program(GLSLANG NAMES glslangValidator glslang REQUIRED)

# A line of the table into `id`, `file`, `defines` (-DMACRO...), `size` (0: none) and `prebuilt` (the file, or nothing).
macro(lapilli_read_shader_line line)
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words id file)
  set(defines "")
  set(size 0)
  set(prebuilt "")
  foreach(w IN LISTS words)
    if(w STREQUAL PREBUILT)
      set(prebuilt ${PROJECT_SOURCE_DIR}/shaders/prebuilt/${id}.inc)
    elseif(w MATCHES "^[A-Z]+:([0-9]+)$")
      set(size ${CMAKE_MATCH_1})
    else()
      list(APPEND defines -D${w})
    endif()
  endforeach()
endmacro()

# Compiles shaders/FILE to `output` with glslang's options that follow. -g0 leaves names out: an eighth of all words.
function(lapilli_compile_shader id file output)
  set(source_dir ${PROJECT_SOURCE_DIR}/shaders)
  add_custom_command(OUTPUT ${output}
    COMMAND ${GLSLANG} -V --quiet --target-env vulkan1.1 -I${source_dir}/lib ${ARGN} --depfile ${output}.d -o ${output}
            ${source_dir}/${file}
    DEPENDS ${source_dir}/${file} DEPFILE ${output}.d VERBATIM COMMENT "Shader ${id}")
endfunction()

# lapilli_add_named_shaders(TARGET TABLE FOLDER): every line of the table as FOLDER/ID.spv, with names, for tests; not what
# is prebuilt, which has them.
function(lapilli_add_named_shaders target table folder)
  file(MAKE_DIRECTORY ${folder})
  lapilli_shader_lines(${table} lines)
  foreach(line IN LISTS lines)
    lapilli_read_shader_line("${line}")
    if(prebuilt)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${file} ${defines}" key)
    if(size GREATER 0 AND DEFINED module_of_${key})
      add_custom_command(OUTPUT ${folder}/${id}.spv VERBATIM DEPENDS ${module_of_${key}}
        COMMAND ${CMAKE_COMMAND} -E copy ${module_of_${key}} ${folder}/${id}.spv)
    else()
      lapilli_compile_shader(${id} ${file} ${folder}/${id}.spv ${defines})
      set(module_of_${key} ${folder}/${id}.spv)
    endif()
    target_sources(${target} PRIVATE ${folder}/${id}.spv)
  endforeach()
endfunction()

function(lapilli_add_shaders target table)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/shaders)
  file(MAKE_DIRECTORY ${dir}/ops/core)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  lapilli_shader_lines(${table} lines)
  set(enums "")
  set(includes "")
  set(entries "")
  set(headers "")
  foreach(line IN LISTS lines)
    lapilli_read_shader_line("${line}")
    string(MAKE_C_IDENTIFIER "${file} ${defines}" key)
    set(module ${id})
    if(size GREATER 0 AND DEFINED module_of_${key})
      set(module ${module_of_${key}})
    else()
      set(module_of_${key} ${id})
      if(prebuilt)
        string(APPEND includes "#include \"${prebuilt}\"\n")
      else()
        set(header ${dir}/${id}.spv.h)
        lapilli_compile_shader(${id} ${file} ${header} ${defines} -g0 --vn spv_${id})
        list(APPEND headers ${header})
        string(APPEND includes "#include \"${id}.spv.h\"\n")
      endif()
    endif()
    string(APPEND enums "  ${id},\n")
    string(APPEND entries "    {\"${id}\", spv_${module}, sizeof(spv_${module}) / 4, ${size}},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${dir}/ops/core/shader_id.hpp @ONLY CONTENT
"// Generated from shaders/table.inc.
#pragma once
#include <cstdint>
namespace lapilli {
enum class ShaderId : uint16_t {
@enums@  count
};
}
")
  file(CONFIGURE OUTPUT ${dir}/shader_table.cpp @ONLY CONTENT
"// Generated from shaders/table.inc.
#include <cstdint>
@includes@
#include \"ops/core/shader_table.hpp\"
namespace lapilli {
namespace {
const ShaderModule table[] = {
@entries@    {nullptr, nullptr, 0, 0}};
}
const ShaderModule& shader_module(ShaderId id) { return table[static_cast<uint16_t>(id)]; }
}
")
  target_sources(${target} PRIVATE ${dir}/shader_table.cpp ${headers})
  target_include_directories(${target} PRIVATE ${dir})
  # tests see the generated headers too
  set_property(GLOBAL PROPERTY LAPILLI_SHADER_DIR ${dir})
endfunction()
