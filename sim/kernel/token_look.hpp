// What a traced run wants to know of a token: the tag of its packet, wherever the token carries it, and whether it
// begins a packet.
#pragma once
#include <type_traits>

#include "hw/tokens.hpp"

namespace sim {

struct TokenLook {
  hw::Tag* tag = nullptr;  // null: the token does not carry one
  bool packet = false;     // of a packet to send, which has no tag of its own where it is cut: that of its message
  bool response = false;   // to a READ; that of the request
  bool grant = false;      // lets a QP that waits go on
  uint32_t qpn = 0;        // of these
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
auto tag_of(T& token, Rank1) -> decltype(tag_of(token.placement, Rank3())) {
  return tag_of(token.placement, Rank3());
}
inline hw::Tag* tag_of(hw::TxHeader& token, Rank3) {
  return &token.routed.packet.tag;
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
  look.packet = true;
  look.response = hw::wire::is_read_response(token.opcode);
  look.qpn = uint32_t(token.qpn.u64());
}
template <class T>
void look_at_grant(T& token, TokenLook& look) {
  look.tag = &token.tag;
  look.grant = true;
  look.qpn = uint32_t(token.qpn.u64());
}
inline void look_at(hw::Credit& token, TokenLook& look) {
  look_at_grant(token, look);
}
inline void look_at(hw::ReadAnswered& token, TokenLook& look) {
  look_at_grant(token, look);
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
