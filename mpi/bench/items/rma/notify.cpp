// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Round trips without messages: data and a flag, put into a window or stored into memory that both ranks see.

#include <algorithm>
#include <cstring>
#include <memory>

#include "bench/items/outcome.hpp"
#include "bench/items/p2p/round_trip.hpp"
#include "bench/items/registry.hpp"
#include "bench/items/window_bytes.hpp"

namespace hocket::bench {

namespace {

constexpr MPI_Aint flag_bytes = 64;  // apart from the data by a cache line

/// Data behind a flag; both ranks hold a shared lock of all.
class Notified : public RoundTrip {
public:
    explicit Notified(bool is_shared, const Setting& setting) : RoundTrip(setting) {
        const MPI_Aint bytes = whole_lines(flag_bytes + setting.bytes);
        call_making_window(is_shared ? MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, setting.comm, &own_, &window_)
                                     : MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, setting.comm, &own_, &window_),
                           is_shared ? "MPI_Win_allocate_shared" : "MPI_Win_allocate");
        MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
        call(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
        std::memset(own_, 0, static_cast<std::size_t>(bytes));
        call(MPI_Win_sync(window_), "MPI_Win_sync");
        call(MPI_Barrier(setting.comm), "MPI_Barrier");
    }
    void verify() override {
        if (!takes_part()) return;
        std::copy_n(own_ + flag_bytes, received().size(), received().begin());
        RoundTrip::verify();
    }
    void finish() override {
        call(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
        call(MPI_Win_free(&window_), "MPI_Win_free");
    }

protected:
    [[nodiscard]] MPI_Win window() const { return window_; }
    [[nodiscard]] unsigned char* own() const { return own_; }
    std::int64_t sent_turn = 0, received_turn = 0;  ///< what the flags of the partner and of this rank come to

private:
    unsigned char* own_ = nullptr;
    MPI_Win window_ = MPI_WIN_NULL;
};

class PutNotify : public Notified {
public:
    explicit PutNotify(const Setting& setting) : Notified(false, setting) {}

private:
    void send() override {
        ++sent_turn;
        call(MPI_Put(sent().data(), count(), MPI_BYTE, peer(), flag_bytes, count(), MPI_BYTE, window()), "MPI_Put");
        call(MPI_Win_flush(peer(), window()), "MPI_Win_flush");
        std::int64_t before = 0;
        call(MPI_Fetch_and_op(&sent_turn, &before, MPI_INT64_T, peer(), 0, MPI_REPLACE, window()), "MPI_Fetch_and_op");
        call(MPI_Win_flush(peer(), window()), "MPI_Win_flush");
    }
    void receive() override {
        ++received_turn;
        for (std::int64_t found = 0, none = 0; found < received_turn;) {
            call(MPI_Fetch_and_op(&none, &found, MPI_INT64_T, setting().rank, 0, MPI_NO_OP, window()),
                 "MPI_Fetch_and_op");
            call(MPI_Win_flush(setting().rank, window()), "MPI_Win_flush");
        }
        call(MPI_Win_sync(window()), "MPI_Win_sync");
    }
};

/// Stores and loads; the flags are atomic.
class SharedMemory : public Notified {
public:
    explicit SharedMemory(const Setting& setting) : Notified(true, setting) {
        if (!takes_part()) return;
        MPI_Aint bytes = 0;
        int unit = 0;
        call(MPI_Win_shared_query(window(), peer(), &bytes, &unit, &other_), "MPI_Win_shared_query");
    }

private:
    static std::int64_t* flag(unsigned char* memory) { return reinterpret_cast<std::int64_t*>(memory); }
    void send() override {
        std::copy(sent().begin(), sent().end(), other_ + flag_bytes);
        __atomic_store_n(flag(other_), ++sent_turn, __ATOMIC_RELEASE);
    }
    void receive() override {
        ++received_turn;
        while (__atomic_load_n(flag(own()), __ATOMIC_ACQUIRE) < received_turn) {
        }
    }

    unsigned char* other_ = nullptr;
};

template <class Made>
Item item(const char* name, const char* what) {
    return {name, what, 0, 2, true, {}, [](const Setting& setting) { return std::make_unique<Made>(setting); }};
}

}  // namespace

void add_notifications(Items& items) {
    items.push_back(
        item<PutNotify>("rma.pingpong.put_notify", "a round trip: MPI_Put, and a flag by MPI_Fetch_and_op"));
    items.push_back(item<SharedMemory>("rma.pingpong.shared_memory",
                                       "a round trip by stores and loads in a window of shared memory"));
}

}  // namespace hocket::bench
