/* AMD (Mesa's radv, compiler ACO; kernel driver amdgpu). id: kernel's family, a: external revision, b: graphics IP
   version as 0xMMmmrr, c: shader engines << 16 | arrays of each << 8 | compute units of each, | 1 << 24: integrated. */
#include <drm/amdgpu_drm.h>

#include "nullgpu.h"

static int integrated(const struct gpu *g) { return (g->c >> 24) & 1; }
static uint32_t addresses(const struct gpu *g) { /* GB_ADDR_CONFIG: how memory is interleaved; any valid one will do */
  const unsigned major = (unsigned)(g->b >> 16), minor = (unsigned)(g->b >> 8) & 0xff;
  return major == 9                 ? 0x2a114042
         : major == 10 && minor < 3 ? 0x00100044
         : major == 8               ? 0x22011003
         : integrated(g)            ? 0x00000042
                                    : 0x00000545;
}

static int device_info(const struct gpu *g, const struct drm_amdgpu_info *q) {
  const unsigned engines = (g->c >> 16) & 0xff, arrays = (g->c >> 8) & 0xff, units = g->c & 0xff;
  const unsigned major = (unsigned)(g->b >> 16);
  struct drm_amdgpu_info_device d = {.device_id = g->device,
                                     .chip_rev = 1,
                                     .external_rev = (uint32_t)g->a,
                                     .pci_rev = g->revision,
                                     .family = (uint32_t)g->id,
                                     .num_shader_engines = engines,
                                     .num_shader_arrays_per_engine = arrays,
                                     .gpu_counter_freq = 100000,
                                     .max_engine_clock = 2000000,
                                     .max_memory_clock = 1000000,
                                     .cu_active_number = engines * arrays * units,
                                     .enabled_rb_pipes_mask = (1u << (engines * 4 > 31 ? 31 : engines * 4)) - 1,
                                     .num_rb_pipes = engines * 4,
                                     .num_hw_gfx_contexts = 8,
                                     .pcie_gen = 4,
                                     .ids_flags = integrated(g) ? AMDGPU_IDS_FLAGS_FUSION : 0,
                                     .virtual_address_offset = 0x200000,
                                     .virtual_address_max = 0x800000000000,
                                     .virtual_address_alignment = 4096,
                                     .pte_fragment_size = 2 << 20,
                                     .gart_page_size = 4096,
                                     .ce_ram_size = major < 10 ? 32768 : 0,
                                     .vram_type = integrated(g) ? AMDGPU_VRAM_TYPE_LPDDR5 : AMDGPU_VRAM_TYPE_GDDR6,
                                     .vram_bit_width = integrated(g) ? 128 : 256,
                                     .gc_double_offchip_lds_buf = 1,
                                     .wave_front_size = major >= 10 ? 32 : 64,
                                     .num_shader_visible_vgprs = major < 10   ? 256
                                                                 : major < 11 ? 1024
                                                                              : 0,
                                     .num_cu_per_sh = units,
                                     .num_tcc_blocks = 16,
                                     .gs_vgt_table_depth = 32,
                                     .gs_prim_buffer_depth = 1792,
                                     .max_gs_waves_per_vgt = 32,
                                     .pcie_num_lanes = 16,
                                     .high_va_offset = 0xffff800000000000,
                                     .high_va_max = 0xffffffffffe00000,
                                     .tcp_cache_size = 32,
                                     .num_sqc_per_wgp = 1,
                                     .sqc_data_cache_size = 16,
                                     .sqc_inst_cache_size = 32,
                                     .gl1c_cache_size = 256,
                                     .gl2c_cache_size = 4096};
  /* 1536 registers on the larger chips of generation 11 and on generation 12 */
  if (major >= 11) d.num_shader_visible_vgprs = integrated(g) || g->b == 0x0b0002 ? 1024 : 1536;
  for (unsigned e = 0; e < engines && e < 4; ++e)
    for (unsigned a = 0; a < arrays; ++a) d.cu_bitmap[e][a] = d.cu_ao_bitmap[e][a] = (1u << units) - 1;
  return min_copy((void *)(uintptr_t)q->return_pointer, q->return_size, &d, sizeof d);
}

static int info(const struct gpu *g, const struct drm_amdgpu_info *q) {
  const unsigned major = (unsigned)(g->b >> 16);
  void *out = (void *)(uintptr_t)q->return_pointer;
  switch (q->query) {
    case AMDGPU_INFO_ACCEL_WORKING:
    case AMDGPU_INFO_HW_IP_COUNT: {
      const uint32_t one = 1;
      return min_copy(out, q->return_size, &one, sizeof one);
    }
    case AMDGPU_INFO_HW_IP_INFO: {
      struct drm_amdgpu_info_hw_ip ip = {.ib_start_alignment = 256,
                                         .ib_size_alignment = 32,
                                         .hw_ip_version_major = major,
                                         .hw_ip_version_minor = (uint32_t)(g->b >> 8) & 0xff,
                                         .ip_discovery_version = (uint32_t)g->b};
      const uint32_t type = q->query_hw_ip.type;
      ip.available_rings = type == AMDGPU_HW_IP_GFX       ? 1
                           : type == AMDGPU_HW_IP_COMPUTE ? 0xf
                           : type == AMDGPU_HW_IP_DMA     ? 1
                                                          : 0;
      if (!ip.available_rings) memset(&ip, 0, sizeof ip);
      return min_copy(out, q->return_size, &ip, sizeof ip);
    }
    case AMDGPU_INFO_FW_VERSION: {
      struct drm_amdgpu_info_firmware f = {.ver = 3000, .feature = 60};
      return min_copy(out, q->return_size, &f, sizeof f);
    }
    case AMDGPU_INFO_READ_MMR_REG:
      for (uint32_t i = 0; i < q->read_mmr_reg.count; ++i)
        ((uint32_t *)out)[i] = q->read_mmr_reg.dword_offset + i == 0x263e  ? addresses(g)
                               : q->read_mmr_reg.dword_offset + i == 0x9d8 ? 0x60a2
                                                                           : 0;
      return 0;
    case AMDGPU_INFO_MEMORY: {
      const uint64_t vram = integrated(g) ? 512ull << 20 : 8ull << 30, gtt = 16ull << 30;
      struct drm_amdgpu_memory_info m = {.vram = {vram, vram, 0, vram / 4 * 3},
                                         .cpu_accessible_vram = {vram, vram, 0, vram / 4 * 3},
                                         .gtt = {gtt, gtt, 0, gtt / 4 * 3}};
      return min_copy(out, q->return_size, &m, sizeof m);
    }
    case AMDGPU_INFO_VRAM_GTT: {
      const uint64_t m[3] = {8ull << 30, 8ull << 30, 16ull << 30};
      return min_copy(out, q->return_size, m, sizeof m);
    }
    case AMDGPU_INFO_DEV_INFO: return device_info(g, q);
    case AMDGPU_INFO_MAX_IBS: {
      const uint32_t n[AMDGPU_HW_IP_NUM] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
      return min_copy(out, q->return_size, n, sizeof n);
    }
    case AMDGPU_INFO_VIDEO_CAPS:
    case AMDGPU_INFO_VRAM_USAGE:
    case AMDGPU_INFO_VIS_VRAM_USAGE:
    case AMDGPU_INFO_GTT_USAGE:
    case AMDGPU_INFO_VRAM_LOST_COUNTER:
    case AMDGPU_INFO_SENSOR:
    case AMDGPU_INFO_TIMESTAMP: memset(out, 0, q->return_size); return 0;
    default: return trace ? fprintf(stderr, "nullgpu: amdgpu info 0x%x not known\n", q->query) : 0, NOT_KNOWN;
  }
}

static int amdgpu(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_AMDGPU_INFO: return info(g, arg);
    case DRM_AMDGPU_GEM_CREATE: {
      union drm_amdgpu_gem_create *c = arg;
      const uint32_t handle = bo_new(c->in.bo_size);
      memset(&c->out, 0, sizeof c->out);
      return (c->out.handle = handle) ? 0 : ENOMEM;
    }
    case DRM_AMDGPU_GEM_MMAP: {
      union drm_amdgpu_gem_mmap *m = arg;
      m->out.addr_ptr = bo_offset(m->in.handle);
      return 0;
    }
    case DRM_AMDGPU_GEM_USERPTR: {
      struct drm_amdgpu_gem_userptr *u = arg;
      return (u->handle = bo_new(u->size)) ? 0 : ENOMEM;
    }
    case DRM_AMDGPU_CTX: {
      union drm_amdgpu_ctx *c = arg;
      const uint32_t op = c->in.op;
      memset(&c->out, 0, sizeof c->out);
      if (op == AMDGPU_CTX_OP_ALLOC_CTX) c->out.alloc.ctx_id = next_id();
      return 0;
    }
    case DRM_AMDGPU_BO_LIST: ((union drm_amdgpu_bo_list *)arg)->out.list_handle = next_id(); return 0;
    case DRM_AMDGPU_CS: ((union drm_amdgpu_cs *)arg)->out.handle = next_id(); return 0;
    case DRM_AMDGPU_WAIT_CS: ((union drm_amdgpu_wait_cs *)arg)->out.status = 0; return 0;
    case DRM_AMDGPU_GEM_WAIT_IDLE: memset(arg, 0, sizeof(union drm_amdgpu_gem_wait_idle)); return 0;
    case DRM_AMDGPU_GEM_METADATA:
    case DRM_AMDGPU_GEM_VA:
    case DRM_AMDGPU_GEM_OP:
    case DRM_AMDGPU_WAIT_FENCES:
    case DRM_AMDGPU_VM:
    case DRM_AMDGPU_SCHED: return 0;
    default: return NOT_KNOWN;
  }
}

#define CHIP(name, pci, family, external, ip, engines, arrays, units, apu)                                          \
  {                                                                                                                 \
    name, "amdgpu", 3, 61, 0x1002, pci, NULL, amdgpu, .id = family, .a = external, .b = ip,                         \
                                                      .c = (engines) << 16 | (arrays) << 8 | (units) | (apu) << 24, \
                                                      .revision = 1                                                 \
  }
const struct gpu amd[] = {CHIP("amd-polaris10", 0x67df, AMDGPU_FAMILY_VI, 0x51, 0x080000, 4, 1, 9, 0),
                          CHIP("amd-vega10", 0x687f, AMDGPU_FAMILY_AI, 0x01, 0x090001, 4, 1, 14, 0),
                          CHIP("amd-raven", 0x15dd, AMDGPU_FAMILY_RV, 0x01, 0x090100, 1, 1, 11, 1),
                          CHIP("amd-renoir", 0x1636, AMDGPU_FAMILY_RV, 0x91, 0x090300, 1, 1, 8, 1),
                          CHIP("amd-navi10", 0x731f, AMDGPU_FAMILY_NV, 0x01, 0x0a0100, 2, 2, 10, 0),
                          CHIP("amd-navi21", 0x73bf, AMDGPU_FAMILY_NV, 0x28, 0x0a0300, 4, 2, 10, 0),
                          CHIP("amd-rembrandt", 0x1681, AMDGPU_FAMILY_YC, 0x01, 0x0a0303, 1, 2, 6, 1),
                          CHIP("amd-navi31", 0x744c, AMDGPU_FAMILY_GC_11_0_0, 0x01, 0x0b0000, 4, 2, 8, 0),
                          CHIP("amd-navi33", 0x7480, AMDGPU_FAMILY_GC_11_0_0, 0x10, 0x0b0002, 2, 2, 8, 0),
                          CHIP("amd-phoenix", 0x15bf, AMDGPU_FAMILY_GC_11_0_1, 0x01, 0x0b0001, 1, 2, 6, 1),
                          CHIP("amd-strix", 0x150e, AMDGPU_FAMILY_GC_11_5_0, 0x01, 0x0b0500, 1, 2, 8, 1),
                          CHIP("amd-gfx1201", 0x7550, AMDGPU_FAMILY_GC_12_0_0, 0x50, 0x0c0001, 4, 2, 8, 0),
                          {0}};
