# Puts the texts of src/krylov/methods/*.krylov into the library: spry_method_source is a C file with the
# table krylov_texts (rows of spry_entry), sorted by name. A new method is a new file there.
file(GLOB method_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/krylov/methods/*.krylov)
file(GLOB part_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/krylov/parts/*.part)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${method_files} ${part_files})
set(method_table "")
set(method_options "")

# The rows of the options that a text declares, as `option NAME = DEFAULT LOW..HIGH "help"` or
# `option NAME = WORD (WORDS) "help"`; a test compares them with what the parser makes of the text.
function(spry_method_options file result)
    set(rows "")
    set(offset 0)
    file(STRINGS ${file} lines REGEX "^option ")
    foreach(line IN LISTS lines)
        if(line MATCHES "^option +([^ =]+) *= *([^ ]+) +\\(([^)]*)\\) +(\".*\")$")
            set(row "SPRY_OPTION_WORD, ${offset}, \"${CMAKE_MATCH_2}\", 0, 0, \"${CMAKE_MATCH_3}\", ${CMAKE_MATCH_4}")
        elseif(line MATCHES "^option +([^ =]+) *= *([^ ]+) +([^ ]+)\\.\\.([^ ]+) +(\".*\")$")
            set(row "${offset}, \"${CMAKE_MATCH_2}\", ${CMAKE_MATCH_3}, ${CMAKE_MATCH_4}, NULL, ${CMAKE_MATCH_5}")
            set(kind REAL)
            if("${CMAKE_MATCH_2} ${CMAKE_MATCH_3} ${CMAKE_MATCH_4}" MATCHES "^([-0-9 ])+$")
                set(kind INT)
            endif()
            string(REGEX REPLACE "([ -])inf," "\\1INFINITY," row "SPRY_OPTION_${kind}, ${row}")
            string(REGEX MATCH "^option +([^ =]+)" ignored "${line}")
        else()
            message(FATAL_ERROR "${file}: ${line}")
        endif()
        string(APPEND rows "    {\"${CMAKE_MATCH_1}\", ${row}},\n")
        math(EXPR offset "${offset} + 8")
    endforeach()
    set(${result} "${rows}" PARENT_SCOPE)
endfunction()

# A text as a constant of C, with the parts that it uses and does not have after it, from src/krylov/parts.
function(spry_method_text text result)
    string(REGEX MATCHALL "\n +use [a-z]+" uses "${text}")
    list(REMOVE_DUPLICATES uses)
    foreach(line IN LISTS uses)
        string(REGEX REPLACE "\n +use " "" name "${line}")
        if(NOT text MATCHES "\npart ${name}:") # of its own
            file(READ ${PROJECT_SOURCE_DIR}/src/krylov/parts/${name}.part part)
            string(APPEND text "\n${part}")
        endif()
    endforeach()
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Those parts by their names, for texts of users.
set(part_table "")
foreach(file ${part_files})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    spry_method_text("${text}" text)
    string(APPEND part_table "    {\"${name}\", \"\\n\"\n     \"${text}\"},\n")
endforeach()

foreach(file ${method_files})
    get_filename_component(name ${file} NAME_WE)
    set(words "")
    foreach(word method for reference) # the quoted part of each of the opening lines
        file(STRINGS ${file} line REGEX "^${word} .*\".*\"" LIMIT_COUNT 1)
        string(REGEX REPLACE "^[^\"]*\"(.*)\"[^\"]*$" "\\1" line "${line}")
        string(REPLACE "\\;" ";" line "${line}") # file(STRINGS) makes a list
        string(APPEND words "\"${line}\", ")
    endforeach()
    file(STRINGS ${file} needs REGEX "^needs " LIMIT_COUNT 1)
    string(REGEX REPLACE "^needs +([a-z ]*[a-z]).*$" "\\1" needs "${needs}")
    foreach(word flexible common)
        file(STRINGS ${file} ${word} REGEX "^${word}" LIMIT_COUNT 1)
        if(${word})
            set(${word} true)
        else()
            set(${word} false)
        endif()
    endforeach()
    file(READ ${file} text)
    spry_method_text("${text}" text)
    spry_method_options(${file} rows)
    set(list "{0}")
    if(rows)
        string(MAKE_C_IDENTIFIER "${name}_options" table)
        string(APPEND method_options "static const spry_option ${table}[] = {\n${rows}};\n")
        set(list "SPRY_OPTION_LIST(${table})")
    endif()
    string(APPEND method_table "    {sizeof(spry_entry), \"${name}\", ${words}\n     \"${text}\",\n     ${list}, false, \"${needs}\", ${flexible}, ${common}},\n")
endforeach()
set(spry_method_source ${spry_generated}/krylov_texts.c)
file(CONFIGURE OUTPUT ${spry_method_source} CONTENT
"/* The methods' texts, from src/krylov/methods. */
#include \"krylov/krylov.h\"

#include <math.h>

@method_options@
const spry_entry krylov_texts[] = {
@method_table@    {0}};
const krylov_part krylov_parts[] = {
@part_table@    {NULL, NULL}};
" @ONLY)
