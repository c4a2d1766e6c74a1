package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without a bucket a recording is heard from whichever node answers, as long as the
// one that has it lives.
func TestARecordingIsHadFromTheNodeThatHasIt(t *testing.T) {
	t.Parallel()
	c := newCrew(t, 3, fmt.Sprint("CALLBOARD_SHARDS=", crewShards))
	c.even()
	one := c.tenants(1)[0]
	home := c.has(one)
	own := home.as(one.key)
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

	home.kill9()
	var other *service
	for _, s := range c.nodes {
		if s != home {
			other = s.as(one.key)
		}
	}
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
		s.await("to be ready", time.Minute, func() bool { return s.gone() || strings.Contains(s.logged(), "msg=joined") })
		assert.Equal(t, kept, samples(t, s.as(one.key).recording(id), 2))
	}
	status, part, _ := other.try("GET", "/v1/calls/"+id+"/recording", nil, "Range", "bytes=-100")
	require.Equal(t, http.StatusPartialContent, status)
	assert.Len(t, part, 100)
}
