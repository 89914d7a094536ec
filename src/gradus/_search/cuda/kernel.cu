// The lanes of a network run one search after another: they take searches from a queue, and an unfinished search is saved in
// its slot until the next launch. All lanes write the same values to the same places; what must happen once, the first does.
#include "search.cuh"

// Loads this lane's words of every row of a search.
DEVICE void load_rows(u32* to, const u32* from, const Walker& walker, u32 rows) {
    from += (u64)walker.search * (rows * PARTS * WORDS) + walker.part * WORDS;
    ROLLED for (u32 row = 0; row < rows; row++)
        ROLLED for (u32 w = 0; w < WORDS; w++) to[(row * WORDS + w) * LANES] = from[row * PARTS * WORDS + w];
}

DEVICE void load_job(const Batch& batch, const Network& net, Walker& walker) {
    const Job& job = batch.jobs[walker.search];
    load_rows(net.values, batch.inputs, walker, batch.n_inputs);
    load_rows(net.targets, batch.targets, walker, batch.n_targets);
    walker.loss = job.loss;
    walker.length = job.history;
    walker.examples = job.examples;
#if PARTS == 1
    walker.tail = NONE >> (WORDS * 32 - job.examples);
#else
    walker.left = (int)job.examples - (int)(walker.part * WORDS * 32);
#endif
    walker.limit = job.max_iter;
}

// Draws a random network and makes everything else consistent with it.
DEVICE void start(const Batch& batch, const Network& net, Walker& walker) {
    ROLLED for (u32 gate = 0; gate < batch.n_gates; gate++) {
        u64 bits = draw(walker);
        u32 nodes = readable_nodes(batch, gate);
        connect(net, 2 * gate, high_product((u32)(bits >> 32), nodes));
        connect(net, 2 * gate + 1, high_product((u32)bits, nodes));
        evaluate(batch, net, gate);
    }
    walker.dirty = NONE;
    walker.roots = batch.n_targets;  // for now every gate has its right value
    walker.first = batch.n_targets - 1;
    u32 unused = 0;
    walker.cost = walker.loss == LGH ? global_cost<true>(batch, net, walker, walker.first, unused)
                                     : local_cost(batch, net, walker);
    walker.begun = true;
    fill_history(walker);
    if (walker.cost < walker.best) keep_best(batch, net, walker);
}

DEVICE void finish(const Batch& batch, const Network& net, Walker& walker, bool stopped) {
    u32 words = wiring_words(batch);
    const u32* best = batch.best + (u64)walker.search * words;
    ROLLED for (u32 at = 0; at < words; at++) net.wiring[at * LANES] = best[at];
    Result& result = batch.results[walker.search];
    result.cost = walker.best;
    result.iterations = walker.iterations + walker.step;
    result.restarts = walker.restart;
    result.live = cone_of_targets(batch, net, batch.n_targets);
    result.stopped = stopped && walker.best != 0;
    if (walker.part == 0) batch.finished[fetch_add(&batch.counters->finished, 1)] = walker.search;
    walker.search = NONE;
}

// Takes the next search from the queue; false if there is none.
DEVICE bool take_next(const Batch& batch, const Network& net, Walker& walker) {
    u64 next = of_first_part(walker.part == 0 ? fetch_add(&batch.counters->next, 1) : 0);
    if (next >= batch.n_searches) return false;
    const Job& job = batch.jobs[next];
    walker.search = (u32)next;
    walker.random[0] = job.seed[0];
    walker.random[1] = job.seed[1];
    walker.iterations = 0;
    walker.restart = 0;
    walker.best = NONE;
    walker.began_ms = batch.now_ms;
    load_job(batch, net, walker);
    return true;
}

// Restarts or ends a search that has reached zero or its last step; false if the lane has nothing left to do.
DEVICE bool turn(const Batch& batch, const Network& net, Walker& walker) {
    if (walker.search != NONE && walker.cost != 0 && walker.restart < batch.jobs[walker.search].restarts) {
        walker.iterations += walker.step;
        walker.restart++;
    } else {
        if (walker.search != NONE) finish(batch, net, walker, false);
        if (!take_next(batch, net, walker)) return false;
    }
    start(batch, net, walker);
    return true;
}

// Loads a search from its slot: values and live gates follow from the wiring.
DEVICE void resume(const Batch& batch, const Network& net, Walker& walker, u32 slot) {
    const Slot& from = batch.slots[slot];
    walker.search = from.search;
    walker.dirty = NONE;
    if (walker.search == NONE) return;
    walker.random[0] = from.random[0];
    walker.random[1] = from.random[1];
    walker.step = from.step;
    walker.iterations = from.iterations;
    walker.restart = from.restart;
    walker.cost = from.cost;
    walker.best = from.best;
    walker.first = from.first;
    walker.place = from.place;
    walker.began_ms = from.began_ms;
    load_job(batch, net, walker);
    u32 words = wiring_words(batch);
    ROLLED for (u32 at = 0; at < words; at++) net.wiring[at * LANES] = batch.wiring[(u64)slot * words + at];
    ROLLED for (u32 gate = 0; gate < batch.n_gates; gate++) evaluate(batch, net, gate);
    walker.begun = true;
}

DEVICE void save(const Batch& batch, const Network& net, const Walker& walker, u32 slot) {
    Slot& to = batch.slots[slot];
    to.search = walker.search;
    if (walker.search == NONE) return;
    to.random[0] = walker.random[0];
    to.random[1] = walker.random[1];
    to.step = walker.step;
    to.iterations = walker.iterations;
    to.restart = walker.restart;
    to.cost = walker.cost;
    to.best = walker.best;
    to.first = walker.first;
    to.place = walker.place;
    to.began_ms = walker.began_ms;
    u32 words = wiring_words(batch);
    ROLLED for (u32 at = 0; at < words; at++) batch.wiring[(u64)slot * words + at] = net.wiring[at * LANES];
}

DEVICE bool out_of_time(const Batch& batch, const Walker& walker) {
    u32 limit = batch.jobs[walker.search].limit_ms;
    return batch.stop || (limit != 0 && batch.now_ms - walker.began_ms >= limit);
}

DEVICE bool can_step(const Walker& walker) {
    return walker.search != NONE && walker.step < walker.limit && walker.cost != 0;
}

DEVICE void run_lane(const Batch& batch, u32* shared, u32 block, u32 blocks, u32 lane) {
    u64 began_ns = clock_ns();
    Network net = place_network(batch, shared, lane);
    Walker walker = {};
    // Neighbouring slots go to different blocks, so that the last few searches are spread over the whole GPU.
    u32 index = lane % NETWORKS * blocks + block;
    bool mine = index < batch.n_active;
    u32 slot = mine ? batch.active[index] : 0;
    walker.search = NONE;
    walker.part = lane / NETWORKS;
    walker.history = batch.history + (u64)slot * batch.history_room;
    if (mine) resume(batch, net, walker, slot);
    if (walker.search != NONE && out_of_time(batch, walker)) finish(batch, net, walker, true);
    u64 steps = 0;
    bool queued = mine && !batch.stop;
    for (u64 round = 0; round < batch.rounds; round++) {
        SYNC_WARP();
        bool ready = can_step(walker);
        if (!ready && queued) {
            queued = turn(batch, net, walker);
            ready = can_step(walker);
        }
        if (!any_lane(queued)) break;
        if (ready && (walker.begun || round % REFRESH == REFRESH - 1)) refresh_live(batch, net, walker);
        u64 before = walker.step;
        step_round(batch, net, walker, ready);
        if (ready) steps += walker.step - before;
    }
    if (mine) save(batch, net, walker, slot);
    if (walker.part == 0) fetch_add(&batch.counters->steps, steps);
    if (block == 0 && lane == 0) batch.counters->ran_ns = clock_ns() - began_ns;
}

#ifdef __CUDACC__
extern "C" __global__ void __launch_bounds__(LANES, 16) run_batch(const __grid_constant__ Batch batch) {
    extern __shared__ u32 shared[];
    run_lane(batch, shared, blockIdx.x, gridDim.x, threadIdx.x);
}
#else
// The same on a CPU, one network after another: networks never wait for each other.
#if PARTS == 1
static void run_network(const Batch& batch, u32* shared, u32 block, u32 blocks, u32 network) {
    run_lane(batch, shared, block, blocks, network);
}
#else
struct Work {
    const Batch* batch;
    u32 *shared, block, blocks, network;
};
static Work work;

static void run_part(int part) {
    run_lane(*work.batch, work.shared, work.block, work.blocks, (u32)part * NETWORKS + work.network);
    turns.now = (u32)part + 1;  // the next one continues; after the last, all have ended
}

static void run_network(const Batch& batch, u32* shared, u32 block, u32 blocks, u32 network) {
    const u32 STACK = 1 << 18;
    static char stacks[PARTS][STACK];
    work = {&batch, shared, block, blocks, network};
    turns.now = 0;
    for (u32 part = 0; part < PARTS; part++) {
        turns.exchanges[part] = 0;
        getcontext(&turns.part[part]);
        turns.part[part].uc_stack.ss_sp = stacks[part];
        turns.part[part].uc_stack.ss_size = STACK;
        turns.part[part].uc_link = part + 1 < PARTS ? &turns.part[part + 1] : &turns.home;
        makecontext(&turns.part[part], (void (*)())run_part, 1, (int)part);
    }
    swapcontext(&turns.home, &turns.part[0]);
}
#endif

extern "C" void run_batch(const Batch* batch, u32 blocks) {
    u32* shared = new u32[shared_words(*batch) * LANES];
    for (u32 block = 0; block < blocks; block++)
        for (u32 network = 0; network < NETWORKS; network++) run_network(*batch, shared, block, blocks, network);
    delete[] shared;
}
#endif
