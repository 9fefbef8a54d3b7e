// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/collective_task.hpp"

namespace hocket::runtime {

/// Several small calls of one operation as one, on their data back to back: what small calls take is mostly the latency
/// of their messages, which they then share.
class FusedTask final : public Task {
public:
    /// Whether such a call may be part of one: all ranks see that alike.
    static bool suits(Collective collective, const Arguments& arguments);
    /// Room for calls in one task; suits() allows only far smaller ones.
    static constexpr std::int64_t max_bytes = 16384;

    /// `whole` is a task of the operation.
    FusedTask(const Role& role, std::unique_ptr<CollectiveTask> whole) : role_(role), whole_(std::move(whole)) {}

    /// As CollectiveTask, for all calls; what they point to must last until the task is done.
    int bind(std::vector<const Arguments*> calls);
    void arm(std::uint64_t call);
    State advance() noexcept override;
    void complete() noexcept override;
    [[nodiscard]] int error() const { return whole_->error(); }
    [[nodiscard]] const std::vector<const Arguments*>& calls() const { return calls_; }
    /// One of the calls is no more.
    void forget() { calls_.clear(); }

private:
    void hand_over() noexcept;

    Role role_;
    std::unique_ptr<CollectiveTask> whole_;
    std::vector<const Arguments*> calls_;
    Region region_;
    char* buffer_ = nullptr;
};

}  // namespace hocket::runtime
