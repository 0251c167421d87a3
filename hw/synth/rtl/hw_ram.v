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
      // The newest write to the held row since (and with) its request, if there was one.
      reg newer = 1'b0;
      reg [AW-1:0] held = {AW{1'b0}};
      reg [W-1:0] value;
      wire [AW-1:0] row = reads ? ra : held;
      wire hit = writes & (wa == row);
      always @(posedge clk) begin
        if (!rst_n) newer <= 1'b0;
        else if (hit) newer <= 1'b1;
        else if (reads) newer <= 1'b0;
        if (hit) value <= wd;
        if (reads) held <= ra;
      end
      assign rdata = newer ? value : fetched;
    end else begin : plain
      assign rdata = fetched;
    end
  endgenerate
endmodule
