package main_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Two trunks with digest authentication have the same source address and belong to workspaces on different nodes. At any
// node, the credentials of a call must select its trunk.
func TestDigestAuthenticationSelectsNodeOfTrunk(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 2, fmt.Sprint("CALLBOARD_SHARDS=", clusterShardCount))
	c.awaitEvenShards()
	all := c.createTenants(16)
	from := startCarrierUserAgent(t)
	var owners []*service
	for i, node := range c.nodes {
		one := c.ownedWorkspace(node, all)
		at := node.withKey(one.key)
		trunk := at.api("POST", "/v1/trunks", object{
			"caller_ids": []string{"+12025550100"},
			"name":       "t", "proxies": []object{{"host": "127.0.0.1", "port": 5060, "transport": "udp"}},
			"inbound": object{"auth": object{"username": fmt.Sprint("carrier", i), "password": "proof"}},
		})["id"]
		created := at.api("POST", "/v1/phone-numbers", object{"number": "*", "agent_id": at.createWaitingAgent("wait"), "trunk_id": trunk})
		if created["status"] != "live" {
			c.nodes[0].api("POST", "/v1/workspaces/"+one.id+"/phone-numbers/"+created["id"].(string)+"/approve", nil)
		}
		owners = append(owners, at)
	}
	for i, owner := range owners {
		user, number := fmt.Sprint("carrier", i), fmt.Sprintf("+1202555015%d", i)
		for _, by := range c.nodes {
			assert.Equal(t, 401, by.callWithCredentials(from, number, user, "guess"), "%s through the node at %s", user, by.http)
			assert.Equal(t, 200, by.callWithCredentials(from, number, user, "proof"), "%s through the node at %s", user, by.http)
		}
		assert.Len(t, owner.listData("/v1/calls?direction=inbound"), 2, user)
	}
}
