package main_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/sip/siptest"
)

// benchHTTP makes this test binary a Fiber with handlers that only answer: what
// HTTP costs with nothing behind it.
const benchHTTP = "CALLBOARD_BENCH_HTTP"

// answerAsHTTP runs it until its input ends. A query says how long the answer
// is; the body of a request is read.
func answerAsHTTP(port string) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	text := []byte(strings.Repeat("x", 1<<20))
	app.All("/*", func(c *fiber.Ctx) error {
		_ = c.Body()
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(text[:min(c.QueryInt("size"), len(text))])
	})
	go func() {
		if err := app.Listen("127.0.0.1:" + port); err != nil {
			panic(err)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// bareHTTP starts it beside us.
func bareHTTP(b *testing.B) (base string, pid int) {
	b.Helper()
	port := siptest.Port(b)
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), benchHTTP+"="+strconv.Itoa(port)), os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	require.Eventually(b, func() bool {
		conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	return "http://127.0.0.1:" + strconv.Itoa(port), cmd.Process.Pid
}

// order is a request that is sent again and again.
type order struct {
	method, url, key string
	body             func(n int) string // nil: none
}

// sped is what a stream of requests came to.
type sped struct {
	usage
	done   int
	size   int // bytes of one answer
	waited []time.Duration
}

func (s sped) perRequest() time.Duration { return s.cpu / time.Duration(max(s.done, 1)) }

func (s sped) p99() time.Duration {
	slices.Sort(s.waited)
	return s.waited[len(s.waited)*99/100]
}

// hurry sends an order from many clients for a while.
func hurry(b *testing.B, pid, clients int, window time.Duration, o order) sped {
	b.Helper()
	client := &fasthttp.Client{MaxConnsPerHost: clients, ReadTimeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	var wait sync.WaitGroup
	var out sped
	w := startWatch(b, pid)
	end := time.Now().Add(window)
	for i := range clients {
		wait.Go(func() {
			req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
			req.SetRequestURI(o.url)
			req.Header.SetMethod(o.method)
			req.Header.Set("Authorization", "Bearer "+o.key)
			var waited []time.Duration
			size := 0
			for n := i; time.Now().Before(end); n += clients {
				if o.body != nil {
					req.Header.SetContentType("application/json")
					req.SetBodyString(o.body(n))
				}
				from := time.Now()
				if err := client.Do(req, res); err != nil || res.StatusCode() >= 300 {
					b.Errorf("%s %s: %d %s %v", o.method, o.url, res.StatusCode(), res.Body(), err)
					return
				}
				waited = append(waited, time.Since(from))
				size = len(res.Body())
			}
			mu.Lock()
			defer mu.Unlock()
			out.waited, out.size = append(out.waited, waited...), size
		})
	}
	wait.Wait()
	out.usage, out.done = w.stop(), len(out.waited)
	require.NotZero(b, out.done)
	return out
}

// BenchmarkHTTP is what a request costs, beside a bare Fiber handler that
// answers as many bytes.
func BenchmarkHTTP(b *testing.B) {
	s := measured(b)
	id := s.campaign(s.hello(), phones("+1202555", 1), nil)
	s.stop()
	calls := s.oldCalls(*benchContacts)
	s.start()
	base, pid := bareHTTP(b)
	agent := s.hello()
	campaign := func(n int) string {
		return fmt.Sprintf(`{"name":"c%d","agent_id":%q,"caller_id":{"number":"+12025550100"},"contacts":[{"phone":"+12025550123"}]}`, n, agent)
	}
	for _, c := range []struct {
		what, goal string
		times      float64
		clients    int
		order
	}{
		{"GET of a campaign's status", "≤ 1.8 × bare Fiber", 1.8, 16, order{method: "GET", url: "/v1/campaigns/" + id + "/status"}},
		{"POST of a campaign with one contact, commit included", "≤ 5 × bare Fiber", 5, 32, order{method: "POST", url: "/v1/campaigns", body: campaign}},
		{"List of 100 among " + calls + " calls", "", 0, 8, order{method: "GET", url: "/v1/calls?limit=100"}},
	} {
		o := c.order
		o.url, o.key = "http://"+s.http+c.url, s.key
		hurry(b, s.pid(), c.clients, 500*time.Millisecond, o) // warms up
		ours := hurry(b, s.pid(), c.clients, 4*time.Second, o)
		o.url = base + c.url
		separator := "?"
		if strings.Contains(o.url, "?") {
			separator = "&"
		}
		o.url += separator + "size=" + strconv.Itoa(ours.size)
		hurry(b, pid, c.clients, 500*time.Millisecond, o)
		bare := hurry(b, pid, c.clients, 4*time.Second, o)
		times := float64(ours.perRequest()) / float64(bare.perRequest())
		board.add("CPU per "+c.what, c.goal, fmt.Sprintf("%.0f µs, bare %.0f µs, %.1f ×; %.0f requests/s", micros(ours.perRequest()), micros(bare.perRequest()), times,
			float64(ours.done)/ours.elapsed.Seconds()), times <= c.times, &ours.usage)
	}
	many := hurry(b, s.pid(), 500, 4*time.Second, order{method: "GET", url: "http://" + s.http + "/v1/campaigns/" + id + "/status", key: s.key})
	p99 := many.p99()
	board.add("Wait for a status among 500 clients at once", "p99 ≤ 50 ms", fmt.Sprintf("p50 %.0f, p99 %.0f ms at %.0f requests/s", millis(many.waited[len(many.waited)/2]),
		millis(p99), float64(many.done)/many.elapsed.Seconds()), p99 <= 50*time.Millisecond, &many.usage)
	s.kill9()
}

func micros(d time.Duration) float64 { return d.Seconds() * 1e6 }

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }

// oldCalls gives a stopped service the calls of a past and says how many.
func (s *service) oldCalls(n int) string {
	s.t.Helper()
	ctx := context.Background()
	text, err := os.ReadFile(filepath.Join(s.data(), "master.key"))
	require.NoError(s.t, err)
	master, err := hex.DecodeString(strings.TrimSpace(string(text)))
	require.NoError(s.t, err)
	d, err := pebble.Open(filepath.Join(s.data(), "store"), pebble.Options{NoSync: true})
	require.NoError(s.t, err)
	store, err := persistence.NewStore(ctx, d, master, "1|bench")
	require.NoError(s.t, err)
	var ws string
	_, err = store.List(ctx, commit.Query{Kind: "workspace", Index: "all", Limit: 1}, func() domain.Record { return &domain.Workspace{} },
		func(r domain.Record) error { ws = r.Key().ID; return nil })
	require.NoError(s.t, err)
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for from := 0; from < n; from += 500 {
		change := commit.Change{Workspace: ws}
		for i := from; i < min(from+500, n); i++ {
			at := began.Add(time.Duration(i) * time.Second)
			c := &domain.Call{
				Direction: domain.Outbound, From: "+12025550100", To: fmt.Sprintf("+1202555%04d", i%10_000), Status: domain.CallCompleted, Disposition: "completed",
				StartedAt: &at, EndedAt: &at, DurationSeconds: 12,
			}
			made := ulid.ULID{}
			require.NoError(s.t, made.SetTime(ulid.Timestamp(at)))
			c.ID, c.Object, c.WorkspaceID, c.Environment, c.CreatedAt, c.UpdatedAt = "call_"+made.String(), "call", ws, domain.Live, at, at
			change.Puts = append(change.Puts, c)
		}
		_, err = store.Apply(ctx, change)
		require.NoError(s.t, err)
	}
	require.NoError(s.t, d.Close())
	return strconv.Itoa(n)
}
