/*
 * All choices by name, and their options: one way through all lists of the library, for programs
 * that show choices, for bindings and for documentation.
 *
 *     spry_entry entry = SPRY_ENTRY_INIT;
 *     for (int i = 0; spry_list_at(SPRY_LIST_METHODS, i, &entry); i++)
 *         printf("%s: %s\n", entry.name, entry.summary);
 */
#ifndef SPRY_LIST_H
#define SPRY_LIST_H

#include <spry/options.h>

SPRY_BEGIN

/* One list gives the lists, their names, and what they are. */
#define SPRY_LIST_LIST(item)                                                                   \
    item(METHODS, "methods", "methods of the solver: option method, and auto")                 \
    item(PRECONS, "precons", "preconditioners: option precon, and auto")                       \
    item(FORMATS, "formats", "storage formats of operators: option format, and auto")          \
    item(FILES, "files", "file formats, by the endings of names")                              \
    item(GENERATORS, "generators", "generated test matrices")                                  \
    item(ORDERINGS, "orderings", "orderings of rows and columns")                              \
    item(SCALINGS, "scalings", "scalings of rows and columns")                                 \
    item(OBJECTS, "objects", "what takes options by text: contexts, solvers, reading, tuning") \
    item(FINDINGS, "findings", "what the doctor can find, see docs/doctor.md")

#define SPRY_LIST_ENUM(name, word, text) SPRY_LIST_##name,
/** The lists; SPRY_LIST_COUNT grows. */
typedef enum spry_list { SPRY_LIST_LIST(SPRY_LIST_ENUM) SPRY_LIST_COUNT } spry_list;

/** One entry of a list. Texts live as long as the library; NULL: the entry has none. */
typedef struct spry_entry {
    size_t size;              /**< SPRY_ENTRY_INIT */
    const char *name;         /**< as options take it: "gmres", "amg", "sell", "mtx", "rcm" */
    const char *summary;      /**< one line */
    const char *purpose;      /**< methods: which matrices it is for; findings: their causes */
    const char *reference;    /**< methods: where it comes from */
    const char *text;         /**< methods: the notation; file formats: endings, with blanks between
                                   them, the usual one first */
    spry_option_list options; /**< its own, as they are given after a colon ("gmres:restart=50");
                                   those of methods are fields of 8 bytes in their order */
    bool on_devices;   /**< preconditioners, storage formats: whether it can be on a device */
    const char *needs; /**< methods: properties that A must have, "hermitian definite"; "": none.
                          The preconditioner must be hermitian or symmetric with A, and definite if
                          A is hermitian */
    bool flexible;     /**< methods: the preconditioner may change in each iteration */
    bool common;       /**< methods: one of the usual ones, to begin with */
} spry_entry;
#define SPRY_ENTRY_INIT SPRY_SIZED(spry_entry)

/** Entry number index, from 0; false, and a cleared entry, past the last. */
SPRY_API bool spry_list_at(spry_list list, int index, spry_entry *entry);
/** The entry with a name, which may have options after a colon; false, and a cleared entry, when
 * there is none. */
SPRY_API bool spry_list_find(spry_list list, const char *name, spry_entry *entry);
/** The list's name: "methods"; NULL for a list that does not exist. */
SPRY_API const char *spry_list_name(spry_list list);
/** What the list holds, in one line; NULL for a list that does not exist. */
SPRY_API const char *spry_list_summary(spry_list list);

SPRY_END

#endif
