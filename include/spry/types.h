/* The words every other header uses: export mark, scalar types, status codes, version. */
#ifndef SPRY_TYPES_H
#define SPRY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SPRY_API __attribute__((visibility("default")))
#define SPRY_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SPRY_API
#define SPRY_PRINTF(text, first)
#endif

#ifdef __cplusplus
#define SPRY_BEGIN extern "C" {
#define SPRY_END }
#else
#define SPRY_BEGIN
#define SPRY_END
#endif

SPRY_BEGIN

/* The version of these headers; the build reads it here. */
#define SPRY_VERSION_MAJOR 0
#define SPRY_VERSION_MINOR 3
#define SPRY_VERSION_PATCH 0
/** Versions as numbers that can be compared: 0.2.0 is 200, 1.12.3 is 11203. */
#define SPRY_VERSION_OF(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define SPRY_VERSION SPRY_VERSION_OF(SPRY_VERSION_MAJOR, SPRY_VERSION_MINOR, SPRY_VERSION_PATCH)
/** For the preprocessor: whether these headers are of a version or of a later one. */
#define SPRY_VERSION_AT_LEAST(major, minor, patch) \
    (SPRY_VERSION >= SPRY_VERSION_OF(major, minor, patch))
#define SPRY_VERSION_QUOTE(major, minor, patch) #major "." #minor "." #patch
#define SPRY_VERSION_EXPAND(major, minor, patch) SPRY_VERSION_QUOTE(major, minor, patch)
/** "0.3.0" */
#define SPRY_VERSION_TEXT \
    SPRY_VERSION_EXPAND(SPRY_VERSION_MAJOR, SPRY_VERSION_MINOR, SPRY_VERSION_PATCH)

/** The version of the library that runs, as text, "0.3.0". It may be later than the
 * SPRY_VERSION_TEXT that your program was compiled with. */
SPRY_API const char *spry_version(void);
/** The same as a number, comparable with SPRY_VERSION. */
SPRY_API int spry_version_number(void);

/*
 * Structs that callers allocate can grow: later versions append members, and programs that were
 * compiled before keep working. Such a struct begins with its size in bytes, which
 * you set by the struct's own initialiser,
 *
 *     spry_result result = SPRY_RESULT_INIT;
 *
 * The library writes no more than that many bytes, and takes members beyond them for 0. It leaves
 * the size as it is. A cleared struct (size 0) counts as one of the version that first had it.
 * Sizes smaller than that version's, and those above 65,536 bytes, are SPRY_STATUS_BAD_USAGE: most
 * structs that were not initialised have such a size. Any size in between is accepted.
 */
#ifdef __cplusplus
#define SPRY_SIZED(type)                       \
    [] {                                       \
        type spry_sized_{};                    \
        spry_sized_.size = sizeof spry_sized_; \
        return spry_sized_;                    \
    }()
#else
#define SPRY_SIZED(type)     \
    {                        \
        .size = sizeof(type) \
    }
#endif

/** Scalar types: real single, real double, complex single, complex double. */
typedef enum spry_type { SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z } spry_type;

/** A number of any scalar type; im is 0 for real types. Passed by value: it stays as it is. */
typedef struct spry_scalar {
    double re, im; /**< real and imaginary part */
} spry_scalar;

/** "s", "d", "c" or "z". */
SPRY_API const char *spry_type_name(spry_type type);
/** Bytes of one number: 4, 8, 8, 16. */
SPRY_API size_t spry_type_size(spry_type type);
/** Whether numbers of the type have an imaginary part. */
SPRY_API bool spry_type_is_complex(spry_type type);

/* One list gives the codes and their texts. */
#define SPRY_STATUS_LIST(item)                             \
    item(OK, "success")                                    \
    item(BAD_USAGE, "an argument or option is wrong")      \
    item(BAD_INPUT, "the data are not valid")              \
    item(IO, "a file could not be read or written")        \
    item(NO_MEMORY, "memory or disk space is exhausted")   \
    item(UNSUPPORTED, "this combination is not supported") \
    item(INTERRUPTED, "the caller asked to stop")          \
    item(DEVICE, "a device or its driver failed")          \
    item(DEVICE_LOST, "a device no longer answers")

#define SPRY_STATUS_ENUM(name, text) SPRY_STATUS_##name,
/** The outcome of a call. Anything but SPRY_STATUS_OK leaves a message in the context. */
typedef enum spry_status { SPRY_STATUS_LIST(SPRY_STATUS_ENUM) SPRY_STATUS_COUNT } spry_status;

/** The status in words; never NULL. */
SPRY_API const char *spry_status_text(spry_status status);

/** Called when the library no longer uses what you lent it: arrays, or a function's data. */
typedef void (*spry_release_fn)(void *data);

/** Who owns arrays handed to a constructor. */
typedef enum spry_own {
    SPRY_OWN_BORROW, /**< the caller keeps them until the object is freed or given others. Only
                        values may change, followed by spry_matrix_set_values(). The library
                        does not write into the arrays of a matrix */
    SPRY_OWN_COPY,   /**< the object copies them */
    SPRY_OWN_TAKE    /**< the object frees them; they came from spry_alloc() of the same context */
} spry_own;

/** Which operator a product applies. */
typedef enum spry_transpose {
    SPRY_TRANSPOSE_NO,
    SPRY_TRANSPOSE_YES,
    SPRY_TRANSPOSE_CONJUGATE
} spry_transpose;

SPRY_END

#endif
