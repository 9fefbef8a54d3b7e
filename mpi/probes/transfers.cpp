// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#include "probes/transfers.hpp"

#include <nlohmann/json.hpp>

#include "hocket/base/error.hpp"

namespace hocket::probes {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
constexpr int most_messages = 4096;

std::int64_t whole_number(const Json& value, const std::string& where, std::int64_t least, std::int64_t most) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
        throw InvalidInput(where + " is " + value.dump(-1, ' ', true, Json::error_handler_t::replace) +
                           "; accepted: a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value.get<std::int64_t>();
}

/// The source and the target that a list begins with.
std::pair<int, int> parse_ends(const Json& value, const std::string& where, int num_ranks) {
    const auto source = static_cast<int>(whole_number(value[0], where + ": the source", 0, num_ranks - 1));
    const auto target = static_cast<int>(whole_number(value[1], where + ": the target", 0, num_ranks - 1));
    if (source == target) throw InvalidInput(where + " goes from rank " + std::to_string(source) + " to itself");
    return {source, target};
}

Transfer parse_transfer(const Json& value, const std::string& where, int num_ranks) {
    if (!value.is_array() || value.size() != 4) throw InvalidInput(where + " is not [source, target, bytes, count]");
    const auto [source, target] = parse_ends(value, where, num_ranks);
    const std::int64_t bytes = whole_number(value[2], where + ": the size", 0, most_bytes);
    const auto count = static_cast<int>(whole_number(value[3], where + ": the count", 1, most_messages));
    if (bytes * count > most_bytes) throw InvalidInput(where + " has more than 1 GiB in all");
    return {source, target, bytes, count};
}

}  // namespace

Campaign parse_campaign(const std::string& text, const std::string& source_name, int num_ranks) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != "hocket.transfers/1" || !json.contains("experiments") ||
        !json["experiments"].is_array() || !json.contains("rounds") || !json.contains("seconds") ||
        !json.contains("costs") || !json["costs"].is_array() || json.size() != 5) {
        throw InvalidInput(
            source_name + " is not a campaign of transfers",
            R"(it has "format": "hocket.transfers/1", "rounds", "seconds", "experiments" and "costs", nothing else)");
    }
    Campaign campaign{{}, static_cast<int>(whole_number(json["rounds"], source_name + ": rounds", 1, 100'000)), 0, {}};
    if (!json["seconds"].is_number() || !(json["seconds"].get<double>() > 0)) {
        throw InvalidInput(source_name + ": seconds must be a number above 0");
    }
    campaign.seconds = json["seconds"].get<double>();
    for (const Json& transfers : json["experiments"]) {
        const std::string where = source_name + ": experiment " + std::to_string(campaign.experiments.size());
        if (!transfers.is_array() || transfers.empty()) throw InvalidInput(where + " is not a list of transfers");
        Experiment experiment;
        for (const Json& transfer : transfers) {
            experiment.push_back(
                parse_transfer(transfer, where + ", transfer " + std::to_string(experiment.size()), num_ranks));
        }
        campaign.experiments.push_back(std::move(experiment));
    }
    for (const Json& pair : json["costs"]) {
        const std::string where = source_name + ": costs " + std::to_string(campaign.costs.size());
        if (!pair.is_array() || pair.size() != 2) throw InvalidInput(where + " is not [source, target]");
        campaign.costs.push_back(parse_ends(pair, where, num_ranks));
    }
    return campaign;
}

}  // namespace hocket::probes
