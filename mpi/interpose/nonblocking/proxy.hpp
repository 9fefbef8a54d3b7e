// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "interpose/functions.hpp"
#include "interpose/nonblocking/collective_queue.hpp"
#include "runtime/task.hpp"

namespace hocket::interpose {

/// A pending collective of the program. Either it is the MPI's own: the request that the MPI made for it is looked at
/// by the engine alone while the task is pending; the program holds a generalized request instead, which is complete
/// when that one is. Then the program's thread completes the MPI's request, so that errors come up in the program's own
/// call, by the MPI's own means. Or it is one that the plan serves.
class Proxy final : public runtime::Task {
public:
    /// Makes the generalized request, before the engine is given the task. False if the MPI does not.
    bool open(MPI_Request real, bool is_persistent);
    bool open(std::unique_ptr<PlannedCall> planned);
    /// The plan serves the starts of a persistent one, of which the MPI has made `real`: that is never started.
    void keep(std::unique_ptr<PlannedCall> planned, MPI_Request real);
    bool reopen();
    [[nodiscard]] PlannedCall* planned() const { return planned_.get(); }
    [[nodiscard]] MPI_Request handle() const { return handle_; }
    [[nodiscard]] MPI_Request real() const { return real_; }

    State advance() noexcept override;

    /// The program has completed the generalized request: completes the real one. Returns the MPI error code of that.
    int finish(MPI_Status* status);
    /// The program has freed the request before it has completed it.
    void abandon();
    /// The program has freed a persistent one that was not active.
    void drop();

    /// Of a persistent one: what its starts count as.
    Function function = Function::Ibarrier;
    std::size_t size_class = 0;
    bool active = false;  ///< it has a generalized request now

private:
    enum Fate { pending, done, abandoned };
    bool open_request();
    bool open_planned();
    State look() noexcept;
    void release_real();

    MPI_Request real_ = MPI_REQUEST_NULL, handle_ = MPI_REQUEST_NULL;
    std::unique_ptr<PlannedCall> planned_;
    bool is_persistent_ = false;
    bool fresh_ = false;
    std::atomic<Fate> fate_{done};
};

/// One that nobody holds.
Proxy* take_proxy();
/// What nobody holds any more.
void give_back(Proxy* proxy);
/// When no thread looks at any.
void delete_proxies();

}  // namespace hocket::interpose
