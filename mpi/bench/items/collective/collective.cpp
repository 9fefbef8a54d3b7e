// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// All collectives of MPI's standard: blocking, non-blocking, and as persistent requests of MPI-4.

#include <algorithm>
#include <memory>

#include "bench/items/arrivals.hpp"
#include "bench/items/collective/elements.hpp"
#include "bench/items/collective/pieces.hpp"
#include "bench/items/data.hpp"
#include "bench/items/later_function.hpp"
#include "bench/items/outcome.hpp"
#include "bench/items/partners.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/started.hpp"

namespace hocket::bench {

namespace {

enum class Way { blocking, nonblocking, persistent };

constexpr Option any_root{"root", "first|last|rotate", "first"}, fixed_root{"root", "first|last", "first"};
constexpr Option in_place_option{"in_place", "false|true", "false"};
constexpr Option counts_option{"counts", "equal|differ", "equal"};
constexpr Option neighbors_option{"neighbors", "ring|grid|all", "ring"};
constexpr int largest_element = 8;  // bytes: a vector to be reduced has at least one

bool has_root(const Collective& what) {
    return what.movement == Movement::bcast || what.movement == Movement::gather ||
           what.movement == Movement::scatter || what.movement == Movement::reduce;
}

bool reduces(const Collective& what) { return what.movement >= Movement::reduce; }

bool can_be_in_place(const Collective& what) {
    return !what.has_neighbors && what.movement != Movement::none && what.movement != Movement::bcast;
}

std::string function_of(const Collective& what, Way way) {
    std::string name = what.function;
    if (way == Way::persistent) return "MPI_" + name + "_init";
    if (way == Way::blocking) return "MPI_" + name;
    name[0] = static_cast<char>(name[0] - 'A' + 'a');
    return "MPI_I" + name;
}

const Elements& elements_for(const Collective& what, const Setting& setting) {
    return elements_of(reduces(what) ? setting.option("operator") : "bytes");
}

Exchange exchange_for(const Collective& what, const Setting& setting) {
    std::vector<int> neighbors;
    if (what.has_neighbors) neighbors = neighbors_of(setting.option("neighbors"), setting.rank, setting.ranks);
    return {what.movement,
            setting.rank,
            setting.ranks,
            std::move(neighbors),
            setting.bytes / elements_for(what, setting).size,
            what.is_uneven && setting.option("counts") == "differ"};
}

class CollectivePattern : public Started {
public:
    CollectivePattern(const Collective& what, Way way, const Setting& setting)
        : what_(what),
          way_(way),
          function_(function_of(what, way)),
          setting_(setting),
          elements_(elements_for(what, setting)),
          exchange_(exchange_for(what, setting)),
          is_in_place_(can_be_in_place(what) && setting.is_set("in_place")),
          rotates_(has_root(what) && setting.option("root") == "rotate"),
          arrival_(arrival_of(setting)),
          next_root_(has_root(what) && setting.option("root") == "last" ? setting.ranks - 1 : 0) {
        // Where the root changes each rank has the buffers of one.
        const int as_root = rotates_ ? setting.rank : next_root_;
        const auto sent = exchange_.sent(as_root);
        const auto received = exchange_.received(as_root);
        args_.sent = blocks_of(sent, elements_.type);
        args_.received = blocks_of(received, elements_.type);
        if (what.movement == Movement::reduce_scatter) args_.received = args_.sent;  // the counts of all ranks
        send_.resize(bytes_of(total(sent)));
        receive_.resize(bytes_of(std::max(total(received), reduces(what) ? total(sent) : 0)));  // in place it is both
        args_.count = static_cast<int>(exchange_.count_of(setting.rank, 0));
        args_.receive_count = static_cast<int>(exchange_.count_of(0, setting.rank));
        const auto of_block = static_cast<int>(setting.bytes / elements_.size);
        if (what.movement != Movement::gather && what.movement != Movement::allgather) args_.count = of_block;
        if (what.movement != Movement::scatter) args_.receive_count = of_block;
        args_.type = elements_.type;
        args_.op = elements_.op;
        args_.comm = setting.comm;
        if (what.has_neighbors) connect();
        aim(next_root_);
        if (way == Way::persistent) bind();
    }

    void prepare(std::uint64_t seed) override {
        seed_ = seed;
        if (rotates_) aim(next_root_);
        spoil(elements_, receive_.data(), receive_.size() / static_cast<std::size_t>(elements_.size));
        const auto pieces = exchange_.sent(args_.root);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            fill(elements_, input(pieces, i), static_cast<std::size_t>(pieces[i].count), seed, setting_.rank,
                 pieces[i].destination);
        }
    }

    void start() override {
        if (rotates_) {
            aim(next_root_);
            next_root_ = (next_root_ + 1) % setting_.ranks;
        }
        const int code = way_ == Way::blocking      ? what_.call(args_)
                         : way_ == Way::nonblocking ? what_.start(args_)
                                                    : MPI_Start(&args_.request);
        call(code, function_.c_str());
    }

    void complete() override {
        if (way_ != Way::blocking) call(MPI_Wait(&args_.request, MPI_STATUS_IGNORE), "MPI_Wait");
    }

    void verify() override {
        const bool stays = is_in_place_ && what_.movement == Movement::scatter && setting_.rank == args_.root;
        for (const Piece& piece : exchange_.received(args_.root)) {
            const unsigned char* data = receive_.data() + bytes_of(piece.place);
            if (stays) data = send_.data() + bytes_of(args_.sent.places[static_cast<std::size_t>(setting_.rank)]);
            check(elements_, data, static_cast<std::size_t>(piece.count), seed_, piece.first, piece.last,
                  piece.destination, "the result on rank " + std::to_string(setting_.rank));
        }
    }

    void finish() override {
        if (way_ == Way::persistent) call(MPI_Request_free(&args_.request), "MPI_Request_free");
        if (what_.has_neighbors) call(MPI_Comm_free(&args_.comm), "MPI_Comm_free");
    }

    [[nodiscard]] Arrival arrival() const override { return arrival_; }
    [[nodiscard]] std::int64_t bytes_moved() const override {
        return static_cast<std::int64_t>(bytes_of(total(exchange_.sent(args_.root))));
    }

private:
    [[nodiscard]] std::size_t bytes_of(std::int64_t count) const {
        return static_cast<std::size_t>(count * elements_.size);
    }

    void connect() {
        const auto neighbors = neighbors_of(setting_.option("neighbors"), setting_.rank, setting_.ranks);
        const int num = static_cast<int>(neighbors.size());
        call(MPI_Dist_graph_create_adjacent(setting_.comm, num, neighbors.data(), MPI_UNWEIGHTED, num, neighbors.data(),
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &args_.comm),
             "MPI_Dist_graph_create_adjacent");
    }

    void bind() {
        call(what_.init(args_, reinterpret_cast<void*>(later_function<void()>(function_.substr(4)))),
             function_.c_str());
    }

    void aim(int root) {
        args_.root = root;
        args_.send = send_.data();
        args_.receive = receive_.data();
        if (!is_in_place_ || (has_root(what_) && root != setting_.rank)) return;
        (what_.movement == Movement::scatter ? args_.receive : args_.send) = MPI_IN_PLACE;
    }

    /// Where block `i` of what this rank gives is.
    [[nodiscard]] unsigned char* input(const std::vector<Piece>& sent, std::size_t i) {
        if (what_.movement == Movement::bcast) return receive_.data();
        if (args_.send != MPI_IN_PLACE) return send_.data() + bytes_of(sent[i].place);
        const bool is_own_block = what_.movement == Movement::gather || what_.movement == Movement::allgather;
        const auto own = static_cast<std::size_t>(setting_.rank);
        return receive_.data() + bytes_of(is_own_block ? args_.received.places[own] : sent[i].place);
    }

    const Collective& what_;
    Way way_;
    std::string function_;
    Setting setting_;
    const Elements& elements_;
    Exchange exchange_;
    bool is_in_place_, rotates_;
    Arrival arrival_;
    int next_root_;
    Bytes send_, receive_;
    Arguments args_;
    std::uint64_t seed_ = 0;
};

std::vector<Option> options_of(const Collective& what, Way way) {
    std::vector<Option> options;
    if (has_root(what)) options.push_back(way == Way::persistent ? fixed_root : any_root);
    if (can_be_in_place(what)) options.push_back(in_place_option);
    if (what.is_uneven) options.push_back(counts_option);
    if (reduces(what)) options.push_back(operator_option);
    if (what.has_neighbors) options.push_back(neighbors_option);
    if (way != Way::blocking) options.push_back(overlap_option);
    options.insert(options.end(), arrival_options.begin(), arrival_options.end());
    return options;
}

}  // namespace

void add_collectives(Items& items) {
    for (const Way way : {Way::blocking, Way::nonblocking, Way::persistent}) {
        for (const Collective& what : collectives()) {
            const std::string name = what.name;
            items.push_back({"coll." + (way == Way::blocking      ? name
                                        : way == Way::nonblocking ? 'i' + name
                                                                  : name + "_init"),
                             function_of(what, way),
                             what.movement == Movement::none ? -1
                             : reduces(what)                 ? largest_element
                                                             : 0,
                             what.has_neighbors ? 2 : 1, true, options_of(what, way),
                             [&what, way](const Setting& setting) -> std::unique_ptr<Pattern> {
                                 auto pattern = std::make_unique<CollectivePattern>(what, way, setting);
                                 if (way == Way::blocking) return pattern;
                                 return overlapped(std::move(pattern), setting);
                             }});
        }
    }
}

}  // namespace hocket::bench
