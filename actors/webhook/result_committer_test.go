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

// desk is a ledger over a store in memory, and what was told.
type desk struct {
	t      *testing.T
	store  *webhooktest.Store
	ledger *webhook.ResultCommitter
	n      int

	mu   sync.Mutex
	told []error
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, store: webhooktest.NewStore()}
	d.ledger = webhook.NewResultCommitter(d.store)
	return d
}

// keep has one result of an endpoint stored.
func (d *desk) keep(life context.Context, ws string) *domain.Delivery {
	d.n++
	row := &domain.Delivery{
		ID: fmt.Sprintf("dlv_%05d", d.n), WorkspaceID: ws, WebhookID: "wh_" + strconv.Itoa(d.n), EventID: "evt_1",
		State: domain.DeliveryDelivered, Attempts: 1, CreatedAt: time.Now().UTC(),
	}
	d.ledger.Keep(life, ws, func(err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.told = append(d.told, err)
	}, row)
	return row
}

func (d *desk) stored(row *domain.Delivery) bool {
	d.t.Helper()
	got := *row
	_, err := d.store.Get(context.Background(), &got)
	if !errors.Is(err, domain.ErrNotFound) {
		require.NoError(d.t, err)
	}
	return err == nil
}

// quiet lets the ledger end, and returns what was told since the last time.
func (d *desk) quiet() (told []error) {
	d.t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	assert.Zero(d.t, d.ledger.Busy(), "nothing is kept of a workspace that is at rest")
	d.mu.Lock()
	defer d.mu.Unlock()
	told, d.told = d.told, nil
	return told
}

func TestAResultThatComesAloneIsStoredAtOnceAndTheNextOnesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		alone := d.keep(t.Context(), workspace)
		synctest.Wait()
		assert.True(t, d.stored(alone), "no time has passed")
		var rows []*domain.Delivery
		for range 40 {
			rows = append(rows, d.keep(t.Context(), workspace))
		}
		other := d.keep(t.Context(), "ws_2")
		synctest.Wait()
		assert.False(t, d.stored(rows[0]), "they gather")
		assert.True(t, d.stored(other), "another workspace waits for none of this")
		time.Sleep(5 * time.Millisecond)
		synctest.Wait()
		for _, row := range rows {
			assert.True(t, d.stored(row))
		}
		assert.Equal(t, 3, d.store.CommitCount())
		assert.Equal(t, make([]error, 42), d.quiet())
		again := d.keep(t.Context(), workspace)
		synctest.Wait()
		assert.True(t, d.stored(again), "it comes after a pause")
	})
}

func TestResultsThatAreEnoughDoNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		begun := make(chan struct{})
		d.store.FailOperation = func(string) error { <-begun; return nil }
		d.keep(t.Context(), workspace)
		synctest.Wait()
		var last *domain.Delivery
		for range 600 {
			last = d.keep(t.Context(), workspace)
		}
		close(begun)
		synctest.Wait()
		assert.True(t, d.stored(last))
		assert.Equal(t, 1+3, d.store.CommitCount(), "no commit has more than 256 rows")
		assert.Len(t, d.quiet(), 601)
	})
}

func TestWhatTheStoreAnsweredIsToldToAllWhoWaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		away := errors.New("away")
		d.store.FailOperation = func(string) error { return away }
		d.keep(t.Context(), workspace)
		synctest.Wait()
		d.keep(t.Context(), workspace)
		d.keep(t.Context(), workspace)
		assert.Equal(t, []error{away, away, away}, d.quiet())
		d.store.FailOperation = func(string) error { panic("broken") }
		d.keep(t.Context(), workspace)
		told := d.quiet()
		require.Len(t, told, 1)
		require.ErrorContains(t, told[0], "broken")
		d.store.FailOperation = nil
		d.keep(t.Context(), workspace)
		assert.Equal(t, []error{nil}, d.quiet())
	})
}

func TestResultsOfAnIncarnationThatEndedAreNotStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		life, end := context.WithCancel(t.Context())
		d.keep(t.Context(), workspace)
		synctest.Wait()
		ended, goes := d.keep(life, workspace), d.keep(t.Context(), workspace)
		end()
		assert.Equal(t, []error{nil, nil}, d.quiet())
		assert.False(t, d.stored(ended))
		assert.True(t, d.stored(goes))
		d.keep(t.Context(), workspace)
		synctest.Wait()
		d.keep(life, workspace)
		assert.Len(t, d.quiet(), 1, "where there is none but these")
	})
}
