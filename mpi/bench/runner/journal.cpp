// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "bench/runner/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "hocket/base/error.hpp"
#include "hocket/base/json.hpp"
#include "hocket/base/json_writer.hpp"

namespace hocket::bench {

namespace {

constexpr int most_lock_tries = 50;
constexpr std::chrono::milliseconds between_lock_tries{100};
constexpr int most_deaths = 2;  // one may be anybody's, such as the user's who ends the program

void write_attempt(base::JsonWriter& json, const char* type, const Attempt& attempt) {
    json.field("type", type);
    json.field("variant", attempt.variant);
    json.field("point", attempt.point);
}

Attempt attempt_of(const nlohmann::json& record) {
    const auto& point = record.at("point");
    return {record.at("variant").get<std::string>(), point.is_null() ? std::nullopt : std::optional(point.get<int>())};
}

class HistoryReader {
public:
    History history;

    void add(const nlohmann::json& record) {
        const auto type = record.at("type").get<std::string>();
        if (type == "suite") {
            history.suite = record.at("key").get<std::string>();
        } else if (type == "run") {
            bury();
            launch_ = record.at("launch").get<int>();
            start_used_s_ = 0;
        } else if (type == "attempt") {
            open_ = attempt_of(record);
            use_until(record.value("at_s", start_used_s_));
        } else if (type == "outcome") {
            go_on();
            history.outcomes.insert({attempt_of(record), {record.at("status"), record.at("message")}});
        } else if (type == "chunk") {
            go_on();
            add_chunk(record);
        } else if (type == "interrupted") {
            open_.reset();
        } else if (type == "launch_end") {
            history.ended.insert(record.at("launch").get<int>());
        }
    }

    /// What was under way when the process ended.
    void bury() {
        if (open_ && ++deaths_[*open_] == most_deaths) history.unfinished.push_back(*open_);
        open_.reset();
    }

    /// An attempt has ended. What ends the program by itself does so again before that: the next start begins with it.
    void go_on() {
        open_.reset();
        deaths_.clear();
    }

private:
    void add_chunk(const nlohmann::json& record) {
        const int point = record.at("point").get<int>();
        auto samples = record.at("samples_ns").get<std::vector<double>>();
        if (samples.empty()) throw InvalidInput("a chunk without samples");
        const int runs = record.at("runs").get<int>();
        history.runs[point] = std::max(history.runs[point], runs);
        history.medians[point][launch_].push_back(median(std::move(samples)) / runs);
        history.visited[launch_].emplace(record.at("round").get<int>(), point);
        use_until(start_used_s_ + record.at("took_s").get<double>());
    }

    /// The current start of the program was at work for so long.
    void use_until(double at_s) {
        history.used_s[launch_] += std::max(at_s - start_used_s_, 0.0);
        start_used_s_ = std::max(start_used_s_, at_s);
    }

    int launch_ = 1;
    double start_used_s_ = 0;
    std::optional<Attempt> open_;
    std::map<Attempt, int> deaths_;
};

}  // namespace

std::string outcome_line(const Attempt& attempt, const char* status, const std::string& message) {
    base::JsonWriter json;
    json.begin_object();
    write_attempt(json, "outcome", attempt);
    json.field("status", status);
    json.field("message", message);
    json.end_object();
    return json.text() + '\n';
}

std::string attempt_line(const Attempt& attempt, double at_s) {
    base::JsonWriter json;
    json.begin_object();
    write_attempt(json, "attempt", attempt);
    json.field("at_s", at_s);
    json.end_object();
    return json.text() + '\n';
}

std::string launch_end_line(int launch) {
    base::JsonWriter json;
    json.begin_object();
    json.field("type", "launch_end");
    json.field("launch", launch);
    json.end_object();
    return json.text() + '\n';
}

History read_history(const std::string& path, std::size_t& whole_bytes) {
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    HistoryReader reader;
    whole_bytes = 0;
    for (std::size_t line = 1, end = 0; (end = text.find('\n', whole_bytes)) != std::string::npos; ++line) {
        const std::string where = path + ":" + std::to_string(line);
        try {
            reader.add(base::parse_json(std::string_view(text).substr(whole_bytes, end - whole_bytes), where));
        } catch (const nlohmann::json::exception&) {
            throw InvalidInput(where + ": no record of hocket.bench/1", "name another file");
        }
        whole_bytes = end + 1;
    }
    reader.bury();
    return std::move(reader.history);
}

Journal::Journal(std::string path, bool owns) : path_(std::move(path)) {
    // A rank on another host may not see the folder: then it cannot record why it fails, and nothing else is lost.
    file_ =
        ::open(path_.c_str(), owns ? O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC : O_WRONLY | O_APPEND | O_CLOEXEC, 0666);
    if (!owns) return;
    if (file_ < 0) {
        throw InvalidInput(path_ + ": cannot be written: " + std::strerror(errno), "name another file with -o");
    }
    struct stat status{};
    if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) return;  // a device or a pipe has no history
    lock();
    std::size_t whole_bytes = 0;
    history_ = read_history(path_, whole_bytes);
    // A record whose end is missing was cut off when the program was killed.
    if (ftruncate(file_, static_cast<off_t>(whole_bytes)) != 0) {
        throw Error(path_ + ": cannot be shortened: " + std::strerror(errno));
    }
}

void Journal::lock() const {
    // The ranks of a program that was killed may live a moment longer than their launcher.
    for (int tried = 0; flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tried) {
        if (tried == most_lock_tries) {
            throw InvalidInput(path_ + ": another hocket-bench writes to it", "wait for that, or name another file");
        }
        std::this_thread::sleep_for(between_lock_tries);
    }
}

Journal::~Journal() {
    if (file_ >= 0) close(file_);
}

void Journal::append(const std::string& line) const {
    const ssize_t written = write(file_, line.data(), line.size());
    if (written == static_cast<ssize_t>(line.size())) return;
    const char* const reason = written < 0 ? std::strerror(errno) : "the disk is full";
    throw Error(path_ + ": cannot be written: " + reason, "make room; the same command then goes on from here");
}

}  // namespace hocket::bench
