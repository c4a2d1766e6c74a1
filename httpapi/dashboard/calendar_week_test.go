package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCalendarWeekStartsOnMondayInLocalTime(t *testing.T) {
	t.Parallel()
	monday := time.Date(2030, 4, 1, 0, 0, 0, 0, time.UTC)
	for later := range 7 {
		assert.Equal(t, monday, weekOf(monday.AddDate(0, 0, later).Add(23*time.Hour)), later)
	}
	assert.Equal(t, monday.AddDate(0, 0, 7), weekOf(monday.AddDate(0, 0, 7)))

	late := object{"id": "late", "local_datetime": "2030-04-01T17:00:00-04:00", "datetime": "2030-04-01T21:00:00Z"}
	tokyo := object{"id": "tokyo", "local_datetime": "2030-04-01T08:00:00+09:00", "datetime": "2030-03-31T23:00:00Z"}
	elsewhere := object{"id": "before", "local_datetime": "2030-03-31T20:00:00-04:00"}
	days := daysOf(monday, monday.Add(30*time.Hour), []object{late, elsewhere, tokyo})
	assert.Equal(t, []object{tokyo, late}, days[0].All, "in local time, without the appointment of the day before")
	assert.Equal(t, "2030-04-07", days[6].ISO())
	for i, d := range days {
		assert.Equal(t, i == 1, d.Today, i)
	}
}
