// The cost of a network, in exact integers.
#pragma once
#include "network.cuh"

// The state of a lane's search that is kept in registers.
struct Walker {
    u64 random[2];
    u64 step, limit, iterations;
    u32* history;
    u32 search, restart, cost, best, first, place, began_ms;
    u32 loss, length, examples;
    u32 part;   // which lane of its network this is
#if PARTS == 1
    u32 tail;   // the bits of the last word that stand for examples
#else
    int left;   // examples from this lane's first word on; the last lanes may have none
#endif
    u32 dirty;  // live gates from this one on may have values of a move that was taken back
    u32 roots;  // Lgh: how many targets depend on live gates only
    bool begun;  // its live gates are not known yet, but all values are current
};

DEVICE u32 wrong_bits(const Network& net, const Walker& walker, const u32* output, u32 target, u32 word) {
    u32 bits = output[word * LANES] ^ net.targets[(target * WORDS + word) * LANES];
#if PARTS == 1
    return word + 1 == WORDS ? bits & walker.tail : bits;
#else
    int left = walker.left - (int)(32 * word);
    return left >= 32 ? bits : left <= 0 ? 0 : bits & (NONE >> (32 - left));
#endif
}

DEVICE u32 count_errors(const Batch& batch, const Network& net, const Walker& walker, u32 target) {
    const u32* output = value(net, batch.n_inputs + batch.n_gates - batch.n_targets + target);
    u32 errors = 0;
    FOR_CHUNKS(base) FOR_WORDS(w, base) errors += count_ones(wrong_bits(net, walker, output, target, base + w));
    return sum_of_parts(errors);
}

// L1, Lw and Llh: all targets are live.
DEVICE u32 local_cost(const Batch& batch, const Network& net, const Walker& walker) {
    u32 inherited = walker.loss == LLH ? NONE : 0, slope = walker.loss == LW;
    u32 cost = 0;
    FOR_CHUNKS(base) {
        const u32* output = value(net, batch.n_inputs + batch.n_gates - batch.n_targets);
        u32 wrong[CHUNK] = {0};
        ROLLED for (u32 k = 0; k < batch.n_targets; k++) {
            u32 errors = 0;
            FOR_WORDS(w, base) {
                wrong[w] = (wrong[w] & inherited) | wrong_bits(net, walker, output, k, base + w);
                errors += count_ones(wrong[w]);
            }
            cost += errors * (slope ? batch.n_targets - k : 1);
            output += WORDS * LANES;
        }
    }
    return sum_of_parts(cost);
}

// Lgh: the first target with an error decides. Targets that came after it until now may not be live yet.
template <bool ALL_SETTLED>
DEVICE u32 global_cost(const Batch& batch, const Network& net, const Walker& walker, u32& first, u32& cone_words) {
    u32 hidden = batch.n_gates - batch.n_targets;
    ROLLED for (u32 k = 0; k < batch.n_targets; k++) {
        if (!ALL_SETTLED && k >= walker.roots && !is_live(net, hidden + k)) {
            settle(batch, net, hidden + k);
            cone_words = live_words(batch);
        }
        u32 errors = count_errors(batch, net, walker, k);
        if (errors != 0) {
            first = k;
            return walker.examples * (batch.n_targets - 1 - k) + errors;
        }
    }
    first = batch.n_targets - 1;
    return 0;
}

DEVICE void refresh_live(const Batch& batch, const Network& net, Walker& walker) {
    walker.begun = false;
    walker.roots = walker.loss == LGH ? walker.first + 1 : batch.n_targets;  // targets that the cost depends on
    cone_of_targets(batch, net, walker.roots);
    make_cone_live(batch, net);
}
