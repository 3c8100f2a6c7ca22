/* Creation and destruction of memory objects. */
#include <errno.h>
#include <stdlib.h>

#include "icd/context/retire.h"
#include "icd/memory/mapping.h"
#include "icd/memory/memory.h"

/* The GPU no longer uses the object. */
static void destroy_mem(void *owner) {
  cl_mem mem = owner;
  cl_context context = mem->context;
  struct icd_mem_destructor *destructor = mem->destructors;
  /* First, so that no header is valid when other objects get the memory. */
  if (mem->image)
    rt_texture_destroy(context->rt, &mem->image->kernel);
  while (destructor) { /* in reverse order of registration */
    struct icd_mem_destructor *next = destructor->next;
    destructor->function(mem, destructor->data);
    free(destructor);
    destructor = next;
  }
  icd_forget_mappings(mem);
  if (mem->parent)
    icd_mem_drop(mem->parent);
  else if (mem->svm)
    icd_mem_drop(mem->svm);
  else
    rt_buffer_destroy(mem->buffer);
  if (mem->host_pages)
    icd_host_pages_release(context);
  free(mem->image);
  free(mem->properties);
  icd_object_free(ICD_MAGIC_MEM, mem);
  icd_context_drop(context);
}

/* For the thread that calls callbacks. */
static void destroy_delivered(void *owner) {
  cl_mem mem = owner;
  cl_context context = mem->context;
  icd_context_hold(context);
  destroy_mem(mem);
  icd_reclaim_ended(context);
  icd_context_drop(context);
}

static _Thread_local bool releases; /* the thread is in clReleaseMemObject */

/* Destroys an object that the GPU no longer uses. Callbacks are called by clReleaseMemObject, as
 * the application may expect, or by the thread for callbacks. */
static void destroy_idle(void *owner) {
  cl_mem mem = owner;
  if (!mem->destructors || releases || !icd_deliver_later()) {
    destroy_mem(mem);
    return;
  }
  icd_reclaim_began(mem->context);
  icd_deliver(&mem->delivery, destroy_delivered, mem);
}

cl_int icd_mem_release(cl_mem mem) {
  const bool nested = releases; /* a destructor has called clReleaseMemObject */
  releases = true;
  const cl_int code = icd_object_release(&mem->object, CL_INVALID_MEM_OBJECT);
  releases = nested;
  return code;
}

/* Whether the object or one of its parents has a destructor callback. */
static bool has_destructor(cl_mem mem) {
  bool notifies = false;
  for (; mem && !notifies; mem = mem->parent) {
    icd_lock(&mem->lock);
    notifies = mem->destructors;
    icd_unlock(&mem->lock);
  }
  return notifies;
}

static void retire_mem(struct icd_object *object) {
  cl_mem mem = (cl_mem)object;
  cl_context context = mem->context;
  const bool notifies = has_destructor(mem);
  if (notifies)
    icd_context_hold(context); /* the object may have the last reference to it */
  icd_retire(context, &mem->retired, destroy_idle, mem);
  if (notifies) {
    icd_reclaim_in_background(context);
    icd_context_drop(context);
  }
}

static const struct icd_kind mem_kind = {.magic = ICD_MAGIC_MEM, .destroy = retire_mem};

static int count_bits(cl_mem_flags flags) {
  return __builtin_popcountll(flags);
}

cl_int icd_check_mem_flags(cl_context context, cl_mem_flags flags, cl_mem_flags known,
                           const char *call) {
  if (flags & ~known)
    return icd_fail(context, CL_INVALID_VALUE, call, "unknown flags 0x%llx",
                    (unsigned long long)(flags & ~known));
  if (count_bits(flags & ICD_DEVICE_ACCESS) > 1)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "flags 0x%llx has more than one of CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY and "
                    "CL_MEM_READ_ONLY",
                    (unsigned long long)flags);
  if (count_bits(flags & ICD_HOST_ACCESS) > 1)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "flags 0x%llx has more than one of CL_MEM_HOST_WRITE_ONLY, "
                    "CL_MEM_HOST_READ_ONLY and CL_MEM_HOST_NO_ACCESS",
                    (unsigned long long)flags);
  if (flags & CL_MEM_IMMUTABLE_EXT && flags & ICD_MEM_WRITES)
    return icd_fail(context, CL_INVALID_VALUE, call,
                    "flags 0x%llx has CL_MEM_IMMUTABLE_EXT, which excludes CL_MEM_READ_WRITE, "
                    "CL_MEM_WRITE_ONLY and CL_MEM_HOST_WRITE_ONLY",
                    (unsigned long long)flags);
  return CL_SUCCESS;
}

static int try_allocate(cl_context context, bool pages, size_t size, struct rt_buffer **buffer) {
  return pages ? rt_buffer_create(context->rt, size, RT_MEMORY_CACHED, buffer)
               : rt_buffer_allocate(context->rt, size, buffer);
}

int icd_mem_allocate(cl_context context, bool pages, size_t size, struct rt_buffer **buffer) {
  int error = try_allocate(context, pages, size, buffer);
  if (icd_context_make_room(context, error))
    error = try_allocate(context, pages, size, buffer);
  return error;
}

void icd_mem_note(cl_mem mem, bool svm) {
  if (!svm && !(mem->flags & ICD_HOST_POINTER))
    rt_buffer_note(mem->buffer, RT_BUFFER_UNWRITTEN);
  if (mem->flags & (CL_MEM_READ_ONLY | CL_MEM_IMMUTABLE_EXT))
    rt_buffer_note(mem->buffer, RT_BUFFER_KERNELS_READ);
  if (mem->flags & CL_MEM_WRITE_ONLY)
    rt_buffer_note(mem->buffer, RT_BUFFER_KERNELS_WRITE);
}

/* Initialises the object after its memory has been allocated. */
static void init_mem(cl_mem mem, cl_context context, cl_mem_flags flags, size_t size, uint64_t gpu,
                     char *cpu) {
  mem->context = context;
  mem->size = size;
  mem->flags = flags & ICD_DEVICE_RIGHTS ? flags : flags | CL_MEM_READ_WRITE;
  mem->gpu = gpu;
  mem->cpu = cpu;
  icd_context_hold(context);
  icd_lock_init(&mem->lock, BASE_LOCK_MEM);
  icd_object_init(&mem->object, &mem_kind);
}

cl_mem icd_mem_create(cl_context context, cl_mem_flags flags, size_t size, cl_mem svm, char *place,
                      cl_int *code, const char *call) {
  cl_mem mem = icd_object_new(ICD_MAGIC_MEM, sizeof(*mem));
  if (!mem) {
    *code = icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
    return NULL;
  }
  /* Applications may expect whole pages when they request memory that host and device share. */
  const bool pages = flags & CL_MEM_ALLOC_HOST_PTR;
  const int error = svm ? 0 : icd_mem_allocate(context, pages, size, &mem->buffer);
  if (error) {
    icd_object_free(ICD_MAGIC_MEM, mem);
    *code = icd_fail(context, icd_code(error, CL_MEM_OBJECT_ALLOCATION_FAILURE), call, "%s",
                     rt_last_message());
    return NULL;
  }
  if (svm)
    mem->buffer = svm->buffer;
  mem->svm = svm;
  if (svm)
    init_mem(mem, context, flags, size, svm->gpu + (uint64_t)(place - svm->cpu), place);
  else
    init_mem(mem, context, flags, size, mem->buffer->gpu, mem->buffer->cpu);
  *code = CL_SUCCESS;
  return mem;
}

cl_mem icd_mem_wrap(cl_context context, cl_mem_flags flags, size_t size, struct rt_buffer *buffer,
                    size_t offset, cl_int *code, const char *call) {
  cl_mem mem = icd_object_new(ICD_MAGIC_MEM, sizeof(*mem));
  if (!mem) {
    rt_buffer_destroy(buffer);
    *code = icd_fail(context, CL_OUT_OF_HOST_MEMORY, call, "out of host memory");
    return NULL;
  }
  mem->buffer = buffer;
  init_mem(mem, context, flags, size, buffer->gpu + offset, (char *)buffer->cpu + offset);
  *code = CL_SUCCESS;
  return mem;
}

cl_mem icd_mem_create_part(cl_mem parent, cl_mem_flags flags, size_t origin, size_t size) {
  cl_mem mem = icd_object_new(ICD_MAGIC_MEM, sizeof(*mem));
  if (!mem)
    return NULL;
  mem->context = parent->context;
  mem->parent = parent;
  mem->origin = origin;
  mem->size = size;
  mem->flags = flags;
  mem->host_ptr = parent->host_ptr ? (char *)parent->host_ptr + origin : NULL;
  mem->buffer = parent->buffer;
  mem->gpu = parent->gpu + origin;
  mem->cpu = parent->cpu + origin;
  icd_mem_hold(parent);
  icd_context_hold(parent->context);
  icd_lock_init(&mem->lock, BASE_LOCK_MEM);
  icd_object_init(&mem->object, &mem_kind);
  return mem;
}

cl_mem icd_mem_import(cl_context context, cl_mem_flags flags, size_t size, int dma_buf,
                      cl_int refused, cl_int small, cl_int *code, const char *call) {
  struct rt_buffer *buffer;
  const int error = rt_buffer_import(context->rt, dma_buf, &buffer);
  if (error) {
    *code = icd_fail(context, error == -ENOMEM ? CL_MEM_OBJECT_ALLOCATION_FAILURE : refused, call,
                     "%s", rt_last_message());
    return NULL;
  }
  if (size == CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM)
    size = buffer->size;
  if (!size || size > buffer->size) {
    *code = icd_fail(context, small, call,
                     "size is %zu; it must be from 1 to the %llu bytes of the dma-buf", size,
                     (unsigned long long)buffer->size);
    rt_buffer_destroy(buffer);
    return NULL;
  }
  return icd_mem_wrap(context, flags, size, buffer, 0, code, call);
}
