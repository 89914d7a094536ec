// A network in shared memory: its wiring, its values on the examples, and which of its gates are live.
//
// `live` has every gate that the cost depends on, and sometimes more. Only live gates have current values; after a move
// that was taken back, the sweep of the next move restores them. A gate that is about to be read and is not live becomes
// live, with its `cone`: the gates it depends on that were not live either. If the move is taken back, the gates of the
// cone are no longer live.
//
// Lanes of a warp that branch differently wait for each other, so what every move does is written without branches.
#pragma once
#include "records.cuh"

struct Network {  // every pointer already points at this lane's first word
    u32 *values, *wiring, *live, *cone, *targets;
};

DEVICE u32 shared_words(const Batch& batch) {
    return (batch.n_inputs + batch.n_gates + batch.n_targets) * WORDS + wiring_words(batch) + 2 * live_words(batch);
}

DEVICE Network place_network(const Batch& batch, u32* shared, u32 lane) {
    Network net;
    net.values = opaque_shared(shared + lane);
    net.targets = opaque_shared(net.values + (batch.n_inputs + batch.n_gates) * WORDS * LANES);
    net.wiring = opaque_shared(net.targets + batch.n_targets * WORDS * LANES);
    net.live = opaque_shared(net.wiring + wiring_words(batch) * LANES);
    net.cone = opaque_shared(net.live + live_words(batch) * LANES);
    return net;
}

// ---- wiring

// Both sources of a gate in one number, to be unpacked where they are needed.
DEVICE u32 packed_sources(const Network& net, u32 gate) {
#if WIDE
    return net.wiring[gate * LANES];
#else
    // Half gate % 2 of word gate / 2, its address in fewer steps.
    const u8* at = (const u8*)net.wiring + gate * (2 * LANES) - (gate & 1) * (2 * LANES - 2);
    return opaque(*(const u16*)at);
#endif
}

struct Pair { u32 a, b; };

DEVICE Pair unpack(u32 packed) {
    return WIDE ? Pair{packed & 0xFFFF, packed >> 16} : Pair{packed & 0xFF, packed >> 8};
}

DEVICE Pair sources(const Network& net, u32 gate) { return unpack(packed_sources(net, gate)); }

DEVICE u32 source(const Network& net, u32 terminal) {
#if WIDE
    return ((const u16*)(net.wiring + (terminal >> 1) * LANES))[terminal & 1];
#else
    return ((const u8*)(net.wiring + (terminal >> 2) * LANES))[terminal & 3];
#endif
}

DEVICE void connect(const Network& net, u32 terminal, u32 node) {
#if WIDE
    ((u16*)(net.wiring + (terminal >> 1) * LANES))[terminal & 1] = (u16)node;
#else
    ((u8*)(net.wiring + (terminal >> 2) * LANES))[terminal & 3] = (u8)node;
#endif
}

DEVICE u32 readable_nodes(const Batch& batch, u32 gate) {
    u32 hidden = batch.n_gates - batch.n_targets;
    return batch.n_inputs + (gate < hidden ? gate : hidden);
}

// ---- values

// Values of many words are processed a few words at a time, which then stay in registers.
const u32 CHUNK = WORDS <= 8 ? WORDS : 8;
#define FOR_CHUNKS(base) ROLLED for (u32 base = 0; base < WORDS; base += CHUNK)
#define FOR_WORDS(w, base) UNROLL for (u32 w = 0; w < CHUNK; w++) if (WORDS % CHUNK == 0 || base + w < WORDS)

// In bytes, which makes an address one multiplication and addition.
DEVICE u32* value(const Network& net, u32 node) { return (u32*)((u8*)net.values + node * (WORDS * LANES * 4)); }

DEVICE void evaluate(const Batch& batch, const Network& net, u32 gate) {
    Pair from = sources(net, gate);
    const u32 *a = value(net, from.a), *b = value(net, from.b);
    u32* out = value(net, batch.n_inputs + gate);
    FOR_CHUNKS(base) FOR_WORDS(w, base) {
        u32 at = (base + w) * LANES;
        out[at] = nand(a[at], b[at]);
    }
}

// Walks up the live gates, a group at a time. If too few are left in a word of the set, gates are repeated, which does no
// harm.
struct Cursor {
    u32 word, ahead;  // gates to come in word `at`, and in the one after it
    u32 at, end;
    u32 gate;         // the last one returned
};

DEVICE u32 live_word(const Network& net, u32 at, u32 end) {
    u32 word = net.live[(at < end ? at : 0) * LANES];
    return at < end ? word : 0;
}

// The live gates from `first` on; `any` is one of them.
DEVICE Cursor walk_from(const Network& net, u32 first, u32 any, u32 end) {
    u32 at = first >> 5;
    return {live_word(net, at, end) & (NONE << (first & 31)), live_word(net, at + 1, end), at, end, any};
}

struct Gates {  // a few gates to be evaluated together
    u32 gate[GROUP];
    u32 packed[GROUP];
};

DEVICE Gates next_gates(const Network& net, Cursor& cursor) {
    Gates gates;
    bool empty = cursor.word == 0;
    cursor.at += empty;
    cursor.word = empty ? cursor.ahead : cursor.word;
    cursor.ahead = live_word(net, cursor.at + 1, cursor.end);
    UNROLL for (u32 i = 0; i < GROUP; i++) {
        cursor.gate = cursor.word != 0 ? cursor.at * 32 + lowest_bit(cursor.word) : cursor.gate;
        cursor.word &= cursor.word - 1;
        gates.gate[i] = cursor.gate;
    }
    UNROLL for (u32 i = 0; i < GROUP; i++) gates.packed[i] = packed_sources(net, gates.gate[i]);
    return gates;
}

// All loads come before the first store, so that they overlap: a source that is one of the group is taken from there.
DEVICE void evaluate_chunk(const Batch& batch, const Network& net, const Gates& gates, u32 base) {
    u32 a[GROUP][CHUNK], b[GROUP][CHUNK];
    Pair from[GROUP];
    UNROLL for (u32 i = 0; i < GROUP; i++) {
        from[i] = unpack(gates.packed[i]);
        FOR_WORDS(w, base) {
            a[i][w] = value(net, from[i].a)[(base + w) * LANES];
            b[i][w] = value(net, from[i].b)[(base + w) * LANES];
        }
    }
    UNROLL for (u32 i = 0; i < GROUP; i++) {
        UNROLL for (u32 j = 0; j < i; j++) {
            bool a_is_j = from[i].a == batch.n_inputs + gates.gate[j];
            bool b_is_j = from[i].b == batch.n_inputs + gates.gate[j];
            FOR_WORDS(w, base) {
                a[i][w] = a_is_j ? a[j][w] : a[i][w];  // by now a[j] is the value of gate j
                b[i][w] = b_is_j ? a[j][w] : b[i][w];
            }
        }
        FOR_WORDS(w, base) a[i][w] = nand(a[i][w], b[i][w]);
    }
    UNROLL for (u32 i = 0; i < GROUP; i++)
        FOR_WORDS(w, base) value(net, batch.n_inputs + gates.gate[i])[(base + w) * LANES] = a[i][w];
}

// Evaluates the gates that a cursor walks over, in order.
DEVICE void sweep(const Batch& batch, const Network& net, Cursor cursor) {
    Gates now = next_gates(net, cursor);
    for (;;) {
        bool more = cursor.at < cursor.end;
        Gates next = next_gates(net, cursor);  // the wiring is fetched one group ahead
        FOR_CHUNKS(base) evaluate_chunk(batch, net, now, base);
        if (!more) return;
        now = next;
    }
}

// ---- which gates are live

DEVICE bool is_live(const Network& net, u32 gate) { return (net.live[(gate >> 5) * LANES] >> (gate & 31)) & 1; }

// Adds the gates that a gate reads (with ONLY_DEAD, only dead ones) to the set `cone`; those of the current word `at`, to
// `todo`. Bit k of `pending` is set for word k, and the last bit also for all words after it.
template <bool ONLY_DEAD>
DEVICE void mark_sources(
    const Batch& batch, const Network& net, Pair from, bool wanted, u32 at, u32& todo, u32& pending
) {
    u32 read[2] = {from.a, from.b};
    UNROLL for (u32 t = 0; t < 2; t++) {
        bool is_gate = wanted && read[t] >= batch.n_inputs;
        u32 below = is_gate ? read[t] - batch.n_inputs : at * 32;
        u32 word = below >> 5, bit = is_gate ? 1u << (below & 31) : 0;
        if (ONLY_DEAD) bit &= ~net.live[word * LANES];
        todo |= word == at ? bit : 0;
        u32 elsewhere = word == at ? 0 : bit;
        set_bits(net.cone + word * LANES, elsewhere);
        if (ONLY_DEAD) pending |= elsewhere != 0 ? 1u << (word < 31 ? word : 31) : 0;
    }
}

// Adds a gate that is not live and all it depends on to the cone and to the live gates; returns the lowest of them.
DEVICE u32 grow_cone(const Batch& batch, const Network& net, u32 gate) {
    u32 at = gate >> 5, lowest = gate, pending = 0;
    u32 todo = 1u << (gate & 31), done = 0;
    for (;;) {
        u32 bit = highest_bit(todo);
        todo ^= 1u << bit;
        done |= 1u << bit;
        lowest = at * 32 + bit;
        mark_sources<true>(batch, net, sources(net, lowest), true, at, todo, pending);
        while (todo == 0) {
            net.live[at * LANES] |= done;
            net.cone[at * LANES] |= done;
            if (at <= 31) {
                pending &= (1u << at) - 1;
                if (pending == 0) return lowest;
                at = highest_bit(pending);
            } else {
                at--;
            }
            todo = net.cone[at * LANES] & ~net.live[at * LANES];
            done = 0;
        }
    }
}

// Brings the value of a gate that is not live up to date; all live gates must be current.
DEVICE void settle(const Batch& batch, const Network& net, u32 gate) {
    u32 lowest = grow_cone(batch, net, gate);
    sweep(batch, net, walk_from(net, lowest, gate, (gate >> 5) + 1));
}

// These two work on the first `words` words of the sets.
DEVICE void forget_cone(const Network& net, u32 words) {
    ROLLED for (u32 at = 0; at < words; at++) net.cone[at * LANES] = 0;
}

DEVICE void take_back_cone(const Network& net, u32 words) {
    ROLLED for (u32 at = 0; at < words; at++) {
        net.live[at * LANES] &= ~net.cone[at * LANES];
        net.cone[at * LANES] = 0;
    }
}

DEVICE void make_cone_live(const Batch& batch, const Network& net) {
    ROLLED for (u32 at = 0; at < live_words(batch); at++) {
        net.live[at * LANES] = net.cone[at * LANES];
        net.cone[at * LANES] = 0;
    }
}

// Makes `cone` exactly the gates that the first `roots` targets depend on, and returns their number. All lanes look at the
// same gate at a time, so that what it reads can be fetched ahead.
DEVICE u32 cone_of_targets(const Batch& batch, const Network& net, u32 roots) {
    forget_cone(net, live_words(batch));
    u32 first = batch.n_gates - batch.n_targets, count = 0, unused = 0;
    ROLLED for (u32 k = 0; k < roots; k++) net.cone[((first + k) >> 5) * LANES] |= 1u << ((first + k) & 31);
    u32 gate = batch.n_gates;
    ROLLED for (u32 at = live_words(batch); at-- > 0;) {
        u32 todo = net.cone[at * LANES];
        SOME_UNROLLED for (; gate > at * 32; gate--) {
            Pair from = sources(net, gate - 1);
            mark_sources<false>(batch, net, from, (todo >> ((gate - 1) & 31)) & 1, at, todo, unused);
        }
        net.cone[at * LANES] = todo;
        count += count_ones(todo);
    }
    return count;
}
