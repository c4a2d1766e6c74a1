package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
)

// The functions in this file measure commits without a service. They commit the same rows as the service, in as many
// commits and with the same concurrency. The result is the lowest possible cost of a service.

// rowsWorkspace is the id of the workspace of all rows that these benchmarks commit.
const rowsWorkspace = "ws_01J00000000000000000000000"

// openEmptyStore opens a new store with the same settings as a service.
func openEmptyStore(b *testing.B) *persistence.Store {
	b.Helper()
	d, err := pebble.Open(filepath.Join(b.TempDir(), "store"), pebble.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, d.Close()) })
	store, err := persistence.NewStore(b.Context(), d, bytes.Repeat([]byte{7}, persistence.MasterKeySize), "1|bench")
	require.NoError(b, err)
	return store
}

// campaignRows returns a function that creates the rows that the service commits for a POST of a campaign with one
// contact. created is the response to such a request.
func campaignRows(b *testing.B, created object) func() commit.Change {
	b.Helper()
	text, err := json.Marshal(created)
	require.NoError(b, err)
	var like domain.Campaign
	require.NoError(b, json.Unmarshal(text, &like))
	return func() commit.Change {
		c, at := like, time.Now().UTC().Truncate(time.Millisecond)
		meta := func(prefix domain.Prefix, object string) domain.Meta {
			return domain.Meta{ID: mailbox.NewID(prefix), Object: object, WorkspaceID: rowsWorkspace, Environment: domain.Live, CreatedAt: at, UpdatedAt: at}
		}
		c.Meta = meta(domain.PrefixCampaign, "campaign")
		return commit.Change{
			Workspace: rowsWorkspace, Guards: []commit.Guard{commit.Absent(c.Key())},
			Puts: []domain.Record{
				&domain.ContactChunk{CampaignID: c.ID, WorkspaceID: rowsWorkspace, Contacts: []domain.Contact{{Phone: "+12025550123"}}},
				&c,
				&domain.Progress{CampaignID: c.ID, WorkspaceID: rowsWorkspace, Total: 1, Outcomes: map[domain.Outcome]int{}},
				&domain.Upload{
					Meta: meta(domain.PrefixUpload, "upload"), CampaignID: c.ID, Status: domain.UploadCompleted, CompletedAt: &at,
					Summary: domain.ContactsSummary{Received: 1, Accepted: 1}, Errors: []domain.ContactError{},
				},
				&domain.AuditEntry{
					Meta: meta(domain.PrefixAudit, "audit_log"), Type: "admin", Action: "campaign.created", IP: "127.0.0.1", UserAgent: "fasthttp",
					Actor: domain.Actor{Type: "operator", ID: "key_01J00000000000000000000000"}, Outcome: "success", Count: 1,
					Resource: domain.Resource{Type: "campaign", ID: c.ID},
				},
			},
			Events: []event.Draft{{
				ID: mailbox.NewID(domain.PrefixEvent), Type: event.CampaignCreated, CreatedAt: at, WorkspaceID: rowsWorkspace,
				SvcID: domain.UnitID(rowsWorkspace), Subject: c.ID, Environment: domain.Live,
				Data: event.CampaignData{CampaignID: c.ID, Name: c.Name, Status: c.Status},
			}},
		}
	}
}

// commitRows commits changes for the duration window, concurrently from a number of clients.
func commitRows(b *testing.B, store *persistence.Store, clients int, window time.Duration, change func() commit.Change) apiLoadResult {
	b.Helper()
	var n atomic.Int64
	var wg sync.WaitGroup
	w := startStopwatch(b, 0)
	for end := time.Now().Add(window); clients > 0; clients-- {
		wg.Go(func() {
			for time.Now().Before(end) {
				if _, err := store.Apply(context.Background(), change()); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return apiLoadResult{usage: w.stopForThisProcess(), n: int(n.Load())}
}

// callRows returns functions that create the three commits of an inbound call without audio: begin, answer and end.
func callRows() []func() commit.Change {
	at := time.Now().UTC()
	answered := at.Add(2 * time.Millisecond)
	messages := func(n int) []byte { // number of octets of SIP messages
		return []byte(strings.Repeat("Via: SIP/2.0/UDP 127.0.0.1:30406;branch=z9hG4bK-22962-1-0\r\n", n/58+1)[:n])
	}
	c := domain.Call{
		Direction: domain.Inbound, From: "+12025550177", To: dialledIn, AgentID: "agent_01J00000000000000000000000", AgentVersion: 2,
		PathwayID: "pathway_01J00000000000000000000000", Status: domain.CallInitiated, Attempt: 1, StartedAt: &at, Record: true,
	}
	c.Meta = domain.Meta{ID: mailbox.NewID(domain.PrefixCall), Object: "call", WorkspaceID: rowsWorkspace, Environment: domain.Live, CreatedAt: at, UpdatedAt: at}
	leg := domain.Leg{TrunkID: "trunk_01J00000000000000000000000", Target: "127.0.0.1:30406", SIPCallID: "1-22962@127.0.0.1", Codec: "PCMU/8000", StartedAt: at}
	a := domain.Attempt{
		ID: c.ID, WorkspaceID: rowsWorkspace, Environment: domain.Live, CallID: c.ID, Number: 1, Direction: domain.Inbound,
		Boot: "boot_01J00000000000000000000000", OpenedAt: at, Trace: messages(1000),
		Legs: []domain.AttemptLeg{{Number: 1, TrunkID: leg.TrunkID, SIPCallID: leg.SIPCallID}},
	}
	drafts := func(t event.Type, data any) []event.Draft {
		return []event.Draft{{
			ID: mailbox.NewID(domain.PrefixEvent), Type: t, CreatedAt: at, WorkspaceID: rowsWorkspace, SvcID: domain.UnitID(c.AgentID),
			Subject: c.ID, Environment: domain.Live, Data: data,
		}}
	}
	guard := func(version uint64) []commit.Guard { return []commit.Guard{{Key: a.Key(), Version: version}} }
	return []func() commit.Change{
		func() commit.Change {
			return commit.Change{Workspace: rowsWorkspace, Guards: guard(0), Puts: []domain.Record{&c, &a}, Events: drafts(event.CallStarted, event.NewCallData(&c))}
		},
		func() commit.Change {
			c.Status, c.AnsweredAt, c.Legs, a.Trace = domain.CallInProgress, &answered, []domain.Leg{leg}, messages(1800)
			a.Legs[0].Dialog = json.RawMessage(`{"call_id":"` + leg.SIPCallID + `","remote_target":"` + strings.Repeat("sip:+12025550177@127.0.0.1:30406;", 12) + `"}`)
			return commit.Change{Workspace: rowsWorkspace, Guards: guard(1), Puts: []domain.Record{&c, &a}, Events: drafts(event.CallAnswered, event.NewCallData(&c))}
		},
		func() commit.Change {
			c.Status, c.Disposition, c.EndedReason, c.EndedBy, c.EndedAt, c.TranscriptAvailable = domain.CallCompleted, "completed", domain.ReasonRemoteHangup, "remote", &answered, true
			c.TranscriptURL = "http://127.0.0.1:32116/v1/calls/" + c.ID + "/transcript"
			change := call.EndChange(call.Ended{
				CallID: c.ID, AttemptID: a.ID, Call: c, Reached: true, Language: "en-US",
				Trace: &domain.TraceRow{CallID: c.ID, WorkspaceID: rowsWorkspace, Data: messages(2900)},
			}, at)
			change.Guards = append(change.Guards, guard(2)...)
			return change
		},
	}
}

// stopForThisProcess ends a measurement in which this test process does the work of the service.
func (w *cpuStopwatch) stopForThisProcess() usage {
	u := w.stop()
	u.cpu = time.Duration(u.peerCores * float64(u.elapsed))
	u.serviceCores, u.peerCores = u.peerCores, 0
	return u
}

// commitCalls makes the commits of a number of calls, at a rate of calls per second. The commits of one call are
// sequential.
func commitCalls(b *testing.B, store *persistence.Store, calls, rate int) inboundLoad {
	b.Helper()
	const tick = 2 * time.Millisecond
	var wg sync.WaitGroup
	w := startStopwatch(b, 0)
	for n, due := 0, time.NewTicker(tick); n < calls; <-due.C {
		for until := min(int(time.Since(w.began).Seconds()*float64(rate))+1, calls); n < until; n++ {
			wg.Go(func() {
				for _, change := range callRows() {
					if _, err := store.Apply(context.Background(), change()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	u := w.stopForThisProcess()
	return inboundLoad{usage: u, calls: calls, rate: float64(calls) / u.elapsed.Seconds()}
}
