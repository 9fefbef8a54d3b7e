// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/batches.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <string>

#include "hocket/base/error.hpp"
#include "hocket/base/names.hpp"
#include "hocket/simulation/matching.hpp"

namespace hocket::circuits {
namespace {

using simulation::Matched;

/// A rank's ops that belong to one collective, numbered through all ranks.
struct Part {
    std::int32_t rank, first_op, last_op;
};

std::map<std::int32_t, std::vector<Part>> collectives_of(const Program& program, const Matched& matched) {
    std::map<std::int32_t, std::vector<Part>> found;
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        for (const RankProgram::Call& call : program.ranks[r].calls) {
            const std::int32_t first = matched.first_op[r] + call.first_op;
            found[call.collective].push_back({static_cast<std::int32_t>(r), first, first + call.num_ops});
        }
    if (found.empty())
        for (std::size_t r = 0; r < program.ranks.size(); ++r)
            found[0].push_back({static_cast<std::int32_t>(r), matched.first_op[r], matched.first_op[r + 1]});
    return found;
}

/// Finds the rounds of one collective after another.
class Rounds {
public:
    Rounds(const Program& program, const Matched& matched)
        : program_(program),
          matched_(matched),
          rank_of_(matched.message_of.size()),
          waits_(matched.num_dependencies),
          in_(matched.message_of.size(), -1),
          delivered_(matched.messages.size(), 0),
          posted_(matched.messages.size(), 0),
          ready_(program.ranks.size()) {
        for (std::size_t r = 0; r < program.ranks.size(); ++r)
            std::fill(rank_of_.begin() + matched.first_op[r], rank_of_.begin() + matched.first_op[r + 1],
                      static_cast<std::int32_t>(r));
    }

    /// Messages by round: every rank sends one a round, in the order in which its sends become ready, and what arrives
    /// in a round can be sent on in the next. What a call waits for from before is there.
    std::vector<std::vector<std::int32_t>> of(std::int32_t collective, const std::vector<Part>& parts) {
        collective_ = collective;
        for (const Part& part : parts) std::fill(in_.begin() + part.first_op, in_.begin() + part.last_op, collective);
        for (const Part& part : parts)
            for (std::int32_t op = part.first_op; op < part.last_op; ++op) {
                std::int32_t& waits = waits_[at(op)];
                waits = 0;
                const RankProgram& rank = program_.ranks[at(part.rank)];
                const std::int32_t first = matched_.first_op[at(part.rank)];
                for (const std::int32_t before : rank.dependencies_of(rank.ops[at(op - first)]))
                    if (in_[at(first + before)] == collective) ++waits;
                if (waits == 0) make_ready(op);
            }
        run_done();
        std::vector<std::vector<std::int32_t>> rounds;
        while (true) {
            std::vector<std::int32_t> round;
            for (const Part& part : parts) {
                auto& sends = ready_[at(part.rank)];
                if (sends.empty()) continue;
                round.push_back(matched_.message_of[at(sends.front())]);
                sends.pop();
            }
            if (round.empty()) return rounds;
            for (const std::int32_t m : round) {
                const auto& message = matched_.messages[at(m)];
                done_.push_back(message.send);
                delivered_[at(m)] = 1;
                if (posted_[at(m)] != 0) done_.push_back(message.recv);
            }
            run_done();
            rounds.push_back(std::move(round));
        }
    }

private:
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

    void make_ready(std::int32_t op) {
        const std::int32_t rank = rank_of_[at(op)];
        const ProgramOpKind kind = program_.ranks[at(rank)].ops[at(op - matched_.first_op[at(rank)])].kind;
        if (kind == ProgramOpKind::send) {
            ready_[at(rank)].push(op);
        } else if (kind == ProgramOpKind::recv) {
            const std::int32_t m = matched_.message_of[at(op)];
            posted_[at(m)] = 1;
            if (delivered_[at(m)] != 0) done_.push_back(op);
        } else {
            done_.push_back(op);
        }
    }

    void run_done() {
        while (!done_.empty()) {
            const std::int32_t op = done_.back();
            done_.pop_back();
            for (std::int32_t i = matched_.first_dependent[at(op)]; i < matched_.first_dependent[at(op) + 1]; ++i) {
                const std::int32_t next = matched_.dependents[at(i)];
                if (in_[at(next)] == collective_ && --waits_[at(next)] == 0) make_ready(next);
            }
        }
    }

    const Program& program_;
    const Matched& matched_;
    std::vector<std::int32_t> rank_of_, waits_, in_;  // [op] its collective in in_
    std::int32_t collective_ = 0;
    std::vector<char> delivered_, posted_;         // [message]
    std::vector<std::queue<std::int32_t>> ready_;  // [rank] sends
    std::vector<std::int32_t> done_;
};

/// The batch that is being filled.
class Filling {
public:
    explicit Filling(const Network& network) : network_(network), paths_(network) { clear(); }

    /// Adds all of them, or nothing.
    bool add(const std::vector<HostPair>& more) {
        std::set<HostPair> fresh(more.begin(), more.end());
        std::erase_if(fresh, [&](const HostPair& pair) { return pairs_.contains(pair); });
        const std::vector<HostPair> wanted(fresh.begin(), fresh.end());
        if (!board_->connect_all(wanted, 0)) return false;
        pairs_.merge(fresh);
        return true;
    }
    void clear() {
        pairs_.clear();
        board_.emplace(network_, paths_, std::nullopt, true);
    }

private:
    const Network& network_;
    CircuitPaths paths_;
    std::optional<Switchboard> board_;
    std::set<HostPair> pairs_;
};

class Planner {
public:
    Planner(const Program& program, const Network& network)
        : program_(program), network_(network), matched_(simulation::match(program)), filling_(network) {
        for (const RankProgram& rank : program.ranks) result_.of_send.emplace_back(rank.ops.size(), -1);
    }

    Batches run() {
        Rounds rounds(program_, matched_);
        for (const auto& [collective, parts] : collectives_of(program_, matched_)) {
            collective_ = collective;
            for (std::vector<std::int32_t>& round : rounds.of(collective, parts)) add(round);
            close();
        }
        for (const RankProgram& rank : program_.ranks) {
            std::vector<std::int32_t>& calls = result_.calls.emplace_back();
            for (const RankProgram::Call& call : rank.calls) calls.push_back(call.collective);
        }
        return std::move(result_);
    }

private:
    void add(std::vector<std::int32_t>& round) {
        std::erase_if(round, [&](std::int32_t m) { return hosts_of(m).first == hosts_of(m).second; });
        std::vector<HostPair> pairs;
        for (const std::int32_t m : round) pairs.push_back(hosts_of(m));
        bool fits = filling_.add(pairs);
        if (!fits) {
            close();
            fits = filling_.add(pairs);
        }
        if (fits) {
            for (const std::int32_t m : round) assign(m);
        } else {
            cut(std::move(round));
        }
    }

    /// Those that do not fit wait for the next batch.
    void cut(std::vector<std::int32_t> round) {
        while (!round.empty()) {
            std::vector<std::int32_t> left;
            for (const std::int32_t m : round) {
                if (filling_.add({hosts_of(m)}))
                    assign(m);
                else
                    left.push_back(m);
            }
            if (left.size() == round.size()) {
                const HostPair hosts = hosts_of(left.front());
                throw InvalidInput("circuits: that of " + base::quoted(network_.node(hosts.first).name) + " and " +
                                       base::quoted(network_.node(hosts.second).name) +
                                       " can never be set up: no port or wavelength",
                                   "see ports and wavelengths in the table [circuits]");
            }
            if (!left.empty()) close();
            round = std::move(left);
        }
    }

    void close() {
        if (messages_.empty()) return;
        Batches::Batch& batch = result_.batches.emplace_back();
        batch.collective = collective_;
        for (const auto& [pair, number] : messages_) {
            batch.circuits.push_back(pair);
            batch.messages.push_back(number);
        }
        messages_.clear();
        filling_.clear();
    }

    [[nodiscard]] HostPair hosts_of(std::int32_t m) const {
        const std::int32_t pair = matched_.messages[static_cast<std::size_t>(m)].pair;
        const auto& [source, target] = matched_.pairs[static_cast<std::size_t>(pair)];
        return pair_of(network_.host_of(source), network_.host_of(target));
    }

    void assign(std::int32_t m) {
        const auto& message = matched_.messages[static_cast<std::size_t>(m)];
        const Rank source = matched_.pairs[static_cast<std::size_t>(message.pair)].first;
        const auto op = static_cast<std::size_t>(message.send - matched_.first_op[source.at()]);
        result_.of_send[source.at()][op] = static_cast<std::int32_t>(result_.batches.size());
        ++messages_[hosts_of(m)];
    }

    const Program& program_;
    const Network& network_;
    Matched matched_;
    Filling filling_;
    std::int32_t collective_ = 0;
    std::map<HostPair, std::int32_t> messages_;  // of the batch that is being filled
    Batches result_;
};

}  // namespace

Batches count_messages(const Program& program, const Network& network) {
    Batches result;
    std::map<std::int32_t, std::int32_t> numbers;  // collective -> batch
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        const NodeId host = network.host_of(Rank{static_cast<std::int32_t>(r)});
        std::vector<std::int32_t>& of_send = result.of_send.emplace_back(rank.ops.size(), -1);
        std::vector<std::int32_t>& calls = result.calls.emplace_back();
        for (const RankProgram::Call& call : rank.calls) {
            calls.push_back(call.collective);
            for (std::int32_t op = call.first_op; op < call.first_op + call.num_ops; ++op) {
                const ProgramOp& what = rank.ops[static_cast<std::size_t>(op)];
                if (what.kind != ProgramOpKind::send || network.host_of(what.peer) == host) continue;
                const auto [found, is_new] =
                    numbers.try_emplace(call.collective, static_cast<std::int32_t>(result.batches.size()));
                if (is_new) result.batches.push_back({.messages = {0}, .collective = call.collective});
                ++result.batches[static_cast<std::size_t>(found->second)].messages.front();
                of_send[static_cast<std::size_t>(op)] = found->second;
            }
        }
    }
    return result;
}

Program with_teardowns(const Program& program) {
    std::set<std::int32_t> tags;
    for (const RankProgram& rank : program.ranks)
        for (const ProgramOp& op : rank.ops) tags.insert(op.tag);
    const std::int32_t tag = tags.empty() ? 0 : *tags.rbegin() + 1;
    Program result{std::vector<RankProgram>(program.ranks.size())};
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& before = program.ranks[r];
        RankProgram& after = result.ranks[r];
        const auto num_ops = static_cast<std::int32_t>(before.ops.size());
        std::vector<std::int32_t> call_of(before.ops.size(), -1);
        for (std::size_t i = 0; i < before.calls.size(); ++i)
            std::fill_n(call_of.begin() + before.calls[i].first_op, before.calls[i].num_ops,
                        static_cast<std::int32_t>(i));
        for (std::int32_t op = 0; op < num_ops; ++op) {
            const auto own = static_cast<std::size_t>(op);
            std::set<std::int32_t> waits;
            for (const std::int32_t other : before.dependencies_of(before.ops[own])) {
                const std::int32_t call = call_of[static_cast<std::size_t>(other)];
                waits.insert(other);
                if (call >= 0 && call != call_of[own]) waits.insert(num_ops + 2 * call + 1);
            }
            after.add(before.ops[own], std::vector<std::int32_t>(waits.begin(), waits.end()));
        }
        const Rank self{static_cast<std::int32_t>(r)};
        for (const RankProgram::Call& call : before.calls) {
            std::vector<std::int32_t> all(static_cast<std::size_t>(call.num_ops));
            std::iota(all.begin(), all.end(), call.first_op);
            after.add({ProgramOpKind::send, self, tag}, all);
            after.add({ProgramOpKind::recv, self, tag}, all);
        }
    }
    return result;
}

Batches plan_batches(const Program& program, const Network& network) { return Planner(program, network).run(); }

}  // namespace hocket::circuits
