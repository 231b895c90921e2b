#include "handles.h"

#include <pthread.h>
#include <stddef.h>

#include "lapilli/lapilli.h"

/* An app has a device, a model and a few jobs. */
enum { MOST_HANDLES = 256 };

struct handle_slot {
  void* thing; /* null: the slot is free */
  int kind, users, closed;
  int64_t turn; /* how often the slot was taken: it tells a number from the next one of the same slot */
};

static handle_slot slots[MOST_HANDLES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void free_thing(int kind, void* thing) {
  switch (kind) {
    case HANDLE_DEVICE: lapilli_device_close((lapilli_device*)thing); break;
    case HANDLE_LOAD: lapilli_load_free((lapilli_load*)thing); break;
    case HANDLE_MODEL: lapilli_model_free((lapilli_model*)thing); break;
    case HANDLE_JOB: lapilli_job_free((lapilli_job*)thing); break;
    default: break;
  }
}

/* Under the lock: the slot of a number, or null. */
static handle_slot* find(int64_t number, int kind) {
  handle_slot* slot = &slots[number & (MOST_HANDLES - 1)];
  const int known = number > 0 && slot->thing && slot->turn == number / MOST_HANDLES;
  return known && slot->kind == kind && !slot->closed ? slot : NULL;
}

/* Under the lock: empties a slot that is closed and that nobody uses, and says what is to be freed without the lock. */
static void* empty(handle_slot* slot) {
  void* thing = slot->closed && slot->users == 0 ? slot->thing : NULL;
  if (thing) slot->thing = NULL;
  return thing;
}

int64_t handle_put(int kind, void* thing) {
  int64_t number = 0;
  int64_t i = 0;
  pthread_mutex_lock(&lock);
  while (i < MOST_HANDLES && slots[i].thing) ++i;
  if (i < MOST_HANDLES) {
    handle_slot* slot = &slots[i];
    slot->thing = thing;
    slot->kind = kind;
    slot->users = slot->closed = 0;
    number = ++slot->turn * MOST_HANDLES + i;
  }
  pthread_mutex_unlock(&lock);
  if (!number) free_thing(kind, thing);
  return number;
}

handle_slot* handle_use(int64_t number, int kind) {
  handle_slot* slot;
  pthread_mutex_lock(&lock);
  slot = find(number, kind);
  if (slot) ++slot->users;
  pthread_mutex_unlock(&lock);
  return slot;
}

void* handle_thing(const handle_slot* slot) { return slot->thing; }

void handle_give_back(handle_slot* slot) {
  void* thing;
  int kind;
  pthread_mutex_lock(&lock);
  --slot->users;
  kind = slot->kind;
  thing = empty(slot);
  pthread_mutex_unlock(&lock);
  if (thing) free_thing(kind, thing);
}

void handle_close(int64_t number, int kind) {
  handle_slot* slot;
  void* thing = NULL;
  pthread_mutex_lock(&lock);
  slot = find(number, kind);
  if (slot) {
    slot->closed = 1;
    thing = empty(slot);
  }
  pthread_mutex_unlock(&lock);
  if (thing) free_thing(kind, thing);
}

int handle_count(void) {
  int count = 0, i;
  pthread_mutex_lock(&lock);
  for (i = 0; i < MOST_HANDLES; ++i) count += slots[i].thing != NULL;
  pthread_mutex_unlock(&lock);
  return count;
}
