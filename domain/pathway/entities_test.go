package pathway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/pathway"
)

func TestEntitiesInWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 15, 12, 0, 0, 0, time.UTC) // a Tuesday
	type named = map[string]string
	for text, want := range map[string]named{
		"":                        {},
		"hello there":             {},
		"Yes, tomorrow at three.": {"yes_no": "yes", "date": "2030-01-16", "time": "15:00"},
		"the day after tomorrow":  {"date": "2030-01-17"},
		"No, on Friday at 10:30":  {"yes_no": "no", "date": "2030-01-18", "time": "10:30"},
		"Tuesday":                 {"date": "2030-01-22"},
		"next Thursday":           {"date": "2030-01-24"},
		"on March fifth":          {"date": "2030-03-05"},
		"the 3rd of January":      {"date": "2031-01-03"},
		"February 29":             {"date": "2032-02-29"},
		"march twenty third":      {"date": "2030-03-23"},
		"2030-02-20 please":       {"date": "2030-02-20"},
		"half past four":          {"time": "16:30"},
		"a quarter to nine":       {"time": "08:45"},
		"at 9 a.m.":               {"time": "09:00"},
		"7pm":                     {"time": "19:00"},
		"12 am":                   {"time": "00:00"},
		"at noon":                 {"time": "12:00"},
		"My name is Ada Lovelace": {"name": "Ada Lovelace"},
		"This is O'Brien":         {"name": "O'Brien"},
		"I am tired":              {},
		"order 4711":              {"number": "4711"},
		"two hundred and five":    {"number": "205"},
		"twenty-one thousand":     {"number": "21000"},
	} {
		assert.Equal(t, want, pathway.ExtractEntities(text, now), text)
	}
}

func FuzzEntities(f *testing.F) {
	f.Add("at half past past to to")
	f.Add("march of march the")
	f.Fuzz(func(_ *testing.T, text string) { pathway.ExtractEntities(text, time.Unix(0, 0)) })
}
