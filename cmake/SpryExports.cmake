# Which names the shared libraries show. Public ones, tools/symbols.txt, have the version SPRY_<number>. What libspry_grid and
# our programs take from within libspry, tools/private-symbols.txt, has a version of its own that no program is linked with and that changes with
# every release: the two libraries are always of one build, as glibc's are with GLIBC_PRIVATE.
if(CMAKE_C_VISIBILITY_PRESET) # not with sanitizers: tests see all of it then
    set_target_properties(spry_objects PROPERTIES C_VISIBILITY_PRESET default)
    target_compile_options(spry_objects PRIVATE $<$<C_COMPILER_ID:GNU>:-fno-semantic-interposition>)
    set(public_list ${PROJECT_SOURCE_DIR}/tools/symbols.txt)
    set(private_list ${PROJECT_SOURCE_DIR}/tools/private-symbols.txt)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_list} ${private_list})
    file(STRINGS ${public_list} public_names REGEX "^[a-z]")
    list(TRANSFORM public_names REPLACE " .*" "")
    file(STRINGS ${private_list} private_names REGEX "^[a-z]")
    set(exports ${spry_generated}/exports.txt)
    if(APPLE)
        set(names ${public_names} ${private_names})
        list(TRANSFORM names PREPEND _)
        list(JOIN names "\n" names)
        file(CONFIGURE OUTPUT ${exports} CONTENT "@names@\n" @ONLY)
        target_link_options(spry_shared PRIVATE -Wl,-exported_symbols_list,${exports})
    else()
        list(JOIN public_names ";\n    " public_names)
        list(JOIN private_names ";\n    " private_names)
        file(CONFIGURE OUTPUT ${exports} CONTENT
"SPRY_@spry_abi@ {
global:
    @public_names@;
local: *;
};
SPRY_PRIVATE_@PROJECT_VERSION@ {
global:
    @private_names@;
} SPRY_@spry_abi@;
" @ONLY)
        target_link_options(spry_shared PRIVATE -Wl,--version-script=${exports})
        target_link_options(spry_grid_shared PRIVATE -Wl,--no-undefined)
    endif()
    set_property(TARGET spry_shared APPEND PROPERTY LINK_DEPENDS ${exports})
else() # a program's own names are none of the libraries'
    foreach(target spry_shared spry_grid_shared)
        target_link_options(${target} PRIVATE -Wl,-Bsymbolic)
    endforeach()
endif()
