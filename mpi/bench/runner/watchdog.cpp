// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/watchdog.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <utility>

#include "bench/runner/exit_status.hpp"

namespace hocket::bench {

namespace {

constexpr std::array<std::pair<int, const char*>, 6> watched{{{SIGALRM, "SIGALRM"},
                                                              {SIGSEGV, "SIGSEGV"},
                                                              {SIGBUS, "SIGBUS"},
                                                              {SIGFPE, "SIGFPE"},
                                                              {SIGILL, "SIGILL"},
                                                              {SIGABRT, "SIGABRT"}}};

// For the signal handler, which may neither allocate nor format.
int file_of_handler = -1;
std::array<std::string, watched.size()> lines;
volatile sig_atomic_t is_armed = 0;

void on_signal(int number) {
    if (is_armed == 0) {  // not an item's fault
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    for (std::size_t i = 0; i < watched.size(); ++i) {
        if (watched[i].first != number) continue;
        const ssize_t written = write(file_of_handler, lines[i].data(), lines[i].size());
        static_cast<void>(written);  // nobody is left to report to
    }
    _exit(exit_again);
}

void set_timer(double seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds)));
    setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Watchdog::Watchdog(int file, double limit_s) : limit_s_(limit_s) {
    file_of_handler = file;
    // A crash that is a result leaves no file of all the memory behind.
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    static std::array<char, 1 << 16> stack;  // a crash may be of the stack itself
    stack_t given{};
    given.ss_sp = stack.data();
    given.ss_size = stack.size();
    sigaltstack(&given, nullptr);
    for (const auto& [number, name] : watched) {
        struct sigaction action{};
        action.sa_handler = on_signal;
        action.sa_flags = SA_ONSTACK;
        sigaction(number, &action, nullptr);
    }
}

void Watchdog::begin(const std::function<std::string(const char*, const std::string&)>& line) {
    is_armed = 0;
    for (std::size_t i = 0; i < watched.size(); ++i) {
        const auto& [number, name] = watched[i];
        lines[i] = number == SIGALRM ? line("hang", "no answer within " + std::to_string(std::lround(limit_s_)) + " s")
                                     : line("crash", "signal " + std::to_string(number) + " (" + name + ')');
    }
    is_armed = 1;
    alive();
}

void Watchdog::alive() const {
    if (limit_s_ > 0) set_timer(limit_s_);
}

void Watchdog::end() {
    if (limit_s_ > 0) set_timer(0);
    is_armed = 0;
}

}  // namespace hocket::bench
