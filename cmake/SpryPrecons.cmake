# The list of preconditioners, in the order of their names: a new one is a file under src/precon that defines precon_kind_NAME.
file(GLOB_RECURSE precon_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/precon/*.c)
set(precon_names "")
foreach(path ${precon_sources})
    file(STRINGS ${path} lines REGEX "^const precon_kind precon_kind_[a-z0-9_]+ =")
    foreach(line ${lines})
        string(REGEX REPLACE "^const precon_kind precon_kind_([a-z0-9_]+) .*" "\\1" name ${line})
        list(APPEND precon_names ${name})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    endforeach()
endforeach()
list(REMOVE_ITEM precon_names none inner) # which are no operators: spec.c has them
list(SORT precon_names)
list(TRANSFORM precon_names REPLACE "(.+)" "item(\\1)")
list(JOIN precon_names " " precon_list)
file(CONFIGURE OUTPUT ${spry_generated}/precon_kinds.h CONTENT
"/* The preconditioners; a kind's file defines precon_kind_NAME. */
#define PRECON_KINDS(item) ${precon_list}
")
