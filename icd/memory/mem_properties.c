/* Property lists of memory objects. A property is a name and a value, except for the list of device
 * handles, which has any number of values and ends with 0.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/memory/memory.h"

#include "icd/cl_tegracl.h"

/* Returns the length in words of the first property of a list. */
static size_t property_words(const cl_mem_properties *property) {
  size_t count = 2;
  if (*property == CL_DEVICE_HANDLE_LIST_KHR)
    while (property[count - 1] != CL_DEVICE_HANDLE_LIST_END_KHR)
      count++;
  return count;
}

static cl_int check_devices(cl_context context, const cl_mem_properties *device, const char *call) {
  for (; *device != CL_DEVICE_HANDLE_LIST_END_KHR; device++)
    if ((cl_device_id)(uintptr_t)*device != context->device)
      return icd_fail(context, CL_INVALID_DEVICE, call,
                      "CL_DEVICE_HANDLE_LIST_KHR has a device that is not in the context");
  return CL_SUCCESS;
}

cl_int icd_check_mem_properties(cl_context context, const cl_mem_properties *properties,
                                cl_mem_flags flags, const char *call) {
  bool address = false, devices = false, dma_buf = false;
  for (; properties && *properties; properties += property_words(properties)) {
    bool *seen = *properties == CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT       ? &address
                 : *properties == CL_DEVICE_HANDLE_LIST_KHR             ? &devices
                 : *properties == CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR ? &dma_buf
                                                                        : NULL;
    if (!seen || *seen)
      return icd_fail(context, CL_INVALID_PROPERTY, call, "property 0x%llx is %s",
                      (unsigned long long)*properties, seen ? "given twice" : "unknown");
    *seen = true;
    if (seen == &address && properties[1] != CL_TRUE && properties[1] != CL_FALSE)
      return icd_fail(context, CL_INVALID_PROPERTY, call,
                      "CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT is 0x%llx; it must be CL_TRUE or CL_FALSE",
                      (unsigned long long)properties[1]);
    const cl_int code =
        seen == &devices ? check_devices(context, properties + 1, call) : CL_SUCCESS;
    if (code)
      return code;
  }
  if (dma_buf && flags & ICD_HOST_POINTER)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "an external memory handle excludes flags that concern host_ptr");
  if (devices && !dma_buf)
    return icd_fail(context, CL_INVALID_PROPERTY, call,
                    "CL_DEVICE_HANDLE_LIST_KHR requires an external memory handle");
  return CL_SUCCESS;
}

const cl_mem_properties *icd_find_mem_property(const cl_mem_properties *properties,
                                               cl_mem_properties name) {
  for (; properties && *properties; properties += property_words(properties))
    if (*properties == name)
      return properties + 1;
  return NULL;
}

bool icd_keep_mem_properties(cl_mem mem, const cl_mem_properties *properties) {
  if (!properties)
    return true;
  const cl_mem_properties *end = properties;
  while (*end)
    end += property_words(end);
  mem->property_count = (cl_uint)(end - properties) + 1;
  mem->properties = malloc(mem->property_count * sizeof(*properties));
  if (!mem->properties)
    return false;
  memcpy(mem->properties, properties, mem->property_count * sizeof(*properties));
  const cl_mem_properties *address =
      icd_find_mem_property(properties, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT);
  mem->device_address = address && *address;
  return true;
}
