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

// startRecordedCall starts a call to a baresip phone at the active one of two nodes. It waits until two seconds are in
// the recording spool.
func (c *nodeCluster) startRecordedCall(number string) (home, other *service, p *softphone, id string) {
	c.t.Helper()
	home, other = c.activeAndStandby() // with one shard, a restarted node stays a standby
	one := c.createTenants(1)[0]
	home, other = home.withKey(one.key), other.withKey(one.key)
	p = startBaresip(c.t, number)
	home.api("POST", "/v1/trunks", object{
		"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
	})
	id = home.placeCall(number, home.createLongMenuAgent(), object{"record": true})
	home.awaitSpeaking(id)
	home.await("audio at the phone", 20*time.Second, p.hasHeardAudio)
	home.await("two seconds in the spool", 20*time.Second, func() bool {
		info, err := os.Stat(filepath.Join(home.dataFolder(), "spool", one.id, id+".wav"))
		return err == nil && info.Size() > 2*16000
	})
	return home, other, p, id
}

// hasBeginning reports whether the first second of a recording contains audio.
func (s *service) hasBeginning(id string) bool {
	s.t.Helper()
	sound := readSamples(s.t, s.saveRecording(id), 2)
	return len(sound) > sampleRate && countAudibleSamples(sound[:sampleRate]) > sampleRate/10
}

func TestRecordingSurvivesKillOfNode(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 2)
	const number = "+12025550186"
	home, other, p, id := c.startRecordedCall(number)
	p.pressKey("1")
	home.awaitCallEnd(id, 30*time.Second)
	kept := readSamples(t, home.saveRecording(id), 2)
	later := home.placeCall(number, home.createLongMenuAgent(), object{"record": true})
	home.awaitSpeaking(later)
	<-time.After(2500 * time.Millisecond) // the recording is flushed every half second
	at := c.nodes[0]
	at.kill9()
	other.await("the call to resume", time.Minute, func() bool { return other.countResumedCalls() == 1 })
	assert.Equal(t, kept, readSamples(t, other.saveRecording(id), 2), "the recording in the shared folder stays the same")
	status, part, _ := other.tryRequest("GET", "/v1/calls/"+id+"/recording", nil, "Range", "bytes=-100")
	assert.Equal(t, http.StatusPartialContent, status)
	assert.Len(t, part, 100)
	<-time.After(time.Second)
	p.pressKey("1")
	other.awaitCallEnd(later, 30*time.Second)
	assert.False(t, other.hasBeginning(later), "the beginning is still in the spool of the killed node")

	c.startNode(at)
	require.False(t, c.ownsShards(at))
	other.await("the recording with its beginning", time.Minute, func() bool { return other.hasBeginning(later) })
	for _, s := range c.nodes {
		s.awaitEmptySpool()
	}
	assert.Empty(t, c.waitingRecordings())
}

// waitingRecordings returns the partial recordings in the shared folder that no node has yet joined with the other
// parts.
func (c *nodeCluster) waitingRecordings() []string {
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
			c := newNodeCluster(t, 2, "FAILPOINT_MOVE_AFTER=1s")
			_, other, p, id := c.startRecordedCall("+1202555018" + map[bool]string{false: "4", true: "5"}[away])
			if away {
				require.NoError(t, os.Rename(c.shared, c.shared+"-away"))
			}
			at := c.nodes[0]
			require.NoError(t, at.cmd.Process.Signal(syscall.SIGTERM))
			other.await("the call to resume", time.Minute, func() bool { return other.countResumedCalls() == 1 })
			<-at.processExited
			assert.Equal(t, 0, at.cmd.ProcessState.ExitCode())
			assert.Equal(t, away, len(at.dataFolderFiles("spool")) == 1, "a stopping node keeps its part of the recording only if the blob store is unavailable")
			<-time.After(time.Second)
			p.pressKey("1")
			other.awaitCallEnd(id, 30*time.Second)
			if away {
				<-time.After(time.Second)
				status, _, _ := other.tryRequest("GET", "/v1/calls/"+id+"/recording", nil)
				assert.NotEqual(t, http.StatusOK, status)
				require.NoError(t, os.Rename(c.shared+"-away", c.shared))
				c.startNode(at)
			}
			other.await("the recording with its beginning", 90*time.Second, func() bool {
				call := other.api("GET", "/v1/calls/"+id, nil)
				return call["recording_available"] == true && other.hasBeginning(id)
			})
			other.await("the files of the spool to be deleted", 10*time.Second, func() bool { return len(other.dataFolderFiles("spool")) == 0 && len(c.waitingRecordings()) == 0 })
		})
	}
}

func TestNodeStartsWithSharedRecordingsFolder(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 1)
	s := c.nodes[0]
	s.stop()
	refused := func(why string) {
		t.Helper()
		_, stderr, err := s.runCommand("serve")
		require.Error(t, err, why)
		assert.Contains(t, stderr, why)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(s.dataFolder(), "blobs", "ws_1"), 0o700))
	old := filepath.Join(s.dataFolder(), "blobs", "ws_1", "call_1.wav")
	require.NoError(t, os.WriteFile(old, []byte("sealed"), 0o600))
	refused("contains recordings or exports: copy them with cp -a " + filepath.Join(s.dataFolder(), "blobs") + "/. " + c.shared + "/ and delete the originals, then start the service")
	require.NoError(t, os.Remove(old))
	require.NoError(t, os.Rename(c.shared, c.shared+"-away"))
	refused("blobs_url: the folder " + c.shared + " does not exist")
	require.NoError(t, os.Rename(c.shared+"-away", c.shared))
	found, _, _ := s.runCommand("doctor", "--all", "--json")
	assert.Contains(t, found, "the folder "+c.shared+" permits writing, reading and deleting")
	s.env = append(s.env, "CALLBOARD_BLOBS_URL=")
	found, _, _ = s.runCommand("doctor", "--all", "--json")
	assert.Contains(t, found, "blobs_url is not set: with node_addr recordings and exports need a bucket")
}

func TestRecordingWaitsInSpoolWithoutBlobStore(t *testing.T) {
	t.Parallel()
	c := newNodeCluster(t, 1)
	s := c.nodes[0]
	s.stop()
	s.env = append(s.env, "CALLBOARD_BLOBS_URL=")
	c.startNode(s)
	assert.Contains(t, s.logText(), "blobs_url is not set")
	const number = "+12025550183"
	p := startBaresip(t, number)
	s.api("POST", "/v1/trunks", object{
		"name": "t", "caller_ids": []string{"+12025550100"}, "proxies": []object{{"host": "127.0.0.1", "port": p.port, "transport": "udp"}},
	})
	id := s.placeCall(number, s.createLongMenuAgent(), object{"record": true})
	s.awaitSpeaking(id)
	s.await("audio at the phone", 20*time.Second, p.hasHeardAudio)
	p.pressKey("1")
	s.awaitCallEnd(id, 30*time.Second)
	status, body, _ := s.tryRequest("GET", "/v1/calls/"+id+"/recording", nil)
	assert.NotEqual(t, http.StatusOK, status, string(body))
	assert.NotEmpty(t, s.dataFolderFiles("spool"))

	s.stop()
	s.env = append(s.env, "CALLBOARD_BLOBS_URL=file://"+c.shared)
	c.startNode(s)
	s.await("the stored recording", time.Minute, func() bool { return s.api("GET", "/v1/calls/"+id, nil)["recording_available"] == true })
	assert.NotEmpty(t, s.saveRecording(id))
	s.awaitEmptySpool()
}

// awaitEmptySpool waits until no recording is in the spool. The file of a recording is deleted after the commit that
// makes the recording available.
func (s *service) awaitEmptySpool() {
	s.t.Helper()
	s.await("the deletion of the files of the spool", 20*time.Second, func() bool { return len(s.dataFolderFiles("spool")) == 0 })
}
