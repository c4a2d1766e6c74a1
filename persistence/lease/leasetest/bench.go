package leasetest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

// Bench says what a driver costs: run it with -benchtime 1x.
func (s Suite) Bench(b *testing.B) {
	b.Helper()
	b.Run("Idle", s.Idle)
	b.Run("Handover", s.Handover)
	b.Run("Kill", s.Kill)
}

// Idle is what a node costs that only keeps its lease, over three of them with
// 300 shards, by the second.
func (s Suite) Idle(b *testing.B) {
	const nodes, shards, watched = 3, 300, 20
	way := newMeter(b, s.Store)
	s.Store = way.url
	var seats []*Seat
	for i := range nodes {
		seats = append(seats, s.Sit(b, fmt.Sprint("n", i), shards, lease.Options{}))
	}
	Settled(b, shards, seats...)
	for b.Loop() {
		time.Sleep(2 * time.Second) // what came with the claims is over
		up, down, calls, cpu := way.up.Load(), way.down.Load(), way.calls.Load(), spent()
		time.Sleep(watched * time.Second)
		per := func(n int64) float64 { return float64(n) / nodes / watched }
		b.ReportMetric(per(way.calls.Load()-calls), "calls/s")
		b.ReportMetric(per(way.up.Load()-up), "B_up/s")
		b.ReportMetric(per(way.down.Load()-down), "B_down/s")
		b.ReportMetric(per((spent() - cpu).Microseconds()), "µs_cpu/s")
	}
}

// Handover is from the release of a shard until another node, which heard of
// it, has claimed it.
func (s Suite) Handover(b *testing.B) {
	const rounds, gather = 100, 10 * time.Millisecond
	heard := make(chan struct{}, 1)
	changed := func() {
		select {
		case heard <- struct{}{}:
		default:
		}
	}
	one, two := s.engine(b, lease.Options{}), s.engine(b, lease.Options{})
	for i, e := range []lease.Engine{one, two} {
		if err := e.Join(b.Context(), lease.Node{ID: fmt.Sprint("n", i)}, []func(){func() {}, changed}[i]); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = e.Leave(context.Background()) })
	}
	var took []time.Duration
	for b.Loop() {
		for range rounds {
			token := claim(b, one, 0)[0]
			Eventually(b, "the other sees the claim", func() bool { return owner(two, 0) == "n0" })
			time.Sleep(5 * gather) // for itself, not one of many
			begun := time.Now()
			if err := one.Release(b.Context(), 0, token); err != nil {
				b.Fatal(err)
			}
			for owner(two, 0) != "" {
				<-heard
			}
			token = claim(b, two, 0)[0]
			took = append(took, time.Since(begun))
			if err := two.Release(b.Context(), 0, token); err != nil {
				b.Fatal(err)
			}
			Eventually(b, "it is free", func() bool { return owner(one, 0) == "" })
		}
	}
	report(b, took)
}

// Kill is from kill -9 of a node until another one uses all its shards.
func (s Suite) Kill(b *testing.B) {
	const rounds, shards = 9, 300
	s.Short = lease.DefaultLease
	seat := s.Sit(b, "parent", shards, lease.Options{})
	var took []time.Duration
	for b.Loop() {
		for i := range rounds {
			c := s.Child(b, fmt.Sprint("child", i), shards)
			c.beside(seat, shards)
			time.Sleep(2*lease.DefaultLease + time.Duration(i)*73*time.Millisecond) // at any time between two renewals
			begun := time.Now()
			c.Signal(syscall.SIGKILL)
			Settled(b, shards, seat)
			took = append(took, time.Since(begun))
		}
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms_p50")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms_max")
	b.ReportMetric(0, "ns/op")
}

func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// meter is a way to a store that counts what goes by.
type meter struct {
	url             string
	up, down, calls atomic.Int64
}

func newMeter(b *testing.B, store string) *meter {
	b.Helper()
	u, err := url.Parse(store)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	m := &meter{}
	target := u.Host
	u.Host = l.Addr().String()
	m.url = u.String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", target)
			if err != nil {
				_ = c.Close()
				continue
			}
			go m.carry(s, c, &m.up, &m.calls)
			go m.carry(c, s, &m.down, &atomic.Int64{})
		}
	}()
	return m
}

func (m *meter) carry(to, from net.Conn, bytes, reads *atomic.Int64) {
	defer func() { _ = to.Close(); _ = from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		bytes.Add(int64(n))
		reads.Add(1)
		if err != nil {
			return
		}
		if _, err = to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
