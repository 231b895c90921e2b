/* Imagination PowerVR (Mesa's pvr, compiler pco; kernel driver powervr). id: branch, version, number of cores and
   configuration, 16 bits each. */
#include <drm/pvr_drm.h>

#include "nullgpu.h"

static int query(const struct gpu *g, struct drm_pvr_ioctl_dev_query_args *q) {
  static const struct drm_pvr_heap heaps[DRM_PVR_HEAP_COUNT] = {
      [DRM_PVR_HEAP_GENERAL] = {0x8000000000, 0x1000000000, 0, 12},
      [DRM_PVR_HEAP_PDS_CODE_DATA] = {0xda00000000, 0x100000000, 0, 12},
      [DRM_PVR_HEAP_USC_CODE] = {0xe000000000, 0x100000000, 0, 12},
      [DRM_PVR_HEAP_RGNHDR] = {0xbbf0000000, 0x10000000, 0, 12},
      [DRM_PVR_HEAP_VIS_TEST] = {0xd800000000, 0x1000000, 0, 12},
      [DRM_PVR_HEAP_TRANSFER_FRAG] = {0xe800000000, 0x80000000, 0, 12}};
  static const struct drm_pvr_static_data_area areas[] = {
      {DRM_PVR_STATIC_DATA_AREA_EOT, DRM_PVR_HEAP_PDS_CODE_DATA, 128, 0},
      {DRM_PVR_STATIC_DATA_AREA_FENCE, DRM_PVR_HEAP_GENERAL, 1024, 0},
      {DRM_PVR_STATIC_DATA_AREA_VDM_SYNC, DRM_PVR_HEAP_PDS_CODE_DATA, 128, 128},
      {DRM_PVR_STATIC_DATA_AREA_YUV_CSC, DRM_PVR_HEAP_GENERAL, 1024, 1024},
      {DRM_PVR_STATIC_DATA_AREA_VDM_SYNC, DRM_PVR_HEAP_USC_CODE, 128, 128},
      {DRM_PVR_STATIC_DATA_AREA_EOT, DRM_PVR_HEAP_USC_CODE, 128, 0}};
  void *out = (void *)(uintptr_t)q->pointer;
  switch (q->type) {
    case DRM_PVR_DEV_QUERY_GPU_INFO_GET: {
      const struct drm_pvr_dev_query_gpu_info i = {.gpu_id = g->id, .num_phantoms = 1};
      if (out) min_copy(out, q->size, &i, sizeof i);
      q->size = sizeof i;
      return 0;
    }
    case DRM_PVR_DEV_QUERY_RUNTIME_INFO_GET: {
      const struct drm_pvr_dev_query_runtime_info i = {.free_list_min_pages = 50,
                                                       .free_list_max_pages = 1 << 20,
                                                       .common_store_alloc_region_size = 1280,
                                                       .common_store_partition_space_size = 1280,
                                                       .max_coeffs = 1024,
                                                       .cdm_max_local_mem_size_regs = 1024};
      if (out) min_copy(out, q->size, &i, sizeof i);
      q->size = sizeof i;
      return 0;
    }
    case DRM_PVR_DEV_QUERY_QUIRKS_GET:
    case DRM_PVR_DEV_QUERY_ENHANCEMENTS_GET: {
      struct drm_pvr_dev_query_quirks *i = out; /* of one form */
      if (i) i->count = 0;
      if (i && q->type == DRM_PVR_DEV_QUERY_QUIRKS_GET) i->musthave_count = 0;
      q->size = sizeof *i;
      return 0;
    }
    case DRM_PVR_DEV_QUERY_HEAP_INFO_GET: {
      struct drm_pvr_dev_query_heap_info *i = out;
      if (i && i->heaps.array) memcpy((void *)(uintptr_t)i->heaps.array, heaps, sizeof heaps);
      if (i) i->heaps.count = DRM_PVR_HEAP_COUNT, i->heaps.stride = sizeof *heaps;
      q->size = sizeof *i;
      return 0;
    }
    case DRM_PVR_DEV_QUERY_STATIC_DATA_AREAS_GET: {
      struct drm_pvr_dev_query_static_data_areas *i = out;
      if (i && i->static_data_areas.array) memcpy((void *)(uintptr_t)i->static_data_areas.array, areas, sizeof areas);
      if (i) i->static_data_areas.count = sizeof areas / sizeof *areas, i->static_data_areas.stride = sizeof *areas;
      q->size = sizeof *i;
      return 0;
    }
    default: return NOT_KNOWN;
  }
}

static int pvr(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case 0x00: return query(g, arg);
    case 0x01: {
      struct drm_pvr_ioctl_create_bo_args *c = arg;
      return (c->handle = bo_new(c->size)) ? 0 : ENOMEM;
    }
    case 0x02: {
      struct drm_pvr_ioctl_get_bo_mmap_offset_args *m = arg;
      m->offset = bo_offset(m->handle);
      return 0;
    }
    case 0x03: ((struct drm_pvr_ioctl_create_vm_context_args *)arg)->handle = next_id(); return 0;
    case 0x07: ((struct drm_pvr_ioctl_create_context_args *)arg)->handle = next_id(); return 0;
    case 0x09: ((struct drm_pvr_ioctl_create_free_list_args *)arg)->handle = next_id(); return 0;
    case 0x0b: ((struct drm_pvr_ioctl_create_hwrt_dataset_args *)arg)->handle = next_id(); return 0;
    case 0x04:
    case 0x05:
    case 0x06:
    case 0x08:
    case 0x0a:
    case 0x0c:
    case 0x0d: return 0;
    default: return NOT_KNOWN;
  }
}

#define CHIP(name, b, v, n, c)                                            \
  {                                                                       \
    name, "powervr", 1, 0, 0, 0, "img,img-rogue", pvr,                    \
        .id = (uint64_t)(b) << 48 | (uint64_t)(v) << 32 | (n) << 16 | (c) \
  }
const struct gpu powervr[] = {CHIP("powervr-axe", 33, 15, 11, 3),
                              CHIP("powervr-bxs", 36, 53, 104, 796),
                              CHIP("powervr-gx6250", 4, 40, 2, 51),
                              {0}};
