package main_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip/resolve"
)

// fakeStore is a store that costs no CPU time. It contains a running campaign whose contacts were not called yet.
type fakeStore struct{ contacts int }

const fakeCampaignID = "campaign_01J00000000000000000000000"

func (fakeStore) Apply(context.Context, commit.Change) ([]event.Event, error) { return nil, nil }

func (s fakeStore) Get(_ context.Context, into domain.Record) (uint64, error) {
	switch r := into.(type) {
	case *domain.Campaign:
		at := time.Now()
		*r = domain.Campaign{
			Meta: domain.Meta{ID: fakeCampaignID, Object: "campaign", WorkspaceID: "ws", Environment: domain.Live}, Name: "large",
			Status: domain.CampaignRunning, AgentID: "agent_01J00000000000000000000000", AutoComplete: true, StartedAt: &at,
			Pacing: domain.Pacing{CallsPerMinute: 1 << 30, MaxConcurrent: 1000}, CallerID: domain.CallerID{Number: "+12025550100"}, DefaultCountry: "US",
			Compliance: domain.Compliance{CallingHours: domain.CallingHours{Start: "00:00", End: "24:00", Timezone: "local"}},
		}
	case *domain.Progress:
		*r = domain.Progress{CampaignID: fakeCampaignID, WorkspaceID: "ws", Total: s.contacts, Outcomes: map[domain.Outcome]int{}}
	case *domain.PinnedScript:
		r.Script = domain.Script{AgentID: "agent_1", UnitID: "unit_1"}
	case *domain.ContactChunk:
		r.Contacts = make([]domain.Contact, min(domain.ChunkSize, s.contacts-r.Index*domain.ChunkSize))
		for i := range r.Contacts {
			r.Contacts[i] = domain.Contact{Phone: fmt.Sprintf("+1%d", 2012000000+(r.Index*domain.ChunkSize+i)*7), Context: domain.Context{"name": "Ada"}}
		}
	default:
		return 0, domain.ErrNotFound
	}
	return 1, nil
}

func (fakeStore) List(context.Context, commit.Query, func() domain.Record, func(domain.Record) error) (string, error) {
	return "", nil
}

func (fakeStore) Under(context.Context, domain.Key, string, int, func() domain.Record, func(domain.Record) error) error {
	return nil
}

// answerCampaign replies to the campaign in place of the other actors: it grants permits, trunk slots and numbers, and
// ends each call at once. With busy it denies every number because of a live call, so that no call attempt follows
// the decision.
func answerCampaign(ctx actor.Context, done *atomic.Int64, granted *int, busy bool) {
	switch m := ctx.Message().(type) {
	case numbers.RequestNumber:
		if busy {
			done.Add(1)
			ctx.Send(ctx.Sender(), numbers.NumberDenied{CallID: m.CallID, Generation: m.Generation, Reason: numbers.Busy})
			return
		}
		ctx.Send(ctx.Sender(), numbers.NumberGranted{CallID: m.CallID, Generation: m.Generation, DayCount: 1, DayLimit: 3})
	case lines.RequestPermits:
		for ; *granted < m.Received+m.Count; *granted++ { // Count includes the permits that are on their way
			ctx.Send(ctx.Sender(), lines.Permit{Generation: m.Generation, Expires: time.Now().Add(time.Minute)})
		}
	case trunk.RequestSlot:
		ctx.Send(ctx.Sender(), trunk.Slot{
			CallID: m.CallID, Key: "k", Generation: m.Generation, Target: resolve.Target{Host: "192.0.2.1"}, Via: &domain.Trunk{Meta: domain.Meta{ID: "trunk_1"}},
		})
	case call.GetLiveCalls:
		ctx.Respond(call.LiveCalls{})
	case call.StartOutbound:
		done.Add(1)
		at := time.Now()
		m.Call.Status, m.Call.EndedAt = domain.CallBusy, &at
		ctx.Send(m.Owner, call.Ended{
			CallID: m.Call.ID, AttemptID: m.Attempt.ID, Call: m.Call, Reached: true,
			Verdict: domain.Verdict{Outcome: domain.OutcomeBusy, Reason: domain.ReasonBusy, RetryOn: "busy"},
		})
	}
}

func ownCPUTime(b testing.TB) time.Duration {
	b.Helper()
	var use syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// measureAttempts measures the cost of call attempts in a campaign with a number of contacts. With busy it measures only
// the decisions, otherwise all work of the campaign actor. created is the number of attempts, grew the number of
// allocated bytes. cost does not include garbage collection, which is random for so few attempts.
func measureAttempts(b *testing.B, contacts, attempts int, busy bool) (created int, cost time.Duration, grew uint64) {
	b.Helper()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	var calls atomic.Int64
	granted := 0
	others := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) { answerCampaign(ctx, &calls, &granted, busy) })
	}, 100_000))
	lists := dnc.New(fakeStore{contacts}, nil, slog.New(slog.DiscardHandler))
	lists.AddEmptyList("ws", domain.DefaultDNCID("ws", domain.Live))
	began, before := ownCPUTime(b), allocatedBytes()
	c := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
		return campaign.New(campaign.Config{
			Workspace: "ws", CampaignID: fakeCampaignID, Boot: "boot", Store: fakeStore{contacts}, Trunks: others, Calls: others, Numbers: others, DNCRegistry: lists,
			Lines:  func(domain.Environment) *actor.PID { return others },
			Script: func(context.Context, *domain.Campaign) (domain.Script, error) { return domain.Script{}, nil },
		})
	}, 100_000))
	end := time.Now().Add(time.Minute)
	first := 0
	for until := contacts; int(calls.Load()) < until; { // no contact is called twice, since a busy number must wait
		require.True(b, time.Now().Before(end), "%d calls of %d", calls.Load(), attempts)
		time.Sleep(time.Millisecond)
		if first == 0 && calls.Load() > 0 { // the time to load the campaign is not measured
			first, began, before = int(calls.Load()), ownCPUTime(b), allocatedBytes()
			until = min(contacts, first+attempts)
		}
	}
	created, cost, grew = int(calls.Load())-first, ownCPUTime(b)-began, allocatedBytes()-before
	sys.Root.Poison(c)
	sys.Root.Poison(others)
	sys.Shutdown()
	return created, cost, grew
}

// allocatedBytes returns the number of bytes that this process has allocated so far.
func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// gcCostPerByte returns the CPU time, in nanoseconds, of the garbage collection of one allocated byte. It assumes one
// collection after each 64 MB.
func gcCostPerByte(b testing.TB) float64 {
	b.Helper()
	const gathers, times = 64 << 20, 5
	runtime.GC()
	began := ownCPUTime(b)
	for range times {
		runtime.GC()
	}
	return float64(ownCPUTime(b)-began) / times / gathers
}

// BenchmarkDecisions measures the cost of a call attempt in campaigns of three sizes: first of the decision alone, then
// of all work of the campaign actor.
func BenchmarkDecisions(b *testing.B) {
	benchResults.addRowOnFailure(b)
	measureAttempts(b, 1000, 500, false) // warm-up: the process reads the tables of numbers once
	decisions(b, "Decision per attempt: contact, calendar, hours, lists, permit, trunk and number; nothing committed", "≤ 20 µs, flat", true)
	decisions(b, "Complete work of the campaign per attempt: decision, rows, events and end; without store and call", "", false)
}

func decisions(b *testing.B, what, goal string, busy bool) {
	b.Helper()
	var figures []string
	worst, least := time.Duration(0), time.Hour
	collected := gcCostPerByte(b)
	for _, size := range []int{1_000, 30_000, *benchContacts} {
		created, cost, grew := 0, time.Duration(0), uint64(0)
		for created < 10_000 {
			n, c, g := measureAttempts(b, size, 10_000-created, busy)
			created, cost, grew = created+n, cost+c, grew+g
		}
		each := (cost + time.Duration(collected*float64(grew))) / time.Duration(created)
		worst, least = max(worst, each), min(least, each)
		figures = append(figures, fmt.Sprintf("%.1f µs, %.1f KB of %d", float64(each)/1000, float64(grew)/float64(created)/1024, size))
	}
	benchResults.add(what, goal, strings.Join(figures, "; "), worst <= 20*time.Microsecond && worst < 2*least, nil)
}
