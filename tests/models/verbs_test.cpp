// The verbs of one host and their way to the NIC.
#include "models/verbs.hpp"

#include <cerrno>
#include <memory>

#include "models/host_port.hpp"
#include "tests/models/kernel.hpp"

using models::Cq;
using models::Device;
using models::DeviceParams;
using models::QpAttr;
using models::SendWr;
using models::VerbsError;
using models::WorkCompletion;

namespace {

DeviceParams params(hw::Picoseconds latency) {
  DeviceParams p;
  p.doorbell_latency = p.completion_latency = latency;
  return p;
}

QpAttr to(models::ibv_qp_state state) {
  QpAttr a;
  a.qp_state = state;
  return a;
}

void connect(Device& device, uint32_t qpn) {
  for (auto state : {models::IBV_QPS_INIT, models::IBV_QPS_RTR, models::IBV_QPS_RTS}) device.modify_qp(qpn, to(state));
}

template <class F>
std::string error_of(F call) {
  try {
    call();
  } catch (const VerbsError& e) {
    return e.what();
  }
  return "accepted";
}

hw::Completion completion(uint32_t qpn, uint64_t index, hw::Status status = hw::kSuccess) {
  hw::Completion c;
  c.qpn = hw::Qpn(qpn);
  c.index = hw::Bits<16>(index);
  c.status = hw::Bits<4>(status);
  return c;
}

SendWr write_of(uint64_t id, uint32_t length = 100) {
  SendWr wr;
  wr.wr_id = id;
  wr.length = length;
  return wr;
}

TEST(Verbs, KeysAreIndexAndKey) {
  test::Bench bench;
  Device device(params(0));
  for (uint32_t i = 1; i <= 300; i++) {
    const models::Mr mr = device.reg_mr(i * 4096, 4096, models::IBV_ACCESS_REMOTE_WRITE);
    EXPECT_EQ(mr.rkey >> 8, i);
    EXPECT_EQ(mr.lkey, mr.rkey);
    ASSERT_TRUE(std::holds_alternative<hw::RegionControl>(device.order().what));
    const hw::RegionControl& row = std::get<hw::RegionControl>(device.order().what);
    EXPECT_EQ(row.rkey.u64(), mr.rkey);
    EXPECT_EQ(row.va.u64(), i * 4096);
    EXPECT_EQ(row.address.u64(), i * 4096);
    EXPECT_EQ(row.length.u64(), 4096u);
    EXPECT_TRUE(bool(row.valid) && bool(row.remote_write));
    device.order_taken();
  }
}

TEST(Verbs, RegionsEndWithTheAddressSpace) {
  test::Bench bench;
  Device device(params(0));
  EXPECT_EQ(error_of([&] { device.reg_mr(~uint64_t(0), 1, 0); }), "accepted");
  EXPECT_EQ(error_of([&] { device.reg_mr(~uint64_t(0), 2, 0); }),
            "reg_mr: length = 2: allowed are 1 and more, up to the end of the address space");
}

// Every pair of states against the table of IBTA 10.3.1.
TEST(Verbs, OnlyLegalMoves) {
  using namespace models;
  const std::vector<ibv_qp_state> states = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_ERR};
  const bool legal[5][5] = {
      {true, true, false, false, true},  {true, false, true, false, true},  {true, false, false, true, true},
      {true, false, false, false, true}, {true, false, false, false, true},
  };
  for (size_t from = 0; from < 5; from++)
    for (size_t next = 0; next < 5; next++) {
      test::Bench bench;
      Device device(params(0));
      const uint32_t qpn = device.create_qp(device.create_cq());
      if (from == 4) device.modify_qp(qpn, to(IBV_QPS_ERR));
      for (size_t s = 1; from != 4 && s <= from; s++) device.modify_qp(qpn, to(states[s]));
      EXPECT_EQ(error_of([&] { device.modify_qp(qpn, to(states[next])); }) == "accepted", legal[from][next])
          << name_of(states[from]) << " to " << name_of(states[next]);
      EXPECT_EQ(device.query_qp(qpn), legal[from][next] ? states[next] : states[from]);
    }
}

TEST(Verbs, ErrorsNameObjectValueAndWhatIsAllowed) {
  test::Bench bench;
  Device device(params(0));
  const uint32_t qpn = device.create_qp(device.create_cq());
  EXPECT_EQ(error_of([&] { device.modify_qp(qpn, to(models::IBV_QPS_RTS)); }),
            "qp 17: qp_state RESET to RTS: allowed are INIT, RESET, ERR");
  device.modify_qp(qpn, to(models::IBV_QPS_INIT));
  QpAttr attr = to(models::IBV_QPS_RTR);
  attr.rq_psn = 1 << 24;
  EXPECT_EQ(error_of([&] { device.modify_qp(qpn, attr); }), "qp 17: rq_psn = 16777216: allowed are 0 .. 16777215");
  EXPECT_EQ(device.query_qp(qpn), models::IBV_QPS_INIT);
  EXPECT_EQ(error_of([&] { device.query_qp(18); }), "qp 18: allowed are the numbers that create_qp gave");
}

TEST(Verbs, PostNeedsRtsAndALength) {
  test::Bench bench;
  Device device(params(0));
  const uint32_t qpn = device.create_qp(device.create_cq());
  EXPECT_EQ(device.post_send(qpn, write_of(1)), EINVAL);
  connect(device, qpn);
  EXPECT_EQ(device.post_send(qpn, write_of(1)), 0);
  EXPECT_EQ(device.post_send(qpn, write_of(1, 1u << 31)), 0);
  EXPECT_EQ(device.post_send(qpn, write_of(1, (1u << 31) + 1)), EINVAL);
}

// Without responder resources at the peer no READ may be posted.
TEST(Verbs, AReadNeedsResources) {
  for (unsigned reads : {0u, 1u}) {
    test::Bench bench;
    Device device(params(0));
    const uint32_t qpn = device.create_qp(device.create_cq());
    for (auto state : {models::IBV_QPS_INIT, models::IBV_QPS_RTR, models::IBV_QPS_RTS}) {
      QpAttr attr = to(state);
      attr.max_rd_atomic = reads;
      device.modify_qp(qpn, attr);
    }
    SendWr wr = write_of(1);
    wr.opcode = models::IBV_WR_RDMA_READ;
    EXPECT_EQ(device.post_send(qpn, wr), reads == 0 ? EINVAL : 0);
  }
}

hw::ReceiveCompletion received(uint32_t qpn, uint64_t index, uint64_t bytes) {
  hw::ReceiveCompletion c;
  c.qpn = hw::Qpn(qpn);
  c.index = hw::Bits<16>(index);
  c.bytes = hw::Bits<32>(bytes);
  return c;
}

// Receives posted before the QP receives go to the NIC behind the rows of RTR; places are held until the poll.
TEST(Verbs, ReceivesWaitForRtrAndAreBounded) {
  test::Bench bench;
  Device device(params(0));
  const Cq cq = device.create_cq();
  const uint32_t qpn = device.create_qp(cq, 4, 2);
  models::RecvWr wr;
  wr.length = 100;
  EXPECT_EQ(device.post_recv(qpn, wr), EINVAL);
  device.modify_qp(qpn, to(models::IBV_QPS_INIT));
  wr.wr_id = 5;
  EXPECT_EQ(device.post_recv(qpn, wr), 0);
  EXPECT_EQ(device.next_order(), hw::kForever);
  device.modify_qp(qpn, to(models::IBV_QPS_RTR));
  bool rows = false;
  size_t wqes = 0;
  for (; device.next_order() != hw::kForever; device.order_taken()) {
    rows |= std::holds_alternative<hw::QpStateControl>(device.order().what);
    if (!std::holds_alternative<hw::ReceiveWqe>(device.order().what)) continue;
    EXPECT_TRUE(rows);
    wqes++;
  }
  EXPECT_EQ(wqes, 1u);
  EXPECT_EQ(device.post_recv(qpn, wr), 0);
  EXPECT_EQ(device.post_recv(qpn, wr), ENOMEM);
  hw::ReceiveCompletion c = received(qpn, 0, 77);
  c.has_immediate = hw::Bits<1>(1);
  c.immediate = hw::Bits<32>(0x12345678);
  device.complete(c);
  hw::world().now = 1;
  EXPECT_EQ(device.post_recv(qpn, wr), ENOMEM);
  WorkCompletion wc;
  ASSERT_EQ(device.poll_cq(cq, 1, &wc), 1);
  EXPECT_EQ(device.post_recv(qpn, wr), 0);
  EXPECT_EQ(wc.wr_id, 5u);
  EXPECT_EQ(wc.opcode, models::IBV_WC_RECV);
  EXPECT_EQ(wc.byte_len, 77u);
  EXPECT_EQ(wc.wc_flags, unsigned(models::IBV_WC_WITH_IMM));
  EXPECT_EQ(wc.imm_data, 0x12345678u);
}

TEST(Verbs, AnErrorFlushesTheReceives) {
  test::Bench bench;
  Device device(params(0));
  const Cq cq = device.create_cq();
  const uint32_t qpn = device.create_qp(cq, 4, 4);
  connect(device, qpn);
  models::RecvWr wr;
  for (wr.wr_id = 0; wr.wr_id < 3; wr.wr_id++) device.post_recv(qpn, wr);
  device.complete(received(qpn, 0, 0));
  hw::world().now = 1;
  device.modify_qp(qpn, to(models::IBV_QPS_ERR));
  device.complete(received(qpn, 1, 0));  // was on its way: its work request is flushed already
  EXPECT_EQ(device.post_recv(qpn, wr), 0);
  hw::world().now = 2;
  WorkCompletion wc[8];
  ASSERT_EQ(device.poll_cq(cq, 8, wc), 4);
  for (uint64_t i = 0; i < 4; i++) {
    EXPECT_EQ(wc[i].wr_id, i);
    EXPECT_EQ(wc[i].status, i == 0 ? models::IBV_WC_SUCCESS : models::IBV_WC_WR_FLUSH_ERR);
  }
}

TEST(Verbs, AReceiveCompletionOfNothingIsAnError) {
  test::Bench bench;
  Device device(params(0));
  const Cq cq = device.create_cq();
  const uint32_t qpn = device.create_qp(cq);
  connect(device, qpn);
  device.complete(received(qpn, 0, 0));
  hw::world().now = 1;
  WorkCompletion wc;
  EXPECT_EQ(error_of([&] { device.poll_cq(cq, 1, &wc); }),
            "qp 17: completion of receive work request 0: allowed is none");
}

// Whichever stage was called first in a cycle: what the sending CPU orders goes before what the receiving one does.
TEST(Verbs, ReceivesOfACycleGoBehindItsSends) {
  for (bool receive_first : {false, true}) {
    test::Bench bench;
    Device device(params(0));
    const uint32_t qpn = device.create_qp(device.create_cq());
    connect(device, qpn);
    while (device.next_order() != hw::kForever) device.order_taken();
    if (receive_first) device.post_recv(qpn, {});
    device.post_send(qpn, write_of(1));
    if (!receive_first) device.post_recv(qpn, {});
    EXPECT_TRUE(std::holds_alternative<hw::Wqe>(device.order().what));
    device.order_taken();
    EXPECT_TRUE(std::holds_alternative<hw::ReceiveWqe>(device.order().what));
  }
}

// A place in the send queue is free again when the completion has been polled, not before.
TEST(Verbs, TheSendQueueIsBounded) {
  test::Bench bench;
  Device device(params(0));
  const Cq cq = device.create_cq();
  const uint32_t qpn = device.create_qp(cq, 4);
  connect(device, qpn);
  for (uint64_t i = 0; i < 4; i++) EXPECT_EQ(device.post_send(qpn, write_of(i)), 0);
  EXPECT_EQ(device.post_send(qpn, write_of(9)), ENOMEM);
  device.complete(completion(qpn, 0));
  hw::world().now++;
  EXPECT_EQ(device.post_send(qpn, write_of(9)), ENOMEM);
  WorkCompletion wc;
  EXPECT_EQ(device.poll_cq(cq, 1, &wc), 1);
  EXPECT_EQ(device.post_send(qpn, write_of(9)), 0);
  EXPECT_EQ(device.post_send(qpn, write_of(9)), ENOMEM);
}

TEST(Verbs, CompletionsAreVisibleAfterTheirLatency) {
  test::Bench bench;
  Device device(params(10000));  // three cycles of 4 ns
  const Cq cq = device.create_cq();
  const uint32_t qpn = device.create_qp(cq);
  connect(device, qpn);
  std::vector<hw::Cycles> told;
  device.on_completion(cq, [&](hw::Cycles cycle) { told.push_back(cycle); });
  device.post_send(qpn, write_of(77, 1234));
  device.complete(completion(qpn, 0));
  WorkCompletion wc;
  for (hw::Cycles c = 0; c < 3; c++) {
    hw::world().now = c;
    EXPECT_EQ(device.poll_cq(cq, 1, &wc), 0);
  }
  hw::world().now = 3;
  EXPECT_EQ(device.poll_cq(cq, 1, &wc), 1);
  EXPECT_EQ(told, std::vector<hw::Cycles>{3});
  EXPECT_EQ(wc.wr_id, 77u);
  EXPECT_EQ(wc.status, models::IBV_WC_SUCCESS);
  EXPECT_EQ(wc.byte_len, 1234u);
  EXPECT_EQ(wc.qp_num, qpn);
  EXPECT_EQ(device.held(), 9u);  // the orders that nobody took; no work request
}

// An error completion moves the QP to ERR when the CPU can see it; later posts are flushed behind what the NIC still
// has to complete.
TEST(Verbs, AnErrorCompletionFlushesInOrder) {
  test::Bench bench;
  Device device(params(0));
  const Cq cq = device.create_cq();
  const uint32_t qpn = device.create_qp(cq);
  connect(device, qpn);
  for (uint64_t i = 0; i < 3; i++) device.post_send(qpn, write_of(i));
  device.complete(completion(qpn, 0, hw::kRetriesExceeded));
  EXPECT_EQ(device.query_qp(qpn), models::IBV_QPS_RTS);
  hw::world().now = 1;
  EXPECT_EQ(device.query_qp(qpn), models::IBV_QPS_ERR);
  EXPECT_EQ(device.post_send(qpn, write_of(3)), 0);
  WorkCompletion wc[8];
  EXPECT_EQ(device.poll_cq(cq, 8, wc), 1);
  EXPECT_EQ(wc[0].status, models::IBV_WC_RETRY_EXC_ERR);
  device.complete(completion(qpn, 1, hw::kFlushed));
  device.complete(completion(qpn, 2, hw::kFlushed));
  hw::world().now = 2;
  ASSERT_EQ(device.poll_cq(cq, 8, wc), 3);
  for (uint64_t i = 0; i < 3; i++) {
    EXPECT_EQ(wc[i].wr_id, i + 1);
    EXPECT_EQ(wc[i].status, models::IBV_WC_WR_FLUSH_ERR);
  }
}

TEST(Verbs, ACompletionOfNothingIsAnError) {
  test::Bench bench;
  Device device(params(0));
  const Cq cq = device.create_cq();
  const uint32_t qpn = device.create_qp(cq);
  connect(device, qpn);
  device.post_send(qpn, write_of(0));
  device.complete(completion(qpn, 1));
  hw::world().now = 1;
  WorkCompletion wc;
  EXPECT_EQ(error_of([&] { device.poll_cq(cq, 1, &wc); }), "qp 17: completion of work request 1: allowed is 0");
}

// A link that costs nothing.
models::PcieParams no_link() {
  models::PcieParams p;
  p.unlimited = true;
  p.read_latency = p.write_latency = 0;
  return p;
}

// The port with sinks of random speed on all its streams.
struct PortRun {
  test::Bench bench;
  Device device;
  models::PcieLink link{no_link(), hw::Clock(250000000)};
  models::HostPort port{no_link(), hw::Clock(250000000), link, device};
  test::Kernel kernel;
  hls::stream<hw::Wqe> send_queue;
  hls::stream<hw::ReceiveWqe> receive_queue;
  hls::stream<hw::Completion> completions;
  hls::stream<hw::ReceiveCompletion> receive_completions;
  hls::stream<hw::QpStateControl> qp_state;
  hls::stream<hw::RegionControl> region;
  hls::stream<hw::ReceiveQueueControl> receive_control;
  hls::stream<hw::MsnControl> msn;
  hls::stream<hw::OutstandingReadsControl> reads;
  hls::stream<hw::ResponseQueueControl> responses;
  hls::stream<hw::ConnectionControl> connection;
  hls::stream<hw::WorkQueueControl> work_queue;
  hls::stream<hw::FlowControlControl> flow_control;
  test::Sink<hw::Wqe> wqes;
  test::Sink<hw::ReceiveWqe> receives;
  test::Sink<hw::QpStateControl> qp_states;
  test::Sink<hw::RegionControl> regions;
  test::Sink<hw::ReceiveQueueControl> receive_controls;
  test::Sink<hw::MsnControl> msns;
  test::Sink<hw::OutstandingReadsControl> read_controls;
  test::Sink<hw::ResponseQueueControl> response_controls;
  test::Sink<hw::ConnectionControl> connections;
  test::Sink<hw::WorkQueueControl> work_queues;
  test::Sink<hw::FlowControlControl> flow_controls;

  PortRun(hw::Picoseconds latency, test::Calling calling, unsigned percent)
      : device(params(latency)),
        kernel(calling),
        wqes(bench, send_queue, percent),
        receives(bench, receive_queue, percent),
        qp_states(bench, qp_state, percent),
        regions(bench, region, percent),
        receive_controls(bench, receive_control, percent),
        msns(bench, msn, percent),
        read_controls(bench, reads, percent),
        response_controls(bench, responses, percent),
        connections(bench, connection, percent),
        work_queues(bench, work_queue, percent),
        flow_controls(bench, flow_control, percent) {
    port.waker = kernel.add(port, completions, receive_completions, send_queue, receive_queue, qp_state, region,
                            receive_control, msn, reads, responses, connection, work_queue, flow_control);
    completions.connect_reader(kernel.end(port.waker));
    receive_completions.connect_reader(kernel.end(port.waker));
    for (hw::StreamBase* s :
         std::vector<hw::StreamBase*>{&send_queue, &receive_queue, &qp_state, &region, &receive_control, &msn, &reads,
                                      &responses, &connection, &work_queue, &flow_control})
      s->connect_writer(kernel.end(port.waker), 1);
  }
  void run(hw::Cycles cycles) {
    bench.run(cycles, [this] { kernel.step(); });
  }
};

TEST(HostPort, DoorbellLatency) {
  for (const test::Calling& calling : test::kCallings)
    for (hw::Picoseconds latency : {0u, 4000u, 10000u, 400000u}) {
      PortRun r(latency, calling, 100);
      const uint32_t qpn = r.device.create_qp(r.device.create_cq());
      connect(r.device, qpn);
      r.run(500);
      r.device.post_send(qpn, write_of(1));
      r.run(500);
      ASSERT_EQ(r.wqes.cycles.size(), 1u);
      const hw::Cycles delay = std::max<hw::Cycles>(1, (latency + 3999) / 4000);
      EXPECT_EQ(r.wqes.cycles[0], 500 + delay + 1);  // the stream adds one
    }
}

TEST(HostPort, CarriesEveryField) {
  PortRun r(0, {false, false}, 100);
  const uint32_t qpn = r.device.create_qp(r.device.create_cq());
  QpAttr attr;
  attr.path_mtu = models::IBV_MTU_4096;
  attr.dest_qp_num = 0x123456;
  attr.rq_psn = 0xabcdef;
  attr.sq_psn = 0xfedcba;
  attr.timeout = 19;
  attr.retry_cnt = 5;
  attr.ah = {0x0a0b0c0d0e0f, 0x010203040506, 0xc0a80001, 0xc0a80002, 0xd123};
  for (auto state : {models::IBV_QPS_INIT, models::IBV_QPS_RTR, models::IBV_QPS_RTS}) {
    attr.qp_state = state;
    r.device.modify_qp(qpn, attr);
  }
  SendWr wr;
  wr.local_address = 0x1111222233334444;
  wr.remote_addr = 0x5555666677778888;
  wr.length = 12345;
  wr.rkey = 0xdeadbeef;
  r.device.post_send(qpn, wr);
  r.device.modify_qp(qpn, to(models::IBV_QPS_ERR));
  r.run(30);
  ASSERT_EQ(r.wqes.tokens.size(), 1u);
  const hw::Wqe& wqe = r.wqes.tokens[0];
  EXPECT_EQ(wqe.qpn.u64(), qpn);
  EXPECT_EQ(wqe.local_address.u64(), wr.local_address);
  EXPECT_EQ(wqe.remote_address.u64(), wr.remote_addr);
  EXPECT_EQ(wqe.length.u64(), 12345u);
  EXPECT_EQ(wqe.rkey.u64(), 0xdeadbeefu);
  ASSERT_EQ(r.qp_states.tokens.size(), 2u);
  EXPECT_EQ(r.qp_states.tokens[0].expected, hw::Psn(0xabcdef));
  EXPECT_TRUE(bool(r.qp_states.tokens[0].receive) && bool(r.qp_states.tokens[0].remote_write));
  EXPECT_FALSE(bool(r.qp_states.tokens[1].receive));
  ASSERT_EQ(r.msns.tokens.size(), 1u);
  EXPECT_EQ(r.msns.tokens[0].pmtu.u64(), 5u);
  ASSERT_EQ(r.connections.tokens.size(), 1u);
  const hw::ConnectionControl& c = r.connections.tokens[0];
  EXPECT_EQ(c.remote_qpn.u64(), 0x123456u);
  EXPECT_EQ(c.route.destination_mac.u64(), 0x0a0b0c0d0e0fu);
  EXPECT_EQ(c.route.source_mac.u64(), 0x010203040506u);
  EXPECT_EQ(c.route.destination_ip.u64(), 0xc0a80001u);
  EXPECT_EQ(c.route.source_ip.u64(), 0xc0a80002u);
  EXPECT_EQ(c.route.udp_source_port.u64(), 0xd123u);
  ASSERT_EQ(r.work_queues.tokens.size(), 1u);
  EXPECT_EQ(r.work_queues.tokens[0].pmtu.u64(), 5u);
  ASSERT_EQ(r.flow_controls.tokens.size(), 1u);
  EXPECT_EQ(r.flow_controls.tokens[0].psn, hw::Psn(0xfedcba));
  EXPECT_EQ(r.flow_controls.tokens[0].timeout.u64(), 19u);
  EXPECT_EQ(r.flow_controls.tokens[0].retry_count.u64(), 5u);
}

// Many QPs against slow tables: all rows of a QP have left before its first work request, and work requests keep their
// order; the same cycles in every calling.
TEST(HostPort, RowsComeBeforeWork) {
  std::vector<hw::Cycles> first;
  for (const test::Calling& calling : test::kCallings) {
    PortRun r(220000, calling, 20);
    const Cq cq = r.device.create_cq();
    for (int i = 0; i < 50; i++) {
      const uint32_t qpn = r.device.create_qp(cq);
      connect(r.device, qpn);
      for (uint64_t k = 0; k < 3; k++) r.device.post_send(qpn, write_of(k));
    }
    for (int cycle = 0; cycle < 6000; cycle++) {
      r.run(1);
      for (uint64_t rows : {r.connection.written(), r.msn.written(), r.qp_state.written(), r.flow_control.written(),
                            r.work_queue.written()})
        ASSERT_LE(r.send_queue.written(), 3 * rows);
    }
    ASSERT_EQ(r.wqes.tokens.size(), 150u);
    for (size_t i = 0; i < 150; i++) {
      EXPECT_EQ(r.wqes.tokens[i].qpn.u64(), 17 + i / 3);
      EXPECT_EQ(r.wqes.tokens[i].index.u64(), i % 3);
    }
    ASSERT_EQ(r.flow_controls.tokens.size(), 50u);
    if (first.empty()) first = r.wqes.cycles;
    EXPECT_EQ(r.wqes.cycles, first);
    EXPECT_EQ(r.device.next_order(), hw::kForever);
  }
}

}  // namespace
