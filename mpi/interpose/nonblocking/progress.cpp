// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/progress.hpp"

#include <sched.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <system_error>

#include "common/clock.hpp"
#include "interpose/communicators.hpp"
#include "interpose/inside.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/background.hpp"
#include "runtime/operation.hpp"

namespace hocket::interpose {

Progress& progress = *new Progress;
std::atomic<bool> progress_is_on{false};

namespace {

// A program may have more collectives in flight than are looked at one by one; those left to the MPI make no thread
// wait.
constexpr int max_proxies = 1000;
// Those that the plan serves are not left to the MPI, since the other ranks would not know. To start one waits for
// nobody.
constexpr std::size_t capacity = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t long_idle_ns = 10'000'000'000;

// A process that ends without MPI_Finalize takes the MPI down while the thread may still be in it. The thread cannot be
// waited for: the one that ends the process may hold a lock of the MPI.
void end_at_exit() {
    background.keep_out();
    const std::int64_t begin_ns = now_ns();
    while (depth == 0 && background.is_inside() && now_ns() - begin_ns < 100'000'000) sched_yield();
}

}  // namespace

/// Enters the MPI while the program has large messages under way, to look at a request that nothing completes:
/// MPI_Iprobe of a message from itself makes nothing move in MPICH 4.0.
class Progress::Poke final : public runtime::Task {
public:
    Poke() {
        const auto query = [](void*, MPI_Status*) -> int { return MPI_SUCCESS; };
        const auto nothing = [](void*) -> int { return MPI_SUCCESS; };
        const auto cancel = [](void*, int) -> int { return MPI_SUCCESS; };
        PMPI_Grequest_start(query, nothing, cancel, nullptr, &never_);
    }
    ~Poke() override {
        PMPI_Grequest_complete(never_);
        next.Request_free(&never_);
    }

    State advance() noexcept override {
        const Inside inside;
        if (!background.requests.any(TrackedRequest::message)) {
            progress.is_poking_.store(false);
            if (!background.requests.any(TrackedRequest::message) || progress.is_poking_.exchange(true))
                return State::done;
        }
        if (progress.num_waits_.load(std::memory_order_relaxed) > 0 || !background.enter_mpi()) return State::waiting;
        int is_over = 0;
        next.Request_get_status(never_, &is_over, MPI_STATUS_IGNORE);
        background.leave_mpi();
        return State::waiting;
    }

private:
    MPI_Request never_ = MPI_REQUEST_NULL;
};

bool Progress::start(ProgressMode mode, int core, int program_level) {
    try {
        engine_ = runtime::make_thread_engine(core, capacity);
    } catch (const std::system_error&) {
        return false;
    }
    mode_ = mode;
    runs_user_operators_ = program_level == MPI_THREAD_MULTIPLE;
    if (mode == ProgressMode::automatic) message_choices_ = std::make_shared<Choices>();
    poke_ = std::make_unique<Poke>();
    std::atexit(end_at_exit);
    progress_is_on.store(true);
    return true;
}

void Progress::stop() {
    progress_is_on.store(false);
    if (!engine_) return;
    const Inside inside;
    background.requests.forget_messages();
    const std::int64_t begin_ns = now_ns();
    bool has_warned = false;
    engine_->wait_until([&] {
        const std::size_t num_pending = engine_->num_pending();
        if (num_pending > 0 && !has_warned && now_ns() - begin_ns > long_idle_ns) {
            has_warned = true;
            std::fprintf(stderr, "hocket: MPI_Finalize waits for %zu non-blocking collective(s) that have not ended\n",
                         num_pending);
        }
        return num_pending == 0;
    });
    thread_cpu_s_ = engine_->thread_cpu_s();
    engine_.reset();
    poke_.reset();
    delete_proxies();
}

bool Progress::is_for_any_thread(MPI_Op op) const { return runs_user_operators_ || runtime::is_predefined(op); }

int Progress::start_alone(TrackedRequest::Kind kind, const std::function<int()>& start, MPI_Request* request) {
    background.begin_start_alone();
    while (background.is_inside()) sched_yield();
    const int code = start();
    const Inside inside;
    const auto is_pending = [&] {
        if (kind == TrackedRequest::duplicate) return *request != MPI_REQUEST_NULL;
        int is_over = 0;
        return next.Request_get_status(*request, &is_over, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_over == 0;
    };
    if (code == MPI_SUCCESS && request != nullptr && is_pending()) {
        TrackedRequest tracked;
        tracked.kind = kind;
        if (kind == TrackedRequest::duplicate) background.begin_duplicate();
        background.requests.add(*request, std::move(tracked));
    }
    background.end_start_alone();
    return code;
}

Choice::Way Progress::choose(Function function, std::size_t size_class, TrackedRequest& tracked) {
    auto way = Choice::Way::background;
    if (mode_ == ProgressMode::automatic) {
        tracked.choice = &tracked.choices->at(function, size_class);
        way = tracked.choice->next();
    }
    Count& count = counts_[static_cast<std::size_t>(function)][size_class];
    count.calls.fetch_add(1, std::memory_order_relaxed);
    if (way == Choice::Way::background) count.in_background.fetch_add(1, std::memory_order_relaxed);
    tracked.in_background = way == Choice::Way::background;
    tracked.begun_ns = mode_ == ProgressMode::automatic && way != Choice::Way::native ? now_ns() : 0;
    return way;
}

std::shared_ptr<Choices> Progress::choices_of(MPI_Comm comm) {
    if (mode_ != ProgressMode::automatic) return nullptr;
    Communicator* const communicator = find_communicator(comm);
    if (communicator == nullptr) return nullptr;
    if (!communicator->choices) communicator->choices = std::make_shared<Choices>();
    return communicator->choices;
}

bool Progress::begin(Proxy& proxy, MPI_Request real, bool is_persistent) {
    // Even a look at the request would make MPI_Comm_idup move on.
    if (background.requests.any(TrackedRequest::duplicate)) return false;
    int is_over = 0;
    if (next.Request_get_status(real, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_over != 0) return false;
    if (background.begin(false) < max_proxies && proxy.open(real, is_persistent)) return true;
    background.end(false);
    proxy.active = false;
    return false;
}

void Progress::adopt(const Started& started, MPI_Request* request) {
    const Inside inside;
    TrackedRequest tracked;
    tracked.choices = choices_of(started.comm);
    if (mode_ == ProgressMode::automatic && !tracked.choices) return;
    const Choice::Way way = choose(started.function, size_class_of(started.bytes), tracked);
    if (way == Choice::Way::native) return;
    if (way == Choice::Way::background) {
        Proxy* const proxy = take_proxy();
        if (begin(*proxy, *request, false)) {
            tracked.kind = TrackedRequest::proxy;
            tracked.of = proxy;
            *request = proxy->handle();
            background.requests.add(*request, std::move(tracked));
            engine_->start(*proxy);
            return;
        }
        give_back(proxy);
    }
    if (tracked.choice != nullptr) background.requests.add(*request, std::move(tracked));
}

void Progress::count_planned(Function function, std::size_t size_class) {
    Count& count = counts_[static_cast<std::size_t>(function)][size_class];
    count.calls.fetch_add(1, std::memory_order_relaxed);
    count.in_background.fetch_add(1, std::memory_order_relaxed);
}

int Progress::launch(std::unique_ptr<PlannedCall> call, Function function, MPI_Request* request) {
    count_planned(function, call->size_class());
    Proxy* const proxy = take_proxy();
    PlannedCall& planned = *call;
    background.begin(true);
    if (!proxy->open(std::move(call))) {
        background.end(true);
        planned.pass_over();
        return MPI_ERR_INTERN;
    }
    TrackedRequest tracked;
    tracked.kind = TrackedRequest::proxy;
    tracked.of = proxy;
    *request = proxy->handle();
    background.requests.add(*request, std::move(tracked));
    planned.enter();
    engine_->start(*proxy);
    return MPI_SUCCESS;
}

void Progress::adopt_message(const Started& started, MPI_Request request) {
    // Shorter ones are sent without asking their receiver first: there is nothing to do for them while the program
    // computes.
    if (size_class_of(started.bytes) < first_large_class) return;
    const Inside inside;
    leave_wait();
    TrackedRequest tracked;
    tracked.choices = message_choices_;
    const Choice::Way way = choose(started.function, size_class_of(started.bytes), tracked);
    if (way == Choice::Way::native) return;
    if (way == Choice::Way::background) tracked.kind = TrackedRequest::message;
    background.requests.add(request, std::move(tracked));
    if (way == Choice::Way::background && !is_poking_.exchange(true)) {
        while (!poke_->is_done()) sched_yield();  // it is just ending
        engine_->start(*poke_);
    }
}

void Progress::adopt_file(MPI_Request request) {
    TrackedRequest tracked;
    tracked.kind = TrackedRequest::file;
    background.requests.add(request, std::move(tracked));
}

void Progress::adopt_persistent(const Started& started, std::unique_ptr<PlannedCall> planned, MPI_Request request) {
    const Inside inside;
    if (!is_for_any_thread(started.op)) return;
    TrackedRequest tracked;
    if (!planned) {
        tracked.choices = choices_of(started.comm);
        if (mode_ == ProgressMode::automatic && !tracked.choices) return;
    }
    tracked.kind = TrackedRequest::persistent;
    tracked.of = take_proxy();
    tracked.of->function = started.function;
    tracked.of->size_class = planned ? planned->size_class() : size_class_of(started.bytes);
    if (planned) tracked.of->keep(std::move(planned), request);
    background.requests.add(request, std::move(tracked));
}

void Progress::restart(TrackedRequest tracked, MPI_Request request) {
    const Inside inside;
    Proxy& proxy = *tracked.of;
    const Choice::Way way = choose(proxy.function, proxy.size_class, tracked);
    const bool has_proxy = way == Choice::Way::background && begin(proxy, request, true);
    background.requests.update(request, tracked);
    if (has_proxy) engine_->start(proxy);
}

int Progress::start_persistent(Proxy& proxy) {
    const Inside inside;
    count_planned(proxy.function, proxy.size_class);
    background.begin(true);
    if (!proxy.reopen()) {
        background.end(true);
        proxy.planned()->pass_over();
        proxy.active = false;
        return MPI_ERR_INTERN;
    }
    proxy.planned()->enter();
    engine_->start(proxy);
    return MPI_SUCCESS;
}

void Progress::help() {
    if (!engine_ || !background.any_pending()) return;
    const Inside inside;
    engine_->help();
}

void Progress::wait_until(const std::function<bool()>& holds) {
    const Inside inside;
    engine_->wait_until(holds);
}

}  // namespace hocket::interpose
