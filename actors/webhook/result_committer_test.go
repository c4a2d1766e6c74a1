package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/actors/webhook/webhooktest"
	"github.com/callboard/callboard/domain"
)

// committerFixture is a ResultCommitter on an in-memory store. It records the outcomes that the committer reports.
type committerFixture struct {
	t         *testing.T
	store     *webhooktest.Store
	committer *webhook.ResultCommitter
	rowCount  int

	mu      sync.Mutex
	reports []error
}

func newCommitterFixture(t *testing.T) *committerFixture {
	t.Helper()
	d := &committerFixture{t: t, store: webhooktest.NewStore()}
	d.committer = webhook.NewResultCommitter(d.store)
	return d
}

// storeResult enqueues one result of an endpoint.
func (d *committerFixture) storeResult(life context.Context, ws string) *domain.Delivery {
	d.rowCount++
	row := &domain.Delivery{
		ID: fmt.Sprintf("dlv_%05d", d.rowCount), WorkspaceID: ws, WebhookID: "wh_" + strconv.Itoa(d.rowCount), EventID: "evt_1",
		State: domain.DeliveryDelivered, Attempts: 1, CreatedAt: time.Now().UTC(),
	}
	d.committer.Enqueue(life, ws, func(err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.reports = append(d.reports, err)
	}, row)
	return row
}

func (d *committerFixture) isStored(row *domain.Delivery) bool {
	d.t.Helper()
	got := *row
	_, err := d.store.Get(context.Background(), &got)
	if !errors.Is(err, domain.ErrNotFound) {
		require.NoError(d.t, err)
	}
	return err == nil
}

// waitForReports waits until all enqueued results are committed. It returns the outcomes reported since the last call.
func (d *committerFixture) waitForReports() (reports []error) {
	d.t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	assert.Zero(d.t, d.committer.ActiveWorkspaces(), "nothing is kept of a workspace that is at rest")
	d.mu.Lock()
	defer d.mu.Unlock()
	reports, d.reports = d.reports, nil
	return reports
}

func TestFirstResultIsStoredAtOnceAndLaterOnesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newCommitterFixture(t)
		alone := d.storeResult(t.Context(), workspace)
		synctest.Wait()
		assert.True(t, d.isStored(alone), "no time has passed")
		var rows []*domain.Delivery
		for range 40 {
			rows = append(rows, d.storeResult(t.Context(), workspace))
		}
		other := d.storeResult(t.Context(), "ws_2")
		synctest.Wait()
		assert.False(t, d.isStored(rows[0]), "they gather")
		assert.True(t, d.isStored(other), "another workspace waits for none of this")
		time.Sleep(5 * time.Millisecond)
		synctest.Wait()
		for _, row := range rows {
			assert.True(t, d.isStored(row))
		}
		assert.Equal(t, 3, d.store.CommitCount())
		assert.Equal(t, make([]error, 42), d.waitForReports())
		again := d.storeResult(t.Context(), workspace)
		synctest.Wait()
		assert.True(t, d.isStored(again), "it comes after a pause")
	})
}

func TestFullBatchOfResultsIsStoredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newCommitterFixture(t)
		begun := make(chan struct{})
		d.store.FailOperation = func(string) error { <-begun; return nil }
		d.storeResult(t.Context(), workspace)
		synctest.Wait()
		var last *domain.Delivery
		for range 600 {
			last = d.storeResult(t.Context(), workspace)
		}
		close(begun)
		synctest.Wait()
		assert.True(t, d.isStored(last))
		assert.Equal(t, 1+3, d.store.CommitCount(), "no commit has more than 256 rows")
		assert.Len(t, d.waitForReports(), 601)
	})
}

func TestCommitErrorIsReportedToAllWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newCommitterFixture(t)
		away := errors.New("away")
		d.store.FailOperation = func(string) error { return away }
		d.storeResult(t.Context(), workspace)
		synctest.Wait()
		d.storeResult(t.Context(), workspace)
		d.storeResult(t.Context(), workspace)
		assert.Equal(t, []error{away, away, away}, d.waitForReports())
		d.store.FailOperation = func(string) error { panic("broken") }
		d.storeResult(t.Context(), workspace)
		reports := d.waitForReports()
		require.Len(t, reports, 1)
		require.ErrorContains(t, reports[0], "broken")
		d.store.FailOperation = nil
		d.storeResult(t.Context(), workspace)
		assert.Equal(t, []error{nil}, d.waitForReports())
	})
}

func TestResultsOfStoppedIncarnationAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newCommitterFixture(t)
		life, end := context.WithCancel(t.Context())
		d.storeResult(t.Context(), workspace)
		synctest.Wait()
		ended, goes := d.storeResult(life, workspace), d.storeResult(t.Context(), workspace)
		end()
		assert.Equal(t, []error{nil, nil}, d.waitForReports())
		assert.False(t, d.isStored(ended))
		assert.True(t, d.isStored(goes))
		d.storeResult(t.Context(), workspace)
		synctest.Wait()
		d.storeResult(life, workspace)
		assert.Len(t, d.waitForReports(), 1, "where there is none but these")
	})
}
