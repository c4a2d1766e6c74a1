package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/blob/s3test"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

// faultyProxy is a TCP proxy in front of a blob store. Its mode determines whether it forwards, resets or ignores
// connections.
type faultyProxy struct {
	url    string
	target string

	mu          sync.Mutex
	mode        string // open, reset, hang
	connections map[net.Conn]bool
}

func newFaultyProxy(t *testing.T, url string) *faultyProxy {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	v := &faultyProxy{url: "http://" + ln.Addr().String(), target: strings.TrimPrefix(url, "http://"), mode: "open", connections: make(map[net.Conn]bool)}
	t.Cleanup(func() { _ = ln.Close(); v.setMode("reset") })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go v.forward(c)
		}
	}()
	return v
}

// setMode sets the mode, open, reset or hang, and closes all existing connections.
func (v *faultyProxy) setMode(mode string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mode = mode
	for c := range v.connections {
		_ = c.Close()
	}
}

func (v *faultyProxy) forward(c net.Conn) {
	defer func() { _ = c.Close() }()
	v.mu.Lock()
	mode := v.mode
	v.connections[c] = true
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.connections, c)
	}()
	switch mode {
	case "reset":
		return
	case "hang":
		_, _ = io.Copy(io.Discard, c)
		return
	}
	far, err := net.Dial("tcp", v.target)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	go func() { _, _ = io.Copy(far, c); _ = far.Close() }()
	_, _ = io.Copy(c, far)
}

// bucketEnv returns the environment variables with which a service stores recordings in an S3 bucket.
func bucketEnv(endpoint string) []string {
	return []string{
		"CALLBOARD_BLOBS_URL=s3://calls/eu/one?endpoint=" + endpoint + "&region=" + s3test.GatewayRegion + "&path_style=true",
		"AWS_ACCESS_KEY_ID=" + s3test.GatewayID, "AWS_SECRET_ACCESS_KEY=" + s3test.GatewaySecret,
	}
}

// getRecording requests the recording of a call and returns the response.
func (s *service) getRecording(id string, header ...string) (int, []byte, http.Header) {
	s.t.Helper()
	return s.tryRequest("GET", "/v1/calls/"+id+"/recording", nil, header...)
}

func (s *service) dataFolderFiles(folder string) []string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dataFolder(), folder, "*", "*"))
	require.NoError(s.t, err)
	return files
}

func TestRecordingsInBucketSurviveNodeLossAndBucketOutage(t *testing.T) {
	t.Parallel()
	redis, _ := redistest.Start(t)
	way := newFaultyProxy(t, s3test.Gateway(t, "calls"))
	s := newRaceFreeService(t, append(bucketEnv(way.url), "CALLBOARD_REDIS_URL="+redis)...)
	s.removeLimits()
	s.createTrunk("", startSIPp(t, "uas-answer").port)
	agent := s.createGreetingAgent()
	call := func() string {
		id := s.placeCall("+12025550123", agent, object{"record": true})
		s.awaitCallEnd(id, 30*time.Second)
		return id
	}
	first := call()
	whole, err := os.ReadFile(s.saveRecording(first))
	require.NoError(t, err)
	require.Greater(t, len(whole), 8000)
	assert.Empty(t, s.dataFolderFiles("blobs"))
	plays := func() {
		t.Helper()
		code, part, head := s.getRecording(first, "Range", "bytes=5000-6999")
		assert.Equal(t, http.StatusPartialContent, code)
		assert.Equal(t, whole[5000:7000], part)
		assert.Contains(t, head.Get("Content-Range"), "bytes 5000-6999/")
		code, all, _ := s.getRecording(first)
		assert.Equal(t, http.StatusOK, code)
		assert.True(t, bytes.Equal(whole, all))
	}
	plays()
	export := s.api("POST", "/v1/exports", object{"type": "calls", "format": "csv"})["id"].(string)
	download := func() string {
		t.Helper()
		code, text, _ := s.tryRequest("GET", "/v1/exports/"+export+"/download", nil)
		require.Equal(t, http.StatusOK, code, string(text))
		return string(text)
	}
	s.await("the export", 30*time.Second, func() bool {
		return s.api("GET", "/v1/exports/"+export, nil)["status"] == "completed"
	})
	assert.Contains(t, download(), first)

	var waiting []string
	for _, mode := range []string{"reset", "hang"} {
		way.setMode(mode)
		waiting = append(waiting, call(), call())
		code, text, head := s.getRecording(first)
		assert.Equal(t, http.StatusServiceUnavailable, code, string(text))
		assert.NotEmpty(t, head.Get("Retry-After"))
		assert.Equal(t, 200, s.readyStatus(), "calls go on")
	}
	assert.Len(t, s.dataFolderFiles("spool"), 4)
	late := s.api("POST", "/v1/exports", object{"type": "calls", "format": "jsonl"})["id"].(string)
	s.kill9()
	way.setMode("reset")
	s.start()
	assert.Contains(t, s.logText(), "the recording store is unavailable")
	way.setMode("open")
	for _, id := range waiting {
		s.saveRecording(id)
	}
	s.await("the export that was requested during the outage", time.Minute, func() bool {
		return s.api("GET", "/v1/exports/"+late, nil)["status"] == "completed"
	})
	s.awaitEmptySpool()
	plays()

	s.kill9()
	was := s.dataFolder()
	s.dir = t.TempDir()
	require.NoError(t, os.Mkdir(s.dataFolder(), 0o700))
	for _, name := range []string{"master.key", "admin.key", "process.id"} { // without process.id the service would wait until the lease of the killed process ends
		text, err := os.ReadFile(filepath.Join(was, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(s.dataFolder(), name), text, 0o600))
	}
	s.env = append(s.env, "CALLBOARD_DATA="+s.dataFolder())
	s.start()
	plays()
	for _, id := range waiting {
		s.saveRecording(id)
	}
	assert.Contains(t, download(), first)
	assert.NotContains(t, s.logText(), s3test.GatewaySecret)

	_, errs, err := s.runCommand("backup", filepath.Join(s.dir, "backup"))
	require.Error(t, err)
	assert.Contains(t, errs, "the bucket calls at "+way.url+" below eu/one/ with its own backup")
}

func TestBlobsMoveCopiesDataFolderToBucket(t *testing.T) {
	t.Parallel()
	s := newRaceFreeService(t)
	s.key = s.testKey()
	record := func() string {
		id := s.placeCall("+15005551011", s.createGreetingAgent(), object{"record": true, "from": "+15005550100"})
		s.awaitCallEnd(id, 30*time.Second)
		s.saveRecording(id)
		return id
	}
	one, two := record(), record()
	require.Len(t, s.dataFolderFiles("blobs"), 2)
	key := s.key
	_, errs, err := s.runCommand("blobs", "move")
	require.Error(t, err)
	assert.Contains(t, errs, "blobs_url is not set")
	url := s3test.Gateway(t, "calls")
	before := s.env
	s.env = append(s.env, bucketEnv(url)...)
	_, errs, err = s.runCommand("blobs", "move")
	require.Error(t, err)
	assert.Contains(t, errs, "stop the other one")
	s.stop()
	_, errs, err = s.runCommand("serve")
	require.Error(t, err)
	assert.Contains(t, errs, "run callboard blobs move, then start the service")

	right := s.env
	s.env = append(s.env, "AWS_SECRET_ACCESS_KEY=wrong-secret")
	_, errs, err = s.runCommand("blobs", "move")
	require.Error(t, err)
	assert.Contains(t, errs, "blobs_url: cannot write in the bucket calls at "+url+" below eu/one/: the store answers 403 SignatureDoesNotMatch")
	assert.NotContains(t, errs, "wrong-secret")
	s.env = right

	output, errs, err := s.runCommand("blobs", "move")
	require.NoError(t, err, errs)
	assert.Regexp(t, `^2 files moved \(\d+ bytes\), 0 were already in the bucket\.$`, output)
	assert.Empty(t, s.dataFolderFiles("blobs"))
	output, errs, err = s.runCommand("blobs", "move", "--json")
	require.NoError(t, err, errs)
	var did map[string]int
	require.NoError(t, json.Unmarshal([]byte(output), &did))
	assert.Equal(t, map[string]int{"moved": 0, "there": 0, "other": 0, "bytes": 0}, did)
	s.start()
	s.key = key
	three := record()
	assert.Empty(t, s.dataFolderFiles("blobs"), "new recordings are in the bucket")
	for _, id := range []string{one, two, three} {
		code, wav, _ := s.getRecording(id)
		assert.Equal(t, http.StatusOK, code)
		assert.Greater(t, len(wav), 8000)
	}
	output, errs, err = s.runCommand("backup", filepath.Join(s.dir, "backup"))
	require.NoError(t, err, errs)
	assert.Contains(t, output, "0 recordings and exports (0 bytes).\nThe backup does not contain the recordings and exports in the bucket calls at "+url+" below eu/one/")
	found, _, _ := s.runCommand("doctor", "--all", "--json")
	assert.Contains(t, found, "the bucket calls at "+url+" below eu/one/ permits writing, reading and deleting")
	status, text, _ := s.tryRequest("POST", "/v1/webhooks", object{"url": strings.Replace(url, "http://", "https://", 1) + "/x", "events": []string{"call.ended"}})
	assert.GreaterOrEqual(t, status, 400, "a tenant cannot use the URL of the store: %s", text)
	s.stop()
	s.env = before
}
