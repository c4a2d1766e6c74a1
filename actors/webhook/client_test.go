package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	domainwebhook "github.com/callboard/callboard/domain/webhook"
)

// receiver is an HTTPS server on loopback. The path of a request selects how it behaves.
type receiver struct {
	*httptest.Server
	mu              sync.Mutex
	requests        map[string]int            // by path
	eventCounts     map[string]map[string]int // by path and event ID
	badSignatures   int                       // number of wrong signatures
	hangUntilClosed chan struct{}
}

const (
	plainSecret   = "whsec_bar_secret_0123456789abcdef"
	clientTimeout = 3 * time.Second // timeout of the client in these tests
)

var standardSecret = domainwebhook.NewSecret([32]byte{7})

func newReceiver(t testing.TB, http2 bool) *receiver {
	t.Helper()
	r := &receiver{requests: make(map[string]int), eventCounts: make(map[string]map[string]int), hangUntilClosed: make(chan struct{})}
	r.Server = httptest.NewUnstartedServer(r)
	r.EnableHTTP2 = http2
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	t.Cleanup(func() { close(r.hangUntilClosed); r.Close() })
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var ev struct{ ID string }
	_ = json.Unmarshal(body, &ev)
	r.mu.Lock()
	r.requests[req.URL.Path]++
	if r.eventCounts[req.URL.Path] == nil {
		r.eventCounts[req.URL.Path] = make(map[string]int)
	}
	r.eventCounts[req.URL.Path][ev.ID]++
	if !hasValidSignature(req.Header, body) {
		r.badSignatures++
	}
	r.mu.Unlock()
	switch req.URL.Path {
	case "/redirect":
		http.Redirect(w, req, "/ok", http.StatusTemporaryRedirect)
	case "/hang":
		<-r.hangUntilClosed
	case "/slow":
		time.Sleep(50 * time.Millisecond)
	case "/reset":
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := c.(*tls.Conn).NetConn().(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = c.Close()
			return
		}
		panic(http.ErrAbortHandler)
	case "/slow-body":
		w.WriteHeader(http.StatusOK)
		for {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-req.Context().Done():
				return
			case <-r.hangUntilClosed:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	case "/huge-body":
		for range 10_000 {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	case "/huge-headers":
		for i := range 1000 {
			w.Header().Set("X-Filler-"+strconv.Itoa(i), strings.Repeat("x", 100))
		}
	default:
		if code, err := strconv.Atoi(strings.TrimPrefix(req.URL.Path, "/")); err == nil {
			w.WriteHeader(code)
		}
	}
}

// hasValidSignature verifies the signature headers of a request, as the documentation tells receivers to do.
func hasValidSignature(h http.Header, body []byte) bool {
	secret := plainSecret
	if id := h.Get("webhook-id"); id != "" {
		secret = standardSecret
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return false
		}
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, h.Get("webhook-timestamp"), body)
		if h.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			return false
		}
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return h.Get("X-Svc-Signature") == "sha256="+hex.EncodeToString(mac.Sum(nil))
}

func loopback(testing.TB) access.Egress {
	return access.Egress{Allow: []access.EgressRule{{Network: netip.MustParsePrefix("127.0.0.0/8")}}}
}

func (r *receiver) client(t *testing.T, egress access.Egress) *webhook.Client {
	t.Helper()
	return r.clientWithTimeout(t, egress, clientTimeout)
}

func (r *receiver) clientWithTimeout(t testing.TB, egress access.Egress, timeout time.Duration) *webhook.Client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	c := webhook.NewClient(webhook.WithIdleTimeout(webhook.ClientConfig{Egress: egress, RootCAs: pool, Timeout: timeout}, time.Hour))
	t.Cleanup(c.Close)
	return c
}

func sendEvent(t *testing.T, c *webhook.Client, url string) webhook.SendResult {
	t.Helper()
	body := []byte(`{"id":"evt_1"}`)
	a := domainwebhook.SignedRequest{EventID: "evt_1", Number: 1, First: time.Now(), At: time.Now(), Secret: standardSecret}
	return c.Send(t.Context(), webhook.Request{URL: url, Header: a.SignedHeaders(body), Body: body})
}

func TestSendResultsByServerBehavior(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		r := newReceiver(t, http2)
		var wg sync.WaitGroup
		for path, want := range map[string]webhook.SendResult{
			"/ok":           {Status: 200},
			"/204":          {Status: 204},
			"/404":          {Status: 404, Error: "the endpoint answered 404"},
			"/503":          {Status: 503, Error: "the endpoint answered 503"},
			"/redirect":     {Status: 307, Error: "the endpoint answered 307"},
			"/hang":         {Error: "no answer within 3s"},
			"/reset":        {Error: "the connection broke before an answer"},
			"/slow-body":    {Status: 200},
			"/huge-body":    {Status: 200},
			"/huge-headers": {Error: "the headers of the answer are too large"},
		} {
			wg.Go(func() {
				client := r.clientWithTimeout(t, loopback(t), time.Minute)
				if path == "/hang" { // the other behaviors are not limited by time
					client = r.client(t, loopback(t))
				}
				start := time.Now()
				got := sendEvent(t, client, r.URL+path)
				assert.Less(t, time.Since(start), time.Minute, path)
				got.Duration = 0
				if path == "/huge-headers" && http2 { // the request fails with one of two errors
					got.Error, want.Error = "", ""
				}
				assert.Equal(t, want, got, "%s, HTTP/2: %v", path, http2)
			})
		}
		wg.Wait()
		r.mu.Lock()
		assert.Zero(t, r.badSignatures)
		assert.Equal(t, 1, r.requests["/ok"], "the redirect was followed")
		assert.Equal(t, 1, r.requests["/reset"])
		r.mu.Unlock()
	}
}

func TestSendErrorsOfFailedConnections(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, false)
	untrusting := webhook.NewClient(webhook.ClientConfig{Egress: loopback(t), Timeout: time.Minute})
	assert.Equal(t, "the certificate is not valid for this host or not trusted", sendEvent(t, untrusting, r.URL).Error)
	c := r.clientWithTimeout(t, loopback(t), time.Minute)
	gone, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	assert.Equal(t, "the connection was refused", sendEvent(t, c, "https://"+gone.Addr().String()).Error)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	assert.Equal(t, "no TLS connection could be made", sendEvent(t, c, strings.Replace(plain.URL, "http:", "https:", 1)).Error)
	assert.Equal(t, "the URL is not valid", sendEvent(t, c, plain.URL).Error)
	old := httptest.NewUnstartedServer(r)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.StartTLS()
	defer old.Close()
	assert.Equal(t, "no TLS connection could be made", sendEvent(t, c, old.URL).Error)
}

// fakeResolver is a DNS server whose answers a test can change.
type fakeResolver struct {
	mu      sync.Mutex
	answers map[string]string
}

func (n *fakeResolver) setAddress(host, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[host] = to
}

func (n *fakeResolver) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go n.serve(far)
		return near, nil
	}}
}

// serve answers the DNS queries that arrive over a TCP connection.
func (n *fakeResolver) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	conn := &dns.Conn{Conn: c}
	for {
		query, err := conn.ReadMsg()
		if err != nil {
			return
		}
		reply := new(dns.Msg).SetReply(query)
		reply.Authoritative = true
		q := query.Question[0]
		if addr, ok := n.answer(strings.TrimSuffix(q.Name, "."), q.Qtype); ok {
			h := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: q.Qclass}
			if addr.Is4() {
				reply.Answer = append(reply.Answer, &dns.A{Hdr: h, A: addr.AsSlice()})
			} else {
				reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: h, AAAA: addr.AsSlice()})
			}
		}
		if err = conn.WriteMsg(reply); err != nil {
			return
		}
	}
}

func (n *fakeResolver) answer(host string, qtype uint16) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text, known := n.answers[host]
	if !known {
		return netip.Addr{}, false
	}
	addr := netip.MustParseAddr(text)
	if addr.Is4() != (qtype == dns.TypeA) {
		return netip.Addr{}, false
	}
	return addr, true
}

func TestDNSRebindingToPrivateAddressIsNotDialed(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, false)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	for _, inner := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::1", "fe80::1"} {
		resolver := &fakeResolver{answers: map[string]string{"rebind.example": "93.184.216.34"}}
		c := webhook.NewClient(webhook.ClientConfig{Egress: access.Egress{Ports: []int{number}}, Resolver: resolver.resolver(), Timeout: time.Minute})
		url := "https://rebind.example:" + port + "/ok"
		require.NoError(t, c.CheckURL(t.Context(), url), "the first answer is public")
		resolver.setAddress("rebind.example", inner)
		got := sendEvent(t, c, url)
		assert.Equal(t, []any{0, "this address may not be reached from here"}, []any{got.Status, got.Error}, inner)
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(c.CheckURL(t.Context(), url)), inner)
	}
	assert.Empty(t, r.requests)
}

func TestCheckURLResolvesHostName(t *testing.T) {
	t.Parallel()
	resolver := &fakeResolver{answers: map[string]string{"inner.example": "10.0.0.1", "outer.example": "93.184.216.34"}}
	c := webhook.NewClient(webhook.ClientConfig{Resolver: resolver.resolver()})
	require.NoError(t, c.CheckURL(t.Context(), "https://outer.example/hook"))
	for _, url := range []string{"https://inner.example/", "https://nowhere.example/", "http://outer.example/", "https://127.0.0.1/"} {
		assert.Equal(t, domain.CodeInvalidURL, domain.CodeOf(c.CheckURL(t.Context(), url)), url)
	}
}

// endpointSet runs several endpoint actors of one workspace that share a client, as in the service.
type endpointSet struct {
	store *webhooktest.Store
	sys   *actor.ActorSystem
	pids  []*actor.PID
}

func newEndpointSet(t testing.TB, c *webhook.Client, events int, urls ...string) *endpointSet {
	t.Helper()
	f := &endpointSet{store: webhooktest.NewStore(), sys: mailbox.NewSystem(slog.New(slog.DiscardHandler))}
	var change commit.Change
	for i := range events {
		change.Events = append(change.Events, event.Draft{ID: fmt.Sprintf("evt_%04d", i), Type: event.CallEnded, CreatedAt: time.Now(), WorkspaceID: workspace, Subject: fmt.Sprint("call_", i%20), Data: map[string]int{"n": i}})
	}
	committed, err := f.store.Apply(t.Context(), change)
	require.NoError(t, err)
	for n, url := range urls {
		w := &domain.Webhook{Meta: domain.Meta{ID: fmt.Sprint("wh_", n), WorkspaceID: workspace}, URL: url, Secret: []string{plainSecret, standardSecret}[n%2], Status: domain.WebhookActive}
		rows := []domain.Record{w}
		for _, e := range committed {
			rows = append(rows, &domain.Delivery{
				ID: fmt.Sprintf("dlv_%06d", e.Offset), WorkspaceID: workspace, WebhookID: w.ID, EventID: e.ID, EventType: string(e.Type),
				EventOffset: e.Offset, Subject: e.Subject, State: domain.DeliveryQueued, CreatedAt: time.Now(),
			})
		}
		_, err = f.store.Apply(t.Context(), commit.Change{Puts: rows})
		require.NoError(t, err)
	}
	for n := range urls {
		f.pids = append(f.pids, f.sys.Root.Spawn(mailbox.Props(webhook.New(webhook.Config{
			Workspace: workspace, ID: fmt.Sprint("wh_", n), Store: f.store, Sender: c, Log: slog.New(slog.DiscardHandler),
		}), 20)))
	}
	t.Cleanup(func() {
		for _, pid := range f.pids {
			assert.NoError(t, f.sys.Root.PoisonFuture(pid).Wait())
		}
		f.sys.Shutdown()
	})
	return f
}

func (f *endpointSet) stateCounts(n int) map[domain.DeliveryState]int {
	got := make(map[domain.DeliveryState]int)
	for _, d := range f.store.DeliveryRows(fmt.Sprint("wh_", n)) {
		got[d.State]++
	}
	return got
}

func TestDeliveryStatesByServerBehavior(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, false)
	const events = 24
	paths := map[string]domain.DeliveryState{
		"/ok": domain.DeliveryDelivered, "/204": domain.DeliveryDelivered, "/huge-body": domain.DeliveryDelivered,
		"/404": domain.DeliveryFailed, "/redirect": domain.DeliveryFailed,
		"/503": domain.DeliveryRetrying, "/reset": domain.DeliveryRetrying, "/huge-headers": domain.DeliveryRetrying,
	}
	var urls, order []string
	for path := range paths {
		order = append(order, path)
		urls = append(urls, r.URL+path)
	}
	f := newEndpointSet(t, r.clientWithTimeout(t, loopback(t), time.Minute), events, urls...)
	for n, path := range order {
		want := map[domain.DeliveryState]int{paths[path]: events}
		require.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, f.stateCounts(n)) }, time.Minute, 50*time.Millisecond,
			"%s: %v", path, f.stateCounts(n))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Zero(t, r.badSignatures)
	for path := range paths {
		assert.Equal(t, events, r.requests[path], path)
		assert.Len(t, r.eventCounts[path], events, path)
	}
}

func TestHangingEndpointDoesNotDelayHealthyEndpoint(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, true)
	const events = 300
	start := time.Now()
	f := newEndpointSet(t, r.clientWithTimeout(t, loopback(t), time.Minute), events, r.URL+"/hang", r.URL+"/ok", r.URL+"/hang?2", r.URL+"/hang?3")
	want := map[domain.DeliveryState]int{domain.DeliveryDelivered: events}
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, f.stateCounts(1)) }, time.Minute, 50*time.Millisecond)
	t.Logf("%d events beside hanging endpoints: %s", events, time.Since(start))
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.Equal(t, events, r.requests["/ok"])
	assert.LessOrEqual(t, r.requests["/hang"], 3*16)
}

func TestInvalidResponsesDoNotBreakConnectionsOfOtherEndpoints(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, true)
	const events = 60
	f := newEndpointSet(t, r.clientWithTimeout(t, loopback(t), time.Minute), events, r.URL+"/huge-headers", r.URL+"/slow", r.URL+"/reset")
	want := map[domain.DeliveryState]int{domain.DeliveryDelivered: events}
	require.Eventually(t, func() bool { return assert.ObjectsAreEqual(want, f.stateCounts(1)) }, time.Minute, 50*time.Millisecond)
	for id, d := range f.store.DeliveryRows("wh_1") {
		assert.Equal(t, 1, d.Attempts, id)
	}
}

// BenchmarkDeliveries measures how many events per second one endpoint gets over HTTPS on loopback, including the commit
// of the results.
func BenchmarkDeliveries(b *testing.B) {
	r := newReceiver(b, true)
	b.ResetTimer()
	f := newEndpointSet(b, r.clientWithTimeout(b, loopback(b), time.Minute), b.N, r.URL+"/ok")
	for f.stateCounts(0)[domain.DeliveryDelivered] < b.N {
		time.Sleep(20 * time.Millisecond)
	}
}
