# Compiles the kernels of rooms, ROOM/kernels/*.c, once for each scalar type and ISA level of the target processor. Out come
# spry_kernel_objects, spry_grid_kernel_objects and the header isa_levels.h: the levels as an X-macro list SPRY_ISA_LEVELS(item).
set(kernel_rooms src/host src/direct src/precon src/program)
list(TRANSFORM kernel_rooms APPEND /kernels/*.c)
list(TRANSFORM kernel_rooms PREPEND ${PROJECT_SOURCE_DIR}/)
file(GLOB kernel_sources CONFIGURE_DEPENDS ${kernel_rooms})
file(GLOB grid_kernel_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/grid/kernels/*.c ${PROJECT_SOURCE_DIR}/grid/*/kernels/*.c)

set(SPRY_ISA all CACHE STRING "ISA levels of the host kernels: all, one of which is chosen at run time; native, the best that this machine runs")
set_property(CACHE SPRY_ISA PROPERTY STRINGS all native)
set(isa_levels base)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(APPEND isa_levels avx2 avx512)
    set(isa_flags_base -march=x86-64)
    set(isa_flags_avx2 -march=haswell)
    set(isa_flags_avx512 -march=skylake-avx512 -mprefer-vector-width=512)
    if(SPRY_ISA STREQUAL native AND EXISTS /proc/cpuinfo)
        file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
        if(flags MATCHES " avx512f .* avx512vl")
            set(isa_levels avx512)
        elseif(flags MATCHES " fma .* avx2 ")
            set(isa_levels avx2)
        else()
            set(isa_levels base)
        endif()
    endif()
endif()

# The products of storage formats, src/formats/NAME/host_WALK.c. Those called host_reduced_WALK.c are compiled also for values that are stored
# shorter than they are computed with: type d and z, kinds f32, f16, bf16.
file(GLOB walk_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/formats/*/host_*.c)
set(reduced_sources ${walk_sources})
list(FILTER reduced_sources INCLUDE REGEX "/host_reduced_")
list(FILTER walk_sources EXCLUDE REGEX "/host_reduced_")
set(walk_table ${PROJECT_SOURCE_DIR}/src/host/kernels/walk_table.c)
list(REMOVE_ITEM kernel_sources ${walk_table})

# Compiles sources for a type, a kind of values and an ISA level.
function(spry_add_kernels target type kind isa)
    add_library(${target} OBJECT ${ARGN})
    target_include_directories(${target} PRIVATE include src . ${spry_generated})
    target_compile_definitions(${target} PRIVATE KERNEL_TYPE_${type} KERNEL_SUFFIX=${type}_${isa}
        KERNEL_KIND_${kind} KERNEL_WALK_SUFFIX=${type}_${kind}_${isa})
    # What sanitizers add to unrolled loops takes the optimiser minutes a file, and at -O1 still half of the whole build.
    set(level $<$<NOT:$<CONFIG:Debug>>:-O3>)
    if(SPRY_SANITIZE)
        set(level -Og)
    endif()
    # Looking for undefined behaviour doubles the time. The base level has the same texts, and tests run it, too.
    if(NOT isa STREQUAL base)
        set_target_properties(${target} PROPERTIES SPRY_DEFINED ON)
    endif()
    target_compile_options(${target} PRIVATE ${isa_flags_${isa}} ${level} -fno-trapping-math -fno-math-errno
        $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>) # a loop it does not vectorise is no fault of ours
    target_link_libraries(${target} PRIVATE spry_flags OpenMP::OpenMP_C)
endfunction()

set(spry_generated ${PROJECT_BINARY_DIR}/generated)
set(spry_kernel_objects)
set(spry_grid_kernel_objects)
set(level_list "")
foreach(isa ${isa_levels})
    string(APPEND level_list " item(${isa})")
    foreach(type s d c z)
        set(target spry_kernels_${type}_${isa})
        spry_add_kernels(${target} ${type} own ${isa} ${kernel_sources} ${walk_table} ${walk_sources} ${reduced_sources})
        list(APPEND spry_kernel_objects $<TARGET_OBJECTS:${target}>)
        set(target spry_grid_kernels_${type}_${isa})
        spry_add_kernels(${target} ${type} own ${isa} ${grid_kernel_sources})
        list(APPEND spry_grid_kernel_objects $<TARGET_OBJECTS:${target}>)
    endforeach()
    foreach(type d z)
        foreach(kind f32 f16 bf16)
            set(target spry_kernels_${type}_${kind}_${isa})
            spry_add_kernels(${target} ${type} ${kind} ${isa} ${walk_table} ${reduced_sources})
            list(APPEND spry_kernel_objects $<TARGET_OBJECTS:${target}>)
        endforeach()
    endforeach()
endforeach()
file(CONFIGURE OUTPUT ${spry_generated}/isa_levels.h CONTENT
"/* ISA levels of the host kernels in this build, worst first. */
#define SPRY_ISA_LEVELS(item) ${level_list}
")

# The lists of formats and walks: a new one is its files.
function(spry_list_names list)
    set(names "")
    foreach(path ${ARGN})
        string(REGEX REPLACE "/build\\.c$|\\.c$" "" name ${path})
        string(REGEX REPLACE "^.*/" "" name ${name})
        string(REGEX REPLACE "^host_reduced_|^host_" "" name ${name})
        string(APPEND names " item(${name})")
    endforeach()
    set(${list} "${names}" PARENT_SCOPE)
endfunction()
file(GLOB format_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/formats/*/build.c)
spry_list_names(format_list ${format_sources})
spry_list_names(plain_list ${walk_sources})
spry_list_names(reduced_list ${reduced_sources})
file(CONFIGURE OUTPUT ${spry_generated}/layout_lists.h CONTENT
"/* The storage formats, and the kernels that walk through them; REDUCED: also for shorter values. */
#define LAYOUT_FORMATS(item) ${format_list}
#define LAYOUT_REDUCED_WALKS(item) ${reduced_list}
#define LAYOUT_WALKS(item) LAYOUT_REDUCED_WALKS(item) ${plain_list}
")
