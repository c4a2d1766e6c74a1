package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/httpapi"
	"github.com/callboard/callboard/httpapi/cluster"
)

// loadResponse returns the JSON of another shard's load report.
func loadResponse(t *testing.T, node load.NodeLoad, calls int, ids ...string) string {
	t.Helper()
	p := load.Report{Node: &node}
	for _, id := range ids {
		p.Workspaces = append(p.Workspaces, &load.WorkspaceLoad{Object: "workspace_load", ID: id, Plan: domain.Starter, LiveCalls: calls, SpentToday: domain.Dollars(0), SpentKnown: true, Troubles: []load.UnhealthyTrunk{}})
	}
	text, err := json.Marshal(p)
	require.NoError(t, err)
	return string(text)
}

// startShards starts the server of shard 0 of eight, on a node that owns shards 0 and 1. A second node owns shards
// 2 and 7, a third node owns none. Shards 3 to 6 have no owner.
func startShards(t *testing.T) (*testServer, *otherShards) {
	t.Helper()
	others := &otherShards{remoteWorkspace: remoteWorkspaceID, others: []int{1, 2, 3, 4, 5, 6, 7}}
	d := startServer(t, httpapi.Config{Shards: others, Nodes: func() []cluster.Node {
		return []cluster.Node{
			{NodeNow: load.NodeNow{ID: "node_a", Address: "10.0.0.1:8090", Here: true}, OwnedShards: []int{0, 1}},
			{NodeNow: load.NodeNow{ID: "node_b", Address: "10.0.0.2:8090"}, OwnedShards: []int{2, 7}},
			{NodeNow: load.NodeNow{ID: "node_c", Address: "10.0.0.3:8090", Leaving: true}},
		}
	}})
	others.responses = map[int]string{
		1: loadResponse(t, load.NodeLoad{Ready: true}, 3, "ws_"+ulidOf(901)),
		2: loadResponse(t, load.NodeLoad{Ready: false, Reason: "full", Drain: load.DrainNow{On: true}}, 4, "ws_"+ulidOf(902), "ws_"+ulidOf(903)),
		7: loadResponse(t, load.NodeLoad{Ready: true, Drain: load.DrainNow{On: true}}, 5, remoteWorkspaceID),
	}
	return d, others
}

func TestOperatorLoadCoversAllNodes(t *testing.T) {
	t.Parallel()
	d, others := startShards(t)
	load := d.must(200, "GET", "/v1/operator/load", "operator", nil).json(t)
	assert.Equal(t, []any{5.0, 0.0, 2.0 + 3 + 4 + 4 + 5, true}, []any{load["workspaces"], load["workspaces_silent"], load["live_calls"], load["ready"]})
	list := d.must(200, "GET", "/v1/operator/workspaces?limit=3", "operator", nil).json(t)
	assert.Len(t, list["data"], 3)
	next, _ := list["next_cursor"].(string)
	assert.Len(t, d.must(200, "GET", "/v1/operator/workspaces?limit=3&cursor="+next, "operator", nil).json(t)["data"], 2)

	nodes, _ := d.must(200, "GET", "/v1/operator/nodes", "operator", nil).json(t)["data"].([]any)
	require.Len(t, nodes, 3)
	summarize := func(i int) []any {
		n, _ := nodes[i].(m)
		drain, _ := n["drain"].(m)
		return []any{n["id"], n["here"], n["leaving"], n["ready"], n["reason"], drain["on"], n["shards"], n["shards_silent"], n["workspaces"], n["live_calls"]}
	}
	assert.Equal(t, []any{"node_a", true, false, true, nil, false, 2.0, 0.0, 2.0, 5.0}, summarize(0))
	assert.Equal(t, []any{"node_b", false, false, false, "full", true, 2.0, 0.0, 3.0, 13.0}, summarize(1))
	assert.Equal(t, []any{"node_c", false, true, true, nil, false, 0.0, 0.0, 0.0, 0.0}, summarize(2))

	slices.Sort(others.requests)
	want := []string{"1", "2", "7"}
	for i := range want {
		want[i] += " GET /node/load "
	}
	assert.Equal(t, want, others.requests, "the load of each shard is requested once per second, whatever the number of readers")
	assert.Equal(t, "operator_required", d.must(403, "GET", "/v1/operator/nodes", "all", nil).failure(t)["code"])
}

func TestWorkspacesOfUnownedShardAreListedWithoutLoad(t *testing.T) {
	t.Parallel()
	d, others := startShards(t)
	created := d.tenants.add(&domain.Workspace{Name: "far", Plan: domain.Starter})
	others.remoteWorkspace = created.ID
	delete(others.responses, 7)
	load := d.must(200, "GET", "/v1/operator/load", "operator", nil).json(t)
	assert.Equal(t, []any{5.0, 1.0, 2.0 + 3 + 4 + 4, false}, []any{load["workspaces"], load["workspaces_silent"], load["live_calls"], load["spent_known"]})
	nodes, _ := d.must(200, "GET", "/v1/operator/nodes", "operator", nil).json(t)["data"].([]any)
	second, _ := nodes[1].(m)
	assert.Equal(t, []any{2.0, 1.0}, []any{second["shards"], second["shards_silent"]})
}

func TestDrainIsForwardedToNamedNode(t *testing.T) {
	t.Parallel()
	d, others := startShards(t)
	delete(others.responses, 2)
	others.responses[7] = `{"on":true,"since":null,"by":null}`
	assert.Equal(t, true, d.must(200, "POST", "/v1/operator/drain", "operator", m{"node_id": "node_b"}).json(t)["on"])
	assert.Equal(t, []string{`2 POST /v1/operator/drain {"node_id":"node_b"}`, `7 POST /v1/operator/drain {"node_id":"node_b"}`}, others.requests, "the node is drained through any of its shards")
	others.requests = others.requests[1:]
	assert.Empty(t, d.arguments, "this node is not drained")
	d.must(200, "POST", "/v1/operator/drain", "operator", m{"node_id": "node_a"})
	d.must(200, "POST", "/v1/operator/undrain", "operator", nil)
	assert.Len(t, others.requests, 1)
	assert.Equal(t, []any{"drain by ", "undrain by "}, d.arguments)
	assert.Equal(t, "invalid_state", d.must(409, "POST", "/v1/operator/drain", "operator", m{"node_id": "node_c"}).failure(t)["code"])
	assert.Equal(t, "node_id", d.must(404, "POST", "/v1/operator/undrain", "operator", m{"node_id": "node_x"}).failure(t)["param"])
	assert.Equal(t, "operator_required", d.must(403, "POST", "/v1/operator/drain", "all", m{"node_id": "node_b"}).failure(t)["code"])
	assert.Len(t, others.requests, 1)
}

// The load report is cached, but an action of an operator makes the next request read the load again.
func TestOperatorActionResetsCachedLoad(t *testing.T) {
	t.Parallel()
	d, others := startShards(t)
	shardCount := func() int {
		d.must(200, "GET", "/v1/operator/load", "operator", nil)
		defer func() { others.requests = nil }()
		return len(others.requests)
	}
	require.Equal(t, []int{3, 0}, []int{shardCount(), shardCount()})
	for _, path := range []string{"/dialling/stop", "/dialling/resume", "/drain", "/undrain"} {
		d.must(200, "POST", "/v1/operator"+path, "operator", nil)
		assert.Equal(t, 3, shardCount(), path)
	}
}

// The route that returns the load of a shard accepts only connections of other nodes that act for an operator.
func TestLoadRouteAcceptsNodesOnly(t *testing.T) {
	t.Parallel()
	d, _ := startShards(t)
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = d.server.ServeNodes(nodeListener{ln}) }()
	get := func(addr, word string) (int, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/node/load", nil)
		require.NoError(t, err)
		if word != "" {
			r.Header.Set("Callboard-Forwarded", base64.StdEncoding.EncodeToString([]byte(word)))
		}
		resp, err := d.client.Do(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, text
	}
	const operator = `{"principal":{"KeyID":"key_1","WorkspaceID":"ws_1","Environment":"live","Operator":true},"request_id":"req_far","ip":"192.0.2.1","turn":"t"}`
	code, text := get(ln.Addr().String(), operator)
	require.Equal(t, 200, code)
	var p load.Report
	require.NoError(t, json.Unmarshal(text, &p))
	require.Len(t, p.Workspaces, 1, "only the caller's own workspace")
	assert.Equal(t, d.workspace.ID, p.Workspaces[0].ID)
	code, _ = get(ln.Addr().String(), `{"principal":{"KeyID":"key_1","WorkspaceID":"ws_1","Environment":"live"},"request_id":"req_far","ip":"192.0.2.1","turn":"t"}`)
	assert.Equal(t, 403, code)
	code, _ = get(ln.Addr().String(), "")
	assert.Equal(t, 404, code)
	code, _ = get(d.addr, operator)
	assert.Equal(t, 404, code)
}

// Alert rules of an operator also watch the workspaces of other nodes.
func TestAlertRulesAreEvaluatedOnOtherShards(t *testing.T) {
	t.Parallel()
	d, others := startShards(t)
	rule := &domain.AlertRule{Meta: domain.Meta{ID: "rule_1"}, Name: "secret", Kind: domain.AlertSpend, Share: 0.5}
	others.responses = map[int]string{1: `{"rule_1":{"attempts":2}}`, 7: `{"rule_1":{"readings":[{"WorkspaceID":"ws_x","Bad":true}],"attempts":3}}`}
	result := d.server.SearchAlerts(t.Context(), []*domain.AlertRule{rule})
	var sum alert.Findings
	for _, l := range result.Found {
		sum.Add(l["rule_1"])
	}
	assert.Equal(t, alert.Findings{Attempts: 5, Readings: []alert.Reading{{WorkspaceID: "ws_x", Bad: true}}}, sum)
	assert.Len(t, others.requests, 3)
	assert.False(t, result.Complete, "four shards have no owner, and one does not respond")
	assert.NotContains(t, others.requests[0], "secret")
	assert.False(t, result.Silent(remoteWorkspaceID))
	assert.False(t, result.Silent("ws_"+ulidOf(1)), "the workspace of this shard")

	others.requests, others.responses = nil, nil
	one := *rule
	one.WatchesWorkspaceID = remoteWorkspaceID
	result = d.server.SearchAlerts(t.Context(), []*domain.AlertRule{&one})
	assert.Empty(t, result.Found)
	assert.True(t, result.Silent(remoteWorkspaceID), "the owner has not responded")
	require.Len(t, others.requests, 1, "only the owner of the workspace is asked")
	assert.Contains(t, others.requests[0], "7 POST /node/alert-search ")
}

func TestAlertSearchRouteAcceptsNodesOnly(t *testing.T) {
	t.Parallel()
	d, _ := startShards(t)
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = d.server.ServeNodes(nodeListener{ln}) }()
	post := func(addr, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/node/alert-search", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Callboard-Forwarded", "node")
		resp, err := d.client.Do(r)
		require.NoError(t, err)
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	code, text := post(ln.Addr().String(), `[{"id":"rule_1","kind":"spend"}]`)
	require.Equal(t, 200, code)
	var findings map[string]alert.Findings
	require.NoError(t, json.Unmarshal([]byte(text), &findings))
	assert.Equal(t, map[string]alert.Findings{"rule_1": {Attempts: 7, Readings: []alert.Reading{{WorkspaceID: d.workspace.ID, Subject: "spend"}}}}, findings)
	code, _ = post(ln.Addr().String(), `none`)
	assert.Equal(t, 400, code)
	code, _ = post(d.addr, `[]`)
	assert.Equal(t, 404, code)
}
