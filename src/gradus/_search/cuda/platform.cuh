// Differences between a GPU and a plain C++ compiler, so that the same search also runs, and is tested, without a GPU.
//
// Constants that must be defined when this is compiled:
//   WORDS    32-bit words of a node's value that one lane works on
//   PARTS    lanes that share a network; a power of two. Each has its own copy of the wiring and of the live gates and WORDS
//            words of the values, and draws the same moves: only errors are summed over the lanes
//   WIDE     0: a source fits in a byte, 1: it takes two
//   LANES    lanes of a warp that are used; a power of two up to 32. A lane's data is stored with a stride of LANES words, so
//            that no two lanes ever access the same bank of shared memory
//   GROUP    gates evaluated together
//   DRAWS    moves a lane may draw in a round until one is at a live gate
//   REFRESH  rounds after which the live sets are made exact again
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

const u32 NETWORKS = LANES / PARTS;  // of a warp; part p of network k is lane p * NETWORKS + k

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")  // where the instruction cache matters more than speed
#define SOME_UNROLLED _Pragma("unroll 4")
#define SYNC_WARP() __syncwarp()
DEVICE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }
DEVICE u32 count_ones(u32 bits) { return __popc(bits); }
DEVICE u32 lowest_bit(u32 bits) { return __ffs(bits) - 1; }
DEVICE u32 highest_bit(u32 bits) { return 31 - __clz(bits); }
DEVICE u32 nand(u32 a, u32 b) {  // one instruction, where the compiler would use two
    u32 out;
    asm("lop3.b32 %0, %1, %2, 0, 0x3F;" : "=r"(out) : "r"(a), "r"(b));
    return out;
}
// The next two hide where a number comes from: otherwise the compiler computes addresses in more steps.
DEVICE u32 opaque(u32 number) {
    asm("" : "+r"(number));
    return number;
}
DEVICE u32* opaque_shared(u32* at) {
    return (u32*)__cvta_shared_to_generic(opaque((u32)__cvta_generic_to_shared(at)));
}
DEVICE u64 fetch_add(u64* at, u64 amount) { return atomicAdd(at, amount); }
// An atomic operation whose result is not used, so that the lane does not wait for memory here.
DEVICE void set_bits(u32* at, u32 bits) { atomicOr(at, bits); }
DEVICE bool any_lane(bool mine) { return __any_sync(0xFFFFFFFFu, mine); }
// The next two exchange numbers between the lanes of a network, which always call them together.
DEVICE u32 lanes_of_network() {
    u32 first = 0;
    UNROLL for (u32 part = 0; part < PARTS; part++) first |= 1u << (part * NETWORKS);
    return first << (threadIdx.x % NETWORKS);
}
DEVICE u32 sum_of_parts(u32 mine) {
    UNROLL for (u32 by = NETWORKS; by < LANES; by *= 2) mine += __shfl_xor_sync(lanes_of_network(), mine, by);
    return mine;
}
DEVICE u64 of_first_part(u64 mine) {
    return PARTS == 1 ? mine : __shfl_sync(lanes_of_network(), mine, threadIdx.x % NETWORKS);
}
DEVICE u64 clock_ns() {
    u64 now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
#else
#define DEVICE inline
#define UNROLL
#define ROLLED
#define SOME_UNROLLED
#define SYNC_WARP()
DEVICE u32 high_product(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
DEVICE u32 count_ones(u32 bits) { return __builtin_popcount(bits); }
DEVICE u32 lowest_bit(u32 bits) { return __builtin_ctz(bits); }
DEVICE u32 highest_bit(u32 bits) { return 31 - __builtin_clz(bits); }
DEVICE u32 nand(u32 a, u32 b) { return ~(a & b); }
DEVICE u32 opaque(u32 number) { return number; }
DEVICE u32* opaque_shared(u32* at) { return at; }
DEVICE u64 fetch_add(u64* at, u64 amount) { u64 before = *at; *at += amount; return before; }
DEVICE void set_bits(u32* at, u32 bits) { *at |= bits; }
DEVICE u64 clock_ns() { return 0; }
#if PARTS == 1
DEVICE bool any_lane(bool mine) { return mine; }
DEVICE u32 sum_of_parts(u32 mine) { return mine; }
DEVICE u64 of_first_part(u64 mine) { return mine; }
#else
// The lanes of a network take turns: each runs until it needs a number from the others, and then lets the next one run.
#include <ucontext.h>
struct Turns {
    ucontext_t part[PARTS], home;
    u64 given[2][PARTS];  // of the current exchange and of the one before it
    u32 now, exchanges[PARTS];
};
static Turns turns;
DEVICE const u64* exchange(u64 mine) {
    u32 me = turns.now;
    u64* all = turns.given[turns.exchanges[me]++ % 2];
    all[me] = mine;
    turns.now = (me + 1) % PARTS;
    swapcontext(&turns.part[me], &turns.part[turns.now]);
    return all;
}
DEVICE u32 sum_of_parts(u32 mine) {
    const u64* all = exchange(mine);
    u32 sum = 0;
    for (u32 part = 0; part < PARTS; part++) sum += (u32)all[part];
    return sum;
}
DEVICE u64 of_first_part(u64 mine) { return exchange(mine)[0]; }
DEVICE bool any_lane(bool mine) { return exchange(mine)[0] != 0; }  // all lanes of a network have the same value
#endif
#endif

const u32 NONE = 0xFFFFFFFFu;
