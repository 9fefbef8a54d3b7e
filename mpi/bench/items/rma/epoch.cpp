// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/rma/epoch.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/items/outcome.hpp"

namespace hocket::bench {

namespace {

MPI_Group group_of(MPI_Comm comm, const std::vector<int>& ranks) {
    if (ranks.empty()) return MPI_GROUP_EMPTY;
    MPI_Group all = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    call(MPI_Comm_group(comm, &all), "MPI_Comm_group");
    call(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group), "MPI_Group_incl");
    call(MPI_Group_free(&all), "MPI_Group_free");
    return group;
}

MPI_Info info_of(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) return MPI_INFO_NULL;
    MPI_Info info = MPI_INFO_NULL;
    call(MPI_Info_create(&info), "MPI_Info_create");
    call(MPI_Info_set(info, text.substr(0, equals).c_str(), text.substr(equals + 1).c_str()), "MPI_Info_set");
    return info;
}

}  // namespace

Epoch::Epoch(const Setting& setting, const Partners& partners, std::int64_t bytes)
    : comm_(setting.comm), rank_(setting.rank) {
    constexpr std::array<std::string_view, 7> names{"fence",       "pscw",  "pscw-test",  "lock",
                                                    "lock-shared", "flush", "flush-local"};
    kind_ = static_cast<Kind>(std::find(names.begin(), names.end(), setting.option("epoch")) - names.begin());
    call(MPI_Alloc_mem(std::max<MPI_Aint>(bytes, 1), MPI_INFO_NULL, &memory_), "MPI_Alloc_mem");
    MPI_Info info = info_of(setting.option("info"));
    if (setting.option("info").starts_with("no_locks") && kind_ != Kind::fence && !has_groups()) {
        throw Failure(Status::unsupported, "no_locks is a promise that this epoch breaks");
    }
    call_making_window(MPI_Win_create(memory_, bytes, 1, info, comm_, &window_), "MPI_Win_create");
    if (info != MPI_INFO_NULL) call(MPI_Info_free(&info), "MPI_Info_free");
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    if (has_groups()) {
        targets_ = group_of(comm_, partners.targets);
        origins_ = group_of(comm_, partners.origins);
    }
    if (kind_ == Kind::fence) call(MPI_Win_fence(MPI_MODE_NOPRECEDE, window_), "MPI_Win_fence");
    if (holds_lock_all()) call(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
}

void Epoch::begin() {
    if (!has_groups()) return;
    if (origins_ != MPI_GROUP_EMPTY) call(MPI_Win_post(origins_, 0, window_), "MPI_Win_post");
    if (targets_ != MPI_GROUP_EMPTY) call(MPI_Win_start(targets_, 0, window_), "MPI_Win_start");
}

void Epoch::begin_target(int target) {
    if (kind_ == Kind::lock) call(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window_), "MPI_Win_lock");
    if (kind_ == Kind::lock_shared) call(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window_), "MPI_Win_lock");
}

void Epoch::end_target(int target) {
    if (kind_ == Kind::lock || kind_ == Kind::lock_shared) call(MPI_Win_unlock(target, window_), "MPI_Win_unlock");
    if (kind_ == Kind::flush) call(MPI_Win_flush(target, window_), "MPI_Win_flush");
    if (kind_ == Kind::flush_local) call(MPI_Win_flush_local(target, window_), "MPI_Win_flush_local");
}

void Epoch::end() {
    if (kind_ == Kind::fence) call(MPI_Win_fence(0, window_), "MPI_Win_fence");
    if (!has_groups()) return;
    if (targets_ != MPI_GROUP_EMPTY) call(MPI_Win_complete(window_), "MPI_Win_complete");
    if (origins_ == MPI_GROUP_EMPTY) return;
    if (kind_ == Kind::pscw) call(MPI_Win_wait(window_), "MPI_Win_wait");
    for (int done = kind_ == Kind::pscw ? 1 : 0; done == 0;) call(MPI_Win_test(window_, &done), "MPI_Win_test");
}

void Epoch::begin_own() {
    if (kind_ == Kind::flush_local) call(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
    call(MPI_Barrier(comm_), "MPI_Barrier");
    if (kind_ == Kind::lock || kind_ == Kind::lock_shared) {
        call(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, window_), "MPI_Win_lock");
    }
    if (holds_lock_all()) call(MPI_Win_sync(window_), "MPI_Win_sync");
}

void Epoch::end_own() {
    if (kind_ == Kind::lock || kind_ == Kind::lock_shared) call(MPI_Win_unlock(rank_, window_), "MPI_Win_unlock");
    if (holds_lock_all()) call(MPI_Win_sync(window_), "MPI_Win_sync");
    if (kind_ == Kind::fence) call(MPI_Win_fence(0, window_), "MPI_Win_fence");
    call(MPI_Barrier(comm_), "MPI_Barrier");
}

void Epoch::free() {
    if (kind_ == Kind::fence) call(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_), "MPI_Win_fence");
    if (holds_lock_all()) call(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
    for (MPI_Group* group : {&targets_, &origins_}) {
        if (*group != MPI_GROUP_EMPTY) call(MPI_Group_free(group), "MPI_Group_free");
    }
    call(MPI_Win_free(&window_), "MPI_Win_free");
    call(MPI_Free_mem(memory_), "MPI_Free_mem");
}

}  // namespace hocket::bench
