// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/communicators.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include "interpose/decisions.hpp"
#include "interpose/entry_counts.hpp"
#include "interpose/inside.hpp"
#include "interpose/next.hpp"
#include "interpose/plan_in_force.hpp"
#include "interpose/private_communicators.hpp"
#include "interpose/settings.hpp"

namespace hocket::interpose {

namespace {

int keyval = MPI_KEYVAL_INVALID;

PrivateCommunicators private_communicators;

std::mutex registry_mutex;
std::vector<Communicator*> registry;
auto& forgotten = *new std::vector<std::unique_ptr<Communicator>>;  // not destroyed: that would call MPI
std::atomic<bool> any_forgotten{false};
std::map<std::vector<int>, std::uint64_t> num_made;

// Each thread remembers a few communicators, because even an attribute takes longer to find than a call may cost. When
// a communicator is freed its handle may come to mean another one: then all threads forget.
std::atomic<std::uint64_t> generation{1};
constexpr std::size_t num_remembered = 8;
struct Remembered {
    MPI_Comm comm;
    Communicator* found;
};
thread_local std::array<Remembered, num_remembered> remembered;
thread_local std::uint64_t remembered_generation = 0;

std::size_t place_of(MPI_Comm comm) {
    const auto bits = (std::uint64_t)comm;  // NOLINT: an integer in MPICH, a pointer in Open MPI
    return bits * 0x9E3779B97F4A7C15U >> 61;
}

// MPICH deletes the attributes of a communicator that was freed in flight when what was pending has ended, under locks
// of its own: here nothing calls MPI.
int forget(MPI_Comm, int, void* attribute, void*) {
    auto* communicator = static_cast<Communicator*>(attribute);
    generation.fetch_add(1, std::memory_order_release);
    if (communicator->queue) communicator->queue->forget_program_comm();
    const std::lock_guard lock(registry_mutex);
    std::erase(registry, communicator);
    forgotten.emplace_back(communicator);
    any_forgotten.store(true);
    return MPI_SUCCESS;
}

std::vector<int> world_ranks(MPI_Comm comm, int size) {
    MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &here);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> local(static_cast<std::size_t>(size)), global(local.size());
    std::iota(local.begin(), local.end(), 0);
    PMPI_Group_translate_ranks(here, size, local.data(), world, global.data());
    PMPI_Group_free(&here);
    PMPI_Group_free(&world);
    return global;  // MPI_UNDEFINED for a process outside this world, which no entry names
}

/// `num_planned`: the first so many are those of a plan.
SelfCheck self_check(const std::vector<Route>& routes, std::size_t num_planned) {
    std::vector<SelfCheck::Entry> entries;
    for (const Route& route : routes) {
        // What a native call is known to lose is waited for.
        const bool is_measured = route.entry->evidence && !is_uneven(route.kind);
        const double lost = is_measured ? route.entry->evidence->ratio - 1 : 0;
        const bool is_known = entries.size() < num_planned && !is_uneven(route.kind);
        SelfCheck::Entry entry = is_known ? SelfCheck::Entry{} : SelfCheck::Entry::on_trial();
        entry.watched = settings.checks_itself && !route.entry->reproducible;
        entry.native_first = route.is_contender;
        entry.wait = selection::Candidates::calls_that_pay(lost);
        entries.push_back(entry);
    }
    return SelfCheck(std::move(entries));
}

Communicator* make(MPI_Comm comm) {
    auto communicator = std::make_unique<Communicator>();
    communicator->program_comm = comm;
    int inter = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return nullptr;
    PMPI_Comm_rank(comm, &communicator->rank);
    PMPI_Comm_size(comm, &communicator->size);
    // One rank among others has nobody to wait for, and must not begin to: Open MPI 4.1 makes communicators of several
    // threads one after another. A private one would wait for what the other threads make, and their ranks for this
    // one.
    int world_size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (inter == 0 && (communicator->size > 1 || world_size == 1)) {
        const std::vector<int> members = world_ranks(comm, communicator->size);
        const auto& entries = plan_in_force.entries();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (!serves_members(entries[i], members)) continue;
            communicator->members = members;
            each_kind_served_by(entries[i].collective, [&](CallKind kind) {
                communicator->planned |= bit_of(kind);
                communicator->routes[place_of(kind)].push_back({kind, &entries[i], &entry_counts.of(kind, i)});
            });
        }
        if (decisions.is_on()) {
            communicator->has_unknown_host = !decisions.knows(members);
            if (!communicator->has_unknown_host) communicator->members = members;
        }
        for (std::size_t i = 0; i < num_served_kinds; ++i) {
            auto& routes = communicator->routes[i];
            // find_route takes the first that serves a call.
            std::stable_sort(routes.begin(), routes.end(),
                             [](const Route& a, const Route& b) { return goes_before(*a.entry, *b.entry); });
            communicator->checks[i] = self_check(routes, routes.size());
        }
    }
    Communicator* const made = communicator.get();
    if (PMPI_Comm_set_attr(comm, keyval, made) != MPI_SUCCESS) return nullptr;
    const std::lock_guard lock(registry_mutex);
    made->sequence = num_made[made->members]++;
    registry.push_back(communicator.release());
    return made;
}

/// Makes a new `private_comm` instead of the one that was. Collective. False if it has none.
bool renew_private(Communicator& communicator) {
    if (communicator.private_comm != MPI_COMM_NULL) private_communicators.release(&communicator.private_comm);
    communicator.has_none = !private_communicators.make(communicator.program_comm, &communicator.private_comm);
    return !communicator.has_none;
}

}  // namespace

void add_decided(Communicator& communicator, CallKind kind) {
    communicator.decided |= bit_of(kind);
    if (!decisions.is_on() || communicator.members.empty() || communicator.has_unknown_host) return;
    auto& routes = communicator.routes[place_of(kind)];
    const std::size_t num_planned = routes.size();
    // Behind those of a plan, which has evidence.
    for (Decisions::Entry& decided : decisions.entries(kind, communicator.members, communicator.rank == 0))
        if (settings.checks_itself || !decided.is_contender)
            routes.push_back({kind, decided.entry, &decided.count, decided.is_contender});
    communicator.checks[place_of(kind)] = self_check(routes, num_planned);
}

void inherit(Communicator& communicator, CallKind kind) {
    communicator.inherited |= bit_of(kind);
    if (!settings.checks_itself) return;
    std::vector<std::int64_t> mine;
    for (const Route& route : communicator.routes[place_of(kind)])
        mine.push_back(communicator.rank == 0 ? route.count->standing.load()
                                              : std::numeric_limits<std::int64_t>::max());
    std::vector<std::int64_t> all(mine.size());
    const auto count = static_cast<int>(mine.size());
    if (count == 0 ||
        next.Allreduce(mine.data(), all.data(), count, MPI_INT64_T, MPI_MIN, communicator.private_comm) != MPI_SUCCESS)
        return;
    for (std::size_t place = 0; place < all.size(); ++place)
        communicator.checks[place_of(kind)].inherit(static_cast<std::int64_t>(place), all[place]);
}

void prepare_communicators() { PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr); }

Communicator* find_communicator(MPI_Comm comm) {
    const std::uint64_t now = generation.load(std::memory_order_acquire);
    if (remembered_generation != now) {
        remembered.fill({MPI_COMM_NULL, nullptr});
        remembered_generation = now;
    }
    Remembered& place = remembered[place_of(comm)];
    if (place.comm == comm) return place.found;
    void* attribute = nullptr;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, keyval, &attribute, &found) != MPI_SUCCESS) return nullptr;
    auto* communicator = found != 0 ? static_cast<Communicator*>(attribute) : make(comm);
    if (communicator != nullptr) place = {comm, communicator};
    return communicator;
}

bool restart_numbers(Communicator& communicator) {
    for (auto& routes : communicator.routes) {
        for (Route& route : routes) route.operations.clear();
    }
    communicator.call = 0;
    note_maker();
    if (!renew_private(communicator)) return false;
    for (std::size_t place = 0; place < num_served_kinds; ++place) {
        const auto kind = static_cast<CallKind>(place);
        if (has(communicator.planned, kind) && !has(communicator.inherited, kind)) inherit(communicator, kind);
    }
    return true;
}

void prepare_world() {
    const Inside inside;
    Communicator* const world = find_communicator(MPI_COMM_WORLD);
    if (world == nullptr || world->members.empty()) return;
    world->inherited = world->planned;  // there is none before it
    renew_private(*world);
}

void release_forgotten() {
    if (!any_forgotten.load(std::memory_order_relaxed) || !any_forgotten.exchange(false)) return;
    std::vector<std::unique_ptr<Communicator>> released;
    {
        const std::lock_guard lock(registry_mutex);
        released.swap(forgotten);
    }
    for (const auto& communicator : released) {
        for (auto& routes : communicator->routes) routes.clear();
        if (communicator->private_comm != MPI_COMM_NULL) private_communicators.release(&communicator->private_comm);
        if (communicator->queue) close_queue(std::move(communicator->queue));
    }
}

void release_communicators() {
    std::vector<Communicator*> left;
    {
        const std::lock_guard lock(registry_mutex);
        left = registry;
    }
    // Freeing is collective: all ranks go through the communicators that they share in the same order.
    std::sort(left.begin(), left.end(), [](const Communicator* a, const Communicator* b) {
        return std::tie(a->members, a->sequence) < std::tie(b->members, b->sequence);
    });
    for (const Communicator* communicator : left) PMPI_Comm_delete_attr(communicator->program_comm, keyval);
    release_forgotten();
    PMPI_Comm_free_keyval(&keyval);
}

}  // namespace hocket::interpose
