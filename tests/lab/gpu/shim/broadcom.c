/* Broadcom VideoCore (Mesa's v3dv; kernel driver v3d; Raspberry Pi 4: 4.2, Pi 5: 7.1). id: major * 10 + minor. */
#include <drm/v3d_drm.h>

#include "nullgpu.h"

static int v3d(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  const int pi5 = g->id == 71;
  switch (nr) {
    case DRM_V3D_GET_PARAM: {
      struct drm_v3d_get_param *p = arg;
      switch (p->param) {
        case DRM_V3D_PARAM_V3D_UIFCFG: p->value = 0x45; return 0;
        case DRM_V3D_PARAM_V3D_HUB_IDENT1: p->value = pi5 ? 0x00081117 : 0x000e1124; return 0;
        case DRM_V3D_PARAM_V3D_HUB_IDENT2: p->value = pi5 ? 0x1900 : 0x100; return 0;
        case DRM_V3D_PARAM_V3D_HUB_IDENT3: p->value = pi5 ? 0x700 : 0xe00; return 0;
        case DRM_V3D_PARAM_V3D_CORE0_IDENT0: p->value = pi5 ? 0x07443356 : 0x04443356; return 0;
        case DRM_V3D_PARAM_V3D_CORE0_IDENT1: p->value = pi5 ? 0x81001441 : 0x81001422; return 0;
        case DRM_V3D_PARAM_V3D_CORE0_IDENT2: p->value = pi5 ? 0xc0078101 : 0x40078121; return 0;
        case DRM_V3D_PARAM_SUPPORTS_TFU:
        case DRM_V3D_PARAM_SUPPORTS_CSD:
        case DRM_V3D_PARAM_SUPPORTS_CACHE_FLUSH:
        case DRM_V3D_PARAM_SUPPORTS_PERFMON:
        case DRM_V3D_PARAM_SUPPORTS_MULTISYNC_EXT:
        case DRM_V3D_PARAM_SUPPORTS_CPU_QUEUE:
        case DRM_V3D_PARAM_SUPPORTS_SUPER_PAGES: p->value = 1; return 0;
        case DRM_V3D_PARAM_MAX_PERF_COUNTERS:
        case DRM_V3D_PARAM_GLOBAL_RESET_COUNTER:
        case DRM_V3D_PARAM_CONTEXT_RESET_COUNTER: p->value = 0; return 0;
        default: return NOT_KNOWN;
      }
    }
    case DRM_V3D_CREATE_BO: {
      struct drm_v3d_create_bo *c = arg;
      if (!(c->handle = bo_new(c->size))) return ENOMEM;
      c->offset = (uint32_t)bo_offset(c->handle);
      return 0;
    }
    case DRM_V3D_MMAP_BO: {
      struct drm_v3d_mmap_bo *m = arg;
      m->offset = bo_offset(m->handle);
      return 0;
    }
    case DRM_V3D_GET_BO_OFFSET: {
      struct drm_v3d_get_bo_offset *o = arg;
      o->offset = (uint32_t)bo_offset(o->handle);
      return 0;
    }
    default: return nr <= DRM_V3D_PERFMON_SET_GLOBAL ? 0 : NOT_KNOWN;
  }
}

const struct gpu broadcom[] = {{"v3d42", "v3d", 1, 0, 0, 0, "brcm,2711-v3d", v3d, .id = 42, .primary = 1},
                               {"v3d71", "v3d", 1, 0, 0, 0, "brcm,2712-v3d", v3d, .id = 71, .primary = 1},
                               {0}};
