package leasetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// BenchHundredNodes measures the load that a hundred nodes with 1,024 shards cause in a store: while nothing changes,
// when a node leaves, and when a node joins. usedCPU returns the CPU time that the store has used so far.
func (s Suite) BenchHundredNodes(b *testing.B, usedCPU func() time.Duration) {
	b.Helper()
	const nodes, shards, watched = 100, 1024, 20
	proxy := newMeter(b, s.Store)
	s.Store = proxy.url
	var holders []*TestHolder
	for i := range nodes {
		holders = append(holders, s.JoinHolder(b, fmt.Sprint("n", i), shards, lease.Options{}))
		time.Sleep(200 * time.Millisecond) // a hundred nodes that join at once would all read each other's changes in this one process
	}
	WaitUntilShared(b, shards, holders...)
	for b.Loop() {
		time.Sleep(4 * time.Second) // wait until the traffic of the claims is over
		up, down, calls, cpu := proxy.bytesUp.Load(), proxy.bytesDown.Load(), proxy.calls.Load(), usedCPU()
		time.Sleep(watched * time.Second)
		b.ReportMetric(float64(proxy.calls.Load()-calls)/watched, "calls/s")
		b.ReportMetric(float64(proxy.bytesUp.Load()-up)/watched, "B_up/s")
		b.ReportMetric(float64(proxy.bytesDown.Load()-down)/watched, "B_down/s")
		b.ReportMetric(float64((usedCPU()-cpu).Microseconds())/watched, "µs_store/s")

		change := func(name string, of func()) {
			calls, down, cpu, begun := proxy.calls.Load(), proxy.bytesDown.Load(), usedCPU(), time.Now()
			of()
			duration := time.Since(begun)
			time.Sleep(2*time.Second - duration%(2*time.Second)) // wait until the other nodes have read the change
			beats := nodes * 1.6 * time.Since(begun).Seconds()
			b.ReportMetric(duration.Seconds(), "s_"+name)
			b.ReportMetric(float64(proxy.calls.Load()-calls)-beats, "calls_"+name)
			b.ReportMetric(float64(proxy.bytesDown.Load()-down), "B_down_"+name)
			b.ReportMetric(float64((usedCPU() - cpu).Microseconds()), "µs_store_"+name)
		}
		change("leave", func() {
			gone := holders[0]
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			defer cancel()
			if err := gone.Leave(ctx); err != nil {
				b.Fatal(err)
			}
			holders = holders[1:]
			WaitUntilShared(b, shards, holders...)
		})
		change("come", func() {
			holders = append(holders, s.JoinHolder(b, "late", shards, lease.Options{}))
			WaitUntilShared(b, shards, holders...)
		})
	}
	b.ReportMetric(0, "ns/op")
}
