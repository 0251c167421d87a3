// Rule 2 of the stage contract: a stream of CAP tokens of W bits behind a stage of depth DEPTH.
// KIND numbers hw::Kind: 0 reg (CAP <= 2), 1 lutram, 2 bram, 3 bram_fast, 4 uram. Their latency is 0, 0, 2, 1, 3: a
// token pushed in cycle c can be popped in cycle c + DEPTH + latency. wready counts tokens in flight too; a slot freed in c is free in c + 1.
// In reset, push and pop are ignored and the stream becomes empty.
module hw_fifo #(
  parameter W = 8,
  parameter CAP = 2,
  parameter DEPTH = 1,
  parameter KIND = 0
) (
  input wire clk,
  input wire rst_n,
  input wire push,
  input wire [W-1:0] wdata,
  output wire wready,
  input wire pop,
  output wire [W-1:0] rdata,
  output wire rvalid
);
  localparam DELAY = DEPTH - 1 + (KIND == 4 ? 1 : 0);
  wire pushed = push & rst_n;
  wire popped = pop & rst_n;

  wire full;
  hw_fifo_count #(.MAX(CAP)) credits (.clk(clk), .rst_n(rst_n), .up(pushed), .down(popped), .full(full), .any());
  assign wready = ~full;

  wire arrives;
  wire [W-1:0] token;
  hw_fifo_delay #(.W(W), .N(DELAY)) delay (
    .clk(clk), .rst_n(rst_n), .in_valid(pushed), .in(wdata), .out_valid(arrives), .out(token));

  generate
    if (KIND == 0) begin : store
      hw_fifo_reg #(.W(W)) body (
        .clk(clk), .rst_n(rst_n), .push(arrives), .wdata(token), .pop(popped), .rdata(rdata), .rvalid(rvalid));
    end else if (KIND == 1) begin : store
      hw_fifo_lutram #(.W(W), .CAP(CAP)) body (
        .clk(clk), .rst_n(rst_n), .push(arrives), .wdata(token), .pop(popped), .rdata(rdata), .rvalid(rvalid));
    end else if (KIND == 3) begin : store
      hw_fifo_fast #(.W(W), .CAP(CAP)) body (
        .clk(clk), .rst_n(rst_n), .push(arrives), .wdata(token), .pop(popped), .rdata(rdata), .rvalid(rvalid));
    end else begin : store
      hw_fifo_block #(.W(W), .CAP(CAP), .URAM(KIND == 4 ? 1 : 0)) body (
        .clk(clk), .rst_n(rst_n), .push(arrives), .wdata(token), .pop(popped), .rdata(rdata), .rvalid(rvalid));
    end
  endgenerate
endmodule

// A number from 0 to MAX that goes up and down.
module hw_fifo_count #(
  parameter MAX = 2
) (
  input wire clk,
  input wire rst_n,
  input wire up,
  input wire down,
  output wire full,
  output wire any
);
  localparam B = $clog2(MAX + 1);
  reg [B-1:0] n = {B{1'b0}};
  localparam [B-1:0] ONE = 1;
  always @(posedge clk)
    if (!rst_n) n <= {B{1'b0}};
    else if (up & ~down) n <= n + ONE;
    else if (down & ~up) n <= n - ONE;
  assign full = {{(32 - B){1'b0}}, n} == MAX;
  assign any = n != {B{1'b0}};
endmodule

// A row number that steps through 0 .. N-1; `next` is its value after this cycle.
module hw_fifo_pointer #(
  parameter N = 2,
  parameter B = 1
) (
  input wire clk,
  input wire rst_n,
  input wire step,
  output reg [B-1:0] at = {B{1'b0}},
  output wire [B-1:0] next
);
  localparam [B-1:0] ONE = 1;
  assign next = !step ? at : {{(32 - B){1'b0}}, at} == N - 1 ? {B{1'b0}} : at + ONE;
  always @(posedge clk) at <= rst_n ? next : {B{1'b0}};
endmodule

// N registers that never stall: the depth of the writer.
module hw_fifo_delay #(
  parameter W = 8,
  parameter N = 0
) (
  input wire clk,
  input wire rst_n,
  input wire in_valid,
  input wire [W-1:0] in,
  output wire out_valid,
  output wire [W-1:0] out
);
  generate
    if (N == 0) begin : none
      assign out_valid = in_valid;
      assign out = in;
    end else begin : chain
      reg [N-1:0] valid = {N{1'b0}};
      reg [W-1:0] data [0:N-1];
      integer i;
      always @(posedge clk) begin
        valid[0] <= in_valid;
        data[0] <= in;
        for (i = 1; i < N; i = i + 1) begin
          valid[i] <= valid[i-1] & rst_n;
          data[i] <= data[i-1];
        end
      end
      assign out_valid = valid[N-1] & rst_n;
      assign out = data[N-1];
    end
  endgenerate
endmodule

// Two registers, the head always in the first.
module hw_fifo_reg #(
  parameter W = 8
) (
  input wire clk,
  input wire rst_n,
  input wire push,
  input wire [W-1:0] wdata,
  input wire pop,
  output wire [W-1:0] rdata,
  output wire rvalid
);
  reg [W-1:0] head, second;
  reg has_head = 1'b0, has_second = 1'b0;
  wire to_head = push & (~has_head | (pop & ~has_second));
  always @(posedge clk) begin
    if (to_head) head <= wdata;
    else if (pop) head <= second;
    if (push) second <= wdata;
    has_head <= rst_n & (push | has_second | (has_head & ~pop));
    has_second <= rst_n & ((push & ~to_head) | (has_second & ~pop));
  end
  assign rdata = head;
  assign rvalid = has_head;
endmodule

// Distributed RAM, read in the cycle itself.
module hw_fifo_lutram #(
  parameter W = 8,
  parameter CAP = 2
) (
  input wire clk,
  input wire rst_n,
  input wire push,
  input wire [W-1:0] wdata,
  input wire pop,
  output wire [W-1:0] rdata,
  output wire rvalid
);
  localparam B = CAP > 1 ? $clog2(CAP) : 1;
  (* ram_style = "distributed" *) reg [W-1:0] rows [0:CAP-1];
  wire [B-1:0] wp, rp;
  hw_fifo_pointer #(.N(CAP), .B(B)) write_at (.clk(clk), .rst_n(rst_n), .step(push), .at(wp), .next());
  hw_fifo_pointer #(.N(CAP), .B(B)) read_at (.clk(clk), .rst_n(rst_n), .step(pop), .at(rp), .next());
  hw_fifo_count #(.MAX(CAP)) stored (.clk(clk), .rst_n(rst_n), .up(push), .down(pop), .full(), .any(rvalid));
  always @(posedge clk) if (push) rows[wp] <= wdata;
  assign rdata = rows[rp];
endmodule

// Block RAM whose address looks ahead over this cycle's pop: one cycle, at the price of a path from pop to the RAM.
module hw_fifo_fast #(
  parameter W = 8,
  parameter CAP = 2
) (
  input wire clk,
  input wire rst_n,
  input wire push,
  input wire [W-1:0] wdata,
  input wire pop,
  output wire [W-1:0] rdata,
  output wire rvalid
);
  localparam B = CAP > 1 ? $clog2(CAP) : 1;
  localparam C = $clog2(CAP + 1);
  localparam [C-1:0] ONE = 1;
  (* ram_style = "block" *) reg [W-1:0] rows [0:CAP-1];
  reg [W-1:0] q;
  reg valid = 1'b0;
  reg [C-1:0] stored = {C{1'b0}};
  wire [C-1:0] kept = pop ? stored - ONE : stored;
  wire [B-1:0] wp, next;
  hw_fifo_pointer #(.N(CAP), .B(B)) write_at (.clk(clk), .rst_n(rst_n), .step(push), .at(wp), .next());
  hw_fifo_pointer #(.N(CAP), .B(B)) read_at (.clk(clk), .rst_n(rst_n), .step(pop), .at(), .next(next));
  always @(posedge clk) begin
    if (push) rows[wp] <= wdata;
    q <= rows[next];
    valid <= rst_n & (kept != {C{1'b0}});
    stored <= !rst_n ? {C{1'b0}} : push ? kept + ONE : kept;
  end
  assign rdata = q;
  assign rvalid = valid;
endmodule

// Block or ultra RAM with a prefetch of three tokens: no path from pop to the RAM.
module hw_fifo_block #(
  parameter W = 8,
  parameter CAP = 2,
  parameter URAM = 0
) (
  input wire clk,
  input wire rst_n,
  input wire push,
  input wire [W-1:0] wdata,
  input wire pop,
  output wire [W-1:0] rdata,
  output wire rvalid
);
  localparam B = CAP > 1 ? $clog2(CAP) : 1;
  wire [B-1:0] wp, rp;
  wire waiting;
  reg fetching = 1'b0;
  reg [1:0] ahead = 2'd0;  // tokens in the prefetch registers
  wire fetch = waiting & ({1'b0, ahead} + {2'b0, fetching} < 3'd3);
  hw_fifo_pointer #(.N(CAP), .B(B)) write_at (.clk(clk), .rst_n(rst_n), .step(push), .at(wp), .next());
  hw_fifo_pointer #(.N(CAP), .B(B)) read_at (.clk(clk), .rst_n(rst_n), .step(fetch), .at(rp), .next());
  hw_fifo_count #(.MAX(CAP)) stored (.clk(clk), .rst_n(rst_n), .up(push), .down(fetch), .full(), .any(waiting));

  reg [W-1:0] q;
  generate
    if (URAM != 0) begin : ram
      (* ram_style = "ultra" *) reg [W-1:0] rows [0:CAP-1];
      always @(posedge clk) begin
        if (push) rows[wp] <= wdata;
        if (fetch) q <= rows[rp];
      end
    end else begin : ram
      (* ram_style = "block" *) reg [W-1:0] rows [0:CAP-1];
      always @(posedge clk) begin
        if (push) rows[wp] <= wdata;
        if (fetch) q <= rows[rp];
      end
    end
  endgenerate

  reg [W-1:0] first, second, third;
  wire [1:0] left = pop ? ahead - 2'd1 : ahead;
  always @(posedge clk) begin
    fetching <= rst_n & fetch;
    ahead <= !rst_n ? 2'd0 : fetching ? left + 2'd1 : left;
    if (pop) begin
      first <= second;
      second <= third;
    end
    if (fetching)
      case (left)
        2'd0: first <= q;
        2'd1: second <= q;
        default: third <= q;
      endcase
  end
  assign rdata = first;
  assign rvalid = ahead != 2'd0;
endmodule
