package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/siptest"
)

const clusterShardCount = 12 // so many that no node gets all of them

var shardLogLine = regexp.MustCompile(`msg="this node (owns|released) the shard" shard=(\d+)`)

// shardsOf returns the shards that a node owns according to its log.
func (c *nodeCluster) shardsOf(s *service) map[string]bool {
	out := make(map[string]bool)
	if s.hasExited() {
		return out
	}
	for _, m := range shardLogLine.FindAllStringSubmatch(s.logText()[c.since[s]:], -1) {
		if out[m[2]] = m[1] == "owns"; !out[m[2]] {
			delete(out, m[2])
		}
	}
	return out
}

// awaitSpreadShards waits until each shard has an owner and at least two nodes own shards. Random node ids determine the
// distribution, so it may be uneven.
func (c *nodeCluster) awaitSpreadShards() {
	c.t.Helper()
	c.nodes[0].await("the distribution of the shards", time.Minute, func() bool {
		all, some := 0, 0
		for _, s := range c.nodes {
			n := len(c.shardsOf(s))
			all, some = all+n, some+min(n, 1)
		}
		return all == clusterShardCount && some > 1
	})
}

// withKey returns a copy of the service handle whose requests use another API key.
func (s *service) withKey(key string) *service {
	other := *s
	other.key = key
	return &other
}

// shardTenant holds a workspace of the cluster, its API key and objects that tests create in it.
type shardTenant struct{ id, key, keyID, campaign, agent string }

// createTenants creates workspaces with an operator key, at alternating nodes.
func (c *nodeCluster) createTenants(n int) (all []*shardTenant) {
	c.t.Helper()
	for i := range n {
		created := c.nodes[i%len(c.nodes)].api("POST", "/v1/workspaces", object{"name": fmt.Sprint("tenant ", i), "plan": "enterprise", "limits": object{
			"requests_per_minute": 1000000, "concurrent_inbound": 10, "concurrent_outbound": 20, "calls_per_minute": 100000,
		}})
		all = append(all, &shardTenant{id: created["id"].(string), key: created["key"].(string), keyID: created["key_id"].(string)})
	}
	return all
}

// awaitOperatorView waits until the operator API shows all nodes and each workspace on one of them.
func (c *nodeCluster) awaitOperatorView(at *service, workspaces int) {
	c.t.Helper()
	at.await("the complete operator view", time.Minute, func() bool {
		load := at.api("GET", "/v1/operator/load", nil)
		shards, theirs := 0, 0
		rows := at.listData("/v1/operator/nodes")
		for _, n := range rows {
			shards, theirs = shards+int(n.(object)["shards"].(float64)), theirs+int(n.(object)["workspaces"].(float64))
		}
		return len(rows) == len(c.nodes) && shards == clusterShardCount && theirs == workspaces && load["workspaces"] == float64(workspaces) && load["workspaces_silent"] == 0.0
	})
	assert.Len(c.t, at.listData("/v1/operator/workspaces"), workspaces)
}

// drainEachNode drains each node of the cluster by requests to one node, and then ends the drains.
func (c *nodeCluster) drainEachNode() {
	c.t.Helper()
	drains := func() (names []string, on int) {
		for _, n := range c.nodes[0].listData("/v1/operator/nodes") {
			if n.(object)["shards"].(float64) > 0 { // nodes without shards do not accept calls
				names = append(names, n.(object)["id"].(string))
			}
			if n.(object)["drain"].(object)["on"] == true {
				on++
			}
		}
		return names, on
	}
	var names []string
	c.nodes[0].await("shards on each node", 30*time.Second, func() bool { names, _ = drains(); return len(names) == len(c.nodes) })
	for i, id := range names {
		c.nodes[0].api("POST", "/v1/operator/drain", object{"node_id": id})
		c.nodes[0].await("the drained node in the list", 10*time.Second, func() bool { _, on := drains(); return on == i+1 })
	}
	for _, id := range names {
		c.nodes[0].api("POST", "/v1/operator/undrain", object{"node_id": id})
	}
	c.nodes[0].await("the end of all drains", 10*time.Second, func() bool { _, on := drains(); return on == 0 })
}

// checkAlertRules creates a rule about all workspaces and waits until it fires for each of them.
func (c *nodeCluster) checkAlertRules(all []*shardTenant) {
	c.t.Helper()
	front := c.nodes[0]
	for _, one := range all {
		front.api("PATCH", "/v1/workspaces/"+one.id, object{"calling": object{"daily_spend_cap": object{"amount": "0.01", "currency": "USD"}}})
	}
	front.api("POST", "/v1/alert-rules", object{"name": "spent", "kind": "spend", "share": 0.5})
	front.api("POST", "/v1/alert-rules", object{"name": "one", "kind": "spend", "share": 0.5, "watches_workspace_id": all[len(all)-1].id})
	front.await("an alert for each workspace", time.Minute, func() bool {
		found := make(map[string]int)
		for _, a := range front.listData("/v1/alerts?limit=100") {
			found[a.(object)["of_workspace_id"].(string)]++
		}
		return len(found) == len(all) && found[all[len(all)-1].id] == 2
	})
}

// Each node serves requests for all workspaces. After nodes are killed, other nodes must take their shards over. Each
// contact must be called once and get an outcome.
func TestWorkspacesAreDistributedAndSurviveNodeKills(t *testing.T) {
	t.Parallel()
	const contacts = 40
	answer := startSIPp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	c := newNodeCluster(t, 3, fmt.Sprint("CALLBOARD_SHARDS=", clusterShardCount))
	c.awaitSpreadShards()
	all := c.createTenants(8)
	seen := make(map[int]bool)
	for i, one := range all {
		seen[domain.ShardOf(one.id, clusterShardCount)] = true
		at := c.nodes[(i+1)%3].withKey(one.key)
		assert.Equal(t, one.id, at.api("GET", "/v1/workspace", nil)["id"])
		assert.Equal(t, "tenant "+strconv.Itoa(i), c.nodes[(i+2)%3].api("GET", "/v1/workspaces/"+one.id, nil)["name"], "an operator's")
		c.nodes[i%3].api("PATCH", "/v1/workspaces/"+one.id, object{"pricing": object{"included_attempts": 0, "price_per_attempt": object{"amount": "0.10"}}})
		at.api("POST", "/v1/trunks", object{
			"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": answer.port, "transport": "udp"}},
		})
		at.api("POST", "/v1/webhooks", object{"url": c.nodes[0].receiver.url, "events": []string{"campaign.call.completed"}})
	}
	require.Greater(t, len(seen), 2, "the workspaces are distributed")
	for _, s := range c.nodes { // every node shows the operator all workspaces
		c.awaitOperatorView(s, len(all)+1)
	}
	for i, one := range all {
		at := c.nodes[i%3].withKey(one.key)
		one.campaign = at.startCampaign(at.createConstantAgent(), phoneNumbers(fmt.Sprintf("+1202%d", 520+i), contacts), object{"pacing": object{"calls_per_minute": 300, "max_concurrent": 20}})
	}
	front := c.nodes[0]
	for _, one := range all {
		front.withKey(one.key).await("a call of each workspace", time.Minute, func() bool {
			st, ok := front.withKey(one.key).campaignStatus(one.campaign)
			return ok && st.Progress.Attempted > 2
		})
	}
	victim := c.nodes[1]
	if len(c.shardsOf(c.nodes[2])) > len(c.shardsOf(victim)) {
		victim = c.nodes[2]
	}
	victim.kill9()
	for _, one := range all {
		st := front.withKey(one.key).awaitCampaignEnd(one.campaign, 2*time.Minute)
		assert.Equal(t, contacts, st.Progress.Attempted, "nobody is forgotten")
		assert.Zero(t, st.Progress.Remaining)
	}
	for n, times := range answer.inviteCounts() {
		assert.Equal(t, 1, times, "%s was called more than once", n)
	}
	front.await("an event for every attempt", time.Minute, func() bool {
		endedPhones := make(map[string]bool)
		for _, e := range front.receiver.events("campaign.call.completed") {
			var d struct{ Contact struct{ Phone string } }
			require.NoError(t, json.Unmarshal(e.Data, &d))
			endedPhones[d.Contact.Phone] = true
		}
		return len(endedPhones) == len(all)*contacts
	})
	c.startNode(victim)
	c.awaitSpreadShards()
	c.awaitOperatorView(victim, len(all)+1)
	c.drainEachNode()
	c.checkAlertRules(all)

	one, other := all[0], all[1]
	c.nodes[1].api("PATCH", "/v1/workspaces/"+one.id, object{"name": "renamed"})
	assert.Equal(t, "renamed", c.nodes[2].withKey(one.key).api("GET", "/v1/workspace", nil)["name"])
	created := c.nodes[0].withKey(one.key).api("POST", "/v1/api-keys", object{"name": "short", "permissions": []string{"*:read"}})
	short := created["key"].(string)
	for _, s := range c.nodes {
		assert.Equal(t, http.StatusOK, s.statusForKey(short))
	}
	c.nodes[1].withKey(one.key).api("DELETE", "/v1/api-keys/"+created["id"].(string), nil)
	for _, s := range c.nodes {
		assert.Equal(t, http.StatusUnauthorized, s.statusForKey(short), "a revoked token is rejected at once by every node")
	}
	c.nodes[2].api("DELETE", "/v1/workspaces/"+other.id, nil)
	for _, s := range c.nodes {
		assert.Equal(t, http.StatusUnauthorized, s.statusForKey(other.key))
		code, _, _ := s.tryRequest("GET", "/v1/workspaces/"+other.id, nil)
		assert.Equal(t, http.StatusNotFound, code)
	}
	for _, s := range c.nodes {
		assert.NotContains(t, s.logText(), "panic")
	}
}

// An inbound call that arrives at any node must reach the workspace of its number. This holds even if several
// workspaces have a trunk at the source address.
func TestInboundCallAtAnyNodeReachesItsNumber(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 2, fmt.Sprint("CALLBOARD_SHARDS=", clusterShardCount))
	c.awaitSpreadShards()
	var numbers []string
	var trunks []any
	all := c.createTenants(5)
	for i, one := range all {
		number := fmt.Sprintf("+120255501%02d", i)
		at := c.nodes[i%2].withKey(one.key)
		trunk := at.api("POST", "/v1/trunks", object{"caller_ids": []string{"+12025550100"}, "name": "t", "number_country": "US", "proxies": []object{{"host": "127.0.0.1", "port": 5060, "transport": "udp"}}})["id"]
		trunks = append(trunks, trunk)
		created := at.api("POST", "/v1/phone-numbers", object{"number": number, "agent_id": at.createMenuAgent(), "trunk_id": trunk})
		assert.Equal(t, "pending", created["status"], "a number claimed by two workspaces waits for an operator")
		approved := c.nodes[(i+1)%2].api("POST", "/v1/workspaces/"+one.id+"/phone-numbers/"+created["id"].(string)+"/approve", nil)
		assert.Equal(t, "live", approved["status"])
		numbers = append(numbers, number)
	}
	for _, number := range numbers {
		for _, s := range c.nodes {
			require.NoError(t, s.runSIPpCaller("uac-press", number, "-key", "press", "1"), "%s through the node at %s", number, s.http)
		}
	}
	for _, s := range c.nodes {
		require.NoError(t, s.runSIPpCaller("uac-refused-404", "+12025550199"), "an unknown number, through the node at %s", s.http)
	}
	for _, number := range numbers {
		national := strings.TrimPrefix(number, "+1")
		for _, s := range c.nodes {
			require.NoError(t, s.runSIPpCaller("uac-press", national, "-key", "press", "1"), "%s without country code, through the node at %s", national, s.http)
		}
	}
	const rest = 2 // index of the tenant with the older of the two trunks that take unassigned numbers
	for _, i := range []int{4, rest} {
		at := c.nodes[i%2].withKey(all[i].key)
		created := at.api("POST", "/v1/phone-numbers", object{"number": "*", "agent_id": at.createMenuAgent(), "trunk_id": trunks[i]})
		if created["status"] != "live" {
			c.nodes[0].api("POST", "/v1/workspaces/"+all[i].id+"/phone-numbers/"+created["id"].(string)+"/approve", nil)
		}
	}
	for i, s := range c.nodes {
		require.NoError(t, s.runSIPpCaller("uac-press", fmt.Sprintf("+1202555077%d", i), "-key", "press", "1"), "an unassigned number of a trunk, through the node at %s", s.http)
	}
	for i, one := range all {
		at, want := c.nodes[i%2].withKey(one.key), 4
		if i == rest {
			want = 6
		}
		at.await("all calls of the tenant", time.Minute, func() bool {
			ended := 0
			for _, call := range at.listData("/v1/calls?direction=inbound&limit=100") {
				if call.(object)["disposition"] == "confirmed" {
					ended++
				}
			}
			return ended == want
		})
	}
}

// The number of shards can change only while no node runs.
func TestShardCountChangesWhileNoNodeLives(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 1)
	s := c.nodes[0]
	id := s.api("GET", "/v1/workspace", nil)["id"]
	s.stop()
	s.env = append(s.env, "CALLBOARD_SHARDS=4")
	c.startNode(s)
	assert.Contains(t, s.logText(), "the number of shards was changed")
	assert.Equal(t, id, s.api("GET", "/v1/workspace", nil)["id"])
	assert.Len(t, c.shardsOf(s), 4)

	other := prepareRaceFreeService(t, append(slices.Clone(s.env), "CALLBOARD_SHARDS=5", "CALLBOARD_DATA="+t.TempDir(), "CALLBOARD_HTTP_ADDR=127.0.0.1:"+strconv.Itoa(siptest.Port(t)),
		"CALLBOARD_NODE_ADDR=127.0.0.1:"+strconv.Itoa(siptest.Port(t)))...)
	other.startProcess()
	<-other.processExited
	assert.Contains(t, other.logText(), "shards is 5 here and 4 in the store, and a node lives on this store")
	assert.Len(t, c.shardsOf(s), 4, "the running node keeps its shards")
}
