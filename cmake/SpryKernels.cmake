# Compiles src/host/kernels/*.c once for each scalar type and ISA level of the target processor. Out come
# spry_kernel_objects and the header isa_levels.h: the levels as an X-macro list SPRY_ISA_LEVELS(item).
file(GLOB kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/host/kernels/*.c)

set(isa_levels base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(APPEND isa_levels avx2 avx512)
    set(isa_flags_base -march=x86-64)
    set(isa_flags_avx2 -march=haswell)
    set(isa_flags_avx512 -march=skylake-avx512 -mprefer-vector-width=512)
endif()

set(spry_kernel_objects)
set(level_list "")
foreach(isa ${isa_levels})
    string(APPEND level_list " item(${isa})")
    foreach(type s d c z)
        set(target spry_kernels_${type}_${isa})
        add_library(${target} OBJECT ${kernel_sources})
        target_include_directories(${target} PRIVATE include src)
        target_compile_definitions(${target} PRIVATE KERNEL_TYPE_${type} KERNEL_SUFFIX=${type}_${isa})
        target_compile_options(${target} PRIVATE ${isa_flags_${isa}}
            $<$<NOT:$<CONFIG:Debug>>:-O3> -fno-trapping-math -fno-math-errno
            $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>) # a loop it does not vectorise is no fault of ours
        target_link_libraries(${target} PRIVATE spry_flags OpenMP::OpenMP_C)
        list(APPEND spry_kernel_objects $<TARGET_OBJECTS:${target}>)
    endforeach()
endforeach()
set(spry_generated ${PROJECT_BINARY_DIR}/generated)
file(CONFIGURE OUTPUT ${spry_generated}/isa_levels.h CONTENT
"/* ISA levels of the host kernels in this build, worst first. */
#define SPRY_ISA_LEVELS(item) ${level_list}
")
