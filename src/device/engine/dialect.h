/*
 * The words kernels are written in. This text precedes every kernel text and makes CUDA C
 * (NVRTC) or OpenCL C 1.2 of it. Constants come with -D:
 *
 *     SP_TYPE    0 s, 1 d, 2 c, 3 z: the type of vectors
 *     SP_KIND    0 own, 1 f32, 2 f16, 3 bf16: how values of matrices are stored
 *     SP_GROUP   work-items of a group
 *     SP_DIMENSIONS, SP_GROUP_0, _1, _2  of ranges with 2 or 3 dimensions: how many, and the shape
 * of a group, of SP_GROUP work-items in all SP_NVIDIA  set for OpenCL on NVIDIA devices, whose
 * compiler takes PTX SP_RESIDENT set where a kernel reads what other groups of it wrote before a
 * barrier of all
 *
 * No macro has a name of one letter: NVRTC's own headers use them.
 */
#ifndef SP_GROUP
#define SP_GROUP 256
#endif
#ifndef SP_DIMENSIONS
#define SP_DIMENSIONS 1
#define SP_GROUP_0 SP_GROUP
#define SP_GROUP_1 1
#define SP_GROUP_2 1
#endif
#ifndef SP_TYPE
#define SP_TYPE 1
#endif
#ifndef SP_KIND
#define SP_KIND 0
#endif

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define SP_CUDA 1
#pragma nv_diag_suppress 177 /* functions that a program does not use */
typedef long long offset;    /* 64 bits */
typedef unsigned long long sp_u64;
typedef unsigned int sp_u32;
typedef unsigned short sp_u16;
typedef unsigned char sp_u8;
#define SP_KERNEL extern "C" __global__ void __launch_bounds__(SP_GROUP)
/* One whose registers must last for `groups` groups at once. */
#define SP_KERNEL_OF(groups) extern "C" __global__ void __launch_bounds__(SP_GROUP, groups)
#define SP_GLOBAL
#define SP_LOCAL             /* of pointers to local memory */
#define SP_SHARED __shared__ /* where local memory is declared, in a kernel's outermost scope */
/* Local memory that may be larger than SP_SHARED, one piece a kernel: as many bytes come with the
 * launch. */
#define SP_ROOM(type, name, count)                 \
    extern __shared__ double2 sp_room_of_launch[]; \
    type *const name = (type *)sp_room_of_launch
#define SP_RESTRICT __restrict__
#define SP_INLINE static __device__ __forceinline__
#define SP_BARRIER() __syncthreads()
#define SP_GROUP_ID_0 ((int)blockIdx.x)
#define SP_GROUP_ID_1 ((int)blockIdx.y)
#define SP_GROUP_ID_2 ((int)blockIdx.z)
#define SP_GROUPS_0 ((int)gridDim.x)
#define SP_GROUPS_1 ((int)gridDim.y)
#define SP_GROUPS_2 ((int)gridDim.z)
#define SP_LOCAL_ID_0 ((int)threadIdx.x)
#define SP_LOCAL_ID_1 ((int)threadIdx.y)
#define SP_LOCAL_ID_2 ((int)threadIdx.z)
#define SP_UNROLL _Pragma("unroll")
#define SP_FENCE() __threadfence()
#define SP_DOUBLE_MAX 1.7976931348623157e308
/*
 * Read once and not again soon; read once and all of the cache line at once, by work-items side by
 * side, so that it need not be kept for the next load; read often.
 */
template <typename type> SP_INLINE type sp_once(const type *p)
{
    return __ldcs(p);
}
template <int size> struct sp_streamed;
template <> struct sp_streamed<2> {
    static __device__ __forceinline__ void load(sp_u16 *to, const void *p)
    {
        asm("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(*to) : "l"(p));
    }
    typedef sp_u16 bits;
};
template <> struct sp_streamed<4> {
    static __device__ __forceinline__ void load(sp_u32 *to, const void *p)
    {
        asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(*to) : "l"(p));
    }
    typedef sp_u32 bits;
};
template <> struct sp_streamed<8> {
    static __device__ __forceinline__ void load(sp_u64 *to, const void *p)
    {
        asm("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(*to) : "l"(p));
    }
    typedef sp_u64 bits;
};
template <> struct sp_streamed<16> {
    static __device__ __forceinline__ void load(ulonglong2 *to, const void *p)
    {
        asm("ld.global.nc.L1::no_allocate.v2.u64 {%0, %1}, [%2];"
            : "=l"(to->x), "=l"(to->y)
            : "l"(p));
    }
    typedef ulonglong2 bits;
};
template <typename type> SP_INLINE type sp_stream(const type *p)
{
    union {
        typename sp_streamed<sizeof(type)>::bits bits;
        type value;
    } it;
    sp_streamed<sizeof(type)>::load(&it.bits, p);
    return it.value;
}
#ifdef SP_RESIDENT
template <typename type> SP_INLINE type sp_often(const type *p)
{
    return *p;
}
#else
template <typename type> SP_INLINE type sp_often(const type *p)
{
    return __ldg(p);
}
#endif
#define sp_make2f(re, im) make_float2(re, im)
#define sp_make2d(re, im) make_double2(re, im)
SP_INLINE float sp_bits_float(sp_u32 bits)
{
    return __uint_as_float(bits);
}
SP_INLINE float sp_half_float(sp_u16 bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
SP_INLINE double sp_bits_double(sp_u64 bits)
{
    return __longlong_as_double((long long)bits);
}
SP_INLINE sp_u32 sp_float_bits(float value)
{
    return __float_as_uint(value);
}
SP_INLINE sp_u64 sp_double_bits(double value)
{
    return (sp_u64)__double_as_longlong(value);
}
/* Global memory that other groups write and read meanwhile, a number at a time and without any
 * order among them: what they hold now, and what they are to hold. */
SP_INLINE sp_u32 sp_peek32(const sp_u32 *p)
{
    sp_u32 now;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(p) : "memory");
    return now;
}
SP_INLINE sp_u64 sp_peek64(const sp_u64 *p)
{
    sp_u64 now;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(p) : "memory");
    return now;
}
SP_INLINE void sp_store32(sp_u32 *p, sp_u32 value)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
SP_INLINE void sp_store64(sp_u64 *p, sp_u64 value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
/* On ints of global or local memory; each gives the value from before. */
#define SP_ATOMIC_NEXT(p) atomicAdd(p, 1)
#define SP_ATOMIC_ADD(p, value) atomicAdd(p, value)
#define SP_ATOMIC_MIN(p, value) atomicMin(p, value)
#define SP_ATOMIC_MAX(p, value) atomicMax(p, value)
#define SP_ATOMIC_OR(p, value) atomicOr(p, value)
#define SP_ATOMIC_SWAP_IF(p, expected, value) atomicCAS(p, expected, value)
#define sp_popcount(bits) __popc(bits)
/* A barrier of the group after which it also sees what it wrote to global memory. */
#define SP_BARRIER_ALL() __syncthreads()
/* The same for neighbours within a warp, 32 work-items, whose bits are in the mask. */
#define SP_WARP_BARRIER(mask) __syncwarp(mask)
#if __CUDA_ARCH__ >= 800
#define SP_PREFETCHES 1
template <typename type> SP_INLINE void sp_prefetch(type *to, const type *from, int present)
{
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((sp_u32)__cvta_generic_to_shared(to)),
        "l"(from), "n"(sizeof(type)), "r"(present ? (int)sizeof(type) : 0)
        : "memory");
}
#define SP_PREFETCH(to, from, present) sp_prefetch(to, from, present)
#define SP_PREFETCH_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define SP_AWAIT(left) asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory")
#endif
#else
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef long offset;
typedef ulong sp_u64;
typedef uint sp_u32;
typedef ushort sp_u16;
typedef uchar sp_u8;
#define SP_KERNEL \
    __kernel __attribute__((reqd_work_group_size(SP_GROUP_0, SP_GROUP_1, SP_GROUP_2))) void
#define SP_KERNEL_OF(groups) SP_KERNEL
#define SP_GLOBAL __global
#define SP_LOCAL __local
#define SP_SHARED __local
#define SP_ROOM(type, name, count) __local type name[count]
#define SP_RESTRICT restrict
#define SP_INLINE static inline
#define SP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define SP_GROUP_ID_0 ((int)get_group_id(0))
#define SP_GROUP_ID_1 ((int)get_group_id(1))
#define SP_GROUP_ID_2 ((int)get_group_id(2))
#define SP_GROUPS_0 ((int)get_num_groups(0))
#define SP_GROUPS_1 ((int)get_num_groups(1))
#define SP_GROUPS_2 ((int)get_num_groups(2))
#define SP_LOCAL_ID_0 ((int)get_local_id(0))
#define SP_LOCAL_ID_1 ((int)get_local_id(1))
#define SP_LOCAL_ID_2 ((int)get_local_id(2))
#define SP_UNROLL _Pragma("unroll")
#ifdef SP_NVIDIA /* where the fence of OpenCL holds for a group only */
#define SP_FENCE() asm volatile("membar.gl;" ::: "memory")
#else
#define SP_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#define SP_DOUBLE_MAX 1.7976931348623157e308
#define sp_once(p) (*(p))
#define sp_stream(p) (*(p))
#define sp_often(p) (*(p))
#define sp_make2f(re, im) ((float2)(re, im))
#define sp_make2d(re, im) ((double2)(re, im))
#define sp_bits_float(bits) as_float((uint)(bits))
#define sp_bits_double(bits) as_double((ulong)(bits))
#define sp_float_bits(value) as_uint((float)(value))
#define sp_double_bits(value) as_ulong((double)(value))
#define sp_peek32(p) (*(volatile __global const uint *)(p))
#define sp_peek64(p) (*(volatile __global const ulong *)(p))
#define sp_store32(p, value) (*(volatile __global uint *)(p) = (value))
#define sp_store64(p, value) (*(volatile __global ulong *)(p) = (value))
SP_INLINE float sp_half_float(sp_u16 bits)
{
    return vload_half(0, (const half *)&bits);
}
#define SP_ATOMIC_NEXT(p) atomic_inc(p)
#define SP_ATOMIC_ADD(p, value) atomic_add(p, value)
#define SP_ATOMIC_MIN(p, value) atomic_min(p, value)
#define SP_ATOMIC_MAX(p, value) atomic_max(p, value)
#define SP_ATOMIC_OR(p, value) atomic_or(p, value)
#define SP_ATOMIC_SWAP_IF(p, expected, value) atomic_cmpxchg(p, expected, value)
#define sp_popcount(bits) ((int)popcount(bits))
#define SP_BARRIER_ALL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#ifdef SP_NVIDIA
#define SP_WARP_BARRIER(mask) asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory")
#endif
#endif

/*
 * Copies from global to local memory, a number each, that go on while the group computes where the
 * device can do that. SP_PREFETCH: *to = present ? *from : 0; SP_PREFETCH_COMMIT ends a set of
 * them; SP_AWAIT waits for all sets of this work-item but `left`, after which a barrier shows them
 * to all.
 */
#ifndef SP_PREFETCHES
#define SP_PREFETCH(to, from, present) (*(to) = (present) ? *(from) : SP_ZERO)
#define SP_PREFETCH_COMMIT()
#define SP_AWAIT(left)
#endif

/* For loops whose length is known when they run: `turns` at a time. */
#define SP_PRAGMA(text) _Pragma(#text)
#define SP_UNROLL_BY(turns) SP_PRAGMA(unroll turns)

/* Groups, and the work-items of one, numbered through whatever their shape; and the number of a
 * work-item among all. */
#if SP_DIMENSIONS == 1
#define SP_GROUP_ID SP_GROUP_ID_0
#define SP_GROUPS SP_GROUPS_0
#define SP_LOCAL_ID SP_LOCAL_ID_0
#else
#define SP_GROUP_ID ((SP_GROUP_ID_2 * SP_GROUPS_1 + SP_GROUP_ID_1) * SP_GROUPS_0 + SP_GROUP_ID_0)
#define SP_GROUPS (SP_GROUPS_0 * SP_GROUPS_1 * SP_GROUPS_2)
#define SP_LOCAL_ID ((SP_LOCAL_ID_2 * SP_GROUP_1 + SP_LOCAL_ID_1) * SP_GROUP_0 + SP_LOCAL_ID_0)
#endif
#define SP_GLOBAL_ID ((offset)SP_GROUP_ID * SP_GROUP + SP_LOCAL_ID)
/* The place of a work-item in each dimension of the range. */
#define SP_GLOBAL_ID_0 ((offset)SP_GROUP_ID_0 * SP_GROUP_0 + SP_LOCAL_ID_0)
#define SP_GLOBAL_ID_1 ((offset)SP_GROUP_ID_1 * SP_GROUP_1 + SP_LOCAL_ID_1)
#define SP_GLOBAL_ID_2 ((offset)SP_GROUP_ID_2 * SP_GROUP_2 + SP_LOCAL_ID_2)

/*
 * real: parts of numbers; scalar: elements of vectors; number: what sums and factors are computed
 * in, double or a pair of doubles.
 */
#if SP_TYPE == 0 || SP_TYPE == 2
typedef float real;
typedef float2 real2;
#define sp_make2(re, im) sp_make2f(re, im)
#else
typedef double real;
typedef double2 real2;
#define sp_make2(re, im) sp_make2d(re, im)
#endif
#if SP_TYPE >= 2
#define SP_COMPLEX 1
typedef real2 scalar;
typedef double2 number;
#define SP_ZERO sp_make2(0, 0)
#define SP_ONE sp_make2(1, 0)
#define SP_NUMBER_ZERO sp_make2d(0, 0)
SP_INLINE scalar sp_add(scalar a, scalar b)
{
    return sp_make2(a.x + b.x, a.y + b.y);
}
SP_INLINE scalar sp_sub(scalar a, scalar b)
{
    return sp_make2(a.x - b.x, a.y - b.y);
}
SP_INLINE scalar sp_conj(scalar a)
{
    return sp_make2(a.x, -a.y);
}
SP_INLINE scalar sp_fma(scalar a, scalar b, scalar c)
{
    return sp_make2(fma(a.x, b.x, fma(-a.y, b.y, c.x)), fma(a.x, b.y, fma(a.y, b.x, c.y)));
}
SP_INLINE scalar sp_mul(scalar a, scalar b)
{
    return sp_fma(a, b, SP_ZERO);
}
SP_INLINE scalar sp_scale(real a, scalar b)
{
    return sp_make2(a * b.x, a * b.y);
}
SP_INLINE number sp_number(scalar a)
{
    return sp_make2d((double)a.x, (double)a.y);
}
SP_INLINE scalar sp_scalar(number a)
{
    return sp_make2((real)a.x, (real)a.y);
}
SP_INLINE number sp_number_add(number a, number b)
{
    return sp_make2d(a.x + b.x, a.y + b.y);
}
SP_INLINE number sp_number_fma(number a, number b, number c)
{
    return sp_make2d(fma(a.x, b.x, fma(-a.y, b.y, c.x)), fma(a.x, b.y, fma(a.y, b.x, c.y)));
}
#define SP_NUMBER_CONJ(a) sp_make2d((a).x, -(a).y)
#else
#define SP_COMPLEX 0
typedef real scalar;
typedef double number;
#define SP_ZERO ((real)0)
#define SP_ONE ((real)1)
#define SP_NUMBER_ZERO 0.0
#define sp_add(a, b) ((a) + (b))
#define sp_sub(a, b) ((a) - (b))
#define sp_conj(a) (a)
#define sp_fma(a, b, c) fma((real)(a), (real)(b), (real)(c))
#define sp_mul(a, b) ((a) * (b))
#define sp_scale(a, b) ((a) * (b))
#define sp_number(a) ((double)(a))
#define sp_scalar(a) ((real)(a))
#define sp_number_add(a, b) ((a) + (b))
#define sp_number_fma(a, b, c) fma((double)(a), (double)(b), (double)(c))
#define SP_NUMBER_CONJ(a) (a)
#endif

/* stored: a real of a matrix's values in memory; sp_value(values, place): the scalar it means, read
 * by sp_once(); sp_value_stream() and sp_value_often() by others. */
#if SP_KIND == 0
typedef real stored;
SP_INLINE real sp_widen(stored a)
{
    return a;
}
#elif SP_KIND == 1
typedef float stored;
SP_INLINE real sp_widen(stored a)
{
    return (real)a;
}
#elif SP_KIND == 2
typedef sp_u16 stored;
SP_INLINE real sp_widen(stored a)
{
    return (real)sp_half_float(a);
}
#else
typedef sp_u16 stored;
SP_INLINE real sp_widen(stored a)
{
    return (real)sp_bits_float((sp_u32)a << 16);
}
#endif
#if SP_COMPLEX && SP_KIND == 0
#define SP_VALUE(load, values, place) load((SP_GLOBAL const scalar *)(values) + (place))
#elif SP_COMPLEX
#define SP_VALUE(load, values, place) \
    sp_make2(sp_widen(load(values + 2 * place)), sp_widen(load(values + 2 * place + 1)))
#else
#define SP_VALUE(load, values, place) sp_widen(load((values) + (place)))
#endif
SP_INLINE scalar sp_value_once(SP_GLOBAL const stored *values, offset place)
{
    return SP_VALUE(sp_once, values, place);
}
SP_INLINE scalar sp_value_stream(SP_GLOBAL const stored *values, offset place)
{
    return SP_VALUE(sp_stream, values, place);
}
SP_INLINE scalar sp_value_often(SP_GLOBAL const stored *values, offset place)
{
    return SP_VALUE(sp_often, values, place);
}
#define sp_value sp_value_once

/*
 * Sums over work-items that are neighbours. Every work-item of the group comes to them, with the
 * same number of lanes (a power of two, at most 32; a constant), and all get the sum. The order of
 * additions is fixed. SP_LANE_ROOM(name) declares what they need, in the kernel's outermost scope.
 */
#if defined(SP_CUDA) || defined(SP_NVIDIA)
#define SP_LANE_ROOM(name)
#define SP_LANES_PASS(name) 0
#define SP_LANES_ARG int sp_unused
#ifdef SP_CUDA
SP_INLINE double sp_across(double a, int mask)
{
    return __shfl_xor_sync(0xffffffffu, a, mask);
}
SP_INLINE float sp_acrossf(float a, int mask)
{
    return __shfl_xor_sync(0xffffffffu, a, mask);
}
#else
SP_INLINE float sp_acrossf(float a, int mask)
{
    float b;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(b) : "f"(a), "r"(mask));
    return b;
}
SP_INLINE double sp_across(double a, int mask)
{
    const uint2 bits = as_uint2(a);
    uint low, high;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                 : "=r"(low)
                 : "r"(bits.x), "r"(mask));
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                 : "=r"(high)
                 : "r"(bits.y), "r"(mask));
    return as_double((uint2)(low, high));
}
#endif
#if SP_TYPE == 0 || SP_TYPE == 2
#define sp_across_real sp_acrossf
#else
#define sp_across_real sp_across
#endif
SP_INLINE scalar sp_lanes_sum(scalar a, const int lanes, SP_LANES_ARG)
{
    SP_UNROLL
    for (int mask = lanes / 2; mask > 0; mask /= 2)
#if SP_COMPLEX
        a = sp_add(a, sp_make2(sp_across_real(a.x, mask), sp_across_real(a.y, mask)));
#else
        a += sp_across_real(a, mask);
#endif
    return a;
}
#else
#define SP_LANE_ROOM(name) SP_SHARED scalar name[SP_GROUP]
#define SP_LANES_PASS(name) name
#define SP_LANES_ARG SP_LOCAL scalar *room
SP_INLINE scalar sp_lanes_sum(scalar a, const int lanes, SP_LANES_ARG)
{
    for (int mask = lanes / 2; mask > 0; mask /= 2) {
        SP_BARRIER();
        room[SP_LOCAL_ID] = a;
        SP_BARRIER();
        a = sp_add(a, room[SP_LOCAL_ID ^ mask]);
    }
    return a;
}
#endif

/* The sum over a whole group, SP_GROUP a power of two; all work-items come to it and get it. */
#define SP_SUM_ROOM(name) SP_SHARED number name[SP_GROUP]
SP_INLINE number sp_group_sum(number a, SP_LOCAL number *room)
{
    SP_BARRIER();
    room[SP_LOCAL_ID] = a;
    SP_BARRIER();
    for (int width = SP_GROUP / 2; width > 0; width /= 2) {
        if (SP_LOCAL_ID < width)
            room[SP_LOCAL_ID] = sp_number_add(room[SP_LOCAL_ID], room[SP_LOCAL_ID + width]);
        SP_BARRIER();
    }
    a = room[0];
    SP_BARRIER();
    return a;
}
