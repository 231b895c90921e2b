/* Arm Mali (Mesa's panvk): job manager GPUs (Bifrost; kernel driver panfrost) and CSF GPUs (Valhall and later;
   panthor). id: product id as the kernel gives it, a: shader cores, b: core features' variant. */
#define _GNU_SOURCE
#include <drm/panfrost_drm.h>
#include <drm/panthor_drm.h>
#include <sys/mman.h>

#include "nullgpu.h"

static uint64_t cores(const struct gpu *g) { return (1ull << g->a) - 1; }

static int panfrost(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_PANFROST_GET_PARAM: {
      struct drm_panfrost_get_param *p = arg;
      switch (p->param) {
        case DRM_PANFROST_PARAM_GPU_PROD_ID: p->value = g->id; return 0;
        case DRM_PANFROST_PARAM_SHADER_PRESENT: p->value = cores(g); return 0;
        case DRM_PANFROST_PARAM_TILER_FEATURES: p->value = 0x809; return 0;
        case DRM_PANFROST_PARAM_MMU_FEATURES: p->value = 0x2830; return 0;
        case DRM_PANFROST_PARAM_L2_FEATURES: p->value = 0x07110206; return 0;
        case DRM_PANFROST_PARAM_L2_PRESENT:
        case DRM_PANFROST_PARAM_TILER_PRESENT:
        case DRM_PANFROST_PARAM_NR_CORE_GROUPS: p->value = 1; return 0;
        case DRM_PANFROST_PARAM_MEM_FEATURES: p->value = 1; return 0;
        case DRM_PANFROST_PARAM_AS_PRESENT: p->value = 0xff; return 0;
        case DRM_PANFROST_PARAM_JS_PRESENT: p->value = 7; return 0;
        case DRM_PANFROST_PARAM_THREAD_FEATURES: p->value = g->c; return 0;
        case DRM_PANFROST_PARAM_MAX_THREADS: p->value = g->d; return 0;
        case DRM_PANFROST_PARAM_THREAD_MAX_WORKGROUP_SZ:
        case DRM_PANFROST_PARAM_THREAD_MAX_BARRIER_SZ: p->value = g->d < 1024 ? g->d : 1024; return 0;
        case DRM_PANFROST_PARAM_TEXTURE_FEATURES0 ... DRM_PANFROST_PARAM_TEXTURE_FEATURES3:
          p->value = 0xffffffff;
          return 0;
        case DRM_PANFROST_PARAM_SYSTEM_TIMESTAMP: p->value = 0; return 0;
        case DRM_PANFROST_PARAM_SYSTEM_TIMESTAMP_FREQUENCY: p->value = 24000000; return 0;
        case DRM_PANFROST_PARAM_ALLOWED_JM_CTX_PRIORITIES: p->value = 3; return 0;
        case DRM_PANFROST_PARAM_GPU_REVISION:
        case DRM_PANFROST_PARAM_THREAD_TLS_ALLOC:
        case DRM_PANFROST_PARAM_AFBC_FEATURES:
        case DRM_PANFROST_PARAM_CORE_FEATURES:
        case DRM_PANFROST_PARAM_COHERENCY_FEATURES:
        case DRM_PANFROST_PARAM_STACK_PRESENT:
        case DRM_PANFROST_PARAM_SELECTED_COHERENCY: p->value = 0; return 0;
        default:
          return p->param >= DRM_PANFROST_PARAM_JS_FEATURES0 && p->param <= DRM_PANFROST_PARAM_JS_FEATURES15
                     ? (p->value = 0x20e, 0)
                     : NOT_KNOWN;
      }
    }
    case DRM_PANFROST_CREATE_BO: {
      struct drm_panfrost_create_bo *c = arg;
      if (!(c->handle = bo_new(c->size))) return ENOMEM;
      c->offset = bo_address(c->handle) - 0x100000000ull + 0x2000000;
      return 0;
    }
    case DRM_PANFROST_MMAP_BO: {
      struct drm_panfrost_mmap_bo *m = arg;
      m->offset = bo_offset(m->handle);
      return 0;
    }
    case DRM_PANFROST_GET_BO_OFFSET: {
      struct drm_panfrost_get_bo_offset *o = arg;
      o->offset = bo_offset(o->handle) + 0x2000000;
      return 0;
    }
    case DRM_PANFROST_MADVISE: ((struct drm_panfrost_madvise *)arg)->retained = 1; return 0;
    default: return nr <= 0x10 ? 0 : NOT_KNOWN;
  }
}

static int query(const struct gpu *g, struct drm_panthor_dev_query *q) {
  union {
    struct drm_panthor_gpu_info gpu;
    struct drm_panthor_csif_info csif;
    struct drm_panthor_timestamp_info time;
    struct drm_panthor_group_priorities_info priorities;
  } u;
  memset(&u, 0, sizeof u);
  unsigned size;
  switch (q->type) {
    case DRM_PANTHOR_DEV_QUERY_GPU_INFO:
      size = sizeof u.gpu;
      u.gpu.gpu_id = (uint32_t)g->id << 16;
      u.gpu.csf_id = 0x040a0412;
      u.gpu.l2_features = 0x07120306;
      u.gpu.tiler_features = 0x809;
      u.gpu.mem_features = 0x301;
      u.gpu.mmu_features = 0x2830;
      u.gpu.thread_features = (uint32_t)g->c;
      u.gpu.max_threads = (uint32_t)g->d;
      u.gpu.thread_max_workgroup_size = u.gpu.thread_max_barrier_size = 1024;
      memset(u.gpu.texture_features, 0xff, sizeof u.gpu.texture_features);
      u.gpu.as_present = 0xff;
      u.gpu.selected_coherency = DRM_PANTHOR_GPU_COHERENCY_NONE;
      u.gpu.shader_present = cores(g);
      u.gpu.l2_present = u.gpu.tiler_present = 1;
      u.gpu.core_features = (uint32_t)g->b;
      break;
    case DRM_PANTHOR_DEV_QUERY_CSIF_INFO:
      size = sizeof u.csif;
      u.csif.csg_slot_count = u.csif.cs_slot_count = u.csif.scoreboard_slot_count = 8;
      u.csif.cs_reg_count = g->id >> 12 >= 0xc ? 128 : 96;
      u.csif.unpreserved_cs_reg_count = 4;
      break;
    case DRM_PANTHOR_DEV_QUERY_TIMESTAMP_INFO:
      size = sizeof u.time;
      u.time.timestamp_frequency = 24000000;
      break;
    case DRM_PANTHOR_DEV_QUERY_GROUP_PRIORITIES_INFO:
      size = sizeof u.priorities;
      u.priorities.allowed_mask = 3;
      break;
    default: return NOT_KNOWN;
  }
  if (q->pointer) min_copy((void *)(uintptr_t)q->pointer, q->size, &u, size);
  q->size = size;
  return 0;
}

static int panthor(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_PANTHOR_DEV_QUERY: return query(g, arg);
    case DRM_PANTHOR_VM_CREATE: ((struct drm_panthor_vm_create *)arg)->id = next_id(); return 0;
    case DRM_PANTHOR_BO_CREATE: {
      struct drm_panthor_bo_create *c = arg;
      return (c->handle = bo_new(c->size)) ? 0 : ENOMEM;
    }
    case DRM_PANTHOR_BO_MMAP_OFFSET: {
      struct drm_panthor_bo_mmap_offset *m = arg;
      m->offset = bo_offset(m->handle);
      return 0;
    }
    case DRM_PANTHOR_GROUP_CREATE: ((struct drm_panthor_group_create *)arg)->group_handle = next_id(); return 0;
    case DRM_PANTHOR_TILER_HEAP_CREATE: {
      struct drm_panthor_tiler_heap_create *h = arg;
      h->handle = next_id();
      h->tiler_heap_ctx_gpu_va = 1ull << 40;
      h->first_heap_chunk_gpu_va = (1ull << 40) + 0x10000;
      return 0;
    }
    default: return nr <= DRM_PANTHOR_BO_QUERY_INFO ? 0 : NOT_KNOWN;
  }
}

/* The page with the flush id is at an offset far beyond any buffer. */
static void *page(const struct gpu *g, uint64_t offset, size_t size) {
  (void)g;
  if (offset < DRM_PANTHOR_USER_MMIO_OFFSET_32BIT) return NULL;
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

#define JM(name, product, n, threads) \
  { name, "panfrost", 1, 4, 0, 0, "arm,mali-bifrost", panfrost, .id = product, .a = n, .c = 0x04010000, .d = threads }
#define CSF(name, product, n, variant)                                                                    \
  {                                                                                                       \
    name, "panthor", 1, 6, 0, 0, "arm,mali-valhall-csf", panthor, .id = product, .a = n, .b = variant,    \
                                                                  .c = 0x04010000, .d = 2048, .map = page \
  }
const struct gpu mali[] = {JM("mali-g71", 0x6000, 8, 384),  JM("mali-g72", 0x6221, 12, 384),
                           JM("mali-g31", 0x7093, 2, 512),  JM("mali-g52", 0x7212, 2, 768),
                           JM("mali-g76", 0x7211, 12, 768), CSF("mali-g610", 0xa867, 4, 0),
                           CSF("mali-g310", 0xac04, 1, 0),  CSF("mali-g720", 0xc870, 7, 4),
                           CSF("mali-g725", 0xd800, 7, 4),  {0}};
