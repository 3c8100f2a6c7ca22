/* The device, its clock, and device functions other than clGetDeviceInfo (device_info.c). The
 * device is opened on first use and closed when the process ends. If it cannot be opened, for
 * example because the process has too many file descriptors, the next use tries again.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fork.h"
#include "icd/objects.h"
#include "icd/platform/device_text.h"

/* How long an offset between the two clocks may be used. NTP slews CLOCK_MONOTONIC by at most
 * 500 ppm, so the error stays below half a millisecond. */
#define CLOCK_VALID_NS 1000000000u

static struct _cl_device_id the_device = {
    .object = {.dispatch = &icd_dispatch.entries,
               .magic = ICD_MAGIC_DEVICE,
               .references = 1,
               .handles = 1},
    .clock_lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_DEVICE_CLOCK),
};
struct icd_object *icd_device_object(void) {
  return &the_device.object;
}

static struct base_mutex open_lock = BASE_MUTEX_INITIALIZER(BASE_LOCK_DEVICE_OPEN);
static bool opened;

/* A child of fork has copies of the memory and the file descriptors, but not the driver's
 * threads or the GPU's mappings, and a thread that does not exist there may hold a lock. So
 * global state is initialised again, and the parent's handles other than platform and device
 * become invalid, because the child's objects have different magic numbers. The child may create
 * its own contexts without affecting the parent. The device's info remains, so that it can be
 * queried before the device is opened. */
static void forked_child(void) {
  static const struct icd_kind kind = {.magic = ICD_MAGIC_DEVICE};
  icd_objects_forked();
  icd_platform_forked();
  base_mutex_init(&open_lock, BASE_LOCK_DEVICE_OPEN);
  base_mutex_init(&the_device.clock_lock, BASE_LOCK_DEVICE_CLOCK);
  icd_object_init(&the_device.object, &kind);
  the_device.clock_measured_ns = 0;
  opened = false;
  rt_device_forked(the_device.rt);
}

static void make_name(struct _cl_device_id *device) {
  char chip[sizeof(device->info->chip)];
  size_t i = 0;
  for (; i + 1 < sizeof(chip) && device->info->chip[i]; i++)
    chip[i] = (char)toupper((unsigned char)device->info->chip[i]);
  chip[i] = 0;
  const char *board = device->info->board;
  snprintf(device->name, sizeof(device->name), "Orin (%s)%s%s%s", chip, *board ? ", " : "", board,
           device->info->emulated ? ", software Orin" : "");
}

static void open_device(void) {
  static const struct base_fork_handlers handlers = {.child = forked_child};
  struct _cl_device_id *device = &the_device;
  if (base_fork_watch(BASE_FORK_DRIVER, &handlers)) {
    icd_fail(NULL, CL_DEVICE_NOT_FOUND, "clGetDeviceIDs", "out of host memory");
    return;
  }
  if (device->rt ? rt_device_reopen(device->rt) : rt_device_open(&device->rt)) {
    icd_fail(NULL, CL_DEVICE_NOT_FOUND, "clGetDeviceIDs", "%s", rt_last_message());
    return;
  }
  device->info = rt_device_info(device->rt);
  make_name(device);
  const bool il = cc_il_available();
  /* sm_version has the major version in the upper byte and the minor version in the lower (nvgpu
   * characteristics: 0x807 is SM 8.7). */
  device->cc[0] = (struct cc_device){
      .sm = (device->info->sm_version >> 8) * 10 + (device->info->sm_version & 0xff),
      .version = il ? 310 : 300,
      .extensions = icd_device_extensions(device->info->shared_addresses, il),
      .c_features = icd_c_features(),
      .local_mem_bytes = device->info->shared_bytes_per_block,
  };
  device->cc[1] = device->cc[0];
  device->cc[1].textures = true;
  opened = true;
}

cl_device_id icd_device(void) {
  base_mutex_lock(&open_lock);
  if (!opened)
    open_device();
  cl_device_id device = opened ? &the_device : NULL;
  base_mutex_unlock(&open_lock);
  return device;
}

/* If the application still has a context, its threads may be at work, so the device stays open. */
__attribute__((destructor)) static void close_device(void) {
  if (opened && atomic_load(&the_device.object.references) == 1)
    rt_device_close(the_device.rt);
}

/* Compares the clocks. The caller holds the device's clock_lock. */
static int measure_clock(cl_device_id device, uint64_t *gpu_ns, uint64_t *cpu_ns) {
  const int error = rt_device_time(device->rt, gpu_ns, cpu_ns);
  if (!error) {
    device->clock_offset_ns = (int64_t)(*gpu_ns - *cpu_ns);
    device->clock_measured_ns = *cpu_ns;
  }
  return error;
}

uint64_t icd_device_clock(cl_device_id device, uint64_t cpu_ns) {
  uint64_t gpu_now, cpu_now;
  base_mutex_lock(&device->clock_lock);
  if (!device->clock_measured_ns || base_clock_ns() - device->clock_measured_ns > CLOCK_VALID_NS)
    measure_clock(device, &gpu_now, &cpu_now);
  const int64_t offset = device->clock_offset_ns;
  base_mutex_unlock(&device->clock_lock);
  return cpu_ns + (uint64_t)offset;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type,
                                               cl_uint num_entries, cl_device_id *devices,
                                               cl_uint *num_devices) {
  const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                               CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
  /* The specification leaves the meaning of NULL to the implementation. Here it is the only
   * platform. */
  if (platform && !icd_is_platform(platform))
    return ICD_FAIL(NULL, CL_INVALID_PLATFORM, "platform %p is not the platform of tegracl",
                    (void *)platform);
  if (device_type != CL_DEVICE_TYPE_ALL && (!device_type || (device_type & ~known)))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE_TYPE, "unknown device_type 0x%llx",
                    (unsigned long long)device_type);
  if (!devices && !num_devices)
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "both devices and num_devices are NULL");
  if (devices && !num_entries)
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "num_entries is 0, but devices is not NULL");

  const bool wanted = device_type & (CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_GPU);
  cl_device_id device = wanted ? icd_device() : NULL;
  if (num_devices)
    *num_devices = device ? 1 : 0;
  if (!device)
    return ICD_FAIL(NULL, CL_DEVICE_NOT_FOUND,
                    wanted
                        ? "no device found: neither an Orin nor the software Orin could be opened"
                        : "no device of this type: the only device has CL_DEVICE_TYPE_GPU");
  if (devices)
    devices[0] = device;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDevice(cl_device_id device) {
  if (!icd_is_device(device))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE, "device %p is not a valid cl_device_id",
                    (void *)device);
  return CL_SUCCESS; /* root devices are not counted, according to the specification */
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDevice(cl_device_id device) {
  if (!icd_is_device(device))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE, "device %p is not a valid cl_device_id",
                    (void *)device);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateSubDevices(cl_device_id in_device,
                                                   const cl_device_partition_property *properties,
                                                   cl_uint num_devices, cl_device_id *out_devices,
                                                   cl_uint *num_devices_ret) {
  if (!icd_is_device(in_device))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE, "in_device %p is not a valid cl_device_id",
                    (void *)in_device);
  return ICD_FAIL(NULL, CL_INVALID_VALUE,
                  "the device does not support partitioning (CL_DEVICE_PARTITION_PROPERTIES)");
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device,
                                                        cl_ulong *device_timestamp,
                                                        cl_ulong *host_timestamp) {
  if (!icd_is_device(device))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE, "device %p is not a valid cl_device_id",
                    (void *)device);
  if (!device_timestamp || !host_timestamp)
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "%s is NULL",
                    device_timestamp ? "host_timestamp" : "device_timestamp");
  if (!icd_device())
    return ICD_FAIL(NULL, CL_OUT_OF_RESOURCES, "the device cannot be opened");
  uint64_t gpu_ns, cpu_ns;
  base_mutex_lock(&device->clock_lock);
  const int error = measure_clock(device, &gpu_ns, &cpu_ns);
  base_mutex_unlock(&device->clock_lock);
  if (error)
    return ICD_FAIL(NULL, CL_OUT_OF_RESOURCES, "%s", rt_last_message());
  *device_timestamp = gpu_ns;
  *host_timestamp = cpu_ns;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong *host_timestamp) {
  if (!icd_is_device(device))
    return ICD_FAIL(NULL, CL_INVALID_DEVICE, "device %p is not a valid cl_device_id",
                    (void *)device);
  if (!host_timestamp)
    return ICD_FAIL(NULL, CL_INVALID_VALUE, "host_timestamp is NULL");
  *host_timestamp = base_clock_ns();
  return CL_SUCCESS;
}
