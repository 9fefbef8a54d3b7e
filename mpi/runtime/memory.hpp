// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hocket/schedule/schedule.hpp"
#include "hocket/schedule/segments.hpp"
#include "runtime/datatype.hpp"
#include "runtime/rank_graph.hpp"
#include "runtime/uneven_blocks.hpp"

namespace hocket::runtime {

/// The arguments of a collective call as MPI has them; of those significant at the root only, the others may hold
/// anything. The buffer of bcast is `recv`. Count and type of reduce, allreduce and reduce_scatter_block stand in
/// `send` and `recv`. With `blocks`, which allgather and reduce_scatter_block may have, the count of `recv` is unused.
struct Arguments {
    Buffer send;
    Buffer recv;
    MPI_Op op = MPI_OP_NULL;
    UnevenBlocks blocks{};
};

/// The place of a rank in a collective.
struct Role {
    Collective collective;
    std::int32_t num_ranks;
    Rank root;
    Rank self;
    std::int32_t segments;  ///< as in Schedule

    [[nodiscard]] bool is_root() const { return self == root; }
};

/// Memory for temporaries, kept between calls. Aligned for any operator, also one that uses vector instructions.
class Region {
public:
    char* at_least(std::int64_t bytes);
    /// Leaves it to a late message that may still be written there: it is never used again.
    void leave() noexcept;

private:
    struct Free {
        void operator()(char* memory) const;
    };
    std::unique_ptr<char, Free> memory_;
    std::int64_t capacity_bytes_ = 0;
};

/// Where to address `count` elements in `region`, so that all their data lie inside it.
char* elements_in(Region& region, const TypeInfo& element, std::int64_t count);

/// Elements that lie back to back.
struct Segment {
    char* address;
    int count;
};

/// Where the chunks of a collective lie on one rank.
///
/// What is only moved is cut in bytes of the type's signature, which all ranks agree on even where their datatypes
/// differ. What is combined is cut in elements, because there MPI demands the same datatype of all ranks. Chunks lie in
/// the user's own buffers wherever those hold the signature's bytes back to back, and where the collective may write to
/// them.
class Memory {
public:
    Memory(const Role& role, const RankGraph& graph);

    /// Points to the buffers of a call and puts this rank's contribution in place. Returns an MPI error code, as all
    /// do.
    int open(const Arguments& arguments, MPI_Comm comm);
    /// Hands the result to the user's buffers.
    int close(const Arguments& arguments, MPI_Comm comm);

    /// The segments of a message in the order of `chunks`, appended to `segments`. Returns the number of elements.
    std::int64_t find(std::span<const ChunkRange> chunks, std::vector<Segment>& segments) const;

    /// After messages that were abandoned.
    void leave_temporaries() noexcept;

    /// While these and the element are the same, find() returns the same.
    struct Places {
        char *home, *outgoing, *relay_home;
        std::int64_t block_elements;
        std::uint64_t layout;
        MPI_Datatype element_type;
        bool operator==(const Places&) const = default;
    };
    [[nodiscard]] Places places() const {
        return {home_, outgoing_, relay_home_, block_elements_, layout_, element_type_};
    }

    [[nodiscard]] MPI_Datatype element_type() const { return element_type_; }
    [[nodiscard]] const TypeInfo& element() const { return element_; }

private:
    [[nodiscard]] char* block_address(std::int64_t block) const;
    [[nodiscard]] std::int64_t block_size(std::int64_t block) const;
    [[nodiscard]] std::size_t relay_index(std::int64_t block) const;
    int open_reduction(const Arguments& arguments, MPI_Comm comm);
    int open_allgather(const Arguments& arguments, MPI_Comm comm);
    int open_alltoall(const Arguments& arguments, MPI_Comm comm);
    int open_scatter(const Arguments& arguments, MPI_Comm comm);
    int open_gather(const Arguments& arguments, MPI_Comm comm);
    /// The user's memory if it can be used as it is, else memory of our own.
    char* view(const Buffer& buffer, Region& region);
    void set_block_bytes(const Buffer& block);
    /// Places blocks of different sizes, of `unit` elements each count: where they lie in the program's buffer, or one
    /// behind another. Returns the elements of all.
    std::int64_t lay_out(const UnevenBlocks& blocks, std::int64_t unit, bool in_buffer);
    void lay_out_evenly();
    /// Room for the relayed blocks; the user's memory if there is none but this rank's own.
    void place_relays(const Buffer& own);

    Role role_;
    bool reads_only_;  // this rank sends its contribution as it is and receives nothing
    std::vector<std::int64_t>
        relays_;  // sorted: blocks that pass through this rank, in scatter and gather also its own

    MPI_Datatype element_type_ = MPI_BYTE;
    TypeInfo element_{1, 1, 0, 1, true, true};
    std::int64_t block_elements_ = 0;
    std::vector<ElementRange> uneven_;  // of each block from `home_` on; empty: all have `block_elements_`
    std::uint64_t layout_ = 0;          // number of changes of these
    char* home_ = nullptr;              // block 0 of the collective, or of what this rank receives
    char* outgoing_ = nullptr;          // alltoall: block 0 of what this rank sends
    char* relay_home_ = nullptr;
    Region home_region_, outgoing_region_, relay_region_;
};

}  // namespace hocket::runtime
