/*
 * Programs that earlier runs compiled on a device, by text and options: `programs/HASH.list`, one
 * file per kind of device. A new driver or a new spry makes what is kept compiled of no use; the
 * list then says what to precompile. Nothing of this fails: a list that is damaged is ignored.
 * For the first run ever there is a list in the library, first.list.
 */
#ifndef SPRY_DEVICE_PROGRAM_LIST_H
#define SPRY_DEVICE_PROGRAM_LIST_H

#include "device/engine/device.h"

enum { PROGRAM_LIST_MOST = 256, PROGRAM_LIST_BYTES = 4 << 20 };

/* Notes a program that was compiled: the `names` of device_text(), or NULL and a text. */
void program_list_note(spry_device *d, const char *names, const char *text, const char *options);
/* Calls `use` with each program of the list, where `stamp` differs from that of its last writer:
 * with names, or NULL and a text. Texts of another version of spry are left out. */
typedef void program_list_use(spry_device *d, const char *names, const char *text,
                              const char *options);
void program_list_read(spry_device *d, uint64_t stamp, program_list_use *use);
/* Calls `use` with the programs that a first run takes for a kind of work, as first.list has them.
 */
void program_list_first(spry_device *d, const char *work, spry_type type, program_list_use *use);
/* Keeps what was noted, before what is in the list. */
void program_list_write(spry_device *d, uint64_t stamp);

#endif
