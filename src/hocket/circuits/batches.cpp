// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/circuits/batches.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>

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

std::vector<std::int32_t> sends_of(const RankProgram& rank) { return std::vector<std::int32_t>(rank.ops.size(), -1); }

}  // namespace

Collectives find_rounds(const Program& program, const Network& network) {
    const Matched matched = simulation::match(program);
    Collectives result;
    for (const RankProgram& rank : program.ranks) result.of_send.push_back(sends_of(rank));
    Rounds rounds(program, matched);
    std::map<std::int32_t, std::int32_t> numbers;
    for (const auto& [collective, parts] : collectives_of(program, matched)) {
        const auto index = static_cast<std::int32_t>(result.all.size());
        numbers[collective] = index;
        Collectives::One& one = result.all.emplace_back();
        for (const std::vector<std::int32_t>& messages : rounds.of(collective, parts)) {
            Collectives::Round round;
            for (const std::int32_t m : messages) {
                const auto& message = matched.messages[static_cast<std::size_t>(m)];
                const auto& [source, target] = matched.pairs[static_cast<std::size_t>(message.pair)];
                const HostPair hosts = pair_of(network.host_of(source), network.host_of(target));
                if (hosts.first == hosts.second) continue;
                const std::int32_t send = message.send - matched.first_op[source.at()];
                round.push_back({source, send, hosts});
                result.of_send[source.at()][static_cast<std::size_t>(send)] = index;
            }
            one.num_messages += static_cast<std::int32_t>(round.size());
            if (!round.empty()) one.rounds.push_back(std::move(round));
        }
    }
    for (const RankProgram& rank : program.ranks) {
        std::vector<std::int32_t>& calls = result.calls.emplace_back();
        for (const RankProgram::Call& call : rank.calls) calls.push_back(numbers.at(call.collective));
    }
    return result;
}

Collectives find_collectives(const Program& program, const Network& network) {
    Collectives result;
    std::map<std::int32_t, std::int32_t> numbers;
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        const NodeId host = network.host_of(Rank{static_cast<std::int32_t>(r)});
        std::vector<std::int32_t>& of_send = result.of_send.emplace_back(sends_of(rank));
        std::vector<std::int32_t>& calls = result.calls.emplace_back();
        for (const RankProgram::Call& call : rank.calls) {
            const auto [found, is_new] =
                numbers.try_emplace(call.collective, static_cast<std::int32_t>(result.all.size()));
            if (is_new) result.all.emplace_back();
            calls.push_back(found->second);
            for (std::int32_t op = call.first_op; op < call.first_op + call.num_ops; ++op) {
                const ProgramOp& what = rank.ops[static_cast<std::size_t>(op)];
                if (what.kind != ProgramOpKind::send || network.host_of(what.peer) == host) continue;
                ++result.all[static_cast<std::size_t>(found->second)].num_messages;
                of_send[static_cast<std::size_t>(op)] = found->second;
            }
        }
    }
    return result;
}

Filling::Filling(const Network& network, const Switchboard& board, CircuitPaths& paths)
    : board_(board), paths_(paths), used_(network.nodes().size(), 0) {}

void Filling::clear() {
    for (const auto& [a, b] : pairs_) used_[a.at()] = used_[b.at()] = 0;
    pairs_.clear();
    wavelengths_.clear();
}

bool Filling::add(const Collectives::Round& round) {
    fresh_.clear();
    for (const Collectives::Message& message : round)
        if (!std::binary_search(pairs_.begin(), pairs_.end(), message.hosts)) fresh_.push_back(message.hosts);
    std::sort(fresh_.begin(), fresh_.end());
    fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
    if (const auto most = board_.max_circuits();
        most && pairs_.size() + fresh_.size() > static_cast<std::size_t>(*most))
        return false;
    const auto wavelengths = board_.has_wavelengths() ? wavelengths_ : decltype(wavelengths_){};
    for (std::size_t i = 0; i < fresh_.size(); ++i) {
        if (add(fresh_[i])) continue;
        for (std::size_t j = 0; j < i; ++j)
            for (const NodeId host : {fresh_[j].first, fresh_[j].second}) --used_[host.at()];
        wavelengths_ = wavelengths;
        return false;
    }
    const auto middle = pairs_.insert(pairs_.end(), fresh_.begin(), fresh_.end());
    std::inplace_merge(pairs_.begin(), middle, pairs_.end());
    return true;
}

bool Filling::add(HostPair pair) {
    const auto& [a, b] = pair;
    if (used_[a.at()] >= board_.num_ports(a) || used_[b.at()] >= board_.num_ports(b)) return false;
    if (board_.has_wavelengths()) {
        paths_.find(a, b, path_);
        std::size_t most = 0;
        bool has_limit = false;
        for (const LinkId link : path_) {
            const auto number = board_.num_wavelengths(link);
            if (!number) continue;
            const auto limit = static_cast<std::size_t>(*number);
            most = has_limit ? std::min(most, limit) : limit;
            has_limit = true;
            wavelengths_of(link).resize(std::max(wavelengths_of(link).size(), limit));
        }
        const auto is_free = [&](std::size_t w) {
            return std::none_of(path_.begin(), path_.end(),
                                [&](LinkId link) { return board_.num_wavelengths(link) && wavelengths_of(link)[w]; });
        };
        std::size_t w = 0;
        while (w < most && !is_free(w)) ++w;
        if (has_limit && w == most) return false;
        for (const LinkId link : path_)
            if (board_.num_wavelengths(link)) wavelengths_of(link)[w] = true;
    }
    ++used_[a.at()];
    ++used_[b.at()];
    return true;
}

Program with_teardowns(const Program& program) {
    std::int32_t tag = 0;
    for (const RankProgram& rank : program.ranks)
        for (const ProgramOp& op : rank.ops) tag = std::max(tag, op.tag + 1);
    Program result{std::vector<RankProgram>(program.ranks.size())};
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& before = program.ranks[r];
        RankProgram& after = result.ranks[r];
        const auto num_ops = static_cast<std::int32_t>(before.ops.size());
        std::vector<std::int32_t> call_of(before.ops.size(), -1), waits;
        for (std::size_t i = 0; i < before.calls.size(); ++i)
            std::fill_n(call_of.begin() + before.calls[i].first_op, before.calls[i].num_ops,
                        static_cast<std::int32_t>(i));
        for (std::int32_t op = 0; op < num_ops; ++op) {
            const auto own = static_cast<std::size_t>(op);
            waits.clear();
            for (const std::int32_t other : before.dependencies_of(before.ops[own])) {
                const std::int32_t call = call_of[static_cast<std::size_t>(other)];
                waits.push_back(other);
                if (call >= 0 && call != call_of[own]) waits.push_back(num_ops + 2 * call + 1);
            }
            std::sort(waits.begin(), waits.end());
            waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
            after.add(before.ops[own], waits);
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

}  // namespace hocket::circuits
