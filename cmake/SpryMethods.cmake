# Puts the texts of src/krylov/methods/*.krylov into the library: spry_method_source is a C file with the
# table krylov_texts (name, summary, purpose, reference, text, needs, flexible), sorted by name. A new method is a new file there.
file(GLOB method_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/krylov/methods/*.krylov)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${method_files})
set(method_table "")
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
    file(STRINGS ${file} flexible REGEX "^flexible" LIMIT_COUNT 1)
    if(flexible)
        set(flexible true)
    else()
        set(flexible false)
    endif()
    file(READ ${file} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    string(APPEND method_table "    {\"${name}\", ${words}\n     \"${text}\",\n     \"${needs}\", ${flexible}},\n")
endforeach()
set(spry_method_source ${spry_generated}/krylov_texts.c)
file(CONFIGURE OUTPUT ${spry_method_source} CONTENT
"/* The methods' texts, from src/krylov/methods. */
#include \"krylov/krylov.h\"

const spry_method_info krylov_texts[] = {
@method_table@    {NULL, NULL, NULL, NULL, NULL, NULL, false}};
" @ONLY)
