// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hocket/program/op_stream.hpp"
#include "hocket/program/program.hpp"

namespace hocket::replay {

/// Puts all ops into a Program: no rank waits, so that a stream gives all of them at once.
class WholeProgram : public OpSink {
public:
    explicit WholeProgram(std::int32_t num_ranks)
        : program_{std::vector<RankProgram>(static_cast<std::size_t>(num_ranks))} {}

    Op add(Rank rank, const ProgramOp& op, Tag tag, std::span<const Op> after) override {
        after_.assign(after.begin(), after.end());
        ProgramOp numbered = op;
        if (is_message(op.kind)) numbered.tag = number(tags_, tag);
        return program_.ranks[rank.at()].add(numbered, after_);
    }
    bool waits(Rank, std::span<const Op>) override { return false; }
    [[nodiscard]] std::int64_t num_added(Rank rank) const override {
        return static_cast<std::int64_t>(program_.ranks[rank.at()].ops.size());
    }
    void mark_collective(Rank rank, Tag tag, std::int32_t number, std::int32_t num_ops) override {
        RankProgram& part = program_.ranks[rank.at()];
        part.calls.push_back(
            {this->number(collectives_, {tag, number}), static_cast<std::int32_t>(part.ops.size()) - num_ops, num_ops});
    }

    [[nodiscard]] Program take() { return std::move(program_); }

private:
    template <class Key>
    static std::int32_t number(std::map<Key, std::int32_t>& numbers, const Key& key) {
        return numbers.try_emplace(key, static_cast<std::int32_t>(numbers.size())).first->second;
    }

    Program program_;
    std::map<Tag, std::int32_t> tags_;
    std::map<std::pair<Tag, std::int32_t>, std::int32_t> collectives_;
    std::vector<std::int32_t> after_;
};

}  // namespace hocket::replay
