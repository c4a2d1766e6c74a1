package leasetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// Crowd is what a hundred nodes with 1,024 shards ask of a store: while nothing
// happens, when one of them goes, and when one comes. spent is the processor
// time that the store has taken so far.
func (s Suite) Crowd(b *testing.B, spent func() time.Duration) {
	b.Helper()
	const nodes, shards, watched = 100, 1024, 20
	way := newMeter(b, s.Store)
	s.Store = way.url
	var seats []*Seat
	for i := range nodes {
		seats = append(seats, s.Sit(b, fmt.Sprint("n", i), shards, lease.Options{}))
		time.Sleep(200 * time.Millisecond) // a hundred at once would all look at each other at once, in one process
	}
	Settled(b, shards, seats...)
	for b.Loop() {
		time.Sleep(4 * time.Second) // what came with the claims is over
		up, down, calls, cpu := way.up.Load(), way.down.Load(), way.calls.Load(), spent()
		time.Sleep(watched * time.Second)
		b.ReportMetric(float64(way.calls.Load()-calls)/watched, "calls/s")
		b.ReportMetric(float64(way.up.Load()-up)/watched, "B_up/s")
		b.ReportMetric(float64(way.down.Load()-down)/watched, "B_down/s")
		b.ReportMetric(float64((spent()-cpu).Microseconds())/watched, "µs_store/s")

		change := func(name string, of func()) {
			calls, down, cpu, begun := way.calls.Load(), way.down.Load(), spent(), time.Now()
			of()
			took := time.Since(begun)
			time.Sleep(2*time.Second - took%(2*time.Second)) // what the others hear of it
			beats := nodes * 1.6 * time.Since(begun).Seconds()
			b.ReportMetric(took.Seconds(), "s_"+name)
			b.ReportMetric(float64(way.calls.Load()-calls)-beats, "calls_"+name)
			b.ReportMetric(float64(way.down.Load()-down), "B_down_"+name)
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
			Settled(b, shards, seats...)
		})
		change("come", func() {
			seats = append(seats, s.Sit(b, "late", shards, lease.Options{}))
			Settled(b, shards, seats...)
		})
	}
	b.ReportMetric(0, "ns/op")
}
