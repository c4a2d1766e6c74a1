// Package redistest runs real Redis servers for tests. Each has a port and a folder of its own and writes to disk
// before it answers.
package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const startTimeout = time.Minute

// Server is a redis-server of a test. Its methods fail the test if they do not succeed.
type Server struct {
	t    testing.TB
	dir  string
	port int
	args []string

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start runs a redis-server until the test ends and returns its URL. args are added to its command line and
// override the defaults.
func Start(t testing.TB, args ...string) (url string, server *Server) {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), args: args}
	for try := range 5 { // another process may take the port before the server does
		s.port = freePort(t)
		err := s.start()
		if err == nil {
			break
		}
		if try == 4 {
			t.Fatalf("redistest: %v\n%s", err, s.log())
		}
	}
	t.Cleanup(s.Kill)
	return s.URL(), s
}

// URL returns the URL of the server, which stays the same while the server is stopped.
func (s *Server) URL() string { return "redis://" + s.addr() + "/0" }

func (s *Server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *Server) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
	return string(b)
}

// The ports of the servers are below the ephemeral ports of the system and apart from those of sip/siptest. So no other
// connection takes the port of a stopped server before it restarts.
const portLow, portCount = 9500, 500

// freePort returns a loopback port that stays free until the test ends. It listens on an abstract Unix socket with the
// number of the port, so that test processes of other packages do not choose the same port.
func freePort(t testing.TB) int {
	t.Helper()
	var lc net.ListenConfig
	first := rand.IntN(portCount)
	for i := range portCount {
		port := portLow + (first+i)%portCount
		name, err := lc.Listen(context.Background(), "unix", fmt.Sprintf("@callboard-test-ports-%d", port))
		if err != nil {
			continue
		}
		l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			_ = name.Close()
			continue
		}
		_ = l.Close()
		t.Cleanup(func() { _ = name.Close() })
		return port
	}
	t.Fatal("redistest: no port is free")
	return 0
}

func (s *Server) start() error {
	args := append([]string{
		"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.dir, "--logfile", "redis.log",
		"--appendonly", "yes", "--appendfsync", "always", "--save", "", "--maxmemory-policy", "noeviction",
		"--repl-diskless-sync-delay", "0", // a replica need not wait five seconds for other replicas,
		"--repl-ping-replica-period", "1", // nor ten seconds for a ping that shows that it follows
	}, s.args...)
	cmd := exec.CommandContext(context.Background(), "redis-server", args...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	s.mu.Lock()
	s.cmd, s.exited = cmd, exited
	s.mu.Unlock()
	deadline := time.NewTimer(startTimeout)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-exited:
			return errors.New("redis-server ended at once")
		case <-deadline.C:
			return errors.New("redis-server does not answer")
		case <-poll.C:
			if s.isReady() {
				return nil
			}
		}
	}
}

// isReady reports whether the server answers and has loaded its data.
func (s *Server) isReady() bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(context.Background(), "tcp", s.addr())
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	if err = c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	if _, err = c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "+PONG")
}

// stopWith sends a signal to the server and waits until its process has ended.
func (s *Server) stopWith(sig syscall.Signal) {
	s.mu.Lock()
	cmd, exited := s.cmd, s.exited
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(sig)
	t := time.NewTimer(startTimeout)
	defer t.Stop()
	select {
	case <-exited:
	case <-t.C:
		s.t.Errorf("redistest: redis-server still runs after signal %v", sig)
		_ = cmd.Process.Kill()
		<-exited
	}
}

// Stop stops the server cleanly.
func (s *Server) Stop() { s.stopWith(syscall.SIGTERM) }

// Kill kills the server with SIGKILL.
func (s *Server) Kill() { s.stopWith(syscall.SIGKILL) }

// Restart starts the server again with the same port and data. A running server is stopped first.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	if err := s.start(); err != nil {
		s.t.Fatalf("redistest: %v\n%s", err, s.log())
	}
}

// Pause freezes the server with SIGSTOP. Connections stay open, but the server does not answer.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Continue lets a server run again that Pause has frozen.
func (s *Server) Continue() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("redistest: signal %v: %v", sig, err)
	}
}
