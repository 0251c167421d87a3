#include "traces/capture_format.hpp"

#include "traces/pcap_format.hpp"
#include "traces/pcapng_format.hpp"
#include "traces/text.hpp"

namespace traces {

void CaptureFormat::fail_packet(const std::string& what) const {
  fail("packet " + std::to_string(packets_ + 1) + " (offset " + std::to_string(source_.offset()) + ")", what);
}

void CaptureFormat::fail(const std::string& place, const std::string& what) const {
  throw InputError(name_ + ": " + place + ": " + what);
}

std::unique_ptr<CaptureFormat> open_capture(const std::string& file) {
  constexpr char kAllowed[] =
      "; allowed: a pcap file (microseconds or nanoseconds, either byte order) or pcapng, plain or compressed by gzip "
      "or zstd";
  constexpr size_t kMagicSize = 4;
  const std::string name = shown_name(file);
  ByteSource source(file);
  const ByteSpan start = source.peek(kMagicSize);
  if (start.size == 0) throw InputError(name + ": the file is empty" + kAllowed);
  if (start.size < kMagicSize)
    throw InputError(name + ": the file header is cut at byte " + std::to_string(start.size) + kAllowed);
  const uint32_t magic = ByteOrder{}.load32(start.data);
  if (magic == PcapngFormat::kMagic) return std::make_unique<PcapngFormat>(name, std::move(source));
  if (const std::optional<PcapVariant> variant = pcap_variant_of(magic))
    return std::make_unique<PcapFormat>(name, std::move(source), *variant);
  throw InputError(format("%s: file header (offset 0): unknown magic %02x%02x%02x%02x%s", name.c_str(), start.data[0],
                          start.data[1], start.data[2], start.data[3], kAllowed));
}

}  // namespace traces
