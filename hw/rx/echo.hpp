// Answers who asks whether this NIC is there: ARP requests for its address (RFC 826) and pings (ICMP echo, RFC 792).
// Everything else goes on to the host.
//
// A request becomes its reply on the way: addresses change places, what the reply differs in is overwritten, the rest
// of the frame, padding included, stays as it came. Answered are
//   ARP   requests for our IPv4 address, sent to our MAC address or to all
//   ICMP  echo requests of code 0 to our MAC and IPv4 address, in one piece, with an IP header without options, from a
//         sender that is one host (RFC 1122, 3.2.1.3)
// A ping whose IP header has a wrong checksum (3.2.1.2), or that ends before its IP packet does, leaves as `bad`, for
// the store behind to drop. The checksum of the ICMP message is not judged, as it covers all of it: it is adjusted, and
// a wrong one is as wrong in the reply, which tells the sender. Before the first address has come, nothing is answered.
//
// A beat is taken in c, the checksum of the IP header half added, and judged in c + 1, one a cycle. Beats wait for room
// in both outputs.
#pragma once
#include "../bus/beat_line.hpp"
#include "../bus/counter.hpp"
#include "../bus/ip_checksum.hpp"
#include "../tokens.hpp"

namespace hw {
namespace rx {

template <unsigned W>
struct Echo {
  struct Params {
    uint32_t ttl = 64;  // hops
  } params;
  Counter arp_replies, echo_replies;  // those that the store then drops included
  HW_COUNTERS(arp_replies, echo_replies)

  void step(hls::stream<Beat<W>>& in, hls::stream<AddressControl>& control, hls::stream<Beat<W>>& host,
            hls::stream<Beat<W>>& replies) {
    if (!host.full() && !replies.full()) {
      if (bool(held_)) send(host, replies);
      take(in);
    }
    if (control.empty()) return;
    ours_ = control.read();
    has_address_ = Bits<1>(1);
  }

#if !defined(HW_LOWER) && !defined(__SYNTHESIS__)
  // A beat that moves up in the line touches no stream.
  Cycles quiet() const {
    return bool(held_) ? 0 : kForever;
  }
  void skip(Cycles) {}
#endif

 private:
  enum : int { kHeadBytes = wire::kEthernetBytes + wire::kArpBytes };
  static_assert(int(kHeadBytes) == wire::kEthernetBytes + wire::kIpBytes + wire::kIcmpBytes, "ARP and ICMP: one head");
  typedef HeadLine<W, kHeadBytes> Line;
  typedef Bits<Line::kBits> Head;
  enum : int { kCountBits = clog2(Line::kLine + 2), kLengthBits = 17 };
  typedef Bits<kLengthBits> Length;

  void take(hls::stream<Beat<W>>& in) {
    const bool next = !in.empty(), leaves = line_.ready(next), enters = next && line_.room(leaves);
    const Beat<W>& x = enters ? in.read() : nothing_;
    held_ = Bits<1>(leaves);
    if (leaves) {
      beat_ = line_.oldest(x);
      head_ = line_.data(x);
      first_ = Bits<1>(line_.first());
      whole_ = Bits<1>(line_.whole(x));
      if (line_.first()) sum_.start(head_);
    }
    line_.move(leaves, enters, x);
  }

  void send(hls::stream<Beat<W>>& host, hls::stream<Beat<W>>& replies) {
    if (bool(first_)) judge();
    if (bool(answers_)) {
      replies.write(answer());
    } else {
      host.write(beat_);
    }
    left_ = Length(W / 8).ult(left_) ? left_ - Length(W / 8) : Length(0);
    reply_ = reply_.template shr<W>();
    if (bool(of_head_)) of_head_ = of_head_ - Bits<kCountBits>(1);
  }

  Beat<W> answer() const {
    Beat<W> y = beat_;
    if (bool(of_head_)) y.data = reply_.template to<W>();
    const bool wrong = !sum_.right() || beat_.bytes.template to<kLengthBits>().ult(left_);
    y.bad = beat_.last & (beat_.bad | (pings_ & Bits<1>(wrong)));
    return y;
  }

  // At the first beat of a frame.
  void judge() {
    const bool answerable = bool(whole_ & has_address_);
    const bool resolves = answerable && is_arp_request(), pings = answerable && is_echo_request();
    answers_ = Bits<1>(resolves || pings);
    pings_ = Bits<1>(pings);
    reply_ = resolves ? arp_reply() : echo_reply();
    of_head_ = Bits<kCountBits>(Line::kLine + 1);
    left_ = wire::load<wire::ip::TotalLength>(head_).template to<kLengthBits>() + Length(wire::kEthernetBytes);
    if (resolves) arp_replies.inc();
    if (pings) echo_replies.inc();
  }

  bool is_arp_request() const {
    const Bits<48> to = wire::load<wire::eth::Destination>(head_);
    return wire::load<wire::eth::Type>(head_) == Bits<16>(wire::eth::kArp) &&
           wire::load<wire::arp::Form>(head_) == Bits<64>(wire::arp::kRequest) &&
           wire::load<wire::arp::TargetIp>(head_) == ours_.ip &&
           (to == ours_.mac || to == Bits<48>(wire::eth::kBroadcast));
  }
  bool is_echo_request() const {
    const Bits<3> multicast_or_reserved(7);  // an address from 224.0.0.0 up names no single host
    return wire::load<wire::eth::Type>(head_) == Bits<16>(wire::eth::kIpv4) && wire::is_plain_ip(head_) &&
           wire::load<wire::ip::Protocol>(head_) == Bits<8>(wire::ip::kIcmp) &&
           wire::load<wire::icmp::TypeCode>(head_) == Bits<16>(wire::icmp::kEchoRequest) &&
           !wire::load<wire::ip::TotalLength>(head_).ult(Bits<16>(wire::kIpBytes + wire::kIcmpBytes)) &&
           wire::load<wire::ip::Source>(head_).template get<29, 3>() != multicast_or_reserved &&
           wire::load<wire::ip::Destination>(head_) == ours_.ip &&
           wire::load<wire::eth::Destination>(head_) == ours_.mac;
  }

  Head arp_reply() const {
    const Bits<48> asker = wire::load<wire::arp::SenderMac>(head_);
    Head h = head_;
    wire::store<wire::eth::Destination>(h, asker);
    wire::store<wire::eth::Source>(h, ours_.mac);
    wire::store<wire::arp::Form>(h, Bits<64>(wire::arp::kReply));
    wire::store<wire::arp::SenderMac>(h, ours_.mac);
    wire::store<wire::arp::SenderIp>(h, ours_.ip);
    wire::store<wire::arp::TargetMac>(h, asker);
    wire::store<wire::arp::TargetIp>(h, wire::load<wire::arp::SenderIp>(head_));
    return h;
  }

  // Checksums are adjusted, not added up again (RFC 1624). In the IP header the word with TTL and protocol changes, by
  // equation 3: that is what a new sum over a right header gives. In the ICMP message the word with the type becomes 0.
  // It is taken out by equation 2, whose zero is 0xffff: right for any message, where that of equation 3, 0, is wrong
  // for one of nothing but zeros.
  Head echo_reply() const {
    const Bits<8> old_ttl = wire::load<wire::ip::Ttl>(head_), ttl(params.ttl), icmp(wire::ip::kIcmp);
    const Bits<16> change = wire::ones_sum(~cat(old_ttl, icmp), cat(ttl, icmp));
    Head h = head_;
    wire::store<wire::eth::Destination>(h, wire::load<wire::eth::Source>(head_));
    wire::store<wire::eth::Source>(h, ours_.mac);
    wire::store<wire::ip::Ttl>(h, ttl);
    wire::store<wire::ip::Checksum>(h, ~wire::ones_sum(~wire::load<wire::ip::Checksum>(head_), change));
    wire::store<wire::ip::Source>(h, ours_.ip);
    wire::store<wire::ip::Destination>(h, wire::load<wire::ip::Source>(head_));
    wire::store<wire::icmp::TypeCode>(h, Bits<16>(wire::icmp::kEchoReply));
    wire::store<wire::icmp::Checksum>(
        h, wire::ones_sum(wire::load<wire::icmp::Checksum>(head_), Bits<16>(wire::icmp::kEchoRequest)));
    return h;
  }

  Line line_;
  Beat<W> nothing_;
  AddressControl ours_;
  Bits<1> has_address_;

  Bits<1> held_;           // a beat is to leave:
  Beat<W> beat_;           // this one,
  Head head_;              // with those behind it as far as they were in sight
  Bits<1> first_, whole_;  // it is the first of its frame; all the head is there
  wire::IpHeaderSum sum_;  // over the head of its frame

  Bits<1> answers_, pings_;   // the frame under way is answered; is an echo request
  Bits<kCountBits> of_head_;  // so many beats of its answer come from `reply_`, the others as they are
  Head reply_;
  Length left_;  // bytes up to the end of its IP packet
};

}  // namespace rx
}  // namespace hw
