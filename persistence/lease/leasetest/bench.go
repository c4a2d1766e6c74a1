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

// Bench measures the costs of a lease engine: idle, at a hand-over, and after a kill. Run it with -benchtime 1x.
func (s Suite) Bench(b *testing.B) {
	b.Helper()
	b.Run("Idle", s.BenchIdle)
	b.Run("Handover", s.BenchHandover)
	b.Run("Kill", s.BenchKill)
}

// BenchIdle measures the requests, bytes and CPU time per second of a node that only renews its lease. Three nodes own
// 300 shards.
func (s Suite) BenchIdle(b *testing.B) {
	const nodes, shards, watched = 3, 300, 20
	proxy := newMeter(b, s.Store)
	s.Store = proxy.url
	var holders []*TestHolder
	for i := range nodes {
		holders = append(holders, s.JoinHolder(b, fmt.Sprint("n", i), shards, lease.Options{}))
	}
	WaitUntilShared(b, shards, holders...)
	for b.Loop() {
		time.Sleep(2 * time.Second) // wait until the traffic of the claims is over
		up, down, calls, cpu := proxy.bytesUp.Load(), proxy.bytesDown.Load(), proxy.calls.Load(), cpuTime()
		time.Sleep(watched * time.Second)
		per := func(n int64) float64 { return float64(n) / nodes / watched }
		b.ReportMetric(per(proxy.calls.Load()-calls), "calls/s")
		b.ReportMetric(per(proxy.bytesUp.Load()-up), "B_up/s")
		b.ReportMetric(per(proxy.bytesDown.Load()-down), "B_down/s")
		b.ReportMetric(per((cpuTime() - cpu).Microseconds()), "µs_cpu/s")
	}
}

// BenchHandover measures the time from the release of a shard until another node has noticed it and claimed the
// shard.
func (s Suite) BenchHandover(b *testing.B) {
	const rounds, gather = 100, 10 * time.Millisecond
	noticed := make(chan struct{}, 1)
	changed := func() {
		select {
		case noticed <- struct{}{}:
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
	var durations []time.Duration
	for b.Loop() {
		for range rounds {
			token := claim(b, one, 0)[0]
			Eventually(b, "the other sees the claim", func() bool { return owner(two, 0) == "n0" })
			time.Sleep(5 * gather) // so that the release is not one of many changes
			begun := time.Now()
			if err := one.Release(b.Context(), 0, token); err != nil {
				b.Fatal(err)
			}
			for owner(two, 0) != "" {
				<-noticed
			}
			token = claim(b, two, 0)[0]
			durations = append(durations, time.Since(begun))
			if err := two.Release(b.Context(), 0, token); err != nil {
				b.Fatal(err)
			}
			Eventually(b, "it is free", func() bool { return owner(one, 0) == "" })
		}
	}
	report(b, durations)
}

// BenchKill measures the time from the kill -9 of a node until another node may use all shards of the killed node.
func (s Suite) BenchKill(b *testing.B) {
	const rounds, shards = 9, 300
	s.ShortLease = lease.DefaultLease
	holder := s.JoinHolder(b, "parent", shards, lease.Options{})
	var durations []time.Duration
	for b.Loop() {
		for i := range rounds {
			c := s.StartChild(b, fmt.Sprint("child", i), shards)
			c.waitUntilShared(holder, shards)
			time.Sleep(2*lease.DefaultLease + time.Duration(i)*73*time.Millisecond) // at a varying time between two renewals
			begun := time.Now()
			c.Signal(syscall.SIGKILL)
			WaitUntilShared(b, shards, holder)
			durations = append(durations, time.Since(begun))
		}
	}
	report(b, durations)
}

func report(b *testing.B, durations []time.Duration) {
	b.Helper()
	slices.Sort(durations)
	b.ReportMetric(float64(durations[len(durations)/2].Microseconds())/1000, "ms_p50")
	b.ReportMetric(float64(durations[len(durations)-1].Microseconds())/1000, "ms_max")
	b.ReportMetric(0, "ns/op")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// trafficMeter is a TCP proxy to a store that counts bytes and requests.
type trafficMeter struct {
	url                       string
	bytesUp, bytesDown, calls atomic.Int64
}

func newMeter(b *testing.B, store string) *trafficMeter {
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
	m := &trafficMeter{}
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
			go m.forward(s, c, &m.bytesUp, &m.calls)
			go m.forward(c, s, &m.bytesDown, &atomic.Int64{})
		}
	}()
	return m
}

func (m *trafficMeter) forward(to, from net.Conn, bytes, reads *atomic.Int64) {
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
