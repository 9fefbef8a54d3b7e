// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include <new>
#include <utility>

#include "common/clock.hpp"
#include "runtime/collective_task.hpp"

namespace hocket::runtime {

namespace {

// As Backoff has them. The clock is read in every so many looks in vain.
constexpr int looks_before_all = 2;
constexpr int looks_for_each_clock = 64;
constexpr std::int64_t limits_last_ns = 50'000'000;

class ScheduleTask final : public CollectiveTask {
public:
    ScheduleTask(const Role& role, std::shared_ptr<const RankGraph> graph, MPI_Comm private_comm)
        : operation_(role, std::move(graph), private_comm) {}

    void arm(std::uint64_t call) override {
        call_ = call;
        error_ = MPI_SUCCESS;
        begun_ = false;
        looks_in_vain_ = 0;
    }
    State advance() noexcept override {
        try {
            if (!begun_) operation_.begin(held_.get(), call_);
            begun_ = true;
            if (operation_.advance(looks_in_vain_ >= looks_before_all)) {
                error_ = operation_.end();
                return State::done;
            }
        } catch (const std::bad_alloc&) {
            error_ = MPI_ERR_NO_MEM;
            return State::done;
        } catch (const std::exception&) {
            error_ = MPI_ERR_INTERN;
            return State::done;
        }
        operation_.leave_errors();
        if (operation_.advanced()) {
            looks_in_vain_ = 0;
            return State::moved;
        }
        count_idle_poll();
        return State::waiting;
    }

private:
    void count_idle_poll() {
        if (++looks_in_vain_ == 1) {
            still_since_ns_ = 0;
        } else if (looks_in_vain_ % looks_for_each_clock == 0) {
            const std::int64_t now = now_ns();
            if (still_since_ns_ == 0) still_since_ns_ = now;
            if (now - still_since_ns_ > limits_last_ns) operation_.lift_limits();
        }
    }

    Operation operation_;
    std::uint64_t call_ = 0;
    bool begun_ = false;
    int looks_in_vain_ = 0;
    std::int64_t still_since_ns_ = 0;
};

}  // namespace

std::unique_ptr<CollectiveTask> make_schedule_task(const Role& role, std::shared_ptr<const RankGraph> graph,
                                                   MPI_Comm private_comm) {
    return std::make_unique<ScheduleTask>(role, std::move(graph), private_comm);
}

}  // namespace hocket::runtime
