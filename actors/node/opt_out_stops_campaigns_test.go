package node_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	callsservice "github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
)

// createSerialCampaign creates a campaign of the test environment that calls one contact at a time.
func (h *fixture) createSerialCampaign(agent string, optOut []string, phones ...string) string {
	h.Helper()
	c := &domain.Campaign{
		Name: "c", Status: domain.CampaignDraft, AgentID: agent, DefaultCountry: "US", AutoComplete: true,
		Schedule: domain.Schedule{Timezone: "UTC", Days: []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}},
		Pacing:   domain.Pacing{CallsPerMinute: 1200, MaxConcurrent: 1}, Retry: domain.Retry{MaxAttempts: 1, IntervalHours: 1},
		CallerID:   domain.CallerID{Number: "+15005550100"},
		Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "00:00", End: "24:00", Timezone: "UTC"}},
	}
	if optOut != nil {
		c.Compliance.OptOut = &domain.OptOut{Keywords: optOut}
	}
	created, err := h.services().Campaigns.CreateCampaign(h.Context(), h.test, c, "", contactRows(phones...))
	require.NoError(h, err)
	require.Equal(h, len(phones), created.Upload.Summary.Accepted)
	return created.Campaign.ID
}

// waitForFirstCalls starts each campaign, waits until its first call is answered and returns the ids of these calls.
func (h *fixture) waitForFirstCalls(ids ...string) (calls []string) {
	h.Helper()
	for _, id := range ids {
		_, err := h.services().Campaigns.StartCampaign(h.Context(), h.test, id)
		require.NoError(h, err)
		h.waitUntil(time.Minute, "the first call is answered", func() bool {
			live, err := h.services().Calls.ListCalls(h.Context(), h.test, callsservice.Query{PageQuery: record.PageQuery{Limit: 10}, CampaignID: id, Status: string(domain.CallInProgress)})
			require.NoError(h, err)
			if len(live.Data) == 1 {
				calls = append(calls, live.Data[0].ID)
			}
			return len(live.Data) == 1
		})
	}
	return calls
}

// optOutChannels returns, by phone number, the channel of each opt-out event, for example a call or an SMS message.
func (h *fixture) optOutChannels() map[string]string {
	h.Helper()
	channels := make(map[string]string)
	for _, e := range h.events(h.test.WorkspaceID) {
		if e.Type == event.ContactOptedOut {
			var data event.OptedOutData
			require.NoError(h, json.Unmarshal(e.Data, &data))
			channels[data.Phone] = data.Channel
		}
	}
	return channels
}

// decisionsFor returns the entries for a phone number in the decision log of a campaign.
func (h *fixture) decisionsFor(id, phone string) (verdicts []string) {
	h.Helper()
	log, err := h.services().Decisions.ListDecisions(h.Context(), h.test, id, phone, record.PageQuery{Limit: 10})
	require.NoError(h, err)
	for _, one := range log.Data {
		verdicts = append(verdicts, one.Decision)
	}
	return verdicts
}

func (h *fixture) waitForFinalStatus(id string) *domain.CampaignStatusObject {
	h.Helper()
	var st *domain.CampaignStatusObject
	h.waitUntil(time.Minute, "the campaign has ended", func() bool {
		var err error
		st, err = h.services().Campaigns.CampaignStatus(h.Context(), h.test, id)
		require.NoError(h, err)
		return st.Status == domain.CampaignCompleted
	})
	return st
}

func TestOptOutStopsQueuedCallsOfAllRunningCampaigns(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.shutdown()
	h.recognizer = fixedRecognizer{"stop"}
	h.start()
	ctx, d := t.Context(), h.services()
	const speaks, presses = "+15005550007", "+15005550000"
	writes := carrierNumber(3, 3, "11")
	listens := h.createAgent(h.test, waitingPathway())
	first := h.createSerialCampaign(listens, nil, carrierNumber(4, 1, "11"), speaks, presses, writes)
	second := h.createSerialCampaign(listens, nil, carrierNumber(4, 2, "11"), speaks, presses, writes)
	calls := h.waitForFirstCalls(first, second)

	_, err := d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: "+15005550150", AgentID: listens, SMSEnabled: true})
	require.NoError(t, err)
	_, err = d.SMS.TestInboundMessage(ctx, h.test, sms.InboundMessage{From: writes, To: "+15005550150", Body: "STOP"})
	require.NoError(t, err)
	for phone, word := range map[string]string{speaks: "stop", presses: "1"} {
		calls = append(calls, h.waitForFirstCalls(h.createSerialCampaign(listens, []string{word}, phone))...)
	}
	var channels map[string]string
	h.waitUntil(time.Minute, "all three opt-outs have events", func() bool {
		channels = h.optOutChannels()
		return len(channels) == 3
	})
	assert.Equal(t, map[string]string{speaks: "speech", presses: "dtmf", writes: "sms"}, channels)

	for _, id := range calls { // the calls end, and the next contacts come up
		_, err = d.Calls.HangupCall(ctx, h.test, id)
		require.NoError(t, err)
	}
	for _, id := range []string{first, second} {
		st := h.waitForFinalStatus(id)
		assert.Equal(t, []int{3, 1}, []int{st.Skipped.DNC, st.Progress.Attempted}, id)
		for _, phone := range []string{speaks, presses, writes} {
			assert.Equal(t, []string{domain.DecidedSkip}, h.decisionsFor(id, phone), phone)
		}
	}
	assert.Equal(t, []int{1, 1, 0}, []int{h.callCount(speaks), h.callCount(presses), h.callCount(writes)})
}

func TestOptOutStopsGrantedAndOpenAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at      func(msg any, granted bool) bool
		decided []string
	}{
		"granted": {func(msg any, _ bool) bool { _, is := msg.(numbers.NumberGranted); return is }, []string{domain.DecidedSkip}},
		"open": {
			func(msg any, granted bool) bool {
				return granted && fmt.Sprintf("%T", msg) == "campaign.batchCommitted"
			},
			[]string{domain.DecidedDial, domain.DecidedSkip},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached, goOn := make(chan struct{}), make(chan struct{})
			var once sync.Once
			granted := false
			h := newFixture(t, func(actor string, msg any) {
				if actor != "campaign" {
					return
				}
				if c.at(msg, granted) {
					once.Do(func() {
						close(reached)
						<-goOn
					})
				}
				if _, is := msg.(numbers.NumberGranted); is {
					granted = true // the numbers actor granted the number to one campaign
				}
			})
			ctx, d := t.Context(), h.services()
			phone := carrierNumber(3, 3, "11")
			agent := h.createAgent(h.test, keyMenuPathway())
			_, err := d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: "+15005550150", AgentID: agent, SMSEnabled: true})
			require.NoError(t, err)
			id := h.createSerialCampaign(agent, nil, phone)
			_, err = d.Campaigns.StartCampaign(ctx, h.test, id)
			require.NoError(t, err)
			<-reached
			_, err = d.SMS.TestInboundMessage(ctx, h.test, sms.InboundMessage{From: phone, To: "+15005550150", Body: "STOP"})
			close(goOn)
			require.NoError(t, err)
			st := h.waitForFinalStatus(id)
			assert.Equal(t, domain.Skipped{DNC: 1}, st.Skipped)
			assert.Zero(t, h.callCount(phone))
			assert.Equal(t, c.decided, h.decisionsFor(id, phone))
		})
	}
}
