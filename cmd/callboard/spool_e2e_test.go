package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// startRecordedCall starts a call with a baresip at the active one of two nodes, and waits until its first seconds
// are recorded.
func (c *crew) recorded(number string) (home, other *service, p *phone, id string) {
	c.t.Helper()
	home, other = c.active() // with one shard, a restarted node stays a standby
	one := c.tenants(1)[0]
	home, other = home.as(one.key), other.as(one.key)
	p = baresip(c.t, number)
	home.api("POST", "/v1/trunks", object{
		"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
	})
	id = home.outbound(number, home.lasting(), object{"record": true})
	home.live(id)
	home.await("audio at the phone", 20*time.Second, p.hears)
	home.await("two seconds in the spool", 20*time.Second, func() bool {
		info, err := os.Stat(filepath.Join(home.data(), "spool", one.id, id+".wav"))
		return err == nil && info.Size() > 2*16000
	})
	return home, other, p, id
}

// hasBeginning reports whether the first second of a recording contains audio.
func (s *service) beginning(id string) bool {
	s.t.Helper()
	sound := samples(s.t, s.recording(id), 2)
	return len(sound) > rate && heardIn(sound[:rate]) > rate/10
}

func TestRecordingSurvivesKillOfNode(t *testing.T) {
	t.Parallel()
	c := newCrew(t, 2)
	const number = "+12025550186"
	home, other, p, id := c.recorded(number)
	p.press("1")
	home.ended(id, 30*time.Second)
	kept := samples(t, home.recording(id), 2)
	later := home.outbound(number, home.lasting(), object{"record": true})
	home.live(later)
	<-time.After(2500 * time.Millisecond) // the recording is flushed every half second
	at := c.nodes[0]
	at.kill9()
	other.await("the call to resume", time.Minute, func() bool { return other.tookUp() == 1 })
	assert.Equal(t, kept, samples(t, other.recording(id), 2), "the recording in the shared folder stays the same")
	status, part, _ := other.try("GET", "/v1/calls/"+id+"/recording", nil, "Range", "bytes=-100")
	assert.Equal(t, http.StatusPartialContent, status)
	assert.Len(t, part, 100)
	<-time.After(time.Second)
	p.press("1")
	other.ended(later, 30*time.Second)
	assert.False(t, other.beginning(later), "the beginning is still in the spool of the killed node")

	c.launch(at)
	require.False(t, c.works(at))
	other.await("the recording with its beginning", time.Minute, func() bool { return other.beginning(later) })
	for _, s := range c.nodes {
		assert.Empty(t, s.onDisk("spool"))
	}
	assert.Empty(t, c.waiting())
}

// waitingRecordings returns the partial recordings in the shared folder that wait for their node.
func (c *crew) waiting() []string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.shared, "spool", "*"))
	require.NoError(c.t, err)
	return files
}

func TestRecordingOfStoppedNodeReachesNextNode(t *testing.T) {
	t.Parallel()
	for what, away := range map[string]bool{"with the blob store": false, "without the blob store": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newCrew(t, 2, "FAILPOINT_MOVE_AFTER=1s")
			_, other, p, id := c.recorded("+1202555018" + map[bool]string{false: "4", true: "5"}[away])
			if away {
				require.NoError(t, os.Rename(c.shared, c.shared+"-away"))
			}
			at := c.nodes[0]
			require.NoError(t, at.cmd.Process.Signal(syscall.SIGTERM))
			other.await("the call to resume", time.Minute, func() bool { return other.tookUp() == 1 })
			<-at.exited
			assert.Equal(t, 0, at.cmd.ProcessState.ExitCode())
			assert.Equal(t, away, len(at.onDisk("spool")) == 1, "a stopping node keeps its part of the recording only if the blob store is unavailable")
			<-time.After(time.Second)
			p.press("1")
			other.ended(id, 30*time.Second)
			if away {
				<-time.After(time.Second)
				status, _, _ := other.try("GET", "/v1/calls/"+id+"/recording", nil)
				assert.NotEqual(t, http.StatusOK, status)
				require.NoError(t, os.Rename(c.shared+"-away", c.shared))
				c.launch(at)
			}
			other.await("the recording with its beginning", 90*time.Second, func() bool {
				call := other.api("GET", "/v1/calls/"+id, nil)
				return call["recording_available"] == true && other.beginning(id)
			})
			other.await("the files of the spool to be deleted", 10*time.Second, func() bool { return len(other.onDisk("spool")) == 0 && len(c.waiting()) == 0 })
		})
	}
}

func TestNodeStartsWithSharedRecordingsFolder(t *testing.T) {
	t.Parallel()
	c := newCrew(t, 1)
	s := c.nodes[0]
	s.stop()
	refused := func(why string) {
		t.Helper()
		_, stderr, err := s.callboard("serve")
		require.Error(t, err, why)
		assert.Contains(t, stderr, why)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(s.data(), "blobs", "ws_1"), 0o700))
	old := filepath.Join(s.data(), "blobs", "ws_1", "call_1.wav")
	require.NoError(t, os.WriteFile(old, []byte("sealed"), 0o600))
	refused("has recordings or exports: copy them with cp -a " + filepath.Join(s.data(), "blobs") + "/. " + c.shared + "/ and remove them there, then start the service")
	require.NoError(t, os.Remove(old))
	require.NoError(t, os.Rename(c.shared, c.shared+"-away"))
	refused("blobs_url: there is no folder " + c.shared)
	require.NoError(t, os.Rename(c.shared+"-away", c.shared))
	found, _, _ := s.callboard("doctor", "--all", "--json")
	assert.Contains(t, found, "the folder "+c.shared+" permits writing, reading and deleting")
	s.env = append(s.env, "CALLBOARD_BLOBS_URL=")
	found, _, _ = s.callboard("doctor", "--all", "--json")
	assert.Contains(t, found, "blobs_url is not set: with node_addr recordings and exports need a bucket")
}

func TestRecordingWaitsInSpoolWithoutBlobStore(t *testing.T) {
	t.Parallel()
	c := newCrew(t, 1)
	s := c.nodes[0]
	s.stop()
	s.env = append(s.env, "CALLBOARD_BLOBS_URL=")
	c.launch(s)
	assert.Contains(t, s.logged(), "blobs_url is not set")
	const number = "+12025550183"
	p := baresip(t, number)
	s.api("POST", "/v1/trunks", object{
		"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
	})
	id := s.outbound(number, s.lasting(), object{"record": true})
	s.live(id)
	s.await("audio at the phone", 20*time.Second, p.hears)
	p.press("1")
	s.ended(id, 30*time.Second)
	status, body, _ := s.try("GET", "/v1/calls/"+id+"/recording", nil)
	assert.NotEqual(t, http.StatusOK, status, string(body))
	assert.NotEmpty(t, s.onDisk("spool"))

	s.stop()
	s.env = append(s.env, "CALLBOARD_BLOBS_URL=file://"+c.shared)
	c.launch(s)
	s.await("the stored recording", time.Minute, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["recording_available"] == true })
	assert.NotEmpty(t, s.recording(id))
	assert.Empty(t, s.onDisk("spool"))
}
