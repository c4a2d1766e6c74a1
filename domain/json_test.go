package domain_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestEncodeJSONWritesTimesListsMapsAndNumbers(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 4, 4, 5, 678999999, time.FixedZone("", 3600))
	type inner struct {
		List []string       `json:"list"`
		Map  map[string]int `json:"map"`
	}
	got, err := domain.EncodeJSON(struct {
		At    time.Time      `json:"at"`
		Whole *time.Time     `json:"whole"`
		Never *time.Time     `json:"never"`
		Zero  int            `json:"zero,omitempty"`
		Off   bool           `json:"off,omitempty"`
		Text  string         `json:"text"`
		In    inner          `json:"in"`
		Free  map[string]any `json:"free"`
	}{
		At: at, Whole: new(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)), Text: "<&>",
		Free: map[string]any{"b": json.Number("9007199254740993"), "a": at, "c": []string(nil)},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"at":"2026-01-02T03:04:05.678Z","whole":"2026-01-02T00:00:00.000Z","never":null,"text":"<&>","in":{"list":[],"map":{}},`+
		`"free":{"a":"2026-01-02T03:04:05.678Z","b":9007199254740993,"c":[]}}`, string(got))
}

type strict struct {
	Name  string         `json:"name"`
	Count int8           `json:"count"`
	Size  uint64         `json:"size"`
	Share float64        `json:"share"`
	Tags  []string       `json:"tags"`
	At    *time.Time     `json:"at"`
	Free  domain.Context `json:"free"`
	In    *strict        `json:"in"`
}

func TestDecodeJSONRefusesInexactInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, param, message string
		code                 domain.Code
	}{
		{`{"NAME":"a"}`, "NAME", "NAME is not a known member", domain.CodeValidation},
		{`{"name":"a","Name":"b"}`, "Name", "Name is not a known member", domain.CodeValidation},
		{`{"\u017fize":1}`, "\u017fize", "\u017fize is not a known member", domain.CodeValidation},
		{`{"name":"a","\u006eame":"b"}`, "name", "The member name is given more than once.", domain.CodeInvalidRequest},
		{`{"in":{"in":{"name":"a","name":"b"}}}`, "in.in.name", "The member in.in.name is given more than once.", domain.CodeInvalidRequest},
		{`{"free":{"a":[1,{"b":1,"b":2}]}}`, "free.a[1].b", "The member free.a[1].b is given more than once.", domain.CodeInvalidRequest},
		{"{\"name\":\"a\xff\"}", "name", "The JSON is not valid UTF-8 in name, at byte 10.", domain.CodeInvalidRequest},
		{`{"name":"\ud800"}`, "name", "The JSON has half of a surrogate pair in name, at byte 9.", domain.CodeInvalidRequest},
		{`{"name":`, "", "The JSON is incomplete: it ends at byte 8.", domain.CodeInvalidRequest},
		{``, "", "The JSON is incomplete: it ends at byte 0.", domain.CodeInvalidRequest},
		{`{"name":nil}`, "name", "The JSON is not valid in name, at byte 9.", domain.CodeInvalidRequest},
		{`{} {}`, "", "The JSON is not valid, at byte 3.", domain.CodeInvalidRequest},
		{`{"count":128}`, "count", "count is out of range", domain.CodeValidation},
		{`{"count":1.28e2}`, "count", "count is out of range", domain.CodeValidation},
		{`{"count":1.5}`, "count", "count must be an integer", domain.CodeValidation},
		{`{"count":1e-400}`, "count", "count must be an integer", domain.CodeValidation},
		{`{"count":"1"}`, "count", "count must be an integer", domain.CodeValidation},
		{`{"size":-1.0}`, "size", "size is out of range", domain.CodeValidation},
		{`{"size":1e400}`, "size", "size is out of range", domain.CodeValidation},
		{`{"share":1e400}`, "share", "share is out of range", domain.CodeValidation},
		{`{"free":{"a":[1e400]}}`, "free.a[0]", "free.a[0] is out of range", domain.CodeValidation},
		{`{"tags":{}}`, "tags", "tags must be a list", domain.CodeValidation},
		{`{"name":[]}`, "name", "name must be a string", domain.CodeValidation},
		{`{"at":"yesterday"}`, "at", "at must be a time as of RFC 3339, e.g. 2026-01-31T09:30:00Z", domain.CodeValidation},
		{`{"in":[]}`, "in", "in must be an object", domain.CodeValidation},
	} {
		var got strict
		err := domain.DecodeJSON([]byte(c.text), &got)
		var e *domain.Error
		require.ErrorAs(t, err, &e, c.text)
		assert.Equal(t, []any{c.code, c.param, c.message}, []any{e.Code, e.Param, e.Sentence()}, c.text)
		if c.code == domain.CodeInvalidRequest || strings.Contains(c.message, "free") {
			require.ErrorAs(t, domain.CheckJSON([]byte(c.text)), &e, c.text)
			assert.Equal(t, []any{c.code, c.param, c.message}, []any{e.Code, e.Param, e.Sentence()}, "the text alone: %s", c.text)
		} else {
			assert.True(t, domain.CheckJSON([]byte(c.text)) == nil || strings.Contains(c.text, "400"), c.text)
		}
	}
}

func TestDecodeJSONKeepsNumbersAsWrittenAndReadsIntegers(t *testing.T) {
	t.Parallel()
	var got strict
	require.NoError(t, domain.DecodeJSON([]byte(`{"count":1.0e1,"size":18446744073709551615,"share":0.5,`+
		`"free":{"n":9007199254740993,"deep":[-9007199254740993,{"x":1.0}],"a":1,"A":2}}`), &got))
	assert.Equal(t, strict{
		Count: 10, Size: math.MaxUint64, Share: 0.5,
		Free: domain.Context{
			"n": json.Number("9007199254740993"), "a": json.Number("1"), "A": json.Number("2"),
			"deep": []any{json.Number("-9007199254740993"), map[string]any{"x": json.Number("1.0")}},
		},
	}, got)
	for text, want := range map[string]uint64{
		"3600.0": 3600, "3.6e3": 3600, "36000E-1": 3600, "0.0e999999999": 0, "1844674407370955161.5e1": math.MaxUint64, "-0.0": 0,
	} {
		var n uint64
		require.NoError(t, domain.DecodeJSON([]byte(text), &n), text)
		assert.Equal(t, want, n, text)
	}
	var stored domain.Context
	require.NoError(t, json.Unmarshal([]byte(`{"n":9007199254740993}`), &stored), "and from the store")
	text, err := json.Marshal(stored)
	require.NoError(t, err)
	assert.JSONEq(t, `{"n":9007199254740993}`, string(text))
}

func TestStoredRecordKeepsTheNumbersOfFreeObjects(t *testing.T) {
	t.Parallel()
	want := &domain.Tool{Parameters: map[string]any{"maximum": json.Number("9007199254740993"), "of": []any{json.Number("1e2")}}}
	text, err := domain.AppendRow(nil, want)
	require.NoError(t, err)
	var got domain.Tool
	require.NoError(t, domain.ReadRow(text, &got))
	assert.Equal(t, want.Parameters, got.Parameters)
}

func TestDecodeAnswerIgnoresOnlyUnknownMembers(t *testing.T) {
	t.Parallel()
	var got struct {
		Variables domain.Context `json:"variables"`
	}
	require.NoError(t, domain.DecodeLenient([]byte(`{"VARIABLES":{"a":1},"variables":{"n":9007199254740993},"more":1}`), &got))
	assert.Equal(t, domain.Context{"n": json.Number("9007199254740993")}, got.Variables)
	require.Error(t, domain.DecodeLenient([]byte(`{"variables":{"a":1,"a":2}}`), &got))
}
