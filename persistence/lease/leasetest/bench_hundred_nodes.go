package leasetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// BenchHundredNodes measures the load of a hundred nodes with 1,024 shards on a store: while nothing changes, when
// a node leaves, and when a node joins. spent returns the CPU time that the store has used so far.
func (s Suite) BenchHundredNodes(b *testing.B, spent func() time.Duration) {
	b.Helper()
	const nodes, shards, watched = 100, 1024, 20
	way := newMeter(b, s.Store)
	s.Store = way.url
	var seats []*TestHolder
	for i := range nodes {
		seats = append(seats, s.JoinHolder(b, fmt.Sprint("n", i), shards, lease.Options{}))
		time.Sleep(200 * time.Millisecond) // a hundred nodes that join at once would all read each other's changes in this one process
	}
	WaitUntilShared(b, shards, seats...)
	for b.Loop() {
		time.Sleep(4 * time.Second) // wait until the traffic of the claims is over
		up, down, calls, cpu := way.bytesUp.Load(), way.bytesDown.Load(), way.calls.Load(), spent()
		time.Sleep(watched * time.Second)
		b.ReportMetric(float64(way.calls.Load()-calls)/watched, "calls/s")
		b.ReportMetric(float64(way.bytesUp.Load()-up)/watched, "B_up/s")
		b.ReportMetric(float64(way.bytesDown.Load()-down)/watched, "B_down/s")
		b.ReportMetric(float64((spent()-cpu).Microseconds())/watched, "µs_store/s")

		change := func(name string, of func()) {
			calls, down, cpu, begun := way.calls.Load(), way.bytesDown.Load(), spent(), time.Now()
			of()
			took := time.Since(begun)
			time.Sleep(2*time.Second - took%(2*time.Second)) // wait until the other nodes have read the change
			beats := nodes * 1.6 * time.Since(begun).Seconds()
			b.ReportMetric(took.Seconds(), "s_"+name)
			b.ReportMetric(float64(way.calls.Load()-calls)-beats, "calls_"+name)
			b.ReportMetric(float64(way.bytesDown.Load()-down), "B_down_"+name)
			b.ReportMetric(float64((spent() - cpu).Microseconds()), "µs_store_"+name)
		}
		change("leave", func() {
			gone := seats[0]
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			defer cancel()
			if err := gone.Leave(ctx); err != nil {
				b.Fatal(err)
			}
			seats = seats[1:]
			WaitUntilShared(b, shards, seats...)
		})
		change("come", func() {
			seats = append(seats, s.JoinHolder(b, "late", shards, lease.Options{}))
			WaitUntilShared(b, shards, seats...)
		})
	}
	b.ReportMetric(0, "ns/op")
}
