// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/best_first.hpp"

#include <algorithm>
#include <tuple>

#include "hocket/base/threads.hpp"

namespace hocket::search {

/// What one thread has for itself.
class BestFirst::Worker {
public:
    Worker(BestFirst& search)
        : search_(search), bound_(search.tree_, search.subtrees_), candidates_(search.tree_), state_(search.root_) {}

    void run(bool is_caller) {
        while (!search_.ended_ && !(is_caller ? search_.watch_.done_and_report() : search_.watch_.done())) {
            const std::int64_t node = search_.take(*this);
            if (node < 0) break;
            go();
            children.clear();
            const std::int64_t makespan = search_.watch_.makespan_ns();
            if (bound_.of(state_, makespan, makespan - 1) < makespan) branch();  // now, with what is known by now
            search_.give(node, *this);
        }
        search_.ended_ = true;
        search_.changed_.notify_all();
    }

private:
    friend class BestFirst;

    void go() {
        while (state_.transfers().size() > search_.root_.transfers().size()) state_.take_back();
        for (std::size_t i = way.size(); i-- > 0;) state_.add(way[i].source, way[i].target, way[i].start_ns);
    }
    void branch() {
        candidates_.list(state_, list_);
        for (const Transfer& t : list_) {
            state_.add(t.source, t.target, t.start_ns);
            look_at(t);
            state_.take_back();
        }
    }
    void look_at(const Transfer& t) {
        Watch& watch = search_.watch_;
        if (state_.complete()) return watch.keep(state_);
        if (state_.end_ns() >= watch.makespan_ns()) return;
        candidates_.canonical().read(state_);
        if (!search_.memo_.is_earliest(candidates_.canonical().key(), state_.now_ns())) return;
        if (!search_.tree_.has_delays() && search_.dominance_.is_dominated(state_)) return;
        const std::int64_t makespan = watch.makespan_ns();
        const std::int64_t bound = bound_.of(state_, makespan, makespan - 1);
        if (bound < makespan) children.push_back({bound, 0, t, 0});
    }

    BestFirst& search_;
    Bound bound_;
    Candidates candidates_;
    State state_;
    std::vector<Transfer> list_;

public:
    std::vector<Transfer> way;
    std::vector<Node> children;
    std::size_t slot = 0;
};

BestFirst::BestFirst(const Tree& tree, const State& root, Watch& watch, std::span<const SubtreeBound> subtrees)
    : tree_(tree), root_(root), watch_(watch), subtrees_(subtrees), dominance_(tree) {}

bool BestFirst::is_later(std::int64_t a, std::int64_t b) const {
    const Node &x = nodes_[static_cast<std::size_t>(a)], &y = nodes_[static_cast<std::size_t>(b)];
    return std::tie(x.bound_ns, y.depth, a) > std::tie(y.bound_ns, x.depth, b);
}

void BestFirst::run(std::int64_t num_nodes) {
    last_node_ = num_taken_ + num_nodes;
    ended_ = false;
    if (nodes_.empty()) {
        nodes_.push_back({watch_.lower_bound_ns(), -1, {}, 0});
        heap_.push_back(0);
    }
    const std::int32_t num_threads = std::max(1, watch_.options().num_threads);
    under_way_ns_.assign(static_cast<std::size_t>(num_threads), never);
    const auto work = [&](std::int32_t thread) {
        try {
            Worker worker(*this);
            worker.slot = static_cast<std::size_t>(thread);
            worker.run(thread == 0);
        } catch (...) {
            ended_ = true;
            changed_.notify_all();
            throw;
        }
    };
    base::run_on_threads(num_threads, work, [] {});
}

std::int64_t BestFirst::take(Worker& worker) {
    std::unique_lock lock(mutex_);
    const auto later = [this](std::int64_t a, std::int64_t b) { return is_later(a, b); };
    for (;;) {
        const std::int64_t first_under_way = *std::min_element(under_way_ns_.begin(), under_way_ns_.end());
        const std::int64_t first_open =
            heap_.empty() ? never : nodes_[static_cast<std::size_t>(heap_.front())].bound_ns;
        watch_.raise_lower_bound(std::min(first_open, first_under_way));
        if (ended_ || watch_.done() || num_taken_ >= last_node_) return -1;
        if (first_open < watch_.makespan_ns()) break;
        if (first_under_way == never) return -1;  // nothing is open: the raised bound has proven the makespan
        changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
    ++num_taken_;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const std::int64_t taken = heap_.back();
    heap_.pop_back();
    worker.way.clear();
    for (std::int64_t at = taken; nodes_[static_cast<std::size_t>(at)].parent >= 0;
         at = nodes_[static_cast<std::size_t>(at)].parent)
        worker.way.push_back(nodes_[static_cast<std::size_t>(at)].transfer);
    under_way_ns_[worker.slot] = nodes_[static_cast<std::size_t>(taken)].bound_ns;
    return taken;
}

void BestFirst::give(std::int64_t parent, Worker& worker) {
    watch_.count_nodes(1);
    const std::scoped_lock lock(mutex_);
    const auto later = [this](std::int64_t a, std::int64_t b) { return is_later(a, b); };
    const std::int32_t depth = nodes_[static_cast<std::size_t>(parent)].depth + 1;
    const std::int64_t least = nodes_[static_cast<std::size_t>(parent)].bound_ns;
    for (Node child : worker.children) {
        child.parent = parent;
        child.depth = depth;
        child.bound_ns = std::max(child.bound_ns, least);
        nodes_.push_back(child);
        heap_.push_back(static_cast<std::int64_t>(nodes_.size()) - 1);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    under_way_ns_[worker.slot] = never;
    constexpr std::int64_t bytes_per_node = sizeof(Node) + sizeof(std::int64_t) + 64;  // and in the memo
    const std::int64_t bytes = static_cast<std::int64_t>(nodes_.size()) * bytes_per_node + dominance_.num_bytes();
    if (bytes > watch_.options().memory_limit_bytes) watch_.stop();
    changed_.notify_all();
}

}  // namespace hocket::search
