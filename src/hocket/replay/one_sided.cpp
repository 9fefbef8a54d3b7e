// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/replay/one_sided.hpp"

#include <utility>

namespace hocket::replay {

namespace {

ProgramOp message(ProgramOpKind kind, Rank peer, std::int64_t bytes) {
    ProgramOp op{};
    op.kind = kind;
    op.peer = peer;
    op.bytes = bytes;
    return op;
}

void append(OneSided::Pending& to, const OneSided::Pending& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

OneSided::Pending OneSided::begin(OneSidedKind kind, std::int32_t window, const Tags& tags, Rank target,
                                  std::int64_t bytes, bool is_last) {
    Target& to = windows_[window].targets[target.value];
    const bool answers = kind == OneSidedKind::get || kind == OneSidedKind::fetch;
    const std::int64_t sent_bytes = kind == OneSidedKind::get ? 0 : bytes;
    Pending begun = builder_.send(self_, target, tags.data, sent_bytes);
    auto arrived = builder_.beside(target, message(ProgramOpKind::recv, self_, sent_bytes), tags.data);
    if (kind == OneSidedKind::update || kind == OneSidedKind::fetch) {
        ProgramOp combine{};
        combine.kind = ProgramOpKind::reduce;
        combine.bytes = bytes;
        arrived = builder_.beside(target, combine, 0, {{arrived}});
    }
    if (answers) {
        builder_.beside(target, message(ProgramOpKind::send, self_, bytes), tags.answer, {{arrived}});
        append(begun, builder_.recv(self_, target, tags.answer, bytes));
    } else {
        to.arrived.push_back(arrived);
    }
    if (is_last) {
        builder_.beside(target, message(ProgramOpKind::send, self_, 0), tags.acknowledge, to.arrived);
        to.arrived.clear();
        to.answers = true;
    }
    append(to.begun, begun);
    return begun;
}

void OneSided::flush(Rank to, Target& target, const Tags& tags, bool local, Pending& awaited) {
    append(awaited, target.begun);
    target.begun.clear();
    if (local || !std::exchange(target.answers, false)) return;
    append(awaited, builder_.recv(self_, to, tags.acknowledge, 0));
}

OneSided::Pending OneSided::flush(std::int32_t window, const Tags& tags, Rank target, bool local) {
    Pending awaited;
    auto& targets = windows_[window].targets;
    for (auto& [rank, one] : targets)
        if (!target.valid() || target.value == rank) flush(Rank{rank}, one, tags, local, awaited);
    return awaited;
}

OneSided::Pending OneSided::post(std::int32_t window, const Tags& tags, std::vector<Rank> origins) {
    for (const Rank origin : origins) builder_.send(self_, origin, tags.post, 0);
    windows_[window].posted = std::move(origins);
    return {};
}

OneSided::Pending OneSided::start(std::int32_t window, const Tags& tags, std::vector<Rank> targets) {
    Pending awaited;
    for (const Rank target : targets) append(awaited, builder_.recv(self_, target, tags.post, 0));
    windows_[window].started = std::move(targets);
    return awaited;
}

OneSided::Pending OneSided::complete(std::int32_t window, const Tags& tags) {
    Window& own = windows_[window];
    const Pending begun = flush(window, tags, Rank{}, true);
    for (auto& [rank, target] : own.targets) target.arrived.clear();
    Pending awaited = begun;
    // Behind the data on the same route, so that it does not arrive before them.
    for (const Rank target : own.started)
        awaited.push_back(builder_.beside(self_, message(ProgramOpKind::send, target, 0), tags.complete,
                                          builder_.behind(self_, begun)));
    own.started.clear();
    return awaited;
}

OneSided::Pending OneSided::wait(std::int32_t window, const Tags& tags) {
    Pending awaited;
    for (const Rank origin : windows_[window].posted) append(awaited, builder_.recv(self_, origin, tags.complete, 0));
    windows_[window].posted.clear();
    return awaited;
}

}  // namespace hocket::replay
