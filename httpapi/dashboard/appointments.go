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

// day is a column of the calendar.
type day struct {
	Date  time.Time
	Today bool
	All   []object // appointments, by the clocks where they take place
}

// ISO is the day as forms and queries have it.
func (d day) ISO() string { return d.Date.Format(time.DateOnly) }

// weekOf is the Monday of the week that a day lies in.
func weekOf(t time.Time) time.Time {
	t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

// daysOf puts appointments on the seven days from a Monday on, each on that
// which its own clocks show.
func daysOf(monday, today time.Time, all []object) []day {
	days := make([]day, 7)
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

// calendarPage is a week.
func calendarPage(r *Request) (view, error) {
	now := time.Now()
	monday := weekOf(now)
	if typed, err := time.Parse(time.DateOnly, r.Query.Get("week")); err == nil {
		monday = weekOf(typed)
	}
	const anywhere = 14 * time.Hour // a day begins so much earlier, and ends so much later, somewhere
	q := url.Values{"from": {monday.Add(-anywhere).Format(time.RFC3339)}, "to": {monday.AddDate(0, 0, 7).Add(anywhere).Format(time.RFC3339)}}
	provider := r.Query.Get("provider")
	if provider != "" {
		q.Set("provider", provider)
	}
	all, whole, err := r.newest("/v1/appointments?"+q.Encode(), func(object) bool { return false })
	if err != nil {
		return view{}, err
	}
	providers, err := r.providers()
	if err != nil {
		return view{}, err
	}
	return view{name: "calendar", title: "Appointments", data: object{
		"days": daysOf(monday, now, all), "whole": whole, "providers": providers, "provider": provider, "monday": monday.Format(time.DateOnly),
		"before": monday.AddDate(0, 0, -7).Format(time.DateOnly), "after": monday.AddDate(0, 0, 7).Format(time.DateOnly),
	}}, nil
}

// providers are those who can be booked.
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
	for name, later := range map[string]int{"from": 0, "to": 1} { // days as they are typed; the API has times, and ends before the last one
		if day, err := time.Parse(time.DateOnly, typed.Get(name)); err == nil {
			r.Query.Set(name, day.AddDate(0, 0, later).Format(time.RFC3339))
		}
	}
	l, err := r.list("/v1/appointments", "/appointments/list", "status", "provider", "from", "to")
	return view{name: "appointments", title: "Appointments", data: object{"list": l, "query": typed}}, err
}

// maxTimes are offered at once, of the week from a day on; a later day shows
// what follows.
const maxTimes = "500"

// freeTimes are the times at which a provider can be booked, from a day on. minutes
// and zone are those of what shall be booked, "" for the provider's.
func (r *Request) freeTimes(provider, from, minutes, zone string) (object, error) {
	q := url.Values{"provider": {provider}, "limit": {maxTimes}}
	for name, v := range map[string]string{"from": from, "duration_minutes": minutes, "timezone": zone} {
		if v != "" {
			q.Set(name, v)
		}
	}
	return r.get("/v1/appointments/availability?" + q.Encode())
}

// newAppointmentPage asks with whom, then when and for whom.
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
	made, err := r.send(http.MethodPost, "/v1/appointments", body)
	if err != nil {
		v, again := newAppointmentPage(r)
		if again != nil {
			return view{}, err
		}
		return v, err
	}
	return view{to: "/appointments/" + text(made, "id") + "?done=booked"}, nil
}

// appointmentPage is one, with where it could be moved to.
func appointmentPage(r *Request) (view, error) {
	a, err := r.get("/v1/appointments/" + r.ID)
	if err != nil {
		return view{}, err
	}
	patient, _ := a["patient"].(object)
	data := object{"appointment": a, "from": r.Query.Get("from"), "open": text(a, "status") == "booked" || text(a, "status") == "confirmed"}
	if who := text(a, "provider_id"); who != "" && r.Visitor.May("agents:write") {
		minutes, _ := a["duration_minutes"].(float64)
		if data["free"], err = r.freeTimes(who, r.Query.Get("from"), strconv.Itoa(int(minutes)), text(a, "timezone")); err != nil && !isNotVisible(err) {
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
		if reason := r.Form.Get("reason"); reason != "" {
			body["reason"] = reason
		}
	case "reschedule":
		body["datetime"] = r.Form.Get("datetime")
	default:
		return view{}, &problem{Status: http.StatusNotFound, Message: "There is no such button."}
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
