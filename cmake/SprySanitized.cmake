# What tests run under sanitizers in a build that is plain elsewhere: SPRY_TEST_SANITIZE (preset test). The library is compiled a
# second time, but for the host kernels, which take most of the time: those are the plain ones. (Preset asan has the kernels as well.)
# spry_checked, spry_checked_flags and spry_checked_program name what such tests use; they are the plain targets where the variable
# is empty.
set(SPRY_TEST_SANITIZE "" CACHE STRING "Sanitizers of the tests of readers, parsers and faults, in a plain build")
set(spry_checked ${spry_inside})
set(spry_checked_flags spry_flags)
set(spry_checked_program spry)
if(NOT SPRY_TEST_SANITIZE OR SPRY_SANITIZE OR NOT SPRY_BUILD_TESTS)
    return()
endif()

add_library(spry_flags_sanitized INTERFACE)
target_link_libraries(spry_flags_sanitized INTERFACE spry_flags)
target_compile_options(spry_flags_sanitized INTERFACE -Og -g1 -fsanitize=${SPRY_TEST_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -Wno-maybe-uninitialized) # what sanitizers add misleads that warning; the plain build has it
target_link_options(spry_flags_sanitized INTERFACE -fsanitize=${SPRY_TEST_SANITIZE})

# A target of ours once more: its sources and include folders, with sanitizers.
function(spry_sanitize_objects target original)
    get_target_property(sources ${original} SOURCES)
    list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
    get_target_property(folders ${original} INCLUDE_DIRECTORIES)
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_include_directories(${target} PRIVATE ${folders})
endfunction()
spry_sanitize_objects(spry_objects_sanitized spry_objects)
target_link_libraries(spry_objects_sanitized PRIVATE spry_flags_sanitized spry_orders spry_factors OpenMP::OpenMP_C ZLIB::ZLIB)
spry_sanitize_objects(spry_grid_objects_sanitized spry_grid_objects)
target_link_libraries(spry_grid_objects_sanitized PRIVATE spry_flags_sanitized OpenMP::OpenMP_C)
add_library(spry_sanitized STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:spry_objects_sanitized> ${spry_kernel_objects})
target_link_libraries(spry_sanitized PRIVATE OpenMP::OpenMP_C ZLIB::ZLIB ${spry_order_libraries} ${CMAKE_DL_LIBS} m)
add_library(spry_grid_sanitized STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:spry_grid_objects_sanitized> ${spry_grid_kernel_objects})
target_link_libraries(spry_grid_sanitized PUBLIC spry_sanitized PRIVATE OpenMP::OpenMP_C m)
foreach(target spry_sanitized spry_grid_sanitized)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
endforeach()

# The program, in a folder of its own.
spry_sanitize_objects(spry_command_sanitized spry_command)
target_link_libraries(spry_command_sanitized PRIVATE spry_flags_sanitized)
add_executable(spry_program_sanitized ${cli_sources} $<TARGET_OBJECTS:spry_command_sanitized>)
target_link_libraries(spry_program_sanitized PRIVATE spry_sanitized spry_flags_sanitized ${CMAKE_DL_LIBS} m)
set_target_properties(spry_program_sanitized PROPERTIES OUTPUT_NAME spry
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sanitized BUILD_RPATH ${PROJECT_BINARY_DIR})

set(spry_checked spry_grid_sanitized spry_sanitized)
set(spry_checked_flags spry_flags_sanitized)
set(spry_checked_program spry_program_sanitized)
