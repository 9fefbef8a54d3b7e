// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// Which calls FusedTask makes one of, with datatypes of 8 bytes. Needs no MPI library: what the task calls is here.

#include <cstdio>
#include <cstdlib>

#include "runtime/fused_task.cpp"

namespace hocket::runtime {

TypeInfo describe(MPI_Datatype) { return {8, 8, 0, 8, true, true}; }
void Task::complete() noexcept {}
char* Region::at_least(std::int64_t) { return nullptr; }
void Region::Free::operator()(char*) const {}

}  // namespace hocket::runtime

int main() {
    using namespace hocket::runtime;
    const auto suits = [](std::int64_t count) {
        Arguments call;
        call.recv.count = count;
        return FusedTask::suits(hocket::Collective::allreduce, call);
    };
    const bool right = suits(0) && suits(128) && !suits(129) && !suits(std::int64_t{1} << 61) &&
                       !suits((std::int64_t{1} << 61) + 1) && !suits(std::int64_t{1} << 62);
    std::puts(right ? "right" : "wrong");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
