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

#define SPRY_VERSION_MAJOR 0
#define SPRY_VERSION_MINOR 2
#define SPRY_VERSION_PATCH 0

/** The library's version as "major.minor.patch". */
SPRY_API const char *spry_version(void);

/** Scalar types: real single, real double, complex single, complex double. */
typedef enum spry_type { SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z } spry_type;

/** A number of any scalar type; im is 0 for real types. */
typedef struct spry_scalar {
    double re, im;
} spry_scalar;

/** "s", "d", "c" or "z". */
SPRY_API const char *spry_type_name(spry_type type);
/** Bytes of one number: 4, 8, 8, 16. */
SPRY_API size_t spry_type_size(spry_type type);
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
/** What a call came to. Anything but SPRY_STATUS_OK leaves a message in the context. */
typedef enum spry_status { SPRY_STATUS_LIST(SPRY_STATUS_ENUM) SPRY_STATUS_COUNT } spry_status;

/** The status in words; never NULL. */
SPRY_API const char *spry_status_text(spry_status status);

/** Who owns arrays handed to a constructor. */
typedef enum spry_own {
    SPRY_OWN_BORROW, /**< the caller keeps them, unchanged, for the object's life */
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
