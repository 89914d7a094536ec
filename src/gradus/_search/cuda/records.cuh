// The records that host and kernel exchange. batch.py has the same records as NumPy types; device.py puts
// the numbers of the losses (enum Loss) before all of the source.
#pragma once
#include "platform.cuh"

struct Job {  // a search as the host requests it
    u64 seed[2];
    u64 max_iter;
    u32 examples;  // their number
    u32 loss, history, restarts;
    u32 limit_ms;  // 0: no limit
};

struct Slot {  // one search between launches; its wiring and history are in arrays of their own
    u64 random[2];
    u64 step, iterations;
    u32 search;  // NONE: this slot is empty
    u32 restart, cost, best;
    u32 first;   // Lgh: the first target with an error
    u32 place;   // step modulo the length of the history
    u32 began_ms;
};

struct Result {  // the network itself is in Batch::best
    u64 iterations;
    u32 cost, restarts, live, stopped;
};

struct Counters {
    u64 next;      // the first search that no lane has taken
    u64 finished;  // length of Batch::finished
    u64 steps;     // of all searches, since the batch began
    u64 ran_ns;    // how long the first block of the last launch ran; 0 if there is no such clock
};

struct Batch {  // passed by value at every launch
    const u32 *inputs, *targets;  // packed examples: [search][node or target][word]
    const Job* jobs;
    Slot* slots;
    u32 *wiring, *history;        // of each slot
    u32* best;                    // of each search: the best wiring so far
    Result* results;
    u32* finished;                // searches in the order in which they ended
    Counters* counters;
    const u32* active;            // slots that this launch continues
    u64 rounds;
    u32 n_inputs, n_gates, n_targets, n_searches, n_active;
    u32 history_room;             // words of a slot's history
    u32 now_ms;
    u32 stop;                     // end every search with its best network so far
};

DEVICE u32 wiring_words(const Batch& batch) { return WIDE ? batch.n_gates : (batch.n_gates + 1) / 2; }
DEVICE u32 live_words(const Batch& batch) { return (batch.n_gates + 31) / 32; }
