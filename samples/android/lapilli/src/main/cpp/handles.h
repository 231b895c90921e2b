/* Numbers for what Java holds. Java never has a pointer: a number that was closed, or never was one, is told from one
 * that lives, and what one thread uses is not freed by another in the middle. All functions are for any thread. */
#ifndef LAPILLI_ANDROID_HANDLES_H
#define LAPILLI_ANDROID_HANDLES_H

#include <stdint.h>

/* The kind of object that a number stands for. */
enum { HANDLE_DEVICE = 1, HANDLE_LOAD = 2, HANDLE_MODEL = 3, HANDLE_JOB = 4 };

/* One thing of the library's, which it owns. */
typedef struct handle_slot handle_slot;

/* The number for a thing of that kind, never 0. 0: there are too many, and the thing was freed. */
int64_t handle_put(int kind, void* thing);

/* The slot of a number of that kind, in use until handle_give_back. Null: it is closed, or never was. */
handle_slot* handle_use(int64_t number, int kind);
void* handle_thing(const handle_slot* slot);
void handle_give_back(handle_slot* slot);

/* From now on nobody can use the number; the thing is freed by its last user. A number that is not known is ignored. */
void handle_close(int64_t number, int kind);

/* How many things are not freed. */
int handle_count(void);

#endif
