// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/registry.hpp"

#include <stdexcept>

namespace hocket::bench {

namespace {

/// What the clock and the runner themselves take.
class Nothing : public Pattern {
public:
    void run() override {}
};

}  // namespace

const std::string& Setting::option(std::string_view name) const {
    for (const auto& [key, value] : options) {
        if (key == name) return value;
    }
    throw std::logic_error("an item has no option " + std::string(name));
}

const Items& items() {
    static const Items all = [] {
        Items made{{"nothing", "an empty pattern: what the runner itself takes", -1, 1, true, {}, [](const Setting&) {
                        return std::make_unique<Nothing>();
                    }}};
        for (const auto add :
             {add_file_access, add_file_functions, add_atomic_writes,  add_fortran_files, add_views,
              add_transfers,   add_hand_over,      add_special_access, add_posix_files,   add_rma_transfers,
              add_rma_windows, add_rma_scattered,  add_rma_contention, add_notifications, add_messages,
              add_pingpongs,   add_exchanges,      add_streams,        add_queues,        add_datatypes,
              add_partitioned, add_collectives,    add_mockups,        add_communicators}) {
            add(made);
        }
        return made;
    }();
    return all;
}

}  // namespace hocket::bench
