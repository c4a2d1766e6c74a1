package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/operator"
)

// dialStop is a fake that stores the last row passed to it.
type dialStop struct{ row *domain.DialStop }

func (d *dialStop) Current() load.DiallingNow { return load.DiallingNow{Stopped: d.row != nil} }

func (d *dialStop) Stop(_ context.Context, row *domain.DialStop) (load.DiallingNow, error) {
	d.row, row.Since = row, time.Now()
	return load.DiallingNow{Stopped: true, Reason: row.Reason, Since: &row.Since, By: &row.By}, nil
}

func (d *dialStop) Resume(_ context.Context, row *domain.DialStop) error {
	d.row = row
	return nil
}

// nodeDrain is a fake that stores the last drain.
type nodeDrain struct {
	now   load.DrainNow
	endBy domain.Actor
	err   error
}

func (d *nodeDrain) Current() load.DrainNow { return d.now }

func (d *nodeDrain) Start(at time.Time, by domain.Actor) load.DrainNow {
	d.now = load.DrainNow{On: true, Since: &at, By: &by}
	return d.now
}

func (d *nodeDrain) End(by domain.Actor) error {
	d.endBy = by
	return d.err
}

func TestDialStopAndDrainStoreOperator(t *testing.T) {
	t.Parallel()
	stop, drain := &dialStop{}, &nodeDrain{}
	s := operator.New(operator.Config{DialStop: stop, Drain: drain})
	p, ctx := domain.Principal{UserID: "user_1"}, t.Context()
	by := domain.Actor{Type: "user", ID: "user_1"}
	stopped, err := s.StopDialling(ctx, p, "a complaint")
	require.NoError(t, err)
	assert.Equal(t, []any{true, "a complaint", by}, []any{stopped.Stopped, stopped.Reason, *stopped.By})
	assert.WithinDuration(t, time.Now(), *stopped.Since, time.Minute)
	resumed, err := s.ResumeDialling(ctx, p)
	require.NoError(t, err)
	assert.Equal(t, load.DiallingNow{}, resumed)
	assert.Equal(t, by, stop.row.By)
	drained, err := s.DrainNode(ctx, p)
	require.NoError(t, err)
	assert.Equal(t, []any{true, by}, []any{drained.On, *drained.By})
	undrained, err := s.UndrainNode(ctx, p)
	require.NoError(t, err)
	assert.Equal(t, []any{load.DrainNow{}, by}, []any{undrained, drain.endBy})
	drain.err = domain.Errorf(domain.CodeUnavailable, "the service is being stopped")
	_, err = s.UndrainNode(ctx, p)
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err))
}
