package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi"
)

// followedEvents reads an event stream as a client.
type followedEvents struct {
	*http.Response
	t     *testing.T
	lines *bufio.Reader
	leave func()
}

// follow opens an event stream. headers are pairs of names and values.
func (d *testServer) follow(query, key string, headers ...string) *followedEvents {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	d.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.addr+query, http.NoBody)
	require.NoError(d.t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := d.client.Do(req)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = res.Body.Close() })
	return &followedEvents{Response: res, t: d.t, lines: bufio.NewReader(res.Body), leave: cancel}
}

// nextBlock returns the lines of the next event or heartbeat, which an empty line ends.
func (f *followedEvents) nextBlock() (string, error) {
	var block strings.Builder
	for {
		line, err := f.lines.ReadString('\n')
		if err != nil || line == "\n" {
			return block.String(), err
		}
		block.WriteString(line)
	}
}

// ids reads the ids of n events and skips heartbeats.
func (f *followedEvents) ids(n int) []string {
	f.t.Helper()
	var ids []string
	for len(ids) < n {
		block, err := f.nextBlock()
		require.NoError(f.t, err)
		if id, _, ok := strings.Cut(strings.TrimPrefix(block, "id: "), "\n"); ok && strings.HasPrefix(block, "id: ") {
			ids = append(ids, id)
		}
	}
	return ids
}

// end reads until the server ends the stream, and returns the text that it has read.
func (f *followedEvents) end() string {
	f.t.Helper()
	rest, err := io.ReadAll(f.lines)
	require.NoError(f.t, err, "the stream ends without an error")
	return string(rest)
}

const streamPath = "/v1/events/stream"

func eventIDs(from, to int) []string {
	var ids []string
	for n := from; n <= to; n++ {
		ids = append(ids, "evt_"+ulidOf(n))
	}
	return ids
}

func TestEventStreamSendsEventsInOrder(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.eventStream.keepOpen()
	d.eventStream.commit(oneEvent(1), oneEvent(2))
	f := d.follow(streamPath, "operator")
	assert.Equal(t, []any{200, "text/event-stream", "no-store", "no"}, []any{f.StatusCode, f.Header.Get("Content-Type"), f.Header.Get("Cache-Control"), f.Header.Get("X-Accel-Buffering")})
	block, err := f.nextBlock()
	require.NoError(t, err)
	assert.Equal(t, "retry: 2000\n", block)
	block, err = f.nextBlock()
	require.NoError(t, err)
	assert.Equal(t, "id: evt_"+ulidOf(1)+"\ndata: "+string(d.must(200, "GET", "/v1/events/evt_"+ulidOf(1), "operator", nil).Body), block, "the stream has the event as GET /v1/events returns it")
	assert.Equal(t, eventIDs(2, 2), f.ids(1))
	many := make([]event.Event, 0, 250)
	for n := 3; n <= 252; n++ {
		many = append(many, oneEvent(n))
	}
	d.eventStream.commit(many...)
	assert.Equal(t, eventIDs(3, 252), f.ids(250))
}

func TestEventStreamStartsAfterLastEventID(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.eventStream.keepOpen()
	for query, want := range map[string]string{
		"": "", "?after=evt_" + ulidOf(3): "evt_" + ulidOf(3), "?after=now": "now", "?type=call.*": "",
	} {
		d.follow(streamPath+query, "operator")
		_, after := d.eventStream.progress()
		assert.Equal(t, want, after, query)
	}
	d.follow(streamPath+"?after=evt_"+ulidOf(3), "operator", "Last-Event-ID", "evt_"+ulidOf(5))
	_, after := d.eventStream.progress()
	assert.Equal(t, "evt_"+ulidOf(5), after, "a reconnecting browser repeats the query of its first request")
	assert.Equal(t, "cursor_expired", d.must(410, "GET", streamPath, "operator", nil, "Last-Event-ID", "evt_"+ulidOf(9)).failure(t)["code"])
	for _, bad := range []string{"?after=x", "?after=call_" + ulidOf(1), "?type=call.eaten"} {
		assert.Equal(t, "validation_error", d.must(422, "GET", streamPath+bad, "operator", nil).failure(t)["code"], bad)
	}
}

func TestEventStreamContainsOnlyReadableEvents(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.eventStream.keepOpen()
	d.keys["calls and analytics"] = domain.Principal{KeyID: "k", WorkspaceID: d.workspace.ID, Permissions: []domain.Permission{domain.AnalyticsRead, domain.CallsRead}}
	other, result := oneEvent(2), oneEvent(4)
	other.Type, result.Type = event.AppointmentCreated, event.CampaignCallCompleted
	all, calls, some := d.follow(streamPath, "operator"), d.follow(streamPath, "calls and analytics"), d.follow(streamPath+"?type=appointment.*", "operator")
	results := d.follow(streamPath, "analytics:read")
	d.eventStream.commit(oneEvent(1), other, oneEvent(3), result)
	assert.Equal(t, eventIDs(1, 3), all.ids(3))
	assert.Equal(t, eventIDs(4, 4), results.ids(1), "only events of campaign results")
	assert.Equal(t, []string{eventIDs(1, 1)[0], eventIDs(3, 3)[0]}, calls.ids(2))
	assert.Equal(t, eventIDs(2, 2), some.ids(1))
}

func TestEventStreamWithoutReadableEventsSendsHeartbeatsOnly(t *testing.T) {
	d := startServer(t, httpapi.Config{Heartbeat: 20 * time.Millisecond})
	d.eventStream.keepOpen()
	f := d.follow(streamPath+"?type=call.*", "analytics:read")
	require.Equal(t, http.StatusOK, f.StatusCode)
	_, err := f.nextBlock() // the line with retry
	require.NoError(t, err)
	block, err := f.nextBlock()
	require.NoError(t, err)
	assert.Equal(t, ": still here\n", block)
	assert.Empty(t, d.must(200, "GET", "/v1/events?type=call.*", "analytics:read", nil).json(t)["data"])
}

func TestIdleEventStreamSendsHeartbeats(t *testing.T) {
	d := startServer(t, httpapi.Config{Heartbeat: 20 * time.Millisecond})
	d.eventStream.keepOpen()
	f := d.follow(streamPath, "operator")
	for _, want := range []string{"retry: 2000\n", ": still here\n", ": still here\n"} {
		block, err := f.nextBlock()
		require.NoError(t, err)
		assert.Equal(t, want, block)
	}
}

func TestEventStreamEndsWhenCredentialIsRevoked(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.eventStream.keepOpen()
	one, two := d.follow(streamPath, "all"), d.follow(streamPath, "operator")
	d.eventStream.commit(oneEvent(1))
	assert.Equal(t, eventIDs(1, 1), one.ids(1))
	d.revoke("all")
	d.eventStream.commit(oneEvent(2))
	assert.Empty(t, one.end(), "a revoked key gets no events")
	assert.Equal(t, eventIDs(1, 2), two.ids(2))
	silent := d.follow(streamPath+"?type=appointment.*", "*:read")
	d.revoke("*:read")
	assert.Equal(t, "retry: 2000\n\n", silent.end(), "the workspace has no events")
}

func TestTicketOpensEventStreamOnce(t *testing.T) {
	d := startServer(t, httpapi.Config{PublicURL: "https://calls.example.com"})
	d.eventStream.keepOpen()
	d.workspace.AllowedOrigins = []string{page}
	buy := func() string {
		at, ok := strings.CutPrefix(d.must(201, "POST", "/v1/tickets", "operator", m{"path": streamPath + "?type=call.*"}).json(t)["url"].(string), "https://calls.example.com")
		require.True(t, ok)
		return at
	}
	at := buy()
	f := d.follow(at, "", "Origin", page)
	assert.Equal(t, []any{200, page}, []any{f.StatusCode, f.Header.Get("Access-Control-Allow-Origin")})
	d.eventStream.commit(oneEvent(1))
	assert.Equal(t, eventIDs(1, 1), f.ids(1))
	assert.Equal(t, "invalid_ticket", d.must(401, "GET", at, "", nil, "Origin", page).failure(t)["code"], "once")
	assert.Empty(t, d.follow(buy(), "", "Origin", "https://evil.example.com").Header.Get("Access-Control-Allow-Origin"))
}

func TestEventStreamsPerWorkspaceAreLimited(t *testing.T) {
	d := startServer(t, httpapi.Config{EventStreams: 2})
	d.eventStream.keepOpen()
	first := d.follow(streamPath, "operator")
	d.follow(streamPath, "operator")
	full := d.must(429, "GET", streamPath, "operator", nil)
	e := full.failure(t)
	assert.Equal(t, []any{"rate_limit_exceeded", 2.0, 1.0, "1"}, []any{e["code"], e["limit"], e["retry_after"], full.Header.Get("Retry-After")})
	d.keys["other"] = domain.Principal{KeyID: "key_other", WorkspaceID: "ws_" + ulidOf(2), Environment: domain.Live, Permissions: []domain.Permission{domain.AllRead}}
	assert.Equal(t, 200, d.follow(streamPath, "other").StatusCode, "another key has its own limit")
	first.leave()
	require.Eventually(t, func() bool { return d.follow(streamPath, "operator").StatusCode == http.StatusOK }, time.Minute, 5*time.Millisecond, "a closed stream frees its place at once")
}

func TestSlowEventStreamClientIsDisconnectedWithoutDelayingOthers(t *testing.T) {
	d := startServer(t, httpapi.Config{EventStreams: 2, WriteTimeout: 5 * time.Second})
	d.eventStream.keepOpen()
	fast := d.follow(streamPath, "operator")
	conn := d.dial()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	_, err := io.WriteString(conn, "GET "+streamPath+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\n\r\n")
	require.NoError(t, err)
	require.Eventually(t, d.isFull, time.Minute, 5*time.Millisecond)
	const n, size = 500, 50_000 // 25 MB, more than all buffers between server and client
	// Events are committed while the fast client reads. Otherwise the client would be disconnected as too slow.
	go func() {
		for i := range n {
			d.eventStream.commit(longEvent(i+1, size))
		}
	}()
	assert.Equal(t, eventIDs(1, n), fast.ids(n))
	given, _ := d.eventStream.progress()
	assert.Less(t, given, 2*n-100, "events of the slow client wait in the store")
	require.Eventually(t, func() bool { return !d.isFull() }, time.Minute, 20*time.Millisecond, "a client that reads nothing is disconnected")
}

// isFull reports whether the workspace has reached its limit of concurrent event streams.
func (d *testServer) isFull() bool {
	f := d.follow(streamPath+"?type=appointment.*", "operator")
	defer f.leave()
	return f.StatusCode == http.StatusTooManyRequests
}

func TestEventStreamsEndCleanlyOnShutdown(t *testing.T) {
	d := startServer(t, httpapi.Config{})
	d.eventStream.keepOpen()
	f := d.follow(streamPath, "operator")
	d.eventStream.commit(oneEvent(1))
	assert.Equal(t, eventIDs(1, 1), f.ids(1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- d.server.Shutdown(ctx) }()
	assert.Empty(t, f.end())
	require.NoError(t, <-stopped, "the server stops without waiting")
}

func TestEventStreamsOpenAndCloseConcurrently(t *testing.T) {
	d := startServer(t, httpapi.Config{EventStreams: 20})
	d.eventStream.keepOpen()
	d.eventStream.commit(oneEvent(1))
	for round := range 5 {
		streams := make([]*followedEvents, 20)
		for i := range streams {
			require.Eventually(t, func() bool {
				streams[i] = d.follow(streamPath, "operator", "X-Test", fmt.Sprint(round, i))
				return streams[i].StatusCode == http.StatusOK
			}, time.Minute, 5*time.Millisecond)
		}
		for _, f := range streams {
			assert.Equal(t, eventIDs(1, 1), f.ids(1))
			f.leave()
		}
	}
}
