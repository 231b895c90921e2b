/* nullgpu - preloaded into a process, makes Mesa's Vulkan drivers find the GPU that $NULLGPU names, with enough of a
   kernel driver behind it to enumerate the device, create it, allocate memory and compile pipelines. Nothing that is
   submitted runs; waits end at once.

   How: the functions with which drivers look for devices (libdrm's drmGetDevices2 and the like) and open, stat and
   ioctl for the one device node are replaced here. The node's descriptor is a sparse memory file, buffers are ranges of
   it. Everything that goes through libdrm in between ends in ioctl. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xf86drm.h>

#include "nullgpu.h"

static const char kNode[] = "/dev/dri/renderD128", kPrimary[] = "/dev/dri/card0";
static const uint64_t kFile = 1ull << 42;

int trace;
static const struct gpu *gpu;
static int file = -1;
static struct {
  dev_t dev;
  ino_t ino;
} file_id;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct bo { uint64_t offset, size; } * bos;
static uint32_t bo_count, ids;
static uint64_t used = 1 << 20;

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
  void *p = dlsym(RTLD_NEXT, name);
  if (!p) fprintf(stderr, "nullgpu: no %s\n", name), abort();
  return p;
}

static const struct gpu *const kVendors[] = {adreno, mali, intel, nvidia, amd, apple, broadcom, powervr};

static const struct gpu *chosen(void) {
  static bool done;
  if (done) return gpu;
  done = true;
  const char *t = getenv("NULLGPU_TRACE"), *name = getenv("NULLGPU");
  trace = t ? atoi(t) : 0;
  if (!name) return NULL;
  for (size_t v = 0; v < sizeof kVendors / sizeof *kVendors; ++v)
    for (const struct gpu *g = kVendors[v]; g->name; ++g)
      if (!strcmp(g->name, name)) return gpu = g;
  fprintf(stderr, "nullgpu: NULLGPU=%s is not one of:", name);
  for (size_t v = 0; v < sizeof kVendors / sizeof *kVendors; ++v)
    for (const struct gpu *g = kVendors[v]; g->name; ++g) fprintf(stderr, " %s", g->name);
  fputc('\n', stderr);
  return NULL;
}

/* Only a driver that wants a display's node beside its own (Broadcom's) sees a primary one. */
static bool has_primary(void) { return chosen() && gpu->primary; }
static bool is_node(const char *path) {
  return path && ((!strcmp(path, kNode) && chosen()) || (!strcmp(path, kPrimary) && has_primary()));
}

static int node_fd(void) {
  pthread_mutex_lock(&mutex);
  if (file < 0) {
    file = memfd_create("nullgpu", MFD_CLOEXEC);
    struct stat s;
    if (file >= 0 && (ftruncate(file, (off_t)kFile) || REAL(fstat)(file, &s))) close(file), file = -1;
    if (file >= 0) file_id.dev = s.st_dev, file_id.ino = s.st_ino;
  }
  pthread_mutex_unlock(&mutex);
  return file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 3);
}

static bool is_ours(int fd) {
  struct stat s;
  return file >= 0 && !REAL(fstat)(fd, &s) && s.st_dev == file_id.dev && s.st_ino == file_id.ino;
}

uint32_t next_id(void) { return __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED); }

uint32_t bo_new(uint64_t size) {
  size = (size + 0xffff) & ~0xffffull;
  uint32_t handle = 0;
  pthread_mutex_lock(&mutex);
  if (size && used + size <= kFile) {
    if (bo_count % 1024 == 0) bos = realloc(bos, (bo_count + 1024) * sizeof *bos);
    bos[bo_count] = (struct bo){used, size};
    used += size;
    handle = ++bo_count;
  }
  pthread_mutex_unlock(&mutex);
  return handle;
}
uint64_t bo_offset(uint32_t handle) { return handle && handle <= bo_count ? bos[handle - 1].offset : 0; }
uint64_t bo_size(uint32_t handle) { return handle && handle <= bo_count ? bos[handle - 1].size : 0; }

/* The point that a timeline has reached. Nothing runs, so work counts as done when it is waited for (or when the host
   signals it): a counter that had run ahead of what was submitted would look like a lost device. */
static uint64_t *points;
static uint32_t point_count;
static uint64_t reach(uint32_t handle, uint64_t point) {
  pthread_mutex_lock(&mutex);
  if (handle >= point_count) {
    const uint32_t n = (handle | 1023) + 1;
    uint64_t *more = realloc(points, n * sizeof *points);
    if (more) memset(more + point_count, 0, (n - point_count) * sizeof *points), points = more, point_count = n;
  }
  uint64_t at = 0;
  if (handle < point_count) at = points[handle] = point > points[handle] ? point : points[handle];
  pthread_mutex_unlock(&mutex);
  return at;
}
static int reach_all(uint64_t handles, uint64_t values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) reach(((uint32_t *)(uintptr_t)handles)[i], ((uint64_t *)(uintptr_t)values)[i]);
  return 0;
}

static int sync_ioctl(unsigned nr, void *arg) {
  switch (nr) {
    case 0xbf: ((struct drm_syncobj_create *)arg)->handle = next_id(); return 0;
    case 0xc1: { /* SYNCOBJ_HANDLE_TO_FD */
      struct drm_syncobj_handle *h = arg;
      h->fd = memfd_create("nullgpu-sync", MFD_CLOEXEC);
      return h->fd < 0 ? EMFILE : 0;
    }
    case 0xc2: ((struct drm_syncobj_handle *)arg)->handle = next_id(); return 0;
    case 0xc3: ((struct drm_syncobj_wait *)arg)->first_signaled = 0; return 0;
    case 0xca: { /* SYNCOBJ_TIMELINE_WAIT */
      struct drm_syncobj_timeline_wait *w = arg;
      w->first_signaled = 0;
      return reach_all(w->handles, w->points, w->count_handles);
    }
    case 0xcb: { /* SYNCOBJ_QUERY */
      struct drm_syncobj_timeline_array *q = arg;
      for (uint32_t i = 0; i < q->count_handles; ++i)
        ((uint64_t *)(uintptr_t)q->points)[i] = reach(((uint32_t *)(uintptr_t)q->handles)[i], 0);
      return 0;
    }
    case 0xcd: { /* SYNCOBJ_TIMELINE_SIGNAL */
      struct drm_syncobj_timeline_array *t = arg;
      return reach_all(t->handles, t->points, t->count_handles);
    }
    case 0xcc: { /* SYNCOBJ_TRANSFER */
      struct drm_syncobj_transfer *t = arg;
      return reach(t->dst_handle, t->dst_point), 0;
    }
    case 0xc0:
    case 0xc4:
    case 0xc5:
    case 0xcf: return 0; /* destroy, reset, signal, eventfd */
    default: return NOT_KNOWN;
  }
}

/* The answers that every driver of the kernel gives. */
static int core_ioctl(unsigned nr, void *arg) {
  switch (nr) {
    case 0x00: { /* VERSION */
      struct drm_version *v = arg;
      const char *texts[3] = {gpu->driver, "20260101", "nullgpu"};
      char *to[3] = {v->name, v->date, v->desc};
      __kernel_size_t *room[3] = {&v->name_len, &v->date_len, &v->desc_len};
      for (int i = 0; i < 3; ++i) {
        const size_t n = strlen(texts[i]);
        if (to[i]) memcpy(to[i], texts[i], *room[i] < n ? *room[i] : n);
        *room[i] = n;
      }
      v->version_major = gpu->major, v->version_minor = gpu->minor, v->version_patchlevel = 1;
      return 0;
    }
    case 0x01: { /* GET_UNIQUE */
      struct drm_unique *u = arg;
      u->unique_len = 0;
      return 0;
    }
    case 0x09: return 0; /* GEM_CLOSE: ranges are not used again */
    case 0x0c: {         /* GET_CAP */
      struct drm_get_cap *c = arg;
      switch (c->capability) {
        case DRM_CAP_PRIME: c->value = 3; return 0;
        case DRM_CAP_TIMESTAMP_MONOTONIC:
        case DRM_CAP_SYNCOBJ:
        case DRM_CAP_SYNCOBJ_TIMELINE: c->value = 1; return 0;
        default: c->value = 0; return 0;
      }
    }
    case 0x0d: return 0; /* SET_CLIENT_CAP */
    case 0x2d: {         /* PRIME_HANDLE_TO_FD */
      struct drm_prime_handle *p = arg;
      p->fd = memfd_create("nullgpu-prime", MFD_CLOEXEC);
      return p->fd < 0 || ftruncate(p->fd, (off_t)bo_size(p->handle)) ? ENOMEM : 0;
    }
    case 0x2e: { /* PRIME_FD_TO_HANDLE */
      struct drm_prime_handle *p = arg;
      struct stat s;
      if (REAL(fstat)(p->fd, &s)) return EBADF;
      p->handle = bo_new((uint64_t)s.st_size);
      return p->handle ? 0 : ENOMEM;
    }
    case 0xd1: return 0; /* SET_CLIENT_NAME */
    default: return sync_ioctl(nr, arg);
  }
}

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *arg = va_arg(list, void *);
  va_end(list);
  static int (*next)(int, unsigned long, ...);
  if (!next) next = REAL(ioctl);
  if (_IOC_TYPE(request) != DRM_IOCTL_BASE || !chosen() || !is_ours(fd)) return next(fd, request, arg);
  const unsigned nr = _IOC_NR(request), size = _IOC_SIZE(request);
  const bool own = nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END;
  const int r = own ? gpu->ioctl(gpu, nr - DRM_COMMAND_BASE, arg, size) : core_ioctl(nr, arg);
  if (trace > 1 || (trace && r == NOT_KNOWN))
    fprintf(stderr, "nullgpu: ioctl %s0x%02x size %u: %s\n", own ? "driver " : "", own ? nr - DRM_COMMAND_BASE : nr,
            size,
            r == NOT_KNOWN ? "not known"
            : r            ? strerror(r)
                           : "fine");
  if (!r) return 0;
  errno = r == NOT_KNOWN ? EINVAL : r;
  return -1;
}

void *mmap64(void *at, size_t size, int prot, int flags, int fd, off64_t offset) {
  static void *(*next)(void *, size_t, int, int, int, off64_t);
  if (!next) next = real("mmap64");
  if (fd >= 0 && chosen() && gpu->map && is_ours(fd)) {
    void *p = gpu->map(gpu, (uint64_t)offset, size);
    if (p) return p;
  }
  return next(at, size, prot, flags, fd, offset);
}

#define OPEN(name, head, pass)             \
  int name head {                          \
    if (is_node(path)) return node_fd();   \
    int mode = 0;                          \
    if (flags & (O_CREAT | O_TMPFILE)) {   \
      va_list list;                        \
      va_start(list, flags);               \
      mode = va_arg(list, int);            \
      va_end(list);                        \
    }                                      \
    return ((int(*) head)real(#name))pass; \
  }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode))

static void node_stat(const char *path, struct stat *s) {
  memset(s, 0, sizeof *s);
  s->st_mode = S_IFCHR | 0666;
  s->st_nlink = 1;
  s->st_rdev = makedev(226, strcmp(path, kPrimary) ? 128 : 0);
}
#define STAT(name, type)                                                 \
  int name(const char *path, struct type *s) {                           \
    if (is_node(path)) return node_stat(path, (struct stat *)s), 0;      \
    return ((int (*)(const char *, struct type *))real(#name))(path, s); \
  }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
#define FSTAT(name, type)                                                                                            \
  int name(int fd, struct type *s) {                                                                                 \
    const int r = ((int (*)(int, struct type *))real(#name))(fd, s);                                                 \
    if (!r && file >= 0 && s->st_dev == file_id.dev && s->st_ino == file_id.ino) node_stat(kNode, (struct stat *)s); \
    return r;                                                                                                        \
  }
FSTAT(fstat64, stat64)

int access(const char *path, int how) {
  return is_node(path) ? 0 : ((int (*)(const char *, int))real("access"))(path, how);
}

/* libdrm's enumeration */
struct device {
  drmDevice d;
  char *nodes[DRM_NODE_MAX], paths[DRM_NODE_MAX][32];
  drmPciBusInfo pci_bus;
  drmPciDeviceInfo pci;
  drmPlatformBusInfo platform_bus;
  drmPlatformDeviceInfo platform;
  char *compatible[2];
};

static drmDevicePtr device(void) {
  struct device *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  strcpy(e->paths[DRM_NODE_PRIMARY], kPrimary);
  strcpy(e->paths[DRM_NODE_RENDER], kNode);
  for (int i = 0; i < DRM_NODE_MAX; ++i) e->nodes[i] = e->paths[i];
  e->d.nodes = e->nodes;
  e->d.available_nodes = 1 << DRM_NODE_RENDER | (has_primary() ? 1 << DRM_NODE_PRIMARY : 0);
  if (gpu->vendor) {
    e->d.bustype = DRM_BUS_PCI;
    e->pci_bus = (drmPciBusInfo){.domain = 0, .bus = 3, .dev = 0, .func = 0};
    e->pci = (drmPciDeviceInfo){.vendor_id = gpu->vendor, .device_id = gpu->device, .revision_id = gpu->revision};
    e->d.businfo.pci = &e->pci_bus;
    e->d.deviceinfo.pci = &e->pci;
  } else {
    e->d.bustype = DRM_BUS_PLATFORM;
    snprintf(e->platform_bus.fullname, sizeof e->platform_bus.fullname, "/soc/gpu");
    e->compatible[0] = strdup(gpu->compatible);
    e->platform.compatible = e->compatible;
    e->d.businfo.platform = &e->platform_bus;
    e->d.deviceinfo.platform = &e->platform;
  }
  return &e->d;
}

int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int room) {
  (void)flags;
  if (!chosen()) return 0;
  if (devices && room > 0 && !(devices[0] = device())) return -ENOMEM;
  return 1;
}
int drmGetDevices(drmDevicePtr devices[], int room) { return drmGetDevices2(0, devices, room); }
int drmGetDevice2(int fd, uint32_t flags, drmDevicePtr *out) {
  (void)flags;
  if (!chosen() || !is_ours(fd)) return -ENODEV;
  return (*out = device()) ? 0 : -ENOMEM;
}
int drmGetDevice(int fd, drmDevicePtr *out) { return drmGetDevice2(fd, 0, out); }
int drmGetDeviceFromDevId(dev_t id, uint32_t flags, drmDevicePtr *out) {
  (void)id, (void)flags;
  return !chosen() ? -ENODEV : (*out = device()) ? 0 : -ENOMEM;
}
void drmFreeDevice(drmDevicePtr *d) {
  if (!d || !*d) return;
  free(((struct device *)*d)->compatible[0]);
  free(*d);
  *d = NULL;
}
void drmFreeDevices(drmDevicePtr devices[], int count) {
  for (int i = 0; devices && i < count; ++i) drmFreeDevice(&devices[i]);
}
int drmDevicesEqual(drmDevicePtr a, drmDevicePtr b) { return a && b; }
int drmGetNodeTypeFromFd(int fd) { return is_ours(fd) ? DRM_NODE_RENDER : -1; }
char *drmGetRenderDeviceNameFromFd(int fd) { return is_ours(fd) ? strdup(kNode) : NULL; }
char *drmGetDeviceNameFromFd2(int fd) { return is_ours(fd) ? strdup(kNode) : NULL; }
int drmIsKMS(int fd) {
  (void)fd;
  return has_primary();
}
