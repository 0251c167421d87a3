#include "sim/testbed/node.hpp"

#include "sim/config/error.hpp"

namespace sim {

namespace {

DomainOptions domain_options(const SimConfig& config, const std::string& name) {
  DomainOptions o;
  o.every_cycle = config.every_cycle;
  o.shuffle = config.shuffle;
  o.seed = config.seed ^ std::hash<std::string>()(name);
  return o;
}

models::DeviceParams device_params(const Config& config, unsigned number) {
  models::DeviceParams p;
  p.clock = hw::Clock(config.nic.clock_hz);
  p.doorbell_latency = p.completion_latency = config.pcie.write_latency;
  p.first_qpn = kFirstQpn + number;
  return p;
}

}  // namespace

Node::Node(unsigned number, const Config& config)
    : name_("nic" + std::to_string(number)),
      domain_(name_.c_str(), config.nic.clock_hz, domain_options(config.sim, name_)),
      device_(device_params(config, number)),
      mac_(0x020000000001u + number),
      ip_(0x0a000001u + number) {}

std::unique_ptr<Node> make_node(unsigned number, const Config& config) {
  switch (config.nic.width_bits) {
    case 64:
      return make_node_of<64>(number, config);
    case 128:
      return make_node_of<128>(number, config);
    case 256:
      return make_node_of<256>(number, config);
    case 512:
      return make_node_of<512>(number, config);
    case 1024:
      return make_node_of<1024>(number, config);
    default:
      throw InputError("nic.width: " + std::to_string(config.nic.width_bits) +
                       " bits; allowed: 64, 128, 256, 512, 1024");
  }
}

}  // namespace sim
