package appointments_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/record"
)

type outbox struct{ committed atomic.Int32 }

func (o *outbox) Committed(string) { o.committed.Add(1) }

// open returns a service and a provider who can be booked at all times of all days.
func open(t *testing.T) (*appointments.Service, domain.Principal, *domain.Provider, *outbox) {
	t.Helper()
	o := &outbox{}
	s := appointments.New(appointments.Config{
		Store: pebbletest.Open(t), Outbox: o, Log: slog.New(slog.DiscardHandler),
		Script: func(context.Context, domain.Principal, string, string) (domain.Script, error) {
			return domain.Script{}, nil
		},
	})
	p := domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
	x, err := s.CreateProvider(t.Context(), p, &domain.Provider{Name: "Dr. Ada", Timezone: "UTC", SlotMinutes: 30, Hours: alwaysOpen()})
	require.NoError(t, err)
	return s, p, x, o
}

func TestAppointmentTimeIsBookedOnce(t *testing.T) {
	t.Parallel()
	s, p, x, o := open(t)
	at := time.Now().UTC().AddDate(0, 0, 3).Format(time.DateOnly) + "T10:00:00Z"
	var booked, refused atomic.Int32
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			_, err := s.Book(t.Context(), p, booking.NewAppointment{Patient: domain.Patient{Name: "Bo", Phone: "+12025550170"}, Provider: "dr. ada", Datetime: at})
			if domain.CodeOf(err) == domain.CodeSlotUnavailable {
				refused.Add(1)
			} else if assert.NoError(t, err) {
				booked.Add(1)
			}
		})
	}
	wait.Wait()
	assert.Equal(t, []int32{1, 7, 1}, []int32{booked.Load(), refused.Load(), o.committed.Load()})
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(s.DeleteProvider(t.Context(), p, x.ID)), "the provider has a future appointment")

	all, err := s.ListAppointments(t.Context(), p, appointments.Query{PageQuery: record.PageQuery{Limit: 10}, Provider: x.ID})
	require.NoError(t, err)
	require.Len(t, all.Data, 1)
	require.NoError(t, s.DeleteAppointment(t.Context(), p, all.Data[0].ID))
	_, err = s.Book(t.Context(), p, booking.NewAppointment{Patient: domain.Patient{Name: "Bo", Phone: "+12025550170"}, Provider: x.ID, Datetime: at})
	assert.NoError(t, err, "deleting an appointment frees its time")
}

func TestAppointmentProviderNamesAreUnique(t *testing.T) {
	t.Parallel()
	s, p, _, _ := open(t)
	_, err := s.CreateProvider(t.Context(), p, &domain.Provider{Name: " DR.  ada ", Timezone: "UTC", SlotMinutes: 30, Hours: alwaysOpen()})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err))
}

// alwaysOpen returns opening hours that cover all seven days.
func alwaysOpen() map[string][]domain.OpenSpan {
	hours := make(map[string][]domain.OpenSpan)
	for day := range time.Saturday + 1 {
		hours[strings.ToLower(day.String())] = []domain.OpenSpan{{Start: "08:00", End: "18:00"}}
	}
	return hours
}
