package sms_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/sms"
)

func TestSegmentsAreCountedByEncoding(t *testing.T) {
	t.Parallel()
	type size struct {
		n        int
		encoding domain.MessageEncoding
	}
	for name, c := range map[string]struct {
		text string
		want size
	}{
		"nothing":                  {"", size{1, domain.GSM7}},
		"one":                      {strings.Repeat("a", 160), size{1, domain.GSM7}},
		"one too many":             {strings.Repeat("a", 161), size{2, domain.GSM7}},
		"two":                      {strings.Repeat("a", 306), size{2, domain.GSM7}},
		"three":                    {strings.Repeat("a", 307), size{3, domain.GSM7}},
		"umlauts are basic":        {strings.Repeat("ü", 160), size{1, domain.GSM7}},
		"the euro takes two":       {strings.Repeat("€", 80), size{1, domain.GSM7}},
		"and is never cut":         {strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), size{3, domain.GSM7}},
		"another alphabet":         {strings.Repeat("ж", 70), size{1, domain.UCS2}},
		"one too many of it":       {strings.Repeat("ж", 71), size{2, domain.UCS2}},
		"one letter decides":       {strings.Repeat("a", 70) + "ж", size{2, domain.UCS2}},
		"a pair of units":          {strings.Repeat("😀", 35), size{1, domain.UCS2}},
		"a pair is never cut":      {strings.Repeat("😀", 67), size{3, domain.UCS2}},
		"the longest that may be":  {strings.Repeat("a", sms.MaxBody), size{11, domain.GSM7}},
		"the longest of the other": {strings.Repeat("ж", sms.MaxBody), size{24, domain.UCS2}},
	} {
		n, encoding := sms.Segments(c.text)
		assert.Equal(t, c.want, size{n, encoding}, name)
	}
}

func TestOnlyWholeMessageOptsOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"STOP": true, " stop. ": true, "Unsubscribe": true, "stop all": true, "\"STOP\"": true,
		"Please stop": false, "stop it": false, "": false, "yes": false, "I cannot stop laughing": false,
	} {
		assert.Equal(t, want, sms.IsOptOut(text), text)
	}
}

func TestMessageStateTransitions(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"0000", "0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "4711"} {
		f := sms.TestDeliveryFor(domain.TestCarrierPrefix + last)
		if !f.Sent {
			assert.NotEmpty(t, f.Code, last)
			continue
		}
		if f.Report != "" {
			assert.Contains(t, []domain.MessageStatus{domain.MessageDelivered, domain.MessageUndelivered}, f.Report, last)
		}
	}
	assert.Equal(t, domain.MessageDelivered, sms.TestDeliveryFor("+12025550123").Report)
}
