// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "hocket/trace/tables.hpp"

#include <algorithm>

namespace hocket::trace {

namespace {

template <class T>
void merge_table(std::vector<T>& all, const std::vector<T>& own, std::vector<std::int32_t>& to) {
    for (std::size_t i = to.size(); i < own.size(); ++i) {
        auto found = std::find(all.begin(), all.end(), own[i]);
        if (found == all.end()) found = all.insert(all.end(), own[i]);
        to.push_back(static_cast<std::int32_t>(found - all.begin()));
    }
}

}  // namespace

const Neighbours* Tables::neighbours_of(std::int32_t rank, std::int32_t communicator) const {
    const auto& known = neighbours.at(static_cast<std::size_t>(rank));
    const auto found = known.find(communicator);
    return found == known.end() ? nullptr : &found->second;
}

std::int32_t TableMerger::merge(Numbers& numbers, const LocalCommunicator& local) {
    // Both sides of an inter-communicator must come to the same group.
    const bool swapped = local.inter && local.remote < local.members;
    const Group group{local.inter, swapped ? local.remote : local.members, swapped ? local.members : local.remote};
    const std::int32_t number = groups_.try_emplace(group, static_cast<std::int32_t>(groups_.size())).first->second;
    const auto [entry, is_new] = communicators_.try_emplace({number, numbers.made[number]++},
                                                            static_cast<std::int32_t>(to_.communicators.size()));
    if (is_new) to_.communicators.push_back({-1, -1, local.inter, std::get<1>(group), std::get<2>(group)});
    Communicator& merged = to_.communicators[static_cast<std::size_t>(entry->second)];
    if (merged.made_by < 0 && local.made_by >= 0)
        merged.made_by = numbers.functions[static_cast<std::size_t>(local.made_by)];
    if (merged.parent < 0 && local.parent >= 0)
        merged.parent = numbers.communicators[static_cast<std::size_t>(local.parent)];
    return entry->second;
}

void TableMerger::merge(Numbers& numbers, RankFile& file) {
    merge_table(to_.functions, file.functions, numbers.functions);
    merge_table(to_.datatypes, file.datatypes, numbers.datatypes);
    merge_table(to_.operators, file.operators, numbers.operators);
    const auto rank = static_cast<std::size_t>(file.rank);
    if (to_.neighbours.size() <= rank) to_.neighbours.resize(rank + 1);
    // The neighbours of the last communicator may have come after it.
    const std::size_t known = numbers.communicators.size();
    for (std::size_t i = known; i < file.communicators.size(); ++i)
        numbers.communicators.push_back(merge(numbers, file.communicators[i]));
    for (std::size_t i = known - (known > 0 ? 1 : 0); i < file.communicators.size(); ++i)
        if (file.communicators[i].neighbours)
            to_.neighbours[rank].emplace(numbers.communicators[i], *file.communicators[i].neighbours);

    const auto replace = [](std::int32_t& id, const std::vector<std::int32_t>& to) {
        if (id >= 0) id = to[static_cast<std::size_t>(id)];
    };
    for (Call& call : file.calls) {
        replace(call.function, numbers.functions);
        replace(call.communicator, numbers.communicators);
        replace(call.new_communicator, numbers.communicators);
        replace(call.datatype, numbers.datatypes);
        replace(call.op, numbers.operators);
    }
}

}  // namespace hocket::trace
