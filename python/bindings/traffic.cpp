// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Traffic patterns and fabrics. Their simulation is in traffic_simulation.cpp.

#include "hocket/lowering/traffic.hpp"
#include "hocket/traffic/traffic.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <vector>

#include "hocket/base/error.hpp"
#include "hocket/network/fabric.hpp"
#include "hocket/patterns/patterns.hpp"
#include "quantities.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;
using network::Fabric;

namespace {

template <class Index>
Index checked(std::int64_t value, std::int64_t size, const char* what) {
    if (value < 0 || value >= size)
        throw InvalidInput(std::string(what) + " is " + std::to_string(value) + ": expected 0 to " +
                           std::to_string(size - 1));
    return Index{static_cast<std::int32_t>(value)};
}

using Rows = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>;
using Column = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

/// A numpy array that owns its memory.
template <class Array, class Number>
Array owned(std::vector<Number>&& values, std::initializer_list<std::size_t> shape) {
    auto* const memory = new std::vector<Number>(std::move(values));
    const nb::capsule owner(memory, [](void* pointer) noexcept { delete static_cast<std::vector<Number>*>(pointer); });
    return Array(memory->data(), shape, owner);
}

using Numbers = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>;

Numbers link_capacities(const Fabric& fabric) {
    const auto size = static_cast<std::size_t>(fabric.num_links());
    std::vector<std::int32_t> capacities(size);
    {
        const nb::gil_scoped_release release;
        for (std::int32_t l = 0; l < fabric.num_links(); ++l)
            capacities[static_cast<std::size_t>(l)] = fabric.capacity_of(LinkId{l});
    }
    return owned<Numbers>(std::move(capacities), {size});
}

Rows link_ends(const Fabric& fabric) {
    const auto size = static_cast<std::size_t>(fabric.num_links());
    std::vector<std::int32_t> ends;
    {
        const nb::gil_scoped_release release;
        ends.reserve(2 * size);
        for (std::int32_t l = 0; l < fabric.num_links(); ++l) {
            const Fabric::Ends both = fabric.ends(LinkId{l});
            ends.push_back(both.source.value);
            ends.push_back(both.target.value);
        }
    }
    return owned<Rows>(std::move(ends), {size, 2});
}

template <class Get>
Column for_links(const Fabric& fabric, Get&& get) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(fabric.num_links()));
    for (std::int32_t l = 0; l < fabric.num_links(); ++l) values.push_back(get(LinkId{l}));
    return owned<Column>(std::move(values), {static_cast<std::size_t>(fabric.num_links())});
}

std::vector<std::int32_t> route(const Fabric& fabric, std::int64_t source, std::int64_t target) {
    std::vector<LinkId> links;
    fabric.route(checked<Rank>(source, fabric.num_ranks(), "rank"), checked<Rank>(target, fabric.num_ranks(), "rank"),
                 links);
    std::vector<std::int32_t> numbers;
    for (const LinkId l : links) numbers.push_back(l.value);
    return numbers;
}

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

/// The numbers of a matrix as whole numbers of bytes, each checked: a cast would make something of anything.
template <class Number>
std::vector<std::int64_t> whole_bytes(const AnyMatrix& matrix) {
    constexpr auto most = static_cast<double>(std::int64_t{1} << 52);
    std::vector<std::int64_t> bytes;
    bytes.reserve(matrix.size());
    const auto* const numbers = static_cast<const Number*>(matrix.data());
    for (std::size_t i = 0; i < matrix.shape(0); ++i)
        for (std::size_t j = 0; j < matrix.shape(1); ++j) {
            const Number number = numbers[static_cast<std::int64_t>(i) * matrix.stride(0) +
                                          static_cast<std::int64_t>(j) * matrix.stride(1)];
            // A double distinguishes 2^52 from what is above it, and nothing holds of NaN.
            const auto real = static_cast<double>(number);
            if (!(real >= 0 && real <= most && real == std::floor(real)))
                throw InvalidInput("row " + std::to_string(i) + ", column " + std::to_string(j) +
                                       " of the traffic matrix is " + std::to_string(number),
                                   "accepted: whole numbers of bytes from 0 to 2^52");
            bytes.push_back(static_cast<std::int64_t>(number));
        }
    return bytes;
}

std::vector<std::int64_t> whole_bytes_of(const AnyMatrix& matrix) {
    const nb::dlpack::dtype type = matrix.dtype();
    if (type == nb::dtype<std::int8_t>()) return whole_bytes<std::int8_t>(matrix);
    if (type == nb::dtype<std::int16_t>()) return whole_bytes<std::int16_t>(matrix);
    if (type == nb::dtype<std::int32_t>()) return whole_bytes<std::int32_t>(matrix);
    if (type == nb::dtype<std::int64_t>()) return whole_bytes<std::int64_t>(matrix);  // transposed, for instance
    if (type == nb::dtype<std::uint8_t>()) return whole_bytes<std::uint8_t>(matrix);
    if (type == nb::dtype<std::uint16_t>()) return whole_bytes<std::uint16_t>(matrix);
    if (type == nb::dtype<std::uint32_t>()) return whole_bytes<std::uint32_t>(matrix);
    if (type == nb::dtype<std::uint64_t>()) return whole_bytes<std::uint64_t>(matrix);
    if (type == nb::dtype<float>()) return whole_bytes<float>(matrix);
    if (type == nb::dtype<double>()) return whole_bytes<double>(matrix);
    throw InvalidInput("a traffic matrix of neither integers nor float32 or float64",
                       "make it one with astype(numpy.int64)");
}

std::unique_ptr<Traffic> from_matrix(const AnyMatrix& matrix) {
    if (matrix.shape(0) != matrix.shape(1) || matrix.shape(0) < 1 || matrix.shape(0) > 1U << 24U)
        throw InvalidInput("a traffic matrix of " + std::to_string(matrix.shape(0)) + " x " +
                           std::to_string(matrix.shape(1)) + "; as many rows as columns are needed, and at least one");
    const nb::gil_scoped_release release;
    const auto ranks = static_cast<std::int32_t>(matrix.shape(0));
    // What the core takes as it lies may be large: it is not copied.
    if (matrix.dtype() == nb::dtype<std::int64_t>() && matrix.stride(0) == ranks && matrix.stride(1) == 1)
        return patterns::from_matrix(ranks, {static_cast<const std::int64_t*>(matrix.data()), matrix.size()});
    return patterns::from_matrix(ranks, whole_bytes_of(matrix));
}

void bind_fabric(nb::module_& module) {
    nb::class_<Fabric>(module, "Fabric",
                       "What a simulation of traffic needs of a network. A regular one is computed, so that a million "
                       "hosts take no memory. Immutable.")
        .def_static(
            "from_network", [](const Network& n) { return network::make_fabric(n); }, "network"_a,
            nb::keep_alive<0, 1>(), "The links and routes of a network.")
        .def_static(
            "generate",
            [](std::string_view kind_and_shape, const bindings::Quantity& bandwidth, const bindings::Quantity& latency,
               const std::optional<std::string>& routing, std::optional<std::int64_t> seed) {
                network::GenerateOptions options;
                if (const auto value = bindings::bandwidth_of(bandwidth, "bandwidth"))
                    options.bandwidth_bytes_per_s = *value;
                if (const auto value = bindings::duration_of(latency, "latency")) options.latency_s = *value;
                options.routing = routing.value_or("");
                options.seed = seed;
                return network::make_fabric(kind_and_shape, options);
            },
            "kind_and_shape"_a, "bandwidth"_a = nb::none(), "latency"_a = nb::none(), "routing"_a = nb::none(),
            "seed"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
            "As Network.generate, without its tables: up to 16,777,216 nodes and 67,108,864 cables.")
        .def_prop_ro("name", &Fabric::name)
        .def_prop_ro("num_ranks", &Fabric::num_ranks)
        .def_prop_ro("num_nodes", &Fabric::num_nodes)
        .def_prop_ro("num_links", &Fabric::num_links)
        .def("route", &route, "source"_a, "target"_a, "The links from one rank to another, in order.")
        .def(
            "node_name",
            [](const Fabric& f, std::int64_t node) {
                return f.node_name(checked<NodeId>(node, f.num_nodes(), "node"));
            },
            "node"_a)
        .def(
            "node_of",
            [](const Fabric& f, std::int64_t rank) {
                return f.node_of(checked<Rank>(rank, f.num_ranks(), "rank")).value;
            },
            "rank"_a, "The node that a rank sits on.")
        .def("link_capacities", &link_capacities,
             "Of each link: the number of its capacity, which both directions of a half-duplex cable share.")
        .def("link_ends", &link_ends, "Rows (source, target): the nodes that each link joins.")
        .def(
            "link_bandwidths",
            [](const Fabric& f) {
                return for_links(f, [&](LinkId l) { return f.bandwidth_bytes_per_s(f.capacity_of(l)); });
            },
            "Of each link, in bytes per second; infinity = unlimited.")
        .def(
            "link_latencies", [](const Fabric& f) { return for_links(f, [&](LinkId l) { return f.latency_s(l); }); },
            "Of each link, in seconds.")
        .def("__repr__", [](const Fabric& f) {
            return "Fabric(" + f.name() + ", num_ranks=" + std::to_string(f.num_ranks()) +
                   ", num_links=" + std::to_string(f.num_links()) + ")";
        });
}

}  // namespace

void bind_traffic(nb::module_& module) {
    using patterns::MessageSizes;
    bind_fabric(module);

    nb::class_<Traffic>(module, "Traffic",
                        "What each rank sends, in which order; messages are made on demand. Sizes are uniformly "
                        "distributed over bytes * (1 - spread) .. bytes * (1 + spread). Immutable.")
        .def_static(
            "random_ring",
            [](std::int32_t ranks, std::int64_t messages, std::int64_t bytes, double spread, std::uint64_t seed) {
                return patterns::random_ring(ranks, messages, MessageSizes{bytes, spread, seed}, seed);
            },
            "num_ranks"_a, "messages"_a = 1, "bytes"_a = 1'000'000, "spread"_a = 0.0, "seed"_a = 1,
            "One random circular order of all ranks; each sends its messages to the next.")
        .def_static(
            "random_permutation",
            [](std::int32_t ranks, std::int64_t messages, std::int64_t bytes, double spread, std::uint64_t seed) {
                return patterns::random_permutation(ranks, messages, MessageSizes{bytes, spread, seed}, seed);
            },
            "num_ranks"_a, "messages"_a = 1, "bytes"_a = 1'000'000, "spread"_a = 0.0, "seed"_a = 1,
            "A new random circular order for each message; no rank waits for another.")
        .def_static(
            "shift",
            [](std::int32_t ranks, std::int32_t distance, std::int64_t messages, std::int64_t bytes, double spread,
               std::uint64_t seed) {
                return patterns::shift(ranks, distance, messages, MessageSizes{bytes, spread, seed});
            },
            "num_ranks"_a, "distance"_a = 1, "messages"_a = 1, "bytes"_a = 1'000'000, "spread"_a = 0.0, "seed"_a = 1,
            "Rank r sends to rank (r + distance) mod num_ranks.")
        .def_static(
            "all_to_all",
            [](std::int32_t ranks, std::int64_t rounds, std::int64_t bytes, double spread, std::uint64_t seed) {
                return patterns::all_to_all(ranks, rounds, MessageSizes{bytes, spread, seed});
            },
            "num_ranks"_a, "rounds"_a = 1, "bytes"_a = 1'000'000, "spread"_a = 0.0, "seed"_a = 1,
            "Rank r sends to r + 1, r + 2, ... (modulo num_ranks), `rounds` times.")
        .def_static(
            "incast",
            [](std::int32_t ranks, std::int32_t target, std::int64_t messages, std::int64_t bytes, double spread,
               std::uint64_t seed) {
                return patterns::incast(ranks, Rank{target}, messages, MessageSizes{bytes, spread, seed});
            },
            "num_ranks"_a, "target"_a = 0, "messages"_a = 1, "bytes"_a = 1'000'000, "spread"_a = 0.0, "seed"_a = 1,
            "All others send to one rank.")
        .def_static(
            "nearest_neighbour",
            [](std::vector<std::int32_t> extents, bool periodic, std::int64_t rounds, std::int64_t bytes, double spread,
               std::uint64_t seed) {
                return patterns::nearest_neighbour(std::move(extents), periodic, rounds,
                                                   MessageSizes{bytes, spread, seed});
            },
            "extents"_a, "periodic"_a = false, "rounds"_a = 1, "bytes"_a = 1'000'000, "spread"_a = 0.0, "seed"_a = 1,
            "Ranks on a grid, the last dimension counted fastest, send to their neighbours in each dimension, "
            "`rounds` times. Meant for several messages in flight.")
        .def_static("from_matrix", &from_matrix, "bytes"_a,
                    "Rank s sends bytes[s, t] to rank t, where that is above 0, in the order t = s + 1, s + 2, ... "
                    "(modulo their number). A square array of whole numbers from 0 to 2^52, integers or floats.")
        .def_prop_ro("num_sources", &Traffic::num_sources)
        .def(
            "num_messages",
            [](const Traffic& t, std::int64_t source) {
                return t.num_messages(checked<Rank>(source, t.num_sources(), "source"));
            },
            "source"_a)
        .def_prop_ro(
            "total_messages",
            [](const Traffic& t) {
                std::int64_t sum = 0;
                for (std::int32_t s = 0; s < t.num_sources(); ++s) sum += t.num_messages(Rank{s});
                return sum;
            },
            "Of all sources.")
        .def_prop_ro(
            "num_senders",
            [](const Traffic& t) {
                std::int32_t senders = 0;
                for (std::int32_t s = 0; s < t.num_sources(); ++s) senders += t.num_messages(Rank{s}) > 0 ? 1 : 0;
                return senders;
            },
            "Sources that have a message.")
        .def(
            "message",
            [](const Traffic& t, std::int64_t source, std::int64_t number) {
                const Rank s = checked<Rank>(source, t.num_sources(), "source");
                if (number < 0 || number >= t.num_messages(s))
                    throw InvalidInput("message is " + std::to_string(number) + ": rank " + std::to_string(source) +
                                       " has " + std::to_string(t.num_messages(s)));
                const Traffic::Message message = t.message(s, number);
                return std::pair(message.target.value, message.bytes);
            },
            "source"_a, "number"_a, "(target, bytes) of the i-th message of a source.")
        .def(
            "to_program", [](const Traffic& t, bool all_at_once) { return program_of(t, all_at_once); },
            "all_at_once"_a = false, nb::call_guard<nb::gil_scoped_release>(),
            "The same messages as a Program: one after another from each source, or all at once.")
        .def("__repr__",
             [](const Traffic& t) { return "Traffic(num_sources=" + std::to_string(t.num_sources()) + ")"; });
}
