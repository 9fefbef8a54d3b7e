// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "interpose/nonblocking/requests.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "common/clock.hpp"
#include "interpose/inside.hpp"
#include "interpose/next.hpp"
#include "interpose/nonblocking/background.hpp"
#include "interpose/nonblocking/progress.hpp"
#include "interpose/nonblocking/proxy.hpp"

namespace hocket::interpose {

namespace {

bool is_in_status(int code) {
    int error_class = MPI_SUCCESS;
    PMPI_Error_class(code, &error_class);
    return error_class == MPI_ERR_IN_STATUS;
}

/// A request of a call that has an entry in the table.
struct Item {
    int place;
    MPI_Request handle;
    TrackedRequest tracked;
    Proxy* proxy;  ///< that has a generalized request now, or null
};

/// The requests of one call. MPI is given handles(): of a persistent request that has a proxy, the generalized request,
/// and nothing of one that the plan serves while it is not active: MPICH 4.0 waits for ever for one never started.
class Batch {
public:
    Batch(int count, MPI_Request* requests) : requests_(requests) {
        for (int i = 0; i < count; ++i) {
            if (requests[i] == MPI_REQUEST_NULL) continue;
            std::optional<TrackedRequest> tracked = background.requests.find(requests[i]);
            if (!tracked) continue;
            takes_times_ = takes_times_ || tracked->begun_ns != 0;
            if (tracked->kind == TrackedRequest::file && !inside_file_) inside_file_.emplace();
            Proxy* const proxy = tracked->of != nullptr && tracked->of->active ? tracked->of : nullptr;
            const bool is_persistent = tracked->kind == TrackedRequest::persistent;
            if (is_persistent && (proxy != nullptr || tracked->of->planned() != nullptr)) {
                if (handles_.empty()) handles_.assign(requests, requests + count);
                handles_[static_cast<std::size_t>(i)] = proxy != nullptr ? proxy->handle() : MPI_REQUEST_NULL;
            }
            items_.push_back({i, requests[i], *std::move(tracked), proxy});
        }
        if (takes_times_) entered_ns_ = now_ns();
    }

    [[nodiscard]] const std::vector<Item>& items() const { return items_; }
    [[nodiscard]] MPI_Request* handles() { return handles_.empty() ? requests_ : handles_.data(); }

    /// `wait` is MPI_Wait... of the call, and `test` MPI_Test..., which sets its flag when it is done.
    template <class Test, class Wait>
    int wait(const Test& test, const Wait& wait) {
        if (!background.any_pending() && !inside_file_) {
            progress.enter_wait();
            const int code = wait();
            progress.leave_wait();
            return code;
        }
        // Not MPI_Wait: it would take the core from the thread that makes the collectives move on.
        int code = MPI_SUCCESS;
        progress.wait_until([&] {
            int is_done = 0;
            code = test(&is_done);
            return is_done != 0 || code != MPI_SUCCESS;
        });
        return code;
    }

    /// The request at `place` is complete. Returns the error of what it stood for, the status of which replaces
    /// `status`.
    int finish(int place, MPI_Status* status) {
        const auto before = [](const Item& item, int of) { return item.place < of; };
        const auto found = std::lower_bound(items_.begin(), items_.end(), place, before);
        if (found == items_.end() || found->place != place) return MPI_SUCCESS;
        TrackedRequest& tracked = found->tracked;
        const int code = found->proxy != nullptr ? finish(*found->proxy, status) : MPI_SUCCESS;
        if (tracked.begun_ns != 0)
            tracked.choice->took(tracked.in_background, entered_ns_ - tracked.begun_ns, now_ns() - entered_ns_);
        if (tracked.kind == TrackedRequest::persistent) {
            tracked.begun_ns = 0;
            background.requests.update(found->handle, tracked);
        } else if (tracked.kind != TrackedRequest::proxy) {
            background.requests.remove(found->handle, tracked.id);
        }
        return code;
    }

    /// Gives the program what MPI has written into the handles that are the program's own.
    void copy_back() {
        if (handles_.empty()) return;
        for (const Item& item : items_) {
            if (item.tracked.kind == TrackedRequest::persistent)
                handles_[static_cast<std::size_t>(item.place)] = item.handle;
        }
        std::copy(handles_.begin(), handles_.end(), requests_);
    }

private:
    static int finish(Proxy& proxy, MPI_Status* status) {
        MPI_Status real{};
        const int code = proxy.finish(&real);
        if (status == MPI_STATUS_IGNORE) return code;
        real.MPI_ERROR = status->MPI_ERROR;
        *status = real;
        return code;
    }

    MPI_Request* requests_;
    std::vector<MPI_Request> handles_;  // empty: the program's own array
    std::vector<Item> items_;
    bool takes_times_ = false;
    std::int64_t entered_ns_ = 0;
    std::optional<Inside> inside_file_;  // what the MPI calls to complete an access to a file is not the program's
};

int end_one(Batch& batch, int code, bool is_done, MPI_Status* status) {
    if (code != MPI_SUCCESS) is_done = batch.handles()[0] == MPI_REQUEST_NULL;
    batch.copy_back();
    const int real = is_done ? batch.finish(0, status) : MPI_SUCCESS;
    return code != MPI_SUCCESS ? code : real;
}

int end_any(Batch& batch, int code, int index, MPI_Status* status) {
    batch.copy_back();
    const int real = code == MPI_SUCCESS && index != MPI_UNDEFINED ? batch.finish(index, status) : MPI_SUCCESS;
    return code != MPI_SUCCESS ? code : real;
}

/// Where the call reports on `num` requests, the i-th of which has place_of(i). The errors in the statuses are valid
/// only where the code is MPI_ERR_IN_STATUS; else they stay as the MPI has left them.
template <class PlaceOf>
int end_several(Batch& batch, int code, int num, const PlaceOf& place_of, MPI_Status* statuses) {
    batch.copy_back();
    if (code != MPI_SUCCESS && !is_in_status(code)) return code;
    for (int i = 0; i < num; ++i) {
        if (code != MPI_SUCCESS && statuses[i].MPI_ERROR == MPI_ERR_PENDING) continue;
        const int real = batch.finish(place_of(i), &statuses[i]);
        if (real == MPI_SUCCESS) continue;
        if (code == MPI_SUCCESS) {
            for (int k = 0; k < num; ++k) statuses[k].MPI_ERROR = MPI_SUCCESS;
            code = MPI_ERR_IN_STATUS;
        }
        statuses[i].MPI_ERROR = real;
    }
    return code;
}

/// Statuses to look into, also where the program wants none.
class Statuses {
public:
    Statuses(int count, MPI_Status* program_statuses) : program_statuses_(program_statuses) {
        if (program_statuses == MPI_STATUSES_IGNORE)
            private_statuses_.resize(static_cast<std::size_t>(std::max(count, 0)));
    }
    MPI_Status* data() {
        return program_statuses_ == MPI_STATUSES_IGNORE ? private_statuses_.data() : program_statuses_;
    }

private:
    MPI_Status* program_statuses_;
    std::vector<MPI_Status> private_statuses_;
};

int itself(int place) { return place; }

void restart(MPI_Request request) {
    std::optional<TrackedRequest> tracked = background.requests.find(request);
    if (tracked && tracked->kind == TrackedRequest::persistent) progress.restart(*std::move(tracked), request);
}

/// Null if the plan does not serve it.
Proxy* planned_proxy(MPI_Request request) {
    const std::optional<TrackedRequest> tracked = background.requests.find(request);
    const bool is_planned = tracked && tracked->kind == TrackedRequest::persistent && tracked->of->planned() != nullptr;
    return is_planned ? tracked->of : nullptr;
}

int start_planned(Proxy& proxy) {
    const int code = proxy.active ? MPI_ERR_REQUEST : progress.start_persistent(proxy);
    if (code != MPI_SUCCESS) proxy.planned()->report(code);
    return code;
}

}  // namespace

int wait_one(MPI_Request* request, MPI_Status* status) {
    Batch batch(1, request);
    const int code = batch.wait([&](int* flag) { return next.Test(batch.handles(), flag, status); },
                                [&] { return next.Wait(batch.handles(), status); });
    return end_one(batch, code, true, status);
}

int test_one(MPI_Request* request, int* flag, MPI_Status* status) {
    progress.help();
    Batch batch(1, request);
    const int code = next.Test(batch.handles(), flag, status);
    return end_one(batch, code, *flag != 0, status);
}

// One after another, since none is left out. Not MPI_Testall: of MPICH 5.0 it fails where a persistent collective is
// among the requests.
int wait_all(int count, MPI_Request* requests, MPI_Status* program_statuses) {
    Batch batch(count, requests);
    Statuses statuses(count, program_statuses);
    int place = 0, outcome = MPI_SUCCESS;
    const auto test = [&](int* flag) -> int {
        while (place < count) {
            int is_done = 0;
            MPI_Status& status = statuses.data()[place];
            const int code = next.Test(batch.handles() + place, &is_done, &status);
            if (code == MPI_SUCCESS && is_done == 0) return MPI_SUCCESS;
            status.MPI_ERROR = code;
            if (code != MPI_SUCCESS) outcome = MPI_ERR_IN_STATUS;
            ++place;
        }
        *flag = 1;
        return outcome;
    };
    const int code = batch.wait(test, [&] { return next.Waitall(count, batch.handles(), statuses.data()); });
    return end_several(batch, code, count, itself, statuses.data());
}

int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* program_statuses) {
    progress.help();
    Batch batch(count, requests);
    Statuses statuses(count, program_statuses);
    const int code = next.Testall(count, batch.handles(), flag, statuses.data());
    return code == MPI_SUCCESS && *flag == 0 ? code : end_several(batch, code, count, itself, statuses.data());
}

int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    Batch batch(count, requests);
    const int code = batch.wait([&](int* flag) { return next.Testany(count, batch.handles(), index, flag, status); },
                                [&] { return next.Waitany(count, batch.handles(), index, status); });
    return end_any(batch, code, *index, status);
}

int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    progress.help();
    Batch batch(count, requests);
    const int code = next.Testany(count, batch.handles(), index, flag, status);
    return code == MPI_SUCCESS && *flag == 0 ? code : end_any(batch, code, *index, status);
}

int wait_some(int count, MPI_Request* requests, int* num_done, int* indices, MPI_Status* program_statuses) {
    Batch batch(count, requests);
    Statuses statuses(count, program_statuses);
    const auto test = [&](int* flag) {
        const int code = next.Testsome(count, batch.handles(), num_done, indices, statuses.data());
        *flag = *num_done != 0;  // also MPI_UNDEFINED: nothing is active
        return code;
    };
    const int code =
        batch.wait(test, [&] { return next.Waitsome(count, batch.handles(), num_done, indices, statuses.data()); });
    const int num = *num_done == MPI_UNDEFINED ? 0 : *num_done;
    return end_several(batch, code, num, [&](int i) { return indices[i]; }, statuses.data());
}

int test_some(int count, MPI_Request* requests, int* num_done, int* indices, MPI_Status* program_statuses) {
    progress.help();
    Batch batch(count, requests);
    Statuses statuses(count, program_statuses);
    const int code = next.Testsome(count, batch.handles(), num_done, indices, statuses.data());
    const int num = *num_done == MPI_UNDEFINED ? 0 : *num_done;
    return end_several(batch, code, num, [&](int i) { return indices[i]; }, statuses.data());
}

int get_status(MPI_Request request, int* flag, MPI_Status* status) {
    progress.help();
    Batch batch(1, &request);
    return next.Request_get_status(*batch.handles(), flag, status);
}

int free_request(MPI_Request* request) {
    Batch batch(1, request);
    if (batch.items().empty()) return next.Request_free(request);
    const Item& item = batch.items().front();
    background.requests.remove(item.handle, item.tracked.id);
    if (item.tracked.of == nullptr) return next.Request_free(request);
    MPI_Request handle = item.proxy != nullptr ? item.proxy->handle() : item.handle;
    const int code = next.Request_free(&handle);
    *request = MPI_REQUEST_NULL;
    if (item.proxy != nullptr) {
        item.proxy->abandon();
    } else {
        item.tracked.of->drop();
    }
    const Inside inside;
    release_closed_queues();
    return code;
}

int start(MPI_Request* request) {
    if (Proxy* const proxy = planned_proxy(*request)) return start_planned(*proxy);
    const int code = next.Start(request);
    if (code == MPI_SUCCESS) restart(*request);
    return code;
}

int start_all(int count, MPI_Request* requests) {
    std::vector<MPI_Request> others;
    std::vector<Proxy*> planned;
    for (int i = 0; i < count; ++i) {
        if (Proxy* const proxy = planned_proxy(requests[i])) {
            planned.push_back(proxy);
        } else {
            others.push_back(requests[i]);
        }
    }
    const auto num_others = static_cast<int>(others.size());
    int code = planned.empty()   ? next.Startall(count, requests)
               : num_others != 0 ? next.Startall(num_others, others.data())
                                 : MPI_SUCCESS;
    if (code != MPI_SUCCESS) return code;
    std::for_each(others.begin(), others.end(), restart);
    for (Proxy* const proxy : planned) {
        if (code == MPI_SUCCESS) code = start_planned(*proxy);
    }
    return code;
}

}  // namespace hocket::interpose
