package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/forward"
)

// otherShards is a fake of the other shards of an installation. It records the requests to them.
type otherShards struct {
	remoteWorkspace string
	requests        []string
	body            string
	forwardedHeader string
	err             error

	others    []int          // numbers of the other shards
	responses map[int]string // response bodies by shard
	mu        sync.Mutex
}

func (f *otherShards) IsElsewhere(id string) bool { return id == f.remoteWorkspace }

func (f *otherShards) Send(_ context.Context, id, seed string, r *http.Request) (*http.Response, error) {
	f.record(id + " " + seed + " " + r.Method + " " + r.URL.RequestURI())
	text, _ := io.ReadAll(r.Body)
	f.body, f.forwardedHeader = string(text), r.Header.Get("Callboard-Forwarded")
	if f.err != nil {
		return nil, f.err
	}
	return &http.Response{
		StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {"7"}},
		Body: io.NopCloser(strings.NewReader(remoteResponse)),
	}, nil
}

func (f *otherShards) Own() int { return 0 }

func (f *otherShards) Others() []int { return f.others }

func (f *otherShards) ShardOf(id string) int {
	if id == f.remoteWorkspace {
		return 7
	}
	return 0
}

func (f *otherShards) SendToShard(_ context.Context, part int, r *http.Request) (*http.Response, error) {
	text, _ := io.ReadAll(r.Body)
	f.record(strconv.Itoa(part) + " " + r.Method + " " + r.URL.Path + " " + string(text))
	if f.err != nil || f.responses[part] == "" {
		return nil, errors.New("away")
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(f.responses[part]))}, nil
}

// record stores a request. It may be called concurrently.
func (f *otherShards) record(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, what)
}

const remoteResponse = `{"success":false,"error":{"code":"unavailable","message":"It went.","retry_after":7,"request_id":"req_far"}}`

const remoteWorkspaceID = "ws_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0FA"

func TestOperatorRequestIsForwardedToOwningShard(t *testing.T) {
	t.Parallel()
	owner := &otherShards{remoteWorkspace: remoteWorkspaceID}
	d := startServer(t, httpapi.Config{Shards: owner})
	for _, c := range []struct{ method, path, body, asked string }{
		{"POST", "/v1/workspaces", `{"name":"new"}`, " turn POST /v1/workspaces"},
		{"GET", "/v1/workspaces/" + remoteWorkspaceID, "", remoteWorkspaceID + " turn GET /v1/workspaces/" + remoteWorkspaceID},
		{"PATCH", "/v1/workspaces/" + remoteWorkspaceID, `{"name":"renamed"}`, remoteWorkspaceID + " turn PATCH /v1/workspaces/" + remoteWorkspaceID},
		{"DELETE", "/v1/workspaces/" + remoteWorkspaceID, "", remoteWorkspaceID + " turn DELETE /v1/workspaces/" + remoteWorkspaceID},
		{"GET", "/v1/workspaces/" + remoteWorkspaceID + "/phone-numbers?status=pending", "", remoteWorkspaceID + " turn GET /v1/workspaces/" + remoteWorkspaceID + "/phone-numbers?status=pending"},
	} {
		owner.requests = nil
		var body any
		if c.body != "" {
			body = m{"name": strings.Split(c.body, `"`)[3]}
		}
		r := d.do(c.method, c.path, "operator", body)
		assert.Equal(t, http.StatusServiceUnavailable, r.Status, "%s: the response of the owner", c.asked)
		assert.JSONEq(t, remoteResponse, string(r.Body))
		assert.Equal(t, []string{c.asked}, owner.requests)
		assert.Equal(t, c.body, strings.TrimSpace(owner.body))
		header, err := base64.StdEncoding.DecodeString(owner.forwardedHeader)
		require.NoError(t, err)
		assert.Contains(t, string(header), `"Operator":true`)

		owner.requests = nil
		assert.Equal(t, "operator_required", d.must(403, c.method, c.path, "all", body).failure(t)["code"])
		d.must(401, c.method, c.path, "nobody", body)
		assert.Empty(t, owner.requests, "the owner gets no request with an invalid credential")
	}
	owner.requests = nil
	d.must(200, "GET", "/v1/workspaces", "operator", nil)
	d.must(404, "GET", "/v1/workspaces/ws_01J9Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0AA", "operator", nil)
	assert.Empty(t, owner.requests, "the request is answered by this node")
	owner.err = errors.New("away")
	assert.NotEmpty(t, d.must(503, "GET", "/v1/workspaces/"+remoteWorkspaceID, "operator", nil).Header.Get("Retry-After"))
}

// nodeListener marks accepted connections as connections from other nodes.
type nodeListener struct{ net.Listener }

func (n nodeListener) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return nodeConn{conn}, nil
}

type nodeConn struct{ net.Conn }

func (o nodeConn) RemoteAddr() net.Addr { return forward.NodeAddr{Addr: o.Conn.RemoteAddr()} }

// Only another node can set the principal of a request by the header of forwarded requests. A client that sends this
// header gets no access.
func TestForwardedHeaderIsAcceptedFromNodesOnly(t *testing.T) {
	t.Parallel()
	d := startServer(t, httpapi.Config{Shards: &otherShards{}})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = d.server.ServeNodes(nodeListener{ln}) }()
	forgedHeader := base64.StdEncoding.EncodeToString([]byte(`{"principal":{"KeyID":"key_1","WorkspaceID":"ws_1","Environment":"live","Operator":true,"Permissions":["all:read","all:write"]},"request_id":"req_far","ip":"192.0.2.1","turn":"t"}`))
	ask := func(addr, word string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/v1/workspaces", strings.NewReader(`{"name":"lent"}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Callboard-Forwarded", word)
		resp, err := d.client.Do(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	code, text := ask(ln.Addr().String(), forgedHeader)
	assert.Equal(t, http.StatusCreated, code, text)
	code, _ = ask(d.addr, forgedHeader)
	assert.Equal(t, http.StatusUnauthorized, code)
	code, _ = ask(ln.Addr().String(), "none")
	assert.Equal(t, http.StatusBadRequest, code)
}

// While a shard moves to another node, a write that another node forwards is refused with a response that says that it
// did not run. Forwarded reads and requests of the node's own clients are served.
func TestWritesAreForwardedToNextOwnerWhileShardMoves(t *testing.T) {
	t.Parallel()
	var moves atomic.Bool
	var log logBuffer
	d := startServer(t, httpapi.Config{PublicURL: base, TrustedProxies: loopback(), ShardMoves: moves.Load, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = d.server.ServeNodes(nodeListener{ln}) }()
	between := *d
	between.addr = ln.Addr().String()
	id := d.create("/v1/pathways", goodPathway())
	b, _ := d.signedIn("admin")
	page := &browser{d: &between, cookie: b.cookie}
	form := url.Values{"version": {"1"}, "plan": {`{"name":"new","start":"bye","nodes":[{"id":"bye","type":"end"}],"edges":[]}`}}
	moves.Store(true)
	for what, r := range map[string]reply{
		"API request":    between.do("POST", "/v1/pathways", "all", goodPathway()),
		"dashboard form": page.send("POST", "/pathways/"+id, form),
	} {
		assert.Equal(t, http.StatusServiceUnavailable, r.Status, what)
		assert.Equal(t, "1", r.Header.Get(forward.NotActive), what)
	}
	assert.Equal(t, 2, strings.Count(log.text(), `level=DEBUG msg="request refused"`), "which no client sees: %s", log.text())
	assert.NotContains(t, log.text(), "level=WARN")
	read := between.do("GET", "/v1/pathways/"+id, "all", nil)
	assert.Equal(t, http.StatusOK, read.Status)
	assert.Empty(t, read.Header.Get(forward.NotActive))
	assert.EqualValues(t, 1, read.json(t)["version"], "nothing was changed")
	d.must(201, "POST", "/v1/pathways", "all", goodPathway())
	moves.Store(false)
	saved := page.send("POST", "/pathways/"+id, form)
	assert.Equal(t, http.StatusSeeOther, saved.Status, "%s", saved.Body)
	assert.Empty(t, saved.Header.Get(forward.NotActive))
}

// logBuffer collects log output in memory.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
