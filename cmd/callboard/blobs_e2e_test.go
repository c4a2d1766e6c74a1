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

// faultyProxy is a TCP proxy before a blob store whose mode tests can change.
type valve struct {
	url string
	to  string

	mu   sync.Mutex
	mode string // open, reset, hang
	open map[net.Conn]bool
}

func newValve(t *testing.T, url string) *valve {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	v := &valve{url: "http://" + ln.Addr().String(), to: strings.TrimPrefix(url, "http://"), mode: "open", open: make(map[net.Conn]bool)}
	t.Cleanup(func() { _ = ln.Close(); v.turn("reset") })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go v.carry(c)
		}
	}()
	return v
}

// setMode opens or closes the proxy and breaks all connections.
func (v *valve) turn(mode string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.mode = mode
	for c := range v.open {
		_ = c.Close()
	}
}

func (v *valve) carry(c net.Conn) {
	defer func() { _ = c.Close() }()
	v.mu.Lock()
	mode := v.mode
	v.open[c] = true
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.open, c)
	}()
	switch mode {
	case "reset":
		return
	case "hang":
		_, _ = io.Copy(io.Discard, c)
		return
	}
	far, err := net.Dial("tcp", v.to)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	go func() { _, _ = io.Copy(far, c); _ = far.Close() }()
	_, _ = io.Copy(c, far)
}

// bucketEnv returns the settings with which a service stores recordings in a bucket.
func bucketEnv(endpoint string) []string {
	return []string{
		"CALLBOARD_BLOBS_URL=s3://calls/eu/one?endpoint=" + endpoint + "&region=" + s3test.GatewayRegion + "&path_style=true",
		"AWS_ACCESS_KEY_ID=" + s3test.GatewayID, "AWS_SECRET_ACCESS_KEY=" + s3test.GatewaySecret,
	}
}

// getRecording requests the recording of a call and returns the response.
func (s *service) sound(id string, header ...string) (int, []byte, http.Header) {
	s.t.Helper()
	return s.try("GET", "/v1/calls/"+id+"/recording", nil, header...)
}

func (s *service) onDisk(folder string) []string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.data(), folder, "*", "*"))
	require.NoError(s.t, err)
	return files
}

func TestRecordingsInBucketSurviveNodeLossAndBucketOutage(t *testing.T) {
	t.Parallel()
	redis, _ := redistest.Start(t)
	way := newValve(t, s3test.Gateway(t, "calls"))
	s := newPlainService(t, append(bucketEnv(way.url), "CALLBOARD_REDIS_URL="+redis)...)
	s.unlimited()
	s.trunk("", sipp(t, "uas-answer").port)
	agent := s.hello()
	call := func() string {
		id := s.outbound("+12025550123", agent, object{"record": true})
		s.ended(id, 30*time.Second)
		return id
	}
	first := call()
	whole, err := os.ReadFile(s.recording(first))
	require.NoError(t, err)
	require.Greater(t, len(whole), 8000)
	assert.Empty(t, s.onDisk("blobs"))
	plays := func() {
		t.Helper()
		code, part, head := s.sound(first, "Range", "bytes=5000-6999")
		assert.Equal(t, http.StatusPartialContent, code)
		assert.Equal(t, whole[5000:7000], part)
		assert.Contains(t, head.Get("Content-Range"), "bytes 5000-6999/")
		code, all, _ := s.sound(first)
		assert.Equal(t, http.StatusOK, code)
		assert.True(t, bytes.Equal(whole, all))
	}
	plays()
	export := s.api("POST", "/v1/exports", object{"type": "calls", "format": "csv"})["id"].(string)
	download := func() string {
		t.Helper()
		code, text, _ := s.try("GET", "/v1/exports/"+export+"/download", nil)
		require.Equal(t, http.StatusOK, code, string(text))
		return string(text)
	}
	s.await("the export", 30*time.Second, func() bool {
		return s.api("GET", "/v1/exports/"+export, nil)["status"] == "completed"
	})
	assert.Contains(t, download(), first)

	var waiting []string
	for _, mode := range []string{"reset", "hang"} {
		way.turn(mode)
		waiting = append(waiting, call(), call())
		code, text, head := s.sound(first)
		assert.Equal(t, http.StatusServiceUnavailable, code, string(text))
		assert.NotEmpty(t, head.Get("Retry-After"))
		assert.Equal(t, 200, s.readyz(), "calls go on")
	}
	assert.Len(t, s.onDisk("spool"), 4)
	late := s.api("POST", "/v1/exports", object{"type": "calls", "format": "jsonl"})["id"].(string)
	s.kill9()
	way.turn("reset")
	s.start()
	assert.Contains(t, s.logged(), "the store of recordings is away")
	way.turn("open")
	for _, id := range waiting {
		s.recording(id)
	}
	s.await("the export that was requested during the outage", time.Minute, func() bool {
		return s.api("GET", "/v1/exports/"+late, nil)["status"] == "completed"
	})
	assert.Empty(t, s.onDisk("spool"))
	plays()

	s.kill9()
	was := s.data()
	s.dir = t.TempDir()
	require.NoError(t, os.Mkdir(s.data(), 0o700))
	for _, name := range []string{"master.key", "admin.key", "process.id"} { // without process.id the service would wait until the lease of the killed process ends
		text, err := os.ReadFile(filepath.Join(was, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(s.data(), name), text, 0o600))
	}
	s.env = append(s.env, "CALLBOARD_DATA="+s.data())
	s.start()
	plays()
	for _, id := range waiting {
		s.recording(id)
	}
	assert.Contains(t, download(), first)
	assert.NotContains(t, s.logged(), s3test.GatewaySecret)

	_, errs, err := s.callboard("backup", filepath.Join(s.dir, "backup"))
	require.Error(t, err)
	assert.Contains(t, errs, "the bucket calls at "+way.url+" below eu/one/ with those of its own")
}

func TestBlobsMoveCopiesDataFolderToBucket(t *testing.T) {
	t.Parallel()
	s := newPlainService(t)
	s.key = s.testKey()
	record := func() string {
		id := s.outbound("+15005551011", s.hello(), object{"record": true, "from": "+15005550100"})
		s.ended(id, 30*time.Second)
		s.recording(id)
		return id
	}
	one, two := record(), record()
	require.Len(t, s.onDisk("blobs"), 2)
	key := s.key
	_, errs, err := s.callboard("blobs", "move")
	require.Error(t, err)
	assert.Contains(t, errs, "blobs_url is not set")
	url := s3test.Gateway(t, "calls")
	before := s.env
	s.env = append(s.env, bucketEnv(url)...)
	_, errs, err = s.callboard("blobs", "move")
	require.Error(t, err)
	assert.Contains(t, errs, "stop the other one")
	s.stop()
	_, errs, err = s.callboard("serve")
	require.Error(t, err)
	assert.Contains(t, errs, "run callboard blobs move, then start the service")

	right := s.env
	s.env = append(s.env, "AWS_SECRET_ACCESS_KEY=wrong-secret")
	_, errs, err = s.callboard("blobs", "move")
	require.Error(t, err)
	assert.Contains(t, errs, "blobs_url: cannot write in the bucket calls at "+url+" below eu/one/: the store answers 403 SignatureDoesNotMatch")
	assert.NotContains(t, errs, "wrong-secret")
	s.env = right

	said, errs, err := s.callboard("blobs", "move")
	require.NoError(t, err, errs)
	assert.Regexp(t, `^2 files moved \(\d+ bytes\), 0 were already in the bucket\.$`, said)
	assert.Empty(t, s.onDisk("blobs"))
	said, errs, err = s.callboard("blobs", "move", "--json")
	require.NoError(t, err, errs)
	var did map[string]int
	require.NoError(t, json.Unmarshal([]byte(said), &did))
	assert.Equal(t, map[string]int{"moved": 0, "there": 0, "other": 0, "bytes": 0}, did)
	s.start()
	s.key = key
	three := record()
	assert.Empty(t, s.onDisk("blobs"), "new recordings are in the bucket")
	for _, id := range []string{one, two, three} {
		code, wav, _ := s.sound(id)
		assert.Equal(t, http.StatusOK, code)
		assert.Greater(t, len(wav), 8000)
	}
	said, errs, err = s.callboard("backup", filepath.Join(s.dir, "backup"))
	require.NoError(t, err, errs)
	assert.Contains(t, said, "0 recordings and exports (0 bytes).\nThe backup does not contain the recordings and exports in the bucket calls at "+url+" below eu/one/")
	found, _, _ := s.callboard("doctor", "--all", "--json")
	assert.Contains(t, found, "the bucket calls at "+url+" below eu/one/ permits writing, reading and deleting")
	status, text, _ := s.try("POST", "/v1/webhooks", object{"url": strings.Replace(url, "http://", "https://", 1) + "/x", "events": []string{"call.ended"}})
	assert.GreaterOrEqual(t, status, 400, "a tenant cannot use the URL of the store: %s", text)
	s.stop()
	s.env = before
}
