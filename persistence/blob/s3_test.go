package blob_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/blob/blobtest"
	"github.com/callboard/callboard/persistence/s3"
	"github.com/callboard/callboard/persistence/s3/s3test"
)

func bucket(t *testing.T, url string, timing s3.Timing) *s3.Client {
	t.Helper()
	c, err := s3.New(s3.Config{
		Endpoint: url, Region: "us-east-1", Bucket: "calls", PathStyle: true, Timing: timing,
		Keys: func() (s3.Keys, error) { return s3.Keys{ID: "tester", Secret: "hush-hush"}, nil },
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// hasty gives up soon.
func hasty() s3.Timing {
	return s3.Timing{
		Still: 300 * time.Millisecond, Small: time.Second, Tries: 3, Pause: time.Millisecond,
		Rest: time.Millisecond, RestMost: 2 * time.Millisecond,
	}
}

func TestABucketIsAStoreOfBlobs(t *testing.T) {
	for name, fault := range map[string]func() func(s3test.Request) s3test.Fault{
		"as it should be": func() func(s3test.Request) s3test.Fault { return nil },
		"every third request goes wrong": func() func(s3test.Request) s3test.Fault {
			faults := []s3test.Fault{s3test.Broken, s3test.Busy, s3test.Reset, s3test.ResetEnd, s3test.Cut, s3test.Slow, s3test.Stall, s3test.Hang, s3test.HangEnd, s3test.LateFail}
			n := make(chan int, 1)
			n <- 0
			return func(r s3test.Request) s3test.Fault {
				i := <-n
				n <- i + 1
				f := faults[i/3%len(faults)]
				if i%3 > 0 || f == s3test.LateFail && (r.Method != http.MethodPost || strings.Contains(r.Query, "uploads")) {
					return s3test.None // the other faults would be lies of the store, not mishaps
				}
				return f
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			blobtest.Run(t, func(t *testing.T) blobtest.Place {
				server := s3test.New(t)
				server.Page = 10
				var timing s3.Timing // as in daily life, where nothing goes wrong
				if fault := fault(); fault != nil {
					server.Fail(fault)
					timing = hasty()
					timing.Tries, timing.Small = 6, 10*time.Second
				}
				return blobtest.Place{
					Store: blob.NewS3(bucket(t, server.URL, timing), "in/here", blobtest.Seal{}),
					Raw:   func(workspace, name string) []byte { return server.Object("in/here/" + workspace + "/" + name) },
					Set: func(workspace, name string, raw []byte) {
						server.Set("in/here/"+workspace+"/"+name, raw)
					},
					Left: func(workspace string) (names []string) {
						for _, key := range server.Keys() {
							if name, ours := strings.CutPrefix(key, "in/here/"+workspace+"/"); ours {
								names = append(names, name)
							}
						}
						if server.Open() > 0 {
							names = append(names, "an upload")
						}
						return names
					},
				}
			})
		})
	}
}

func TestARealServerIsAStoreOfBlobs(t *testing.T) {
	url := s3test.Gateway(t, "calls")
	n := make(chan int, 1)
	n <- 0
	blobtest.Run(t, func(t *testing.T) blobtest.Place {
		client := bucket(t, url, s3.Timing{})
		i := <-n
		n <- i + 1
		prefix := "p" + string(rune('a'+i)) + "/"
		return blobtest.Place{
			Store: blob.NewS3(client, prefix, blobtest.Seal{}),
			Raw: func(workspace, name string) []byte {
				raw := make([]byte, 1<<20)
				p, err := client.Get(t.Context(), prefix+workspace+"/"+name, 0, raw, "")
				require.NoError(t, err)
				return raw[:p.Got]
			},
			Set: func(workspace, name string, raw []byte) {
				require.NoError(t, client.Put(t.Context(), prefix+workspace+"/"+name, raw))
			},
			Left: func(workspace string) (names []string) {
				page, err := client.List(t.Context(), prefix+workspace+"/", "")
				require.NoError(t, err)
				for _, key := range page.Keys {
					names = append(names, strings.TrimPrefix(key, prefix+workspace+"/"))
				}
				open, err := client.Uploads(t.Context(), prefix+workspace+"/")
				require.NoError(t, err)
				for _, u := range open {
					names = append(names, "upload of "+u.Key)
				}
				return names
			},
		}
	})
	t.Run("IsTriedAndRefusesPlainly", func(t *testing.T) {
		s := blob.NewS3(bucket(t, url, s3.Timing{}), "", blobtest.Seal{})
		_, err := s.Try(t.Context())
		require.NoError(t, err)
		for name, c := range map[string]s3.Config{
			"the key is not known": {Bucket: "calls", Keys: func() (s3.Keys, error) { return s3.Keys{ID: "nobody", Secret: "hush-hush"}, nil }},
			"the secret is wrong":  {Bucket: "calls", Keys: func() (s3.Keys, error) { return s3.Keys{ID: "tester", Secret: "not-that"}, nil }},
			"no such bucket":       {Bucket: "nobodys", Keys: func() (s3.Keys, error) { return s3.Keys{ID: "tester", Secret: "hush-hush"}, nil }},
			"another region":       {Bucket: "calls", Region: "eu-x-1", Keys: func() (s3.Keys, error) { return s3.Keys{ID: "tester", Secret: "hush-hush"}, nil }},
		} {
			c.Endpoint, c.PathStyle = url, true
			if c.Region == "" {
				c.Region = "us-east-1"
			}
			client, err := s3.New(c)
			require.NoError(t, err)
			refused, err := blob.NewS3(client, "", blobtest.Seal{}).Try(t.Context())
			assert.True(t, refused, name)
			require.Error(t, err, name)
			assert.NotContains(t, err.Error(), "hush-hush")
			assert.NotContains(t, err.Error(), "not-that")
			t.Log(name + ": " + err.Error())
		}
	})
}

func TestAStoreThatIsAwaySaysWhenToComeBack(t *testing.T) {
	server := s3test.New(t)
	s := blob.NewS3(bucket(t, server.URL, hasty()), "", blobtest.Seal{})
	_, err := s.Put(t.Context(), "ws_1", "a", bytes.NewReader(blobtest.Noise(2_000_000)))
	require.NoError(t, err)
	open, _, err := s.Open(t.Context(), "ws_1", "a")
	require.NoError(t, err)
	for _, fault := range []s3test.Fault{s3test.Broken, s3test.Busy, s3test.Reset, s3test.Hang} {
		server.Fail(func(s3test.Request) s3test.Fault { return fault })
		_, _, errOpen := s.Open(t.Context(), "ws_1", "a")
		_, errPut := s.Put(t.Context(), "ws_1", "b", bytes.NewReader(nil))
		_, errRead := io.Copy(io.Discard, open)
		for what, err := range map[string]error{"open": errOpen, "put": errPut, "delete": s.Delete(t.Context(), "ws_1", "a"), "delete all": s.DeleteAll(t.Context(), "ws_1"), "read on": errRead} {
			require.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "%s: %v", what, err)
			e, _ := errors.AsType[*domain.Error](err)
			assert.Positive(t, e.Extra["retry_after"])
			require.NotErrorIs(t, err, blob.ErrDamaged)
			require.NotErrorIs(t, err, domain.ErrNotFound)
		}
	}
	server.Fail(nil)
	require.Eventually(t, func() bool { return s.Delete(t.Context(), "ws_1", "b") == nil }, 5*time.Second, time.Millisecond)
	_, err = open.Seek(0, io.SeekStart)
	require.NoError(t, err)
	all, err := io.ReadAll(open)
	require.NoError(t, err)
	assert.Len(t, all, 2_000_000)
	require.NoError(t, open.Close())
}

func TestWhatIsReadInOrderIsReadAheadAndASeekCostsOneChunk(t *testing.T) {
	server := s3test.New(t)
	s := blob.NewS3(bucket(t, server.URL, s3.Timing{}), "", blobtest.Seal{})
	want := blobtest.Noise(4_000_000)
	_, err := s.Put(t.Context(), "ws_1", "a", bytes.NewReader(want))
	require.NoError(t, err)
	server.Seen()
	r, _, err := s.Open(t.Context(), "ws_1", "a")
	require.NoError(t, err)
	assert.Len(t, server.Seen(), 2, "the beginning and the end")
	_, err = r.Seek(3_000_000, io.SeekStart)
	require.NoError(t, err)
	got := make([]byte, 10)
	_, err = io.ReadFull(r, got)
	require.NoError(t, err)
	assert.Equal(t, want[3_000_000:3_000_010], got)
	assert.Len(t, server.Seen(), 1)
	_, err = r.Seek(0, io.SeekStart)
	require.NoError(t, err)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, all))
	assert.InDelta(t, 10, len(server.Seen()), 3, "of 62 chunks")
	require.NoError(t, r.Close())
}

func TestALostAnswerToTheEndOfAnUploadIsNoLoss(t *testing.T) {
	server := s3test.New(t)
	s := blob.NewS3(bucket(t, server.URL, hasty()), "", blobtest.Seal{})
	want := blobtest.Noise(6 << 20)
	server.Fail(func(r s3test.Request) s3test.Fault {
		if r.Method == http.MethodPost && strings.Contains(r.Query, "uploadId") {
			return s3test.ResetEnd
		}
		return s3test.None
	})
	_, err := s.Put(t.Context(), "ws_1", "a", bytes.NewReader(want))
	require.NoError(t, err)
	r, _, err := s.Open(t.Context(), "ws_1", "a")
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))

	server.Set("ws_1/b", []byte("of before"))
	server.Fail(func(r s3test.Request) s3test.Fault {
		if r.Method == http.MethodPost && strings.Contains(r.Query, "uploadId") {
			return s3test.Denied
		}
		return s3test.None
	})
	_, err = s.Put(t.Context(), "ws_1", "b", bytes.NewReader(want))
	require.ErrorContains(t, err, "AccessDenied")
	assert.Equal(t, "of before", string(server.Object("ws_1/b")))
	assert.Zero(t, server.Open(), "its parts are removed")
}

func TestUploadsThatNobodyEndsAreRemoved(t *testing.T) {
	server := s3test.New(t)
	client := bucket(t, server.URL, hasty())
	s := blob.NewS3(client, "p", blobtest.Seal{})
	for _, key := range []string{"p/ws_1/a", "p/ws_1/b", "other/ws_1/a"} {
		_, err := client.Begin(t.Context(), key)
		require.NoError(t, err)
	}
	n, err := s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Zero(t, n, "somebody may still be at it")
	server.Age(25 * time.Hour)
	n, err = s.Sweep(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, 1, server.Open(), "what is not ours stays")
}
