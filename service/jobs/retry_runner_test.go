package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/service/jobs"
	"github.com/callboard/callboard/service/record"
)

var errFault = errors.New("the store cannot be reached")

// forever is the work of a job that runs until its context ends.
func forever(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestFailedJobIsRetriedWithGrowingDelays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r, start := jobs.New(slog.New(slog.NewTextHandler(&log, nil))), time.Now()
		var at []time.Duration
		r.Start(t.Context(), "a", func(context.Context) error {
			at = append(at, time.Since(start))
			switch {
			case len(at) == 10:
				return nil
			case len(at)%2 == 0:
				panic("the job panics")
			}
			return errFault
		})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		assert.Equal(t, []time.Duration{
			0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 7500 * time.Millisecond,
			15500 * time.Millisecond, 31500 * time.Millisecond, 61500 * time.Millisecond, 91500 * time.Millisecond, 121500 * time.Millisecond,
		}, at, "delays double up to 30 s")
		assert.False(t, r.Running("a"))
		assert.Contains(t, log.String(), "the job panics")
		assert.Contains(t, log.String(), "job=a")
	})
}

func TestOneJobRunsPerName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := jobs.New(nil)
		assert.True(t, r.Start(t.Context(), "a", forever))
		assert.False(t, r.Start(t.Context(), "a", forever), "a job with this name runs already")
		assert.True(t, r.Start(t.Context(), "b", forever))
		r.StopAndWait("a")
		assert.Equal(t, []bool{false, true}, []bool{r.Running("a"), r.Running("b")})
		assert.True(t, r.Start(t.Context(), "a", forever), "the stopped job has released its name")
		r.Close()
		assert.False(t, r.Running("a") || r.Running("b"))
		assert.False(t, r.Start(t.Context(), "c", forever), "no job starts after Close")
	})
}

func TestStopAndWaitWaitsForJobAndStopDoesNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := jobs.New(nil)
		var ended atomic.Int32
		slow := func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(time.Minute) // the job cleans up for a minute
			ended.Add(1)
			return errFault
		}
		for _, name := range []string{"ws_1/a", "ws_1/b", "ws_2/a"} {
			r.Start(t.Context(), name, slow)
		}
		synctest.Wait()
		r.Stop("ws_2/a")
		r.Stop("unknown")
		r.StopAndWait("unknown")
		synctest.Wait()
		assert.Zero(t, ended.Load())
		assert.True(t, r.Running("ws_2/a"), "Stop does not wait for the clean-up")
		r.StopAllAndWait("ws_1/")
		assert.GreaterOrEqual(t, ended.Load(), int32(2), "StopAll waits for both jobs")
		synctest.Wait()
		assert.EqualValues(t, 3, ended.Load())
		assert.False(t, r.Running("ws_2/a"), "a stopped job does not run again")
		r.Close()
	})
}

func TestCancelledContextEndsJobDuringRetryDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := jobs.New(nil)
		ctx, cancel := context.WithCancel(t.Context())
		tried := 0
		r.Start(ctx, "a", func(context.Context) error { tried++; return errFault })
		synctest.Wait()
		cancel()
		synctest.Wait()
		assert.False(t, r.Running("a"))
		time.Sleep(time.Hour)
		assert.Equal(t, 1, tried)
		require.ErrorIs(t, record.Sleep(ctx, time.Hour), context.Canceled)
		start := time.Now()
		require.NoError(t, record.Sleep(t.Context(), time.Hour))
		assert.Equal(t, time.Hour, time.Since(start))
		r.Close()
	})
}
