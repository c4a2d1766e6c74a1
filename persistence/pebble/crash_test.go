package pebble_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
)

const (
	crashWriters = 4
	powerCuts    = 200
	smallTable   = 128 << 10
)

func pairName(w, i int) string { return fmt.Sprintf("%d/%06d", w, i) }

// pairCommit returns a commit that writes two rows, each in one list, and one event. A test can thus detect a commit of
// which only a part was stored.
func pairCommit(w, i, size int) persistence.Commit {
	name := pairName(w, i)
	row := func(side string) persistence.Put {
		return persistence.Put{
			Key: persistence.Key{Table: "pair", ID: name + side}, Value: make([]byte, size), Lists: []string{"all"}, Sort: name,
		}
	}
	return persistence.Commit{
		Log: "ws", Puts: []persistence.Put{row("a"), row("b")},
		Events: []persistence.Event{{Subject: strconv.Itoa(w), Payload: []byte(name)}},
	}
}

// keepWriting makes one commit of writer w for each value received from tickets. It sends w to acked after each
// acknowledged commit, and returns when tickets is closed.
func keepWriting(ctx context.Context, d persistence.Driver, w int, tickets <-chan struct{}, acked chan<- int) error {
	dice := rand.New(rand.NewPCG(uint64(w), rand.Uint64()))
	for i := 0; ; i++ {
		if _, more := <-tickets; !more {
			return nil
		}
		size := dice.IntN(2048)
		if dice.IntN(40) == 0 {
			size = 32 << 10 // so that memtables fill up and logs are switched
		}
		if _, err := d.Commit(ctx, pairCommit(w, i, size)); err != nil {
			return err
		}
		acked <- w
	}
}

// countSurvivors returns how many pairs of each writer the file system contains after a power cut. It fails the test
// if a pair is incomplete in the event log, in the table or in one of lists.
func countSurvivors(t *testing.T, fs vfs.FS, lists ...string) [crashWriters]int64 {
	t.Helper()
	d, err := pebble.Open("data", pebble.Options{FS: fs, MemTable: smallTable})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	var found, events [crashWriters]int64
	var last uint64
	for {
		entries, err := d.Events(t.Context(), "ws", last, 1000)
		require.NoError(t, err)
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			w := e.Subject[0] - '0'
			last, events[w] = last+1, events[w]+1
			if e.Offset != last || e.Sequence != uint64(events[w]) || string(e.Payload) != pairName(int(w), int(events[w])-1) {
				t.Fatalf("event %d of writer %d is %+v", last, w, e)
			}
		}
	}
	for _, list := range append(lists, "") {
		found = [crashWriters]int64{}
		r := persistence.Range{Table: "pair", List: list, Limit: 1000}
		for more := true; more; {
			page, err := d.Scan(t.Context(), r)
			require.NoError(t, err)
			for _, row := range page.Rows {
				w := row.ID[0] - '0'
				if want := pairName(int(w), int(found[w]/2)) + "ab"[found[w]%2:][:1]; row.ID != want {
					t.Fatalf("row %s where %s should stand", row.ID, want)
				}
				found[w]++
				r.After = row.Position
			}
			more = page.More
		}
		for w := range found {
			require.Equal(t, 2*events[w], found[w], "rows of writer %d", w)
		}
	}
	return events
}

// runPowerCuts lets several writers commit and simulates power cuts meanwhile. It returns how many of the power cuts
// waitForFailure acknowledged commits.
func runPowerCuts(t *testing.T, cuts, unsynced int, noSync bool) (losses int) {
	t.Helper()
	const burst = 12
	disk := vfs.NewCrashableMem()
	d, err := pebble.Open("data", pebble.Options{FS: disk, NoSync: noSync, MemTable: smallTable})
	require.NoError(t, err)
	tickets, acked, ended := make(chan struct{}, burst), make(chan int, burst), make(chan error, crashWriters)
	for w := range crashWriters {
		go func() { ended <- keepWriting(t.Context(), d, w, tickets, acked) }()
	}
	var promised [crashWriters]int64
	hear := func(n int64) {
		for range n {
			select {
			case w := <-acked:
				promised[w]++
			case err := <-ended:
				require.FailNow(t, "a writer ended", "%v", err)
			}
		}
	}
	dice := rand.New(rand.NewPCG(uint64(cuts), uint64(unsynced)))
	for n := range cuts {
		for range burst {
			tickets <- struct{}{}
		}
		heard := dice.Int64N(burst)
		hear(heard) // the other commits are under way
		after := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: dice})
		var lists []string
		if n%4 == 3 { // reading each row is slow with the race detector
			lists = []string{"all"}
		}
		kept := countSurvivors(t, after, lists...)
		for w := range promised {
			if kept[w] < promised[w] {
				losses++
				break
			}
		}
		hear(burst - heard)
	}
	close(tickets)
	for range crashWriters {
		require.NoError(t, <-ended)
	}
	require.NoError(t, d.Close())
	return losses
}

func TestPowerCutLosesNoAcknowledgedCommit(t *testing.T) {
	for n := range powerCuts / 10 {
		unsynced := n % 5 * 20
		assert.Zero(t, runPowerCuts(t, 10, unsynced, false), "cuts with losses, %d %% of unsynced data kept", unsynced)
	}
}

// A store that does not sync its log must lose acknowledged commits. This proves that runPowerCuts detects losses.
func TestPowerCutWithoutSyncLosesCommits(t *testing.T) {
	assert.Positive(t, runPowerCuts(t, 10, 0, true))
}

func TestReadersSeeDurableCommitsOnly(t *testing.T) {
	gate := newGate()
	d, err := pebble.Open("data", pebble.Options{FS: gate.wrap(vfs.NewMem())})
	require.NoError(t, err)
	_, err = d.Commit(t.Context(), pairCommit(0, 0, 10))
	require.NoError(t, err)
	gate.close()
	done := make(chan error, 1)
	go func() {
		_, err := d.Commit(t.Context(), pairCommit(0, 1, 10))
		done <- err
	}()
	<-gate.reached // the commit is in memory and waits for its sync
	entries, err := d.Events(t.Context(), "ws", 0, 10)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	page, err := d.Scan(t.Context(), persistence.Range{Table: "pair", Limit: 10})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 2)
	gate.open()
	require.NoError(t, <-done)
	entries, err = d.Events(t.Context(), "ws", 0, 10)
	require.NoError(t, err)
	assert.Len(t, entries, 2)
	require.NoError(t, d.Close())
}

func TestCancelledCommitReturnsAtOnce(t *testing.T) {
	gate := newGate()
	d, err := pebble.Open("data", pebble.Options{FS: gate.wrap(vfs.NewMem())})
	require.NoError(t, err)
	gate.close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-gate.reached; cancel() }()
	_, err = d.Commit(ctx, pairCommit(0, 0, 10))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, persistence.ErrClosed)
	gate.open()
	require.NoError(t, d.Close())
}
