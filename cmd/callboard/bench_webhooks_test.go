package main_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/callboard/callboard/sip/siptest"
)

// benchEvents is the number of deliveries that measureQueue queues.
var benchEvents = flag.Int("bench-events", 1_000_000, "deliveries that are queued") //nolint:gochecknoglobals // a flag

// benchPostEnv is an environment variable. If it is set, the test binary sends HTTP requests in a bare loop, with which
// the service is compared. The value is the path of a file with a postJob.
const benchPostEnv = "CALLBOARD_BENCH_POST"

// postJob describes the requests that the bare loop sends: N requests to each URL. Each URL has its own connections and
// Workers concurrent requests.
type postJob struct {
	URLs    []string
	CA      []byte // PEM
	Header  http.Header
	Body    []byte
	N       int
	Workers int
}

// runBarePoster reads a postJob from a file. For each line of its input it sends all requests over new connections, and
// then prints a line.
func runBarePoster(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	var p postJob
	if err = json.Unmarshal(text, &p); err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA)
	clients := make([]*http.Client, len(p.URLs))
	for i := range clients {
		clients[i] = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: p.Workers}}
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var wg sync.WaitGroup
		for i, url := range p.URLs {
			var next atomic.Int64
			for range p.Workers {
				wg.Go(func() {
					for next.Add(1) <= int64(p.N) {
						p.post(clients[i], url)
					}
				})
			}
		}
		wg.Wait()
		for _, c := range clients {
			c.CloseIdleConnections()
		}
		fmt.Println("done")
	}
}

func (p *postJob) post(c *http.Client, url string) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(p.Body))
	if err != nil {
		panic(err)
	}
	for name, values := range p.Header {
		req.Header.Set(name, values[0])
	}
	res, err := c.Do(req)
	if err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
}

// measureBarePoster runs the bare loop in a child process, after a warm-up. It returns the CPU time per request.
func (p *postJob) measureBarePoster(b *testing.B) time.Duration {
	b.Helper()
	text, err := json.Marshal(p)
	require.NoError(b, err)
	path := filepath.Join(b.TempDir(), "posting")
	require.NoError(b, os.WriteFile(path, text, 0o600))
	alone := exec.Command(os.Args[0])
	alone.Env = append(os.Environ(), benchPostEnv+"="+path)
	alone.Stderr = os.Stderr
	in, err := alone.StdinPipe()
	require.NoError(b, err)
	out, err := alone.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, alone.Start())
	output := bufio.NewScanner(out)
	once := func() {
		_, err := io.WriteString(in, "go\n")
		require.NoError(b, err)
		require.True(b, output.Scan())
	}
	once()
	w := startStopwatch(b, alone.Process.Pid)
	once()
	u := w.stop()
	_ = in.Close()
	_ = alone.Wait()
	return u.cpu / time.Duration(p.N*len(p.URLs))
}

// countingReceiver is a webhook receiver that counts requests. Between startMeasuring and latencies it records the delay
// of each event.
type countingReceiver struct {
	server *httptest.Server
	got    atomic.Int64
	last   atomic.Int64 // Unix time in nanoseconds
	first  chan struct{}
	hangs  atomic.Bool // whether paths that end in 0 hang

	mu       sync.Mutex
	header   http.Header
	body     []byte
	lateness []time.Duration // delays since created_at; nil: not measuring
	end      chan struct{}
}

func newCountingReceiver(b *testing.B) *countingReceiver {
	b.Helper()
	k := &countingReceiver{first: make(chan struct{}), end: make(chan struct{})}
	var once sync.Once
	k.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if k.hangs.Load() && strings.HasSuffix(r.URL.Path, "0") {
			select {
			case <-k.end:
			case <-r.Context().Done():
			}
			return
		}
		now := time.Now()
		k.got.Add(1)
		k.last.Store(now.UnixNano())
		once.Do(func() {
			k.mu.Lock()
			k.header, k.body = r.Header, body
			k.mu.Unlock()
			close(k.first)
		})
		k.note(now, body)
		w.WriteHeader(http.StatusNoContent)
	}))
	k.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	k.server.StartTLS()
	b.Cleanup(func() { close(k.end); k.server.Close() })
	return k
}

func (k *countingReceiver) note(now time.Time, body []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lateness == nil {
		return
	}
	var e struct {
		CreatedAt time.Time `json:"created_at"`
	}
	if json.Unmarshal(body, &e) == nil {
		k.lateness = append(k.lateness, now.Sub(e.CreatedAt))
	}
}

// startMeasuring begins to record the delays of events. The method latencies returns the delays.
func (k *countingReceiver) startMeasuring() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lateness = make([]time.Duration, 0, 1<<16)
}

func (k *countingReceiver) latencies() (n int, p50, p99 time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	late := k.lateness
	k.lateness = nil
	slices.Sort(late)
	if n = len(late); n == 0 {
		return 0, 0, 0
	}
	return n, late[n/2], late[n*99/100]
}

// BenchmarkWebhooks measures the cost and the delay of webhook deliveries.
func BenchmarkWebhooks(b *testing.B) {
	benchResults.addRowOnFailure(b)
	b.Run("one", func(b *testing.B) { measureDeliveries(b, 1, 40000) })
	b.Run("thousand", func(b *testing.B) { measureDeliveries(b, 1000, 60) })
	b.Run("latency", measureLatency)
	b.Run("million", measureQueue)
}

// measureDeliveries measures the delivery of events to several endpoints, until the last result is stored. It compares
// the CPU time with that of a bare loop that sends the same requests.
func measureDeliveries(b *testing.B, endpoints, events int) {
	b.Helper()
	far := newCountingReceiver(b)
	s := prepareService(b, "CALLBOARD_LOG_LEVEL=warn")
	s.start()
	s.removeLimits()
	p := postJob{CA: s.receiver.pem, N: 20000, Workers: 16}
	for i := range endpoints {
		p.URLs = append(p.URLs, far.server.URL+"/"+strconv.Itoa(i))
		s.createWebhook(p.URLs[i], nil, "call.ended")
	}
	if endpoints > 1 {
		p.N, p.Workers = events, 1
	}
	s.kill9()
	s.insertEvents(events, max(events/4, 1))
	s.startProcess()
	<-far.first
	w, before, began := startStopwatch(b, s.pid()), far.got.Load(), time.Now()
	s.await("all deliveries", 5*time.Minute, func() bool { return far.got.Load() >= int64(endpoints*events) })
	u := w.stop()
	n := far.got.Load() - before
	rate := float64(n) / time.Unix(0, far.last.Load()).Sub(began).Seconds()
	each := u.cpu / time.Duration(n)
	rss := peakMemory(b, s.pid())
	s.kill9()
	p.Header, p.Body = far.header, far.body
	floor := p.measureBarePoster(b)
	times := float64(each) / float64(floor)
	what := "one endpoint"
	if endpoints > 1 {
		what = fmt.Sprintf("%d endpoints", endpoints)
	}
	benchResults.add("Webhook deliveries over TLS, "+what+", from the log to the stored result, beside a bare loop over net/http", "≤ 2 ×",
		fmt.Sprintf("%.0f µs of CPU, %.1f × (%.0f µs); %.0f a second, %.0f MB at most", microseconds(each), times, microseconds(floor), rate, rss/mb), times <= 2, &u)
}

func microseconds(d time.Duration) float64 { return d.Seconds() * 1e6 }

// Rates of events per second in the measurement of delays. changeRate is lower, because the changes of the agents of one
// workspace are sequential.
const (
	createRate = 500
	changeRate = 200
)

// makeEvents sends API requests at a rate for the duration window. Each request causes an event.
func (s *service) makeEvents(b *testing.B, rate int, window time.Duration, order func(n int) (method, path, body string)) {
	b.Helper()
	far := &fasthttp.HostClient{Addr: s.http, MaxConns: 32, ReadTimeout: 30 * time.Second, MaxIdemponentCallAttempts: 1}
	defer far.CloseIdleConnections()
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for range 32 {
		wg.Go(func() {
			for !b.Failed() {
				n := int(next.Add(1)) - 1
				at := time.Duration(n) * time.Second / time.Duration(rate)
				if at > window {
					return
				}
				time.Sleep(at - time.Since(began))
				method, path, body := order(n)
				req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
				req.SetRequestURI("http://" + s.http + path)
				req.Header.SetMethod(method)
				req.Header.Set("Authorization", "Bearer "+s.key)
				req.Header.SetContentType("application/json")
				req.SetBodyString(body)
				if err := far.Do(req, res); err != nil || res.StatusCode() > 299 {
					b.Errorf("%s %s: %d %s %v", method, path, res.StatusCode(), res.Body(), err)
				}
				fasthttp.ReleaseRequest(req)
				fasthttp.ReleaseResponse(res)
			}
		})
	}
	wg.Wait()
}

// measureLatency measures the delay of events in three situations: one endpoint, a thousand endpoints with one agent
// each, and the same endpoints while a hundred of them hang.
func measureLatency(b *testing.B) {
	far := newCountingReceiver(b)
	s := prepareService(b, "CALLBOARD_LOG_LEVEL=error")
	s.start()
	s.removeLimits()
	s.createTrunkForAllNumbers(siptest.Port(b))
	agent := s.createMuteAgent()
	pathway := s.api("GET", "/v1/agents/"+agent, nil)["pathway_id"]
	measure := func(rate int, window time.Duration, order func(int) (method, path, body string)) (n int, p50, p99 time.Duration, u usage) {
		s.makeEvents(b, rate, 5*time.Second, order) // warm-up
		far.startMeasuring()
		w := startStopwatch(b, s.pid())
		s.makeEvents(b, rate, window, order)
		u = w.stop()
		n, p50, p99 = far.latencies()
		require.Positive(b, n)
		return n, p50, p99, u
	}
	s.createWebhook(far.server.URL+"/one", nil, "campaign.created")
	campaign := `{"name":"one","agent_id":"` + agent + `","caller_id":{"number":"+12025550100"},"contacts":[{"phone":"+12025550123"}]}`
	n, p50, p99, u := measure(createRate, 8*time.Second, func(int) (string, string, string) { return http.MethodPost, "/v1/campaigns", campaign })
	benchResults.add(fmt.Sprintf("From before the commit to the receiver, %d events a second, one endpoint, %d events", createRate, n), "p50 ≤ 10, p99 ≤ 50 ms",
		fmt.Sprintf("p50 %.1f, p99 %.1f ms", milliseconds(p50), milliseconds(p99)), p50 <= 10*time.Millisecond && p99 <= 50*time.Millisecond, &u)
	agents := make([]string, 1000)
	for i := range agents {
		agents[i] = s.api("POST", "/v1/agents", object{"name": "a" + strconv.Itoa(i), "pathway_id": pathway})["id"].(string)
		s.createWebhook(far.server.URL+"/"+strconv.Itoa(i), object{"agent_ids": agents[i : i+1]}, "agent.updated")
	}
	change := func(n int) (string, string, string) {
		return http.MethodPatch, "/v1/agents/" + agents[n%len(agents)], `{"metadata":{"at":"` + strconv.FormatInt(time.Now().UnixNano(), 10) + `"}}`
	}
	n, calm50, calm99, u := measure(changeRate, 15*time.Second, change)
	benchResults.add(fmt.Sprintf("The same, %d events a second, each to one of 1000 endpoints, %d events", changeRate, n), "",
		fmt.Sprintf("p50 %.1f, p99 %.1f ms", milliseconds(calm50), milliseconds(calm99)), false, &u)
	far.hangs.Store(true)
	n, p50, p99, u = measure(changeRate, 35*time.Second, change)
	times := max(float64(p50)/float64(calm50), float64(p99)/float64(calm99))
	benchResults.add(fmt.Sprintf("The other 900 while 100 of these hang for 30 s, %d events", n), "≤ 1.5 ×",
		fmt.Sprintf("p50 %.1f, p99 %.1f ms: %.2f × and %.2f ×", milliseconds(p50), milliseconds(p99), float64(p50)/float64(calm50), float64(p99)/float64(calm99)), times <= 1.5, &u)
	s.kill9()
}

// measureQueue queues deliveries for a paused endpoint, and measures the queueing, a restart and the delivery.
func measureQueue(b *testing.B) {
	n := *benchEvents
	far := newCountingReceiver(b)
	s := prepareService(b, "CALLBOARD_LOG_LEVEL=warn")
	s.start()
	s.removeLimits()
	id := s.createWebhook(far.server.URL+"/one", nil, "call.ended")
	s.api("POST", "/v1/webhooks/"+id+"/pause", nil)
	last := s.createWebhook(far.server.URL+"/last", nil, "agent.updated")
	idle := residentMemory(b, s.pid())
	agent := s.createMuteAgent()
	s.kill9()
	s.insertEvents(n, n/4)
	s.startProcess()
	s.await("readiness", time.Minute, func() bool { return s.readyStatus() == http.StatusOK })
	w := startStopwatch(b, s.pid())
	s.api("PATCH", "/v1/agents/"+agent, object{"name": "behind all"}) // queued after all others, so its event marks the end
	<-far.first
	u := w.stop()
	rss := peakMemory(b, s.pid())
	benchResults.add(fmt.Sprintf("%d events queued for an endpoint", n), "",
		fmt.Sprintf("%.0f a second, %.0f µs of CPU each", float64(n)/u.elapsed.Seconds(), microseconds(u.cpu)/float64(n)), false, &u)
	s.api("POST", "/v1/webhooks/"+last+"/pause", nil)
	far.hangs.Store(true)
	s.api("POST", "/v1/webhooks/"+id+"/resume", nil)
	s.kill9()
	far.hangs.Store(false)
	before := far.got.Load()
	began := time.Now()
	s.startProcess()
	s.await("the first delivery", time.Minute, func() bool { return far.got.Load() > before })
	took := time.Since(began)
	benchResults.add(fmt.Sprintf("After kill -9 to the first delivery, %d queued", n), "≤ 3 s", fmt.Sprintf("%.2f s", took.Seconds()), took <= 3*time.Second, nil)
	w = startStopwatch(b, s.pid())
	from := far.got.Load()
	time.Sleep(5 * time.Second)
	u = w.stop()
	sent := far.got.Load() - from
	rss = max(rss, peakMemory(b, s.pid()))
	benchResults.add(fmt.Sprintf("Memory with %d queued, at most", n), "", fmt.Sprintf("%.0f MB, %.0f MB above idle", rss/mb, (rss-idle)/mb), false, nil)
	benchResults.add("Deliveries per second while these go out", "", fmt.Sprintf("%.0f, %.0f µs of CPU each", float64(sent)/5, microseconds(u.cpu)/float64(sent)), false, &u)
	s.kill9()
}
