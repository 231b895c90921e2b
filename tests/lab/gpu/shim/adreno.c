/* Qualcomm Adreno (Mesa's turnip, compiler ir3; kernel driver msm). id: chip id, a: kilobytes of GMEM. */
#include <drm/msm_drm.h>

#include "nullgpu.h"

static int param(const struct gpu *g, struct drm_msm_param *p) {
  switch (p->param) {
    case MSM_PARAM_GPU_ID: p->value = g->b; return 0;
    case MSM_PARAM_CHIP_ID: p->value = g->id; return 0;
    case MSM_PARAM_GMEM_SIZE: p->value = g->a << 10; return 0;
    case MSM_PARAM_GMEM_BASE: p->value = 0x100000; return 0;
    case MSM_PARAM_MAX_FREQ: p->value = 700000000; return 0;
    case MSM_PARAM_TIMESTAMP:
    case MSM_PARAM_FAULTS:
    case MSM_PARAM_SUSPENDS: p->value = 0; return 0;
    case MSM_PARAM_PRIORITIES: p->value = 3; return 0;
    case MSM_PARAM_PP_PGTABLE: p->value = 1; return 0;
    case MSM_PARAM_VA_START: p->value = 1ull << 32; return 0;
    case MSM_PARAM_VA_SIZE: p->value = (1ull << 47) - (1ull << 32); return 0;
    case MSM_PARAM_RAYTRACING: p->value = g->c; return 0;
    case MSM_PARAM_UBWC_SWIZZLE: p->value = 6; return 0;
    case MSM_PARAM_HIGHEST_BANK_BIT: p->value = 15; return 0;
    case MSM_PARAM_MACROTILE_MODE: p->value = 1; return 0;
    case MSM_PARAM_UCHE_TRAP_BASE: p->value = 0x1fffffffff000ull; return 0;
    default: return NOT_KNOWN;
  }
}

static int msm(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_MSM_GET_PARAM: return param(g, arg);
    case DRM_MSM_SET_PARAM: return ((struct drm_msm_param *)arg)->param == MSM_PARAM_EN_VM_BIND ? EINVAL : 0;
    case DRM_MSM_GEM_NEW: {
      struct drm_msm_gem_new *n = arg;
      return (n->handle = bo_new(n->size)) ? 0 : ENOMEM;
    }
    case DRM_MSM_GEM_INFO: {
      struct drm_msm_gem_info *i = arg;
      if (i->info == MSM_INFO_GET_OFFSET) i->value = bo_offset(i->handle);
      if (i->info == MSM_INFO_GET_IOVA) i->value = bo_address(i->handle);
      return 0;
    }
    case DRM_MSM_GEM_MADVISE: ((struct drm_msm_gem_madvise *)arg)->retained = 1; return 0;
    case DRM_MSM_SUBMITQUEUE_NEW: ((struct drm_msm_submitqueue *)arg)->id = next_id(); return 0;
    case DRM_MSM_GEM_SUBMIT: ((struct drm_msm_gem_submit *)arg)->fence = next_id(); return 0;
    case DRM_MSM_GEM_CPU_PREP:
    case DRM_MSM_GEM_CPU_FINI:
    case DRM_MSM_WAIT_FENCE:
    case DRM_MSM_SUBMITQUEUE_CLOSE:
    case DRM_MSM_SUBMITQUEUE_QUERY: return 0;
    default: return NOT_KNOWN;
  }
}

#define CHIP(name, generation, chip, gmem, rt) \
  { name, "msm", 1, 12, 0, 0, "qcom,adreno", msm, .id = chip, .a = gmem, .b = generation, .c = rt }
const struct gpu adreno[] = {CHIP("adreno618", 618, 0x060108ff, 512, 0),
                             CHIP("adreno630", 630, 0x060300ff, 1024, 0),
                             CHIP("adreno650", 650, 0x060500ff, 1152, 0),
                             CHIP("adreno660", 660, 0x060600ff, 1536, 0),
                             CHIP("adreno730", 730, 0x07030001, 2048, 0),
                             CHIP("adreno740", 740, 0x43050a01, 3072, 1),
                             CHIP("adreno750", 750, 0x43051401, 3072, 1),
                             CHIP("adreno830", 830, 0x44050000, 12288, 1),
                             {0}};
