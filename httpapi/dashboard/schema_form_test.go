package dashboard

import (
	"maps"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func thingForm(method string) *schemaForm { return &schemaForm{Method: method, Path: "/v1/things"} }

func TestFormIsReadBySchema(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	r := &Request{Schemas: fakeSchemas{}, Visitor: Visitor{Zone: zone}, Form: url.Values{
		"sent": {"yes"}, "name": {" Ada "}, "count": {"3"}, "on": {"true"}, "started_at": {"2030-07-01T09:00"}, "password": {" secret "}, "tags": {"one\r\n\r\n two "}, "kinds": {"a", "b"}, "mode": {""},
		"metadata": {"region: east\nteam: red: blue"}, "servers.0.host": {"a.example"}, "servers.0.port": {"5060"}, "servers.1.host": {""}, "servers.2.host": {"c.example"}, "limits.max": {""},
	}}
	body, err := thingForm("POST").body(r, nil)
	require.NoError(t, err)
	assert.Equal(t, object{
		"name": "Ada", "count": 3.0, "on": true, "started_at": "2030-07-01T07:00:00Z", "password": " secret ", "tags": []any{"one", "two"}, "kinds": []any{"a", "b"},
		"metadata": object{"region": "east", "team": "red: blue"}, "servers": []any{object{"host": "a.example", "port": 5060.0}, object{"host": "c.example"}},
	}, body)

	for field, value := range map[string]string{"count": "many", "started_at": "tomorrow", "metadata": "no colon", "servers.0.port": "x"} {
		sent := url.Values{"name": {"Ada"}, field: {value}}
		_, err = thingForm("POST").body(&Request{Schemas: fakeSchemas{}, Visitor: Visitor{Zone: zone}, Form: sent}, nil)
		var p *problem
		require.ErrorAs(t, err, &p, field)
		fields, others, err := thingForm("POST").fields(&Request{Schemas: fakeSchemas{}}, sent, p)
		require.NoError(t, err)
		assert.Empty(t, others)
		assert.NotEmpty(t, errorsOf(fields)[field], "the error of %s stands at its field", field)
	}
}

// errorsOf returns the errors of fields by their names.
func errorsOf(fields []formField) map[string]string {
	all := map[string]string{}
	for _, f := range fields {
		if f.Error != "" {
			all[f.Name] = f.Error
		}
		for _, row := range append(f.Rows, f.Fields) {
			maps.Copy(all, errorsOf(row))
		}
	}
	return all
}

func TestEditedFormSendsOnlyWhatHasChanged(t *testing.T) {
	t.Parallel()
	before := object{
		"name": "Ada", "count": 3.0, "on": true, "started_at": "2030-07-01T07:00:00Z", "tags": []any{"one", "two"}, "metadata": object{"region": "east"},
		"servers": []any{object{"host": "a.example", "port": 5060.0}}, "limits": object{"max": 9.0}, "mode": "slow",
	}
	form := func(change func(url.Values)) object {
		values := formValues(before, time.UTC)
		values.Set("sent", "yes")
		change(values)
		body, err := thingForm("PATCH").body(&Request{Schemas: fakeSchemas{}, Visitor: Visitor{Zone: time.UTC}, Form: values}, before)
		require.NoError(t, err)
		return body
	}
	assert.Empty(t, form(func(url.Values) {}), "nothing has changed")
	assert.Equal(t, object{"name": "Bob", "count": nil, "on": false, "tags": nil, "limits": object{"max": 10.0}, "password": "new"}, form(func(v url.Values) {
		v.Set("name", "Bob")
		v.Set("count", "")
		v.Del("on")
		v.Set("tags", "")
		v.Set("limits.max", "10")
		v.Set("password", "new")
	}))
}

func TestFieldsShowTheSchema(t *testing.T) {
	t.Parallel()
	p := &problem{Message: "servers[1].host is required", Details: []problemDetail{{"servers[1].host", "servers[1].host is required"}, {"other", "other is odd"}}}
	fields, others, err := thingForm("POST").fields(&Request{Schemas: fakeSchemas{}}, url.Values{"servers.0.host": {"a"}, "servers.1.port": {"1"}}, p)
	require.NoError(t, err)
	kinds := map[string]string{}
	for _, f := range fields {
		kinds[f.Name] = f.Kind
	}
	assert.Equal(t, map[string]string{
		"name": "line", "count": "number", "on": "tick", "started_at": "time", "password": "secret", "tags": "lines", "kinds": "choices", "mode": "choice", "metadata": "pairs", "servers": "rows", "limits": "group",
	}, kinds)
	assert.Equal(t, map[string]string{"servers.1.host": "Host is required."}, errorsOf(fields))
	assert.Equal(t, []string{"Other is odd."}, others)
	for _, f := range fields {
		switch f.Name {
		case "servers":
			assert.Len(t, f.Rows, 3, "one more for a new entry")
			assert.True(t, f.Open)
		case "mode":
			assert.Equal(t, []option{{"fast", "Fast"}, {"slow", "Slow"}}, f.Options)
			assert.Equal(t, "fast", f.Placeholder)
		case "count":
			assert.Equal(t, "A number.", f.Hint)
		}
	}
}

func TestTimesAreShownInTheZoneOfTheVisitor(t *testing.T) {
	t.Parallel()
	s := fakeAPI{"GET /v1/pathways": respondWith(200, `{"data":[{"id":"p","name":"n","updated_at":"2030-07-01T22:30:00Z"}]}`)}
	_, body := servePage(t, s, "GET", "/pathways", nil)
	assert.Regexp(t, regexp.QuoteMeta(`<time datetime="2030-07-01T22:30:00Z" title="Monday 1 July 2030, 22:30:00 UTC (2030-07-01 22:30:00 UTC)">1 Jul 2030, 22:30</time>`), body)
	now := time.Date(2030, 7, 1, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		10 * time.Second: "just now", 3 * time.Minute: "3 min ago", 23 * time.Hour: "23 h ago", 25 * time.Hour: "30 Jun, 11:00", -2 * time.Hour: "in 2 h", 400 * 24 * time.Hour: "27 May 2029, 12:00",
	} {
		assert.Equal(t, want, shortTime(now.Add(-ago), now))
	}
}
