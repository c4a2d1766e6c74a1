package pebble_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	engine "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
)

// syncGate is a fault injector. While it is closed, syncs of the write-ahead log block.
type syncGate struct {
	shut    atomic.Pointer[chan struct{}]
	reached chan struct{}
}

func newGate() *syncGate { return &syncGate{reached: make(chan struct{}, 100)} }

func (g *syncGate) close() { c := make(chan struct{}); g.shut.Store(&c) }
func (g *syncGate) open()  { close(*g.shut.Swap(nil)) }

func (g *syncGate) wrap(fs vfs.FS) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		sync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if c := g.shut.Load(); c != nil && sync && strings.HasSuffix(op.Path, ".log") {
			g.reached <- struct{}{}
			<-*c
		}
		return nil
	}))
}

// commitUntilRefused makes up to 200 commits and stops at the first refused one. It writes enough data that Pebble
// starts new logs and manifests.
func commitUntilRefused(t *testing.T, d persistence.Driver) (acked int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ; acked < 200; acked++ {
		if _, err = d.Commit(ctx, pairCommit(0, 1+acked, 8<<10)); err != nil {
			return acked, err
		}
	}
	return acked, nil
}

func TestDiskErrorFailsStoreOnly(t *testing.T) {
	tests := map[string]func(errorfs.Op) bool{
		"the log cannot be synced": func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData)
		},
		"the log cannot be written": func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, ".log") && op.Kind == errorfs.OpFileWrite
		},
		"no new log can be created": func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite)
		},
		"the manifest cannot be written": func(op errorfs.Op) bool {
			return strings.Contains(op.Path, "MANIFEST") && op.Kind == errorfs.OpFileWrite
		},
	}
	for name, hit := range tests {
		t.Run(name, func(t *testing.T) {
			var broken atomic.Bool
			disk := vfs.NewCrashableMem()
			d, err := pebble.Open("data", pebble.Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if broken.Load() && hit(op) {
					return syscall.ENOSPC
				}
				return nil
			})), MemTable: smallTable})
			require.NoError(t, err)
			_, err = d.Commit(t.Context(), pairCommit(0, 0, 10))
			require.NoError(t, err)
			broken.Store(true)
			acked, err := commitUntilRefused(t, d)
			require.ErrorIs(t, err, persistence.ErrUnavailable)
			require.ErrorIs(t, d.Healthy(), persistence.ErrUnavailable)
			broken.Store(false)
			_, err = d.Commit(t.Context(), pairCommit(1, 0, 10))
			require.ErrorIs(t, err, persistence.ErrUnavailable, "the store stays failed until a restart")
			_, _, err = d.Get(t.Context(), persistence.Key{Table: "pair", ID: "0/000000a"})
			require.NoError(t, err, "reads still succeed")
			require.ErrorIs(t, d.Close(), persistence.ErrUnavailable)
			_, err = pebble.Open("data", pebble.Options{FS: disk})
			require.ErrorIs(t, err, persistence.ErrInUse, "a failed store keeps its directory locked")
			kept := countSurvivors(t, disk.CrashClone(vfs.CrashCloneCfg{}), "all")
			assert.GreaterOrEqual(t, kept[0], int64(acked)+1)
		})
	}
}

func TestStoreRecoversFromFailedTableWrites(t *testing.T) {
	var broken atomic.Bool
	d, err := pebble.Open("data", pebble.Options{FS: errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	})), MemTable: smallTable})
	require.NoError(t, err)
	broken.Store(true)
	done := make(chan error, 1)
	go func() { // commits wait once two memtables are full
		_, err := commitUntilRefused(t, d)
		done <- err
	}()
	require.Eventually(t, func() bool { return d.Healthy() != nil }, time.Minute, 10*time.Millisecond)
	require.ErrorIs(t, d.Healthy(), persistence.ErrUnavailable)
	broken.Store(false)
	require.Eventually(t, func() bool { return d.Healthy() == nil }, time.Minute, 10*time.Millisecond)
	require.NoError(t, <-done)
	require.NoError(t, d.Close())
}

func TestFullDiskRefusesCommitsUntilSpaceIsFree(t *testing.T) {
	disk := vfs.NewMem()
	d, err := pebble.Open("data", pebble.Options{FS: disk})
	require.NoError(t, err)
	_, err = d.Commit(t.Context(), pairCommit(0, 0, 10))
	require.NoError(t, err)
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20, TotalBytes: 1 << 30})
	require.Eventually(t, func() bool { return d.Healthy() != nil }, time.Minute, 10*time.Millisecond)
	require.ErrorIs(t, d.Healthy(), persistence.ErrDiskFull)
	_, err = d.Commit(t.Context(), pairCommit(0, 1, 10))
	require.ErrorIs(t, err, persistence.ErrDiskFull)
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 2 << 30})
	require.Eventually(t, func() bool { return d.Healthy() == nil }, time.Minute, 10*time.Millisecond)
	result, err := d.Commit(t.Context(), pairCommit(0, 1, 10))
	require.NoError(t, err)
	assert.Equal(t, persistence.Result{Versions: []uint64{1, 1}, Offset: 2, Sequences: []uint64{2}}, result, "the refused commit changed nothing")
	require.NoError(t, d.Close())
}

func TestReservedCommitsSucceedOnFullDisk(t *testing.T) {
	disk := vfs.NewMem()
	avail := func(bytes uint64) { disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: bytes, TotalBytes: 1 << 30}) }
	avail(1 << 30)
	d, err := pebble.Open("data", pebble.Options{FS: disk})
	require.NoError(t, err)
	reserve := func() bool { _, err := disk.Stat("data/reserve"); return err == nil }
	require.True(t, reserve())
	commit := func(i int, reserved bool) error {
		c := pairCommit(0, i, 10)
		c.Reserved = reserved
		_, err := d.Commit(t.Context(), c)
		return err
	}
	avail(4 << 20)
	require.Eventually(t, func() bool { return d.Healthy() != nil }, time.Minute, 10*time.Millisecond)
	require.ErrorIs(t, commit(0, false), domain.ErrStoreFull)
	require.True(t, reserve())
	require.NoError(t, commit(0, true))
	require.False(t, reserve(), "the reserve was used")
	require.NoError(t, commit(1, true), "while some space is free")
	avail(1 << 20)
	require.ErrorIs(t, commit(2, true), persistence.ErrDiskFull)
	avail(1 << 30)
	require.Eventually(t, func() bool { return d.Healthy() == nil && reserve() }, time.Minute, 10*time.Millisecond, "the reserve is created again")
	require.NoError(t, d.Close())
}

func TestLogAllocatesSpaceInSteps(t *testing.T) {
	dir := t.TempDir()
	var failed atomic.Int32
	d, err := pebble.Open(dir, pebble.Options{FS: errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFilePreallocate && strings.HasSuffix(op.Path, ".log") {
			failed.Add(1)
			return syscall.ENOSPC
		}
		return nil
	}))})
	require.NoError(t, err)
	_, err = d.Commit(t.Context(), pairCommit(0, 0, 3<<20))
	require.NoError(t, err, "a failed preallocation does not fail the log")
	assert.Positive(t, failed.Load())
	require.NoError(t, d.Close())
	d, err = pebble.Open(dir, pebble.Options{})
	require.NoError(t, err)
	_, err = d.Commit(t.Context(), pairCommit(0, 1, 10))
	require.NoError(t, err)
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	require.NoError(t, err)
	var used int64
	for _, name := range logs {
		var s syscall.Stat_t
		require.NoError(t, syscall.Stat(name, &s))
		used += s.Blocks * 512
	}
	assert.LessOrEqual(t, used, int64(2<<20))
	require.NoError(t, d.Close())
}

func TestPebbleStoreOfAnotherLayoutIsRefused(t *testing.T) {
	for layout, says := range map[string]string{"1": "stores are not migrated: begin with an empty data folder", "9": "install the Callboard that wrote it or a newer one"} {
		dir := t.TempDir()
		db, err := engine.Open(dir, &engine.Options{})
		require.NoError(t, err)
		require.NoError(t, db.Set([]byte("v"), []byte(layout), engine.Sync))
		require.NoError(t, db.Close())
		for range 2 { // the first refusal releases the directory
			_, err = pebble.Open(dir, pebble.Options{})
			require.ErrorIs(t, err, persistence.ErrFormat)
			require.ErrorContains(t, err, says)
		}
		_, _, err = pebble.ReadRow(dir, persistence.Key{Table: "t/", ID: "x"})
		require.ErrorContains(t, err, says)
	}
}

// TestMain runs holdDirectory instead of the tests if CALLBOARD_TEST_HOLD is set. A test starts its own binary so, as
// a second process that locks the directory.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CALLBOARD_TEST_HOLD"); dir != "" {
		holdDirectory(dir)
		return
	}
	m.Run()
}

// holdDirectory opens the store in dir, commits until an error occurs and prints the number of acknowledged commits
// after each commit.
func holdDirectory(dir string) {
	d, err := pebble.Open(dir, pebble.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; ; i++ {
		if _, err = d.Commit(context.Background(), pairCommit(0, i, 1000)); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("acked", i+1)
	}
}

func TestDirectoryIsLockedAndKillLosesNothing(t *testing.T) {
	dir := t.TempDir() + "/data"
	for round := range 3 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), "CALLBOARD_TEST_HOLD="+dir)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(out)
		acked := int64(0)
		for acked < 20+int64(round)*7 && lines.Scan() {
			_, err = fmt.Sscanf(lines.Text(), "acked %d", &acked)
			require.NoError(t, err, lines.Text())
		}
		_, err = pebble.Open(dir, pebble.Options{})
		require.ErrorIs(t, err, persistence.ErrInUse)
		require.ErrorContains(t, err, dir)
		require.NoError(t, child.Process.Kill())
		for lines.Scan() {
			_, _ = fmt.Sscanf(lines.Text(), "acked %d", &acked)
		}
		_ = child.Wait()
		d, err := pebble.Open(dir, pebble.Options{})
		require.NoError(t, err)
		_, err = pebble.Open(dir, pebble.Options{})
		require.ErrorIs(t, err, persistence.ErrInUse)
		_, _, err = d.Get(t.Context(), persistence.Key{Table: "pair", ID: fmt.Sprintf("0/%06db", acked-1)})
		require.NoError(t, err)
		require.NoError(t, d.Close())
		require.NoError(t, os.RemoveAll(dir))
	}
}
