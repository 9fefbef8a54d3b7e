// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/items/own/plugin.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/items/outcome.hpp"
#include "hocket/base/error.hpp"
#include "include/hocket_bench.h"

namespace hocket::bench {

namespace {

std::string reported;  // by the plug-in, before it returns a status

Status status_of(int status) {
    if (status == HOCKET_BENCH_UNSUPPORTED) return Status::unsupported;
    return status == HOCKET_BENCH_WRONG_DATA ? Status::wrong_data : Status::error;
}

void require_ok(int status, const char* function) {
    if (status == HOCKET_BENCH_OK) return;
    std::string message = std::exchange(reported, {});
    if (message.empty()) message = std::string(function) + " of the plug-in returned " + std::to_string(status);
    throw Failure(status_of(status), message);
}

class Plugin : public Pattern {
public:
    Plugin(const hocket_bench_item& item, const Setting& setting) : item_(item), folder_(setting.folder) {
        const hocket_bench_setting given{sizeof given,
                                         MPI_Comm_c2f(setting.comm),
                                         setting.rank,
                                         setting.ranks,
                                         setting.bytes,
                                         folder_.c_str(),
                                         [](const char* message) { reported = message; }};
        require_ok(item_.setup(&given, &state_), "setup");
    }
    void prepare(std::uint64_t seed) override {
        if (item_.prepare != nullptr) require_ok(item_.prepare(state_, seed), "prepare");
    }
    void run() override { require_ok(item_.run(state_), "run"); }
    void verify() override {
        if (item_.verify != nullptr) require_ok(item_.verify(state_), "verify");
    }
    void finish() override { require_ok(item_.finish(state_), "finish"); }
    [[nodiscard]] std::int64_t bytes_moved() const override {
        return item_.bytes_moved == nullptr ? 0 : std::max<std::int64_t>(0, item_.bytes_moved(state_));
    }

private:
    hocket_bench_item item_;
    std::string folder_;
    void* state_ = nullptr;
};

}  // namespace

Item load_plugin(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw Error(path + ": cannot be loaded: " + dlerror());
    const auto entry = reinterpret_cast<decltype(&hocket_bench_plugin)>(dlsym(library, "hocket_bench_plugin"));
    if (entry == nullptr) throw Error(path + ": has no function hocket_bench_plugin");
    hocket_bench_item item{};
    item.struct_size = sizeof item;
    const int status = entry(&item);
    if (status == HOCKET_BENCH_UNSUPPORTED) throw Error(path + ": was made for a later hocket-bench");
    if (status != HOCKET_BENCH_OK) {
        throw Error(path + ": hocket_bench_plugin returned " + std::to_string(status));
    }
    if (item.name == nullptr || item.setup == nullptr || item.run == nullptr || item.finish == nullptr) {
        throw Error(path + ": hocket_bench_plugin has not set name, setup, run and finish");
    }
    return {std::string("plugin.") + item.name,
            item.what == nullptr ? "" : item.what,
            item.min_bytes < 0 ? -1 : item.min_bytes,
            item.min_ranks < 1 ? 1 : item.min_ranks,
            item.is_batched != 0,
            {},
            [item](const Setting& setting) { return std::make_unique<Plugin>(item, setting); }};
}

}  // namespace hocket::bench
