// What a traced run wants to know of a token: the tag of its packet, wherever the token carries it, and which work
// request it is or completes.
#pragma once
#include <type_traits>

#include "hw/tokens.hpp"

namespace sim {

struct TokenLook {
  hw::Tag* tag = nullptr;   // null: the token does not carry one
  bool new_packet = false;  // its packet may be new, and not have a tag yet
  bool is_wqe = false, is_completion = false, failed = false;
  uint32_t qpn = 0, index = 0;  // of a work request or completion
  uint64_t bytes = 0;           // of a work request
};

namespace detail {

struct Rank0 {};
struct Rank1 : Rank0 {};
struct Rank2 : Rank1 {};
struct Rank3 : Rank2 {};

template <class T>
auto tag_of(T& token, Rank3) -> decltype(&token.tag) {
  return &token.tag;
}
template <class T>
auto tag_of(T& token, Rank2) -> decltype(tag_of(token.packet, Rank3())) {
  return tag_of(token.packet, Rank3());
}
template <class T>
auto tag_of(T& token, Rank1) -> decltype(tag_of(token.request, Rank3())) {
  return tag_of(token.request, Rank3());
}
inline hw::Tag* tag_of(hw::TxHeader& token, Rank3) {
  return &token.routed.packet.tag;
}
// A command other than a send concerns a QP; the packet in it means nothing.
inline hw::Tag* tag_of(hw::ListCommand& token, Rank3) {
  return token.op == hw::Bits<3>(hw::kListSend) ? &token.packet.tag : nullptr;
}
template <class T>
hw::Tag* tag_of(T&, Rank0) {
  return nullptr;
}

template <class T>
void look_at(T& token, TokenLook& look) {
  look.tag = tag_of(token, Rank3());
}
inline void look_at(hw::TxPacket& token, TokenLook& look) {
  look.tag = &token.tag;
  look.new_packet = true;
}
inline void look_at(hw::Wqe& token, TokenLook& look) {
  look.is_wqe = true;
  look.qpn = uint32_t(token.qpn.u64());
  look.index = uint32_t(token.index.u64());
  look.bytes = token.length.u64();
}
inline void look_at(hw::Completion& token, TokenLook& look) {
  look.is_completion = true;
  look.failed = bool(token.status);
  look.qpn = uint32_t(token.qpn.u64());
  look.index = uint32_t(token.index.u64());
}

}  // namespace detail

// Looks at the token that was written last to a stream of `T`.
template <class T>
TokenLook look_at_newest(hw::StreamBase& stream) {
  TokenLook look;
  detail::look_at(static_cast<hls::stream<T>&>(stream).newest(), look);
  return look;
}
using TokenLooker = TokenLook (*)(hw::StreamBase&);

}  // namespace sim
