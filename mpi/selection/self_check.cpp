// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "selection/self_check.hpp"

#include <algorithm>
#include <utility>

namespace hocket::selection {

namespace {

// Places in a statement. A number and its negative agree on one value if all ranks state the same.
enum Number : std::size_t {
    entry_at,
    entry_back,
    bytes_at,
    bytes_back,
    root_at,
    root_back,
    took_at,
    exchange_back,
    last_at,
    distance_at,
    next_last_at,
    next_distance_at
};

constexpr int max_missed_with_one_target = 3;
constexpr int max_doublings = 24;
// Even, so that a program that makes each call twice meets both orders alike.
constexpr std::int64_t least_wait = 4;

constexpr double exchanges_per_comparison = 3;

/// The call that all ranks make, or one without an entry.
CallKey agreed(const SelfCheck::Statement& all) {
    const bool same =
        all[entry_at] == -all[entry_back] && all[bytes_at] == -all[bytes_back] && all[root_at] == -all[root_back];
    return same ? CallKey{all[entry_at], all[bytes_at], all[root_at]} : CallKey{};
}

/// Its next comparison follows at once. The first of an entry on trial does not count, and shows a large gain at most.
/// A contender gains nothing before its first.
bool is_suspect(const SelfCheck::Entry& entry) {
    const bool is_open = entry.is_on_trial() && entry.num_compared == 1 && !entry.seems_faster;
    return entry.watched && (entry.num_slower() > 0 || is_open || entry.native_first);
}

/// Before its next comparison. `distance`: between two of its calls with the same root; 0 if that is not known.
std::int64_t positions_to_pass(const SelfCheck::Entry& entry, std::int64_t distance) {
    if (is_suspect(entry)) return 1;
    distance = std::max<std::int64_t>(1, distance);
    std::int64_t wait = std::max(least_wait, entry.wait);
    if (entry.seems_faster && entry.num_compared == 1)
        wait = (SelfCheck::calls_after_clear_gain + distance - 1) / distance;
    return (wait + 1) / 2 * 2 * distance;
}

}  // namespace

SelfCheck::SelfCheck(std::vector<Entry> entries) : entries_(std::move(entries)) {
    const auto watched =
        std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.watched; });
    if (watched == entries_.end()) return;
    target_ = static_cast<std::size_t>(watched - entries_.begin());
    for (Entry& entry : entries_) entry.due = static_cast<std::uint64_t>(entry.wait);
    choose_first();
}

void SelfCheck::choose_first() {
    const bool any_on_trial = std::any_of(entries_.begin(), entries_.end(),
                                          [](const Entry& entry) { return entry.watched && entry.is_on_trial(); });
    next_ = any_on_trial ? first_position_of_trial : first_position;
}

void SelfCheck::inherit(std::int64_t place, std::int64_t standing) {
    Entry& entry = entries_[static_cast<std::size_t>(place)];
    if (!entry.watched || standing == unknown) return;
    if (entry.native_first && standing > 0) return leave(place);
    entry.native_first = false;
    if (standing < 0) {
        entry.may_wait = standing != seemed_faster;
        if (standing > shown_faster || !entry.is_on_trial()) return;
        entry.wait = shown_faster - standing;
        entry.due = static_cast<std::uint64_t>(entry.wait);
        entry.candidates = Candidates(2, schedule, policy);
        if (!std::any_of(entries_.begin(), entries_.end(), is_suspect)) choose_first();
        return;
    }
    entry.candidates.inherit(static_cast<int>(standing), native);
    entry.watched = !entry.given_up();
    if (entry.watched) {
        entry.wait = 0;  // as after every comparison that was lost
        target_ = static_cast<std::size_t>(place);
        next_ = first_position_of_suspect;
    } else {
        leave(place);
    }
}

/// It is never compared, or no more.
void SelfCheck::leave(std::int64_t place) {
    entries_[static_cast<std::size_t>(place)].watched = false;
    if (target_ != static_cast<std::size_t>(place)) return;
    target_ = successor();
    if (!entries_[target_].watched) stop();
}

SelfCheck::Statement SelfCheck::statement(const CallKey& call) const {
    const Entry &target = entries_[target_], &following = entries_[successor()];
    const std::int64_t took_ns = target.candidates.sample_ns(timed_);
    return {call.entry, -call.entry,   call.bytes,  -call.bytes,     call.root,      -call.root,
            took_ns,    -exchange_ns_, target.last, target.distance, following.last, following.distance};
}

SelfCheck::Way SelfCheck::conclude(const Statement& stated, std::int64_t exchange_ns) {
    const CallKey call = agreed(stated);
    const Statement all = retargeted(stated, call);
    const bool is_target = call.entry == static_cast<std::int64_t>(target_);
    const std::int64_t agreed_ns = all[took_at];
    exchange_ns_ = exchange_ns;
    entries_[target_].candidates.clear_samples();
    switch (step_) {
        case Step::settle:
            if (comparing_) {
                comparing_ = false;
                compare(agreed_ns, -all[exchange_back]);
                Entry& entry = entries_[target_];
                entry.due = position_ + static_cast<std::uint64_t>(positions_to_pass(entry, all[distance_at]));
            }
            if (is_target && is_suspect(entries_[target_])) return begin(call, all);
            aim(all, !is_suspect(entries_[target_]) && entries_[target_].num_compared > 0);
            return Way::as_planned;
        case Step::first:
            if (is_target) return begin(call, all);
            miss(all);
            return Way::as_planned;
        case Step::second:
            if (!call.is_like(first_)) {
                miss(all);
                return Way::as_planned;
            }
            first_ns_ = agreed_ns;
            comparing_ = true;
            step_ = Step::settle;
            next_ = position_ + 1;
            return time(first_arm() == native ? schedule : native);
    }
    return Way::as_planned;
}

/// An entry that no rank has called yet gives way to the one that all are in, unless that is to wait: of many entries a
/// program may use few.
SelfCheck::Statement SelfCheck::retargeted(Statement all, const CallKey& call) {
    if (comparing_ || step_ == Step::second || all[last_at] != 0 || call.entry < 0) return all;
    const auto place = static_cast<std::size_t>(call.entry);
    if (!entries_[place].watched || entries_[place].due > position_) return all;
    target_ = place;
    all[last_at] = static_cast<std::int64_t>(position_);
    all[distance_at] = 0;  // not agreed on yet
    return all;
}

/// A comparison begins with this call.
SelfCheck::Way SelfCheck::begin(const CallKey& call, const Statement& all) {
    first_ = call;
    step_ = Step::second;
    next_ = position_ + static_cast<std::uint64_t>(std::max<std::int64_t>(1, all[distance_at]));
    return time(first_arm());
}

SelfCheck::Way SelfCheck::time(Arm arm) {
    timed_ = arm;
    return arm == native ? Way::time_native : Way::time_schedule;
}

/// The watched entry after the target, or the target itself if there is no other.
std::size_t SelfCheck::successor() const {
    for (std::size_t i = 1; i < entries_.size(); ++i) {
        const std::size_t candidate = (target_ + i) % entries_.size();
        if (entries_[candidate].watched) return candidate;
    }
    return target_;
}

void SelfCheck::compare(std::int64_t second_ns, std::int64_t exchange_ns) {
    Entry& entry = entries_[target_];
    const Arm first = first_arm();
    ++entry.num_compared;
    num_missed_ = 0;
    const bool have_failed = first_ns_ == no_time || second_ns == no_time;
    const std::int64_t native_ns = first == native ? first_ns_ : second_ns;
    const std::int64_t planned_ns = first == native ? second_ns : first_ns_;
    const bool is_clear = !have_failed && (native_ns - planned_ns) * 100 > planned_ns * clear_gain_percent;
    if (entry.native_first) {
        // Native calls have set the communicator up before, and the schedule's first messages are in its time.
        entry.watched = entry.seems_faster = is_clear;
        entry.native_first = !is_clear;
        return;
    }
    if (have_failed) return;
    if (entry.num_compared == 1) {
        // It does not count: the first native call on a communicator may set it up, for many times as long.
        entry.seems_faster = entry.is_on_trial() && entry.may_wait && is_clear;
        return;
    }
    Candidates& candidates = entry.candidates;
    candidates.agree(native, native_ns);
    candidates.agree(schedule, planned_ns);
    const double lost = candidates.lost_by(native);
    const auto schedule_ns = static_cast<double>(candidates[schedule].agreed_ns);
    const double exchanges = exchanges_per_comparison * static_cast<double>(exchange_ns) / schedule_ns;
    const auto verdict = candidates.compare(native);
    // To go on with a schedule that may be slower costs more than to know.
    entry.wait = verdict == Candidates::Verdict::kept ? Candidates::calls_that_pay(exchanges + lost) : 0;
    entry.watched = !entry.given_up();
}

/// The ranks met before a call that is not the one to time.
void SelfCheck::miss(const Statement& all) {
    num_missed_ = std::min(num_missed_ + 1, max_doublings);
    aim(all, num_missed_ % max_missed_with_one_target == 0);
}

/// Chooses the position of the next comparison's first call: one where the target is expected.
void SelfCheck::aim(const Statement& all, bool at_successor) {
    step_ = Step::first;
    at_successor = at_successor || !entries_[target_].watched;
    if (at_successor) target_ = successor();
    const Entry& target = entries_[target_];
    if (!target.watched) return stop();
    const std::int64_t last = all[at_successor ? next_last_at : last_at];
    const std::int64_t distance = std::max<std::int64_t>(1, all[at_successor ? next_distance_at : distance_at]);
    const auto now = static_cast<std::int64_t>(position_);
    std::int64_t after = positions_to_pass(target, distance);
    if (num_missed_ > 0 || last == 0) after = std::max(after, std::int64_t{first_position} << num_missed_);
    next_ = static_cast<std::uint64_t>(last + (now + after - last + distance - 1) / distance * distance);
}

}  // namespace hocket::selection
