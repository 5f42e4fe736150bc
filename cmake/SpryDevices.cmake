# Puts the texts of the devices' kernels into the library: spry_device_source is a C file with device_text(), for
# src/device/kernels/**/*.knl by their names without .knl, for src/formats/NAME/NAME.knl as formats/NAME and make_NAME.knl as make_NAME, and for the
# dialect and the list of first programs; and with device_format_for(), which knows the formats that have a file src/formats/NAME/device.c. A new kernel or format is a new file.
set(device_room ${PROJECT_SOURCE_DIR}/src/device)
file(GLOB_RECURSE kernel_texts CONFIGURE_DEPENDS ${device_room}/kernels/*.knl)
file(GLOB format_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/formats/*/*.knl)
list(SORT kernel_texts)
list(APPEND kernel_texts ${format_texts} ${device_room}/engine/dialect.h ${device_room}/engine/first.list)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel_texts})

# Rows of a table of texts: a name and the text of a file, for every file.
function(spry_text_rows rows)
    set(all "")
    foreach(file ${ARGN})
        file(RELATIVE_PATH name ${device_room} ${file})
        string(REGEX REPLACE "^kernels/|^engine/|^.*/grid/.*kernels/|\\.(knl|h|list)$" "" name ${name})
        if(name MATCHES "^\\.\\./formats/[a-z0-9_]+/(.*)$")
            set(name ${CMAKE_MATCH_1})
            if(NOT name MATCHES "^make_")
                string(PREPEND name formats/)
            endif()
        endif()
        file(READ ${file} text)
        string(REPLACE "\\" "\\\\" text "${text}")
        string(REPLACE "\"" "\\\"" text "${text}")
        string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
        string(APPEND all "    {\"${name}\",\n     \"${text}\"},\n")
    endforeach()
    set(${rows} "${all}" PARENT_SCOPE)
endfunction()
spry_text_rows(device_texts ${kernel_texts})

file(GLOB device_format_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/formats/*/device.c)
set(device_format_declarations "")
set(device_format_list "")
foreach(file ${device_format_files})
    string(REGEX REPLACE "^.*/([a-z0-9_]+)/device\\.c$" "\\1" name ${file})
    string(APPEND device_format_declarations "extern const device_format device_format_${name};\n")
    string(APPEND device_format_list "&device_format_${name}, ")
endforeach()

set(spry_device_source ${spry_generated}/device_texts.c)
file(CONFIGURE OUTPUT ${spry_device_source} CONTENT
"/* The texts of the devices' kernels, and the storage formats that devices have. */
#include \"formats/shared/device_formats.h\"

static const struct device_named_text {
    const char *name, *text;
} texts[] = {
@device_texts@};

const char *device_text(const char *name)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) == 0)
            return texts[i].text;
    }
    return NULL;
}

@device_format_declarations@
static const device_format *const formats[] = {@device_format_list@NULL};

const device_format *device_format_for(const layout_class *class)
{
    for (int i = 0; formats[i]; i++) {
        if (strcmp(formats[i]->name, class->name) == 0)
            return formats[i];
    }
    return NULL;
}
" @ONLY)

# The same for libspry_grid: spry_grid_text_source is a C file with grid_text(), for the texts of its rooms.
file(GLOB grid_text_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/grid/kernels/*.knl ${PROJECT_SOURCE_DIR}/grid/*/kernels/*.knl)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${grid_text_files})
spry_text_rows(grid_texts ${grid_text_files})
set(spry_grid_text_source ${spry_generated}/grid_texts.c)
file(CONFIGURE OUTPUT ${spry_grid_text_source} CONTENT
"/* The texts of the devices' kernels of libspry_grid. */
#include \"grid/text.h\"

#include <string.h>

static const struct grid_named_text {
    const char *name, *text;
} texts[] = {
@grid_texts@};

const char *grid_text(const char *name)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) == 0)
            return texts[i].text;
    }
    return NULL;
}
" @ONLY)
