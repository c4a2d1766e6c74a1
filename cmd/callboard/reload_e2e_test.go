package main_test

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence/redis/redistest"
	"github.com/callboard/callboard/sip/siptest"
)

// serviceManager is a fake systemd notification socket that records the messages of a service.
type serviceManager struct {
	mu       sync.Mutex
	messages []string
}

// useServiceManager sets the environment variables of systemd's notification socket and watchdog for the service. It
// returns the fake systemd, which records the messages.
func (s *service) useServiceManager(watchdog time.Duration) *serviceManager {
	s.t.Helper()
	at := filepath.Join(s.dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at, Net: "unixgram"})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	m := &serviceManager{}
	go func() {
		var b [4096]byte
		for {
			n, err := conn.Read(b[:])
			if err != nil {
				return
			}
			m.mu.Lock()
			m.messages = append(m.messages, string(b[:n]))
			m.mu.Unlock()
		}
	}()
	s.env = append(s.env, "NOTIFY_SOCKET="+at, "WATCHDOG_USEC="+strconv.FormatInt(watchdog.Microseconds(), 10))
	return m
}

// count returns the number of messages that match the pattern.
func (m *serviceManager) count(pattern string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, text := range m.messages {
		if regexp.MustCompile(pattern).MatchString(text) {
			n++
		}
	}
	return n
}

func (s *service) sendSIGHUP() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGHUP))
}

func (s *service) awaitLogLine(text string, times int) {
	s.t.Helper()
	s.await("a line of the log: "+text, time.Minute, func() bool { return strings.Count(s.logText(), text) >= times })
}

func TestReloadAppliesLogLevelAndCertificatesWithoutEndingCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, file, variables := filepath.Join(dir, "sip.pem"), filepath.Join(dir, "sip.key"), filepath.Join(dir, "callboard.yaml"), filepath.Join(dir, "callboard.env")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	writeCertificate(t, "first", cert, key)
	write(file, "drain_seconds: 3\n")
	write(variables, "CALLBOARD_LOG_LEVEL=info\n")
	s := prepareRaceFreeService(t, "CALLBOARD_SIP_TLS_CERT="+cert, "CALLBOARD_SIP_TLS_KEY="+key)
	secure := "127.0.0.1:" + strconv.Itoa(s.sip+1)
	s.args = append(s.args, "--sip", "127.0.0.1:"+strconv.Itoa(s.sip)+",tls://"+secure, "--config", file, "--env-file", variables)
	systemd := s.useServiceManager(time.Second)
	s.start()
	s.key = s.testKey()
	call := s.placeCall("+15005551011", s.createMenuAgentWithTimeout(60), object{"from": "+15005550100"})
	live := func() bool {
		c := s.api("GET", "/v1/calls/"+call, nil)
		return c["answered_at"] != nil && c["ended_at"] == nil
	}
	s.await("the answer", time.Minute, live)
	shown := func() string {
		c, err := tls.Dial("tcp", secure, &tls.Config{InsecureSkipVerify: true})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		return c.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	assert.NotContains(t, s.logText(), "level=DEBUG")

	writeCertificate(t, "second", cert, key)
	write(variables, "CALLBOARD_LOG_LEVEL=debug\n")
	write(file, "drain_seconds: 4\n")
	s.sendSIGHUP()
	s.awaitLogLine("the settings were reloaded", 1)
	assert.Contains(t, s.logText(), "log_level=debug after_a_restart=drain_seconds")
	assert.Regexp(t, `the certificate was reloaded" file=\S+sip\.pem not_after=`, s.logText())
	assert.Equal(t, "second", shown())
	s.awaitLogLine("level=DEBUG", 1)

	write(cert, "no certificate")
	write(file, "drain_seconds: soon\n")
	s.sendSIGHUP()
	s.awaitLogLine("the settings cannot be reloaded: the previous ones stay in use", 1)
	assert.Contains(t, s.logText(), "the certificate cannot be read: the previous one stays in use")
	assert.Contains(t, s.logText(), `drain_seconds in callboard.yaml = \"soon\"`)
	assert.Equal(t, "second", shown())
	assert.True(t, live(), "the call continues")

	s.await("a healthy watchdog", time.Minute, func() bool { return systemd.count(`^WATCHDOG=1$`) >= 2 })
	assert.Equal(t, []int{1, 2, 2}, []int{systemd.count("^READY=1\nSTATUS=$"), systemd.count(`^RELOADING=1\nMONOTONIC_USEC=\d+$`), systemd.count("^READY=1$")})
	s.stop()
	assert.Equal(t, 1, systemd.count(`^STOPPING=1$`))
}

func TestStartWaitsForRedis(t *testing.T) {
	t.Parallel()
	master := filepath.Join(t.TempDir(), "master.key")
	require.NoError(t, os.WriteFile(master, []byte(strings.Repeat("ab", 32)), 0o600))
	for kind, env := range map[string][]string{
		"alone":              nil,
		"one of nodes":       {"CALLBOARD_NODE_ADDR=127.0.0.1:" + strconv.Itoa(siptest.Port(t))},
		"a node with shards": {"CALLBOARD_NODE_ADDR=127.0.0.1:" + strconv.Itoa(siptest.Port(t)), "CALLBOARD_SHARDS=2"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			url, redis := redistest.Start(t)
			redis.Stop()
			s := prepareRaceFreeService(t, append(env, "CALLBOARD_REDIS_URL="+url, "CALLBOARD_MASTER_KEY_FILE="+master, "CALLBOARD_BLOBS_URL=file://"+t.TempDir(), "CALLBOARD_LEASE_SECONDS=1")...)
			systemd := s.useServiceManager(0)
			s.startProcess()
			s.await("the process to be alive", time.Minute, func() bool { return s.statusOfPath("/healthz") == http.StatusOK })
			status, text, head := s.tryRequest("GET", "/readyz", nil)
			assert.Equal(t, http.StatusServiceUnavailable, status)
			assert.Contains(t, string(text), `"message":"Not ready: the store is unavailable: Redis cannot be reached"`)
			assert.NotEmpty(t, head.Get("Retry-After"))
			status, _, _ = s.tryRequest("GET", "/v1/campaigns", nil)
			assert.Equal(t, http.StatusServiceUnavailable, status)
			s.sendSIGHUP()
			s.await("more attempts", time.Minute, func() bool {
				return systemd.count(`^STATUS=the store is unavailable: Redis cannot be reached\nEXTEND_TIMEOUT_USEC=\d+$`) >= 3
			})
			assert.Equal(t, 1, strings.Count(s.logText(), `msg="the start waits for the store"`), "one line per change")
			assert.Zero(t, systemd.count(`READY=1`))

			redis.Restart()
			s.await("readiness", time.Minute, func() bool { return s.statusOfPath("/readyz") == http.StatusOK })
			s.await("the READY message", time.Minute, func() bool { return systemd.count(`READY=1`) == 1 })
			assert.Equal(t, 1, strings.Count(s.logText(), "the start continues"))
			s.stop()
			assert.Zero(t, s.cmd.ProcessState.ExitCode())

			redis.Stop()
			s.startProcess()
			s.await("the process to be alive", time.Minute, func() bool { return s.statusOfPath("/healthz") == http.StatusOK })
			s.stop()
			assert.Zero(t, s.cmd.ProcessState.ExitCode(), "a waiting start ends at once after SIGTERM")
			assert.Contains(t, s.logText(), "stopped during the start")

			redis.Restart()
			errs, err := s.runServeWith("CALLBOARD_REDIS_URL=" + strings.TrimSuffix(url, "/0") + "/9999")
			require.Error(t, err)
			assert.Contains(t, errs, "redis_url: Redis has no database of this number")
			redis.RequirePassword("secret")
			for _, user := range []string{"", ":wrong@"} {
				errs, err = s.runServeWith("CALLBOARD_REDIS_URL=" + strings.Replace(url, "redis://", "redis://"+user, 1))
				require.Error(t, err)
				assert.Contains(t, errs, "redis_url: Redis refuses the user or the password")
			}
		})
	}
}

// statusOfPath returns the HTTP status of a GET request to a path, or 0 without a response.
func (s *service) statusOfPath(path string) int {
	resp, err := http.Get("http://" + s.http + path)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode
}

// runServeWith runs callboard serve with additional environment variables and waits until the process ends by itself.
func (s *service) runServeWith(env ...string) (stderr string, err error) {
	s.t.Helper()
	was := s.env
	defer func() { s.env = was }()
	s.env = append(append([]string{}, was...), env...)
	_, stderr, err = s.runCommand("serve")
	return stderr, err
}
