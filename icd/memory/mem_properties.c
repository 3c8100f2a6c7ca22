/* Property lists of memory objects. A property is a name and a value; but for the list of
 * device handles, which has any number of values and a 0 after them.
 */
#include <stdlib.h>
#include <string.h>

#include "icd/memory/memory.h"

#include "icd/cl_tegracl.h"

/* How many words the first property of a list has. */
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
                      "CL_DEVICE_HANDLE_LIST_KHR has a device that is not the context's");
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
                      "CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT is neither CL_TRUE nor CL_FALSE");
    const cl_int code =
        seen == &devices ? check_devices(context, properties + 1, call) : CL_SUCCESS;
    if (code)
      return code;
  }
  if (dma_buf && flags & ICD_HOST_POINTER)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "both an external handle and a host pointer flag");
  if (devices && !dma_buf)
    return icd_fail(context, CL_INVALID_PROPERTY, call,
                    "CL_DEVICE_HANDLE_LIST_KHR without an external handle");
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
