// Late acceptance: a round draws moves until one is at a live gate, tries it, and keeps it or takes it back.
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
    u32 compare;      // cost in the history at this step
    u32 lowest;       // where its sweep begins
    u32 cone_words;   // words that its cone may reach
    u32 cost, first;  // after the move
};

// Draws moves and makes those at dead gates, which never change the cost; true if one is at a live gate.
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
        move.after = others > 0 ? after : move.before;  // if there is no other node to read, nothing changes
        connect(net, move.terminal, move.after);
        if (live) return true;
        end_step(walker);
    }
    return false;
}

// Makes live what a move at a live gate reads, and finds where its sweep begins; the sweep also restores the values that
// the last move that was taken back has changed.
DEVICE void prepare_move(const Batch& batch, const Network& net, const Walker& walker, Move& move) {
    u32 gate = move.terminal >> 1, read = move.after - batch.n_inputs;
    move.compare = walker.history[walker.place];
    move.lowest = gate < walker.dirty ? gate : walker.dirty;
    move.cone_words = 0;
    if (move.after >= batch.n_inputs && !is_live(net, read)) {
        move.cone_words = (read >> 5) + 1;
        u32 bottom = grow_cone(batch, net, read);
        move.lowest = bottom < move.lowest ? bottom : move.lowest;
    }
}

DEVICE void sweep_move(const Batch& batch, const Network& net, const Move& move) {
    sweep(batch, net, walk_from(net, move.lowest, move.terminal >> 1, live_words(batch)));
}

// The cost after a move.
DEVICE void cost_move(const Batch& batch, const Network& net, const Walker& walker, Move& move) {
    move.first = walker.first;
    if (walker.loss == LGH) {
        move.cost = global_cost<false>(batch, net, walker, move.first, move.cone_words);
    } else {
        move.cost = local_cost(batch, net, walker);
    }
}

DEVICE void keep_move(const Batch& batch, const Network& net, Walker& walker, const Move& move) {
    forget_cone(net, move.cone_words);
    walker.dirty = NONE;
    walker.cost = move.cost;
    walker.first = move.first;
    if (walker.roots <= move.first) walker.roots = move.first + 1;
    if (move.cost < walker.best) keep_best(batch, net, walker);
}

DEVICE void take_back_move(const Batch& batch, const Network& net, Walker& walker, const Move& move) {
    take_back_cone(net, move.cone_words);
    connect(net, move.terminal, move.before);
    walker.dirty = move.terminal >> 1;
}

DEVICE void decide_move(const Batch& batch, const Network& net, Walker& walker, const Move& move) {
    if (move.cost <= walker.cost || move.cost < move.compare) keep_move(batch, net, walker, move);
    else take_back_move(batch, net, walker, move);
    end_step(walker);
}

// Every lane that can step does so. Lanes that have finished a part of the step wait for the others: otherwise each would
// run the next part on its own.
DEVICE void step_round(const Batch& batch, const Network& net, Walker& walker, bool ready) {
    Move move;
    SYNC_WARP();
    bool found = ready && draw_move(batch, net, walker, move);
    SYNC_WARP();
    if (found) prepare_move(batch, net, walker, move);
    SYNC_WARP();
    if (found) sweep_move(batch, net, move);
    SYNC_WARP();
    if (found) cost_move(batch, net, walker, move);
    SYNC_WARP();
    if (found) decide_move(batch, net, walker, move);
}
