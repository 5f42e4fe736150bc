/*
 * Kernels of the caller's: texts in the dialect of docs/kernels.md, which is C with a few words
 * that stand for CUDA's and OpenCL's. They are compiled for a device when they are made (or taken
 * from the cache of programs, see docs/devices.md), and work on vectors in its memory.
 *
 * A text runs with the rights of the process: it can read and write all memory of the process's
 * on the device, beyond the arrays it was given, keep the device busy for ever, and make it lose
 * what all others have there; on processors (PoCL) it can do what any code of the process can.
 * Nothing is checked but the types of arguments. Never build texts of people you do not trust.
 */
#ifndef SPRY_KERNEL_H
#define SPRY_KERNEL_H

#include <spry/options.h>
#include <spry/vector.h>

SPRY_BEGIN

/** A kernel that was compiled for a device, with its arguments; used by one thread at a time. */
typedef struct spry_kernel spry_kernel;

/**
 * Compiles a text for a device. The same text with the same options is compiled once: later ones
 * share its program, which stays with the device until that is closed.
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
 * @param device   where it is to run
 * @param text     one or several kernels, and functions of theirs
 * @param name     of the kernel, which stands in the text as SP_KERNEL name(...)
 * @param options  "type=d group=64x4x1 define=[WIDTH=3 HEIGHT=2]" or NULL; see
 * spry_options_of("kernel")
 * @param kernel   out: to be freed by spry_kernel_free(), before the device is closed
 * @return SPRY_STATUS_BAD_INPUT with the compiler's first complaint, in the text's own lines, when
 * it cannot be compiled, or has arguments that a kernel here cannot have
 */
SPRY_API spry_status spry_kernel_new(spry_device *device, const char *text, const char *name,
                                     const char *options, spry_kernel **kernel);
/** Frees a kernel; what was launched is done all the same. NULL is allowed. */
SPRY_API void spry_kernel_free(spry_kernel *kernel);

/*
 * Arguments by name. Each fails with SPRY_STATUS_BAD_USAGE when the text declares something else
 * under the name, or nothing. They stay set from launch to launch; vectors and memory must be alive
 * when a kernel is launched, and until that is done.
 */

/** A whole number: int, offset, sp_u8, sp_u16, sp_u32 or sp_u64, which it must fit. */
SPRY_API spry_status spry_kernel_set_int(spry_kernel *kernel, const char *name, int64_t value);
/** A number: real, scalar, number, float or double. */
SPRY_API spry_status spry_kernel_set_real(spry_kernel *kernel, const char *name, double value);
/** The same where scalars are complex; im is 0 for others. */
SPRY_API spry_status spry_kernel_set_scalar(spry_kernel *kernel, const char *name,
                                            spry_scalar value);
/** A vector of the kernel's device to be read: SP_GLOBAL const scalar *, or another type of numbers
 * that is the vector's. */
SPRY_API spry_status spry_kernel_set_input(spry_kernel *kernel, const char *name,
                                           const spry_vector *v);
/** A vector to be read and written. */
SPRY_API spry_status spry_kernel_set_vector(spry_kernel *kernel, const char *name, spry_vector *v);
/** Memory of the caller's on the device, of any type: a CUDA pointer, or a cl_mem; NULL is a null
 * pointer. */
SPRY_API spry_status spry_kernel_set_memory(spry_kernel *kernel, const char *name, void *memory);

/**
 * Launches a kernel after all that was asked of the device before, on its stream, and comes back
 * before it is done. What the kernel does shows in vectors when anything is done with them.
 *
 * @param kernel      with all arguments set
 * @param dimensions  1 to as many as its groups have
 * @param sides       how many work-items in each; 0: none. Groups are whole: where a side is no
 *                    multiple of a group there are more work-items, which the text must mask out
 * @return SPRY_STATUS_BAD_USAGE when an argument was not set
 */
SPRY_API spry_status spry_kernel_launch(spry_kernel *kernel, int dimensions, const int64_t *sides);

SPRY_END

#endif
