// Late acceptance: a round draws moves until one meets a live gate, tries it, and keeps it or takes it back.
#pragma once
#include "cost.cuh"

DEVICE u64 rotate(u64 bits, u32 by) { return (bits << by) | (bits >> (64 - by)); }

DEVICE u64 draw(Walker& walker) {  // xoroshiro128++
    u64 a = walker.random[0], b = walker.random[1];
    u64 bits = rotate(a + b, 17) + a;
    b ^= a;
    walker.random[0] = rotate(a, 49) ^ b ^ (b << 21);
    walker.random[1] = rotate(b, 28);
    return bits;
}

DEVICE void end_step(Walker& walker) {
    walker.history[walker.place] = walker.cost;
    walker.step++;
    walker.place = walker.place + 1 < walker.length ? walker.place + 1 : 0;
}

DEVICE void fill_history(Walker& walker) {
    ROLLED for (u32 at = 0; at < walker.length; at++) walker.history[at] = walker.cost;
    walker.step = 0;
    walker.place = 0;
}

DEVICE void keep_best(const Batch& batch, const Network& net, Walker& walker) {
    walker.best = walker.cost;
    u32 words = wiring_words(batch);
    u32* best = batch.best + (u64)walker.search * words;
    ROLLED for (u32 at = 0; at < words; at++) best[at] = net.wiring[at * LANES];
}

struct Move {
    u32 terminal, before, after;
};

// Draws moves and makes those at gates that do not count, which never change the cost; true if one met a live gate.
DEVICE bool draw_move(const Batch& batch, const Network& net, Walker& walker, Move& move) {
    ROLLED for (u32 k = 0; k < DRAWS; k++) {
        if (walker.step >= walker.limit) return false;
        u64 bits = draw(walker);
        move.terminal = high_product((u32)(bits >> 32), 2 * batch.n_gates);
        u32 gate = move.terminal >> 1, others = readable_nodes(batch, gate) - 1;
        bool live = is_live(net, gate);
        move.before = source(net, move.terminal);
        u32 after = high_product((u32)bits, others);
        after += after >= move.before;
        move.after = others > 0 ? after : move.before;  // where nothing else can be read, nothing changes
        connect(net, move.terminal, move.after);
        if (live) return true;
        end_step(walker);
    }
    return false;
}

DEVICE void keep_move(Walker& walker, u32 cost) {
    walker.cost = cost;
    walker.dirty = NONE;
}

DEVICE void take_back(const Batch& batch, const Network& net, Walker& walker, const Move& move) {
    connect(net, move.terminal, move.before);
    walker.dirty = move.terminal >> 1;
}

DEVICE void end_search_move(const Batch& batch, const Network& net, Walker& walker, const Move& move, u32 compare) {
    u32 first = walker.first;
    u32 cost = walker.loss == LGH ? global_cost<false>(batch, net, walker, first) : local_cost(batch, net, walker);
    if (cost <= walker.cost || cost < compare) {
        forget_cone(batch, net);
        keep_move(walker, cost);
        walker.first = first;
        if (walker.loss == LGH && first >= walker.roots) walker.roots = first + 1;
        if (cost < walker.best) keep_best(batch, net, walker);
    } else {
        take_back_cone(batch, net);
        take_back(batch, net, walker, move);
    }
}

// Shrinking: every example stays right, and the cost is the number of live gates.
DEVICE void end_shrink_move(const Batch& batch, const Network& net, Walker& walker, const Move& move, u32 compare) {
    bool right = all_right(batch, net, walker);
    u32 live = right ? cone_of_targets(batch, net, batch.n_targets) : NONE;
    if (right && (live <= walker.cost || live < compare)) {
        make_cone_live(batch, net);
        keep_move(walker, live);
        if (live < walker.best) keep_best(batch, net, walker);
    } else {
        forget_cone(batch, net);  // what it has made live stays so until a smaller network is found
        take_back(batch, net, walker, move);
    }
}

// Evaluates a move at a live gate, together with what the last one that was taken back has left.
DEVICE void try_move(const Batch& batch, const Network& net, Walker& walker, const Move& move) {
    u32 compare = walker.history[walker.place];
    u32 gate = move.terminal >> 1, read = move.after - batch.n_inputs;
    u32 lowest = gate < walker.dirty ? gate : walker.dirty;
    if (move.after >= batch.n_inputs && !is_live(net, read)) {
        u32 bottom = grow_cone(batch, net, read);
        lowest = bottom < lowest ? bottom : lowest;
    }
    sweep(batch, net, walk_from(net, lowest, gate, live_words(batch)));
    if (walker.phase == SEARCH) end_search_move(batch, net, walker, move, compare);
    else end_shrink_move(batch, net, walker, move, compare);
    end_step(walker);
}
