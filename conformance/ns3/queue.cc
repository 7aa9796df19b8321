// Five Reno flows with round trips of 20 to 60 ms over 50 Mbit/s, packets of 1500 B on the wire, behind a queue
// discipline of ns-3 (Debian libns3-dev).
// Usage: queue DISCIPLINE ECN STEP SEED WARMUP_S SECONDS [ATTRIBUTE=VALUE...]
// DISCIPLINE: its name in ns-3 without "ns3::" and "QueueDisc": CoDel, FqCoDel, Pie; attributes are its own. ECN: 0 or 1.
// STEP: rate in Mbit/s of traffic that does not respond, in the middle third of the time; 0: none.
// Prints, of the flows in the whole run: packets sent, dropped, marked; and of all packets after the warm-up, in
// seconds: mean, median, 95th and 99th percentile of the sojourn time, which the disciplines themselves judge by. The
// packet that waits in the device behind the discipline is not in it: there is no such place here.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

// 1500 B on the wire less the headers of PPP (2), IP (20), TCP (20) and its timestamps (12); UDP (8).
constexpr uint32_t SEGMENT = 1446;
constexpr uint32_t DATAGRAM = 1470;
constexpr uint32_t BUFFER_BYTES = 1 << 22;
constexpr int FLOWS = 5;
constexpr uint8_t TCP = 6;

struct Books
{
    uint64_t sent = 0;
    uint64_t dropped = 0;
    uint64_t marked = 0;
    std::vector<double> waits;
};

bool
IsOfFlow(Ptr<const QueueDiscItem> item)
{
    const auto packet = DynamicCast<const Ipv4QueueDiscItem>(item);
    return packet && packet->GetHeader().GetProtocol() == TCP;
}

double
Quantile(const std::vector<double>& sorted, double part)
{
    return sorted.empty() ? 0 : sorted[static_cast<size_t>(part * (sorted.size() - 1))];
}

void
SetDefaults(bool ecn)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpLinuxReno")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));
}

} // namespace

int
main(int count, char** words)
{
    if (count < 7)
    {
        std::cerr << "usage: queue DISCIPLINE ECN STEP SEED WARMUP_S SECONDS [ATTRIBUTE=VALUE...]\n";
        return 2;
    }
    const std::string discipline = std::string("ns3::") + words[1] + "QueueDisc";
    SetDefaults(std::atoi(words[2]) != 0);
    Config::SetDefault(discipline + "::UseEcn", BooleanValue(std::atoi(words[2]) != 0));
    for (int i = 7; i < count; ++i)
    {
        const std::string word = words[i];
        const auto equals = word.find('=');
        Config::SetDefault(discipline + "::" + word.substr(0, equals), StringValue(word.substr(equals + 1)));
    }
    const double step = std::atof(words[3]);
    RngSeedManager::SetSeed(std::atoi(words[4]));
    const Time warmup = Seconds(std::atof(words[5]));
    const Time end = Seconds(std::atof(words[6]));

    // The last sender is that of the traffic.
    NodeContainer senders;
    senders.Create(FLOWS + 1);
    NodeContainer ends;
    ends.Create(2);
    InternetStackHelper stack;
    stack.Install(senders);
    stack.Install(ends);

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("50Mbps"));
    wire.SetChannelAttribute("Delay", StringValue("5ms"));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    const NetDeviceContainer bottleneck = wire.Install(ends);
    TrafficControlHelper control;
    control.SetRootQueueDisc(discipline);
    const QueueDiscContainer installed = control.Install(bottleneck.Get(0));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const Ipv4InterfaceContainer near = addresses.Assign(bottleneck);

    // Without flow control, no default discipline is installed there.
    PointToPointHelper access;
    access.DisableFlowControl();
    access.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    for (int i = 0; i <= FLOWS; ++i)
    {
        // Round trips of 20, 30, ... ms, of which 10 ms are the bottleneck's.
        access.SetChannelAttribute("Delay", TimeValue(MilliSeconds(5 + 5 * i)));
        addresses.NewNetwork();
        addresses.Assign(access.Install(senders.Get(i), ends.Get(0)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto starts = CreateObject<UniformRandomVariable>();
    for (int i = 0; i < FLOWS; ++i)
    {
        const InetSocketAddress receiver(near.GetAddress(1), 5001 + i);
        PacketSinkHelper("ns3::TcpSocketFactory", receiver).Install(ends.Get(1));
        BulkSendHelper source("ns3::TcpSocketFactory", receiver);
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        source.Install(senders.Get(i)).Start(Seconds(starts->GetValue(0, 2)));
    }
    if (step > 0)
    {
        UdpClientHelper traffic(near.GetAddress(1), 6000);
        traffic.SetAttribute("PacketSize", UintegerValue(DATAGRAM));
        traffic.SetAttribute("MaxPackets", UintegerValue(4000000000));
        traffic.SetAttribute("Interval", TimeValue(Seconds(1500 * 8 / (step * 1e6))));
        auto sending = traffic.Install(senders.Get(FLOWS));
        sending.Start(end / 3);
        sending.Stop(2 * end / 3);
    }

    Books books;
    const Ptr<QueueDisc> queue = installed.Get(0);
    queue->TraceConnectWithoutContext("Enqueue", Callback<void, Ptr<const QueueDiscItem>>([&](auto item) {
        books.sent += IsOfFlow(item);
    }));
    queue->TraceConnectWithoutContext(
        "DropBeforeEnqueue",
        Callback<void, Ptr<const QueueDiscItem>, const char*>([&](auto item, auto) {
            books.sent += IsOfFlow(item);
            books.dropped += IsOfFlow(item);
        }));
    queue->TraceConnectWithoutContext(
        "DropAfterDequeue",
        Callback<void, Ptr<const QueueDiscItem>, const char*>([&](auto item, auto) {
            books.dropped += IsOfFlow(item);
            // Its sojourn time was the last to be told.
            if (!books.waits.empty() && Simulator::Now() > warmup)
            {
                books.waits.pop_back();
            }
        }));
    queue->TraceConnectWithoutContext(
        "Mark",
        Callback<void, Ptr<const QueueDiscItem>, const char*>([&](auto item, auto) { books.marked += IsOfFlow(item); }));
    queue->TraceConnectWithoutContext("SojournTime", Callback<void, Time>([&](Time wait) {
        if (Simulator::Now() > warmup)
        {
            books.waits.push_back(wait.GetSeconds());
        }
    }));

    Simulator::Stop(end);
    Simulator::Run();
    std::sort(books.waits.begin(), books.waits.end());
    double sum = 0;
    for (const double wait : books.waits)
    {
        sum += wait;
    }
    std::cout << books.sent << " " << books.dropped << " " << books.marked << " "
              << sum / std::max<size_t>(books.waits.size(), 1) << " " << Quantile(books.waits, 0.5) << " "
              << Quantile(books.waits, 0.95) << " " << Quantile(books.waits, 0.99) << "\n";
    Simulator::Destroy();
    return 0;
}
