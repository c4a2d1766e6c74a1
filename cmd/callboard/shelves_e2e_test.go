package main_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without a bucket a recording is heard from whichever node answers, as long as the
// one that has it lives. What that was recording when it was killed is fetched.
func TestARecordingIsHadFromTheNodeThatHasIt(t *testing.T) {
	t.Parallel()
	c := newCrew(t, 2) // with one shard, so that a node that comes back stays without it
	home, other := c.active()
	one := c.tenants(1)[0]
	own, other := home.as(one.key), other.as(one.key)
	const number = "+12025550186"
	p := baresip(t, number)
	own.api("POST", "/v1/trunks", object{
		"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
	})
	id := own.outbound(number, own.menu(), object{"record": true})
	own.live(id)
	own.await("the phone to hear something", 20*time.Second, p.hears)
	p.press("1")
	own.ended(id, 30*time.Second)
	own.await("the recording", 30*time.Second, func() bool { return own.api("GET", "/v1/calls/"+id, nil)["recording_available"] == true })
	kept := samples(t, own.recording(id), 2)

	later := own.outbound(number, own.menu(), object{"record": true})
	own.live(later)
	<-time.After(2500 * time.Millisecond) // a recording is written each half second

	home.kill9()
	other.await("another node to answer for the workspace", time.Minute, func() bool {
		status, _, _, err := other.request("GET", "/v1/calls/"+id, nil)
		return err == nil && status == http.StatusOK
	})
	status, text, _ := other.try("GET", "/v1/calls/"+id+"/recording", nil)
	assert.Equal(t, http.StatusServiceUnavailable, status, "%s", text)
	assert.Contains(t, string(text), "it lies at a node that does not answer")

	c.launch(home)
	other.await("its node to have it again", time.Minute, func() bool {
		status, _, _ = other.try("GET", "/v1/calls/"+id+"/recording", nil)
		return status == http.StatusOK
	})
	for _, s := range c.nodes {
		assert.Equal(t, kept, samples(t, s.as(one.key).recording(id), 2))
	}
	require.False(t, c.works(home))
	other.await("what was being recorded to be fetched", 2*time.Minute, func() bool {
		return other.api("GET", "/v1/calls/"+later, nil)["recording_available"] == true
	})
	assert.Positive(t, heardIn(samples(t, other.recording(later), 2)))
	other.await("its part to be deleted where it lay", time.Minute, func() bool {
		left, err := filepath.Glob(filepath.Join(home.data(), "spool", "*", "*"))
		return err == nil && len(left) == 0
	})
	status, part, _ := other.try("GET", "/v1/calls/"+id+"/recording", nil, "Range", "bytes=-100")
	require.Equal(t, http.StatusPartialContent, status)
	assert.Len(t, part, 100)
}
