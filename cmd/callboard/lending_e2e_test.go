package main_test

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// crowd are nodes that count their sound.
type crowd struct {
	*crew
	admin map[*service]string
}

func newCrowd(t *testing.T, more func() []string) *crowd {
	t.Helper()
	url, _ := redistest.Start(t)
	var admin []string
	own := func(int) []string {
		admin = append(admin, "127.0.0.1:"+strconv.Itoa(siptest.Port(t)))
		return append(more(), "CALLBOARD_REDIS_URL="+url, "CALLBOARD_ADMIN_ADDR="+admin[len(admin)-1])
	}
	c := &crowd{crewOn(t, 3, own, "CALLBOARD_SHARDS="+strconv.Itoa(crewShards), "CALLBOARD_DRAIN_SECONDS=20"), make(map[*service]string)}
	for i, s := range c.nodes {
		c.admin[s] = admin[i]
	}
	c.spread()
	return c
}

// media is what a node counts of its sound; 0 of one that is gone.
func (c *crowd) media(s *service, what string) int {
	if s.gone() {
		return 0
	}
	_, values := s.metered(c.admin[s])
	return int(values["callboard_media_"+what])
}

// lends says which node has the sound of a call of which other one; nil, nil: none has within a few seconds.
func (c *crowd) lends() (home, lender *service) {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); <-tick.C {
		home, lender = nil, nil
		for _, s := range c.nodes {
			if c.media(s, "lent") == 1 {
				lender = s
			}
			if c.media(s, "away") == 1 {
				home = s
			}
		}
		if home != nil && lender != nil && home != lender {
			return home, lender
		}
	}
	return nil, nil
}

// callElsewhere calls a number until the sound of the call is at another node: it stays where nodes of a busy machine have
// not found each other yet.
func (c *crowd) callElsewhere(own *service, number, agent string, more object) (call string, calls int, home, lender *service) {
	c.t.Helper()
	for calls = 1; calls <= 6; calls++ {
		call = own.outbound(number, agent, more)
		own.live(call)
		if home, lender = c.lends(); home != nil {
			return call, calls, home, lender
		}
		own.api("POST", "/v1/calls/"+call+"/hangup", nil)
		own.ended(call, 20*time.Second)
	}
	c.t.Fatal("no other node took the sound of a call")
	return "", 0, nil, nil
}

// The first call of a workspace has its sound at home, the second one at another
// node, which dies, or is stopped, in the middle of it.
func TestSoundGoesOnWhereItsNodeDoesNot(t *testing.T) {
	t.Parallel()
	for i, what := range []string{"killed", "stopped"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t, func() []string { return []string{"CALLBOARD_SOUND_CALLS=1"} })
			w := c.tenants(1)[0]
			near, far := fmt.Sprintf("+120255501%d0", 4+i), fmt.Sprintf("+120255501%d1", 4+i)
			first, second := baresip(t, near), baresip(t, far)
			own := c.nodes[0].as(w.key)
			trunk := own.trunk(near, first.port)
			own.trunk(far, second.port)
			menu := own.menuFor(60)
			made := own.api("POST", "/v1/phone-numbers", object{"number": "+12025550100", "agent_id": menu, "trunk_id": trunk})
			c.nodes[0].api("POST", "/v1/workspaces/"+w.id+"/phone-numbers/"+made["id"].(string)+"/approve", nil)
			one := own.outbound(near, menu, object{"record": true})
			own.live(one)
			two, calls, home, lender := c.callElsewhere(own, far, menu, object{"record": true})
			own = home.as(w.key)
			home.await("the phone to hear something", 20*time.Second, second.hears)
			<-time.After(1500 * time.Millisecond) // a recording is written each half second

			if what == "killed" {
				lender.kill9()
			} else {
				require.NoError(t, lender.cmd.Process.Signal(syscall.SIGTERM))
			}
			home.await("the sound to go on", 10*time.Second, func() bool {
				return strings.Contains(home.logged(), "the sound of a call goes on elsewhere")
			})
			<-time.After(1500 * time.Millisecond) // the phone hears it again
			second.press("1")
			call := own.ended(two, 30*time.Second)
			assert.Equal(t, "confirmed", call["disposition"], "%v", call)
			assert.Equal(t, "agent: Press one or two.\ncaller: [pressed 1]", own.transcribed(two), "the conversation knows of nothing")
			assert.Equal(t, calls, strings.Count(second.log(), "Call established"), "no call was made twice")
			if what == "killed" { // it has what was recorded before
				c.launch(lender)
			} else {
				lender.await("its end", 20*time.Second, func() bool { return strings.Contains(lender.logged(), "msg=stopped") })
			}
			own.await("the recording", 90*time.Second, func() bool {
				return own.api("GET", "/v1/calls/"+two, nil)["recording_available"] == true
			})
			agent := samples(t, own.recording(two), 2)
			assert.InDelta(t, call["duration_seconds"].(float64), float64(len(agent))/rate, 1.1, "the recording is as long as the call")
			half := len(agent) / 4
			assert.Positive(t, heardIn(agent[:half]), "and has what was said before")
			assert.Positive(t, heardIn(agent[half:]), "and afterwards")

			first.press("2")
			call = own.ended(one, 30*time.Second)
			assert.Equal(t, "declined", call["disposition"], "%v", call)
			home.await("nothing to be left", 20*time.Second, func() bool { return c.media(home, "away") == 0 && c.media(home, "sessions") == 0 })
		})
	}
}

// A workspace has more calls at a time than its node has pairs of ports.
func TestAWorkspaceIsLargerThanItsNode(t *testing.T) {
	t.Parallel()
	const pairs = 5
	c := newCrowd(t, func() []string {
		low := siptest.FewPorts(t)
		return []string{fmt.Sprintf("CALLBOARD_MEDIA_PORTS=%d-%d", low, low+2*pairs-1)}
	})
	carrier := sipp(t, "uas-answer-logged", "-trace_msg", "-message_file", "messages")
	w := c.tenants(1)[0]
	own := c.nodes[0].as(w.key)
	trunk := own.trunk("+1303", carrier.port)
	agent := own.patient("wait")
	made := own.api("POST", "/v1/phone-numbers", object{"number": "+12025550100", "agent_id": agent, "trunk_id": trunk})
	c.nodes[0].api("POST", "/v1/workspaces/"+w.id+"/phone-numbers/"+made["id"].(string)+"/approve", nil)
	id := own.campaign(agent, phones("+1303555", 30), object{"pacing": object{"calls_per_minute": 6000, "max_concurrent": 20}})
	most := 0
	own.await("more calls than one node has room for", 30*time.Second, func() bool {
		taken := 0
		for _, s := range c.nodes {
			taken += c.media(s, "sessions")
		}
		most = max(most, taken)
		return most >= 2*pairs
	})
	own.api("POST", "/v1/campaigns/"+id+"/pause", nil)
	st, ok := own.statusOf(id)
	require.True(t, ok)
	assert.Zero(t, st.Outcomes["failed"], "nobody is called without sound")
	own.api("POST", "/v1/campaigns/"+id+"/cancel", nil)
	for _, live := range own.list("/v1/calls?status=active") {
		own.try("POST", "/v1/calls/"+live.(object)["id"].(string)+"/hangup", nil)
	}
	own.await("nothing to be left", 30*time.Second, func() bool {
		left := 0
		for _, s := range c.nodes {
			left += c.media(s, "sessions") + c.media(s, "away")
		}
		return left == 0
	})
	for number, n := range carrier.rung() {
		assert.Equal(t, 1, n, "%s was rung more than once", number)
	}
}
