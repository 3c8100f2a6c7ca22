#!/usr/bin/env python3
"""Generates the table of test_misuse.c: calls with one invalid argument, and the error that the
OpenCL specification requires. Each call is listed here once, with valid arguments. Its errors
follow from the kinds of its arguments (a handle may be NULL, stale, of another vendor or of another
kind; wait lists are similar), and from the rows after it, which are the specification's list of
errors. Usage: generate.py OUTPUT"""
import sys

KINDS = ["platform", "device", "context", "queue", "buffer", "program", "kernel", "event", "sampler",
         "semaphore", "command_buffer", "command"]
INVALID = {
    "platform": "CL_INVALID_PLATFORM", "device": "CL_INVALID_DEVICE",
    "context": "CL_INVALID_CONTEXT", "queue": "CL_INVALID_COMMAND_QUEUE",
    "buffer": "CL_INVALID_MEM_OBJECT", "program": "CL_INVALID_PROGRAM",
    "kernel": "CL_INVALID_KERNEL", "event": "CL_INVALID_EVENT", "sampler": "CL_INVALID_SAMPLER",
    "semaphore": "CL_INVALID_SEMAPHORE_KHR", "command_buffer": "CL_INVALID_COMMAND_BUFFER_KHR",
    "command": "CL_INVALID_MUTABLE_COMMAND_KHR", "image": "CL_INVALID_MEM_OBJECT",
}
ALWAYS_ALIVE = {"platform", "device"}
NAMES = set(KINDS) | {"image"}
rows = []


def is_value(text):
    """Whether the text is the name of a value in test_misuse.c and not a C expression."""
    return text.isidentifier() and text[0].islower()


def c_argument(text):
    if is_value(text):
        return "{V_%s, 0}" % text
    return "{V_NONE, (uint64_t)(%s)}" % text


def emit(call, returns, arguments, code, what):
    if returns == "n":
        code = "CL_SUCCESS"  # the call returns NULL without a code
    rows.append('{"%s", "%s", \'%s\', %s, %d, {%s}},' % (
        call, what, returns, code, len(arguments), ", ".join(map(c_argument, arguments))))


def call(name, arguments, *errors, returns="i", good="CL_SUCCESS", handles=True, null=True,
         waits=True, skip=()):
    """Adds the rows of a call. arguments is "name=value ...", where a value that is the name of a
    kind is a handle, and wait_count and waits are a wait list. errors has tuples (argument, bad
    value, code), where argument may be "a b" with a value for each. good is the result with valid
    arguments, or None if the call must not be made with these."""
    pairs = [a.split("=", 1) for a in arguments.split()]
    names = [p[0] for p in pairs]
    values = [p[1] for p in pairs]
    assert len(set(names)) == len(names), name

    def bad(argument, value, code, what=None):
        changed = list(values)
        for a, v in zip(argument.split(), value.split()):
            changed[names.index(a)] = v
        emit(name, returns, changed, code, what or "%s: %s" % (argument, value))

    if good:
        emit(name, returns, values, good, "good")
    for argument, value in pairs:
        kind = value[:-1] if value.endswith("2") else value
        if handles and kind in NAMES and argument not in skip:
            code = INVALID[kind]
            if null:
                bad(argument, "null", code)
            bad(argument, "blank", code)
            if kind not in ALWAYS_ALIVE:
                bad(argument, "stale_" + kind, code)
            for other in KINDS:
                if other != kind:
                    bad(argument, other, code)
    if waits and "waits" in names:
        wait_list(bad)
    for error in errors:
        bad(*error)


def wait_list(bad, code="CL_INVALID_EVENT_WAIT_LIST"):
    bad("wait_count waits", "1 null", code)
    bad("wait_count waits", "0 list_event", code)
    bad("wait_count waits", "2 list_event_null", code)
    for kind in ["null", "blank", "stale_event"] + [k for k in KINDS if k != "event"]:
        bad("wait_count waits", "1 list_" + kind, code)
    bad("wait_count waits", "1 list_event2", "CL_INVALID_CONTEXT")


def handle_list(kind, count, argument, code, null="CL_INVALID_VALUE", zero="CL_INVALID_VALUE"):
    """Returns the errors of an argument that is a list of handles."""
    found = [("%s" % argument, "null", null)] if null else []
    if zero:
        found.append((count, "0", zero))
    for other in ["null", "blank"] + ([] if kind in ALWAYS_ALIVE else ["stale_" + kind]) + \
            [k for k in KINDS if k != kind]:
        found.append((argument, "list_" + other, code))
    return found


# Adds the rows of a query: each known name with a size that is one byte too small and a size of 0,
# and names that do not exist.
def query(name, first, known, *errors, unknown=(0, 1, 0x7FFF, 0xFFFFFFFF), **options):
    call(name, first + " param_name=%s size=4096 value=out size_ret=null" % known[0], *errors,
         good="CL_SUCCESS", **options)
    for each in known:
        arguments = [a.split("=", 1)[1] for a in first.split()]
        emit(name, "i", arguments + [each, "0", "out", "null"], "CL_INVALID_VALUE",
             "%s: size 0" % each)
        emit(name, "s", arguments + [each, "0", "out", "null"], "CL_INVALID_VALUE",
             "%s: a byte too small" % each)
    for each in unknown:
        arguments = [a.split("=", 1)[1] for a in first.split()]
        emit(name, "i", arguments + [str(each), "4096", "out", "null"], "CL_INVALID_VALUE",
             "param_name: 0x%x" % each)


def retain_release(name, kind):
    for verb in "Retain", "Release":
        call("cl" + verb + name, kind + "=" + kind, good=None)


HUGE = "SIZE_MAX"
VALUE = "CL_INVALID_VALUE"
WAITS = "wait_count=0 waits=null event=null"
ERR = "errcode=errcode"

# ---- platform and devices ------------------------------------------------------------------
call("clGetPlatformIDs", "count=1 platforms=out found=null", ("count", "0", VALUE),
     ("platforms", "null", VALUE))
query("clGetPlatformInfo", "platform=platform", [
    "CL_PLATFORM_PROFILE", "CL_PLATFORM_VERSION", "CL_PLATFORM_NUMERIC_VERSION",
    "CL_PLATFORM_NAME", "CL_PLATFORM_VENDOR", "CL_PLATFORM_EXTENSIONS",
    "CL_PLATFORM_EXTENSIONS_WITH_VERSION", "CL_PLATFORM_HOST_TIMER_RESOLUTION",
    "CL_PLATFORM_ICD_SUFFIX_KHR"], null=False)
call("clGetDeviceIDs", "platform=platform type=CL_DEVICE_TYPE_GPU count=1 devices=out found=null",
     ("type", "0", "CL_INVALID_DEVICE_TYPE"), ("type", "1<<20", "CL_INVALID_DEVICE_TYPE"),
     ("type", "CL_DEVICE_TYPE_GPU|1<<30", "CL_INVALID_DEVICE_TYPE"),
     ("type", "CL_DEVICE_TYPE_CPU", "CL_DEVICE_NOT_FOUND"),
     ("type", "CL_DEVICE_TYPE_ACCELERATOR", "CL_DEVICE_NOT_FOUND"),
     ("type", "CL_DEVICE_TYPE_CUSTOM", "CL_DEVICE_NOT_FOUND"),
     ("count", "0", VALUE), ("devices", "null", VALUE), null=False)
query("clGetDeviceInfo", "device=device", """
    CL_DEVICE_TYPE CL_DEVICE_VENDOR_ID CL_DEVICE_MAX_COMPUTE_UNITS
    CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS CL_DEVICE_MAX_WORK_ITEM_SIZES
    CL_DEVICE_MAX_WORK_GROUP_SIZE CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT
    CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF
    CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT
    CL_DEVICE_NATIVE_VECTOR_WIDTH_INT CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG
    CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE
    CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF CL_DEVICE_MAX_CLOCK_FREQUENCY CL_DEVICE_ADDRESS_BITS
    CL_DEVICE_MAX_MEM_ALLOC_SIZE CL_DEVICE_IMAGE_SUPPORT CL_DEVICE_MAX_READ_IMAGE_ARGS
    CL_DEVICE_MAX_WRITE_IMAGE_ARGS CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS
    CL_DEVICE_IMAGE2D_MAX_WIDTH CL_DEVICE_IMAGE2D_MAX_HEIGHT CL_DEVICE_IMAGE3D_MAX_WIDTH
    CL_DEVICE_IMAGE3D_MAX_HEIGHT CL_DEVICE_IMAGE3D_MAX_DEPTH CL_DEVICE_IMAGE_MAX_BUFFER_SIZE
    CL_DEVICE_IMAGE_MAX_ARRAY_SIZE CL_DEVICE_MAX_SAMPLERS CL_DEVICE_IMAGE_PITCH_ALIGNMENT
    CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT CL_DEVICE_MAX_PIPE_ARGS
    CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS CL_DEVICE_PIPE_MAX_PACKET_SIZE
    CL_DEVICE_MAX_PARAMETER_SIZE CL_DEVICE_MEM_BASE_ADDR_ALIGN CL_DEVICE_SINGLE_FP_CONFIG
    CL_DEVICE_DOUBLE_FP_CONFIG CL_DEVICE_GLOBAL_MEM_CACHE_TYPE
    CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE CL_DEVICE_GLOBAL_MEM_CACHE_SIZE
    CL_DEVICE_GLOBAL_MEM_SIZE CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE CL_DEVICE_MAX_CONSTANT_ARGS
    CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE
    CL_DEVICE_LOCAL_MEM_TYPE CL_DEVICE_LOCAL_MEM_SIZE CL_DEVICE_ERROR_CORRECTION_SUPPORT
    CL_DEVICE_PROFILING_TIMER_RESOLUTION CL_DEVICE_ENDIAN_LITTLE CL_DEVICE_AVAILABLE
    CL_DEVICE_COMPILER_AVAILABLE CL_DEVICE_LINKER_AVAILABLE CL_DEVICE_EXECUTION_CAPABILITIES
    CL_DEVICE_QUEUE_ON_HOST_PROPERTIES CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES
    CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE
    CL_DEVICE_MAX_ON_DEVICE_QUEUES CL_DEVICE_MAX_ON_DEVICE_EVENTS CL_DEVICE_BUILT_IN_KERNELS
    CL_DEVICE_PLATFORM CL_DEVICE_NAME CL_DEVICE_VENDOR CL_DRIVER_VERSION CL_DEVICE_PROFILE
    CL_DEVICE_VERSION CL_DEVICE_NUMERIC_VERSION CL_DEVICE_OPENCL_C_VERSION
    CL_DEVICE_OPENCL_C_ALL_VERSIONS CL_DEVICE_OPENCL_C_FEATURES CL_DEVICE_EXTENSIONS
    CL_DEVICE_EXTENSIONS_WITH_VERSION CL_DEVICE_PRINTF_BUFFER_SIZE
    CL_DEVICE_PREFERRED_INTEROP_USER_SYNC CL_DEVICE_PARENT_DEVICE
    CL_DEVICE_PARTITION_MAX_SUB_DEVICES CL_DEVICE_PARTITION_PROPERTIES
    CL_DEVICE_PARTITION_AFFINITY_DOMAIN CL_DEVICE_REFERENCE_COUNT CL_DEVICE_SVM_CAPABILITIES
    CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT
    CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT CL_DEVICE_MAX_NUM_SUB_GROUPS
    CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS CL_DEVICE_IL_VERSION
    CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES CL_DEVICE_ATOMIC_FENCE_CAPABILITIES
    CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT
    CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT
    CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES CL_DEVICE_PIPE_SUPPORT
    CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED
    CL_DEVICE_UUID_KHR CL_DRIVER_UUID_KHR CL_DEVICE_LUID_KHR CL_DEVICE_LUID_VALID_KHR
    CL_DEVICE_NODE_MASK_KHR CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL
    CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR
    CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR
    CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR
    CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR CL_DEVICE_WARP_SIZE_NV
    CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV
    CL_DEVICE_REGISTERS_PER_BLOCK_NV CL_DEVICE_GPU_OVERLAP_NV
    CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV CL_DEVICE_INTEGRATED_MEMORY_NV""".split())
call("clCreateSubDevices",
     "device=device properties=partition_equally count=0 devices=null found=out",
     ("properties", "null", VALUE), ("properties", "partition_unknown", VALUE), good=None)
for verb in "Retain", "Release":
    call("cl%sDevice" % verb, "device=device")
call("clGetDeviceAndHostTimer", "device=device device_time=out host_time=out",
     ("device_time", "null", VALUE), ("host_time", "null", VALUE))
call("clGetHostTimer", "device=device host_time=out", ("host_time", "null", VALUE))

# ---- contexts --------------------------------------------------------------------------------
PROPERTIES = [("properties", "context_unknown", "CL_INVALID_PROPERTY"),
              ("properties", "context_twice", "CL_INVALID_PROPERTY"),
              ("properties", "context_sync", "CL_INVALID_PROPERTY")]
call("clCreateContext", "properties=null count=1 devices=list_device notify=null data=null " + ERR,
     *handle_list("device", "count", "devices", "CL_INVALID_DEVICE"), *PROPERTIES,
     ("properties", "context_bad_platform", "CL_INVALID_PLATFORM"),
     ("data", "out", VALUE), returns="p", good=None)
call("clCreateContextFromType",
     "properties=context_platform type=CL_DEVICE_TYPE_GPU notify=null data=null " + ERR,
     ("type", "0", "CL_INVALID_DEVICE_TYPE"), ("type", "1<<20", "CL_INVALID_DEVICE_TYPE"),
     ("type", "CL_DEVICE_TYPE_CPU", "CL_DEVICE_NOT_FOUND"),
     ("type", "CL_DEVICE_TYPE_ACCELERATOR", "CL_DEVICE_NOT_FOUND"),
     ("properties", "context_platform_unknown", "CL_INVALID_PROPERTY"),
     ("properties", "context_twice", "CL_INVALID_PROPERTY"),
     ("data", "out", VALUE), returns="p", good=None)
retain_release("Context", "context")
query("clGetContextInfo", "context=context", [
    "CL_CONTEXT_REFERENCE_COUNT", "CL_CONTEXT_NUM_DEVICES", "CL_CONTEXT_DEVICES"])
call("clSetContextDestructorCallback", "context=context function=callback data=null",
     ("function", "null", VALUE), good=None)

# ---- queues ------------------------------------------------------------------------------------
FLAGS = ["1<<20", "1ull<<40", "CL_QUEUE_ON_DEVICE",
         "CL_QUEUE_ON_DEVICE|CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE"]
call("clCreateCommandQueue", "context=context device=device flags=0 " + ERR,
     *[("flags", f, VALUE) for f in FLAGS], returns="p", good=None)
for name in "clCreateCommandQueueWithProperties", "clCreateCommandQueueWithPropertiesKHR":
    call(name, "context=context device=device properties=null " + ERR,
         ("properties", "queue_unknown", VALUE), ("properties", "queue_bits", VALUE),
         ("properties", "queue_priority", VALUE), ("properties", "queue_throttle", VALUE),
         ("properties", "queue_size", "CL_INVALID_QUEUE_PROPERTIES"),
         ("properties", "queue_on_device", "CL_INVALID_QUEUE_PROPERTIES"), returns="p", good=None)
retain_release("CommandQueue", "queue")
query("clGetCommandQueueInfo", "queue=queue", [
    "CL_QUEUE_CONTEXT", "CL_QUEUE_DEVICE", "CL_QUEUE_REFERENCE_COUNT", "CL_QUEUE_PROPERTIES",
    "CL_QUEUE_DEVICE_DEFAULT"])
emit("clGetCommandQueueInfo", "i", ["queue", "CL_QUEUE_SIZE", "4096", "out", "null"],
     "CL_INVALID_COMMAND_QUEUE", "CL_QUEUE_SIZE of a queue on the host")
for name in "clFlush", "clFinish":
    call(name, "queue=queue")
call("clSetDefaultDeviceCommandQueue", "context=context device=device queue=queue",
     good="CL_INVALID_OPERATION", skip=("queue",))

# ---- memory objects -----------------------------------------------------------------------------
BUFFER_ERRORS = [
    ("flags", "1<<20", VALUE), ("flags", "CL_MEM_READ_ONLY|CL_MEM_WRITE_ONLY", VALUE),
    ("flags", "CL_MEM_READ_WRITE|CL_MEM_WRITE_ONLY", VALUE),
    ("flags", "CL_MEM_HOST_READ_ONLY|CL_MEM_HOST_WRITE_ONLY", VALUE),
    ("flags", "CL_MEM_HOST_NO_ACCESS|CL_MEM_HOST_WRITE_ONLY", VALUE),
    ("flags host", "CL_MEM_USE_HOST_PTR|CL_MEM_COPY_HOST_PTR out", VALUE),
    ("flags host", "CL_MEM_USE_HOST_PTR|CL_MEM_ALLOC_HOST_PTR out", VALUE),
    ("size", "0", "CL_INVALID_BUFFER_SIZE"), ("size", HUGE, "CL_INVALID_BUFFER_SIZE"),
    ("size", "1ull<<40", "CL_INVALID_BUFFER_SIZE"),
    ("flags", "CL_MEM_USE_HOST_PTR", "CL_INVALID_HOST_PTR"),
    ("flags", "CL_MEM_COPY_HOST_PTR", "CL_INVALID_HOST_PTR"),
    ("host", "out", "CL_INVALID_HOST_PTR"),
    ("flags host", "CL_MEM_ALLOC_HOST_PTR out", "CL_INVALID_HOST_PTR"),
    ("flags", "CL_MEM_IMMUTABLE_EXT", VALUE),
    ("flags host", "CL_MEM_IMMUTABLE_EXT|CL_MEM_COPY_HOST_PTR|CL_MEM_READ_WRITE out", VALUE)]
call("clCreateBuffer", "context=context flags=0 size=64 host=null " + ERR, *BUFFER_ERRORS,
     returns="p", good=None)
call("clCreateBufferWithProperties",
     "context=context properties=null flags=0 size=64 host=null " + ERR, *BUFFER_ERRORS,
     ("properties", "mem_unknown", "CL_INVALID_PROPERTY"),
     ("properties", "mem_address", "CL_INVALID_PROPERTY"),
     ("properties", "mem_dma_buf", "CL_INVALID_PROPERTY"),
     ("properties", "mem_devices", "CL_INVALID_DEVICE"), returns="p", good=None)
call("clCreateSubBuffer",
     "buffer=buffer flags=0 type=CL_BUFFER_CREATE_TYPE_REGION region=region " + ERR,
     ("buffer", "sub_buffer", "CL_INVALID_MEM_OBJECT"), ("type", "0", VALUE),
     ("region", "null", VALUE), ("region", "region_beyond", VALUE),
     ("region", "region_overflow", VALUE), ("region", "region_far", VALUE),
     ("region", "region_empty", "CL_INVALID_BUFFER_SIZE"),
     ("region", "region_misaligned", "CL_MISALIGNED_SUB_BUFFER_OFFSET"),
     ("flags", "1<<20", VALUE), ("flags", "CL_MEM_USE_HOST_PTR", VALUE),
     ("flags", "CL_MEM_COPY_HOST_PTR", VALUE), ("flags", "CL_MEM_ALLOC_HOST_PTR", VALUE),
     ("flags", "CL_MEM_READ_ONLY|CL_MEM_WRITE_ONLY", VALUE),
     ("buffer flags", "read_only CL_MEM_WRITE_ONLY", VALUE),
     ("buffer flags", "read_only CL_MEM_READ_WRITE", VALUE),
     ("buffer flags", "no_access CL_MEM_HOST_READ_ONLY", VALUE),
     ("buffer flags", "host_writes CL_MEM_HOST_READ_ONLY", VALUE), returns="p", good=None)
retain_release("MemObject", "buffer")
query("clGetMemObjectInfo", "buffer=buffer", [
    "CL_MEM_TYPE", "CL_MEM_FLAGS", "CL_MEM_SIZE", "CL_MEM_HOST_PTR", "CL_MEM_MAP_COUNT",
    "CL_MEM_REFERENCE_COUNT", "CL_MEM_CONTEXT", "CL_MEM_ASSOCIATED_MEMOBJECT", "CL_MEM_OFFSET",
    "CL_MEM_USES_SVM_POINTER"])
emit("clGetMemObjectInfo", "i", ["buffer", "CL_MEM_DEVICE_ADDRESS_EXT", "4096", "out", "null"],
     "CL_INVALID_OPERATION", "the address of a buffer made without the property")
call("clSetMemObjectDestructorCallback", "buffer=buffer function=callback data=null",
     ("function", "null", VALUE), good=None)
call("clCreatePipe", "context=context flags=0 packet=4 count=4 properties=null " + ERR,
     returns="p", good=None)
call("clGetPipeInfo", "pipe=buffer param_name=CL_PIPE_PACKET_SIZE size=4 value=out size_ret=null",
     good="CL_INVALID_MEM_OBJECT")
query("clGetImageInfo", "image=image", [
    "CL_IMAGE_FORMAT", "CL_IMAGE_ELEMENT_SIZE", "CL_IMAGE_ROW_PITCH", "CL_IMAGE_SLICE_PITCH",
    "CL_IMAGE_WIDTH", "CL_IMAGE_HEIGHT", "CL_IMAGE_DEPTH", "CL_IMAGE_ARRAY_SIZE",
    "CL_IMAGE_NUM_MIP_LEVELS", "CL_IMAGE_NUM_SAMPLES"])
IMAGE_ERRORS = [
    ("format", "null", "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"),
    ("format", "format_unknown", "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"),
    ("desc", "null", "CL_INVALID_IMAGE_DESCRIPTOR"),
    ("desc", "zeros", "CL_INVALID_IMAGE_DESCRIPTOR"),
    ("flags", "1<<20", VALUE), ("flags", "CL_MEM_READ_ONLY|CL_MEM_WRITE_ONLY", VALUE),
    ("flags", "CL_MEM_HOST_READ_ONLY|CL_MEM_HOST_WRITE_ONLY", VALUE),
    ("flags", "CL_MEM_USE_HOST_PTR", "CL_INVALID_HOST_PTR"), ("host", "out", "CL_INVALID_HOST_PTR"),
    ("flags", "CL_MEM_IMMUTABLE_EXT", VALUE)]
call("clCreateImage", "context=context flags=0 format=format desc=desc host=null " + ERR,
     *IMAGE_ERRORS, returns="p", good=None)
call("clCreateImageWithProperties",
     "context=context properties=null flags=0 format=format desc=desc host=null " + ERR,
     *IMAGE_ERRORS, ("properties", "mem_unknown", "CL_INVALID_PROPERTY"),
     ("properties", "mem_addressed", "CL_INVALID_PROPERTY"),
     ("properties", "mem_dma_buf", "CL_INVALID_PROPERTY"),
     ("properties", "mem_devices", "CL_INVALID_DEVICE"), returns="p", good=None)
query("clGetImageRequirementsInfoEXT",
      "context=context properties=null flags=CL_MEM_READ_WRITE format=format desc=desc", [
          "CL_IMAGE_REQUIREMENTS_SIZE_EXT", "CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT",
          "CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT",
          "CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT",
          "CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT", "CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT"],
      ("properties", "mem_unknown", "CL_INVALID_PROPERTY"), ("flags", "1<<20", VALUE),
      ("format", "null", VALUE), ("desc", "null", VALUE),
      ("format", "format_unknown", "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"),
      ("desc", "zeros", "CL_INVALID_IMAGE_DESCRIPTOR"))
for dimension in "DEPTH", "ARRAY_SIZE":  # of an image of two dimensions
    emit("clGetImageRequirementsInfoEXT", "i",
         ["context", "null", "0", "format", "desc",
          "CL_IMAGE_REQUIREMENTS_MAX_%s_EXT" % dimension, "4096", "out", "null"],
         "CL_INVALID_IMAGE_DESCRIPTOR", dimension)
call("clGetSupportedImageFormats", "context=context flags=CL_MEM_READ_WRITE "
     "type=CL_MEM_OBJECT_IMAGE2D count=0 formats=null found=out", ("formats", "out", VALUE))
retain_release("Sampler", "sampler")
query("clGetSamplerInfo", "sampler=sampler", [
    "CL_SAMPLER_REFERENCE_COUNT", "CL_SAMPLER_CONTEXT", "CL_SAMPLER_NORMALIZED_COORDS",
    "CL_SAMPLER_ADDRESSING_MODE", "CL_SAMPLER_FILTER_MODE"])
call("clCreateSampler", "context=context normalized=CL_TRUE addressing=CL_ADDRESS_CLAMP "
     "filter=CL_FILTER_NEAREST " + ERR, ("addressing", "0", VALUE), ("filter", "0", VALUE),
     ("normalized", "2", VALUE), returns="p", good=None)
call("clCreateSamplerWithProperties", "context=context properties=null " + ERR,
     ("properties", "sampler_unknown", VALUE), ("properties", "sampler_filter", VALUE),
     ("properties", "sampler_twice", VALUE), returns="p", good=None)

# ---- programs --------------------------------------------------------------------------------------
call("clCreateProgramWithSource", "context=context count=1 strings=strings lengths=null " + ERR,
     ("count", "0", VALUE), ("strings", "null", VALUE), ("strings", "list_null", VALUE),
     returns="p", good=None)
call("clCreateProgramWithBinary", "context=context count=1 devices=list_device lengths=sizes "
     "binaries=strings status=null " + ERR,
     *handle_list("device", "count", "devices", "CL_INVALID_DEVICE"),
     ("lengths", "null", VALUE), ("binaries", "null", VALUE), ("binaries", "list_null", VALUE),
     ("lengths", "zeros", VALUE), returns="p", good=None)
call("clCreateProgramWithBuiltInKernels",
     "context=context count=1 devices=list_device names=text " + ERR,
     *handle_list("device", "count", "devices", "CL_INVALID_DEVICE"),
     ("names", "null", VALUE), ("names", "text", VALUE), returns="p", good=None)
call("clCreateProgramWithIL", "context=context il=text size=4 " + ERR, ("il", "null", VALUE),
     ("size", "0", VALUE), ("il", "text", VALUE), returns="p", good=None)
retain_release("Program", "program")
DEVICES = [("count", "1", VALUE), ("devices", "list_device", VALUE)]
DEVICES += [("count devices", "1 list_" + kind, "CL_INVALID_DEVICE")
            for kind in ["null", "blank"] + [k for k in KINDS if k != "device"]]
call("clBuildProgram", "program=program count=0 devices=null options=null notify=null data=null",
     *DEVICES, ("data", "out", VALUE), good=None)
call("clBuildProgram", "program=idle count=0 devices=null options=bad_option notify=null data=null",
     good="CL_INVALID_BUILD_OPTIONS", handles=False)
call("clCompileProgram", "program=program count=0 devices=null options=null header_count=0 "
     "headers=null names=null notify=null data=null", *DEVICES, ("data", "out", VALUE),
     ("header_count", "1", VALUE), ("headers", "list_program", VALUE), ("names", "strings", VALUE),
     ("header_count headers", "1 list_program", VALUE),
     ("header_count names", "1 strings", VALUE), good=None)
call("clCompileProgram", "program=idle count=0 devices=null options=bad_option header_count=0 "
     "headers=null names=null notify=null data=null", good="CL_INVALID_COMPILER_OPTIONS",
     handles=False)
call("clLinkProgram", "context=context count=0 devices=null options=null program_count=1 "
     "programs=list_program notify=null data=null " + ERR, *DEVICES, ("data", "out", VALUE),
     *handle_list("program", "program_count", "programs", "CL_INVALID_PROGRAM"),
     ("programs", "list_idle", "CL_INVALID_OPERATION"), returns="p", good=None)
query("clGetProgramInfo", "program=program", [
    "CL_PROGRAM_REFERENCE_COUNT", "CL_PROGRAM_CONTEXT", "CL_PROGRAM_NUM_DEVICES",
    "CL_PROGRAM_DEVICES", "CL_PROGRAM_SOURCE", "CL_PROGRAM_BINARY_SIZES",
    "CL_PROGRAM_NUM_KERNELS", "CL_PROGRAM_KERNEL_NAMES",
    "CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT", "CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT"])
for each in "CL_PROGRAM_NUM_KERNELS", "CL_PROGRAM_KERNEL_NAMES":
    emit("clGetProgramInfo", "i", ["idle", each, "4096", "out", "null"],
         "CL_INVALID_PROGRAM_EXECUTABLE", each + " of a program that is not built")
query("clGetProgramBuildInfo", "program=program device=device", [
    "CL_PROGRAM_BUILD_STATUS", "CL_PROGRAM_BUILD_OPTIONS", "CL_PROGRAM_BUILD_LOG",
    "CL_PROGRAM_BINARY_TYPE", "CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE"])
call("clUnloadPlatformCompiler", "platform=platform", null=False)
call("clSetProgramReleaseCallback", "program=program function=callback data=null", good=None)
call("clSetProgramSpecializationConstant", "program=program id=0 size=4 value=out", good=None)

# ---- kernels ---------------------------------------------------------------------------------------
call("clCreateKernel", "program=program name=kernel_name " + ERR, ("name", "null", VALUE),
     ("name", "text", "CL_INVALID_KERNEL_NAME"),
     ("program", "idle", "CL_INVALID_PROGRAM_EXECUTABLE"), returns="p", good=None)
call("clCreateKernelsInProgram", "program=program count=0 kernels=null found=out",
     ("count kernels", "1 out", VALUE), ("program", "idle", "CL_INVALID_PROGRAM_EXECUTABLE"))
retain_release("Kernel", "kernel")
call("clCloneKernel", "kernel=kernel " + ERR, returns="p", good=None)
call("clSetKernelArg", "kernel=kernel index=0 size=sizeof(cl_mem) value=list_buffer",
     *[("index", i, "CL_INVALID_ARG_INDEX") for i in ("3", "4", "1000", "UINT32_MAX")],
     *[("size", s, "CL_INVALID_ARG_SIZE") for s in ("0", "1", "4", "7", "9", "16", HUGE)],
     *[("value", "list_" + k, "CL_INVALID_MEM_OBJECT")
       for k in ["blank", "stale_buffer"] + [k for k in KINDS if k != "buffer"]],
     ("value", "list_buffer2", "CL_INVALID_CONTEXT"),
     ("index size value", "1 4 null", "CL_INVALID_ARG_VALUE"),
     *[("index size value", "1 %s out" % s, "CL_INVALID_ARG_SIZE")
       for s in ("0", "1", "3", "5", "8", HUGE)],
     ("index size value", "2 64 out", "CL_INVALID_ARG_VALUE"))
call("clSetKernelArgSVMPointer", "kernel=kernel index=0 value=svm",
     *[("index", i, "CL_INVALID_ARG_INDEX") for i in ("3", "1000", "UINT32_MAX")],
     ("index", "1", "CL_INVALID_ARG_VALUE"), ("index", "2", "CL_INVALID_ARG_VALUE"),
     ("value", "out", "CL_INVALID_ARG_VALUE"), ("value", "1", "CL_INVALID_ARG_VALUE"))
for name, place, other in ("clSetKernelArgMemPointerINTEL", "svm", "CL_INVALID_ARG_VALUE"), \
        ("clSetKernelArgDevicePointerEXT", "address", "CL_INVALID_ARG_INDEX"):
    call(name, "kernel=kernel index=0 value=" + place,
         *[("index", i, "CL_INVALID_ARG_INDEX") for i in ("3", "1000", "UINT32_MAX")],
         ("index", "1", other), ("index", "2", other))
emit("clSetKernelArgDevicePointerEXT", "i", ["constant_kernel", "0", "address"],
     "CL_INVALID_ARG_INDEX", "a pointer to constant memory")
call("clSetKernelExecInfo", "kernel=kernel param_name=CL_KERNEL_EXEC_INFO_SVM_PTRS "
     "size=sizeof(void*) value=svm_list",
     ("size", "0", VALUE), ("size", "3", VALUE), ("value", "null", VALUE),
     *[("param_name", p, VALUE) for p in ("0", "1", "0xFFFFFFFF")],
     ("param_name size value", "CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM sizeof(cl_bool) truth",
      "CL_INVALID_OPERATION"),
     ("param_name size", "CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM 3", VALUE),
     ("param_name size", "CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL 3", VALUE))
query("clGetKernelInfo", "kernel=kernel", [
    "CL_KERNEL_FUNCTION_NAME", "CL_KERNEL_NUM_ARGS", "CL_KERNEL_REFERENCE_COUNT",
    "CL_KERNEL_CONTEXT", "CL_KERNEL_PROGRAM", "CL_KERNEL_ATTRIBUTES"])
query("clGetKernelArgInfo", "kernel=kernel index=0", [
    "CL_KERNEL_ARG_ADDRESS_QUALIFIER", "CL_KERNEL_ARG_ACCESS_QUALIFIER",
    "CL_KERNEL_ARG_TYPE_NAME", "CL_KERNEL_ARG_TYPE_QUALIFIER", "CL_KERNEL_ARG_NAME"],
    ("index", "3", "CL_INVALID_ARG_INDEX"), ("index", "UINT32_MAX", "CL_INVALID_ARG_INDEX"))
query("clGetKernelWorkGroupInfo", "kernel=kernel device=device", [
    "CL_KERNEL_WORK_GROUP_SIZE", "CL_KERNEL_COMPILE_WORK_GROUP_SIZE",
    "CL_KERNEL_LOCAL_MEM_SIZE", "CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE",
    "CL_KERNEL_PRIVATE_MEM_SIZE"],
    ("param_name", "CL_KERNEL_GLOBAL_WORK_SIZE", VALUE), skip=("device",))
for kind in ["blank"] + [k for k in KINDS if k != "device"]:
    emit("clGetKernelWorkGroupInfo", "i",
         ["kernel", kind, "CL_KERNEL_WORK_GROUP_SIZE", "8", "out", "null"], "CL_INVALID_DEVICE",
         "device: " + kind)
    emit("clGetKernelSubGroupInfo", "i",
         [kind if kind != "kernel" else "null", "device",
          "CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE", "8", "sizes", "8", "out", "null"],
         "CL_INVALID_KERNEL", "kernel: " + kind)

for size in "0", "7":
    emit("clGetKernelSubGroupInfo", "i",
         ["kernel", "device", "CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT", "8", "sizes", size, "out",
          "null"], "CL_INVALID_VALUE", "param_value_size: " + size)

# ---- events ----------------------------------------------------------------------------------------
call("clCreateUserEvent", "context=context " + ERR, returns="p", good=None)
call("clSetUserEventStatus", "event=event status=CL_COMPLETE",
     ("event status", "user_event CL_QUEUED", VALUE),
     ("event status", "user_event CL_RUNNING", VALUE),
     ("event status", "user_event CL_SUBMITTED", VALUE), ("event status", "user_event 100", VALUE),
     ("event", "done_event", "CL_INVALID_OPERATION"), good="CL_INVALID_EVENT")
call("clWaitForEvents", "count=1 events=list_event",
     *handle_list("event", "count", "events", "CL_INVALID_EVENT"),
     ("count events", "2 list_event_null", "CL_INVALID_EVENT"),
     ("count events", "2 list_event_event2", "CL_INVALID_CONTEXT"))
retain_release("Event", "event")
query("clGetEventInfo", "event=event", [
    "CL_EVENT_COMMAND_QUEUE", "CL_EVENT_CONTEXT", "CL_EVENT_COMMAND_TYPE",
    "CL_EVENT_COMMAND_EXECUTION_STATUS", "CL_EVENT_REFERENCE_COUNT"])
call("clSetEventCallback", "event=event type=CL_COMPLETE function=callback data=null",
     ("function", "null", VALUE), ("type", "CL_QUEUED", VALUE), ("type", "100", VALUE),
     ("type", "-1", VALUE), good=None)
query("clGetEventProfilingInfo", "event=event", [
    "CL_PROFILING_COMMAND_QUEUED", "CL_PROFILING_COMMAND_SUBMIT", "CL_PROFILING_COMMAND_START",
    "CL_PROFILING_COMMAND_END", "CL_PROFILING_COMMAND_COMPLETE"],
    ("event", "user_event", "CL_PROFILING_INFO_NOT_AVAILABLE"))

# ---- commands on buffers -----------------------------------------------------------------------------
RANGES = [("size", "1025", VALUE), ("size", HUGE, VALUE), ("offset", "1024", VALUE),
          ("offset", HUGE, VALUE), ("offset size", HUGE + " " + HUGE, VALUE),
          ("offset size", "%s-3 8" % HUGE, VALUE), ("offset size", "512 513", VALUE)]
for name, forbidden in ("clEnqueueReadBuffer", ("no_access", "host_writes")), \
        ("clEnqueueWriteBuffer", ("no_access", "host_reads")):
    call(name, "queue=queue buffer=buffer blocking=CL_TRUE offset=0 size=64 pointer=out " + WAITS,
         *RANGES, ("pointer", "null", VALUE), ("buffer", "buffer2", "CL_INVALID_CONTEXT"),
         ("queue", "queue2", "CL_INVALID_CONTEXT"),
         *[("buffer", f, "CL_INVALID_OPERATION") for f in forbidden],
         ("wait_count waits", "1 list_failed_event",
          "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"))


def rectangle(origin, other, row, slice_):
    return [(origin, "null", VALUE), ("region", "null", VALUE), ("region", "origin", VALUE),
            ("region", "region_flat", VALUE), ("region", "region_huge", VALUE),
            (origin, "origin_beyond", VALUE), (origin, "origin_huge", VALUE),
            (row, "7", VALUE), (row, HUGE, VALUE), (slice_, "15", VALUE),
            (row + " " + slice_, "16 33", VALUE), (slice_, HUGE, VALUE)]


for name, forbidden in ("clEnqueueReadBufferRect", ("no_access", "host_writes")), \
        ("clEnqueueWriteBufferRect", ("no_access", "host_reads")):
    call(name, "queue=queue buffer=buffer blocking=CL_TRUE origin=origin host_origin=origin "
         "region=region_8 row=16 slice=32 host_row=16 host_slice=32 pointer=out " + WAITS,
         *rectangle("origin", "host_origin", "row", "slice"),
         ("host_origin", "null", VALUE), ("host_origin", "origin_huge", VALUE),
         ("host_row", "7", VALUE), ("host_slice", "15", VALUE),
         ("host_row host_slice", "16 33", VALUE), ("pointer", "null", VALUE),
         ("buffer", "buffer2", "CL_INVALID_CONTEXT"), ("queue", "queue2", "CL_INVALID_CONTEXT"),
         *[("buffer", f, "CL_INVALID_OPERATION") for f in forbidden])
call("clEnqueueCopyBuffer", "queue=queue source=buffer target=buffer offset=0 target_offset=512 "
     "size=64 " + WAITS, *RANGES, ("target_offset", "1024", VALUE), ("target_offset", HUGE, VALUE),
     ("source", "buffer2", "CL_INVALID_CONTEXT"), ("target", "buffer2", "CL_INVALID_CONTEXT"),
     ("queue", "queue2", "CL_INVALID_CONTEXT"),
     ("target_offset", "0", "CL_MEM_COPY_OVERLAP"), ("target_offset", "63", "CL_MEM_COPY_OVERLAP"),
     ("offset target_offset", "63 0", "CL_MEM_COPY_OVERLAP"),
     ("source target_offset", "sub_buffer 0", "CL_MEM_COPY_OVERLAP"))
call("clEnqueueCopyBufferRect", "queue=queue source=buffer target=buffer origin=origin "
     "target_origin=origin_512 region=region_8 row=16 slice=32 target_row=16 target_slice=32 "
     + WAITS, *rectangle("origin", "target_origin", "row", "slice"),
     ("target_origin", "null", VALUE), ("target_origin", "origin_huge", VALUE),
     ("target_row", "7", VALUE), ("target_slice", "15", VALUE), ("target_row", "32", VALUE),
     ("target_slice", "64", VALUE),
     ("target_origin", "origin", "CL_MEM_COPY_OVERLAP"),
     ("source", "buffer2", "CL_INVALID_CONTEXT"), ("target", "buffer2", "CL_INVALID_CONTEXT"),
     ("queue", "queue2", "CL_INVALID_CONTEXT"))
call("clEnqueueFillBuffer", "queue=queue buffer=buffer pattern=out pattern_size=4 offset=0 size=64 "
     + WAITS, *RANGES, ("pattern", "null", VALUE),
     *[("pattern_size", s, VALUE) for s in ("0", "3", "5", "12", "256", HUGE)],
     ("offset", "2", VALUE), ("size", "62", VALUE), ("buffer", "buffer2", "CL_INVALID_CONTEXT"),
     ("queue", "queue2", "CL_INVALID_CONTEXT"))
call("clEnqueueMapBuffer", "queue=queue buffer=buffer blocking=CL_TRUE flags=CL_MAP_READ offset=0 "
     "size=64 " + WAITS + " " + ERR, *RANGES, ("size", "0", VALUE), ("flags", "1<<20", VALUE),
     ("flags", "CL_MAP_READ|CL_MAP_WRITE_INVALIDATE_REGION", VALUE),
     ("flags", "CL_MAP_WRITE|CL_MAP_WRITE_INVALIDATE_REGION", VALUE),
     ("buffer", "buffer2", "CL_INVALID_CONTEXT"), ("queue", "queue2", "CL_INVALID_CONTEXT"),
     ("buffer", "no_access", "CL_INVALID_OPERATION"),
     ("buffer", "host_writes", "CL_INVALID_OPERATION"),
     ("buffer flags", "host_reads CL_MAP_WRITE", "CL_INVALID_OPERATION"),
     ("buffer flags", "host_reads CL_MAP_WRITE_INVALIDATE_REGION", "CL_INVALID_OPERATION"),
     ("wait_count waits", "1 list_failed_event",
      "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"), returns="p", good=None)
call("clEnqueueUnmapMemObject", "queue=queue buffer=buffer pointer=out " + WAITS,
     ("pointer", "null", VALUE), ("buffer", "buffer2", "CL_INVALID_CONTEXT"),
     ("queue", "queue2", "CL_INVALID_CONTEXT"), good=VALUE)
call("clEnqueueMigrateMemObjects", "queue=queue count=1 buffers=list_buffer flags=0 " + WAITS,
     *handle_list("buffer", "count", "buffers", "CL_INVALID_MEM_OBJECT"),
     ("buffers", "list_buffer2", "CL_INVALID_CONTEXT"), ("flags", "4", VALUE),
     ("flags", "1ull<<40", VALUE), ("queue", "queue2", "CL_INVALID_CONTEXT"))

# ---- launches, markers and barriers -----------------------------------------------------------------------
LAUNCH = [
    ("dim", "0", "CL_INVALID_WORK_DIMENSION"), ("dim", "4", "CL_INVALID_WORK_DIMENSION"),
    ("dim", "UINT32_MAX", "CL_INVALID_WORK_DIMENSION"),
    ("offset", "huge", "CL_INVALID_GLOBAL_OFFSET"),
    ("kernel", "bare_kernel", "CL_INVALID_KERNEL_ARGS"),
    ("kernel", "kernel2", "CL_INVALID_CONTEXT"), ("queue", "queue2", "CL_INVALID_CONTEXT")]
call("clEnqueueNDRangeKernel", "queue=queue kernel=kernel dim=1 offset=null global=sizes local=null "
     + WAITS, *LAUNCH, ("local", "zeros", "CL_INVALID_WORK_GROUP_SIZE"),
     ("local", "odd", "CL_INVALID_WORK_GROUP_SIZE"),
     ("local", "huge", "CL_INVALID_WORK_ITEM_SIZE"),
     ("dim local", "3 deep", "CL_INVALID_WORK_ITEM_SIZE"),
     ("dim local", "2 wide", "CL_INVALID_WORK_GROUP_SIZE"),
     ("kernel", "tight_kernel", "CL_INVALID_WORK_GROUP_SIZE"),
     ("kernel local", "tight_kernel odd", "CL_INVALID_WORK_GROUP_SIZE"),
     ("kernel", "greedy_kernel", "CL_OUT_OF_RESOURCES"))
call("clEnqueueTask", "queue=queue kernel=kernel " + WAITS,
     ("kernel", "bare_kernel", "CL_INVALID_KERNEL_ARGS"),
     ("kernel", "kernel2", "CL_INVALID_CONTEXT"), ("queue", "queue2", "CL_INVALID_CONTEXT"),
     ("kernel", "tight_kernel", "CL_INVALID_WORK_GROUP_SIZE"))
for name in "clGetKernelSuggestedLocalWorkSize", "clGetKernelSuggestedLocalWorkSizeKHR":
    call(name, "queue=queue kernel=kernel dim=1 offset=null global=sizes suggested=out", *LAUNCH,
         ("suggested", "null", VALUE), ("global", "null", "CL_INVALID_GLOBAL_WORK_SIZE"),
         ("global", "zeros", "CL_INVALID_GLOBAL_WORK_SIZE"))
call("clEnqueueNativeKernel", "queue=queue function=callback args=null args_size=0 count=0 "
     "mems=null places=null " + WAITS, ("function", "null", VALUE), good="CL_INVALID_OPERATION",
     waits=False)
for name in "clEnqueueMarkerWithWaitList", "clEnqueueBarrierWithWaitList":
    call(name, "queue=queue " + WAITS, ("queue wait_count waits", "queue2 1 list_event",
                                        "CL_INVALID_CONTEXT"))
call("clEnqueueMarker", "queue=queue event=out", ("event", "null", VALUE), good=None)
call("clEnqueueBarrier", "queue=queue")
call("clEnqueueWaitForEvents", "queue=queue count=1 events=list_event",
     *handle_list("event", "count", "events", "CL_INVALID_EVENT"),
     ("events", "list_event2", "CL_INVALID_CONTEXT"))
TEXELS = [(a, "null", VALUE) for a in ("origin", "region")]
TEXELS += [("origin", "origin_beyond", VALUE), ("origin", "origin_huge", VALUE),
           ("region", "region_flat", VALUE), ("region", "region_huge", VALUE),
           ("queue", "queue2", "CL_INVALID_CONTEXT")]
for name in "clEnqueueReadImage", "clEnqueueWriteImage":
    call(name, "queue=queue image=image blocking=CL_TRUE origin=origin region=region_8 row=0 "
         "slice=0 pointer=out " + WAITS, *TEXELS, ("pointer", "null", VALUE), ("row", "31", VALUE),
         ("slice", "1", VALUE),
         ("wait_count waits", "1 list_failed_event",
          "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"))
call("clEnqueueFillImage", "queue=queue image=image color=out origin=origin region=region_8 "
     + WAITS, *TEXELS, ("color", "null", VALUE))
call("clEnqueueCopyImage", "queue=queue image=image target=image origin=origin "
     "target_origin=origin_8 region=region_8 " + WAITS, *TEXELS,
     ("target_origin", "null", VALUE), ("target_origin", "origin_beyond", VALUE),
     ("target_origin", "origin", "CL_MEM_COPY_OVERLAP"))
call("clEnqueueCopyImageToBuffer", "queue=queue image=image target=buffer origin=origin "
     "region=region_8 offset=0 " + WAITS, *TEXELS, ("offset", "1024", VALUE),
     ("offset", HUGE, VALUE), ("target", "buffer2", "CL_INVALID_CONTEXT"))
call("clEnqueueCopyBufferToImage", "queue=queue source=buffer image=image offset=0 origin=origin "
     "region=region_8 " + WAITS, *TEXELS, ("offset", "1024", VALUE), ("offset", HUGE, VALUE),
     ("source", "buffer2", "CL_INVALID_CONTEXT"))
call("clEnqueueMapImage", "queue=queue image=image blocking=CL_TRUE flags=CL_MAP_READ "
     "origin=origin region=region_8 row=out slice=null " + WAITS + " " + ERR, *TEXELS,
     ("row", "null", VALUE), ("flags", "1<<20", VALUE),
     ("flags", "CL_MAP_READ|CL_MAP_WRITE_INVALIDATE_REGION", VALUE), returns="p", good=None)

# ---- semaphores ------------------------------------------------------------------------------------------
call("clCreateSemaphoreWithPropertiesKHR", "context=context properties=semaphore_plain " + ERR,
     ("properties", "null", VALUE), ("properties", "zeros", VALUE),
     ("properties", "semaphore_unknown", "CL_INVALID_PROPERTY"),
     ("properties", "semaphore_type", "CL_INVALID_PROPERTY"),
     ("properties", "semaphore_twice", "CL_INVALID_PROPERTY"),
     ("properties", "semaphore_devices", "CL_INVALID_DEVICE"),
     ("properties", "semaphore_fd", "CL_INVALID_PROPERTY"), returns="p", good=None)
for verb in "Retain", "Release":
    call("cl%sSemaphoreKHR" % verb, "semaphore=semaphore", good=None)
query("clGetSemaphoreInfoKHR", "semaphore=semaphore", [
    "CL_SEMAPHORE_CONTEXT_KHR", "CL_SEMAPHORE_REFERENCE_COUNT_KHR", "CL_SEMAPHORE_PROPERTIES_KHR",
    "CL_SEMAPHORE_TYPE_KHR", "CL_SEMAPHORE_PAYLOAD_KHR"])
for verb in "Wait", "Signal":
    call("clEnqueue%sSemaphoresKHR" % verb,
         "queue=queue count=1 semaphores=list_semaphore payloads=null " + WAITS,
         *handle_list("semaphore", "count", "semaphores", "CL_INVALID_SEMAPHORE_KHR"),
         ("queue", "queue2", "CL_INVALID_CONTEXT"),
         ("wait_count waits", "1 list_failed_event",
          "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"), good=None)
call("clGetSemaphoreHandleForTypeKHR", "semaphore=semaphore device=device "
     "type=CL_SEMAPHORE_HANDLE_SYNC_FD_KHR size=4 handle=out size_ret=null", good=VALUE)
call("clReImportSemaphoreSyncFdKHR", "semaphore=semaphore properties=null fd=-1",
     good="CL_INVALID_SEMAPHORE_KHR")

# ---- shared virtual memory ------------------------------------------------------------------------------
call("clSVMAlloc", "context=context flags=CL_MEM_READ_WRITE size=64 alignment=0",
     *[("flags", f, VALUE) for f in (
         "1<<20", "CL_MEM_READ_ONLY|CL_MEM_WRITE_ONLY", "CL_MEM_SVM_ATOMICS", "CL_MEM_USE_HOST_PTR",
         "CL_MEM_SVM_FINE_GRAIN_BUFFER|CL_MEM_SVM_ATOMICS")],
     *[("size", s, VALUE) for s in ("0", HUGE, "1ull<<40")],
     *[("alignment", a, VALUE) for a in ("3", "24", "1u<<31", "UINT32_MAX")],
     returns="n", good=None)
for name in "clEnqueueSVMMemcpy", "clEnqueueMemcpyINTEL":
    call(name, "queue=queue blocking=CL_TRUE target=svm source=out size=64 " + WAITS,
         ("target", "null", VALUE), ("source", "null", VALUE), ("size", HUGE, VALUE),
         ("source", "svm", "CL_MEM_COPY_OVERLAP"), ("source", "svm_8", "CL_MEM_COPY_OVERLAP"),
         ("target source", "svm_8 svm", "CL_MEM_COPY_OVERLAP"),
         ("wait_count waits", "1 list_failed_event",
          "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"))
for name in "clEnqueueSVMMemFill", "clEnqueueMemFillINTEL":
    call(name, "queue=queue target=svm pattern=out pattern_size=4 size=64 " + WAITS,
         ("target", "null", VALUE), ("pattern", "null", VALUE), ("target", "svm_odd", VALUE),
         *[("pattern_size", s, VALUE) for s in ("0", "3", "5", "12", "256", HUGE)],
         ("size", "62", VALUE), ("size", "1", VALUE))
call("clEnqueueMemsetINTEL", "queue=queue target=svm value=0 size=64 " + WAITS,
     ("target", "null", VALUE))
call("clEnqueueSVMMap", "queue=queue blocking=CL_TRUE flags=CL_MAP_READ pointer=svm size=64 "
     + WAITS, ("pointer", "null", VALUE), ("size", "0", VALUE), ("flags", "1<<20", VALUE),
     ("flags", "CL_MAP_READ|CL_MAP_WRITE_INVALIDATE_REGION", VALUE),
     ("wait_count waits", "1 list_failed_event", "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"))
call("clEnqueueSVMUnmap", "queue=queue pointer=svm " + WAITS, ("pointer", "null", VALUE))
call("clEnqueueSVMFree", "queue=queue count=0 pointers=null function=null data=null " + WAITS,
     ("count", "1", VALUE), ("pointers", "svm_list", VALUE),
     ("count pointers", "1 list_null", VALUE))
call("clEnqueueSVMMigrateMem", "queue=queue count=1 pointers=svm_list sizes=null flags=0 " + WAITS,
     ("count", "0", VALUE), ("pointers", "null", VALUE), ("pointers", "list_null", VALUE),
     ("pointers", "list_buffer", VALUE), ("sizes", "huge", VALUE), ("flags", "4", VALUE))
call("clHostMemAllocINTEL", "context=context properties=null size=64 alignment=0 " + ERR,
     *(USM := [("properties", "usm_unknown", "CL_INVALID_PROPERTY"),
               ("properties", "usm_bits", "CL_INVALID_PROPERTY"),
               ("size", "0", "CL_INVALID_BUFFER_SIZE"), ("size", HUGE, "CL_INVALID_BUFFER_SIZE"),
               ("alignment", "3", VALUE), ("alignment", "1u<<31", VALUE)]), returns="p", good=None)
call("clDeviceMemAllocINTEL",
     "context=context device=device properties=null size=64 alignment=0 " + ERR, *USM,
     returns="p", good=None)
call("clSharedMemAllocINTEL",
     "context=context device=device properties=null size=64 alignment=0 " + ERR, *USM,
     returns="p", good=None, skip=("device",))
for name in "clMemFreeINTEL", "clMemBlockingFreeINTEL":
    call(name, "context=context pointer=null", ("pointer", "out", VALUE), ("pointer", "svm_8", VALUE))
query("clGetMemAllocInfoINTEL", "context=context pointer=svm", [
    "CL_MEM_ALLOC_TYPE_INTEL", "CL_MEM_ALLOC_BASE_PTR_INTEL", "CL_MEM_ALLOC_SIZE_INTEL",
    "CL_MEM_ALLOC_DEVICE_INTEL", "CL_MEM_ALLOC_FLAGS_INTEL"])
call("clEnqueueMigrateMemINTEL", "queue=queue pointer=svm size=64 flags=0 " + WAITS,
     ("pointer", "null", VALUE), ("size", "0", VALUE), ("flags", "4", VALUE))
call("clEnqueueMemAdviseINTEL", "queue=queue pointer=svm size=64 advice=0 " + WAITS,
     ("pointer", "null", VALUE), ("size", "0", VALUE))

# ---- external memory ------------------------------------------------------------------------------------
call("clImportMemoryARM", "context=context flags=0 properties=null memory=out size=64 " + ERR,
     ("flags", "1<<20", VALUE), ("flags", "CL_MEM_USE_HOST_PTR", VALUE),
     ("flags", "CL_MEM_READ_ONLY|CL_MEM_WRITE_ONLY", VALUE), ("memory", "null", VALUE),
     ("size", "0", "CL_INVALID_BUFFER_SIZE"), ("size", HUGE, "CL_INVALID_BUFFER_SIZE"),
     ("properties", "usm_unknown", "CL_INVALID_PROPERTY"),
     ("properties", "import_protected", "CL_INVALID_PROPERTY"), returns="p", good=None)
for verb in "Acquire", "Release":
    call("clEnqueue%sExternalMemObjectsKHR" % verb, "queue=queue count=0 buffers=null " + WAITS,
         ("count", "1", VALUE), ("buffers", "list_buffer", VALUE),
         ("wait_count waits", "1 list_failed_event",
          "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"),
         *[("count buffers", "1 list_" + k, "CL_INVALID_MEM_OBJECT")
           for k in ["null", "blank", "stale_buffer"] + KINDS],
         ("count buffers", "1 list_buffer2", "CL_INVALID_CONTEXT"))

# ---- command buffers --------------------------------------------------------------------------------
call("clCreateCommandBufferKHR", "count=1 queues=list_queue properties=null " + ERR,
     *handle_list("queue", "count", "queues", "CL_INVALID_COMMAND_QUEUE"), ("count", "2", VALUE),
     ("properties", "mem_unknown", VALUE), ("properties", "record_bits", VALUE),
     ("properties", "record_twice", VALUE), ("properties", "record_asserts", VALUE),
     returns="p", good=None)
for verb in "Retain", "Release":
    call("cl%sCommandBufferKHR" % verb, "buffer=command_buffer", good=None)
call("clFinalizeCommandBufferKHR", "buffer=command_buffer",
     ("buffer", "final_buffer", "CL_INVALID_OPERATION"), good=None)
query("clGetCommandBufferInfoKHR", "buffer=command_buffer", [
    "CL_COMMAND_BUFFER_NUM_QUEUES_KHR", "CL_COMMAND_BUFFER_QUEUES_KHR",
    "CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR", "CL_COMMAND_BUFFER_STATE_KHR",
    "CL_COMMAND_BUFFER_CONTEXT_KHR"])
call("clEnqueueCommandBufferKHR", "count=0 queues=null buffer=final_buffer " + WAITS,
     *[("buffer", b, "CL_INVALID_COMMAND_BUFFER_KHR")
       for b in ["null", "blank", "stale_command_buffer"] + KINDS if b != "command_buffer"],
     ("buffer", "command_buffer", "CL_INVALID_OPERATION"),
     ("count", "1", VALUE), ("queues", "list_queue", VALUE), ("count queues", "2 list_queue", VALUE),
     *[("count queues", "1 list_" + q, "CL_INVALID_COMMAND_QUEUE")
       for q in ["null", "blank", "stale_queue"] + KINDS if q != "queue"],
     ("count queues", "1 list_queue2", "CL_INVALID_CONTEXT"))

RECORD = "buffer=command_buffer queue=null properties=null "
POINTS = " count=0 points=null point=null handle=null"
SYNC = "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR"
RECORD_ERRORS = [
    ("queue", "queue", "CL_INVALID_COMMAND_QUEUE"), ("queue", "blank", "CL_INVALID_COMMAND_QUEUE"),
    ("buffer", "final_buffer", "CL_INVALID_OPERATION"), ("properties", "mem_unknown", VALUE),
    ("count", "1", SYNC), ("points", "truth", SYNC), ("count points", "1 zeros", SYNC),
    ("count points", "1 huge", SYNC)]
FIXED_ERRORS = RECORD_ERRORS + [("handle", "out", VALUE)]
BOXES = [e for e in TEXELS if e[0] != "queue"]


def foreign(*names):
    return [(n, "buffer2", "CL_INVALID_CONTEXT") for n in names]


call("clCommandBarrierWithWaitListKHR", RECORD + POINTS[1:], *FIXED_ERRORS)
call("clCommandCopyBufferKHR", RECORD + "source=buffer target=buffer offset=0 target_offset=512 "
     "size=64" + POINTS, *FIXED_ERRORS, *RANGES, *foreign("source", "target"),
     ("target_offset", "1024", VALUE), ("target_offset", HUGE, VALUE),
     ("target_offset", "63", "CL_MEM_COPY_OVERLAP"),
     ("source target_offset", "sub_buffer 0", "CL_MEM_COPY_OVERLAP"))
call("clCommandCopyBufferRectKHR", RECORD + "source=buffer target=buffer origin=origin "
     "target_origin=origin_512 region=region_8 row=16 slice=32 target_row=16 target_slice=32"
     + POINTS, *FIXED_ERRORS, *rectangle("origin", "target_origin", "row", "slice"),
     *foreign("source", "target"), ("target_origin", "origin_huge", VALUE),
     ("target_row", "7", VALUE), ("target_slice", "15", VALUE),
     ("target_origin", "origin", "CL_MEM_COPY_OVERLAP"))
call("clCommandFillBufferKHR", RECORD + "mem=buffer pattern=out pattern_size=4 offset=0 size=64"
     + POINTS, *FIXED_ERRORS, *RANGES, *foreign("mem"), ("pattern", "null", VALUE),
     *[("pattern_size", s, VALUE) for s in ("0", "3", "256", HUGE)], ("offset", "2", VALUE),
     ("size", "62", VALUE))
call("clCommandFillImageKHR", RECORD + "image=image color=out origin=origin region=region_8"
     + POINTS, *FIXED_ERRORS, *BOXES, ("color", "null", VALUE))
call("clCommandCopyImageKHR", RECORD + "image=image target=image origin=origin "
     "target_origin=origin_8 region=region_8" + POINTS, *FIXED_ERRORS, *BOXES,
     ("target_origin", "origin_beyond", VALUE), ("target_origin", "origin", "CL_MEM_COPY_OVERLAP"))
call("clCommandCopyImageToBufferKHR", RECORD + "image=image target=buffer origin=origin "
     "region=region_8 offset=0" + POINTS, *FIXED_ERRORS, *BOXES, *foreign("target"),
     ("offset", "1024", VALUE), ("offset", HUGE, VALUE))
call("clCommandCopyBufferToImageKHR", RECORD + "source=buffer image=image offset=0 origin=origin "
     "region=region_8" + POINTS, *FIXED_ERRORS, *BOXES, *foreign("source"),
     ("offset", "1024", VALUE), ("offset", HUGE, VALUE))
call("clCommandSVMMemcpyKHR", RECORD + "target=svm source=svm_8 size=8" + POINTS, *FIXED_ERRORS,
     ("target", "null", VALUE), ("source", "null", VALUE), ("source", "out", VALUE),
     ("target", "out", VALUE), ("source", "svm", "CL_MEM_COPY_OVERLAP"), ("size", HUGE, VALUE))
call("clCommandSVMMemFillKHR", RECORD + "target=svm pattern=out pattern_size=4 size=64" + POINTS,
     *FIXED_ERRORS, ("target", "null", VALUE), ("pattern", "null", VALUE), ("target", "out", VALUE),
     ("target", "svm_odd", VALUE), ("size", "62", VALUE), ("size", "1ull<<30", VALUE),
     *[("pattern_size", s, VALUE) for s in ("0", "3", "256", HUGE)])
call("clCommandNDRangeKernelKHR", RECORD + "kernel=kernel dim=1 offset=null global=sizes local=null"
     + POINTS, *RECORD_ERRORS, *[e for e in LAUNCH if e[0] != "queue"],
     ("local", "zeros", "CL_INVALID_WORK_GROUP_SIZE"), ("local", "odd", "CL_INVALID_WORK_GROUP_SIZE"),
     ("local", "huge", "CL_INVALID_WORK_ITEM_SIZE"),
     ("dim local", "3 deep", "CL_INVALID_WORK_ITEM_SIZE"),
     ("dim local", "2 wide", "CL_INVALID_WORK_GROUP_SIZE"),
     ("kernel", "tight_kernel", "CL_INVALID_WORK_GROUP_SIZE"),
     ("kernel", "greedy_kernel", "CL_OUT_OF_RESOURCES"),
     ("properties", "launch_bits", VALUE), ("properties", "launch_twice", VALUE),
     ("properties", "launch_asserts", VALUE))
UPDATE = "buffer=changing_buffer count=1 types=zeros configs="
call("clUpdateMutableCommandsKHR", UPDATE + "change_nothing",
     *[("buffer", b, "CL_INVALID_COMMAND_BUFFER_KHR")
       for b in ["null", "blank", "stale_command_buffer"] + KINDS if b != "command_buffer"],
     ("buffer", "final_buffer", "CL_INVALID_OPERATION"),
     ("buffer", "command_buffer", "CL_INVALID_OPERATION"),
     ("buffer", "growing_buffer", "CL_INVALID_OPERATION"),
     ("count", "0", VALUE), ("types", "null", VALUE), ("configs", "null", VALUE),
     ("types", "sizes", VALUE), ("configs", "list_null", VALUE))
for change, code in {
        "command_null": "CL_INVALID_MUTABLE_COMMAND_KHR",
        "command_blank": "CL_INVALID_MUTABLE_COMMAND_KHR",
        "command_stale": "CL_INVALID_MUTABLE_COMMAND_KHR",
        "command_foreign": "CL_INVALID_MUTABLE_COMMAND_KHR",
        "dimensions": "CL_INVALID_OPERATION", "arg_list": VALUE, "arg_list_null": VALUE,
        "svm_list": VALUE, "svm_list_null": VALUE, "info_list": VALUE, "info_list_null": VALUE,
        "arg_index": "CL_INVALID_ARG_INDEX", "arg_size": "CL_INVALID_ARG_SIZE",
        "arg_mem": "CL_INVALID_MEM_OBJECT", "local_zero": "CL_INVALID_WORK_GROUP_SIZE",
        "local_large": "CL_INVALID_WORK_ITEM_SIZE", "local_odd": "CL_INVALID_OPERATION",
        "offset_huge": "CL_INVALID_GLOBAL_OFFSET", "fixed_size": "CL_INVALID_OPERATION",
        "fixed_local": "CL_INVALID_OPERATION", "fixed_offset": "CL_INVALID_OPERATION",
        "fixed_info": "CL_INVALID_OPERATION"}.items():
    call("clUpdateMutableCommandsKHR", UPDATE + "change_" + change, good=code, handles=False)
query("clGetMutableCommandInfoKHR", "command=command", [
    "CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR", "CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR",
    "CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR", "CL_MUTABLE_DISPATCH_KERNEL_KHR",
    "CL_MUTABLE_DISPATCH_DIMENSIONS_KHR", "CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR",
    "CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR", "CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR"])

with open(sys.argv[1], "w", encoding="utf-8") as output:
    output.write("\n".join(rows) + "\n")
