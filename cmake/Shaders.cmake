# lapilli_add_shaders(TARGET TABLE): compiles every line of the shader table to a header with SPIR-V words, and generates
# shader_id.hpp (the enum) and shader_table.cpp (id -> words, name).  A line: ID FILE [MACRO[=VALUE]...]
find_program(GLSLANG NAMES glslangValidator glslang REQUIRED)

function(lapilli_add_shaders target table)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/shaders)
  file(MAKE_DIRECTORY ${dir}/ops)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  get_filename_component(source_dir ${table} DIRECTORY)
  file(STRINGS ${table} lines REGEX "^[a-z]")
  set(enums "")
  set(includes "")
  set(entries "")
  set(headers "")
  foreach(line IN LISTS lines)
    separate_arguments(words UNIX_COMMAND "${line}")
    list(POP_FRONT words id file)
    set(defines "")
    foreach(w IN LISTS words)
      list(APPEND defines -D${w})
    endforeach()
    set(header ${dir}/${id}.spv.h)
    add_custom_command(OUTPUT ${header}
      COMMAND ${GLSLANG} -V --quiet --target-env vulkan1.1 -I${source_dir}/lib ${defines} --vn spv_${id}
              --depfile ${header}.d -o ${header} ${source_dir}/${file}
      DEPENDS ${source_dir}/${file} DEPFILE ${header}.d VERBATIM COMMENT "Shader ${id}")
    list(APPEND headers ${header})
    string(APPEND enums "  ${id},\n")
    string(APPEND includes "#include \"${id}.spv.h\"\n")
    string(APPEND entries "    {\"${id}\", spv_${id}, sizeof(spv_${id}) / 4},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${dir}/ops/shader_id.hpp @ONLY CONTENT
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
#include \"ops/shader_table.hpp\"
namespace lapilli {
namespace {
const ShaderCode table[] = {
@entries@    {nullptr, nullptr, 0}};
}
const ShaderCode& shader_code(ShaderId id) { return table[static_cast<uint16_t>(id)]; }
}
")
  target_sources(${target} PRIVATE ${dir}/shader_table.cpp ${headers})
  target_include_directories(${target} PRIVATE ${dir})
  # tests see the generated headers too
  set_property(GLOBAL PROPERTY LAPILLI_SHADER_DIR ${dir})
endfunction()
