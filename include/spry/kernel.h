/*
 * Kernels of your own: texts in the dialect of docs/kernels.md, which is C with a few words for
 * CUDA's and OpenCL's. They are compiled for a device (or taken from the cache of programs, see
 * docs/devices.md), and work on vectors in its memory.
 *
 * A text runs with the rights of the process: it can read and write all memory of the process on
 * the device, occupy the device for ever, and destroy the data of others on it; on processors
 * (PoCL) it can do what any code of the process can. Only the types of arguments are checked. Never
 * build texts from people you do not trust.
 */
#ifndef SPRY_KERNEL_H
#define SPRY_KERNEL_H

#include <spry/options.h>
#include <spry/vector.h>

SPRY_BEGIN

/** A kernel compiled for a device, with its arguments; used by one thread at a time. */
typedef struct spry_kernel spry_kernel;

/**
 * Compiles a text for a device. The same text with the same options is compiled once: later kernels
 * share the program, which lives as long as the device.
 *
 *     static const char text[] =
 *         "SP_KERNEL scale_rows(const offset n, SP_GLOBAL const scalar *d, SP_GLOBAL scalar *x)\n"
 *         "{\n"
 *         "    const offset i = SP_GLOBAL_ID;\n"
 *         "    if (i < n)\n"
 *         "        x[i] = sp_mul(d[i], x[i]);\n"
 *         "}\n";
 *     spry_kernel_new(device, text, "scale_rows", "type=z", &kernel);
 *     spry_kernel_set_int(kernel, "n", n);
 *     spry_kernel_set_input(kernel, "d", d);
 *     spry_kernel_set_vector(kernel, "x", x);
 *     spry_kernel_launch(kernel, 1, &n);
 *
 * @param device   where it runs
 * @param text     one or several kernels and their functions
 * @param name     of the kernel, declared in the text as SP_KERNEL name(...)
 * @param options  "type=d group=64x4x1 define=[WIDTH=3 HEIGHT=2]" or NULL; see
 *                 spry_options_of("kernel")
 * @param kernel   out: to be freed by spry_kernel_free(), before the device is closed
 * @return SPRY_STATUS_BAD_INPUT with the compiler's first complaint, in the text's own lines, when
 * it cannot be compiled, or has an argument of another type than those below
 */
SPRY_API spry_status spry_kernel_new(spry_device *device, const char *text, const char *name,
                                     const char *options, spry_kernel **kernel);
/** Frees a kernel; work already launched is completed. NULL is allowed. */
SPRY_API void spry_kernel_free(spry_kernel *kernel);

/*
 * Arguments by name. Each fails with SPRY_STATUS_BAD_USAGE when the text declares no argument of
 * the name, or one of another type. Arguments stay set from launch to launch; vectors and memory
 * must live until a launch is done.
 */

/** A whole number: int, offset, sp_u8, sp_u16, sp_u32 or sp_u64, which it must fit. */
SPRY_API spry_status spry_kernel_set_int(spry_kernel *kernel, const char *name, int64_t value);
/** A number: real, scalar, number, float or double. */
SPRY_API spry_status spry_kernel_set_real(spry_kernel *kernel, const char *name, double value);
/** The same where scalars are complex; im is 0 for others. */
SPRY_API spry_status spry_kernel_set_scalar(spry_kernel *kernel, const char *name,
                                            spry_scalar value);
/** A vector of the kernel's device, read only: SP_GLOBAL const scalar *, or another type of numbers
 * that is the vector's. */
SPRY_API spry_status spry_kernel_set_input(spry_kernel *kernel, const char *name,
                                           const spry_vector *v);
/** A vector to be read and written. */
SPRY_API spry_status spry_kernel_set_vector(spry_kernel *kernel, const char *name, spry_vector *v);
/** Memory of the caller's on the device, of any type: a CUDA pointer, or a cl_mem; NULL is a null
 * pointer. */
SPRY_API spry_status spry_kernel_set_memory(spry_kernel *kernel, const char *name, void *memory);

/**
 * Launches a kernel after all work submitted before, on the device's stream, and returns without
 * waiting for it. Later calls on the vectors see its results.
 *
 * @param kernel      with all arguments set
 * @param dimensions  1 to the number of dimensions of its groups
 * @param sides       how many work-items in each; 0: none. Groups are whole: if a side is not a
 *                    multiple of the group's, the text must mask out the additional work-items
 * @return SPRY_STATUS_BAD_USAGE when an argument was not set
 */
SPRY_API spry_status spry_kernel_launch(spry_kernel *kernel, int dimensions, const int64_t *sides);

SPRY_END

#endif
