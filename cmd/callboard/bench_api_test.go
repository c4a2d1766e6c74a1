package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/sip/siptest"
)

// benchCalls is the number of stored calls for the measurement of lists. To store 10 million calls takes some minutes
// and 10 GB.
var benchCalls = flag.Int("bench-calls", 1_000_000, "stored calls that are listed") //nolint:gochecknoglobals // a flag

// benchHTTP is an environment variable. If it is set, the test binary runs as a bare Fiber HTTP server without any
// logic, with which the service is compared.
const benchHTTP = "CALLBOARD_BENCH_HTTP"

// bareCampaign is the request body that the bare HTTP server decodes.
type bareCampaign struct {
	Name     string           `json:"name"`
	AgentID  string           `json:"agent_id"`
	Contacts []map[string]any `json:"contacts"`
}

// runBareHTTPServer runs the bare HTTP server until its standard input ends. The server responds with the JSON texts
// that clients have stored under /texts/.
func runBareHTTPServer(addr string) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	var texts sync.Map
	app.Put("/texts/:name", func(c *fiber.Ctx) error {
		var v any
		if err := json.Unmarshal(c.Body(), &v); err != nil {
			return err
		}
		texts.Store(c.Params("name"), v)
		return c.SendStatus(http.StatusNoContent)
	})
	app.Get("/get/:name", func(c *fiber.Ctx) error {
		v, _ := texts.Load(c.Params("name"))
		return c.JSON(v)
	})
	app.Post("/post/:name", func(c *fiber.Ctx) error {
		var in bareCampaign
		if err := c.BodyParser(&in); err != nil || in.Name == "" || len(in.Contacts) != 1 {
			return c.SendStatus(http.StatusUnprocessableEntity)
		}
		v, _ := texts.Load(c.Params("name"))
		return c.Status(http.StatusCreated).JSON(v)
	})
	go func() {
		if err := app.Listen(addr); err != nil {
			panic(err)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// apiLoad is an HTTP request that a benchmark sends repeatedly, and the status that the response must have.
type apiLoad struct {
	base, method, path, key string
	body                    []byte
	status                  int
}

// apiLoadResult contains the response times and the CPU time of an apiLoad.
type apiLoadResult struct {
	usage
	n     int
	p50   time.Duration
	p99   time.Duration
	max   time.Duration
	times []time.Duration // sorted
}

func (a apiLoadResult) cpuPerRequest() float64 { return a.cpu.Seconds() * 1e6 / float64(a.n) } // µs of processor time a request

func (a apiLoadResult) rate() float64 { return float64(a.n) / a.elapsed.Seconds() }

// sendRequests sends the request repeatedly for the duration window, from several clients with one connection each. It
// measures the response times and the CPU time of the process pid.
func (a apiLoad) sendRequests(b *testing.B, pid, clients int, window time.Duration) apiLoadResult {
	b.Helper()
	far := &fasthttp.HostClient{Addr: a.base, MaxConns: clients, ReadTimeout: 30 * time.Second, MaxIdemponentCallAttempts: 1}
	defer far.CloseIdleConnections()
	times := make([][]time.Duration, clients)
	var failed atomic.Int64
	var wg sync.WaitGroup
	w := startStopwatch(b, pid)
	end := time.Now().Add(window)
	for i := range clients {
		wg.Go(func() {
			req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
			req.SetRequestURI("http://" + a.base + a.path)
			req.Header.SetMethod(a.method)
			req.Header.Set("Authorization", "Bearer "+a.key)
			if a.body != nil {
				req.Header.SetContentType("application/json")
				req.SetBodyRaw(a.body)
			}
			for time.Now().Before(end) {
				from := time.Now()
				if err := far.Do(req, res); err != nil || res.StatusCode() != a.status {
					if failed.Add(1) == 1 {
						b.Errorf("%s %s: %d %.300s %v", a.method, a.path, res.StatusCode(), res.Body(), err)
					}
					return
				}
				times[i] = append(times[i], time.Since(from))
			}
		})
	}
	wg.Wait()
	out := apiLoadResult{usage: w.stop(), times: slices.Concat(times...)}
	require.NotEmpty(b, out.times)
	out.sortTimes()
	return out
}

func (a *apiLoadResult) sortTimes() {
	slices.Sort(a.times)
	a.n = len(a.times)
	a.p50, a.p99, a.max = a.times[a.n/2], a.times[a.n*99/100], a.times[a.n-1]
}

// startBareServer starts the bare HTTP server in a child process and stores the texts with which it responds.
func startBareServer(b *testing.B, texts map[string]any) (addr string, pid int) {
	b.Helper()
	addr = "127.0.0.1:" + strconv.Itoa(siptest.Port(b))
	alone := exec.Command(os.Args[0])
	alone.Env = append(os.Environ(), benchHTTP+"="+addr)
	alone.Stderr = os.Stderr
	in, err := alone.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, alone.Start())
	b.Cleanup(func() { _ = in.Close(); _ = alone.Wait() })
	for name, v := range texts {
		text, err := json.Marshal(v)
		require.NoError(b, err)
		require.Eventually(b, func() bool {
			req, err := http.NewRequest(http.MethodPut, "http://"+addr+"/texts/"+name, bytes.NewReader(text))
			if err != nil {
				return false
			}
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				_ = res.Body.Close()
			}
			return err == nil && res.StatusCode == http.StatusNoContent
		}, 10*time.Second, 10*time.Millisecond)
	}
	return addr, alone.Process.Pid
}

// BenchmarkAPI compares the CPU time of API requests with that of a bare HTTP server that sends the same responses.
func BenchmarkAPI(b *testing.B) {
	benchResults.addRowOnFailure(b)
	const clients, window = 64, 4 * time.Second
	s := prepareService(b, "CALLBOARD_LOG_LEVEL=warn")
	s.start()
	s.kill9()
	filled, per := s.fillCalls(b, *benchCalls)
	s.start()
	s.api("PATCH", "/v1/workspace", object{"plan": "enterprise", "limits": object{
		"requests_per_minute": 10_000_000, "concurrent_inbound": 1000, "concurrent_outbound": 1000, "calls_per_minute": 100_000,
	}})
	agent := s.createMuteAgent()
	s.createTrunkForAllNumbers(startSIPp(b, "uas-instant").port)
	campaign := object{
		"name": "one", "agent_id": agent, "caller_id": object{"number": "+12025550100"},
		"contacts": []object{{"phone": "+12025550123", "context": object{"notes": strings.Repeat("A note. ", 210)}}},
	}
	body, err := json.Marshal(campaign)
	require.NoError(b, err)
	created := s.api("POST", "/v1/campaigns", campaign)
	calling := s.startCampaign(agent, phoneNumbers("+1202556", 9000), object{"pacing": object{"calls_per_minute": 1200, "max_concurrent": 100}})
	s.await("the first call of the campaign", time.Minute, func() bool { st, ok := s.campaignStatus(calling); return ok && st.Progress.Attempted > 20 })
	status := "/v1/campaigns/" + calling + "/status"
	const list = "/v1/calls?limit=100"
	addr, pid := startBareServer(b, map[string]any{"status": s.api("GET", status, nil), "made": created, "list": s.api("GET", list, nil)})

	for _, c := range []struct {
		what       string
		rate       float64       // minimum, requests per second
		p99        time.Duration // maximum; 0: no limit
		ours, bare apiLoad
		rows       func() commit.Change // the rows that the request commits; nil: none
	}{
		{
			"GET of the status of a campaign that makes 20 calls a second", 2000, 50 * time.Millisecond,
			apiLoad{method: http.MethodGet, path: status, status: 200},
			apiLoad{method: http.MethodGet, path: "/get/status", status: 200},
			nil,
		},
		{
			"POST of a campaign with one contact and 2 kB, committed", 700, 0,
			apiLoad{method: http.MethodPost, path: "/v1/campaigns", body: body, status: 201},
			apiLoad{method: http.MethodPost, path: "/post/made", body: body, status: 201},
			campaignRows(b, created),
		},
		{
			fmt.Sprintf("List of 100 among %d calls", filled), 0, 0,
			apiLoad{method: http.MethodGet, path: list, status: 200},
			apiLoad{method: http.MethodGet, path: "/get/list", status: 200},
			nil,
		},
	} {
		c.ours.base, c.ours.key, c.bare.base = s.http, s.key, addr
		c.ours.sendRequests(b, s.pid(), clients, time.Second) // warm-up
		c.bare.sendRequests(b, pid, clients, time.Second)
		floor := c.bare.sendRequests(b, pid, clients, window/2)
		u := c.ours.sendRequests(b, s.pid(), clients, window)
		goal := ""
		if c.rate > 0 {
			goal = fmt.Sprintf("≥ %.0f a second", c.rate)
		}
		if c.p99 > 0 {
			goal += fmt.Sprintf(", p99 ≤ %.0f ms", milliseconds(c.p99))
		}
		benchResults.add(fmt.Sprintf("%s, %d connections", c.what, clients), goal,
			fmt.Sprintf("%.0f a second, p99 %.1f ms; %.0f µs of CPU, %.1f × a bare handler (%.0f µs)", u.rate(), milliseconds(u.p99), u.cpuPerRequest(), u.cpuPerRequest()/floor.cpuPerRequest(), floor.cpuPerRequest()),
			u.rate() >= c.rate && (c.p99 == 0 || u.p99 <= c.p99), &u.usage)
		if c.rows != nil {
			store := openEmptyStore(b)
			commitRows(b, store, clients, time.Second, c.rows) // warm-up
			rows := commitRows(b, store, clients, window, c.rows)
			benchResults.add("The rows of this commit alone, compared with the same bare handler", "",
				fmt.Sprintf("%.0f µs of CPU, %.1f × (%.0f µs); %.0f a second", rows.cpuPerRequest(), rows.cpuPerRequest()/floor.cpuPerRequest(), floor.cpuPerRequest(), rows.rate()), false, &rows.usage)
		}
	}
	s.measurePages(b, filled, per)
	crowd := apiLoad{base: s.http, key: s.key, method: http.MethodGet, path: status, status: 200}.sendRequests(b, s.pid(), 500, window)
	benchResults.add(fmt.Sprintf("GET of its status by 500 clients at once, %d calls stored", filled), "p99 ≤ 50 ms",
		fmt.Sprintf("p99 %.0f ms, most %.0f ms, %.0f a second", milliseconds(crowd.p99), milliseconds(crowd.max), crowd.rate()), crowd.p99 <= 50*time.Millisecond, &crowd.usage)
	st, _ := s.campaignStatus(calling)
	require.Equal(b, "running", st.Status, "the campaign runs until the end of the measurement")
	s.kill9()
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// measurePages measures requests for pages at the beginning, in the middle and near the end of the list of calls.
func (s *service) measurePages(b *testing.B, filled int, per time.Duration) {
	b.Helper()
	first := apiLoad{base: s.http, key: s.key, method: http.MethodGet, status: 200}
	least, most := time.Hour, time.Duration(0)
	for _, part := range []int{0, 50, 99} {
		first.path = "/v1/calls?limit=100"
		if part > 0 { // from the newest to the oldest
			first.path += "&created_before=" + firstCallTime.Add(time.Duration(filled*(100-part)/100)*per).Format("2006-01-02T15:04:05.000Z")
		}
		u := first.sendRequests(b, s.pid(), 1, time.Second)
		each := u.elapsed / time.Duration(u.n)
		least, most = min(least, each), max(most, each)
	}
	benchResults.add(fmt.Sprintf("Page of 100 at the beginning, the middle and the end of %d calls", filled), "flat",
		fmt.Sprintf("%.1f to %.1f ms", milliseconds(least), milliseconds(most)), most <= 2*least, nil)
}

// firstCallTime is the creation time of the oldest call that fillCalls inserts.
var firstCallTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// fillCalls inserts n past calls into the store of a stopped service. per is the time between two calls.
func (s *service) fillCalls(b *testing.B, n int) (filled int, per time.Duration) {
	b.Helper()
	const batch = 1000
	per = time.Second
	d, store, ws := s.openStore()
	began := time.Now()
	agent := mailbox.NewID(domain.PrefixAgent)
	campaign := mailbox.NewID(domain.PrefixCampaign)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !b.Failed() {
				from := int(next.Add(batch)) - batch
				if from >= n {
					return
				}
				change := commit.Change{Workspace: ws}
				for i := from; i < min(from+batch, n); i++ {
					change.Puts = append(change.Puts, pastCall(ws, agent, campaign, i, firstCallTime.Add(time.Duration(i)*per)))
				}
				if _, err := store.Apply(context.Background(), change); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.False(b, b.Failed())
	require.NoError(b, d.Close())
	b.Logf("%d calls stored in %.0f s", n, time.Since(began).Seconds())
	return n, per
}

func pastCall(ws, agent, campaign string, n int, at time.Time) *domain.Call {
	answered, ended := at.Add(3*time.Second), at.Add(40*time.Second)
	c := &domain.Call{
		Direction: domain.Outbound, From: "+12025550100", To: fmt.Sprintf("+1%d", 2012000000+n*7), AgentID: agent, CampaignID: campaign,
		Status: domain.CallCompleted, Disposition: "completed", EndedBy: "agent", Attempt: 1, StartedAt: &at, AnsweredAt: &answered, EndedAt: &ended,
		DurationSeconds: 37, Legs: []domain.Leg{{TrunkID: "trunk_01J00000000000000000000000", Code: 200}},
	}
	c.ID, c.Object, c.WorkspaceID, c.Environment, c.CreatedAt, c.UpdatedAt = callID(at, n), "call", ws, domain.Live, at, ended
	return c
}

// callID returns the id of the n-th call, which was created at the given time.
func callID(at time.Time, n int) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(at)) // fails only after the year 10889
	for i := range 8 {
		u[15-i] = byte(n >> (8 * i))
	}
	return string(domain.PrefixCall) + "_" + u.String()
}
