package domain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestParsePhoneAcceptsCommonNotations(t *testing.T) {
	t.Parallel()
	type read struct {
		e164, country string
		err           error
	}
	want := map[[2]string]read{
		{"+1 (202) 555-0100", "DE"}:        {"+12025550100", "US", nil},
		{"202.555.0100", "US"}:             {"+12025550100", "US", nil},
		{"030 / 12 34 56 78", "DE"}:        {"+493012345678", "DE", nil},
		{"0151-23456789", "de"}:            {"+4915123456789", "DE", nil},
		{"+44 20 7183 8750", ""}:           {"+442071838750", "GB", nil},
		{"+15551230001", ""}:               {"+15551230001", "US", nil},
		{"+15005550001", "US"}:             {"+15005550001", "US", nil},
		{"+14165550123", "US"}:             {"+14165550123", "CA", nil},
		{"+870773111111", "US"}:            {"+870773111111", "", nil},
		{"911", "US"}:                      {"", "", domain.ErrPhoneForbidden},
		{"112", "US"}:                      {"", "", domain.ErrPhoneForbidden},
		{"999", "US"}:                      {"", "", domain.ErrPhoneForbidden},
		{"000", "DE"}:                      {"", "", domain.ErrPhoneForbidden},
		{"110", "GB"}:                      {"", "", domain.ErrPhoneForbidden},
		{"+911", "US"}:                     {"", "", domain.ErrPhoneForbidden},
		{"+49110", "DE"}:                   {"", "", domain.ErrInvalidPhone},
		{"+44999", ""}:                     {"", "", domain.ErrInvalidPhone},
		{"5550100", "US"}:                  {"", "", domain.ErrInvalidPhone},
		{"2025550100", ""}:                 {"", "", domain.ErrInvalidPhone},
		{"+1202555010", "US"}:              {"", "", domain.ErrInvalidPhone},
		{"+120255501001", "US"}:            {"", "", domain.ErrInvalidPhone},
		{"1-800-FLOWERS", "US"}:            {"", "", domain.ErrInvalidPhone},
		{"+12025550100 ext 5", "US"}:       {"", "", domain.ErrInvalidPhone},
		{"+12025550100;phone-context", ""}: {"", "", domain.ErrInvalidPhone},
		{"", "US"}:                         {"", "", domain.ErrInvalidPhone},
		{strings.Repeat("2", 500), "US"}:   {"", "", domain.ErrInvalidPhone},
	}
	got := make(map[[2]string]read, len(want))
	for in := range want {
		var r read
		r.e164, r.country, r.err = domain.ParsePhone(in[0], in[1])
		got[in] = r
	}
	assert.Equal(t, want, got)
}

func TestEmergencyNumbersAndShortCodesAreNeverDialed(t *testing.T) {
	t.Parallel()
	for _, country := range []string{"US", "DE", "GB", "AU", "IN", "JP", "BR", ""} {
		for _, n := range []string{"112", "911", "999", "000", "110", "119", "118", "+112", "+911", "", "+", "1", "933", "12345"} {
			_, forbidden := domain.DialForbidden(n, country)
			assert.True(t, forbidden, "%q in %q", n, country)
		}
	}
	for _, n := range []string{"+12025550100", "+493012345678", "+15551230001", "+15005550000"} {
		reason, forbidden := domain.DialForbidden(n, "US")
		assert.False(t, forbidden, "%s: %s", n, reason)
	}
}

func TestDestinationsFollowTheRules(t *testing.T) {
	t.Parallel()
	home := domain.DestinationRules{}
	wide := domain.DestinationRules{Countries: []string{"*"}, BlockedPrefixes: []string{"+1876"}}
	two := domain.DestinationRules{Countries: []string{"us", "DE"}}
	type ask struct {
		number string
		rules  *domain.DestinationRules
		env    domain.Environment
	}
	want := map[ask]bool{
		{"+12025550100", &home, domain.Live}:                                               true,
		{"+493012345678", &home, domain.Live}:                                              false,
		{"+493012345678", &two, domain.Live}:                                               true,
		{"+442071838750", &two, domain.Live}:                                               false,
		{"+442071838750", &wide, domain.Live}:                                              true,
		{"+18765550123", &wide, domain.Live}:                                               false,
		{"+19005551234", &wide, domain.Live}:                                               false,
		{"+870773111111", &wide, domain.Live}:                                              false,
		{"+881612345678", &wide, domain.Live}:                                              false,
		{"+979123456789", &wide, domain.Live}:                                              false,
		{"911", &wide, domain.Live}:                                                        false,
		{"+911", &wide, domain.Test}:                                                       false,
		{"12025550100", &wide, domain.Live}:                                                false,
		{"+15005550003", &domain.DestinationRules{Countries: []string{"DE"}}, domain.Test}: true,
		{"+15005550003", &domain.DestinationRules{Countries: []string{"DE"}}, domain.Live}: false,
	}
	got := make(map[ask]bool, len(want))
	for a := range want {
		err := domain.CheckDestination(a.number, *a.rules, "US", a.env)
		got[a] = err == nil
		if err != nil {
			assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err))
		}
	}
	assert.Equal(t, want, got)
}

func FuzzPhoneNumbers(f *testing.F) {
	for _, s := range []string{"+12025550100", "030 1234567", "911", "+49110", "٠١٢", "+", "tel:+1", "\x00"} {
		f.Add(s, "US")
	}
	f.Fuzz(func(t *testing.T, text, country string) {
		e164, _, err := domain.ParsePhone(text, country)
		if err != nil {
			return
		}
		require.Regexp(t, `^\+[1-9][0-9]{3,17}$`, e164)
		_, forbidden := domain.DialForbidden(e164, country)
		require.False(t, forbidden)
	})
}

func TestServiceCodesAreNotAreaCodes(t *testing.T) {
	t.Parallel()
	for first := 2; first <= 9; first++ {
		text := fmt.Sprintf("+1%d115550100", first)
		_, err := domain.ParseNumber(text, "US")
		require.ErrorIs(t, err, domain.ErrInvalidPhone, text)
		_, err = domain.ParseNumber("("+text[2:5]+") 555-0100", "US")
		require.ErrorIs(t, err, domain.ErrInvalidPhone, text)
		_, err = new(domain.NumberCache).ParseNumber(text, "US")
		require.ErrorIs(t, err, domain.ErrInvalidPhone, text)
		assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(domain.CheckDestination(text, domain.DestinationRules{Countries: []string{"*"}}, "US", domain.Test)), text)
	}
}

func TestNumbersWithoutCentralOfficeAreRefused(t *testing.T) {
	t.Parallel()
	for text, allowed := range map[string]bool{
		"+12022110100": false, "+12024110100": false, "+12029110100": false, "+12020550100": false, "+12021550100": false,
		"+12025550100": true, "+14125550100": true, "+18004110100": true, "+18884110100": true, "+17295550100": true, "+441632960001": true,
		"+15005550000": true, "+15005550009": true,
	} {
		for _, env := range []domain.Environment{domain.Live, domain.Test} {
			err := domain.CheckDestination(text, domain.DestinationRules{Countries: []string{"*"}}, "US", env)
			if allowed {
				require.NoError(t, err, text)
			} else {
				assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err), text)
			}
		}
	}
}
