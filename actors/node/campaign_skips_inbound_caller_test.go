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

// inboundRefusingStore fails the commits that open an inbound call.
type inboundRefusingStore struct {
	storecache.Backend
	refused atomic.Int64
}

func (s *inboundRefusingStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	if slices.ContainsFunc(c.Puts, func(r domain.Record) bool {
		a, is := r.(*domain.Attempt)
		return is && a.Direction == domain.Inbound
	}) {
		s.refused.Add(1)
		return nil, errors.New("no room")
	}
	return s.Backend.Apply(ctx, c)
}

// buildWithPausedInboundCall builds a fixture that pauses the first inbound call after its commit. comes is closed
// when the call pauses. It continues when the test closes goOn. answers receives the replies of the numbers actor
// to campaigns.
func buildWithPausedInboundCall(t *testing.T) (h *fixture, comes, goOn chan struct{}, answers chan any) {
	t.Helper()
	comes, goOn, answers = make(chan struct{}), make(chan struct{}), make(chan any, 100)
	var once sync.Once
	return newFixture(t, func(actor string, msg any) {
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

func TestCampaignDoesNotCallANumberDuringItsInboundCall(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"taken": true, "not taken": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &inboundRefusingStore{}
			h, comes, goOn, answers := buildWithPausedInboundCall(t)
			if !taken {
				h.shutdown()
				h.wrapStore = func(s storecache.Backend) storecache.Backend { store.Backend = s; return store }
				h.start()
			}
			ctx, d := t.Context(), h.services()
			const own = "+15005550150"
			phone := carrierNumber(3, 3, "14")
			agent := h.createAgent(h.test, waitingPathway())
			_, err := d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: own, AgentID: agent})
			require.NoError(t, err)
			id := h.createSerialCampaign(agent, nil, phone)
			h.campaignStatus(h.test, id) // starts the campaign actor
			var called sync.WaitGroup
			called.Go(func() {
				_, _ = d.Calls.TestInboundCall(context.WithoutCancel(ctx), h.test, calls.InboundTest{To: own, From: phone, HangUp: 200 * time.Millisecond})
			})
			if taken {
				<-comes
			} else {
				h.waitUntil(longWait, "the inbound call is refused", func() bool { return store.refused.Load() > 0 })
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
			h.waitForCampaignEnd(h.test, id)
			assert.Equal(t, rung, h.campaignStatus(h.test, id).Progress.Attempted)
		})
	}
}
