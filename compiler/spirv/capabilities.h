/* SPIR-V capabilities by number (section 3.31 and the extensions' texts). The offered
 * ones are reported by cl_khr_spirv_queries. The refused ones have names for error
 * messages; they include those of modules that were made for Vulkan by mistake,
 * but not all graphics capabilities. X(number, name) */
#ifndef TEGRACL_CAPABILITIES_H
#define TEGRACL_CAPABILITIES_H

#define OFFERED_CAPABILITIES(X)                                                                    \
  X(4, Addresses)                                                                                  \
  X(5, Linkage)                                                                                    \
  X(6, Kernel)                                                                                     \
  X(7, Vector16)                                                                                   \
  X(8, Float16Buffer)                                                                              \
  X(9, Float16)                                                                                    \
  X(10, Float64)                                                                                   \
  X(11, Int64)                                                                                     \
  X(12, Int64Atomics)                                                                              \
  X(13, ImageBasic)                                                                                \
  X(14, ImageReadWrite)                                                                            \
  X(18, Groups)                                                                                    \
  X(20, LiteralSampler)                                                                            \
  X(22, Int16)                                                                                     \
  X(38, GenericPointer)                                                                            \
  X(39, Int8)                                                                                      \
  X(43, Sampled1D)                                                                                 \
  X(44, Image1D)                                                                                   \
  X(46, SampledBuffer)                                                                             \
  X(47, ImageBuffer)                                                                               \
  X(58, SubgroupDispatch)                                                                          \
  X(61, GroupNonUniform)                                                                           \
  X(62, GroupNonUniformVote)                                                                       \
  X(63, GroupNonUniformArithmetic)                                                                 \
  X(64, GroupNonUniformBallot)                                                                     \
  X(65, GroupNonUniformShuffle)                                                                    \
  X(66, GroupNonUniformShuffleRelative)                                                            \
  X(67, GroupNonUniformClustered)                                                                  \
  X(71, UniformDecoration)                                                                         \
  X(5055, ShaderClockKHR)                                                                          \
  X(5568, SubgroupShuffleINTEL)                                                                    \
  X(5569, SubgroupBufferBlockIOINTEL)                                                              \
  X(5570, SubgroupImageBlockIOINTEL)                                                               \
  X(5612, AtomicFloat32MinMaxEXT)                                                                  \
  X(5613, AtomicFloat64MinMaxEXT)                                                                  \
  X(5616, AtomicFloat16MinMaxEXT)                                                                  \
  X(5629, ExpectAssumeKHR)                                                                         \
  X(5837, FPFastMathModeINTEL)                                                                     \
  X(5886, UnstructuredLoopControlsINTEL)                                                           \
  X(5892, KernelAttributesINTEL)                                                                   \
  X(5910, MemoryAccessAliasingINTEL)                                                               \
  X(6017, DotProductInput4x8Bit)                                                                   \
  X(6018, DotProductInput4x8BitPacked)                                                             \
  X(6019, DotProduct)                                                                              \
  X(6025, BitInstructions)                                                                         \
  X(6026, GroupNonUniformRotateKHR)                                                                \
  X(6029, FloatControls2)                                                                          \
  X(6033, AtomicFloat32AddEXT)                                                                     \
  X(6034, AtomicFloat64AddEXT)                                                                     \
  X(6094, OptNoneINTEL)                                                                            \
  X(6095, AtomicFloat16AddEXT)                                                                     \
  X(6115, BFloat16ConversionINTEL)                                                                 \
  X(6141, SplitBarrierINTEL)                                                                       \
  X(6400, GroupUniformArithmeticKHR)                                                               \
  X(6022, CooperativeMatrixKHR) /* the last one: only if its draft is enabled */

#define REFUSED_CAPABILITIES(X)                                                                    \
  X(0, Matrix)                                                                                     \
  X(1, Shader)                                                                                     \
  X(2, Geometry)                                                                                   \
  X(3, Tessellation)                                                                               \
  X(15, ImageMipmap)                                                                               \
  X(17, Pipes)                                                                                     \
  X(19, DeviceEnqueue)                                                                             \
  X(21, AtomicStorage)                                                                             \
  X(59, NamedBarrier)                                                                              \
  X(60, PipeStorage)                                                                               \
  X(68, GroupNonUniformQuad)                                                                       \
  X(4464, DenormPreserve)                                                                          \
  X(4465, DenormFlushToZero)                                                                       \
  X(4466, SignedZeroInfNanPreserve)                                                                \
  X(4467, RoundingModeRTE)                                                                         \
  X(4468, RoundingModeRTZ)                                                                         \
  X(4473, UntypedPointersKHR)                                                                      \
  X(5116, BFloat16TypeKHR)                                                                         \
  X(5117, BFloat16DotProductKHR)                                                                   \
  X(5118, BFloat16CooperativeMatrixKHR)                                                            \
  X(5345, VulkanMemoryModel)                                                                       \
  X(5347, PhysicalStorageBufferAddresses)                                                          \
  X(5603, FunctionPointersINTEL)                                                                   \
  X(5604, IndirectReferencesINTEL)                                                                 \
  X(5606, AsmINTEL)                                                                                \
  X(5817, VariableLengthArrayINTEL)                                                                \
  X(5844, ArbitraryPrecisionIntegersINTEL)                                                         \
  X(6016, DotProductInputAll)                                                                      \
  X(6118, JointMatrixINTEL)

#endif
