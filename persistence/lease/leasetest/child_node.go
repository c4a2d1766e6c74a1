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

type childConfig struct {
	Store, Space, ID string
	Shards           int
	Lease            time.Duration
}

// Main runs the tests of a package. In a process that StartChild has started it runs a lease node instead. Every package
// that runs the suite calls Main from TestMain.
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

// serve runs a node in a child process. It writes a line for each Start and Stop of a shard, and executes the commands
// that it reads. "use" lists the shards that the node may use. "halt" stops the process with SIGSTOP. After SIGCONT it
// writes how many shards were started and which shards it may use. "leave" makes the node leave. The node ends when its
// input ends.
func serve(text string, open Open) error {
	var o childConfig
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
		Self: lease.Node{ID: o.ID}, Shards: o.Shards, MaxHandovers: o.Shards, RetryPause: 50 * time.Millisecond,
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
			if _, ok := h.UsableToken(shard); ok {
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
			before := len(h.StartedShards())
			stopOwnProcess()
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

// stopOwnProcess stops this process by SIGSTOP. It returns after SIGCONT.
func stopOwnProcess() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.Syscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(syscall.SIGSTOP))
}

// ChildNode is a lease node that runs in a separate process.
type ChildNode struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.Writer
	lines chan string
	// Numbers of shards that the child has started, released and lost, according to the lines read so far.
	Started  int // started
	Released int // released
	Lost     int // lost
}

// StartChild starts a process with a node that joins.
func (s Suite) StartChild(t testing.TB, id string, shards int) *ChildNode {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(childConfig{Store: s.Store, Space: space(t), ID: id, Shards: shards, Lease: s.ShortLease})
	if err != nil {
		t.Fatal(err)
	}
	c := &ChildNode{t: t, cmd: exec.CommandContext(context.Background(), self), lines: make(chan string, 1000)}
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
func (c *ChildNode) Signal(sig syscall.Signal) { _ = c.cmd.Process.Signal(sig) }

// SendLine sends a command line to the child process.
func (c *ChildNode) SendLine(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// ReadLine reads lines of the child until one begins with word, and returns the rest of that line.
func (c *ChildNode) ReadLine(word string) string {
	c.t.Helper()
	patience := time.NewTimer(time.Minute)
	defer patience.Stop()
	for {
		select {
		case line, ok := <-c.lines:
			first, rest, _ := strings.Cut(line, " ")
			switch {
			case !ok:
				c.t.Fatalf("the child process ended before it wrote %q", word)
			case first == "stop" && strings.HasSuffix(line, "true"):
				c.Lost++
			case first == "stop":
				c.Released++
			case first == "start":
				c.Started++
			}
			if first == word {
				return rest
			}
		case <-patience.C:
			c.t.Fatalf("the child process did not write %q", word)
		}
	}
}

// UsableShards returns the shards that the child node may use.
func (c *ChildNode) UsableShards() []string {
	c.t.Helper()
	c.SendLine("use")
	return strings.Fields(c.ReadLine("used"))
}

// waitUntilShared waits until holder and the child together may use all shards, and each of them some. It returns the
// number of the child's shards.
func (c *ChildNode) waitUntilShared(holder *TestHolder, shards int) (had int) {
	c.t.Helper()
	Eventually(c.t, "they share the shards", func() bool {
		had = len(c.UsableShards())
		here := 0
		for shard := range shards {
			if _, ok := holder.UsableToken(shard); ok {
				here++
			}
		}
		return had > 0 && here > 0 && had+here == shards
	})
	return had
}

const sharedShards = 24

func testKilledNode(t *testing.T, s Suite) {
	holder := s.JoinHolder(t, "parent", sharedShards, lease.Options{Lease: s.ShortLease})
	c := s.StartChild(t, "child", sharedShards)
	c.waitUntilShared(holder, sharedShards)
	before := holder.Tokens()
	c.Signal(syscall.SIGKILL)
	WaitUntilShared(t, sharedShards, holder)
	top := uint64(0)
	for _, token := range before {
		top = max(top, token.Epoch())
	}
	for shard, token := range holder.Tokens() {
		if before[shard] != token && token.Epoch() <= top {
			t.Errorf("shard %d was taken over with %q", shard, token)
		}
	}
}

func testPausedNode(t *testing.T, s Suite) {
	holder := s.JoinHolder(t, "parent", sharedShards, lease.Options{Lease: s.ShortLease})
	c := s.StartChild(t, "child", sharedShards)
	c.waitUntilShared(holder, sharedShards)
	c.SendLine("halt")
	WaitUntilShared(t, sharedShards, holder)
	c.Signal(syscall.SIGCONT)
	fields := strings.Fields(c.ReadLine("halted"))
	if fields[0] == "0" {
		t.Error("the check has no effect: without the deadline the child would hold no shard")
	}
	if len(fields) > 2 {
		t.Errorf("after a pause the child still uses the shards %v", fields[2:])
	}
	c.waitUntilShared(holder, sharedShards)
	if c.Lost == 0 {
		t.Error("the child did not report the shards that it has lost")
	}
}

func testLeavingNode(t *testing.T, s Suite) {
	holder := s.JoinHolder(t, "parent", sharedShards, lease.Options{Lease: longLease})
	s.ShortLease = longLease
	c := s.StartChild(t, "child", sharedShards)
	// A shard is usable shortly before its Start is reported. The test waits for Start, because a shard that was not started
	// is not stopped either.
	Eventually(t, "the child has started its shards", func() bool { return c.waitUntilShared(holder, sharedShards) == c.Started-c.Released })
	c.SendLine("leave")
	c.ReadLine("left")
	if c.Lost != 0 || c.Released != c.Started {
		t.Errorf("of %d shards the child has released %d and lost %d", c.Started, c.Released, c.Lost)
	}
	WaitUntilShared(t, sharedShards, holder)
	Eventually(t, "it is gone", func() bool { return len(holder.Engine.Nodes()) == 1 })
}
