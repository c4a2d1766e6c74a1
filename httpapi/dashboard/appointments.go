package dashboard

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// calendarDay is a column of the weekly calendar: one day with its appointments.
type calendarDay struct {
	Date  time.Time
	Today bool
	All   []object // appointments whose local date is Date
}

// ISO returns the date as YYYY-MM-DD.
func (d calendarDay) ISO() string { return d.Date.Format(time.DateOnly) }

// weekOf returns the Monday of a date's week.
func weekOf(t time.Time) time.Time {
	t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

// daysOf returns the seven days from a Monday on, each with the appointments whose local date it is.
func daysOf(monday, today time.Time, all []object) []calendarDay {
	days := make([]calendarDay, 7)
	for i := range days {
		days[i].Date = monday.AddDate(0, 0, i)
		days[i].Today = days[i].Date.Equal(today.UTC().Truncate(24 * time.Hour))
		for _, a := range all {
			if strings.HasPrefix(text(a, "local_datetime"), days[i].ISO()) {
				days[i].All = append(days[i].All, a)
			}
		}
		slices.SortStableFunc(days[i].All, func(a, b object) int {
			return strings.Compare(text(a, "local_datetime")+text(a, "provider"), text(b, "local_datetime")+text(b, "provider"))
		})
	}
	return days
}

// calendarPage shows the appointments of a week.
func calendarPage(r *Request) (view, error) {
	now := time.Now()
	monday := weekOf(now)
	if typed, err := time.Parse(time.DateOnly, r.Query.Get("week")); err == nil {
		monday = weekOf(typed)
	}
	const anywhere = 14 * time.Hour // largest difference between a time zone and UTC
	q := url.Values{"from": {monday.Add(-anywhere).Format(time.RFC3339)}, "to": {monday.AddDate(0, 0, 7).Add(anywhere).Format(time.RFC3339)}}
	provider := r.Query.Get("provider")
	if provider != "" {
		q.Set("provider", provider)
	}
	all, complete, err := r.newest("/v1/appointments?"+q.Encode(), func(object) bool { return false })
	if err != nil {
		return view{}, err
	}
	providers, err := r.providers()
	if err != nil {
		return view{}, err
	}
	return view{name: "calendar", title: "Appointments", data: object{
		"days": daysOf(monday, now, all), "whole": complete, "providers": providers, "provider": provider, "monday": monday.Format(time.DateOnly),
		"before": monday.AddDate(0, 0, -7).Format(time.DateOnly), "after": monday.AddDate(0, 0, 7).Format(time.DateOnly),
	}}, nil
}

// providers returns all providers of the workspace.
func (r *Request) providers() ([]object, error) {
	all, _, err := r.newest("/v1/providers", func(object) bool { return false })
	if isNotVisible(err) {
		err = nil
	}
	return all, err
}

func appointmentsPage(r *Request) (view, error) {
	typed := r.Query
	r.Query = maps.Clone(typed)
	for name, later := range map[string]int{"from": 0, "to": 1} { // the form has days, the last one included; the API has times
		if day, err := time.Parse(time.DateOnly, typed.Get(name)); err == nil {
			r.Query.Set(name, day.AddDate(0, 0, later).Format(time.RFC3339))
		}
	}
	l, err := r.list("/v1/appointments", "/appointments/list", "status", "provider", "from", "to")
	return view{name: "appointments", title: "Appointments", data: object{"list": l, "query": typed}}, err
}

// maxTimes is the maximum number of free times on a page. To see later times, the user selects a later start date.
const maxTimes = "500"

// freeTimes returns the times from a date on at which a provider can be booked. minutes is the duration and zone the
// time zone. "" selects the default of the provider.
func (r *Request) freeTimes(provider, from, minutes, zone string) (object, error) {
	q := url.Values{"provider": {provider}, "limit": {maxTimes}}
	for name, v := range map[string]string{"from": from, "duration_minutes": minutes, "timezone": zone} {
		if v != "" {
			q.Set(name, v)
		}
	}
	return r.get("/v1/appointments/availability?" + q.Encode())
}

// newAppointmentPage shows the form for a new appointment. It asks for the provider first, then for the time and the
// patient.
func newAppointmentPage(r *Request) (view, error) {
	providers, err := r.providers()
	if err != nil {
		return view{}, err
	}
	from := r.Query
	if r.Form != nil {
		from = r.Form
	}
	data := object{"providers": providers, "provider": from.Get("provider"), "from": from.Get("from"), "form": r.Form}
	v := view{name: "newappointment", title: "Book an appointment", data: data}
	if from.Get("provider") != "" {
		free, err := r.freeTimes(from.Get("provider"), from.Get("from"), "", "")
		if err != nil {
			return v, err
		}
		data["free"] = free
	}
	return v, nil
}

func bookAppointment(r *Request) (view, error) {
	f := r.Form
	body := object{"provider": f.Get("provider"), "datetime": f.Get("datetime"), "patient": object{"name": f.Get("name"), "phone": f.Get("phone")}}
	for _, name := range []string{"type", "notes"} {
		if v := f.Get(name); v != "" {
			body[name] = v
		}
	}
	created, err := r.send(http.MethodPost, "/v1/appointments", body)
	if err != nil {
		v, again := newAppointmentPage(r)
		if again != nil {
			return view{}, err
		}
		return v, err
	}
	return view{to: "/appointments/" + text(created, "id") + "?done=booked"}, nil
}

// appointmentPage shows an appointment and the times to which it can be moved.
func appointmentPage(r *Request) (view, error) {
	a, err := r.get("/v1/appointments/" + r.ID)
	if err != nil {
		return view{}, err
	}
	patient, _ := a["patient"].(object)
	data := object{"appointment": a, "from": r.Query.Get("from"), "open": text(a, "status") == "booked" || text(a, "status") == "confirmed"}
	if provider := text(a, "provider_id"); provider != "" && r.Visitor.May("agents:write") {
		minutes, _ := a["duration_minutes"].(float64)
		if data["free"], err = r.freeTimes(provider, r.Query.Get("from"), strconv.Itoa(int(minutes)), text(a, "timezone")); err != nil && !isNotVisible(err) {
			return view{}, err
		}
	}
	return view{name: "appointment", title: "Appointment of " + text(patient, "name"), data: data}, nil
}

func changeAppointment(r *Request) (view, error) {
	body := object{}
	switch r.Verb {
	case "confirm":
	case "cancel":
		if q := (confirmation{Title: "Cancel the appointment?", Text: "The time becomes free again. Reminders are not sent.", Button: "Cancel appointment", Danger: true}); !r.isConfirmed(q) {
			return r.confirm(q)
		}
		if reason := r.Form.Get("reason"); reason != "" {
			body["reason"] = reason
		}
	case "reschedule":
		body["datetime"] = r.Form.Get("datetime")
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "Unknown action."}
	}
	if _, err := r.send(http.MethodPost, "/v1/appointments/"+r.ID+"/"+r.Verb, body); err != nil {
		v, again := appointmentPage(r)
		if again != nil {
			return view{}, err
		}
		return v, err
	}
	return view{to: "/appointments/" + r.ID + "?done=" + r.Verb}, nil
}
