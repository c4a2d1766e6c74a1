// Package etcdtest runs a real etcd for tests: one member on private ports, in a
// folder of the test. It knows no lease.
package etcdtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = time.Minute

// Server is an etcd of a test. Its methods fail the test where they cannot do
// their work.
type Server struct {
	t            testing.TB
	dir          string
	client, peer int

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
}

// Start runs an etcd until the test ends and returns its URL.
func Start(t testing.TB) (url string, server *Server) {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), client: freePort(t), peer: freePort(t)}
	if err := s.start(); err != nil {
		t.Fatalf("etcdtest: %v\n%s", err, s.log())
	}
	t.Cleanup(s.Kill)
	return s.URL(), s
}

// URL is where the server listens, also while it is down.
func (s *Server) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", s.client) }

func (s *Server) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b)
}

// Ports are below those of the Redis servers of tests (redistest), and taken as
// those are.
const portLow, portCount = 9300, 200

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
		l, err := lc.Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			_ = name.Close()
			continue
		}
		_ = l.Close()
		t.Cleanup(func() { _ = name.Close() })
		return port
	}
	t.Fatal("etcdtest: no port is free")
	return 0
}

func (s *Server) start() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	peer := fmt.Sprintf("http://127.0.0.1:%d", s.peer)
	cmd := exec.CommandContext(context.Background(), "etcd", "--data-dir", filepath.Join(s.dir, "data"),
		"--listen-client-urls", s.URL(), "--advertise-client-urls", s.URL(),
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	cmd.Stdout, cmd.Stderr = log, log
	if err = cmd.Start(); err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	s.mu.Lock()
	s.cmd, s.exited = cmd, exited
	s.mu.Unlock()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		select {
		case <-exited:
			return errors.New("etcd ended at once")
		case <-time.After(10 * time.Millisecond):
		}
		if s.ready() {
			return nil
		}
	}
	return errors.New("etcd does not answer")
}

// ready says whether the server serves.
func (s *Server) ready() bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(s.URL() + "/health")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill() {
	s.signal(syscall.SIGKILL)
	s.mu.Lock()
	exited := s.exited
	s.mu.Unlock()
	<-exited
}

// Restart starts the server again after Kill, on the same ports and data.
func (s *Server) Restart() {
	s.t.Helper()
	if err := s.start(); err != nil {
		s.t.Fatalf("etcdtest: %v\n%s", err, s.log())
	}
}

// Pause freezes the server (SIGSTOP): connections stay, nobody answers.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Continue ends a Pause.
func (s *Server) Continue() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.cmd.Process.Signal(sig)
}
