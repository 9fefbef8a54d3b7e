// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/search/paper_search.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "hocket/search/cut_subtree.hpp"
#include "hocket/search/state.hpp"
#include "hocket/search/subtree_labels.hpp"
#include "hocket/search/watch.hpp"

namespace hocket::search {
namespace {

constexpr std::int32_t small = 8;  // computers of a subtree whose broadcast is computed for the bound

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

class PaperSearch {
public:
    PaperSearch(const Tree& tree, std::span<const std::int32_t> holders, PaperCuts cuts, Watch& watch)
        : tree_(tree),
          watch_(watch),
          labels_(tree),
          state_(tree, holders),
          cuts_senders_(cuts == PaperCuts::sender || cuts == PaperCuts::both),
          cuts_receivers_(cuts == PaperCuts::receiver || cuts == PaperCuts::both) {}

    /// `subtree_ns`: as of find_subtree_bounds().
    void run(std::vector<std::int64_t> subtree_ns) {
        subtree_ns_ = std::move(subtree_ns);
        watch_.raise_lower_bound(bound_ns());
        search();
    }

private:
    struct Choice {
        Transfer transfer;
        std::int32_t from_holders, length;
        bool operator<(const Choice& other) const {
            return std::tuple(-from_holders, transfer.start_ns, length, transfer.source, transfer.target) <
                   std::tuple(-other.from_holders, other.transfer.start_ns, other.length, other.transfer.source,
                              other.transfer.target);
        }
    };

    void search() {
        watch_.count_nodes(1);
        if (has_to_stop((watch_.num_nodes() & 255) == 0)) return;
        if (state_.complete()) return watch_.keep(state_);
        if (std::max(state_.end_ns(), bound_ns()) >= watch_.makespan_ns()) return;
        std::vector<Choice> choices;
        const std::vector<std::int32_t> receivers = find_receivers();
        const std::vector<std::int32_t> groups = find_sender_groups();
        for (const std::int32_t r : receivers) add_choices(r, groups, choices);
        std::sort(choices.begin(), choices.end());
        for (const Choice& choice : choices) {
            if (choice.transfer.end_ns >= watch_.makespan_ns()) continue;
            state_.add(choice.transfer.source, choice.transfer.target, choice.transfer.start_ns);
            search();
            state_.take_back();
            if (has_to_stop(false)) return;
        }
    }

    /// Not before there is a schedule.
    bool has_to_stop(bool reports) {
        return watch_.makespan_ns() < never &&
               (reports ? watch_.done_and_report() : watch_.stopped() || watch_.good_enough());
    }

    /// All without the message; or one of those that are isomorphic as seen from one with the message, when each of
    /// these has a label of its own.
    std::vector<std::int32_t> find_receivers() {
        std::vector<std::int32_t> found;
        std::int32_t holder = -1;
        for (std::int32_t c = 0; c < tree_.num_computers(); ++c)
            if (state_.informed(c))
                holder = c;
            else if (!cuts_receivers_)
                found.push_back(c);
        if (!cuts_receivers_) return found;
        labels_.label(tree_.node_of(holder), [&](std::int32_t v) {
            const std::int32_t c = tree_.computer_at(v);
            return c < 0 ? -2 : state_.informed(c) ? c : -1;
        });
        std::vector<std::int32_t> stack{tree_.node_of(holder)};
        while (!stack.empty()) {
            const std::int32_t v = stack.back(), c = tree_.computer_at(v);
            stack.pop_back();
            if (c >= 0 && !state_.informed(c)) found.push_back(c);
            std::vector<std::int32_t> firsts;
            for (const std::int32_t child : labels_.children(v))
                if (std::none_of(firsts.begin(), firsts.end(), [&](std::int32_t f) { return labels_.same(f, child); }))
                    firsts.push_back(child);
            stack.insert(stack.end(), firsts.begin(), firsts.end());
        }
        return found;
    }

    /// [computer]: those of a group are isomorphic as senders, when each receiver has a label of its own: all that
    /// hangs on a node is isomorphic. Of a group the one that can send first does. -1: no group.
    std::vector<std::int32_t> find_sender_groups() {
        std::vector<std::int32_t> groups(at(tree_.num_computers()), -1);
        if (!cuts_senders_) return groups;
        std::int32_t receiver = 0;
        while (state_.informed(receiver)) ++receiver;
        labels_.label(tree_.node_of(receiver), [&](std::int32_t v) {
            const std::int32_t c = tree_.computer_at(v);
            return c < 0 ? -2 : state_.informed(c) ? -1 : c;
        });
        const auto all_same = [&](std::int32_t v) {
            const auto& children = labels_.children(v);
            return tree_.computer_at(v) < 0 && !children.empty() &&
                   std::all_of(
                       children.begin(), children.end(),
                       [&](std::int32_t child) { return labels_.same(child, children[0]); });
        };
        for (std::int32_t s = 0; s < tree_.num_computers(); ++s) {
            if (!state_.informed(s)) continue;
            std::int32_t v = tree_.node_of(s);
            if (!labels_.children(v).empty()) continue;
            for (std::int32_t up = labels_.parent(v); up >= 0 && all_same(up); up = labels_.parent(up)) {
                v = up;
                groups[at(s)] = v;
            }
        }
        return groups;
    }

    void add_choices(std::int32_t r, const std::vector<std::int32_t>& groups, std::vector<Choice>& choices) {
        std::map<std::int32_t, std::size_t> of_group;
        std::int32_t nearest = tree_.num_nodes();
        const std::size_t first = choices.size();
        for (std::int32_t s = 0; s < tree_.num_computers(); ++s) {
            if (!state_.informed(s)) continue;
            std::int32_t length = 0;
            tree_.for_path(s, r, [&](std::int32_t) { ++length; });
            nearest = std::min(nearest, length);
            const std::int64_t start = state_.earliest_start(s, r);
            const Choice choice{{s, r, start, start + tree_.duration_ns(s, r) + tree_.path_delay_ns(s, r)}, 0, length};
            if (const std::int32_t group = groups[at(s)]; group >= 0) {
                const auto [place, is_new] = of_group.try_emplace(group, choices.size());
                if (!is_new) {
                    Choice& other = choices[place->second];
                    if (choice.transfer.start_ns < other.transfer.start_ns) other = choice;
                    continue;
                }
            }
            choices.push_back(choice);
        }
        for (std::size_t i = first; i < choices.size(); ++i) choices[i].from_holders = nearest;
    }

    /// What no transfer goes to yet cannot end before its own broadcast, begun now.
    [[nodiscard]] std::int64_t bound_ns() const {
        std::int64_t longest = 0;
        std::vector<std::int32_t> num_informed(at(tree_.num_nodes()), 0);
        const auto order = tree_.order();
        for (std::size_t i = order.size(); i-- > 0;) {
            const std::int32_t v = order[i], c = tree_.computer_at(v);
            if (c >= 0 && state_.informed(c)) ++num_informed[at(v)];
            if (v == tree_.middle()) continue;
            num_informed[at(tree_.parent(v))] += num_informed[at(v)];
            if (num_informed[at(v)] == 0) longest = std::max(longest, subtree_ns_[at(2 * v + 1)]);
            if (num_informed[at(v)] == state_.num_informed()) longest = std::max(longest, subtree_ns_[at(2 * v)]);
        }
        return state_.now_ns() + longest;
    }

    const Tree& tree_;
    Watch& watch_;
    SubtreeLabels labels_;
    State state_;
    bool cuts_senders_, cuts_receivers_;
    std::vector<std::int64_t> subtree_ns_;  // [link]
};

/// [link]: the least time of a broadcast of what is behind it from where it begins; 0 if that is not small, or no
/// bound: two transfers that are slow because of what is before the link may share what two faster ones may not, and be
/// over sooner.
std::vector<std::int64_t> find_subtree_bounds(const Tree& tree, const PaperOptions& options, Watch& watch) {
    std::vector<std::int64_t> found(at(tree.num_links()), 0);
    // With delays, transfers that come from outside in another order than they start can be faster than what is found
    // here.
    if (tree.has_delays()) return found;
    std::vector<std::int32_t> below(at(tree.num_nodes()), 0);
    const auto order = tree.order();
    for (std::size_t i = order.size(); i-- > 1;) {
        below[at(order[i])] += tree.computer_at(order[i]) >= 0 ? 1 : 0;
        below[at(tree.parent(order[i]))] += below[at(order[i])];
    }
    for (std::size_t i = 1; i < order.size(); ++i)
        for (const std::int32_t link : {2 * order[i] + 1, 2 * order[i]}) {
            const std::int32_t size = link % 2 == 1 ? below[at(order[i])] : tree.num_computers() - below[at(order[i])];
            if (size < 1 || size > small || size + 1 >= tree.num_computers() || watch.done_and_report()) continue;
            if (!comes_at_full_rate(tree, link)) continue;
            const Tree subtree = subtree_behind(tree, link);
            BroadcastOptions rest;
            rest.time_limit_s = options.time_limit_s - watch.seconds();
            Watch of_subtree(rest);
            const std::int32_t root = 0;
            PaperSearch search(subtree, {&root, 1}, PaperCuts::receiver, of_subtree);
            search.run(std::vector<std::int64_t>(at(subtree.num_links()), 0));
            found[at(link)] = of_subtree.stopped() ? 0 : of_subtree.makespan_ns();
        }
    return found;
}

}  // namespace

BroadcastResult paper_broadcast(const Tree& tree, std::span<const std::int32_t> holders, const PaperOptions& options) {
    BroadcastOptions all;
    all.time_limit_s = options.time_limit_s;
    all.on_progress = options.on_progress;
    Watch watch(all);
    std::vector<std::int64_t> subtree_ns = find_subtree_bounds(tree, options, watch);
    PaperSearch(tree, holders, options.cuts, watch).run(std::move(subtree_ns));
    if (!watch.stopped()) watch.raise_lower_bound(watch.makespan_ns());
    BroadcastResult result;
    result.transfers = watch.take_transfers();
    result.makespan_ns = watch.makespan_ns();
    result.lower_bound_ns = watch.lower_bound_ns();
    result.optimal = result.lower_bound_ns == result.makespan_ns;
    if (!tree.has_delays()) result.lower_bound_any_starts_ns = result.lower_bound_ns;
    result.num_nodes = watch.num_nodes();
    result.search_s = watch.seconds();
    return result;
}

}  // namespace hocket::search
