package numbers_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	register "github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
)

const (
	ws    = "ws_01J00000000000000000000000"
	phone = "+12025550123"
)

// store is an in-memory store that refuses commits whose guards do not match.
type store struct {
	mu       sync.Mutex
	rows     map[domain.Key]domain.Record
	versions map[domain.Key]uint64
	down     bool
}

func newStore() *store {
	return &store{rows: make(map[domain.Key]domain.Record), versions: make(map[domain.Key]uint64)}
}

func (s *store) Apply(_ context.Context, c commit.Change) ([]event.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range c.Guards {
		if s.versions[g.Key] != g.Version {
			return nil, domain.ErrConflict
		}
	}
	for _, r := range c.Puts {
		s.rows[r.Key()] = r
		s.versions[r.Key()]++
	}
	return nil, nil
}

func (s *store) Get(_ context.Context, into domain.Record) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return 0, errors.New("down")
	}
	r, ok := s.rows[into.Key()]
	if !ok {
		return 0, domain.ErrNotFound
	}
	switch into := into.(type) {
	case *domain.NumberAttempts:
		if is, ok := r.(*domain.NumberAttempts); ok {
			*into = *is
		}
	case *dnc.Bucket:
		if is, ok := r.(*dnc.Bucket); ok {
			*into = *is
		}
	}
	return s.versions[into.Key()], nil
}

func (s *store) Under(context.Context, domain.Key, string, int, func() domain.Record, func(domain.Record) error) error {
	return nil
}

type fixture struct {
	*testing.T
	sys        *actor.ActorSystem
	store      *store
	lists      *register.Registry
	pid        *actor.PID
	dailyLimit int
}

func withFixture(t *testing.T, perDay int, live []numbers.LiveCall, f func(w *fixture)) {
	t.Helper()
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		w := &fixture{T: t, sys: sys, store: newStore(), dailyLimit: perDay}
		w.lists = register.New(w.store, nil, nil)
		w.lists.AddEmptyList(ws, domain.DefaultDNCID(ws, domain.Live))
		zones := calendar.NewSharedZones()
		w.pid = sys.Root.Spawn(mailbox.Props(func() actor.Actor {
			return numbers.New(numbers.Config{
				Workspace: ws, Store: w.store, Lists: w.lists, DayOf: zones.DayBounds,
				FrequencyCaps: func() domain.FrequencyCaps { return domain.FrequencyCaps{PerNumberPerDay: w.dailyLimit} },
				LiveCalls:     func(context.Context) ([]numbers.LiveCall, error) { return live, nil },
			})
		}, 100))
		f(w)
		sys.Root.Poison(w.pid)
		time.Sleep(time.Minute)
	})
}

// request sends RequestNumber and returns the reply: NumberGranted or NumberDenied. alone sets Exclusive.
func (w *fixture) request(id string, alone bool) any {
	w.Helper()
	got, err := mailbox.Ask[any](w.Context(), w.sys, w.pid, w.newRequest(id, alone))
	require.NoError(w, err)
	return got
}

func (w *fixture) newRequest(id string, alone bool) numbers.RequestNumber {
	return numbers.RequestNumber{
		CallID: id, Number: phone, Environment: domain.Live, Scrub: dnc.DefaultScrub(ws, domain.Live), Exclusive: alone,
		Until: time.Now().Add(10 * time.Second),
	}
}

func (w *fixture) send(m any) {
	w.sys.Root.Send(w.pid, m)
	synctest.Wait()
}

// openAttempt requests a number, which must be granted, and commits the call attempt.
func (w *fixture) openAttempt(id string) {
	w.Helper()
	g, ok := w.request(id, false).(numbers.NumberGranted)
	require.True(w, ok)
	_, err := w.store.Apply(w.Context(), commit.Change{Puts: g.Puts, Guards: g.Guards})
	require.NoError(w, err)
	w.send(numbers.AttemptCommitted{CallID: id})
}

func (w *fixture) requestDenied(id string, alone bool) numbers.NumberDenied {
	w.Helper()
	d, ok := w.request(id, alone).(numbers.NumberDenied)
	require.True(w, ok, "it is granted")
	return d
}

func TestCampaignsDoNotCallOneNumberConcurrently(t *testing.T) {
	withFixture(t, 0, nil, func(w *fixture) {
		_, ok := w.request("call_1", true).(numbers.NumberGranted)
		require.True(w, ok)
		assert.Equal(w, numbers.Busy, w.requestDenied("call_2", true).Reason)
		_, ok = w.request("call_3", false).(numbers.NumberGranted)
		assert.True(w, ok, "a single call is not exclusive")
		w.send(numbers.ReleaseNumber{CallID: "call_3"})
		w.send(numbers.CallStarted{CallID: "call_1", Number: phone, Environment: domain.Live})
		time.Sleep(time.Hour) // far beyond the validity of the grant
		assert.Equal(w, numbers.Busy, w.requestDenied("call_4", true).Reason, "its call lives")
		w.send(numbers.CallEnded{CallID: "call_1"})
		_, ok = w.request("call_5", true).(numbers.NumberGranted)
		assert.True(w, ok)
		time.Sleep(11 * time.Second)
		_, ok = w.request("call_6", true).(numbers.NumberGranted)
		assert.True(w, ok, "a grant that nothing was made of is void")
	})
}

func TestNumberOfInboundCallIsBusy(t *testing.T) {
	withFixture(t, 0, []numbers.LiveCall{{CallID: "call_in", Number: phone, Environment: domain.Live}}, func(w *fixture) {
		assert.Equal(w, numbers.Busy, w.requestDenied("call_1", true).Reason, "the live call is known")
		w.send(numbers.CallEnded{CallID: "call_in"})
		w.send(numbers.CallStarted{CallID: "call_again", Number: phone, Environment: domain.Live})
		assert.Equal(w, numbers.Busy, w.requestDenied("call_2", true).Reason)
		w.send(numbers.CallEnded{CallID: "call_again"})
		_, ok := w.request("call_3", true).(numbers.NumberGranted)
		assert.True(w, ok)
	})
}

func TestAbandonedDialogHoldsItsNumberUntilLimit(t *testing.T) {
	live := []numbers.LiveCall{{CallID: "call_old", Number: phone, Environment: domain.Live}}
	withFixture(t, 0, live, func(w *fixture) {
		w.send(numbers.CallEnded{CallID: "call_old"}) // during the query of live calls, or right after it
		_, ok := w.request("call_1", true).(numbers.NumberGranted)
		assert.True(w, ok, "its end was answered")
	})
	live[0].Until = time.Date(2000, 1, 1, 0, 0, 32, 0, time.UTC) // the fake clock starts at the beginning of 2000
	withFixture(t, 0, live, func(w *fixture) {
		assert.Equal(w, numbers.Busy, w.requestDenied("call_1", true).Reason)
		time.Sleep(31 * time.Second)
		assert.Equal(w, numbers.Busy, w.requestDenied("call_2", true).Reason)
		time.Sleep(2 * time.Second)
		_, ok := w.request("call_3", true).(numbers.NumberGranted)
		assert.True(w, ok)
	})
}

func TestRepeatedRequestGetsSameGrantAgain(t *testing.T) {
	withFixture(t, 1, nil, func(w *fixture) {
		q := w.newRequest("call_1", true)
		var grants []numbers.NumberGranted
		for q.Generation = 1; q.Generation <= 2; q.Generation++ {
			got, err := mailbox.Ask[numbers.NumberGranted](w.Context(), w.sys, w.pid, q)
			require.NoError(w, err)
			assert.Equal(w, q.Generation, got.Generation)
			grants = append(grants, got)
		}
		assert.Equal(w, grants[0].Guards, grants[1].Guards)
		_, err := w.store.Apply(w.Context(), commit.Change{Puts: grants[1].Puts, Guards: grants[1].Guards})
		require.NoError(w, err)
		w.send(numbers.AttemptCommitted{CallID: "call_1"})
		w.send(numbers.CallEnded{CallID: "call_1"})
		assert.Equal(w, numbers.Frequency, w.requestDenied("call_2", true).Reason, "the row is free for the next")
	})
}

func TestDailyLimitPerNumberIsEnforced(t *testing.T) {
	withFixture(t, 2, nil, func(w *fixture) { // the fake clock starts at midnight UTC, which is evening in Washington
		w.openAttempt("call_1")
		w.openAttempt("call_2")
		d := w.requestDenied("call_3", false)
		assert.Equal(w, numbers.NumberDenied{CallID: "call_3", Reason: numbers.Frequency, DayCount: 2, DayLimit: 2, Until: d.Until}, d)
		zone, err := time.LoadLocation("America/New_York")
		require.NoError(w, err)
		local := d.Until.In(zone)
		assert.Equal(w, "00:00:00", local.Format(time.TimeOnly), "midnight where the number is")
		time.Sleep(time.Until(d.Until) - time.Second)
		w.requestDenied("call_4", false)
		time.Sleep(2 * time.Second)
		w.openAttempt("call_5")
	})
}

func TestUncountedAttemptFreesDailyLimit(t *testing.T) {
	withFixture(t, 1, nil, func(w *fixture) {
		w.openAttempt("call_1")
		w.requestDenied("call_2", false)
		w.send(numbers.UncountAttempt{CallID: "call_1", Number: phone, Environment: domain.Live})
		w.openAttempt("call_3")
		w.requestDenied("call_4", false)
	})
}

func TestCountedGrantsOfOneNumberAreSerialized(t *testing.T) {
	withFixture(t, 1, nil, func(w *fixture) {
		g, ok := w.request("call_1", false).(numbers.NumberGranted)
		require.True(w, ok)
		answers := make(chan any, 2)
		for _, id := range []string{"call_2", "call_3"} {
			go func() {
				got, err := mailbox.Ask[any](w.Context(), w.sys, w.pid, w.newRequest(id, false))
				assert.NoError(w, err)
				answers <- got
			}()
		}
		synctest.Wait()
		require.Empty(w, answers, "they wait for the commit of the first")
		_, err := w.store.Apply(w.Context(), commit.Change{Puts: g.Puts, Guards: g.Guards})
		require.NoError(w, err)
		w.send(numbers.AttemptCommitted{CallID: "call_1"})
		for range 2 {
			assert.IsType(w, numbers.NumberDenied{}, <-answers)
		}
		w.send(numbers.UncountAttempt{CallID: "call_1", Number: phone, Environment: domain.Live})
		_, ok = w.request("call_4", false).(numbers.NumberGranted)
		require.True(w, ok)
		w.send(numbers.ReleaseNumber{CallID: "call_4"})
		w.openAttempt("call_5") // a returned grant does not count
	})
}

func TestListedOrUnknownNumberIsDenied(t *testing.T) {
	withFixture(t, 1, nil, func(w *fixture) {
		n, err := dnc.PackNumber(phone)
		require.NoError(w, err)
		own := domain.DefaultDNCID(ws, domain.Live)
		_, err = w.lists.AddNumbers(w.Context(), ws, own, []uint64{n}, dnc.Origin{Source: domain.DNCAPI, At: time.Now()})
		require.NoError(w, err)
		d := w.requestDenied("call_1", false)
		assert.Equal(w, numbers.DNC, d.Reason)
		assert.Equal(w, own, d.Match.ListID)
		w.store.mu.Lock()
		w.store.down = true
		w.store.mu.Unlock()
		assert.Equal(w, numbers.Unknown, w.requestDenied("call_2", false).Reason, "the store does not say")
	})
}

// BenchmarkRequestNumber measures the messages that one call attempt sends to the numbers actor. The actor uses an
// embedded store and a daily limit of calls to a number.
func BenchmarkRequestNumber(b *testing.B) {
	d, err := pebble.Open(b.TempDir(), pebble.Options{NoSync: true})
	require.NoError(b, err)
	s, err := persistence.NewStore(b.Context(), d, make([]byte, persistence.MasterKeySize), "me")
	require.NoError(b, err)
	sys := mailbox.NewSystem(slog.New(slog.DiscardHandler))
	lists := register.New(s, nil, nil)
	lists.AddEmptyList(ws, domain.DefaultDNCID(ws, domain.Live))
	pid := sys.Root.Spawn(mailbox.Props(func() actor.Actor {
		return numbers.New(numbers.Config{
			Workspace: ws, Store: s, Lists: lists, DayOf: calendar.NewSharedZones().DayBounds, FrequencyCaps: func() domain.FrequencyCaps { return domain.FrequencyCaps{PerNumberPerDay: 3} },
		})
	}, 1000))
	ctx := context.Background()
	b.ReportAllocs()
	n := uint64(12025550000)
	for b.Loop() {
		n++
		m := numbers.RequestNumber{
			CallID: "call", Number: dnc.UnpackNumber(n), Environment: domain.Live, Scrub: dnc.DefaultScrub(ws, domain.Live), Exclusive: true,
			Until: time.Now().Add(time.Minute),
		}
		if _, err := mailbox.Ask[numbers.NumberGranted](ctx, sys, pid, m); err != nil {
			b.Fatal(err)
		}
		sys.Root.Send(pid, numbers.CallEnded{CallID: "call"})
	}
	sys.Shutdown()
	require.NoError(b, d.Close())
}
