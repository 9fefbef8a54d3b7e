// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/plan/plan.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <filesystem>

#include "hocket/base/error.hpp"
#include "hocket/plan/checks.hpp"
#include "hocket/plan/file.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace hocket;

namespace {

template <class Item>
using Tuple = nb::typed<nb::tuple, Item, nb::ellipsis>;
using Ints = std::vector<std::int32_t>;

template <class Item, class Values, class Convert>
Tuple<Item> tuple_of(const Values& values, const Convert& convert) {
    nb::list items;
    for (const auto& value : values) items.append(convert(value));
    return Tuple<Item>(nb::tuple(items));
}

Tuple<int> tuple_of(const Ints& ranks) {
    return tuple_of<int>(ranks, [](std::int32_t rank) { return rank; });
}

Tuple<nb::str> tuple_of(std::span<const std::string_view> names) {
    return tuple_of<nb::str>(names, [](std::string_view name) { return nb::str(name.data(), name.size()); });
}

std::vector<PlanEntry> entries_from(const nb::iterable& entries) {
    std::vector<PlanEntry> found;
    for (const nb::handle entry : entries) found.push_back(nb::cast<const PlanEntry&>(entry));
    return found;
}

PlannedSchedule planned(Collective collective, std::int32_t num_ranks, std::string_view algorithm,
                        std::int64_t segments, const std::optional<Ints>& order, const Schedule* custom,
                        std::optional<std::int64_t> segment_bytes, Ints starts) {
    if ((algorithm == "custom") != (custom != nullptr))
        throw InvalidInput("a schedule that is carried whole needs the algorithm \"custom\", and no other has one");
    if (custom != nullptr) return PlannedSchedule(*custom);
    std::vector<Rank> ranks;
    for (const std::int32_t rank : order.value_or(Ints{})) ranks.emplace_back(rank);
    return {plan::algorithm_named(collective, algorithm),
            num_ranks,
            segments,
            segment_bytes,
            std::move(ranks),
            std::move(starts)};
}

/// The value with some of its fields changed, checked as a new one is.
nb::object replaced(const nb::handle value, std::initializer_list<const char*> fields, const nb::kwargs& changes) {
    nb::dict all;
    for (const char* field : fields) all[field] = value.attr(field);
    all.update(nb::dict(changes));
    return value.type()(**all);
}

std::int32_t segments_in(const PlanEntry& entry, std::optional<std::int64_t> bytes) {
    return segments_of(entry.schedule, bytes.value_or(entry.bytes_max));
}

/// For values that are equal by their content, and as large as a plan.
void leave_unhashed(nb::handle type) { type.attr("__hash__") = nb::none(); }

void bind_entry(nb::module_& module) {
    nb::class_<Evidence>(module, "Evidence", "How an entry was shown to be faster than the MPI's own function.")
        .def(
            "__init__",
            [](Evidence* self, std::string mpi, std::int32_t launches, std::int32_t repetitions, double ratio,
               std::pair<double, double> ratio_interval) {
                new (self) Evidence{std::move(mpi), launches, repetitions, ratio, ratio_interval};
            },
            "mpi"_a, "launches"_a, "repetitions"_a, "ratio"_a, "ratio_interval"_a)
        .def_ro("mpi", &Evidence::mpi, "\"Open MPI 4.1.4\"")
        .def_ro("launches", &Evidence::launches, "Of a program that measured native and new calls in turns.")
        .def_ro("repetitions", &Evidence::repetitions, "Measurements of each kind in a launch, at least.")
        .def_ro("ratio", &Evidence::ratio, "Median native time / median tuned time.")
        .def_ro("ratio_interval", &Evidence::ratio_interval, "95 % confidence.")
        .def("__eq__", [](const Evidence& a, const Evidence& b) { return a == b; }, nb::is_operator());

    nb::class_<PlanEntry>(
        module, "PlanEntry",
        "One schedule and the calls that it serves.\n\n"
        "`members` are world ranks in the order of the communicator; `root` and `order` are ranks in the communicator. "
        "Sizes are those of `lower`: the whole message of bcast, reduce and allreduce, the block of one rank for the "
        "others, 0 for barrier. Sizes with `evidence` were measured; those without are derived from the model, or not "
        "measured yet.")
        .def(
            "__init__",
            [](PlanEntry* self, std::string_view collective, Ints members, std::int64_t bytes_min,
               std::int64_t bytes_max, std::string_view algorithm, std::int64_t segments,
               const std::optional<Ints>& order, std::optional<std::int32_t> root, const Schedule* custom,
               std::optional<double> predicted_s, std::optional<double> lower_bound_s, std::optional<double> native_s,
               std::optional<double> tuned_s, std::int64_t calls, std::optional<Evidence> evidence, bool reproducible,
               std::optional<std::int64_t> segment_bytes, std::vector<Ints> other_members, Ints starts,
               std::optional<std::int64_t> pieces) {
                const Collective named = plan::collective_named(collective);
                const auto size = static_cast<std::int32_t>(members.size());
                PlanEntry entry{named,
                                std::move(members),
                                bytes_min,
                                bytes_max,
                                root ? std::optional(Rank{*root}) : std::nullopt,
                                planned(named, size, algorithm, pieces.value_or(segments), order, custom, segment_bytes,
                                        std::move(starts)),
                                std::move(other_members),
                                predicted_s,
                                lower_bound_s,
                                native_s,
                                tuned_s,
                                calls,
                                std::move(evidence),
                                reproducible};
                check(entry);
                new (self) PlanEntry(std::move(entry));
            },
            "collective"_a, "members"_a, "bytes_min"_a, "bytes_max"_a, "algorithm"_a, "segments"_a = 1,
            "order"_a = nb::none(), "root"_a = nb::none(), "custom"_a = nb::none(), "predicted_s"_a = nb::none(),
            "lower_bound_s"_a = nb::none(), "native_s"_a = nb::none(), "tuned_s"_a = nb::none(), "calls"_a = 0,
            "evidence"_a = nb::none(), "reproducible"_a = false, "segment_bytes"_a = nb::none(),
            "other_members"_a = nb::tuple(), "starts"_a = nb::tuple(), nb::kw_only(), "pieces"_a = nb::none(),
            "`pieces`, here and below: the name of `segments` in earlier versions.")
        .def_prop_ro("collective", [](const PlanEntry& e) { return name_of(e.collective); })
        .def_prop_ro("members", [](const PlanEntry& e) { return tuple_of(e.members); })
        .def_ro("bytes_min", &PlanEntry::bytes_min)
        .def_ro("bytes_max", &PlanEntry::bytes_max)
        .def_prop_ro(
            "algorithm",
            [](const PlanEntry& e) {
                return e.schedule.algorithm() == nullptr ? std::string_view("custom") : e.schedule.algorithm()->name;
            },
            "\"custom\" when `custom` is the schedule.")
        .def_prop_ro("segments", [](const PlanEntry& e) { return e.schedule.segments(); })
        .def_prop_ro("pieces", [](const PlanEntry& e) { return e.schedule.segments(); })
        .def_prop_ro(
            "order",
            [](const PlanEntry& e) -> std::optional<Tuple<int>> {
                if (e.schedule.order().empty()) return {};
                return tuple_of<int>(e.schedule.order(), [](Rank rank) { return rank.value; });
            },
            "None: 0, 1, ...")
        .def_prop_ro(
            "starts", [](const PlanEntry& e) { return tuple_of(e.schedule.starts()); },
            "Positions in the order behind slow links, of algorithms that have them; none: each.")
        .def_prop_ro(
            "root", [](const PlanEntry& e) { return e.root ? std::optional(e.root->value) : std::nullopt; },
            "None = any root; an entry that names one goes before.")
        .def_prop_ro(
            "custom", [](const PlanEntry& e) { return e.schedule.custom(); }, nb::rv_policy::reference_internal,
            nb::sig("def custom(self) -> Schedule | None"), "The schedule, where it is carried whole.")
        .def_ro("predicted_s", &PlanEntry::predicted_s)
        .def_ro("lower_bound_s", &PlanEntry::lower_bound_s)
        .def_ro("native_s", &PlanEntry::native_s)
        .def_ro("tuned_s", &PlanEntry::tuned_s)
        .def_ro("calls", &PlanEntry::calls, "In the recorded run.")
        .def_ro("evidence", &PlanEntry::evidence)
        .def_ro("reproducible", &PlanEntry::reproducible,
                "Every call uses this schedule: the running program does not compare it with native ones.")
        .def_prop_ro(
            "segment_bytes", [](const PlanEntry& e) { return e.schedule.segment_bytes(); },
            "The most that a segment has, instead of `segments`.")
        .def_prop_ro(
            "other_members",
            [](const PlanEntry& e) {
                return tuple_of<Tuple<int>>(e.other_members, [](const Ints& members) { return tuple_of(members); });
            },
            "Communicators of the same shape that it serves too.")
        .def(
            "segments_of", [](const PlanEntry& e, std::int64_t size_bytes) { return segments_in(e, size_bytes); },
            "size_bytes"_a, "The segments that the algorithm is asked for in a call of this size.")
        .def(
            "pieces_of", [](const PlanEntry& e, std::int64_t size_bytes) { return segments_in(e, size_bytes); },
            "size_bytes"_a)
        .def(
            "schedule",
            [](const PlanEntry& e, std::int32_t root, std::optional<std::int64_t> size_bytes) {
                return whole_schedule(e.schedule, e.root.value_or(Rank{root}), segments_in(e, size_bytes));
            },
            "root"_a = 0, "size_bytes"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
            "The schedule for one root (that of the entry, if it names one) and size (its largest).")
        .def(
            "replace",
            [](const nb::handle self, const nb::kwargs& changes) {
                return replaced(self,
                                {"collective", "members", "bytes_min", "bytes_max", "algorithm", "segments", "order",
                                 "root", "custom", "predicted_s", "lower_bound_s", "native_s", "tuned_s", "calls",
                                 "evidence", "reproducible", "segment_bytes", "other_members", "starts"},
                                changes);
            },
            nb::sig("def replace(self, **changes: object) -> PlanEntry"), "The entry with other values of some fields.")
        .def(
            "__eq__", [](const PlanEntry& a, const PlanEntry& b) { return a == b; }, nb::is_operator())
        .def("__repr__", [](const PlanEntry& e) { return "PlanEntry(" + describe(e) + ")"; });
}

}  // namespace

void bind_plan(nb::module_& module) {
    bind_entry(module);
    nb::class_<Plan>(module, "Plan", "Which schedule serves which collective call of one application on one network.")
        .def(
            "__init__",
            [](Plan* self, std::int32_t ranks, std::string network, const nb::typed<nb::iterable, PlanEntry>& entries,
               std::string created_by, std::string progress, std::vector<std::string> hosts) {
                new (self) Plan(ranks, std::move(network), entries_from(entries), std::move(created_by),
                                std::move(progress), std::move(hosts));
            },
            "ranks"_a, "network"_a, "entries"_a, "created_by"_a = "", "progress"_a = "off", "hosts"_a = nb::tuple(),
            "Raises InvalidInput if two entries serve the same calls, unless one of them names the root.")
        .def_static(
            "from_file",
            [](const std::filesystem::path& path) {
                return plan_from_json(read_plan_file(path.string()), path.string());
            },
            "path"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_static("from_text", &plan_from_json, "text"_a, "source_name"_a = "plan",
                    nb::call_guard<nb::gil_scoped_release>(),
                    "Reads and checks a plan. Raises InvalidInput with where, what was found and what is accepted.")
        .def(
            "to_json", [](const Plan& plan) { return to_json(plan); }, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("ranks", &Plan::ranks)
        .def_prop_ro("network", &Plan::network)
        .def_prop_ro("entries",
                     [](const nb::handle self) {
                         return tuple_of<PlanEntry>(nb::cast<const Plan&>(self).entries(), [&](const PlanEntry& entry) {
                             return nb::cast(&entry, nb::rv_policy::reference_internal, self);
                         });
                     })
        .def_prop_ro("created_by", &Plan::created_by)
        .def_prop_ro("progress", &Plan::progress, "Of non-blocking communication in the background: one of PROGRESS.")
        .def_prop_ro(
            "hosts",
            [](const Plan& plan) {
                return tuple_of<nb::str>(plan.hosts(), [](const std::string& host) { return nb::str(host.c_str()); });
            },
            "Of each rank when the plan was made; empty = not known.")
        .def(
            "replace",
            [](const nb::handle self, const nb::kwargs& changes) {
                return replaced(self, {"ranks", "network", "entries", "created_by", "progress", "hosts"}, changes);
            },
            nb::sig("def replace(self, **changes: object) -> Plan"), "The plan with other values of some fields.")
        .def(
            "entry_for",
            [](const Plan& plan, std::string_view collective, const Ints& members, std::int64_t size_bytes,
               std::optional<std::int32_t> root) {
                const auto named = find_collective(collective);
                return named ? entry_for(plan, *named, members, size_bytes, root.value_or(-1)) : nullptr;
            },
            "collective"_a, "members"_a, "size_bytes"_a, "root"_a.none(), nb::rv_policy::reference_internal,
            nb::sig("def entry_for(self, collective: str, members: collections.abc.Sequence[int], size_bytes: int, "
                    "root: int | None) -> PlanEntry | None"),
            "The entry that serves a call.")
        .def(
            "check_ranks",
            [](const Plan& plan, std::int32_t ranks, std::string_view source_name) {
                require_ranks_of_program(plan.ranks(), ranks, source_name);
            },
            "ranks"_a, "source_name"_a = "the plan",
            "Raises InvalidInput unless the plan is for a program of that many ranks.")
        .def(
            "__eq__", [](const Plan& a, const Plan& b) { return a == b; }, nb::is_operator())
        .def("__repr__", [](const Plan& plan) {
            return "Plan(" + std::to_string(plan.ranks()) + " ranks, " + std::to_string(plan.entries().size()) +
                   " entries)";
        });
    for (const char* name : {"Evidence", "PlanEntry", "Plan"}) leave_unhashed(module.attr(name));
    module.def(
        "candidates_to_json",
        [](std::int32_t ranks, std::string network, const nb::typed<nb::iterable, PlanEntry>& entries) {
            return to_json(Candidates{ranks, std::move(network), entries_from(entries)});
        },
        "ranks"_a, "network"_a, "entries"_a, "A plan file but for this: its entries may serve the same calls.");
    module.attr("MOST_UNEVEN") = most_uneven;
    module.def("collective_names", [] { return tuple_of(collective_names()); }, "All that schedules are for.");
    module.def(
        "is_rooted", [](std::string_view collective) { return is_rooted(collective_from(collective)); },
        "collective"_a);
    module.def(
        "progress_modes", [] { return tuple_of(progress_modes()); }, "The modes of progress that a plan may have.");
}
