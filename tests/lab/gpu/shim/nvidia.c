/* NVIDIA (Mesa's nvk, compiler NAK; kernel driver nouveau). id: chipset, a: classes' generation, b: GPCs and TPCs as
   GRAPH_UNITS packs them. */
#include <drm/nouveau_drm.h>

#include "nullgpu.h"

/* The object interface that NOUVEAU_NVIF carries; the kernel has no public header of it. */
struct nvif {
  uint8_t version, type, pad[4], owner, route;
  uint64_t token, object;
  uint8_t data[];
};
enum { kClasses = 1, kMethod = 4 };
struct method {
  uint8_t version, method, pad[6];
  uint8_t data[];
};
struct info {
  uint8_t version, platform;
  uint16_t chipset;
  uint8_t revision, family, pad[2];
  uint64_t ram_size, ram_user;
  char chip[16], name[64];
};
struct classes {
  uint8_t version, count, pad[6];
  struct {
    int32_t oclass;
    int16_t minver, maxver;
  } oclass[];
};

static int objects(const struct gpu *g, struct nvif *n) {
  if (n->type == kMethod) {
    struct method *m = (void *)n->data;
    struct info *i = (void *)m->data;
    if (m->method != 0) return 0;
    memset(i, 0, sizeof *i);
    i->platform = 3; /* PCI express */
    i->chipset = (uint16_t)g->id;
    i->ram_size = i->ram_user = 8ull << 30;
    snprintf(i->chip, sizeof i->chip, "NV%X", (unsigned)g->id);
    snprintf(i->name, sizeof i->name, "%s", g->name);
    return 0;
  }
  if (n->type == kClasses) {
    struct classes *c = (void *)n->data;
    /* inline to memory, copy, 2D, 3D, compute, by generation */
    static const struct {
      uint8_t generation;
      uint16_t oclass[5];
    } table[] = {{0xa0, {0xa040, 0xa0b5, 0x902d, 0xa097, 0xa0c0}}, {0xb1, {0xa140, 0xb0b5, 0x902d, 0xb197, 0xb1c0}},
                 {0xc1, {0xa140, 0xc1b5, 0x902d, 0xc197, 0xc1c0}}, {0xc3, {0xa140, 0xc3b5, 0x902d, 0xc397, 0xc3c0}},
                 {0xc5, {0xa140, 0xc5b5, 0x902d, 0xc597, 0xc5c0}}, {0xc7, {0xa140, 0xc7b5, 0x902d, 0xc797, 0xc7c0}},
                 {0xc9, {0xa140, 0xc7b5, 0x902d, 0xc997, 0xc9c0}}, {0xce, {0xcd40, 0xcab5, 0x902d, 0xce97, 0xcec0}}};
    const uint16_t *o = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
      if (table[i].generation == g->a) o = table[i].oclass;
    const unsigned room = c->count;
    c->count = 5;
    for (unsigned i = 0; i < room && i < 5; ++i)
      c->oclass[i].oclass = o[i], c->oclass[i].minver = c->oclass[i].maxver = -1;
    return 0;
  }
  return 0;
}

static int nouveau(const struct gpu *g, unsigned nr, void *arg, unsigned size) {
  (void)size;
  switch (nr) {
    case DRM_NOUVEAU_GETPARAM: {
      struct drm_nouveau_getparam *p = arg;
      switch (p->param) {
        case NOUVEAU_GETPARAM_CHIPSET_ID: p->value = g->id; return 0;
        case NOUVEAU_GETPARAM_PCI_VENDOR: p->value = g->vendor; return 0;
        case NOUVEAU_GETPARAM_PCI_DEVICE: p->value = g->device; return 0;
        case NOUVEAU_GETPARAM_BUS_TYPE: p->value = 2; return 0;
        case NOUVEAU_GETPARAM_FB_SIZE: p->value = 8ull << 30; return 0;
        case NOUVEAU_GETPARAM_AGP_SIZE: p->value = 16ull << 30; return 0;
        case NOUVEAU_GETPARAM_GRAPH_UNITS: p->value = g->b; return 0;
        case NOUVEAU_GETPARAM_PTIMER_TIME:
        case NOUVEAU_GETPARAM_VRAM_USED: p->value = 0; return 0;
        case NOUVEAU_GETPARAM_HAS_BO_USAGE:
        case NOUVEAU_GETPARAM_HAS_VMA_TILEMODE: p->value = 1; return 0;
        case NOUVEAU_GETPARAM_EXEC_PUSH_MAX: p->value = 510; return 0;
        case NOUVEAU_GETPARAM_VRAM_BAR_SIZE: p->value = 8ull << 30; return 0;
        default: return NOT_KNOWN;
      }
    }
    case DRM_NOUVEAU_NVIF: return objects(g, arg);
    case DRM_NOUVEAU_CHANNEL_ALLOC: {
      struct drm_nouveau_channel_alloc *c = arg;
      c->channel = (int)next_id();
      c->pushbuf_domains = NOUVEAU_GEM_DOMAIN_VRAM | NOUVEAU_GEM_DOMAIN_GART;
      return (c->notifier_handle = bo_new(4096)) ? 0 : ENOMEM;
    }
    case DRM_NOUVEAU_GEM_NEW: {
      struct drm_nouveau_gem_new *n = arg;
      if (!(n->info.handle = bo_new(n->info.size))) return ENOMEM;
      n->info.map_handle = bo_offset(n->info.handle);
      n->info.offset = bo_address(n->info.handle);
      return 0;
    }
    case DRM_NOUVEAU_GEM_INFO: {
      struct drm_nouveau_gem_info *i = arg;
      i->size = bo_size(i->handle);
      i->map_handle = bo_offset(i->handle);
      i->offset = bo_address(i->handle);
      i->domain = NOUVEAU_GEM_DOMAIN_GART;
      return 0;
    }
    case DRM_NOUVEAU_GEM_PUSHBUF: {
      struct drm_nouveau_gem_pushbuf *p = arg;
      p->vram_available = 8ull << 30, p->gart_available = 16ull << 30;
      return 0;
    }
    case DRM_NOUVEAU_GET_ZCULL_INFO: return ENODEV;
    case DRM_NOUVEAU_CHANNEL_FREE:
    case DRM_NOUVEAU_GROBJ_ALLOC:
    case DRM_NOUVEAU_NOTIFIEROBJ_ALLOC:
    case DRM_NOUVEAU_GPUOBJ_FREE:
    case DRM_NOUVEAU_VM_INIT:
    case DRM_NOUVEAU_VM_BIND:
    case DRM_NOUVEAU_EXEC:
    case DRM_NOUVEAU_GEM_CPU_PREP:
    case DRM_NOUVEAU_GEM_CPU_FINI: return 0;
    default: return NOT_KNOWN;
  }
}

#define CHIP(name, pci, chipset, generation, units) \
  { name, "nouveau", 1, 4, 0x10de, pci, NULL, nouveau, .id = chipset, .a = generation, .b = units, .revision = 0xa1 }
const struct gpu nvidia[] = {CHIP("nvidia-gk104", 0x1180, 0x0e4, 0xa0, 0x0804),
                             CHIP("nvidia-gm204", 0x13c2, 0x124, 0xb1, 0x0d04),
                             CHIP("nvidia-gp106", 0x1c03, 0x136, 0xc1, 0x0a02),
                             CHIP("nvidia-tu106", 0x1f08, 0x166, 0xc5, 0x0f03),
                             CHIP("nvidia-tu117", 0x1f82, 0x167, 0xc5, 0x0702),
                             CHIP("nvidia-ga106", 0x2503, 0x176, 0xc7, 0x0e03),
                             CHIP("nvidia-ad104", 0x2786, 0x194, 0xc9, 0x1705),
                             CHIP("nvidia-gb203", 0x2c02, 0x1b3, 0xce, 0x2a07),
                             {0}};
