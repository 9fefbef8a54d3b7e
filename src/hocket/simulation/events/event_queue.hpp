// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace hocket::simulation {

/// What happens to an op or a message; times that are known when they are scheduled.
enum class EventKind : std::uint8_t {
    ready,        ///< op: all its dependencies are done
    done,         ///< op: it has ended
    injected,     ///< message: the sender's overhead is paid
    released,     ///< message: its predecessor of the pair has left, or its transport asks for it
    transmitted,  ///< message: its bytes have left the sender
    delivered,    ///< message: its last byte has arrived
};

struct Event {
    double time_s;
    std::int64_t sequence;
    EventKind kind;
    std::int32_t subject;
};

/// A binary heap of events, earliest (time, sequence number) first.
class EventQueue {
public:
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] const Event& top() const { return heap_.front(); }
    void push(const Event& event) {
        heap_.push_back(event);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    void pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
    }

private:
    static bool later(const Event& a, const Event& b) {
        return std::tie(a.time_s, a.sequence) > std::tie(b.time_s, b.sequence);
    }
    std::vector<Event> heap_;
};

/// A binary heap of flows whose finish times change as their rates do, earliest (time, sequence number) first.
class FlowQueue {
public:
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::int32_t top() const { return heap_.front().flow; }
    [[nodiscard]] double top_time_s() const { return heap_.front().time_s; }
    [[nodiscard]] std::int64_t top_sequence() const { return heap_.front().sequence; }

    /// Inserts the flow or moves it to its new time.
    void set(std::int32_t flow, double time_s, std::int64_t sequence) {
        if (static_cast<std::size_t>(flow) >= position_.size())
            position_.resize(static_cast<std::size_t>(flow) + 1, absent);
        std::size_t& position = position_[static_cast<std::size_t>(flow)];
        if (position == absent) {
            position = heap_.size();
            heap_.emplace_back();
        }
        const std::size_t at = position;
        heap_[at] = {time_s, sequence, flow};
        sift_down(sift_up(at));
    }
    void pop() {
        position_[static_cast<std::size_t>(heap_.front().flow)] = absent;
        const Entry last = heap_.back();
        heap_.pop_back();
        if (heap_.empty()) return;
        place(0, last);
        sift_down(0);
    }

private:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);
    struct Entry {
        double time_s = 0;
        std::int64_t sequence = 0;
        std::int32_t flow = -1;
        bool operator<(const Entry& other) const {
            return std::tie(time_s, sequence) < std::tie(other.time_s, other.sequence);
        }
    };

    void place(std::size_t at, const Entry& entry) {
        heap_[at] = entry;
        position_[static_cast<std::size_t>(entry.flow)] = at;
    }
    std::size_t sift_up(std::size_t at) {
        const Entry entry = heap_[at];
        for (; at > 0 && entry < heap_[(at - 1) / 2]; at = (at - 1) / 2) place(at, heap_[(at - 1) / 2]);
        place(at, entry);
        return at;
    }
    void sift_down(std::size_t at) {
        const Entry entry = heap_[at];
        for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
            if (!(heap_[child] < entry)) break;
            place(at, heap_[child]);
            at = child;
        }
        place(at, entry);
    }

    std::vector<Entry> heap_;
    std::vector<std::size_t> position_;  // [flow] in heap_, or absent
};

}  // namespace hocket::simulation
