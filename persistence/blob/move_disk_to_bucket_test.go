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
	"github.com/callboard/callboard/persistence/blob/s3test"
)

// moveTest is a test with a folder of blobs and an S3 bucket.
type moveTest struct {
	*testing.T
	dir    string
	server *s3test.Server
	disk   *blob.Disk
	bucket *blob.S3
}

func newMoveTest(t *testing.T) *moveTest {
	t.Helper()
	m := &moveTest{T: t, dir: t.TempDir(), server: s3test.New(t)}
	var err error
	m.disk, err = blob.NewDisk(m.dir, blobtest.FakeSealer{})
	require.NoError(t, err)
	m.bucket = newS3(t, m.server.URL, "", limitsWithShortOpenPeriod())
	return m
}

func (m *moveTest) put(workspace, name, text string) {
	m.Helper()
	_, err := m.disk.Put(m.Context(), workspace, name, bytes.NewReader([]byte(text)))
	require.NoError(m, err)
}

// move moves all blobs that remain in the folder to the bucket.
func (m *moveTest) move() (blob.MoveResult, error) {
	return blob.MoveToBucket(m.Context(), m.disk, m.bucket, func(blob.MoveResult) {})
}

func (m *moveTest) isEmpty() bool {
	m.Helper()
	empty, err := m.disk.Empty()
	require.NoError(m, err)
	return empty
}

func (m *moveTest) read(workspace, name string) string {
	m.Helper()
	r, _, err := m.bucket.Open(m.Context(), workspace, name)
	require.NoError(m, err)
	b, err := io.ReadAll(r)
	require.NoError(m, err)
	require.NoError(m, r.Close())
	return string(b)
}

func TestMoveToBucket(t *testing.T) {
	m := newMoveTest(t)
	assert.True(t, m.isEmpty())
	for i := range 5 {
		m.put("ws_1", fmt.Sprintf("a%d", i), strconv.Itoa(i))
		m.put("ws_2", fmt.Sprintf("b%d", i), string(blobtest.RandomBytes(200_000)))
	}
	half := filepath.Join(m.dir, "ws_1", "x.part")
	require.NoError(t, os.WriteFile(half, []byte("half"), 0o600))
	assert.False(t, m.isEmpty())
	raw, err := os.ReadFile(filepath.Join(m.dir, "ws_2", "b4"))
	require.NoError(t, err)
	done, err := m.move()
	require.NoError(t, err)
	assert.Equal(t, []int{10, 0, 1}, []int{done.Copied, done.AlreadyStored, done.Skipped})
	assert.Greater(t, done.Bytes, int64(1_000_000))
	assert.True(t, bytes.Equal(raw, m.server.Object("ws_2/b4")), "the same bytes")
	assert.Equal(t, "3", m.read("ws_1", "a3"))
	left, err := filepath.Glob(filepath.Join(m.dir, "*", "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{half}, left)
	assert.True(t, m.isEmpty())
}

func TestMoveToBucketContinuesAfterFailure(t *testing.T) {
	m := newMoveTest(t)
	for i := range 6 {
		m.put("ws_1", fmt.Sprintf("a%d", i), strconv.Itoa(i))
	}
	asked := 0
	m.server.InjectFaults(func(s3test.Request) s3test.Fault {
		if asked++; asked > 7 {
			return s3test.ResetBefore
		}
		return s3test.None
	})
	_, err := m.move()
	require.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "%v", err)
	m.server.InjectFaults(nil)
	require.Eventually(t, func() bool { _, err = m.move(); return err == nil }, 5*time.Second, time.Millisecond, "%v", err)
	for i := range 6 {
		assert.Equal(t, strconv.Itoa(i), m.read("ws_1", fmt.Sprintf("a%d", i)))
	}
	assert.True(t, m.isEmpty())
}

func TestMoveToBucketKeepsFileIfObjectDiffers(t *testing.T) {
	for name, wrong := range map[string]func(m *moveTest){
		"the store changes the bytes": func(m *moveTest) {
			m.server.InjectFaults(func(r s3test.Request) s3test.Fault {
				if r.Method == http.MethodGet && r.Range != "" && m.server.Object("ws_1/a") != nil {
					m.server.SetObject("ws_1/a", bytes.Repeat([]byte{1}, len(m.server.Object("ws_1/a"))))
				}
				return s3test.None
			})
		},
		"another object with this name exists": func(m *moveTest) { m.server.SetObject("ws_1/a", []byte("another one")) },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMoveTest(t)
			m.put("ws_1", "a", "sound")
			wrong(m)
			_, err := m.move()
			require.Error(t, err)
			assert.False(t, m.isEmpty())
		})
	}
}
