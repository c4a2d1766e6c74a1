package main_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// A node that has had no work yet, because the one that has it was drained and
// keeps it, passes calls on, and tells how it does.
func TestANodeWithoutWorkPassesCallsOnAndTellsHowItDoes(t *testing.T) {
	t.Parallel()
	url, _ := redistest.Start(t)
	addr := func() string { return "127.0.0.1:" + strconv.Itoa(siptest.Port(t)) }
	has, hasNone := addr(), addr()
	c := crewOn(t, 1, func(int) []string {
		return []string{"CALLBOARD_REDIS_URL=" + url, "CALLBOARD_ADMIN_ADDR=" + has}
	}, "CALLBOARD_SHARDS=2")
	first := c.nodes[0]
	const number = "+12025550170"
	one := c.tenants(1)[0]
	at := first.as(one.key)
	trunk := at.api("POST", "/v1/trunks", object{"name": "t", "proxies": []object{{"host": "127.0.0.1", "port": 5060, "transport": "udp"}}})["id"]
	made := at.api("POST", "/v1/phone-numbers", object{"number": number, "agent_id": at.menu(), "trunk_id": trunk})
	first.api("POST", "/v1/workspaces/"+one.id+"/phone-numbers/"+made["id"].(string)+"/approve", nil)
	first.api("POST", "/v1/operator/drain", object{})

	env := []string{"CALLBOARD_REDIS_URL=" + url, "CALLBOARD_ADMIN_ADDR=" + hasNone, "CALLBOARD_NODE_ADDR=" + addr(), "CALLBOARD_SHARDS=2", "CALLBOARD_LEASE_SECONDS=1"}
	for _, set := range first.env {
		if strings.HasPrefix(set, "CALLBOARD_MASTER_KEY_FILE=") {
			env = append(env, set)
		}
	}
	second := preparePlain(t, env...)
	second.key, c.nodes = first.key, append(c.nodes, second)
	c.launch(second)
	for admin, shards := range map[string]float64{has: 2, hasNone: 0} {
		first.await("each to see both", time.Minute, func() bool {
			_, values := first.metered(admin)
			return values["callboard_nodes"] == 2 && values["callboard_shards"] == shards
		})
		_, values := first.metered(admin)
		assert.Positive(t, values["callboard_disk_free_bytes"])
		free, told := values["callboard_shards_free"]
		assert.True(t, told)
		assert.Zero(t, free)
	}
	_, before := first.metered(has)
	require.NoError(t, second.caller("uac-refused-503", number), "the one that has it answers, though it takes none now")
	_, after := first.metered(has)
	assert.Greater(t, after["callboard_sip_messages_total received"], before["callboard_sip_messages_total received"])
	assert.Empty(t, c.shards(second), "it still has nothing")
}
