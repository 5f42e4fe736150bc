# spry-serve needs libmicrohttpd (libmicrohttpd-dev) 0.9.75 or later; without it there is no such program, and `spry serve` says so.
find_path(MICROHTTPD_INCLUDE microhttpd.h)
find_library(MICROHTTPD_LIBRARY microhttpd)
mark_as_advanced(MICROHTTPD_INCLUDE MICROHTTPD_LIBRARY)
set(microhttpd_version 0)
if(MICROHTTPD_INCLUDE AND MICROHTTPD_LIBRARY)
    file(STRINGS ${MICROHTTPD_INCLUDE}/microhttpd.h line REGEX "^#define MHD_VERSION 0x" LIMIT_COUNT 1)
    string(REGEX REPLACE "^.*(0x[0-9A-Fa-f]+).*$" "\\1" microhttpd_version "0 ${line}")
endif()
if(NOT microhttpd_version MATCHES "^0x" OR microhttpd_version LESS 0x00097500)
    list(REMOVE_ITEM spry_apps serve)
    message(STATUS "Page: libmicrohttpd 0.9.75 or later was not found")
endif()

# The files of the page, whose texts are arrays (see CMakeLists.txt), as a table of their names.
function(spry_serve_page)
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/apps/serve/page apps/serve/page/*)
    set(includes "")
    set(rows "")
    foreach(file ${files})
        string(MAKE_C_IDENTIFIER ${file} name)
        string(APPEND includes "#include \"serve_${name}.h\"\n")
        string(APPEND rows "    {\"${file}\", serve_${name}_text, sizeof serve_${name}_text - 1},\n")
    endforeach()
    file(CONFIGURE OUTPUT ${spry_generated}/apps/serve_files.h CONTENT
"/* The files of the page. */
@includes@
static const struct {
    const char *name, *text;
    size_t size;
} serve_files[] = {
@rows@};
" @ONLY)
endfunction()

function(spry_serve_target)
    if(NOT TARGET spry-serve)
        return()
    endif()
    spry_serve_page()
    find_package(Threads REQUIRED)
    target_sources(spry-serve PRIVATE cli/reader.c)
    target_include_directories(spry-serve SYSTEM PRIVATE ${MICROHTTPD_INCLUDE})
    target_link_libraries(spry-serve PRIVATE ${MICROHTTPD_LIBRARY} Threads::Threads)
    # where spry is from spry-serve, once both are installed
    if(IS_ABSOLUTE ${CMAKE_INSTALL_BINDIR})
        set(program ${CMAKE_INSTALL_BINDIR}/spry)
    elseif(IS_ABSOLUTE ${apps_folder})
        set(program ${CMAKE_INSTALL_FULL_BINDIR}/spry)
    else()
        file(RELATIVE_PATH program /p/${apps_folder} /p/${CMAKE_INSTALL_BINDIR}/spry)
    endif()
    target_compile_definitions(spry-serve PRIVATE SERVE_PROGRAM="${program}")
endfunction()
