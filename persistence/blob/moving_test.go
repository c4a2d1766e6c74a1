package blob_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/blob/blobtest"
	"github.com/callboard/callboard/persistence/s3/s3test"
)

type move struct {
	*testing.T
	dir    string
	server *s3test.Server
	disk   *blob.Disk
	both   *blob.Moving
}

func mover(t *testing.T) *move {
	t.Helper()
	m := &move{T: t, dir: t.TempDir(), server: s3test.New(t)}
	var err error
	m.disk, err = blob.NewDisk(m.dir, blobtest.Seal{})
	require.NoError(t, err)
	m.both = blob.NewMoving(blob.NewS3(bucket(t, m.server.URL, hasty()), "", blobtest.Seal{}), m.disk)
	return m
}

func (m *move) before(workspace, name, text string) {
	m.Helper()
	_, err := m.disk.Put(m.Context(), workspace, name, bytes.NewReader([]byte(text)))
	require.NoError(m, err)
}

func (m *move) read(workspace, name string) string {
	m.Helper()
	r, _, err := m.both.Open(m.Context(), workspace, name)
	require.NoError(m, err)
	b, err := io.ReadAll(r)
	require.NoError(m, err)
	require.NoError(m, r.Close())
	return string(b)
}

// all moves until nothing is left.
func (m *move) all(remove bool, within time.Duration) (done blob.Moved, steps int) {
	m.Helper()
	for next := ""; steps == 0 || next != ""; steps++ {
		var one blob.Moved
		var err error
		one, next, err = m.both.Move(m.Context(), next, remove, within)
		require.NoError(m, err)
		done.Add(one)
	}
	return done, steps
}

func TestWhatLiesOnDiskIsMovedStepByStepAndReadMeanwhile(t *testing.T) {
	m := mover(t)
	for i := range 5 {
		m.before("ws_1", fmt.Sprintf("a%d", i), strconv.Itoa(i))
		m.before("ws_2", fmt.Sprintf("b%d", i), string(blobtest.Noise(200_000)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(m.dir, "ws_1", "x.part"), []byte("half"), 0o600))
	assert.Equal(t, "3", m.read("ws_1", "a3"), "before it is moved")
	done, steps := m.all(false, 0)
	assert.Equal(t, 11, steps-1)
	assert.Equal(t, []int{10, 0, 0, 0, 1}, []int{done.Moved, done.There, done.Newer, done.Removed, done.Other})
	raw, err := os.ReadFile(filepath.Join(m.dir, "ws_2", "b4"))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(raw, m.server.Object("ws_2/b4")), "the same bytes")
	done, _ = m.all(true, time.Minute)
	assert.Equal(t, []int{0, 10, 0, 10, 1}, []int{done.Moved, done.There, done.Newer, done.Removed, done.Other})
	assert.Equal(t, "3", m.read("ws_1", "a3"), "after it")
	assert.Equal(t, string(blobtest.Noise(200_000)), m.read("ws_2", "b2"))
	left, err := filepath.Glob(filepath.Join(m.dir, "*", "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(m.dir, "ws_1", "x.part")}, left)
}

func TestAMoveThatBreaksOffLosesNothingAndGoesOn(t *testing.T) {
	m := mover(t)
	for i := range 6 {
		m.before("ws_1", fmt.Sprintf("a%d", i), strconv.Itoa(i))
	}
	asked := 0
	m.server.Fail(func(s3test.Request) s3test.Fault {
		if asked++; asked > 7 {
			return s3test.Reset
		}
		return s3test.None
	})
	_, _, err := m.both.Move(t.Context(), "", true, time.Minute)
	require.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "%v", err)
	m.server.Fail(nil)
	for i := range 6 {
		require.Eventually(t, func() bool {
			r, _, err := m.both.Open(t.Context(), "ws_1", fmt.Sprintf("a%d", i))
			return err == nil && r.Close() == nil
		}, 5*time.Second, time.Millisecond)
		assert.Equal(t, strconv.Itoa(i), m.read("ws_1", fmt.Sprintf("a%d", i)))
	}
	m.all(true, time.Minute)
	assert.Len(t, m.server.Keys(), 6)
}

func TestAStoreThatGivesOtherBytesBackMovesNothing(t *testing.T) {
	m := mover(t)
	m.before("ws_1", "a", "sound")
	m.server.Fail(func(r s3test.Request) s3test.Fault {
		if r.Method == http.MethodGet && r.Range != "" && m.server.Object("ws_1/a") != nil {
			m.server.Set("ws_1/a", bytes.Repeat([]byte{1}, len(m.server.Object("ws_1/a"))))
		}
		return s3test.None
	})
	_, _, err := m.both.Move(t.Context(), "", true, time.Minute)
	require.ErrorContains(t, err, "gives other bytes back")
	assert.Equal(t, "sound", m.read("ws_1", "a"), "the file is there")
}

func TestWhoeverChangesABlobWhileItIsMovedWins(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(m *move) error
		left   string // empty: nothing
	}{
		{"put", func(m *move) error {
			_, err := m.both.Put(m.Context(), "ws_1", "a", bytes.NewReader([]byte("newer")))
			return err
		}, "newer"},
		{"delete", func(m *move) error { return m.both.Delete(m.Context(), "ws_1", "a") }, ""},
		{"delete all", func(m *move) error { return m.both.DeleteAll(m.Context(), "ws_1") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mover(t)
			m.before("ws_1", "a", "of before")
			begun, changed := make(chan struct{}), make(chan error, 1)
			m.server.Fail(func(r s3test.Request) s3test.Fault {
				if r.Method == http.MethodPut {
					select {
					case <-begun:
					default:
						close(begun)
					}
				}
				return s3test.None
			})
			go func() {
				<-begun
				changed <- c.change(m)
			}()
			_, _, err := m.both.Move(t.Context(), "", false, time.Minute)
			require.NoError(t, err)
			require.NoError(t, <-changed)
			if c.left == "" {
				_, _, err := m.both.Open(t.Context(), "ws_1", "a")
				require.ErrorIs(t, err, domain.ErrNotFound)
				assert.Empty(t, m.server.Keys())
				return
			}
			assert.Equal(t, c.left, m.read("ws_1", "a"))
			done, _ := m.all(true, time.Minute)
			assert.Zero(t, done.Moved+done.Newer, "its file is gone")
			assert.Equal(t, c.left, m.read("ws_1", "a"))
		})
	}
}

func TestBothTogetherAreAStoreOfBlobs(t *testing.T) {
	m := mover(t)
	m.before("ws_1", "a", "of before")
	_, err := m.both.Put(t.Context(), "ws_1", "a", bytes.NewReader([]byte("newer")))
	require.NoError(t, err)
	assert.Equal(t, "newer", m.read("ws_1", "a"))
	m.before("ws_1", "b", "of before")
	require.NoError(t, m.both.Delete(t.Context(), "ws_1", "a"))
	require.NoError(t, m.both.Delete(t.Context(), "ws_1", "b"))
	for _, name := range []string{"a", "b", "never"} {
		_, _, err = m.both.Open(t.Context(), "ws_1", name)
		require.ErrorIs(t, err, domain.ErrNotFound)
	}
}
