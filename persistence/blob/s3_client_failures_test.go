package blob_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/blob"
	"github.com/callboard/callboard/persistence/blob/blobtest"
	"github.com/callboard/callboard/persistence/blob/s3test"
)

// limitsWithLongOpenPeriod returns short timeouts, and an hour for which the circuit breaker refuses requests.
func limitsWithLongOpenPeriod() blob.S3Limits {
	return blob.S3Limits{StallTimeout: 200 * time.Millisecond, RequestTimeout: 3 * time.Second, MaxAttempts: 3, OpenPeriod: time.Hour, MaxOpenPeriod: time.Hour}
}

func TestS3RetriesTransientFailuresOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault s3test.Fault
		tries int
	}{
		{s3test.InternalError, 3},
		{s3test.ServiceUnavailable, 3},
		{s3test.ResetBefore, 3},
		{s3test.ResetAfter, 3},
		{s3test.TruncateBody, 3},
		{s3test.HangBefore, 3},
		{s3test.HangAfter, 3},
		{s3test.StallBody, 3},
		{s3test.Denied, 1},
		{s3test.NotFound, 1},
		{s3test.None, 1},
	} {
		t.Run(fmt.Sprint("fault ", c.fault), func(t *testing.T) {
			t.Parallel()
			server := s3test.New(t)
			server.SetObject("ws_1/a", blobtest.RandomBytes(100))
			s := newS3(t, server.URL, "", limitsWithLongOpenPeriod())
			server.InjectFaults(func(s3test.Request) s3test.Fault { return c.fault })
			_, _, err := s.Open(t.Context(), "ws_1", "a")
			seen := len(server.TakeRequests())
			if c.fault == s3test.ResetBefore || c.fault == s3test.ResetAfter {
				assert.GreaterOrEqual(t, seen, c.tries) // net/http may repeat a request whose connection broke
			} else {
				assert.Equal(t, c.tries, seen)
			}
			require.Error(t, err)
			require.NotErrorIs(t, err, domain.ErrNotFound)
			assert.Equal(t, c.tries == 3, domain.CodeOf(err) == domain.CodeUnavailable, "%v", err)
			assert.Equal(t, c.fault == s3test.None, errors.Is(err, blob.ErrDamaged))
			assert.NotContains(t, err.Error(), server.URL)
		})
	}
}

func TestS3Ignores404WithoutErrorCode(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	s := newS3(t, server.URL, "", limitsWithLongOpenPeriod())
	server.InjectFaults(func(s3test.Request) s3test.Fault { return s3test.NotFound })
	require.ErrorContains(t, s.Delete(t.Context(), "ws_1", "a"), "404", "the 404 may come from a proxy")
}

func TestS3UnavailableStoreIsNotAskedForAWhile(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	s := newS3(t, server.URL, "", limitsWithLongOpenPeriod())
	server.InjectFaults(func(s3test.Request) s3test.Fault { return s3test.InternalError })
	require.Error(t, s.Delete(t.Context(), "ws_1", "a"))
	server.TakeRequests()
	for range 5 {
		e, ok := errors.AsType[*domain.Error](s.Delete(t.Context(), "ws_1", "a"))
		require.True(t, ok)
		assert.InDelta(t, 3600, e.Extra["retry_after"], 60)
	}
	assert.Empty(t, server.TakeRequests(), "no request was sent")
}

func TestCircuitBreakerProbesWithOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := blob.NewCircuitBreaker(time.Second, 4*time.Second)
		down := errors.New("down")
		free := func() bool { _, err := b.Acquire(time.Now()); return err == nil }
		require.True(t, free())
		for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
			assert.Equal(t, pause, b.RecordFailure(time.Now(), down))
			assert.Equal(t, pause, b.RecordFailure(time.Now(), down), "an earlier request does not lengthen the period")
			assert.False(t, free())
			time.Sleep(pause)
			assert.True(t, free(), "one request probes")
			assert.False(t, free(), "no other request meanwhile")
		}
		b.RecordSuccess()
		assert.True(t, free())
		assert.True(t, free())
	})
}

func TestCircuitBreakerNextProbeAfterAbandonedProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := blob.NewCircuitBreaker(time.Second, 4*time.Second)
		free := func() bool { _, err := b.Acquire(time.Now()); return err == nil }
		b.RecordFailure(time.Now(), errors.New("down"))
		b.Abandon()
		assert.False(t, free(), "a request from before the failure was abandoned")
		time.Sleep(time.Second)
		b.AcquireAndAbandon(time.Now())
		assert.True(t, free(), "the next request probes")
		b.Abandon()
		assert.False(t, free(), "no other request meanwhile")
	})
}

func TestS3CancelledRequestReturnsAtOnce(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	limits := limitsWithLongOpenPeriod()
	limits.StallTimeout, limits.RequestTimeout = time.Hour, time.Hour
	s := newS3(t, server.URL, "", limits)
	server.InjectFaults(func(s3test.Request) s3test.Fault { return s3test.HangBefore })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(s.Delete(ctx, "ws_1", "a")))
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Delete(ctx, "ws_1", "a"), context.Canceled)
	server.InjectFaults(nil)
	require.NoError(t, s.Delete(t.Context(), "ws_1", "a"), "a cancelled request tells nothing about the store")
}

func TestS3RequestTimeoutCoversAllAttempts(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	limits := limitsWithLongOpenPeriod()
	limits.StallTimeout, limits.RequestTimeout, limits.MaxAttempts = 200*time.Millisecond, 500*time.Millisecond, 1000
	s := newS3(t, server.URL, "", limits)
	server.InjectFaults(func(s3test.Request) s3test.Fault { return s3test.HangBefore })
	began := time.Now()
	err := s.Delete(t.Context(), "ws_1", "a")
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
	require.ErrorContains(t, err, "did not answer in time")
	assert.Less(t, time.Since(began), 20*time.Second)
}

func TestS3ErrorsContainNoSecret(t *testing.T) {
	t.Parallel()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.NotContains(t, r.Header.Get("Authorization")+r.URL.String(), "hush-hush")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>go away\n%s %0500d</Message></Error>", r.Header.Get("X-Amz-Security-Token"), 1)
	}))
	t.Cleanup(h.Close)
	s, err := blob.NewS3(blob.S3Config{
		Endpoint: h.URL, Region: "us-east-1", Bucket: "calls", PathStyle: true,
		Credentials: &credentials.Static{Value: credentials.Value{AccessKeyID: "tester", SecretAccessKey: "hush-hush", SessionToken: "lent-for-a-day"}},
	}, "", blobtest.FakeSealer{})
	require.NoError(t, err)
	_, err = s.Put(t.Context(), "ws_1", "a", strings.NewReader(""))
	require.ErrorContains(t, err, "403 AccessDenied: go away [hidden]")
	assert.NotContains(t, err.Error(), "lent-for-a-day")
	assert.NotContains(t, err.Error(), "hush-hush")
	assert.Less(t, len(err.Error()), 300)
}

func TestS3PathStyle(t *testing.T) {
	t.Parallel()
	var host, path string
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { host, path = r.Host, r.URL.Path }))
	t.Cleanup(h.Close)
	_, err := newS3(t, h.URL, "in", limitsWithLongOpenPeriod()).Put(t.Context(), "ws_1", "a", strings.NewReader(""))
	require.NoError(t, err)
	assert.Equal(t, "/calls/in/ws_1/a", path)
	assert.Equal(t, h.Listener.Addr().String(), host)
	for _, endpoint := range []string{"ftp://x", "https://", "https://u:p@x", "https://x/path", "x"} {
		_, err := blob.NewS3(blob.S3Config{Endpoint: endpoint, Bucket: "calls", Region: "r"}, "", nil)
		require.Error(t, err, endpoint)
		assert.NotContains(t, err.Error(), "u:p")
	}
}
