/* Intel (Mesa's anv, hasvk; compilers brw, elk; kernel drivers i915 and xe). a: slices, b: subslices of each (i915
   before 12.5) or in all, c: execution units of each, id: graphics version * 10, d: revision, with kLocal: memory of
   its own. */
#include <drm/i915_drm.h>
#include <drm/xe_drm.h>

#include "nullgpu.h"

enum { kLocal = 0x100 }; /* in d, beside the revision */
static const uint64_t kMemory = 16ull << 30;

static int param(const struct gpu *g, struct drm_i915_getparam *p) {
  int v = 1;
  switch (p->param) {
    case I915_PARAM_CHIPSET_ID: v = g->device; break;
    case I915_PARAM_REVISION: v = (int)(g->d & 0xff); break;
    case I915_PARAM_SUBSLICE_TOTAL: v = (int)(g->a * g->b); break;
    case I915_PARAM_EU_TOTAL: v = (int)(g->a * g->b * g->c); break;
    case I915_PARAM_SLICE_MASK: v = (1 << g->a) - 1; break;
    case I915_PARAM_SUBSLICE_MASK: v = (1 << g->b) - 1; break;
    case I915_PARAM_HAS_ALIASING_PPGTT: v = g->id >= 80 ? 3 : 1; break;
    case I915_PARAM_CS_TIMESTAMP_FREQUENCY:
    case I915_PARAM_OA_TIMESTAMP_FREQUENCY: v = g->id >= 110 ? 19200000 : 12000000; break;
    case I915_PARAM_CMD_PARSER_VERSION: v = 10; break;
    case I915_PARAM_MMAP_VERSION: v = 1; break;
    case I915_PARAM_MMAP_GTT_VERSION: v = 4; break;
    case I915_PARAM_NUM_FENCES_AVAIL: v = 32; break;
    case I915_PARAM_PERF_REVISION: v = 5; break;
    case I915_PARAM_HAS_LLC: v = !(g->d & kLocal); break;
    case I915_PARAM_PXP_STATUS: p->value[0] = 0; return ENODEV;
    default:
      if (p->param > I915_PARAM_HAS_CONTEXT_FREQ_HINT) return NOT_KNOWN;
  }
  *p->value = v;
  return 0;
}

static unsigned topology(const struct gpu *g, void *out) {
  const unsigned slices = g->id >= 125 ? 1 : (unsigned)g->a,
                 subslices = g->id >= 125 ? (unsigned)(g->a * g->b) : (unsigned)g->b;
  const unsigned subslice_bytes = (subslices + 7) / 8, eu_bytes = ((unsigned)g->c + 7) / 8;
  const unsigned subslice_at = (slices + 7) / 8, eu_at = subslice_at + slices * subslice_bytes;
  const unsigned size = sizeof(struct drm_i915_query_topology_info) + eu_at + slices * subslices * eu_bytes;
  if (!out) return size;
  struct drm_i915_query_topology_info *t = out;
  memset(t, 0, size);
  t->max_slices = (uint16_t)slices, t->max_subslices = (uint16_t)subslices, t->max_eus_per_subslice = (uint16_t)g->c;
  t->subslice_offset = (uint16_t)subslice_at, t->subslice_stride = (uint16_t)subslice_bytes;
  t->eu_offset = (uint16_t)eu_at, t->eu_stride = (uint16_t)eu_bytes;
  for (unsigned s = 0; s < slices; ++s) {
    t->data[s / 8] |= (uint8_t)(1 << s % 8);
    for (unsigned i = 0; i < subslices; ++i) {
      t->data[subslice_at + s * subslice_bytes + i / 8] |= (uint8_t)(1 << i % 8);
      for (unsigned e = 0; e < g->c; ++e)
        t->data[eu_at + (s * subslices + i) * eu_bytes + e / 8] |= (uint8_t)(1 << e % 8);
    }
  }
  return size;
}

static unsigned engines(const struct gpu *g, void *out) {
  const unsigned n = g->id >= 125 ? 3 : 2,
                 size = sizeof(struct drm_i915_query_engine_info) + n * sizeof(struct drm_i915_engine_info);
  if (!out) return size;
  struct drm_i915_query_engine_info *e = out;
  memset(e, 0, size);
  static const uint16_t classes[] = {I915_ENGINE_CLASS_RENDER, I915_ENGINE_CLASS_COPY, I915_ENGINE_CLASS_COMPUTE};
  for (e->num_engines = 0; e->num_engines < n; ++e->num_engines)
    e->engines[e->num_engines].engine.engine_class = classes[e->num_engines];
  return size;
}

static unsigned regions(const struct gpu *g, void *out) {
  const unsigned n = g->d & kLocal ? 2 : 1;
  const unsigned size = sizeof(struct drm_i915_query_memory_regions) + n * sizeof(struct drm_i915_memory_region_info);
  if (!out) return size;
  struct drm_i915_query_memory_regions *r = out;
  memset(r, 0, size);
  r->num_regions = n;
  for (unsigned i = 0; i < n; ++i) {
    r->regions[i].region.memory_class = i ? I915_MEMORY_CLASS_DEVICE : I915_MEMORY_CLASS_SYSTEM;
    r->regions[i].probed_size = r->regions[i].unallocated_size = kMemory;
    if (i) r->regions[i].probed_cpu_visible_size = r->regions[i].unallocated_cpu_visible_size = kMemory;
  }
  return size;
}

static void query(const struct gpu *g, struct drm_i915_query_item *q) {
  unsigned (*answer)(const struct gpu *, void *) = NULL;
  switch (q->query_id) {
    case DRM_I915_QUERY_TOPOLOGY_INFO:
    case DRM_I915_QUERY_GEOMETRY_SUBSLICES: answer = topology; break;
    case DRM_I915_QUERY_ENGINE_INFO: answer = engines; break;
    case DRM_I915_QUERY_MEMORY_REGIONS: answer = regions; break;
  }
  const int size = answer ? (int)answer(g, NULL) : -EINVAL;
  if (size > 0 && q->length >= size) answer(g, (void *)(uintptr_t)q->data_ptr);
  if (trace && size < 0) fprintf(stderr, "nullgpu: i915 query %llu not known\n", (unsigned long long)q->query_id);
  q->length = size > 0 && q->length && q->length < size ? -EINVAL : size;
}

static int i915(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_I915_GETPARAM: return param(g, arg);
    case DRM_I915_QUERY: {
      struct drm_i915_query *q = arg;
      for (uint32_t i = 0; i < q->num_items; ++i) query(g, (struct drm_i915_query_item *)(uintptr_t)q->items_ptr + i);
      return 0;
    }
    case DRM_I915_GEM_CREATE: {
      struct drm_i915_gem_create *c = arg;
      return (c->handle = bo_new(c->size)) ? 0 : ENOMEM;
    }
    case DRM_I915_GEM_CREATE_EXT: {
      struct drm_i915_gem_create_ext *c = arg;
      return (c->handle = bo_new(c->size)) ? 0 : ENOMEM;
    }
    case DRM_I915_GEM_USERPTR: {
      struct drm_i915_gem_userptr *u = arg;
      return (u->handle = bo_new(u->user_size)) ? 0 : ENOMEM;
    }
    case DRM_I915_GEM_MMAP_GTT: { /* and MMAP_OFFSET */
      struct drm_i915_gem_mmap_offset *m = arg;
      m->offset = bo_offset(m->handle);
      return 0;
    }
    case DRM_I915_GEM_GET_TILING: {
      struct drm_i915_gem_get_tiling *t = arg;
      t->tiling_mode = I915_TILING_X, t->swizzle_mode = t->phys_swizzle_mode = I915_BIT_6_SWIZZLE_NONE;
      return 0;
    }
    case DRM_I915_GEM_CONTEXT_CREATE: ((struct drm_i915_gem_context_create *)arg)->ctx_id = next_id(); return 0;
    case DRM_I915_GEM_CONTEXT_GETPARAM: {
      struct drm_i915_gem_context_param *p = arg;
      p->value = p->param == I915_CONTEXT_PARAM_GTT_SIZE ? (g->id >= 80 ? 1ull << 48 : 1ull << 31)
                 : p->param == I915_CONTEXT_PARAM_VM     ? next_id()
                                                         : 0;
      return 0;
    }
    case DRM_I915_GEM_GET_APERTURE: {
      struct drm_i915_gem_get_aperture *a = arg;
      a->aper_size = a->aper_available_size = g->id >= 80 ? 1ull << 48 : 1ull << 31;
      return 0;
    }
    case DRM_I915_GEM_VM_CREATE: ((struct drm_i915_gem_vm_control *)arg)->vm_id = next_id(); return 0;
    case DRM_I915_GEM_BUSY: ((struct drm_i915_gem_busy *)arg)->busy = 0; return 0;
    case DRM_I915_GEM_MADVISE: ((struct drm_i915_gem_madvise *)arg)->retained = 1; return 0;
    case DRM_I915_REG_READ: ((struct drm_i915_reg_read *)arg)->val = 1; return 0;
    case DRM_I915_GEM_SET_TILING:
    case DRM_I915_GEM_SET_DOMAIN:
    case DRM_I915_GEM_SET_CACHING:
    case DRM_I915_GEM_CONTEXT_SETPARAM:
    case DRM_I915_GEM_CONTEXT_DESTROY:
    case DRM_I915_GEM_VM_DESTROY:
    case DRM_I915_GEM_EXECBUFFER2:
    case DRM_I915_GEM_WAIT:
    case DRM_I915_GET_RESET_STATS: return 0;
    default: return NOT_KNOWN;
  }
}

static unsigned xe_topology(const struct gpu *g, uint8_t *data) {
  unsigned size = 0;
  const uint64_t subslices = g->a * g->b >= 64 ? ~0ull : (1ull << (g->a * g->b)) - 1, units = (1ull << g->c) - 1,
                 banks = 0xffff;
  const struct {
    uint16_t type;
    const uint64_t *mask;
  } parts[] = {{DRM_XE_TOPO_DSS_GEOMETRY, &subslices},
               {DRM_XE_TOPO_DSS_COMPUTE, &subslices},
               {DRM_XE_TOPO_L3_BANK, &banks},
               {DRM_XE_TOPO_SIMD16_EU_PER_DSS, &units}};
  for (unsigned i = 0; i < 4; ++i, size += sizeof(struct drm_xe_query_topology_mask) + 8) {
    struct drm_xe_query_topology_mask *m = (void *)(data + size);
    m->type = parts[i].type, m->num_bytes = 8;
    memcpy(m->mask, parts[i].mask, 8);
  }
  return size;
}

/* Sizes first, then data. */
static int xe_query(const struct gpu *g, struct drm_xe_device_query *q) {
  uint8_t data[1024];
  unsigned size = 0;
  memset(data, 0, sizeof data);
  switch (q->query) {
    case DRM_XE_DEVICE_QUERY_ENGINES: {
      struct drm_xe_query_engines *e = (void *)data;
      static const uint16_t classes[] = {DRM_XE_ENGINE_CLASS_RENDER, DRM_XE_ENGINE_CLASS_COPY,
                                         DRM_XE_ENGINE_CLASS_COMPUTE};
      for (; e->num_engines < 3; ++e->num_engines)
        e->engines[e->num_engines].instance.engine_class = classes[e->num_engines];
      size = sizeof *e + 3 * sizeof *e->engines;
      break;
    }
    case DRM_XE_DEVICE_QUERY_MEM_REGIONS: {
      struct drm_xe_query_mem_regions *r = (void *)data;
      r->num_mem_regions = g->d & kLocal ? 2 : 1;
      for (uint32_t i = 0; i < r->num_mem_regions; ++i)
        r->mem_regions[i] = (struct drm_xe_mem_region){
            .mem_class = (uint16_t)(i ? DRM_XE_MEM_REGION_CLASS_VRAM : DRM_XE_MEM_REGION_CLASS_SYSMEM),
            .instance = (uint16_t)i,
            .min_page_size = i ? 65536 : 4096,
            .total_size = kMemory,
            .cpu_visible_size = i ? kMemory : 0};
      size = sizeof *r + r->num_mem_regions * sizeof *r->mem_regions;
      break;
    }
    case DRM_XE_DEVICE_QUERY_CONFIG: {
      struct drm_xe_query_config *c = (void *)data;
      c->num_params = 5;
      c->info[DRM_XE_QUERY_CONFIG_REV_AND_DEVICE_ID] = g->device | (g->d & 0xff) << 16;
      c->info[DRM_XE_QUERY_CONFIG_FLAGS] = g->d & kLocal ? DRM_XE_QUERY_CONFIG_FLAG_HAS_VRAM : 0;
      c->info[DRM_XE_QUERY_CONFIG_MIN_ALIGNMENT] = g->d & kLocal ? 65536 : 4096;
      c->info[DRM_XE_QUERY_CONFIG_VA_BITS] = 48;
      size = sizeof *c + 5 * sizeof *c->info;
      break;
    }
    case DRM_XE_DEVICE_QUERY_GT_LIST: {
      struct drm_xe_query_gt_list *l = (void *)data;
      l->num_gt = 1;
      l->gt_list[0] = (struct drm_xe_gt){.type = DRM_XE_QUERY_GT_TYPE_MAIN,
                                         .reference_clock = 19200000,
                                         .near_mem_regions = 1,
                                         .ip_ver_major = (uint16_t)(g->id / 10),
                                         .ip_ver_minor = (uint16_t)(g->id % 10),
                                         .ip_ver_rev = 4};
      size = sizeof *l + sizeof *l->gt_list;
      break;
    }
    case DRM_XE_DEVICE_QUERY_HWCONFIG: break; /* an empty table: the driver's own numbers stand */
    case DRM_XE_DEVICE_QUERY_GT_TOPOLOGY: size = xe_topology(g, data); break;
    case DRM_XE_DEVICE_QUERY_ENGINE_CYCLES: size = sizeof(struct drm_xe_query_engine_cycles); break;
    case DRM_XE_DEVICE_QUERY_UC_FW_VERSION: size = sizeof(struct drm_xe_query_uc_fw_version); break;
    default: return trace ? fprintf(stderr, "nullgpu: xe query %u not known\n", q->query) : 0, NOT_KNOWN;
  }
  if (q->data && q->size) min_copy((void *)(uintptr_t)q->data, q->size, data, size);
  q->size = size;
  return 0;
}

static int xe(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_XE_DEVICE_QUERY: return xe_query(g, arg);
    case DRM_XE_GEM_CREATE: {
      struct drm_xe_gem_create *c = arg;
      return (c->handle = bo_new(c->size)) ? 0 : ENOMEM;
    }
    case DRM_XE_GEM_MMAP_OFFSET: {
      struct drm_xe_gem_mmap_offset *m = arg;
      m->offset = bo_offset(m->handle);
      return 0;
    }
    case DRM_XE_VM_CREATE: ((struct drm_xe_vm_create *)arg)->vm_id = next_id(); return 0;
    case DRM_XE_EXEC_QUEUE_CREATE: ((struct drm_xe_exec_queue_create *)arg)->exec_queue_id = next_id(); return 0;
    case DRM_XE_EXEC_QUEUE_GET_PROPERTY: ((struct drm_xe_exec_queue_get_property *)arg)->value = 0; return 0;
    case DRM_XE_VM_DESTROY:
    case DRM_XE_VM_BIND:
    case DRM_XE_EXEC_QUEUE_DESTROY:
    case DRM_XE_EXEC:
    case DRM_XE_WAIT_USER_FENCE:
    case DRM_XE_MADVISE:
    case DRM_XE_EXEC_QUEUE_SET_PROPERTY: return 0;
    default: return NOT_KNOWN;
  }
}

#define I915(name, pci, version, s, ss, eu, more)                                                    \
  {                                                                                                  \
    name, "i915", 1, 6, 0x8086, pci, NULL, i915, .id = version, .a = s, .b = ss, .c = eu, .d = more, \
                                                 .revision = (more)&0xff                             \
  }
#define XE(name, pci, version, s, ss, eu, more)                                                  \
  {                                                                                              \
    name, "xe", 1, 1, 0x8086, pci, NULL, xe, .id = version, .a = s, .b = ss, .c = eu, .d = more, \
                                             .revision = (more)&0xff                             \
  }
const struct gpu intel[] = {I915("intel-hsw", 0x0412, 75, 1, 2, 10, 0),
                            I915("intel-bdw", 0x1616, 80, 1, 3, 8, 0),
                            I915("intel-skl", 0x1912, 90, 1, 3, 8, 0),
                            I915("intel-icl", 0x8a52, 110, 1, 8, 8, 7),
                            I915("intel-tgl", 0x9a49, 120, 1, 6, 16, 3),
                            I915("intel-adl", 0x46a6, 120, 1, 6, 16, 12),
                            I915("intel-dg2", 0x56a0, 125, 8, 4, 16, 8 | kLocal),
                            I915("intel-mtl", 0x7d55, 125, 2, 4, 16, 4),
                            XE("intel-lnl", 0x64a0, 200, 2, 4, 8, 4),
                            XE("intel-bmg", 0xe20b, 200, 5, 4, 8, kLocal),
                            {0}};
