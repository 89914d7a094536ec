// A network in shared memory: its wiring, its values on the examples, and which of its gates count.
//
// `live` holds every gate that the cost depends on, and sometimes some more. Only live gates have right values, and after
// a move that was taken back not even those: they wait for the sweep of the next move. A gate that is about to be read
// and is not live comes with its `cone`: the gates it depends on that are not live either. If the move is kept, the cone
// joins the live ones; if not, it is forgotten.
#pragma once
#include "tables.cuh"

struct Network {  // every pointer already points at this lane's first word
    u32 *values, *wiring, *live, *cone, *targets;
};

DEVICE u32 shared_words(const Batch& batch) {
    return (batch.n_inputs + batch.n_gates + batch.n_targets) * WORDS + wiring_words(batch) + 2 * live_words(batch);
}

DEVICE Network place_network(const Batch& batch, u32* shared, u32 lane) {
    Network net;
    net.values = shared + lane;
    net.targets = net.values + (batch.n_inputs + batch.n_gates) * WORDS * LANES;
    net.wiring = net.targets + batch.n_targets * WORDS * LANES;
    net.live = net.wiring + wiring_words(batch) * LANES;
    net.cone = net.live + live_words(batch) * LANES;
    return net;
}

// ---- wiring

struct Pair { u32 a, b; };

DEVICE Pair sources(const Network& net, u32 gate) {
#if WIDE
    u32 both = net.wiring[gate * LANES];
    return {both & 0xFFFF, both >> 16};
#else
    u32 both = ((const u16*)(net.wiring + (gate >> 1) * LANES))[gate & 1];
    return {both & 0xFF, both >> 8};
#endif
}

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

// Values of many words are worked on a few words at a time, which then have their place in registers.
const u32 CHUNK = WORDS <= 8 ? WORDS : 8;
#define FOR_CHUNKS(base) ROLLED for (u32 base = 0; base < WORDS; base += CHUNK)
#define FOR_WORDS(w, base) UNROLL for (u32 w = 0; w < CHUNK; w++) if (WORDS % CHUNK == 0 || base + w < WORDS)

DEVICE u32* value(const Network& net, u32 node) { return net.values + node * (WORDS * LANES); }

DEVICE void evaluate(const Batch& batch, const Network& net, u32 gate) {
    Pair from = sources(net, gate);
    const u32 *a = value(net, from.a), *b = value(net, from.b);
    u32* out = value(net, batch.n_inputs + gate);
    FOR_CHUNKS(base) FOR_WORDS(w, base) {
        u32 at = (base + w) * LANES;
        out[at] = ~(a[at] & b[at]);
    }
}

// Walks up the gates that are live or in the cone. There is no branch in it: where a word of the sets is empty, it may
// stay at the gate it gave last.
struct Cursor {
    u32 word, ahead;  // gates to come in word `at`, and in the one after it
    u32 at, end;
    u32 gate;
};

DEVICE u32 sweep_word(const Network& net, u32 at, u32 end) {
    return at < end ? net.live[at * LANES] | net.cone[at * LANES] : 0;
}

// The gates from `first` on; `any` is one of them.
DEVICE Cursor walk_from(const Network& net, u32 first, u32 any, u32 end) {
    u32 at = first >> 5;
    return {sweep_word(net, at, end) & (NONE << (first & 31)), sweep_word(net, at + 1, end), at, end, any};
}

DEVICE void advance(const Network& net, Cursor& cursor) {
    bool empty = cursor.word == 0;
    cursor.at += empty;
    cursor.word = empty ? cursor.ahead : cursor.word;
    if (empty) cursor.ahead = sweep_word(net, cursor.at + 1, cursor.end);
    cursor.gate = cursor.word != 0 ? cursor.at * 32 + lowest_bit(cursor.word) : cursor.gate;
    cursor.word &= cursor.word - 1;
}

struct Gates {  // a few gates to be evaluated together
    u32 gate[GROUP];
    Pair from[GROUP];
};

DEVICE Gates next_gates(const Network& net, Cursor& cursor) {
    Gates gates;
    UNROLL for (u32 i = 0; i < GROUP; i++) {
        advance(net, cursor);
        gates.gate[i] = cursor.gate;
    }
    UNROLL for (u32 i = 0; i < GROUP; i++) gates.from[i] = sources(net, gates.gate[i]);
    return gates;
}

// All loads come before the first store, so that they overlap: a source that is one of the group is taken from there.
DEVICE void evaluate_chunk(const Batch& batch, const Network& net, const Gates& gates, u32 base) {
    u32 a[GROUP][CHUNK], b[GROUP][CHUNK];
    UNROLL for (u32 i = 0; i < GROUP; i++) FOR_WORDS(w, base) {
        a[i][w] = value(net, gates.from[i].a)[(base + w) * LANES];
        b[i][w] = value(net, gates.from[i].b)[(base + w) * LANES];
    }
    UNROLL for (u32 i = 0; i < GROUP; i++) {
        UNROLL for (u32 j = 0; j < i; j++) {
            bool a_is_j = gates.from[i].a == batch.n_inputs + gates.gate[j];
            bool b_is_j = gates.from[i].b == batch.n_inputs + gates.gate[j];
            FOR_WORDS(w, base) {
                a[i][w] = a_is_j ? a[j][w] : a[i][w];  // by now a[j] is the value of gate j
                b[i][w] = b_is_j ? a[j][w] : b[i][w];
            }
        }
        FOR_WORDS(w, base) a[i][w] = ~(a[i][w] & b[i][w]);
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

// ---- which gates count

DEVICE bool is_live(const Network& net, u32 gate) { return (net.live[(gate >> 5) * LANES] >> (gate & 31)) & 1; }

// Adds what a gate reads to the set `cone`; of word `at`, which is being worked on, to `todo`.
DEVICE void mark_sources(const Batch& batch, const Network& net, Pair from, u32 at, u32 outside, u32& todo) {
    u32 read[2] = {from.a, from.b};
    UNROLL for (u32 t = 0; t < 2; t++) {
        u32 below = read[t] - batch.n_inputs;
        bool is_gate = read[t] >= batch.n_inputs, here = below >> 5 == at;
        u32 bit = 1u << (below & 31);
        todo |= is_gate && here ? bit & outside : 0;
        if (is_gate && !here) set_bits(net.cone + (below >> 5) * LANES, bit);
    }
}

// Adds a gate that is not live and all it depends on to the cone, live gates left out; returns the lowest of them.
DEVICE u32 grow_cone(const Batch& batch, const Network& net, u32 gate) {
    u32 at = gate >> 5, lowest = gate, done = 0;
    u32 outside = ~net.live[at * LANES];
    u32 todo = net.cone[at * LANES] | (1u << (gate & 31));
    for (;;) {
        if (todo != 0) {
            u32 bit = highest_bit(todo);
            todo ^= 1u << bit;
            done |= 1u << bit;
            lowest = at * 32 + bit;
            mark_sources(batch, net, sources(net, lowest), at, outside, todo);
        } else {
            net.cone[at * LANES] = done;
            if (at == 0) return lowest;
            at--;
            outside = ~net.live[at * LANES];
            todo = net.cone[at * LANES] & outside;
            done = 0;
        }
    }
}

// Gives a gate that is not live its right value, all live ones having theirs.
DEVICE void settle(const Batch& batch, const Network& net, u32 gate) {
    u32 lowest = grow_cone(batch, net, gate);
    sweep(batch, net, walk_from(net, lowest, gate, (gate >> 5) + 1));
}

DEVICE void add_cone_to_live(const Batch& batch, const Network& net) {
    for (u32 at = 0; at < live_words(batch); at++) {
        net.live[at * LANES] |= net.cone[at * LANES];
        net.cone[at * LANES] = 0;
    }
}

DEVICE void make_cone_live(const Batch& batch, const Network& net) {
    ROLLED for (u32 at = 0; at < live_words(batch); at++) {
        net.live[at * LANES] = net.cone[at * LANES];
        net.cone[at * LANES] = 0;
    }
}

DEVICE void forget_cone(const Batch& batch, const Network& net) {
    for (u32 at = 0; at < live_words(batch); at++) net.cone[at * LANES] = 0;
}

// Makes `cone` exactly the gates that the first `roots` targets depend on, and returns how many they are. All lanes look
// at the same gate at a time, so that what it reads can be fetched ahead.
DEVICE u32 cone_of_targets(const Batch& batch, const Network& net, u32 roots) {
    forget_cone(batch, net);
    u32 first = batch.n_gates - batch.n_targets, count = 0;
    ROLLED for (u32 k = 0; k < roots; k++) net.cone[((first + k) >> 5) * LANES] |= 1u << ((first + k) & 31);
    u32 gate = batch.n_gates;
    ROLLED for (u32 at = live_words(batch); at-- > 0;) {
        u32 todo = net.cone[at * LANES];
        SOME_UNROLLED for (; gate > at * 32; gate--) {
            Pair from = sources(net, gate - 1);
            if ((todo >> ((gate - 1) & 31)) & 1) mark_sources(batch, net, from, at, NONE, todo);
        }
        net.cone[at * LANES] = todo;
        count += count_ones(todo);
    }
    return count;
}
