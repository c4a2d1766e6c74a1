package redistest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// StartReplica starts a redis-server that replicates another one. It returns once the replica has all data and has
// acknowledged them. Writes before that would not be replicated at once, because a diskless primary delays them.
func StartReplica(t testing.TB, of *Server) *Server {
	t.Helper()
	_, s := Start(t, "--replicaof", "127.0.0.1 "+strconv.Itoa(of.port))
	deadline := time.Now().Add(startTimeout)
	follows := regexp.MustCompile(fmt.Sprintf("port=%d,state=online,offset=[1-9]", s.port))
	for !follows.MatchString(of.sendCommand("INFO replication")) {
		if time.Now().After(deadline) {
			t.Fatalf("redistest: the replica does not follow\n%s", s.log())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s
}

// Promote ends the replication. The server does not get later writes to the primary.
func (s *Server) Promote() {
	s.t.Helper()
	if answer := s.sendCommand("REPLICAOF NO ONE"); !strings.HasPrefix(answer, "+OK") {
		s.t.Fatalf("redistest: promote: %s", answer)
	}
}

// RequirePassword makes the server require a password.
func (s *Server) RequirePassword(password string) {
	s.sendCommand("CONFIG SET requirepass " + password)
}

// FillMemory makes the server refuse new data for lack of memory, until FreeMemory is called.
func (s *Server) FillMemory() { s.sendCommand("CONFIG SET maxmemory 1") }

// FreeMemory removes the memory limit that FillMemory set.
func (s *Server) FreeMemory() { s.sendCommand("CONFIG SET maxmemory 0") }

// WrittenBytes returns the size of the append-only file.
func (s *Server) WrittenBytes() int64 {
	s.t.Helper()
	info, err := os.Stat(s.appendOnlyFile())
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	return info.Size()
}

// KillAndTruncate kills the server and truncates its append-only file to mark bytes. It simulates a power cut with a
// disk that acknowledged writes too early.
func (s *Server) KillAndTruncate(mark int64) {
	s.t.Helper()
	s.Kill()
	if err := os.Truncate(s.appendOnlyFile(), mark); err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
}

// appendOnlyFile returns the path of the server's incremental append-only file.
func (s *Server) appendOnlyFile() string {
	all, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(all) != 1 {
		s.t.Fatalf("redistest: append-only files %v, expected one: %v", all, err)
	}
	return all[0]
}

// sendCommand sends one inline command and returns the answer.
func (s *Server) sendCommand(command string) string {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(context.Background(), "tcp", s.addr())
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err = fmt.Fprintf(c, "%s\r\nQUIT\r\n", command); err != nil {
		return err.Error()
	}
	text, _ := io.ReadAll(bufio.NewReader(c))
	return string(text)
}

// Proxy is a TCP address that forwards connections to a Redis server. SwitchTo replaces that server, as in a fail-over.
type Proxy struct {
	listener net.Listener

	mu     sync.Mutex
	target *Server
	conns  map[net.Conn]bool
}

// NewProxy opens an address that forwards to a server until the test ends.
func NewProxy(t testing.TB, to *Server) *Proxy {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	w := &Proxy{listener: l, target: to, conns: make(map[net.Conn]bool)}
	t.Cleanup(func() { _ = l.Close(); w.SwitchTo(nil) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.forward(c)
		}
	}()
	return w
}

// URL returns the Redis URL of the proxy.
func (w *Proxy) URL() string { return "redis://" + w.listener.Addr().String() + "/0" }

// SwitchTo forwards to another server from now on. Open connections are closed.
func (w *Proxy) SwitchTo(s *Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target = s
	for c := range w.conns {
		_ = c.Close()
	}
}

func (w *Proxy) forward(c net.Conn) {
	defer func() { _ = c.Close() }()
	w.mu.Lock()
	to := w.target
	w.mu.Unlock()
	if to == nil {
		return
	}
	d := net.Dialer{Timeout: time.Second}
	s, err := d.DialContext(context.Background(), "tcp", to.addr())
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	w.mu.Lock()
	if w.target != to {
		w.mu.Unlock()
		return
	}
	w.conns[c], w.conns[s] = true, true
	w.mu.Unlock()
	go func() { _, _ = io.Copy(s, c); _ = s.Close() }()
	_, _ = io.Copy(c, s)
	w.mu.Lock()
	delete(w.conns, c)
	delete(w.conns, s)
	w.mu.Unlock()
}

// HasKey reports whether any key of the server contains a text.
func (s *Server) HasKey(text string) bool { return strings.Contains(s.sendCommand("KEYS *"), text) }
