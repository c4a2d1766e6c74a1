package leasetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/callboard/callboard/persistence/lease"
)

const childEnv = "LEASETEST_CHILD"

type order struct {
	Store, Space, ID string
	Shards           int
	Lease            time.Duration
}

// Main runs the tests of a driver. In a process that a test has started it is a
// node instead; every package that runs the suite has it as TestMain.
func Main(m *testing.M, open Open) {
	if text := os.Getenv(childEnv); text != "" {
		if err := serve(text, open); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve is a node that says a line for whatever it is called for, and does what
// the lines it reads tell: "use" says which shards it may use, "halt" stops the
// process and says after that which ones it still has and may use, "leave"
// leaves. It ends with its input.
func serve(text string, open Open) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	e, err := open(o.Store, o.Space, lease.Options{Lease: o.Lease})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintln(os.Stdout, words...)
	}
	h := lease.NewHolder(e, lease.Config{
		Self: lease.Node{ID: o.ID}, Shards: o.Shards, Handover: o.Shards, Pause: 50 * time.Millisecond,
		Start: func(_ context.Context, shard int, token lease.Token) error { say("start", shard, token); return nil },
		Stop:  func(shard int, lost bool) { say("stop", shard, lost) },
	})
	ctx := context.Background()
	if err = h.Join(ctx); err != nil {
		return err
	}
	used := func() string {
		var list []string
		for shard := range o.Shards {
			if _, ok := h.Use(shard); ok {
				list = append(list, strconv.Itoa(shard))
			}
		}
		return strings.Join(list, " ")
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "use":
			say("used", used())
		case "halt":
			before := len(h.Held())
			halt()
			used := used()
			say("halted", before, "used", used)
		case "leave":
			if err = h.Leave(ctx); err != nil {
				return err
			}
			say("left")
		}
	}
	return nil
}

// halt stops the process before it goes on with the next line.
func halt() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.Syscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(syscall.SIGSTOP))
}

// Child is a node in a process of its own.
type Child struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.Writer
	lines chan string
	// In the lines read so far, shards that it
	Started int
	Gave    int // gave back
	Lost    int // has been told of as lost
}

// Child starts a process that joins.
func (s Suite) Child(t testing.TB, id string, shards int) *Child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(order{Store: s.Store, Space: space(t), ID: id, Shards: shards, Lease: s.Short})
	if err != nil {
		t.Fatal(err)
	}
	c := &Child{t: t, cmd: exec.CommandContext(context.Background(), self), lines: make(chan string, 1000)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in = in
	if err = c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for read := bufio.NewScanner(out); read.Scan(); {
			c.lines <- read.Text()
		}
	}()
	t.Cleanup(func() {
		c.Signal(syscall.SIGKILL)
		_ = c.cmd.Wait()
	})
	return c
}

// Signal sends the process a signal.
func (c *Child) Signal(sig syscall.Signal) { _ = c.cmd.Process.Signal(sig) }

// Tell sends a line.
func (c *Child) Tell(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// Hear reads up to a line that begins with a word and returns the rest of it.
func (c *Child) Hear(word string) string {
	c.t.Helper()
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	for {
		select {
		case line, ok := <-c.lines:
			first, rest, _ := strings.Cut(line, " ")
			switch {
			case !ok:
				c.t.Fatalf("the child ended before it said %q", word)
			case first == "stop" && strings.HasSuffix(line, "true"):
				c.Lost++
			case first == "stop":
				c.Gave++
			case first == "start":
				c.Started++
			}
			if first == word {
				return rest
			}
		case <-patience.C:
			c.t.Fatalf("the child never said %q", word)
		}
	}
}

// Used are the shards that the child may use.
func (c *Child) Used() []string {
	c.t.Helper()
	c.Tell("use")
	return strings.Fields(c.Hear("used"))
}

// beside waits until a seat and a child share the shards.
func (c *Child) beside(seat *Seat, shards int) (had int) {
	c.t.Helper()
	Eventually(c.t, "they share the shards", func() bool {
		had = len(c.Used())
		here := 0
		for shard := range shards {
			if _, ok := seat.Use(shard); ok {
				here++
			}
		}
		return had > 0 && here > 0 && had+here == shards
	})
	return had
}

const shared = 24

func killed(t *testing.T, s Suite) {
	seat := s.Sit(t, "parent", shared, lease.Options{Lease: s.Short})
	c := s.Child(t, "child", shared)
	c.beside(seat, shared)
	before := seat.Tokens()
	c.Signal(syscall.SIGKILL)
	Settled(t, shared, seat)
	top := uint64(0)
	for _, token := range before {
		top = max(top, token.Epoch())
	}
	for shard, token := range seat.Tokens() {
		if before[shard] != token && token.Epoch() <= top {
			t.Errorf("shard %d was taken over with %q", shard, token)
		}
	}
}

func stopped(t *testing.T, s Suite) {
	seat := s.Sit(t, "parent", shared, lease.Options{Lease: s.Short})
	c := s.Child(t, "child", shared)
	c.beside(seat, shared)
	c.Tell("halt")
	Settled(t, shared, seat)
	c.Signal(syscall.SIGCONT)
	fields := strings.Fields(c.Hear("halted"))
	if fields[0] == "0" {
		t.Error("the control shows nothing: without the deadline the child would have nothing to act for")
	}
	if len(fields) > 2 {
		t.Errorf("after a pause the child still uses the shards %v", fields[2:])
	}
	c.beside(seat, shared)
	if c.Lost == 0 {
		t.Error("the child was not told of what it has lost")
	}
}

func leaves(t *testing.T, s Suite) {
	seat := s.Sit(t, "parent", shared, lease.Options{Lease: steady})
	s.Short = steady
	c := s.Child(t, "child", shared)
	// A shard may be used a little before it is started; one that never was is not stopped either.
	Eventually(t, "the child has started its shards", func() bool { return c.beside(seat, shared) == c.Started-c.Gave })
	c.Tell("leave")
	c.Hear("left")
	if c.Lost != 0 || c.Gave != c.Started {
		t.Errorf("of %d shards the child has given %d and lost %d", c.Started, c.Gave, c.Lost)
	}
	Settled(t, shared, seat)
	Eventually(t, "it is gone", func() bool { return len(seat.Engine.Nodes()) == 1 })
}
