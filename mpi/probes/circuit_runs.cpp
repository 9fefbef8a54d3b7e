// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/circuit_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "hocket/base/error.hpp"

namespace hocket::probes {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t most_bytes_of_rank = std::int64_t{1} << 30;  // on a rank
constexpr int most_messages_of_pair = 16'000;                       // MPI promises tags up to 32767

class CircuitRunParser {
public:
    CircuitRunParser(const Json& answer, int num_ranks)
        : instance_(answer.at("instance")), schedule_(answer.at("schedule")), num_ranks_(num_ranks) {}

    CircuitRun run() {
        CircuitRun run;
        run.collective = instance_.at("collective").get<std::string>();
        run.nodes = number(instance_.at("p"), "p", 1, num_ranks_);
        run.ports = number(instance_.at("k"), "k", 1, 1 << 20);
        run.root = number(instance_.value("root", Json(0)), "root", 0, run.nodes - 1);
        run.setup_s = instance_.at("s").get<double>();
        run.teardown_s = instance_.at("d").get<double>();
        run.stop = instance_.value("stop", "all");
        run.accounting = instance_.value("accounting", "equations");
        run.one_at_a_time = instance_.value("injection", "one") == "one";
        run.is_serial = instance_.value("controller", "parallel") == "serial";
        run.blocks = number(schedule_.at("blocks"), "blocks", 0, std::numeric_limits<int>::max());
        const double block_bytes = std::ceil(schedule_.at("block_bytes").get<double>());
        require(block_bytes >= 0 && block_bytes * std::max(run.blocks, 1) <= static_cast<double>(most_bytes_of_rank),
                "the blocks have more than 1 GiB");
        run.block_bytes = static_cast<std::int64_t>(block_bytes);
        for (const Json& circuit : schedule_.at("circuits")) run.circuits.push_back(parse_circuit(circuit, run));
        for (const Json& message : schedule_.at("messages")) run.messages.push_back(parse_message(message, run));
        std::stable_sort(run.messages.begin(), run.messages.end(),
                         [](const auto& left, const auto& right) { return left.begin_s < right.begin_s; });
        set_tags(run);
        return run;
    }

private:
    static void require(bool holds, const std::string& what) {
        if (!holds) throw InvalidInput(what);
    }

    static int number(const Json& value, const std::string& name, int least, int most) {
        const bool whole = value.is_number_integer();
        if (!whole || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
            throw InvalidInput(name + " is " + value.dump(-1, ' ', true, Json::error_handler_t::replace) +
                               "; accepted: " + std::to_string(least) + " to " + std::to_string(most));
        }
        return static_cast<int>(value.get<std::int64_t>());
    }

    static Circuit parse_circuit(const Json& circuit, const CircuitRun& run) {
        const Json& nodes = circuit.at("nodes");
        return {number(nodes.at(0), "a node of a circuit", 0, run.nodes - 1),
                number(nodes.at(1), "a node of a circuit", 0, run.nodes - 1),
                number(circuit.at("configuration"), "a configuration", 0, std::numeric_limits<int>::max()),
                circuit.at("setup_s").at(0).get<double>(), circuit.at("teardown_s").at(0).get<double>()};
    }

    static CircuitMessage parse_message(const Json& message, const CircuitRun& run) {
        const int last = static_cast<int>(run.circuits.size()) - 1;
        CircuitMessage one{number(message.at("circuit"), "the circuit of a message", 0, last),
                           number(message.at("from"), "from", 0, run.nodes - 1),
                           number(message.at("to"), "to", 0, run.nodes - 1),
                           {},
                           message.value("reduces", false),
                           message.at("time_s").at(0).get<double>(),
                           message.at("time_s").at(1).get<double>(),
                           0};
        const Circuit& circuit = run.circuits[static_cast<std::size_t>(one.circuit)];
        require(std::minmax(one.from, one.to) == std::minmax(circuit.a, circuit.b),
                "a message from " + std::to_string(one.from) + " to " + std::to_string(one.to) +
                    " has a circuit of other nodes");
        for (const Json& block : message.at("blocks"))
            one.blocks.push_back(number(block, "a block", 0, run.blocks - 1));
        require(static_cast<std::int64_t>(one.blocks.size()) * run.block_bytes <= most_bytes_of_rank,
                "a message has more than 1 GiB");
        return one;
    }

    static void set_tags(CircuitRun& run) {
        std::map<std::pair<int, int>, int> count;
        for (CircuitMessage& message : run.messages) {
            int& number = count[{message.from, message.to}];
            require(number < most_messages_of_pair, "two nodes exchange more than 16,000 messages");
            message.tag = 2 * number++;
        }
    }

    const Json& instance_;
    const Json& schedule_;
    int num_ranks_;
};

}  // namespace

CircuitRuns parse_circuit_runs(const std::string& text, const std::string& source_name, int num_ranks) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != "hocket.circuit-runs/1" || !json.contains("runs") ||
        !json["runs"].is_array() || !json.contains("rounds") || !json["rounds"].is_number_unsigned()) {
        throw InvalidInput(source_name + " is not a file of runs on circuits",
                           R"(it has "format": "hocket.circuit-runs/1", "rounds" and "runs")");
    }
    CircuitRuns all{json["rounds"].get<int>(), {}};
    for (const Json& run : json["runs"]) {
        const std::string where = source_name + ": run " + std::to_string(all.runs.size());
        try {
            all.runs.push_back(CircuitRunParser(run, num_ranks).run());
        } catch (const Json::exception& error) {
            throw InvalidInput(where + ": " + error.what());
        } catch (const InvalidInput& error) {
            throw InvalidInput(where + ": " + error.what());
        }
    }
    return all;
}

}  // namespace hocket::probes
