// One flow over 100 Mbit/s with a base round trip of 60 ms, packets of 1500 B on the wire, in ns-3 (Debian libns3-dev).
// Another path with RATE=10Mbps and DELAY=9ms: one way, without the millisecond before the bottleneck.
// Usage: flow LAW BUFFER_PACKETS LOSS_RATE SEED WARMUP_S SECONDS [ATTRIBUTE=VALUE...]
// LAW: the name of a congestion control of ns-3 without "ns3::Tcp": LinuxReno, Cubic, Bic, ...; attributes are its own.
// Prints the bytes of payload received after the warm-up.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdlib>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

// 1500 B on the wire less the headers of PPP (2), IP (20), TCP (20) and its timestamps (12).
constexpr uint32_t SEGMENT = 1446;
// Twice what the path and its buffer hold. A larger one costs ns-3 time.
constexpr uint32_t BUFFER_BYTES = 1 << 21;

void
SetDefaults(const std::string& law)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::Tcp" + law)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

NetDeviceContainer
Join(Ptr<Node> from, Ptr<Node> to, const std::string& rate, const std::string& delay, uint32_t buffer)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(PACKETS, buffer)));
    return link.Install(from, to);
}

} // namespace

int
main(int count, char** words)
{
    if (count < 7)
    {
        std::cerr << "usage: flow LAW BUFFER_PACKETS LOSS_RATE SEED WARMUP_S SECONDS [ATTRIBUTE=VALUE...]\n";
        return 2;
    }
    SetDefaults(words[1]);
    std::string rate = "100Mbps";
    std::string delay = "29ms";
    for (int i = 7; i < count; ++i)
    {
        const std::string word = words[i];
        const auto equals = word.find('=');
        if (word.substr(0, equals) == "RATE" || word.substr(0, equals) == "DELAY")
        {
            (word[0] == 'R' ? rate : delay) = word.substr(equals + 1);
            continue;
        }
        const std::string name = std::string("ns3::Tcp") + words[1] + "::" + word.substr(0, equals);
        Config::SetDefault(name, StringValue(word.substr(equals + 1)));
    }
    const uint32_t buffer = std::atoi(words[2]);
    const double loss = std::atof(words[3]);
    RngSeedManager::SetSeed(std::atoi(words[4]));
    const Time warmup = Seconds(std::atof(words[5]));
    const Time end = Seconds(std::atof(words[6]));

    NodeContainer nodes;
    nodes.Create(3);
    const NetDeviceContainer near = Join(nodes.Get(0), nodes.Get(1), "10Gbps", "1ms", 1000000);
    // The device holds one packet besides its queue.
    const NetDeviceContainer far = Join(nodes.Get(1), nodes.Get(2), rate, delay, buffer - 1);
    if (loss > 0)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        far.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }

    // No queue discipline: the device's queue is the buffer.
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.NewNetwork();
    const Ipv4InterfaceContainer ends = addresses.Assign(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const InetSocketAddress receiver(ends.GetAddress(1), 5001);
    const ApplicationContainer sink =
        PacketSinkHelper("ns3::TcpSocketFactory", receiver).Install(nodes.Get(2));
    BulkSendHelper source("ns3::TcpSocketFactory", receiver);
    source.SetAttribute("SendSize", UintegerValue(SEGMENT));
    source.Install(nodes.Get(0));

    uint64_t before = 0;
    const auto received = [&] { return DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx(); };
    Simulator::Schedule(warmup, [&] { before = received(); });
    Simulator::Stop(end);
    Simulator::Run();
    std::cout << received() - before << "\n";
    Simulator::Destroy();
    return 0;
}
