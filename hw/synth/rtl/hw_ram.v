// Rule 4 of the stage contract: N rows of W bits, one request and one write a cycle, old value on a collision.
// FWD = 0 (Ram): rdata is the row as it stood at the start of the cycle of the last request.
// FWD = 1 (RamForward): rdata follows every write up to the cycle before, also while the stage holds it.
// Rows are zero at configuration and keep their contents in reset, which ignores requests and writes.
module hw_ram #(
  parameter W = 8,
  parameter AW = 3,
  parameter N = 8,
  parameter FWD = 0
) (
  input wire clk,
  input wire rst_n,
  input wire req,
  input wire [AW-1:0] ra,
  output wire [W-1:0] rdata,
  input wire we,
  input wire [AW-1:0] wa,
  input wire [W-1:0] wd
);
  (* ram_style = "block" *) reg [W-1:0] rows [0:N-1];
  integer i;
  initial for (i = 0; i < N; i = i + 1) rows[i] = {W{1'b0}};

  wire reads = req & rst_n;
  wire writes = we & rst_n;
  reg [W-1:0] fetched;
  always @(posedge clk) begin
    if (writes) rows[wa] <= wd;
    if (reads) fetched <= rows[ra];
  end

  generate
    if (FWD != 0) begin : forward
      // A write is compared with the held row a cycle late, beside the fetch: what leads to `wa`, `wd` or `req` may
      // come late in its cycle. `same`: the two agree, three address bits each.
      localparam P = (AW + 2) / 3;
      reg [AW-1:0] held = {AW{1'b0}};
      localparam Z = 3 * P + 1 - AW;
      wire [3*P:0] target = {{Z{1'b0}}, wa}, fresh = {{Z{1'b0}}, ra}, old = {{Z{1'b0}}, held};
      reg wrote = 1'b0, newer = 1'b0;
      reg [P-1:0] same;
      reg [W-1:0] written, value;
      wire hit = wrote & (&same);
      always @(posedge clk) begin
        wrote <= writes;
        written <= wd;
        for (i = 0; i < P; i = i + 1)
          same[i] <= (reads & (target[3*i+:3] == fresh[3*i+:3])) | (~reads & (target[3*i+:3] == old[3*i+:3]));
        if (!rst_n) newer <= 1'b0;
        else newer <= ~reads & (newer | hit);
        if (hit) value <= written;
        if (reads) held <= ra;
      end
      assign rdata = hit ? written : newer ? value : fetched;
    end else begin : plain
      assign rdata = fetched;
    end
  endgenerate
endmodule
