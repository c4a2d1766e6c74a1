// Package redistest runs real Redis servers for tests: on a private port, in a
// folder of the test, with every write on disk before it is answered. It knows
// no store.
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

const patience = time.Minute

// Server is a redis-server of a test. Its methods fail the test where they
// cannot do their work.
type Server struct {
	t    testing.TB
	dir  string
	port int
	args []string

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start runs a redis-server until the test ends and returns its URL. Further
// arguments are added to its command line and win over the defaults.
func Start(t testing.TB, args ...string) (url string, server *Server) {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), args: args}
	for try := range 5 { // the port may be taken between the look and the start
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

// URL is where the server listens, also while it is down.
func (s *Server) URL() string { return "redis://" + s.addr() + "/0" }

func (s *Server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

func (s *Server) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
	return string(b)
}

// Ports are taken below those that the system gives to whoever asks for any,
// and clear of those of the phones (sip/siptest): a server that is down leaves
// its port free, and no connection of anybody gets it until it comes back.
const portLow, portCount = 9500, 500

// freePort is a port of loopback that is free, until the test ends. A name that
// only one process can have, and that ends with its process, says to the tests
// of other packages that it is taken.
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
		"--repl-diskless-sync-delay", "0", // a replica has not to wait five seconds for others,
		"--repl-ping-replica-period", "1", // nor ten to say that it follows where nothing is written
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
	deadline := time.NewTimer(patience)
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
			if s.ready() {
				return nil
			}
		}
	}
}

// ready says whether the server answers and has loaded its data.
func (s *Server) ready() bool {
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

// end sends a signal and waits until the process is gone.
func (s *Server) end(sig syscall.Signal) {
	s.mu.Lock()
	cmd, exited := s.cmd, s.exited
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(sig)
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-exited:
	case <-t.C:
		s.t.Errorf("redistest: redis-server outlives signal %v", sig)
		_ = cmd.Process.Kill()
		<-exited
	}
}

// Stop ends the server in order.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the server with SIGKILL.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Restart starts the server again, on the same port and data, after Stop or
// Kill; a running one is stopped first.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	if err := s.start(); err != nil {
		s.t.Fatalf("redistest: %v\n%s", err, s.log())
	}
}

// Pause freezes the server (SIGSTOP): connections stay, nobody answers.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Continue ends a Pause.
func (s *Server) Continue() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("redistest: signal %v: %v", sig, err)
	}
}
