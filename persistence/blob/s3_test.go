package blob_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/blob/blobtest"
	"github.com/callboard/callboard/persistence/blob/s3test"
)

func newS3(t *testing.T, url, prefix string, limits blob.S3Limits) *blob.S3 {
	t.Helper()
	s, err := blob.NewS3(blob.S3Config{
		Endpoint: url, Region: "us-east-1", Bucket: "calls", PathStyle: true, Limits: limits,
		Credentials: &credentials.Static{Value: credentials.Value{AccessKeyID: "tester", SecretAccessKey: "hush-hush"}},
	}, prefix, blobtest.FakeSealer{})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit = time.Millisecond
	m.Run()
}

// limitsWithShortOpenPeriod returns limits with a millisecond for which the circuit breaker refuses requests. A loaded
// machine does not exceed the timeouts.
func limitsWithShortOpenPeriod() blob.S3Limits {
	return blob.S3Limits{StallTimeout: 20 * time.Second, RequestTimeout: time.Minute, MaxAttempts: 3, OpenPeriod: time.Millisecond, MaxOpenPeriod: 2 * time.Millisecond}
}

func TestS3Conforms(t *testing.T) {
	for name, fault := range map[string]func() func(s3test.Request) s3test.Fault{
		"without faults": func() func(s3test.Request) s3test.Fault { return nil },
		"every third request fails": func() func(s3test.Request) s3test.Fault {
			faults := []s3test.Fault{s3test.InternalError, s3test.ServiceUnavailable, s3test.ResetBefore, s3test.ResetAfter, s3test.TruncateBody, s3test.SlowBody, s3test.StallBody, s3test.HangBefore, s3test.HangAfter, s3test.ErrorInBody}
			n := make(chan int, 1)
			n <- 0
			return func(r s3test.Request) s3test.Fault {
				i := <-n
				n <- i + 1
				f := faults[i/3%len(faults)]
				if i%3 > 0 || f == s3test.ErrorInBody && (r.Method != http.MethodPost || strings.Contains(r.Query, "uploads")) {
					return s3test.None // the other faults are wrong data, which a retry cannot fix
				}
				return f
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			blobtest.Run(t, func(t *testing.T) blobtest.TestStore {
				server := s3test.New(t)
				server.ListPageSize = 10
				var limits blob.S3Limits // the default limits, as no fault is injected
				if fault := fault(); fault != nil {
					server.InjectFaults(fault)
					limits = limitsWithShortOpenPeriod()
					limits.StallTimeout, limits.MaxAttempts, limits.RequestTimeout = time.Second, 6, time.Minute
				}
				return blobtest.TestStore{
					Store:    newS3(t, server.URL, "in/here", limits),
					RawBytes: func(workspace, name string) []byte { return server.Object("in/here/" + workspace + "/" + name) },
					SetRawBytes: func(workspace, name string, raw []byte) {
						server.SetObject("in/here/"+workspace+"/"+name, raw)
					},
					RemainingFiles: func(workspace string) (names []string) {
						for _, key := range server.Keys() {
							if name, ours := strings.CutPrefix(key, "in/here/"+workspace+"/"); ours {
								names = append(names, name)
							}
						}
						if server.OpenUploads() > 0 {
							names = append(names, "an upload")
						}
						return names
					},
				}
			})
		})
	}
}

func TestS3ConformsWithRealServer(t *testing.T) {
	url := s3test.Gateway(t, "calls")
	other, err := minio.New(strings.TrimPrefix(url, "http://"), &minio.Options{Creds: credentials.NewStaticV4(s3test.GatewayID, s3test.GatewaySecret, "")})
	require.NoError(t, err)
	n := make(chan int, 1)
	n <- 0
	blobtest.Run(t, func(t *testing.T) blobtest.TestStore {
		i := <-n
		n <- i + 1
		prefix := "p" + string(rune('a'+i)) + "/"
		return blobtest.TestStore{
			Store: newS3(t, url, prefix, blob.S3Limits{}),
			RawBytes: func(workspace, name string) []byte {
				f, err := other.GetObject(t.Context(), "calls", prefix+workspace+"/"+name, minio.GetObjectOptions{})
				require.NoError(t, err)
				raw, err := io.ReadAll(f)
				require.NoError(t, err)
				return raw
			},
			SetRawBytes: func(workspace, name string, raw []byte) {
				_, err := other.PutObject(t.Context(), "calls", prefix+workspace+"/"+name, bytes.NewReader(raw), int64(len(raw)), minio.PutObjectOptions{})
				require.NoError(t, err)
			},
			RemainingFiles: func(workspace string) (names []string) {
				for o := range other.ListObjectsIter(t.Context(), "calls", minio.ListObjectsOptions{Prefix: prefix + workspace + "/", Recursive: true}) {
					require.NoError(t, o.Err)
					names = append(names, strings.TrimPrefix(o.Key, prefix+workspace+"/"))
				}
				for u := range other.ListIncompleteUploads(t.Context(), "calls", prefix+workspace+"/", true) {
					require.NoError(t, u.Err)
					names = append(names, "upload of "+u.Key)
				}
				return names
			},
		}
	})
	t.Run("IsTriedAndRefusesPlainly", func(t *testing.T) {
		_, err := newS3(t, url, "", blob.S3Limits{}).CheckAccess(t.Context())
		require.NoError(t, err)
		for name, c := range map[string]struct{ id, secret, bucket, region, want string }{
			"unknown access key": {"nobody", "hush-hush", "calls", "us-east-1", "404 XAdminUserNotFound"},
			"wrong secret":       {"tester", "not-that", "calls", "us-east-1", "403 SignatureDoesNotMatch"},
			"unknown bucket":     {"tester", "hush-hush", "nobodys", "us-east-1", "404 NoSuchBucket"},
			"another region":     {"tester", "hush-hush", "calls", "eu-x-1", "400 AuthorizationHeaderMalformed"},
		} {
			s, err := blob.NewS3(blob.S3Config{
				Endpoint: url, PathStyle: true, Bucket: c.bucket, Region: c.region,
				Credentials: &credentials.Static{Value: credentials.Value{AccessKeyID: c.id, SecretAccessKey: c.secret}},
			}, "", blobtest.FakeSealer{})
			require.NoError(t, err)
			refused, err := s.CheckAccess(t.Context())
			assert.True(t, refused, name)
			require.ErrorContains(t, err, c.want, name)
			assert.NotContains(t, err.Error(), c.secret)
			t.Log(name + ": " + err.Error())
		}
	})
}

func TestS3UnavailableErrorHasRetryAfter(t *testing.T) {
	server := s3test.New(t)
	limits := limitsWithShortOpenPeriod()
	limits.StallTimeout, limits.RequestTimeout = 300*time.Millisecond, 3*time.Second
	s := newS3(t, server.URL, "", limits)
	_, err := s.Put(t.Context(), "ws_1", "a", bytes.NewReader(blobtest.RandomBytes(2_000_000)))
	require.NoError(t, err)
	open, _, err := s.Open(t.Context(), "ws_1", "a")
	require.NoError(t, err)
	for _, fault := range []s3test.Fault{s3test.InternalError, s3test.ServiceUnavailable, s3test.ResetBefore, s3test.HangBefore} {
		server.InjectFaults(func(s3test.Request) s3test.Fault { return fault })
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
	server.InjectFaults(nil)
	require.Eventually(t, func() bool { return s.Delete(t.Context(), "ws_1", "b") == nil }, 5*time.Second, time.Millisecond)
	_, err = open.Seek(0, io.SeekStart)
	require.NoError(t, err)
	all, err := io.ReadAll(open)
	require.NoError(t, err)
	assert.Len(t, all, 2_000_000)
	require.NoError(t, open.Close())
}

func TestS3ReadAheadAndSeek(t *testing.T) {
	server := s3test.New(t)
	s := newS3(t, server.URL, "", blob.S3Limits{})
	want := blobtest.RandomBytes(4_000_000)
	_, err := s.Put(t.Context(), "ws_1", "a", bytes.NewReader(want))
	require.NoError(t, err)
	server.TakeRequests()
	r, _, err := s.Open(t.Context(), "ws_1", "a")
	require.NoError(t, err)
	assert.Len(t, server.TakeRequests(), 2, "requests for the first and the last chunk")
	_, err = r.Seek(3_000_000, io.SeekStart)
	require.NoError(t, err)
	got := make([]byte, 10)
	_, err = io.ReadFull(r, got)
	require.NoError(t, err)
	assert.Equal(t, want[3_000_000:3_000_010], got)
	assert.Len(t, server.TakeRequests(), 1)
	_, err = r.Seek(0, io.SeekStart)
	require.NoError(t, err)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, all))
	assert.InDelta(t, 10, len(server.TakeRequests()), 3, "requests for 62 chunks")
	require.NoError(t, r.Close())
}

func TestS3ReadFailsAfterReplacement(t *testing.T) {
	server := s3test.New(t)
	s := newS3(t, server.URL, "", limitsWithShortOpenPeriod())
	_, err := s.Put(t.Context(), "ws_1", "a", bytes.NewReader(blobtest.RandomBytes(2_000_000)))
	require.NoError(t, err)
	r, _, err := s.Open(t.Context(), "ws_1", "a")
	require.NoError(t, err)
	_, err = s.Put(t.Context(), "ws_1", "a", bytes.NewReader(blobtest.RandomBytes(2_000_000)))
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, r)
	require.ErrorContains(t, err, "412")
	require.NoError(t, r.Close())
}

func TestS3UploadSurvivesLostResponse(t *testing.T) {
	server := s3test.New(t)
	s := newS3(t, server.URL, "", limitsWithShortOpenPeriod())
	want := blobtest.RandomBytes(6 << 20)
	server.InjectFaults(func(r s3test.Request) s3test.Fault {
		if r.Method == http.MethodPost && strings.Contains(r.Query, "uploadId") {
			return s3test.ResetAfter
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

	server.SetObject("ws_1/b", []byte("of before"))
	server.InjectFaults(func(r s3test.Request) s3test.Fault {
		if r.Method == http.MethodPost && strings.Contains(r.Query, "uploadId") {
			return s3test.Denied
		}
		return s3test.None
	})
	_, err = s.Put(t.Context(), "ws_1", "b", bytes.NewReader(want))
	require.ErrorContains(t, err, "AccessDenied")
	assert.Equal(t, "of before", string(server.Object("ws_1/b")))
	assert.Zero(t, server.OpenUploads(), "the parts of the upload are removed")
}

func TestS3RemovesAbandonedUploads(t *testing.T) {
	server := s3test.New(t)
	s := newS3(t, server.URL, "p", limitsWithShortOpenPeriod())
	server.StartUploads("p/ws_1/a", "p/ws_1/b", "other/ws_1/a")
	n, err := s.RemoveAbandoned(t.Context())
	require.NoError(t, err)
	assert.Zero(t, n, "the upload may still be in progress")
	server.AgeUploads(25 * time.Hour)
	n, err = s.RemoveAbandoned(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, 1, server.OpenUploads(), "uploads of other programs stay")
}
