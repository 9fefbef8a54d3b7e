// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/proxy.hpp"

#include <sched.h>

#include <deque>
#include <mutex>
#include <utility>

#include "interpose/inside.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/background.hpp"

namespace hocket::interpose {

namespace {

std::mutex pool_mutex;
auto& pool =
    *new std::deque<Proxy*>;  // guarded; not destroyed, since other threads may still run when the process ends

// The program gets the status of the real request instead.
int query(void*, MPI_Status* status) {
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

// Nobody has the handle any more, and it means no other request yet.
int forget(void* proxy) {
    const auto* const of = static_cast<const Proxy*>(proxy);
    background.requests.remove(of->handle(), of);
    return MPI_SUCCESS;
}

// MPI forbids to cancel a collective.
int refuse_cancel(void*, int complete) { return complete != 0 ? MPI_SUCCESS : MPI_ERR_REQUEST; }

}  // namespace

bool Proxy::open_request() {
    fate_.store(pending);
    active = true;
    return PMPI_Grequest_start(query, forget, refuse_cancel, this, &handle_) == MPI_SUCCESS;
}

// What completed the request before may not have left its engine yet.
bool Proxy::open(MPI_Request real, bool is_persistent) {
    while (!is_done()) sched_yield();
    real_ = real;
    is_persistent_ = is_persistent;
    fresh_ = true;
    return open_request();
}

bool Proxy::open(std::unique_ptr<PlannedCall> planned) {
    while (!is_done()) sched_yield();
    planned_ = std::move(planned);
    is_persistent_ = false;
    return open_planned();
}

void Proxy::keep(std::unique_ptr<PlannedCall> planned, MPI_Request real) {
    while (!is_done()) sched_yield();
    planned_ = std::move(planned);
    real_ = real;
    is_persistent_ = true;
}

bool Proxy::reopen() {
    while (!is_done()) sched_yield();
    planned_->renew();
    return open_planned();
}

bool Proxy::open_planned() {
    // Its first messages would make MPI_Comm_idup move on.
    fresh_ = background.requests.any(TrackedRequest::duplicate);
    return open_request();
}

runtime::Task::State Proxy::advance() noexcept {
    const Inside inside;
    if (fresh_) {  // whoever starts it has just looked, or may not
        fresh_ = false;
        return State::waiting;
    }
    if (!background.enter_mpi()) return State::waiting;
    if (const State state = look(); state != State::done) {
        background.leave_mpi();
        return state;
    }
    const bool is_planned = planned_ != nullptr;
    Fate was = pending;
    const bool kept = fate_.compare_exchange_strong(was, done);
    if (!kept) release_real();
    PMPI_Grequest_complete(handle_);
    background.end(is_planned);  // not before: MPICH 4.0 refuses to wait for a generalized request that is not complete
    background.leave_mpi();
    if (!kept) give_back(this);
    return State::done;
}

runtime::Task::State Proxy::look() noexcept {
    if (planned_) return planned_->advance();
    // Not MPI_Test: it would call the program's error handler in this thread.
    int is_over = 0;
    const int code = next.Request_get_status(real_, &is_over, MPI_STATUS_IGNORE);
    return is_over == 0 && code == MPI_SUCCESS ? State::waiting : State::done;
}

void Proxy::release_real() {
    const bool is_planned = planned_ != nullptr;
    planned_.reset();
    if (is_persistent_) {
        next.Request_free(&real_);
    } else if (!is_planned) {
        next.Wait(&real_, MPI_STATUS_IGNORE);
    }
}

int Proxy::finish(MPI_Status* status) {
    (void)fate_.load();  // what the thread has written is seen from here on, however the MPI orders it
    if (planned_) {
        const int code = planned_->finish();
        if (!is_persistent_) planned_.reset();
        query(nullptr, status);
        status->MPI_SOURCE = MPI_ANY_SOURCE;
        status->MPI_TAG = MPI_ANY_TAG;
        active = false;
        if (!is_persistent_) give_back(this);
        return code;
    }
    MPI_Request real = real_;
    const int code = next.Wait(&real, status);
    active = false;
    if (!is_persistent_) give_back(this);
    return code;
}

void Proxy::abandon() {
    active = false;
    Fate was = pending;
    if (fate_.compare_exchange_strong(was, abandoned)) return;
    release_real();
    give_back(this);
}

void Proxy::drop() {
    planned_.reset();
    give_back(this);
}

Proxy* take_proxy() {
    const std::lock_guard lock(pool_mutex);
    if (pool.empty() || !pool.front()->is_done()) return new Proxy;
    Proxy* const proxy = pool.front();
    pool.pop_front();
    return proxy;
}

void give_back(Proxy* proxy) {
    const std::lock_guard lock(pool_mutex);
    pool.push_back(proxy);
}

void delete_proxies() {
    const std::lock_guard lock(pool_mutex);
    for (const Proxy* proxy : pool) delete proxy;
    pool.clear();
}

}  // namespace hocket::interpose
