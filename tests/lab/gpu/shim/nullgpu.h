/* nullgpu - a GPU that is not there: what the vendor files tell the core (see core.c). */
#pragma once
#include <drm/drm.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpu {
  const char *name;   /* of $NULLGPU, such as adreno740 */
  const char *driver; /* the kernel driver's name */
  int major, minor;   /* and version, from which user space concludes features */
  /* PCI ids (vendor 0: a platform device, with this compatible string) */
  uint16_t vendor, device;
  const char *compatible;
  /* A driver ioctl: number from DRM_COMMAND_BASE, argument and its size. 0 or an errno value; NOT_KNOWN for
     what it has no answer to: that is reported with $NULLGPU_TRACE and refused. */
  int (*ioctl)(const struct gpu *, unsigned nr, void *arg, unsigned size);
  uint64_t id, a, b, c, d;                                        /* the vendor file's own */
  void *(*map)(const struct gpu *, uint64_t offset, size_t size); /* for magic mmap offsets; NULL: none */
  uint8_t revision;                                               /* of PCI */
  uint8_t primary;                                                /* 1: with a node for a display beside its own */
};
#define NOT_KNOWN (-1)

extern const struct gpu adreno[], mali[], intel[], nvidia[], amd[], apple[], broadcom[], powervr[]; /* end: name NULL */

/* Buffers: pieces of one sparse file, which is what the faked node's descriptor really is, so that a driver's mmap of
   (descriptor, offset) is an ordinary one. */
uint32_t bo_new(uint64_t size);      /* a handle; 0: no room */
uint64_t bo_offset(uint32_t handle); /* in the file: what mmap wants */
uint64_t bo_size(uint32_t handle);
static inline uint64_t bo_address(uint32_t handle) { return 0x100000000ull + bo_offset(handle); }

extern int trace; /* $NULLGPU_TRACE: 1 what is not known, 2 everything */
uint32_t next_id(void);

static inline int min_copy(void *to, unsigned room, const void *from, unsigned size) {
  memcpy(to, from, room < size ? room : size);
  return 0;
}
