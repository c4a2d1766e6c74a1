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

// Replica runs a redis-server that follows another one and returns once it has
// everything and has said so: until then a server that copied itself without a
// disk holds back what is new.
func Replica(t testing.TB, of *Server) *Server {
	t.Helper()
	_, s := Start(t, "--replicaof", "127.0.0.1 "+strconv.Itoa(of.port))
	deadline := time.Now().Add(patience)
	follows := regexp.MustCompile(fmt.Sprintf("port=%d,state=online,offset=[1-9]", s.port))
	for !follows.MatchString(of.ask("INFO replication")) {
		if time.Now().After(deadline) {
			t.Fatalf("redistest: the replica does not follow\n%s", s.log())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s
}

// Promote ends the following: what the other server takes from now on, this
// one has never seen.
func (s *Server) Promote() {
	s.t.Helper()
	if answer := s.ask("REPLICAOF NO ONE"); !strings.HasPrefix(answer, "+OK") {
		s.t.Fatalf("redistest: promote: %s", answer)
	}
}

// Guard asks everybody for a password from then on.
func (s *Server) Guard(password string) { s.ask("CONFIG SET requirepass " + password) }

// Fill leaves no memory for anything new, until Drain.
func (s *Server) Fill() { s.ask("CONFIG SET maxmemory 1") }

// Drain makes room again.
func (s *Server) Drain() { s.ask("CONFIG SET maxmemory 0") }

// Mark is how much the server has written down so far.
func (s *Server) Mark() int64 {
	s.t.Helper()
	info, err := os.Stat(s.written())
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	return info.Size()
}

// KillAndForget kills the server and takes away what it wrote since the mark,
// as a power cut does where a disk says too early that it has everything.
func (s *Server) KillAndForget(mark int64) {
	s.t.Helper()
	s.Kill()
	if err := os.Truncate(s.written(), mark); err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
}

// written is the file that the server appends its writes to.
func (s *Server) written() string {
	all, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(all) != 1 {
		s.t.Fatalf("redistest: the server writes to %v: %v", all, err)
	}
	return all[0]
}

// ask sends one inline command and returns what is answered within a moment.
func (s *Server) ask(command string) string {
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

// Way is an address behind which servers are changed, as a fail-over does it.
type Way struct {
	listener net.Listener

	mu    sync.Mutex
	to    *Server
	conns map[net.Conn]bool
}

// NewWay opens an address that leads to a server until the test ends.
func NewWay(t testing.TB, to *Server) *Way {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	w := &Way{listener: l, to: to, conns: make(map[net.Conn]bool)}
	t.Cleanup(func() { _ = l.Close(); w.To(nil) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

// URL is where clients connect.
func (w *Way) URL() string { return "redis://" + w.listener.Addr().String() + "/0" }

// To leads to another server from now on; every connection is cut.
func (w *Way) To(s *Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = s
	for c := range w.conns {
		_ = c.Close()
	}
}

func (w *Way) carry(c net.Conn) {
	defer func() { _ = c.Close() }()
	w.mu.Lock()
	to := w.to
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
	if w.to != to {
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

// Has says whether some key of the server holds the text in its name.
func (s *Server) Has(text string) bool { return strings.Contains(s.ask("KEYS *"), text) }
