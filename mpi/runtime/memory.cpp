// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "runtime/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

#include "hocket/base/error.hpp"

namespace hocket::runtime {

namespace {

constexpr std::int64_t alignment_bytes = 64;

constexpr std::int64_t round_up(std::int64_t bytes) {
    return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

std::vector<std::int64_t> relayed_blocks(const Role& role, const RankGraph& graph) {
    const bool passes_on =
        (role.collective == Collective::scatter || role.collective == Collective::gather) && !role.is_root();
    if (!passes_on && role.collective != Collective::alltoall) return {};
    std::vector<std::int64_t> blocks;
    if (passes_on) blocks.push_back(role.self.value);
    for (std::int32_t i = 0; i < graph.num_ops(); ++i) {
        for (const ChunkRange& range : graph.ranges(i)) {
            const std::int64_t last = (range.first + range.count - 1) / role.segments;
            for (std::int64_t block = range.first / role.segments; block <= last; ++block) {
                const bool mine =
                    block / role.num_ranks == role.self.value || block % role.num_ranks == role.self.value;
                if (passes_on || !mine) blocks.push_back(block);
            }
        }
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
}

/// The block of a rank in the buffer that has those of all.
Buffer block_of(const Buffer& all, const UnevenBlocks& blocks, std::int32_t rank) {
    return blocks.given() ? part_of(all, blocks.displacement(rank), blocks.count(rank))
                          : part_of(all, rank * all.count, all.count);
}

std::int64_t bytes_of(const Buffer& buffer) { return buffer.count * size_of(buffer.type); }

/// As many elements of the buffer as fit `bytes`.
Buffer at_most(const Buffer& buffer, std::int64_t bytes) {
    if (bytes_of(buffer) <= bytes) return buffer;
    return {buffer.address, bytes / size_of(buffer.type), buffer.type};
}

/// The error of MPI for a message that is larger than its place. No place at all is not an error: the MPI does not look
/// then.
int fit(std::int64_t message_bytes, std::int64_t place_bytes) {
    return message_bytes > place_bytes && place_bytes > 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

}  // namespace

void Region::Free::operator()(char* memory) const { std::free(memory); }

char* Region::at_least(std::int64_t bytes) {
    if (bytes > capacity_bytes_) {
        memory_.reset();
        capacity_bytes_ = 0;
        memory_.reset(
            static_cast<char*>(std::aligned_alloc(alignment_bytes, static_cast<std::size_t>(round_up(bytes)))));
        if (!memory_) throw std::bad_alloc();
        capacity_bytes_ = round_up(bytes);
    }
    return memory_.get();
}

void Region::leave() noexcept {
    static_cast<void>(memory_.release());
    capacity_bytes_ = 0;
}

char* elements_in(Region& region, const TypeInfo& element, std::int64_t count) {
    // The address that MPI gets lies before the data if the type's lower bound is positive, behind it if negative.
    const std::int64_t before = element.true_lower_bytes < 0 ? round_up(-element.true_lower_bytes) : 0;
    const std::int64_t span = std::max<std::int64_t>(0, count - 1) * element.extent_bytes;
    return region.at_least(before + span + std::max<std::int64_t>(1, element.true_upper_bytes)) + before;
}

Memory::Memory(const Role& role, const RankGraph& graph) : role_(role), relays_(relayed_blocks(role, graph)) {
    reads_only_ = true;
    for (std::int32_t i = 0; i < graph.num_ops(); ++i) reads_only_ &= graph.op(i).kind == OpKind::send;
}

char* Memory::view(const Buffer& buffer, Region& region) {
    const TypeInfo info = describe(buffer.type);
    return info.contiguous ? static_cast<char*>(buffer.address) : region.at_least(buffer.count * info.size_bytes);
}

void Memory::set_block_bytes(const Buffer& block) { block_elements_ = block.count * size_of(block.type); }

void Memory::lay_out_evenly() {
    if (uneven_.empty()) return;
    uneven_.clear();
    ++layout_;
}

std::int64_t Memory::lay_out(const UnevenBlocks& blocks, std::int64_t unit, bool in_buffer) {
    bool changed = uneven_.empty();
    uneven_.resize(static_cast<std::size_t>(role_.num_ranks));
    std::int64_t total = 0;
    for (std::int32_t rank = 0; rank < role_.num_ranks; ++rank) {
        ElementRange& place = uneven_[static_cast<std::size_t>(rank)];
        const std::int64_t size = blocks.count(rank) * unit;
        const std::int64_t begin = in_buffer ? blocks.displacement(rank) * unit : total;
        changed = changed || place.begin != begin || place.end != begin + size;
        place = {begin, begin + size};
        total += size;
    }
    if (changed) ++layout_;
    return total;
}

int Memory::open(const Arguments& arguments, MPI_Comm comm) {
    if (!arguments.blocks.given()) lay_out_evenly();
    switch (role_.collective) {
        case Collective::bcast:
            set_block_bytes(arguments.recv);
            home_ = view(arguments.recv, home_region_);
            return role_.is_root() && home_ != arguments.recv.address ? pack(arguments.recv, home_, comm) : MPI_SUCCESS;
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::reduce_scatter_block:
            return open_reduction(arguments, comm);
        case Collective::allgather:
            return open_allgather(arguments, comm);
        case Collective::alltoall:
            return open_alltoall(arguments, comm);
        case Collective::scatter:
            return open_scatter(arguments, comm);
        case Collective::gather:
            return open_gather(arguments, comm);
        case Collective::barrier:
            return MPI_SUCCESS;
    }
    return MPI_ERR_INTERN;
}

int Memory::open_reduction(const Arguments& arguments, MPI_Comm comm) {
    const bool scatters = role_.collective == Collective::reduce_scatter_block;
    element_type_ = arguments.recv.type;
    element_ = describe(element_type_);
    block_elements_ = arguments.recv.count;
    const std::int64_t count = arguments.blocks.given() ? lay_out(arguments.blocks, 1, false)
                                                        : block_elements_ * (scatters ? role_.num_ranks : 1);
    const bool has_result =
        role_.collective == Collective::allreduce || (role_.collective == Collective::reduce && role_.is_root());
    const Buffer own{arguments.send.in_place() ? arguments.recv.address : arguments.send.address, count, element_type_};
    if (has_result) {
        home_ = static_cast<char*>(arguments.recv.address);
    } else if (reads_only_) {
        home_ = static_cast<char*>(own.address);
    } else {
        home_ = elements_in(home_region_, element_, count);
    }
    return copy(own, {home_, count, element_type_}, comm);
}

int Memory::open_allgather(const Arguments& arguments, MPI_Comm comm) {
    const Buffer& recv = arguments.recv;
    if (arguments.blocks.given()) {
        const TypeInfo info = describe(recv.type);
        const std::int64_t total = lay_out(arguments.blocks, info.size_bytes, info.contiguous);
        home_ = info.contiguous ? static_cast<char*>(recv.address) : home_region_.at_least(total);
    } else {
        set_block_bytes(recv);
        home_ = view({recv.address, recv.count * role_.num_ranks, recv.type}, home_region_);
    }
    char* const own = block_address(role_.self.value);
    const std::int64_t own_bytes = block_size(role_.self.value);
    if (!arguments.send.in_place()) {  // to itself a rank sends no message, which MPI would cut
        const int code = pack(at_most(arguments.send, own_bytes), own, comm);
        return code == MPI_SUCCESS ? fit(bytes_of(arguments.send), own_bytes) : code;
    }
    return home_ == recv.address ? MPI_SUCCESS : pack(block_of(recv, arguments.blocks, role_.self.value), own, comm);
}

int Memory::open_alltoall(const Arguments& arguments, MPI_Comm comm) {
    const Buffer all{arguments.recv.address, arguments.recv.count * role_.num_ranks, arguments.recv.type};
    set_block_bytes(arguments.recv);
    home_ = view(all, home_region_);
    int code = MPI_SUCCESS;
    if (arguments.send.in_place()) {
        outgoing_ = outgoing_region_.at_least(block_elements_ * role_.num_ranks);
        code = pack(all, outgoing_, comm);
    } else {
        const Buffer send{arguments.send.address, arguments.send.count * role_.num_ranks, arguments.send.type};
        const bool same = bytes_of(arguments.send) == block_elements_;
        outgoing_ = same ? view(send, outgoing_region_) : outgoing_region_.at_least(block_elements_ * role_.num_ranks);
        if (same && outgoing_ != send.address) code = pack(send, outgoing_, comm);
        for (int i = 0; !same && i < role_.num_ranks && code == MPI_SUCCESS; ++i) {
            const Buffer block = part_of(send, i * arguments.send.count, arguments.send.count);
            code = pack(at_most(block, block_elements_), outgoing_ + i * block_elements_, comm);
        }
        if (code == MPI_SUCCESS) code = fit(bytes_of(arguments.send), block_elements_);
    }
    relay_home_ = relay_region_.at_least(block_elements_ * static_cast<std::int64_t>(relays_.size()));
    const std::int64_t own = role_.self.value * block_elements_;
    const int copied =
        copy({outgoing_ + own, block_elements_, MPI_BYTE}, {home_ + own, block_elements_, MPI_BYTE}, comm);
    return code == MPI_SUCCESS ? copied : code;
}

void Memory::place_relays(const Buffer& own) {
    relay_home_ = relays_.size() == 1
                      ? view(own, relay_region_)
                      : relay_region_.at_least(block_elements_ * static_cast<std::int64_t>(relays_.size()));
}

int Memory::open_scatter(const Arguments& arguments, MPI_Comm comm) {
    if (!role_.is_root()) {
        set_block_bytes(arguments.recv);
        place_relays(arguments.recv);
        return MPI_SUCCESS;
    }
    set_block_bytes(arguments.send);
    const Buffer all{arguments.send.address, arguments.send.count * role_.num_ranks, arguments.send.type};
    home_ = view(all, home_region_);
    const int code = home_ == all.address ? MPI_SUCCESS : pack(all, home_, comm);
    if (code != MPI_SUCCESS || arguments.recv.in_place()) return code;
    const int unpacked =
        unpack(home_ + role_.self.value * block_elements_, at_most(arguments.recv, block_elements_), comm);
    return unpacked == MPI_SUCCESS ? fit(block_elements_, bytes_of(arguments.recv)) : unpacked;
}

int Memory::open_gather(const Arguments& arguments, MPI_Comm comm) {
    if (!role_.is_root()) {
        set_block_bytes(arguments.send);
        place_relays(arguments.send);
        char* const own = block_address(role_.self.value);
        return own == arguments.send.address ? MPI_SUCCESS : pack(arguments.send, own, comm);
    }
    return open_allgather(arguments, comm);  // the root does the same with its own block
}

int Memory::close(const Arguments& arguments, MPI_Comm comm) {
    const Buffer& recv = arguments.recv;
    switch (role_.collective) {
        case Collective::bcast:
            return home_ == recv.address || role_.is_root() ? MPI_SUCCESS : unpack(home_, recv, comm);
        case Collective::reduce_scatter_block: {
            const std::int64_t count = block_size(role_.self.value);
            const Buffer own{block_address(role_.self.value), count, element_type_};
            return copy(own, {recv.address, count, recv.type}, comm);
        }
        case Collective::allgather:
        case Collective::alltoall:
        case Collective::gather: {
            if (role_.collective == Collective::gather && !role_.is_root()) return MPI_SUCCESS;
            if (home_ == recv.address) return MPI_SUCCESS;
            if (!arguments.blocks.given())
                return unpack(home_, {recv.address, recv.count * role_.num_ranks, recv.type}, comm);
            int code = MPI_SUCCESS;
            for (std::int32_t rank = 0; rank < role_.num_ranks && code == MPI_SUCCESS; ++rank)
                code = unpack(block_address(rank), block_of(recv, arguments.blocks, rank), comm);
            return code;
        }
        case Collective::scatter: {
            if (role_.is_root()) return MPI_SUCCESS;
            const char* const own = block_address(role_.self.value);
            return own == recv.address ? MPI_SUCCESS : unpack(own, recv, comm);
        }
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::barrier:
            return MPI_SUCCESS;
    }
    return MPI_ERR_INTERN;
}

void Memory::leave_temporaries() noexcept {
    for (Region* region : {&home_region_, &outgoing_region_, &relay_region_}) region->leave();
}

std::size_t Memory::relay_index(std::int64_t block) const {
    const auto found = std::lower_bound(relays_.begin(), relays_.end(), block);
    HOCKET_ASSERT(found != relays_.end() && *found == block, "a relayed block has no place");
    return static_cast<std::size_t>(found - relays_.begin());
}

std::int64_t Memory::block_size(std::int64_t block) const {
    if (uneven_.empty()) return block_elements_;
    const ElementRange& place = uneven_[static_cast<std::size_t>(block)];
    return place.end - place.begin;
}

char* Memory::block_address(std::int64_t block) const {
    if (!uneven_.empty()) return home_ + uneven_[static_cast<std::size_t>(block)].begin * element_.extent_bytes;
    const std::int64_t block_bytes = block_elements_ * element_.extent_bytes;
    if (role_.collective == Collective::alltoall) {
        const std::int64_t source = block / role_.num_ranks, target = block % role_.num_ranks;
        if (source == role_.self.value) return outgoing_ + target * block_bytes;
        if (target == role_.self.value) return home_ + source * block_bytes;
    }
    if (relays_.empty()) return home_ + block * block_bytes;
    return relay_home_ + static_cast<std::int64_t>(relay_index(block)) * block_bytes;
}

std::int64_t Memory::find(std::span<const ChunkRange> chunks, std::vector<Segment>& segments) const {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    const std::int64_t extent = element_.extent_bytes;
    std::int64_t total = 0;
    if (role_.collective == Collective::barrier) return total;
    for (const ChunkRange& range : chunks) {
        const std::int32_t end = range.first + range.count;
        for (std::int32_t chunk = range.first; chunk < end;) {
            const std::int32_t block = chunk / role_.segments;
            const std::int32_t first = chunk % role_.segments;
            const std::int32_t last = std::min(end - 1 - block * role_.segments, role_.segments - 1);
            chunk += last - first + 1;
            const std::int64_t size = block_size(block);
            const std::int64_t begin = segment_of(size, role_.segments, first).begin;
            std::int64_t left = segment_of(size, role_.segments, last).end - begin;
            if (left == 0) continue;
            char* address = block_address(block) + begin * extent;
            total += left;
            if (!segments.empty() && segments.back().address + segments.back().count * extent == address) {
                const auto more = std::min(left, most - segments.back().count);
                segments.back().count += static_cast<int>(more);
                address += more * extent;
                left -= more;
            }
            for (; left > 0; left -= std::min(left, most)) {  // MPI counts with int
                segments.push_back({address, static_cast<int>(std::min(left, most))});
                address += std::min(left, most) * extent;
            }
        }
    }
    return total;
}

}  // namespace hocket::runtime
