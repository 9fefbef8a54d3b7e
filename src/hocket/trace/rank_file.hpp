// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// One rank's file of a trace, decoded; format.h defines the bytes.
namespace hocket::trace {

/// One MPI call, or several polls in a row that found nothing, a row of fixed size. Ids index the tables of the
/// RankFile, or of the Trace once it has merged them. -1 stands for "none" or "not recorded" in every integer but
/// `request`, where it is 0.
struct Call {
    std::int64_t enter_ns;
    std::int64_t exit_ns;
    std::int64_t enter_cpu_ns;  ///< CPU time of the calling thread
    std::int64_t exit_cpu_ns;
    std::int64_t bytes;          ///< as in lower(): the message, or the block of one rank; what arrived for a receive
    std::int64_t receive_bytes;  ///< receiving half of a send-receive; what arrived
    std::uint64_t request;       ///< made, started, completed or freed by the call; the first of several
    std::int32_t function;
    std::int32_t communicator;
    std::int32_t root;  ///< -3: MPI_ROOT
    std::int32_t peer;  ///< rank in the communicator; -2: MPI_ANY_SOURCE, so far unknown
    std::int32_t tag;
    std::int32_t receive_peer;
    std::int32_t receive_tag;
    std::int32_t datatype;
    std::int32_t op;
    std::int32_t new_communicator;
    std::int32_t window;
    std::int32_t file;
    std::int32_t error;  ///< what the call returned, 0 = MPI_SUCCESS
    std::int16_t thread;
    std::uint16_t flags;  ///< enum hocket_trace_flag
    std::int64_t
        blocks;  ///< where in RankFile::blocks its vectors begin: n, n sent sizes, m, m received sizes; -1: none
    std::int64_t completions;  ///< where in RankFile::completions its requests begin; -1: none
    std::int64_t num_completions;
    std::int64_t calls;           ///< 1, or of so many polls; `exit - enter - outside` is what they took together
    std::int64_t outside_ns;      ///< between polls, outside of MPI
    std::int64_t outside_cpu_ns;  ///< CPU time likewise

    bool operator==(const Call&) const = default;
};

struct Completion {
    std::uint64_t request;
    std::int32_t source;  ///< -1: nothing was received
    std::int32_t tag;
    std::int64_t bytes;

    bool operator==(const Completion&) const = default;
};

struct Datatype {
    std::string name;
    std::int64_t bytes;
    bool operator==(const Datatype&) const = default;
};

struct Operator {
    std::string name;
    bool commutative;
    bool operator==(const Operator&) const = default;
};

/// Of a rank in the topology of a communicator: ranks in that communicator, -1: MPI_PROC_NULL.
struct Neighbours {
    std::vector<std::int32_t> sources, destinations;

    bool operator==(const Neighbours&) const = default;
};

/// A communicator as one rank saw it made.
struct LocalCommunicator {
    std::int32_t made_by;  ///< function, -1: predefined, or first seen in use
    std::int32_t parent;   ///< -1: none or unknown
    bool inter;
    std::int32_t rank;
    std::vector<std::int32_t> members;          ///< world ranks, -1 for a process outside this world
    std::vector<std::int32_t> remote;           ///< of an inter-communicator
    std::optional<Neighbours> neighbours = {};  ///< none: it has no topology, or that was not recorded

    bool operator==(const LocalCommunicator&) const = default;
};

struct RankFile {
    std::int32_t rank = 0;
    std::int32_t num_ranks = 0;
    std::string host;
    std::uint32_t process = 0;
    int end = -1;                    ///< enum hocket_trace_end; -1: the file has no footer, recording was cut off
    std::int64_t open_enter_ns = 0;  ///< of the call the main thread was in when recording was cut off; 0: in none
    std::int32_t open_function = -1;
    std::vector<std::string> functions;
    std::vector<Datatype> datatypes;
    std::vector<Operator> operators;
    std::vector<LocalCommunicator> communicators;
    std::vector<Call> calls;
    std::vector<std::int64_t> blocks;
    std::vector<Completion> completions;

    bool operator==(const RankFile&) const = default;
};

class RankBuilder;
class BlockDecoder;

/// Which CPU times the reader of a file needs.
enum class CpuReadings : std::uint8_t {
    filled,   ///< those that were not read are filled in
    as_read,  ///< -1 where they were not read
};

/// Reads a rank's file forward, a part at a time, so that its size does not matter. A part is a block of the file; with
/// CpuReadings::as_read, for which calls need not be seen together, at most `calls_of_part` calls of it. Of versions 1
/// and 2 the only part is the whole file.
class RankFileStream {
public:
    static constexpr std::size_t calls_of_part = 256;

    /// Reads the header. The file is open only while it is read.
    /// @throws InvalidInput  as decode_rank_file, here and in next().
    explicit RankFileStream(const std::filesystem::path&, CpuReadings = CpuReadings::filled);
    /// `bytes` must outlive the stream.
    RankFileStream(std::string_view bytes, const std::string& name);
    RankFileStream(RankFileStream&&) noexcept;
    ~RankFileStream();

    /// Puts the calls of the next part, with their blocks and completions, in place of those in part(). False if there
    /// are no more; then `end` and `open_function` are known too.
    bool next();
    /// Likewise, behind those in part().
    bool append();
    /// Tables as far as they were read.
    [[nodiscard]] const RankFile& part() const;
    /// Its calls may be changed until the next part is read.
    RankFile& part();
    [[nodiscard]] std::uint64_t bytes() const;
    [[nodiscard]] std::uint64_t bytes_read() const { return offset_ + begin_ + at_; }
    /// Gives part() away, at the end.
    RankFile take();

private:
    struct Source;
    void start();
    bool records();
    bool block();
    bool begin_block();
    void forget_read();

    std::unique_ptr<Source> source_;
    std::unique_ptr<RankBuilder> builder_;
    std::unique_ptr<BlockDecoder> decoder_;
    CpuReadings cpu_times_ = CpuReadings::filled;
    std::uint32_t version_ = 0;
    std::uint64_t offset_ = 0;       ///< of the block at hand, or the next one
    std::uint64_t size_ = 0;         ///< of the block at hand; 0: none is
    std::size_t begin_ = 0;          ///< of `records_` in its records
    std::size_t at_ = 0;             ///< in `records_`
    std::string_view records_ = {};  ///< of the block at hand, as far as they are still needed
    bool is_cut_ = false;            ///< the file ends inside it
    bool is_done_ = false;
};

/// Decodes the bytes of a rank file. A file that stops short of its footer gives what is whole.
/// @throws InvalidInput  naming `name`, the offset, what was found and what is accepted.
RankFile decode_rank_file(std::string_view bytes, const std::string& name);

/// @throws InvalidInput  as above, or if the file cannot be read.
RankFile read_rank_file(const std::filesystem::path&);

}  // namespace hocket::trace
