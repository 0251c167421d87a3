// The pipeline as a picture: a visitor of the wiring in hw/nic.hpp that writes it in Graphviz's language.
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

#include "hw/bus/ports.hpp"
#include "hw/bus/stream.hpp"

namespace sim {

class PipelineGraph {
 public:
  template <class T>
  void stream(hls::stream<T>& s, const char* name, unsigned capacity, hw::Kind) {
    streams_.push_back({&s, name, token_name(typeid(T)), capacity, false, "", ""});
  }
  template <class T>
  void port(hls::stream<T>& s, const char* name, unsigned capacity, hw::Kind kind) {
    stream(s, name, capacity, kind);
    streams_.back().is_port = true;
  }
  template <class S, class... P>
  void stage(S&, const char* name, P... ports) {
    stages_.push_back(name);
    (connect(ports, name), ...);
  }
  template <class A, class B>
  void independent(hls::stream<A>&, hls::stream<B>&) {}

  /// Stages are boxes, grouped by the first part of their name; streams are edges with token and capacity, and their
  /// name as tooltip; ports are ellipses. Throws std::logic_error that names a stream without a writer or without a
  /// reader.
  std::string dot() const;

 private:
  struct Stream {
    const hw::StreamBase* stream;
    std::string name, token;
    unsigned capacity;
    bool is_port;
    std::string writer, reader;
  };

  /// "RxHeader" for hw::RxHeader, "Beat" for hw::Beat<512>.
  static std::string token_name(const std::type_info& type);
  template <class T>
  void connect(hw::In<T> in, const char* stage) {
    find(in.s).reader = stage;
  }
  template <class T>
  void connect(hw::Out<T> out, const char* stage) {
    find(out.s).writer = stage;
  }
  Stream& find(const hw::StreamBase& stream);
  static std::string edge_text(const Stream& s);

  std::vector<std::string> stages_;
  std::vector<Stream> streams_;
};

}  // namespace sim
