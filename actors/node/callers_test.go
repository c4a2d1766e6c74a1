package node_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/calls"
)

// shutIn is a store that takes no opening of a call that comes in.
type shutIn struct {
	storecache.Backend
	refused atomic.Int64
}

func (s *shutIn) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if slices.ContainsFunc(c.Puts, func(r domain.Record) bool {
		a, is := r.(*domain.Attempt)
		return is && a.Direction == domain.Inbound
	}) {
		s.refused.Add(1)
		return nil, errors.New("no room")
	}
	return s.Backend.Apply(ctx, c)
}

// watchesCallers is a fixture that stops at the first call that comes in, once it
// is opened, until it may go on; and what its campaigns hear of numbers.
func watchesCallers(t *testing.T) (h *fixture, comes, goOn chan struct{}, answers chan any) {
	t.Helper()
	comes, goOn, answers = make(chan struct{}), make(chan struct{}), make(chan any, 100)
	var once sync.Once
	return build(t, func(actor string, msg any) {
		switch msg.(type) {
		case call.StartInbound:
			once.Do(func() {
				close(comes)
				<-goOn
			})
		case numbers.NumberGranted, numbers.NumberDenied:
			if actor == "campaign" {
				answers <- msg
			}
		}
	}), comes, goOn, answers
}

// Somebody calls whom a campaign has in its queue: from the moment on at which
// the call is taken nobody rings them, and where it is not, they are rung.
func TestWhoCallsInIsNotRungMeanwhile(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"taken": true, "not taken": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &shutIn{}
			h, comes, goOn, answers := watchesCallers(t)
			if !taken {
				h.shut()
				h.wrap = func(s storecache.Backend) storecache.Backend { store.Backend = s; return store }
				h.open()
			}
			ctx, d := t.Context(), h.services()
			const own = "+15005550150"
			phone := number(3, 3, "14")
			agent := h.agent(h.test, linger())
			_, err := d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: own, AgentID: agent})
			require.NoError(t, err)
			id := h.one(agent, nil, phone)
			h.status(h.test, id) // it is loaded, for which it asks who is on the line
			var called sync.WaitGroup
			called.Go(func() {
				_, _ = d.Calls.TestInboundCall(context.WithoutCancel(ctx), h.test, calls.InboundTest{To: own, From: phone, HangUp: 200 * time.Millisecond})
			})
			if taken {
				<-comes
			} else {
				h.until(patience, "it is refused", func() bool { return store.refused.Load() > 0 })
				called.Wait()
			}
			rung := 0
			_, err = d.Campaigns.StartCampaign(ctx, h.test, id)
			require.NoError(t, err)
			first := <-answers
			close(goOn)
			denied, is := first.(numbers.NumberDenied)
			assert.Equal(t, taken, is, "%T", first)
			if is {
				assert.Equal(t, numbers.Busy, denied.Reason)
				_, err = d.Campaigns.CancelCampaign(ctx, h.test, id, false)
				require.NoError(t, err)
			} else {
				rung++
			}
			called.Wait()
			h.over(h.test, id)
			assert.Equal(t, rung, h.status(h.test, id).Progress.Attempted)
		})
	}
}
