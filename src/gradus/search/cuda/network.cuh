// A network in shared memory: its wiring, its values on the examples, and which of its gates count.
//
// `live` holds every gate that the cost depends on, and sometimes some more. Only live gates have right values. A gate
// that is about to be read and is not live has its `cone` evaluated first: the gates it depends on that are not live
// either. If the move is kept, the cone joins the live ones; if not, it is forgotten, and its values may be anything.
#pragma once
#include "tables.cuh"

struct Network {  // every pointer already points at this lane's first word
    u32 *values, *wiring, *live, *cone, *targets, *undo;
};

DEVICE u32 shared_words(const Batch& batch) {
    return (batch.n_inputs + batch.n_gates + batch.n_targets) * WORDS + wiring_words(batch) + 2 * live_words(batch);
}

DEVICE Network place_network(const Batch& batch, u32* shared, u32 block, u32 lane) {
    Network net;
    net.values = shared + lane;
    net.targets = net.values + (batch.n_inputs + batch.n_gates) * WORDS * LANES;
    net.wiring = net.targets + batch.n_targets * WORDS * LANES;
    net.live = net.wiring + wiring_words(batch) * LANES;
    net.cone = net.live + live_words(batch) * LANES;
    net.undo = batch.undo + (u64)block * ((batch.n_gates + GROUP) * WORDS * LANES) + lane;
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

// Evaluates the gate of a move, keeps its old value in the first place of the undo list and tells whether it changed.
DEVICE bool try_gate(const Batch& batch, const Network& net, u32 gate) {
    Pair from = sources(net, gate);
    const u32 *a = value(net, from.a), *b = value(net, from.b);
    u32* out = value(net, batch.n_inputs + gate);
    u32 changed = 0;
    FOR_CHUNKS(base) FOR_WORDS(w, base) {
        u32 at = (base + w) * LANES;
        u32 before = out[at], after = ~(a[at] & b[at]);
        net.undo[at] = before;
        out[at] = after;
        changed |= before ^ after;
    }
    return changed != 0;
}

struct Cursor {  // walks up a set of gates
    const u32* set;
    u32 word, at, end;
};

DEVICE Cursor walk_from(const u32* set, u32 gate, u32 end) {  // the gates of a set from this one on
    Cursor cursor = {set, 0, gate >> 5, end};
    if (cursor.at < end) cursor.word = set[cursor.at * LANES] & (NONE << (gate & 31));
    return cursor;
}

DEVICE u32 next_gate(Cursor& cursor) {
    while (cursor.word == 0) {
        if (++cursor.at >= cursor.end) return NONE;
        cursor.word = cursor.set[cursor.at * LANES];
    }
    u32 bit = lowest_bit(cursor.word);
    cursor.word &= cursor.word - 1;
    return cursor.at * 32 + bit;
}

struct Gates {  // a few gates to be evaluated together; the last one is repeated where there are no more
    u32 gate[GROUP];
    Pair from[GROUP];
};

DEVICE bool next_gates(const Network& net, Cursor& cursor, Gates& gates) {
    gates.gate[0] = next_gate(cursor);
    if (gates.gate[0] == NONE) return false;
    UNROLL for (u32 i = 1; i < GROUP; i++) {
        u32 next = next_gate(cursor);
        gates.gate[i] = next == NONE ? gates.gate[i - 1] : next;
    }
    UNROLL for (u32 i = 0; i < GROUP; i++) gates.from[i] = sources(net, gates.gate[i]);
    return true;
}

// All loads come before the first store, so that they overlap: a source that is one of the group is taken from there.
template <bool KEEP>
DEVICE void evaluate_chunk(const Batch& batch, const Network& net, const Gates& gates, u32* undo, u32 base) {
    u32 a[GROUP][CHUNK], b[GROUP][CHUNK], before[GROUP][CHUNK];
    UNROLL for (u32 i = 0; i < GROUP; i++) FOR_WORDS(w, base) {
        u32 at = (base + w) * LANES;
        a[i][w] = value(net, gates.from[i].a)[at];
        b[i][w] = value(net, gates.from[i].b)[at];
        if (KEEP) before[i][w] = value(net, batch.n_inputs + gates.gate[i])[at];
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
    UNROLL for (u32 i = 0; i < GROUP; i++) FOR_WORDS(w, base) {
        value(net, batch.n_inputs + gates.gate[i])[(base + w) * LANES] = a[i][w];
        if (KEEP) undo[(i * WORDS + base + w) * LANES] = before[i][w];
    }
}

// Evaluates the gates of a set in order; with KEEP the old values go to the undo list, behind that of the moved gate.
template <bool KEEP>
DEVICE void evaluate_set(const Batch& batch, const Network& net, Cursor cursor) {
    Gates now, next;
    u32* undo = net.undo + WORDS * LANES;
    if (!next_gates(net, cursor, now)) return;
    for (;;) {
        bool more = next_gates(net, cursor, next);  // the wiring is fetched one group ahead
        FOR_CHUNKS(base) evaluate_chunk<KEEP>(batch, net, now, undo, base);
        if (!more) return;
        now = next;
        undo += GROUP * WORDS * LANES;
    }
}

// Puts back what try_gate and evaluate_set<true> above it have changed.
DEVICE void restore(const Batch& batch, const Network& net, u32 gate) {
    const u32 many = CHUNK <= 4 ? 4 : 2;
    Cursor cursor = walk_from(net.live, gate, live_words(batch));  // the moved gate itself is live
    const u32* undo = net.undo;
    u32 at[many];
    for (at[0] = next_gate(cursor); at[0] != NONE; at[0] = next_gate(cursor)) {
        u32 place[many] = {0};
        UNROLL for (u32 i = 1; i < many; i++) {
            u32 next = next_gate(cursor);
            at[i] = next == NONE ? at[i - 1] : next;
            place[i] = next == NONE ? place[i - 1] : i;
        }
        FOR_CHUNKS(base) {
            u32 old[many][CHUNK];
            UNROLL for (u32 i = 0; i < many; i++)
                FOR_WORDS(w, base) old[i][w] = undo[(place[i] * WORDS + base + w) * LANES];
            UNROLL for (u32 i = 0; i < many; i++)
                FOR_WORDS(w, base) value(net, batch.n_inputs + at[i])[(base + w) * LANES] = old[i][w];
        }
        undo += many * WORDS * LANES;
    }
}

// ---- which gates count

DEVICE bool is_live(const Network& net, u32 gate) { return (net.live[(gate >> 5) * LANES] >> (gate & 31)) & 1; }

// Adds what a gate reads to the set `cone`; of word `at`, which is being worked on, to `todo`.
DEVICE void mark_sources(const Batch& batch, const Network& net, u32 gate, u32 at, u32 outside, u32& todo) {
    Pair from = sources(net, gate);
    u32 read[2] = {from.a, from.b};
    UNROLL for (u32 t = 0; t < 2; t++) {
        if (read[t] < batch.n_inputs) continue;
        u32 below = read[t] - batch.n_inputs, bit = 1u << (below & 31);
        if ((below >> 5) == at) todo |= bit & outside;
        else set_bits(net.cone + (below >> 5) * LANES, bit);
    }
}

// Closes `cone` downwards from word `top` on, leaving out live gates if LIMITED; returns how many gates it has.
template <bool LIMITED>
DEVICE u32 close_cone(const Batch& batch, const Network& net, u32 top) {
    u32 count = 0;
    for (u32 at = top + 1; at-- > 0;) {
        u32 outside = LIMITED ? ~net.live[at * LANES] : NONE;
        u32 todo = net.cone[at * LANES] & outside, done = 0;
        while (todo != 0) {
            u32 bit = highest_bit(todo);
            todo ^= 1u << bit;
            done |= 1u << bit;
            count++;
            mark_sources(batch, net, at * 32 + bit, at, outside, todo);
        }
        net.cone[at * LANES] = done;
    }
    return count;
}

// Gives a gate that is not live its right value, and all it depends on.
DEVICE void settle(const Batch& batch, const Network& net, u32 gate) {
    u32 top = gate >> 5;
    net.cone[top * LANES] |= 1u << (gate & 31);
    close_cone<true>(batch, net, top);
    evaluate_set<false>(batch, net, walk_from(net.cone, 0, top + 1));
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

// Makes `cone` exactly the gates that the first `roots` targets depend on, and returns how many they are.
DEVICE u32 cone_of_targets(const Batch& batch, const Network& net, u32 roots) {
    forget_cone(batch, net);
    u32 first = batch.n_gates - batch.n_targets;
    ROLLED for (u32 k = 0; k < roots; k++) net.cone[((first + k) >> 5) * LANES] |= 1u << ((first + k) & 31);
    return close_cone<false>(batch, net, live_words(batch) - 1);
}
