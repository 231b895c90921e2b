/* The interface of an engine to its plugins: a mock of what Unity, Unreal and others name otherwise. The README
 * says what takes its place there. */
#ifndef ENGINE_HOST_INTERFACE_H
#define ENGINE_HOST_INTERFACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The engine's device. Handles are void*, as vulkan.h is no business of an engine's scripts. */
typedef struct host_vulkan {
  uint32_t api_version;         /* that the instance was made with */
  uint32_t queue_family;        /* of the queue */
  void* get_instance_proc_addr; /* PFN_vkGetInstanceProcAddr */
  void* instance;
  void* physical_device;
  void* device;
  void* queue; /* of the render thread alone */
} host_vulkan;

typedef void (*host_task)(void* data);

typedef struct host_interface {
  void* engine; /* for both functions */
  void (*get_vulkan)(void* engine, host_vulkan* vulkan);
  /* Runs task(data) once on the render thread: later, maybe frames later, in the order of the calls. From any thread.
   */
  void (*on_render_thread)(void* engine, host_task task, void* data);
} host_interface;

#ifdef __cplusplus
}
#endif

#endif /* ENGINE_HOST_INTERFACE_H */
