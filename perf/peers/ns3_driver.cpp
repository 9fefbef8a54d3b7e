// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

// ns-3 on a case: packets, not flows. Every message is a TCP connection of its own, with DCTCP, on full-duplex cables
// with the routes of the case. RED marks above 20 packets, which is what DCTCP's authors use at 1 Gbit/s; queues hold
// 1,000 packets.

#include <deque>
#include <map>
#include <vector>

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include "driver.hpp"
#include "fat_tree.hpp"

namespace {

constexpr std::uint16_t first_port = 1000;
constexpr std::uint32_t segment_bytes = 1448;

void configure() {
    using namespace ns3;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpDctcp"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment_bytes));
    // With delayed ones a window of one packet would wait for the timer.
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4U << 20U));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4U << 20U));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", QueueSizeValue(QueueSize("1000p")));
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(20));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(20));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
}

class PacketNetwork {
public:
    explicit PacketNetwork(const peers::Case& c) : tree_(c.children) {
        using namespace ns3;
        nodes_.Create(static_cast<std::uint32_t>(tree_.num_hosts() + tree_.num_switches()));
        InternetStackHelper internet;
        internet.SetRoutingHelper(Ipv4StaticRoutingHelper());
        internet.Install(nodes_);
        PointToPointHelper cable;
        cable.SetDeviceAttribute("DataRate",
                                 DataRateValue(DataRate(static_cast<std::uint64_t>(8 * c.bandwidth_bytes_per_s))));
        cable.SetChannelAttribute("Delay", TimeValue(Seconds(c.latency_s)));
        cable.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
        TrafficControlHelper marking;
        marking.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth",
                                 DataRateValue(DataRate(static_cast<std::uint64_t>(8 * c.bandwidth_bytes_per_s))),
                                 "LinkDelay", TimeValue(Seconds(c.latency_s)));
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
        for (std::int32_t i = 0; i < tree_.num_cables(); ++i) {
            const auto ends = tree_.cable(i);
            const NetDeviceContainer devices = cable.Install(node(ends.below), node(ends.above));
            marking.Install(devices);
            const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
            addresses.NewNetwork();
            interfaces_.push_back({interfaces.Get(0).second, interfaces.Get(1).second});
        }
        for (std::int32_t h = 0; h < tree_.num_hosts(); ++h) addresses_.push_back(address_of(h));
        add_routes();
    }

    [[nodiscard]] ns3::Ptr<ns3::Node> node(std::int32_t number) const {
        return nodes_.Get(static_cast<std::uint32_t>(number));
    }
    [[nodiscard]] ns3::Ipv4Address address(std::int32_t host) const {
        return addresses_[static_cast<std::size_t>(host)];
    }

private:
    [[nodiscard]] ns3::Ipv4Address address_of(std::int32_t host) const {
        const auto interface = interfaces_[static_cast<std::size_t>(host)].below;
        return node(host)->GetObject<ns3::Ipv4>()->GetAddress(interface, 0).GetLocal();
    }
    /// A route to a host depends on the host and on where one is, not on the source: one entry a node and host.
    void add_routes() {
        std::vector<std::vector<bool>> known(nodes_.GetN(), std::vector<bool>(addresses_.size()));
        std::vector<peers::FatTree::Hop> hops;
        for (std::int32_t a = 0; a < tree_.num_hosts(); ++a) {
            for (std::int32_t b = 0; b < tree_.num_hosts(); ++b) {
                tree_.route(a, b, hops);
                for (const auto& hop : hops) {
                    const auto ends = tree_.cable(hop.cable);
                    const auto interfaces = interfaces_[static_cast<std::size_t>(hop.cable)];
                    const std::int32_t from = hop.upwards ? ends.below : ends.above;
                    if (known[static_cast<std::size_t>(from)][static_cast<std::size_t>(b)]) continue;
                    known[static_cast<std::size_t>(from)][static_cast<std::size_t>(b)] = true;
                    ns3::Ipv4StaticRoutingHelper()
                        .GetStaticRouting(node(from)->GetObject<ns3::Ipv4>())
                        ->AddHostRouteTo(addresses_[static_cast<std::size_t>(b)],
                                         hop.upwards ? interfaces.below : interfaces.above);
                }
            }
        }
    }

    struct Interfaces {
        std::uint32_t below, above;
    };
    peers::FatTree tree_;
    ns3::NodeContainer nodes_;
    std::vector<Interfaces> interfaces_;       // [cable]
    std::vector<ns3::Ipv4Address> addresses_;  // [host]
};

class Run {
public:
    explicit Run(const peers::Case& c) : c_(c), network_(c), next_(static_cast<std::size_t>(c.num_hosts())) {
        outcome_.finish_s.resize(next_.size());
    }

    const peers::Outcome& run() {
        outcome_.setup_done();
        for (std::int32_t s = 0; s < c_.num_hosts(); ++s) start_next(s);
        ns3::Simulator::Run();
        return outcome_;
    }

private:
    void start_next(std::int32_t source) {
        using namespace ns3;
        std::int64_t& number = next_[static_cast<std::size_t>(source)];
        if (number == c_.traffic->num_messages(hocket::Rank{source})) return;
        const auto message = c_.traffic->message(hocket::Rank{source}, number++);
        // A port for each message of a target, so that its bytes can be told from those of others.
        const auto port = static_cast<std::uint16_t>(first_port + ports_used_[message.target.value]++);
        PacketSinkHelper receiver("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        const Ptr<PacketSink> sink =
            DynamicCast<PacketSink>(receiver.Install(network_.node(message.target.value)).Get(0));
        auto* const left = &left_.emplace_back(message.bytes);
        sink->TraceConnectWithoutContext("Rx", Callback<void, Ptr<const Packet>, const Address&>(
                                                   [this, left, source](Ptr<const Packet> packet, const Address&) {
                                                       *left -= packet->GetSize();
                                                       if (*left != 0) return;
                                                       outcome_.finish_s[static_cast<std::size_t>(source)] =
                                                           Simulator::Now().GetSeconds();
                                                       ++outcome_.num_messages;
                                                       Simulator::ScheduleNow([this, source] { start_next(source); });
                                                   }));
        BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(network_.address(message.target.value), port));
        sender.SetAttribute("MaxBytes", UintegerValue(static_cast<std::uint64_t>(message.bytes)));
        sender.SetAttribute("SendSize", UintegerValue(segment_bytes));
        sender.Install(network_.node(source));
    }

    const peers::Case& c_;
    PacketNetwork network_;
    std::vector<std::int64_t> next_;                   // [source] message
    std::map<std::int32_t, std::int32_t> ports_used_;  // [target]
    std::deque<std::int64_t> left_;                    // bytes of each message yet to arrive
    peers::Outcome outcome_;
};

}  // namespace

int main(int argc, char** argv) {
    return peers::run_driver([&] {
        peers::Case c = peers::read_case(argc, argv);
        c.refuse_others();
        configure();
        Run run(c);
        peers::print(c, run.run());
        std::_Exit(0);  // taking the network down is not what is measured
    });
}
