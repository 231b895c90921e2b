/* Apple AGX (Mesa's honeykrisp; kernel driver asahi). id: generation, a: variant letter, b: clusters, d: cores each. */
#include <drm/asahi_drm.h>
#include <time.h>

#include "nullgpu.h"

static int asahi(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_ASAHI_GET_PARAMS: {
      struct drm_asahi_get_params *p = arg;
      struct drm_asahi_params_global o = {.gpu_generation = (uint32_t)g->id,
                                          .gpu_variant = (uint32_t)g->a,
                                          .num_dies = 1,
                                          .chip_id = 0x8103,
                                          .num_clusters_total = (uint32_t)g->b,
                                          .num_cores_per_cluster = (uint32_t)g->d,
                                          .max_frequency_khz = 1278000,
                                          .vm_start = 0x4000,
                                          .vm_end = 0x7fffff8000ull,
                                          .vm_kernel_min_size = 1ull << 32,
                                          .max_commands_per_submission = 64,
                                          .max_attachments = 16,
                                          .command_timestamp_frequency_hz = 1000000000};
      for (uint32_t i = 0; i < g->b; ++i) o.core_masks[i] = (1ull << g->d) - 1;
      if (p->param_group) return NOT_KNOWN;
      return min_copy((void *)(uintptr_t)p->pointer, (unsigned)p->size, &o, sizeof o);
    }
    case DRM_ASAHI_GET_TIME: ((struct drm_asahi_get_time *)arg)->gpu_timestamp = (uint64_t)time(NULL); return 0;
    case DRM_ASAHI_VM_CREATE: ((struct drm_asahi_vm_create *)arg)->vm_id = next_id(); return 0;
    case DRM_ASAHI_GEM_CREATE: {
      struct drm_asahi_gem_create *c = arg;
      return (c->handle = bo_new(c->size)) ? 0 : ENOMEM;
    }
    case DRM_ASAHI_GEM_MMAP_OFFSET: {
      struct drm_asahi_gem_mmap_offset *m = arg;
      m->offset = bo_offset(m->handle);
      return 0;
    }
    case DRM_ASAHI_GEM_BIND_OBJECT: ((struct drm_asahi_gem_bind_object *)arg)->object_handle = next_id(); return 0;
    case DRM_ASAHI_QUEUE_CREATE: ((struct drm_asahi_queue_create *)arg)->queue_id = next_id(); return 0;
    case DRM_ASAHI_VM_DESTROY:
    case DRM_ASAHI_VM_BIND:
    case DRM_ASAHI_QUEUE_DESTROY:
    case DRM_ASAHI_SUBMIT: return 0;
    default: return NOT_KNOWN;
  }
}

const struct gpu apple[] = {
    {"apple-m1", "asahi", 1, 0, 0, 0, "apple,agx-g13g", asahi, .id = 13, .a = 'G', .b = 1, .d = 8},
    {"apple-m2", "asahi", 1, 0, 0, 0, "apple,agx-g14g", asahi, .id = 14, .a = 'G', .b = 1, .d = 10},
    {0}};
