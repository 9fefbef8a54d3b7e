// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/circuit_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "hocket/base/error.hpp"

namespace hocket::probes {

namespace {

constexpr char nothing = '\x55';

/// What rank `owner` contributes to a block.
unsigned char content(int owner, int block, std::int64_t byte) {
    return static_cast<unsigned char>(owner * 89 + block * 23 + byte * 7 + byte / 251);
}

/// Messages alone: all nodes hold all blocks.
constexpr const char* no_collective = "transfers";

bool reduces(const std::string& collective) { return collective == "reduce" || collective == "allreduce"; }

}  // namespace

CircuitBlocks::CircuitBlocks(const CircuitRun& run, int node)
    : run_(run),
      node_(node),
      data_(static_cast<std::size_t>(run.blocks * run.block_bytes)),
      readers_(static_cast<std::size_t>(run.blocks), std::vector<int>(1)),
      version_(static_cast<std::size_t>(run.blocks)) {}

CircuitBlocks::Access CircuitBlocks::send_follows(const CircuitMessage& message) {
    Access access;
    for (const int block : message.blocks) {
        auto& readers = readers_[static_cast<std::size_t>(block)];
        ++readers.back();
        access.versions.push_back(static_cast<int>(readers.size()) - 1);
    }
    return access;
}

CircuitBlocks::Access CircuitBlocks::receive_follows(const CircuitMessage& message) {
    Access access;
    for (const int block : message.blocks) {
        auto& readers = readers_[static_cast<std::size_t>(block)];
        access.versions.push_back(static_cast<int>(readers.size()) - 1);
        readers.push_back(0);
    }
    return access;
}

void CircuitBlocks::fill() {
    left_ = readers_;
    std::fill(version_.begin(), version_.end(), 0);
    std::fill(data_.begin(), data_.end(), nothing);
    const std::string& collective = run_.collective;
    for (int block = 0; block < run_.blocks; ++block) {
        const bool mine =
            collective == no_collective || reduces(collective) || (collective == "bcast" && node_ == run_.root) ||
            (collective == "allgather" && block == node_) || (collective == "alltoall" && block / run_.nodes == node_);
        if (!mine) continue;
        for (std::int64_t byte = 0; byte < run_.block_bytes; ++byte)
            at(block)[byte] = static_cast<char>(content(node_, block, byte));
    }
}

bool CircuitBlocks::can_read(const CircuitMessage& message, const Access& access) const {
    for (std::size_t i = 0; i < message.blocks.size(); ++i)
        if (version_[static_cast<std::size_t>(message.blocks[i])] != access.versions[i]) return false;
    return true;
}

void CircuitBlocks::read(const CircuitMessage& message, const Access& access, std::vector<char>& buffer) {
    char* place = buffer.data();
    for (std::size_t i = 0; i < message.blocks.size(); ++i, place += run_.block_bytes) {
        std::memcpy(place, at(message.blocks[i]), static_cast<std::size_t>(run_.block_bytes));
        --left_[static_cast<std::size_t>(message.blocks[i])][static_cast<std::size_t>(access.versions[i])];
    }
}

bool CircuitBlocks::can_change(const CircuitMessage& message, const Access& access) const {
    if (!can_read(message, access)) return false;
    for (std::size_t i = 0; i < message.blocks.size(); ++i)
        if (left_[static_cast<std::size_t>(message.blocks[i])][static_cast<std::size_t>(access.versions[i])] > 0)
            return false;
    return true;
}

void CircuitBlocks::change(const CircuitMessage& message, const Access&, const std::vector<char>& buffer) {
    const char* place = buffer.data();
    for (const int block : message.blocks) {
        char* const mine = at(block);
        if (message.reduces) {
            for (std::int64_t byte = 0; byte < run_.block_bytes; ++byte)
                mine[byte] = static_cast<char>(mine[byte] + place[byte]);
        } else {
            std::memcpy(mine, place, static_cast<std::size_t>(run_.block_bytes));
        }
        place += run_.block_bytes;
        ++version_[static_cast<std::size_t>(block)];
    }
}

unsigned char CircuitBlocks::wanted(int block, std::int64_t byte) const {
    if (reduces(run_.collective)) {
        unsigned char sum = 0;
        for (int owner = 0; owner < run_.nodes; ++owner)
            sum = static_cast<unsigned char>(sum + content(owner, block, byte));
        return sum;
    }
    const int owner = run_.collective == "bcast"       ? run_.root
                      : run_.collective == "allgather" ? block
                                                       : block / run_.nodes;
    return content(owner, block, byte);
}

bool CircuitBlocks::belongs_here(int block) const {
    if (node_ >= run_.nodes || run_.collective == no_collective) return false;
    if (run_.collective == "reduce") return node_ == run_.root;
    if (run_.collective == "alltoall") return block % run_.nodes == node_;
    return true;
}

void CircuitBlocks::check() const {
    for (int block = 0; block < run_.blocks; ++block) {
        if (!belongs_here(block)) continue;
        for (std::int64_t byte = 0; byte < run_.block_bytes; ++byte) {
            if (static_cast<unsigned char>(at(block)[byte]) != wanted(block, byte))
                throw Error("block " + std::to_string(block) + " of " + run_.collective + " has a wrong byte " +
                            std::to_string(byte) + " at node " + std::to_string(node_));
        }
    }
}

}  // namespace hocket::probes
